/* OpenMP operations, each repeated after some repetitions that do not count. Under callgrind, each operation
 * gets a profile of its own; with "time", microseconds per operation are printed, with "work" those that the
 * thread had a processor for. */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <valgrind/callgrind.h>

enum { ITERATIONS = 4096, WORDS = 16 };

static void empty(long count) {
  for (long i = 0; i < count; i++) {
#pragma omp target
    {}
  }
}

/* The body uses its arguments, so that the compiler passes them; with count kept from it, it never stores. */
static void arguments(long count) {
  long a = count, b = count + 1, c = count + 2, d = count + 3, e = count + 4, f = count + 5, g = count + 6;
  double *nowhere = NULL;
  for (long i = 0; i < count; i++) {
#pragma omp target firstprivate(a, b, c, d, e, f, g) is_device_ptr(nowhere)
    if (nowhere)
      *nowhere = (double)(a + b + c + d + e + f + g);
  }
}

static void teams(long count) {
  for (long i = 0; i < count; i++) {
#pragma omp target teams distribute
    for (int j = 0; j < ITERATIONS; j++)
      __asm__ volatile("");
  }
}

static void map8(long count) {
  double a[WORDS] = {0}, b[WORDS] = {0}, c[WORDS] = {0}, d[WORDS] = {0};
  double e[WORDS] = {0}, f[WORDS] = {0}, g[WORDS] = {0}, h[WORDS] = {0};
  for (long i = 0; i < count; i++) {
#pragma omp target map(tofrom : a, b, c, d, e, f, g, h)
    a[0] = b[0] = c[0] = d[0] = e[0] = f[0] = g[0] = h[0] = 1;
  }
}

static void nowait(long count) {
  char order;
  for (long i = 0; i < count; i++) {
#pragma omp target nowait depend(inout : order)
    {}
#pragma omp taskwait
  }
}

static double word;

static void update_to(long count) {
#pragma omp target enter data map(alloc : word)
  for (long i = 0; i < count; i++) {
#pragma omp target update to(word)
  }
#pragma omp target exit data map(delete : word)
}

static void update_from(long count) {
#pragma omp target enter data map(to : word)
  for (long i = 0; i < count; i++) {
#pragma omp target update from(word)
  }
#pragma omp target exit data map(delete : word)
}

static void data(long count) {
  for (long i = 0; i < count; i++) {
#pragma omp target enter data map(to : word)
#pragma omp target exit data map(delete : word)
  }
}

typedef struct operation {
  const char *name;
  void (*run)(long count);
} operation_t;

static const operation_t operations[] = {{"empty", empty},
                                         {"arguments", arguments},
                                         {"teams", teams},
                                         {"map8", map8},
                                         {"nowait", nowait},
                                         {"update-to", update_to},
                                         {"update-from", update_from},
                                         {"data", data}};

enum { WARM = 20 };

static clockid_t clock_used = CLOCK_MONOTONIC;

static double seconds(void) {
  struct timespec now;
  clock_gettime(clock_used, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* In portions, because clang 16 takes stack for each region of a loop and gives it back when the function
 * ends. */
static void repeat(const operation_t *operation, long count) {
  enum { PORTION = 1000 };
  for (; count > PORTION; count -= PORTION)
    operation->run(PORTION);
  operation->run(count);
}

static void measure(const operation_t *operation, long count, int timed) {
  operation->run(WARM);
  CALLGRIND_ZERO_STATS;
  double begin = seconds();
  repeat(operation, count);
  double end = seconds();
  CALLGRIND_DUMP_STATS_AT(operation->name);
  if (timed)
    printf("%s %.3f\n", operation->name, 1e6 * (end - begin) / (double)count);
}

int main(int argc, char **argv) {
  if (argc < 3 || omp_get_num_devices() < 1) {
    fprintf(stderr, "usage, with a device: ops count|time|work NUMBER [operation...]\n");
    return 2;
  }
  long count = strtol(argv[2], NULL, 10);
  if (!strcmp(argv[1], "work"))
    clock_used = CLOCK_THREAD_CPUTIME_ID;
  for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
    int wanted = argc == 3;
    for (int j = 3; j < argc; j++)
      wanted |= !strcmp(argv[j], operations[i].name);
    if (wanted)
      measure(&operations[i], count, strcmp(argv[1], "count"));
  }
  fflush(stdout);
  return 0;
}
