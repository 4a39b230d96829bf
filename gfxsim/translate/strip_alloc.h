/* Registers of the host while a strip's code is written: for strip_emit.c, which has them, and strip_share.c,
 * which says what is to be in them all the time. Not here: what strips are (strip.h). */
#ifndef GFXSIM_TRANSLATE_STRIP_ALLOC_H
#define GFXSIM_TRANSLATE_STRIP_ALLOC_H

#include "isa/strip_rows.h"
#include "translate/strip.h"

enum { GS_HOST_VECTORS = 32 /* 16 with AVX2 */, GS_HOST_MASKS = 8, GS_NEVER = GS_STRIP_VALUES };

/* Where values are while code is written. */
typedef struct gs_allocator {
  gs_strip_t *s;
  gs_emitter_t *e;
  int at;                                               /* the value that is being made */
  int16_t last_use[GS_STRIP_VALUES];                    /* -1 = it is not needed */
  int8_t register_of[GS_STRIP_VALUES];                  /* -1 = none */
  int8_t slot_of[GS_STRIP_VALUES];                      /* likewise */
  int16_t home[GS_STRIP_VALUES];                        /* key_of a row that has been stored from it, or -1 */
  int16_t vector[GS_HOST_VECTORS], mask[GS_HOST_MASKS]; /* values that registers have, or -1 */
  uint32_t locked_vectors, locked_masks;                /* what the instruction in hand needs */
  uint32_t pinned;                                      /* vector registers that have a value all the time */
  unsigned masks_end, vectors_end;                      /* registers that values can have, and one more */
  uint32_t good;   /* those for guards that have been set, a bit for each */
  uint32_t loaded; /* loads of four dwords that were made, a bit for each */
  int16_t slot[GS_STRIP_VALUE_SLOTS];
  bool is_stored[2 * GS_ROWS];            /* by key_of: the row has not what it had when the strip began */
  bool only_guards[GS_STRIP_VALUES];      /* a comparison that nobody reads but a guard */
  int16_t next_use_from[GS_STRIP_VALUES]; /* no value is needed between the last question and this */
} gs_allocator_t;

/* Begins with no value anywhere. */
void gs_alloc_begin(gs_allocator_t *allocator, gs_strip_t *strip, gs_emitter_t *e);
/* Finds out who is needed, from the last to the first. Who is pinned needs nobody any more. */
void gs_alloc_find_uses(gs_allocator_t *allocator);
/* Writes the code of the value that is being made. */
void gs_alloc_emit(gs_allocator_t *allocator);
/* The register that the value is in, which stays so until the instruction in hand is done. */
unsigned gs_alloc_need(gs_allocator_t *allocator, int value);
/* Has a value in a vector register all the time. */
void gs_alloc_pin(gs_allocator_t *allocator, int value, unsigned reg);

#endif
