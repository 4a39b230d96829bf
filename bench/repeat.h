/* What programs of benchmarks have in common: operations, each repeated after some repetitions that do not
 * count. Under callgrind ("count") each gets a profile of its own; with "time", microseconds per operation
 * are printed, with "work" those that the thread had a processor for. The operations are the programs'. */
#ifndef BENCH_REPEAT_H
#define BENCH_REPEAT_H

#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <valgrind/callgrind.h>

typedef struct operation {
  const char *name;
  void (*run)(long count);
  void (*enter)(void); /* what it needs to be there; or NULL */
  void (*leave)(void);
} operation_t;

static double repeat_seconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
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

static void repeat_measure(const operation_t *operation, long count, clockid_t clock, int timed) {
  enum { WARM = 20 };
  if (operation->enter)
    operation->enter();
  operation->run(WARM);
  CALLGRIND_ZERO_STATS;
  double begin = repeat_seconds(clock);
  repeat(operation, count);
  double end = repeat_seconds(clock);
  CALLGRIND_DUMP_STATS_AT(operation->name);
  if (operation->leave)
    operation->leave();
  if (timed)
    printf("%s %.3f\n", operation->name, 1e6 * (end - begin) / (double)count);
}

/* The program: `count` operations, of which its arguments name some. Returns its exit status. */
static int repeat_main(int argc, char **argv, const operation_t *operations, size_t count) {
  if (argc < 3 || omp_get_num_devices() < 1) {
    fprintf(stderr, "usage, with a device: %s count|time|work NUMBER [operation...]\n", argv[0]);
    return 2;
  }
  clockid_t clock = strcmp(argv[1], "work") ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
  for (size_t i = 0; i < count; i++) {
    int wanted = argc == 3;
    for (int j = 3; j < argc; j++)
      wanted |= !strcmp(argv[j], operations[i].name);
    if (wanted)
      repeat_measure(&operations[i], strtol(argv[2], NULL, 10), clock, strcmp(argv[1], "count"));
  }
  fflush(stdout);
  return 0;
}

#endif
