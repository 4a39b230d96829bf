/* Waiting at the gate. */
#include "packet/gate.h"

#include <time.h>

#include "base/clock.h"
#include "base/strict.h"

enum { LONGEST_WAIT_NS = 5 * 1000 * 1000, LOOK_NS = 100 * 1000 };

void gs_gate_enter(gs_gate_t *gate, const atomic_bool *stop) {
  const uint64_t now = gs_clock_nanoseconds();
  const uint64_t end = gate->evicts ? gs_eviction_end(gate->seed, now) : 0;
  if (end)
    gs_clock_wait_until(end, stop);
  while (gate->most && atomic_load(&gate->served) >= gate->most && !atomic_load(stop) &&
         gs_clock_nanoseconds() < now + LONGEST_WAIT_NS)
    nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
  atomic_fetch_add(&gate->served, 1);
}

void gs_gate_leave(gs_gate_t *gate) {
  atomic_fetch_sub(&gate->served, 1);
}
