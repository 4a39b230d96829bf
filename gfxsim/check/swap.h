/* Atomic operations on items of 8 and 16 bits, which no processor here has: compilers make them of a load and
 * a compare-and-swap of the dword that the item is in, of which only the item's bytes change. Not here: what
 * follows from that for who looks at accesses (bounds.c, race.c). */
#ifndef GFXSIM_CHECK_SWAP_H
#define GFXSIM_CHECK_SWAP_H

#include <stdbool.h>

#include "isa/wave.h"

/* Vector registers of a compare-and-swap of 4 bytes: what it expects, and what it puts there. */
typedef struct gs_swap {
  unsigned expected, put;
} gs_swap_t;

/* Whether the instruction that the wave executes is one. On the thread that runs the wave. */
bool gs_swap_find(const gs_wave_t *w, gs_swap_t *swap);

/* The bytes of the dword that the lane's changes, if it finds what it expects: a bit each. */
static inline unsigned gs_swap_changes(const gs_wave_t *w, const gs_swap_t *swap, unsigned lane) {
  const uint32_t differ = w->v[swap->expected].u32[lane] ^ w->v[swap->put].u32[lane];
  unsigned changed = 0;
  for (unsigned i = 0; i < 4; i++)
    changed |= (unsigned)((differ >> 8 * i & 0xff) != 0) << i;
  return changed;
}

#endif
