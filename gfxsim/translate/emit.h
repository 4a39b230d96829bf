/* Writes code of a block to an arena: copies of stencils with their holes filled, and distances to labels
 * that may come later. Not here: which stencils (block.c), and registers of the host (strip.c). */
#ifndef GFXSIM_TRANSLATE_EMIT_H
#define GFXSIM_TRANSLATE_EMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "translate/memory.h"
#include "translate/table.h"

enum { GS_EMIT_LABELS = 6400, GS_EMIT_FIXUPS = 16384 };

/* A place that has the distance to a label. */
typedef struct gs_fixup {
  size_t at;
  int32_t addend;
  unsigned label;
} gs_fixup_t;

/* Code in the making. */
typedef struct gs_emitter {
  const gs_stencil_table_t *table;
  gs_arena_t *arena;
  size_t start, end; /* of the code in the arena */
  bool is_full;      /* there is no room in the arena */
  size_t label[GS_EMIT_LABELS];
  gs_fixup_t fixup[GS_EMIT_FIXUPS];
  unsigned fixup_count; /* beyond GS_EMIT_FIXUPS when there were too many */
} gs_emitter_t;

/* Begins code in the arena. */
void gs_emit_begin(gs_emitter_t *e, const gs_stencil_table_t *table, gs_arena_t *arena);
/* Adds bytes. */
void gs_emit_bytes(gs_emitter_t *e, const uint8_t *bytes, size_t count);
/* Adds the low 32 bits of a number. */
void gs_emit_32(gs_emitter_t *e, uint64_t value);
/* Fills a hole whose place in the code is `at`; branches go to `label`. */
void gs_emit_patch(gs_emitter_t *e, size_t at, const gs_patch_t *patch, const uint64_t values[GS_HOLE_VALUES],
                   unsigned label);
/* Adds a copy of a stencil that is not for strips. */
void gs_emit_stencil(gs_emitter_t *e, const gs_stencil_t *stencil, const uint64_t values[GS_HOLE_VALUES],
                     unsigned label);
/* Fills in the labels. Returns false when there was no room for the code. */
bool gs_emit_end(gs_emitter_t *e);

#endif
