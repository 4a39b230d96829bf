/* The GPU's constant clock on top of CLOCK_BOOTTIME. */
#include "base/clock.h"

#include <time.h>

enum { NANOSECONDS_PER_TICK = 10 };

uint64_t gs_clock_nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_BOOTTIME, &now);
  return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

uint64_t gs_clock_ticks_at(uint64_t nanoseconds) {
  return nanoseconds / NANOSECONDS_PER_TICK;
}

uint64_t gs_clock_ticks(void) {
  return gs_clock_ticks_at(gs_clock_nanoseconds());
}

/* Sleeps until shortly before, because sleeping takes longer than asked for; then spins. */
void gs_clock_wait_until(uint64_t end, const atomic_bool *stop) {
  enum { SPIN_NS = 10 * 1000, LONGEST_SLEEP_NS = 5 * 1000 * 1000 };
  for (;;) {
    const uint64_t now = gs_clock_nanoseconds();
    if (now >= end || atomic_load_explicit(stop, memory_order_relaxed))
      return;
    if (end - now <= SPIN_NS)
      continue;
    const uint64_t pause = end - now - SPIN_NS;
    nanosleep(&(struct timespec){.tv_nsec = pause < LONGEST_SLEEP_NS ? (long)pause : LONGEST_SLEEP_NS}, NULL);
  }
}
