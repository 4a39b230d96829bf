/* Large copies between unpinned host memory and a device, each next to a memcpy of as many bytes between two
 * buffers that nothing else uses: copies time|work. Piece after piece of a large array, so that no bytes are
 * in the caches of a processor before; "the same again" is one piece, which both may find there. Prints for
 * each kind and size 10^9 bytes per second, and the share of memcpy's rate; medians. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MIB = 1 << 20, LARGEST = 64 * MIB, MOST = 64 };

static char *memory, *other, *device_memory;
static char *from, *into; /* memcpy's */
static size_t at;         /* what is copied of each begins here */
static int host;          /* its number: to ask for it is a look-up of a symbol */
static clockid_t clock_used = CLOCK_MONOTONIC;

static double seconds(void) {
  struct timespec now;
  clock_gettime(clock_used, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void copy_to(size_t bytes) {
  char *part = memory + at;
#pragma omp target update to(part[:bytes])
}

static void copy_from(size_t bytes) {
  char *part = memory + at;
#pragma omp target update from(part[:bytes])
}

/* Mapped anew each time: there and back. */
static void map(size_t bytes) {
  char *part = other + at;
#pragma omp target enter data map(to : part[:bytes])
#pragma omp target exit data map(from : part[:bytes])
}

/* Memory that is not mapped. */
static void memcpy_to(size_t bytes) {
  omp_target_memcpy(device_memory, other, bytes, at, at, 0, host);
}

static void memcpy_from(size_t bytes) {
  omp_target_memcpy(other, device_memory, bytes, at, at, host, 0);
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *values, size_t count) {
  qsort(values, count, sizeof *values, compare);
  return values[count / 2];
}

/* `stride` bytes from one copy to the next. */
static void measure(const char *name, void (*run)(size_t bytes), size_t bytes, size_t stride, int copies) {
  double rate[MOST], share[MOST];
  size_t rounds = 128 * (size_t)MIB / bytes < MOST ? 128 * (size_t)MIB / bytes : MOST;
  for (at = 0; at < LARGEST; at += bytes) /* touches everything */
    run(bytes);
  for (size_t i = 0; i < rounds; i++) {
    at = (at + stride) % LARGEST;
    double begin = seconds();
    run(bytes);
    double middle = seconds();
    for (int j = 0; j < copies; j++) {
      memcpy(into + at, from + at, bytes);
      __asm__ volatile("" ::: "memory");
    }
    double end = seconds();
    rate[i] = 1e-9 * copies * (double)bytes / (middle - begin);
    share[i] = (end - middle) / (middle - begin);
  }
  printf("%s,_%zu_MiB%s %.1f %.2f\n", name, bytes / MIB, stride ? "" : ",_the_same_again",
         median(rate, rounds), median(share, rounds));
}

int main(int argc, char **argv) {
  static const size_t sizes[] = {1 * MIB, 16 * MIB, LARGEST};
  if (argc != 2 || omp_get_num_devices() < 1) {
    fprintf(stderr, "usage, with a device: copies time|work\n");
    return 2;
  }
  if (!strcmp(argv[1], "work"))
    clock_used = CLOCK_THREAD_CPUTIME_ID;
  host = omp_get_initial_device();
  char **buffers[] = {&memory, &other, &from, &into};
  for (int i = 0; i < 4; i++) {
    if (!(*buffers[i] = malloc(LARGEST)))
      return 1;
    memset(*buffers[i], i + 1, LARGEST);
  }
  if (!(device_memory = omp_target_alloc(LARGEST, 0)))
    return 1;
#pragma omp target enter data map(to : memory[:LARGEST])
  measure("update_to", copy_to, MIB, 0, 1);
  measure("update_from", copy_from, MIB, 0, 1);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    measure("update_to", copy_to, sizes[i], sizes[i], 1);
    measure("update_from", copy_from, sizes[i], sizes[i], 1);
    measure("map,_there_and_back", map, sizes[i], sizes[i], 2);
    measure("memcpy_to", memcpy_to, sizes[i], sizes[i], 1);
    measure("memcpy_from", memcpy_from, sizes[i], sizes[i], 1);
  }
#pragma omp target exit data map(delete : memory[:LARGEST])
  omp_target_free(device_memory, 0);
  fflush(stdout);
  return 0;
}
