/* Large copies between unpinned host memory and a device, each next to a memcpy of as many bytes: copies
 * time|work. Prints for each kind and size 10^9 bytes per second, and the share of memcpy's rate; medians. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MIB = 1 << 20, LARGEST = 64 * MIB, MOST = 64 };

static char *memory, *other, *device_memory;
static clockid_t clock_used = CLOCK_MONOTONIC;

static double seconds(void) {
  struct timespec now;
  clock_gettime(clock_used, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void copy_to(size_t bytes) {
#pragma omp target update to(memory[:bytes])
}

static void copy_from(size_t bytes) {
#pragma omp target update from(memory[:bytes])
}

/* Mapped anew each time: there and back. */
static void map(size_t bytes) {
#pragma omp target enter data map(to : other[:bytes])
#pragma omp target exit data map(from : other[:bytes])
}

/* Memory that is not mapped. */
static void memcpy_to(size_t bytes) {
  omp_target_memcpy(device_memory, other, bytes, 0, 0, 0, omp_get_initial_device());
}

static void memcpy_from(size_t bytes) {
  omp_target_memcpy(other, device_memory, bytes, 0, 0, omp_get_initial_device(), 0);
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *values, size_t count) {
  qsort(values, count, sizeof *values, compare);
  return values[count / 2];
}

static void measure(const char *name, void (*run)(size_t bytes), size_t bytes, int copies) {
  double rate[MOST], share[MOST];
  size_t rounds = 128 * (size_t)MIB / bytes < MOST ? 128 * (size_t)MIB / bytes : MOST;
  run(bytes);
  for (size_t i = 0; i < rounds; i++) {
    double begin = seconds();
    run(bytes);
    double middle = seconds();
    for (int j = 0; j < copies; j++) {
      memcpy(other, memory, bytes);
      __asm__ volatile("" ::: "memory");
    }
    double end = seconds();
    rate[i] = 1e-9 * copies * (double)bytes / (middle - begin);
    share[i] = (end - middle) / (middle - begin);
  }
  printf("%s,_%zu_MiB %.1f %.2f\n", name, bytes / MIB, median(rate, rounds), median(share, rounds));
}

int main(int argc, char **argv) {
  static const size_t sizes[] = {1 * MIB, 16 * MIB, LARGEST};
  if (argc != 2 || omp_get_num_devices() < 1) {
    fprintf(stderr, "usage, with a device: copies time|work\n");
    return 2;
  }
  if (!strcmp(argv[1], "work"))
    clock_used = CLOCK_THREAD_CPUTIME_ID;
  memory = malloc(LARGEST);
  other = malloc(LARGEST);
  device_memory = omp_target_alloc(LARGEST, 0);
  if (!memory || !other || !device_memory)
    return 1;
  memset(memory, 1, LARGEST);
  memset(other, 2, LARGEST);
#pragma omp target enter data map(to : memory[:LARGEST])
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    measure("update_to", copy_to, sizes[i], 1);
    measure("update_from", copy_from, sizes[i], 1);
    measure("map,_there_and_back", map, sizes[i], 2);
    measure("memcpy_to", memcpy_to, sizes[i], 1);
    measure("memcpy_from", memcpy_from, sizes[i], 1);
  }
#pragma omp target exit data map(delete : memory[:LARGEST])
  omp_target_free(device_memory, 0);
  fflush(stdout);
  return 0;
}
