/* What waves ask of the host's memory, which on a card is at the other end of the link: counted with
 * GFXSIM_STATS, by the handlers that watchers use too (watch.h). A wave pays when it waits (s_waitcnt), not
 * when it asks: what it asks for between two waits comes together. Not here: what that costs (base/cost.h).
 */
#ifndef GFXSIM_ISA_TOLL_H
#define GFXSIM_ISA_TOLL_H

#include <stdint.h>

#include "isa/inst.h"

struct gs_access;
struct gs_wave;

/* Sums of the thread that executes, and `longest` of the kernel in hand. */
typedef struct gs_toll {
  uint64_t lines;   /* of 64 bytes, that instructions read or write in host memory, each by itself */
  uint64_t longest; /* waits of the wave that waited most often for it */
} gs_toll_t;

/* Accesses that are about to happen: of lanes, at a->at[] as the device sees it; and to one piece of memory.
 */
void gs_toll_lanes(struct gs_wave *w, const struct gs_access *a);
void gs_toll_block(struct gs_wave *w, uint64_t address, uint64_t size);
void gs_toll_scalar(struct gs_wave *w, uint64_t address, uint64_t size);
/* An instruction that waits was executed. */
void gs_toll_wait(struct gs_wave *w, gs_wait_counts_t wait);

#endif
