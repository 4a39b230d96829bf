/* Which registers still matter behind an instruction: those that code from there on may read before it writes
 * them. The others need not be written at all. Found for the code that can be reached from a place, up to
 * where it ends, or to where nobody knows how it goes on (calls, jumps to computed addresses).
 *
 * A lane that is not active keeps what it has, so that a register may matter in those lanes alone; what EXEC
 * becomes is seldom known, but mostly whether it lost lanes or got some. Therefore two sets of
 * vector registers go through the code: of those that matter in active lanes, and in the others; and one of
 * scalar registers. Not here: what is done with it. */
#ifndef GFXSIM_TRANSLATE_LIVE_H
#define GFXSIM_TRANSLATE_LIVE_H

#include "isa/wave.h"
#include "translate/block.h"

/* Of vector registers, a bit for each. */
typedef struct gs_row_set {
  uint64_t bits[GS_VGPRS / 64];
} gs_row_set_t;

/* Sets `count` bits from `first` on, of `size`, or clears them. */
static inline void gs_bits_put(uint64_t *bits, unsigned size, unsigned first, unsigned count, bool on) {
  for (unsigned i = first; i < first + count && i < size; i++)
    bits[i / 64] = (bits[i / 64] & ~(UINT64_C(1) << i % 64)) | (uint64_t)on << i % 64;
}

static inline bool gs_row_set_has(const gs_row_set_t *set, unsigned row) {
  return set->bits[row / 64] >> row % 64 & 1;
}
/* Adds `count` registers from `first` on, or takes them out. */
static inline void gs_row_set_put(gs_row_set_t *set, unsigned first, unsigned count, bool on) {
  gs_bits_put(set->bits, GS_VGPRS, first, count, on);
}

/* Of scalar registers, a bit for each, and for SCC, which is behind them. */
enum { GS_SCALAR_SCC = GS_SGPRS, GS_SCALARS };
typedef struct gs_scalar_set {
  uint64_t bits[(GS_SCALARS + 63) / 64];
} gs_scalar_set_t;

static inline bool gs_scalar_set_has(const gs_scalar_set_t *set, unsigned scalar) {
  return set->bits[scalar / 64] >> scalar % 64 & 1;
}
/* Adds `count` registers from `first` on, or takes them out. */
static inline void gs_scalar_set_put(gs_scalar_set_t *set, unsigned first, unsigned count, bool on) {
  gs_bits_put(set->bits, GS_SCALARS, first, count, on);
}
static inline void gs_scalar_set_add(gs_scalar_set_t *set, const gs_scalar_set_t *other) {
  for (unsigned i = 0; i < sizeof set->bits / sizeof *set->bits; i++)
    set->bits[i] |= other->bits[i];
}

/* What matters at a place. */
typedef struct gs_live_set {
  gs_row_set_t rows; /* in active lanes */
  gs_scalar_set_t scalars;
} gs_live_set_t;

/* What is known of code. All zeroes at first, but for the lanes; of one translator, whose code does not
 * change. */
typedef struct gs_live {
  unsigned lanes; /* of waves */
  struct gs_live_part *part;
  unsigned count, capacity;
  unsigned *place;       /* parts by their addresses: a hash table of so many places, twice the capacity */
  uint64_t instructions; /* in all parts */
} gs_live_t;

/* The registers that may matter before the instruction at `address`; all of them where that is not known.
 * `looks_at_end` says that whoever runs waves looks at their registers when they have ended. Scalar ones
 * that code reaches without naming them always matter. */
gs_live_set_t gs_live_at(gs_live_t *live, uint64_t address, bool looks_at_end, gs_code_find_t *find,
                         void *context);
/* Frees what is known. */
void gs_live_clear(gs_live_t *live);

#endif
