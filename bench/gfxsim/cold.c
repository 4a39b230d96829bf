/* Code that was never executed before: 64 kernels of some hundred instructions each, none of which does what
 * another does, with no loops, in one workgroup. cold   prints wall and processor seconds of the first time
 * that all of them run, then of the second time, which has no code to read, decode or translate any more. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LANES = 64 };

static uint32_t *data;

/* Some instructions that depend on each other, and on a number that makes them different from all others. */
#define STEP(n)                                                                                              \
  x ^= x >> (((n) % 13) + 3);                                                                                \
  x *= 0x7feb352du + (n)*0x10001u;                                                                           \
  y = (y << ((n) % 29 + 1) | y >> (31 - (n) % 29)) + x;                                                      \
  f = f * (1.0f + (float)(n)) + (float)(y & 0xff);                                                           \
  x += (f > 1e20f + (n)) ? y ^ (n) : y - (n);
#define STEPS_4(n)  STEP(4 * (n)) STEP(4 * (n) + 1) STEP(4 * (n) + 2) STEP(4 * (n) + 3)
#define STEPS_16(n) STEPS_4(4 * (n)) STEPS_4(4 * (n) + 1) STEPS_4(4 * (n) + 2) STEPS_4(4 * (n) + 3)
#define REGION      _Pragma("omp target parallel for num_threads(64) map(tofrom : d[0:64])")
#define KERNEL(n)                                                                                            \
  static void kernel_##n(void) {                                                                             \
    uint32_t *d = data;                                                                                      \
    REGION                                                                                                   \
    for (int i = 0; i < LANES; i++) {                                                                        \
      uint32_t x = d[i], y = (uint32_t)i + (n);                                                              \
      float f = 1;                                                                                           \
      STEPS_16(n)                                                                                            \
      d[i] = x ^ y ^ (uint32_t)f;                                                                            \
    }                                                                                                        \
  }
/* Numbers of two digits. */
#define EIGHT(DO, n) DO(n##0) DO(n##1) DO(n##2) DO(n##3) DO(n##4) DO(n##5) DO(n##6) DO(n##7)

EIGHT(KERNEL, 0)
EIGHT(KERNEL, 1)
EIGHT(KERNEL, 2)
EIGHT(KERNEL, 3)
EIGHT(KERNEL, 4)
EIGHT(KERNEL, 5)
EIGHT(KERNEL, 6)
EIGHT(KERNEL, 7)

#define ROW(n) kernel_##n,
static void (*const kernels[])(void) = {EIGHT(ROW, 0) EIGHT(ROW, 1) EIGHT(ROW, 2) EIGHT(ROW, 3) EIGHT(ROW, 4)
                                            EIGHT(ROW, 5) EIGHT(ROW, 6) EIGHT(ROW, 7)};

static double seconds(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(void) {
  uint32_t *d = data = calloc(LANES, sizeof *data);
  if (!d)
    return EXIT_FAILURE;
#pragma omp target enter data map(to : d [0:LANES])
#pragma omp target map(tofrom : d [0:LANES])
  d[0] = 1; /* what comes with the first region of all */
  for (int turn = 0; turn < 2; turn++) {
    const double wall = seconds(CLOCK_MONOTONIC), processor = seconds(CLOCK_PROCESS_CPUTIME_ID);
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
      kernels[i]();
    printf("cold %.6f %.6f\n", seconds(CLOCK_MONOTONIC) - wall,
           seconds(CLOCK_PROCESS_CPUTIME_ID) - processor);
  }
  uint32_t sum = 0;
#pragma omp target exit data map(from : d [0:LANES])
  for (int i = 0; i < LANES; i++)
    sum += d[i];
  printf("sum %u\n", sum);
  return EXIT_SUCCESS;
}
