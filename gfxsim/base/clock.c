/* The GPU's constant clock on top of CLOCK_BOOTTIME. */
#include "base/clock.h"

#include <time.h>

enum { NANOSECONDS_PER_TICK = 10 };

uint64_t gs_clock_nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_BOOTTIME, &now);
  return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

uint64_t gs_clock_ticks(void) {
  return gs_clock_nanoseconds() / NANOSECONDS_PER_TICK;
}
