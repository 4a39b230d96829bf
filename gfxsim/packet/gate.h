/* What keeps the queues of a GPU from going on, in an unlucky machine: the driver takes all of them off the
 * hardware for a while, or the hardware serves only some at once. Not here: queues that the host stops
 * (queue.h). */
#ifndef GFXSIM_PACKET_GATE_H
#define GFXSIM_PACKET_GATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Of one GPU. Zeroed, it is always open. */
typedef struct gs_gate {
  bool evicts; /* at times that the seed chooses, of all GPUs at once (gs_eviction_end) */
  uint32_t seed;
  uint32_t most; /* queues that are served at once; 0 = all */
  _Atomic(uint32_t) served;
} gs_gate_t;

static inline bool gs_gate_is_open(const gs_gate_t *gate) {
  return !gate || !(gate->evicts || gate->most);
}

/* Waits until the queue may make a step, or *stop is set, at most some milliseconds: what is served may be
 * waiting for this queue. To be followed by gs_gate_leave. Thread-safe. */
void gs_gate_enter(gs_gate_t *gate, const atomic_bool *stop);
void gs_gate_leave(gs_gate_t *gate);

#endif
