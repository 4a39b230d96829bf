/* Being late where nothing is promised: what the packet processors of an unlucky machine ask before they go
 * on. Not here: what is done in another order (aql.c, flight.h, sdma.c). */
#ifndef GFXSIM_PACKET_LATE_H
#define GFXSIM_PACKET_LATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strict.h"

/* One processor's chance. Zeroed, it is a machine that is never late. Owned by the processor's thread. */
typedef struct gs_late {
  uint32_t order; /* GS_ORDER_*: kinds that are wanted */
  gs_random_t random;
} gs_late_t;

/* Sleeps for as long as chance wants, at most 2 ms, if this kind is wanted. */
void gs_late_sleep(gs_late_t *late, uint32_t kind);
/* As that, for a microsecond at least. */
void gs_late_sleep_surely(gs_late_t *late, uint32_t kind);

static inline void gs_late_perhaps(gs_late_t *late, uint32_t kind) {
  if (__builtin_expect(late->order != 0, 0))
    gs_late_sleep(late, kind);
}

/* Whether this kind is wanted and chance says yes, once in `times`. */
static inline bool gs_late_chance(gs_late_t *late, uint32_t kind, uint32_t times) {
  return (late->order & kind) && gs_random_once_in(&late->random, times);
}

#endif
