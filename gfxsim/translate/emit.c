/* See emit.h. */
#include "translate/emit.h"

#include <string.h>

void gs_emit_begin(gs_emitter_t *e, const gs_stencil_table_t *table, gs_arena_t *arena) {
  e->table = table;
  e->arena = arena;
  e->start = e->end = gs_arena_next(arena);
  e->is_full = e->end > arena->size;
  e->fixup_count = 0;
}

void gs_emit_bytes(gs_emitter_t *e, const uint8_t *bytes, size_t count) {
  if (e->is_full || count > e->arena->size - e->end) {
    e->is_full = true;
    return;
  }
  memcpy(e->arena->base + e->end, bytes, count);
  e->end += count;
}

void gs_emit_32(gs_emitter_t *e, uint64_t value) {
  const uint32_t bits = (uint32_t)value;
  uint8_t code[sizeof bits];
  memcpy(code, &bits, sizeof code);
  gs_emit_bytes(e, code, sizeof code);
}

static void write_distance(gs_emitter_t *e, size_t at, size_t target, int32_t addend) {
  const int32_t distance = (int32_t)((int64_t)target - (int64_t)at) + addend;
  memcpy(e->arena->base + at, &distance, sizeof distance);
}

/* What comes behind a stencil is where its copy ends, which is known when all of it was copied. */
static void patch_distance(gs_emitter_t *e, size_t at, const gs_patch_t *p, unsigned label) {
  switch (p->hole) {
  case GS_HOLE_NEXT: write_distance(e, at, e->end, p->addend); break;
  case GS_HOLE_POOL: write_distance(e, at, 0, p->addend); break;
  case GS_HOLE_EXTERN:
    write_distance(e, at, e->arena->jumps + GS_ARENA_JUMP_BYTES * (size_t)p->addend, -4);
    break;
  default:
    if (e->fixup_count < GS_EMIT_FIXUPS)
      e->fixup[e->fixup_count] = (gs_fixup_t){at, p->addend, label};
    e->fixup_count++;
  }
}

void gs_emit_patch(gs_emitter_t *e, size_t at, const gs_patch_t *p, const uint64_t values[GS_HOLE_VALUES],
                   unsigned label) {
  if (p->form == GS_PATCH_DISTANCE) {
    patch_distance(e, at, p, label);
    return;
  }
  const uint64_t value = values[p->hole] + (uint64_t)(int64_t)p->addend;
  memcpy(e->arena->base + at, &value, p->form == GS_PATCH_64 ? 8 : 4);
}

void gs_emit_stencil(gs_emitter_t *e, const gs_stencil_t *s, const uint64_t values[GS_HOLE_VALUES],
                     unsigned label) {
  const size_t start = e->end;
  gs_emit_bytes(e, e->table->code + s->code, s->size);
  for (unsigned i = 0; i < s->patch_count && !e->is_full; i++) {
    const gs_patch_t *p = &e->table->patches[s->first_patch + i];
    gs_emit_patch(e, start + p->at, p, values, label);
  }
}

bool gs_emit_end(gs_emitter_t *e) {
  if (e->is_full || e->fixup_count > GS_EMIT_FIXUPS)
    return false;
  for (unsigned i = 0; i < e->fixup_count; i++)
    write_distance(e, e->fixup[i].at, e->label[e->fixup[i].label], e->fixup[i].addend);
  return true;
}
