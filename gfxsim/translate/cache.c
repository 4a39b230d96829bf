/* See cache.h. What is known of the host's instructions here: moves of 32 bits, REX 8B or 89 ModRM and the
 * displacement from %rdi. Between registers such a move has no displacement, and four prefixes without
 * meaning in its place. */
#include "translate/cache.h"

#include <string.h>

enum { REX = 0x40, REX_R = 4, REX_B = 1, LOAD = 0x8b, STORE = 0x89, RDI = 7 };
enum { MODE_MEMORY = 0x80, MODE_REGISTER = 0xc0, MODRM_REG = 0x38, IGNORED = 0x2e };
enum { MOVE_BYTES = 7, DISPLACEMENT_AT = 3 };

/* rbx, r8 to r10, r12 and r13: those that GFXSIM_CACHE_REGISTERS has. */
static const uint8_t host_register[GS_CACHE_REGISTERS] = {3, 8, 9, 10, 12, 13};

void gs_cache_begin(gs_cache_t *c) {
  for (unsigned i = 0; i < GS_CACHE_REGISTERS; i++) {
    c->held[i].scalar = -1;
    c->held[i].is_new = false;
    c->held[i].used = 0;
  }
  c->clock = 0;
}

static size_t place_of(unsigned scalar) {
  return scalar == GS_CACHE_SCC ? offsetof(gs_wave_t, scc)
                                : offsetof(gs_wave_t, s) + sizeof(uint32_t) * scalar;
}

static void emit_move(gs_emitter_t *e, uint8_t opcode, unsigned i, unsigned scalar) {
  const unsigned reg = host_register[i];
  const uint32_t displacement = (uint32_t)place_of(scalar);
  uint8_t code[MOVE_BYTES] = {(uint8_t)(REX | (reg & 8 ? REX_R : 0)), opcode,
                              (uint8_t)(MODE_MEMORY | (reg & 7) << 3 | RDI)};
  memcpy(code + DISPLACEMENT_AT, &displacement, sizeof displacement);
  gs_emit_bytes(e, code, sizeof code);
}

static int find(const gs_cache_t *c, unsigned scalar) {
  for (int i = 0; i < GS_CACHE_REGISTERS; i++)
    if (c->held[i].scalar == (int)scalar)
      return i;
  return -1;
}

static void write_back(gs_cache_t *c, gs_emitter_t *e, unsigned i) {
  if (c->held[i].scalar >= 0 && c->held[i].is_new)
    emit_move(e, STORE, i, (unsigned)c->held[i].scalar);
  c->held[i].is_new = false;
}

void gs_cache_clean(gs_cache_t *c, gs_emitter_t *e) {
  for (unsigned i = 0; i < GS_CACHE_REGISTERS; i++)
    write_back(c, e, i);
}

void gs_cache_flush(gs_cache_t *c, gs_emitter_t *e) {
  gs_cache_clean(c, e);
  gs_cache_begin(c);
}

void gs_cache_forget(gs_cache_t *c, unsigned first, unsigned count) {
  for (unsigned i = 0; i < GS_CACHE_REGISTERS; i++)
    if (c->held[i].scalar >= (int)first && c->held[i].scalar < (int)(first + count)) {
      c->held[i].scalar = -1;
      c->held[i].is_new = false;
    }
}

void gs_cache_reload(const gs_cache_t *c, gs_emitter_t *e) {
  for (unsigned i = 0; i < GS_CACHE_REGISTERS; i++)
    if (c->held[i].scalar >= 0)
      emit_move(e, LOAD, i, (unsigned)c->held[i].scalar);
}

/* The scalar register that a patch accesses by a move, or -1 when it can't be in the host's. */
static int scalar_of(const gs_patch_t *p, const uint64_t values[GS_HOLE_VALUES]) {
  if (p->form != GS_PATCH_SCALAR_READ && p->form != GS_PATCH_SCALAR_WRITE)
    return -1;
  if (p->hole == GS_HOLE_SCC)
    return GS_CACHE_SCC;
  const uint64_t place = values[p->hole] + (uint64_t)(int64_t)p->addend - offsetof(gs_wave_t, s);
  const uint64_t scalar = place / sizeof(uint32_t);
  return scalar < GS_S_FLAT_SCRATCH ? (int)scalar : -1;
}

/* A register for a scalar one that has none: the one that was not used for longest, but for those of the
 * stencil in hand. Returns -1 when there is none. */
static int take_register(gs_cache_t *c, gs_emitter_t *e, unsigned scalar, unsigned since) {
  int best = -1;
  for (int i = 0; i < GS_CACHE_REGISTERS; i++)
    if (c->held[i].used <= since &&
        (best < 0 || c->held[i].scalar < 0 || c->held[i].used < c->held[best].used)) {
      best = i;
      if (c->held[i].scalar < 0)
        break;
    }
  if (best < 0)
    return -1;
  write_back(c, e, (unsigned)best);
  c->held[best].scalar = (int16_t)scalar;
  return best;
}

/* Whether the stencil reads the scalar register, first or later. */
static bool reads(const gs_patch_t *patches, unsigned count, const uint64_t values[GS_HOLE_VALUES],
                  int scalar) {
  for (unsigned i = 0; i < count; i++)
    if (patches[i].form == GS_PATCH_SCALAR_READ && scalar_of(&patches[i], values) == scalar)
      return true;
  return false;
}

/* Brings what the stencil accesses to registers. Accesses that are not moves find it in memory. */
static void prepare(gs_cache_t *c, gs_emitter_t *e, const gs_patch_t *patches, unsigned count,
                    const uint64_t values[GS_HOLE_VALUES]) {
  const unsigned since = c->clock;
  for (unsigned i = 0; i < count; i++) {
    const int scalar = scalar_of(&patches[i], values);
    if (scalar < 0)
      continue;
    int reg = find(c, (unsigned)scalar);
    if (reg < 0) {
      reg = take_register(c, e, (unsigned)scalar, since);
      if (reg >= 0 && reads(patches, count, values, scalar))
        emit_move(e, LOAD, (unsigned)reg, (unsigned)scalar);
    }
    if (reg >= 0)
      c->held[reg].used = ++c->clock;
  }
}

/* A move between registers in place of one to or from memory. */
static void rewrite(gs_emitter_t *e, size_t at, unsigned i) {
  const unsigned reg = host_register[i];
  uint8_t *const code = e->arena->base + at - DISPLACEMENT_AT;
  const uint8_t prefix = code[0], opcode = code[1], modrm = code[2];
  memset(code, IGNORED, MOVE_BYTES - DISPLACEMENT_AT);
  code[4] = (uint8_t)(prefix | (reg & 8 ? REX_B : 0));
  code[5] = opcode;
  code[6] = (uint8_t)(MODE_REGISTER | (modrm & MODRM_REG) | (reg & 7));
}

void gs_cache_stencil(gs_cache_t *c, gs_emitter_t *e, const gs_stencil_t *stencil,
                      const uint64_t values[GS_HOLE_VALUES], unsigned label) {
  const gs_patch_t *const patches = &e->table->patches[stencil->first_patch];
  prepare(c, e, patches, stencil->patch_count, values);
  const size_t start = e->end;
  gs_emit_stencil(e, stencil, values, label);
  for (unsigned i = 0; i < stencil->patch_count && !e->is_full; i++) {
    const int scalar = scalar_of(&patches[i], values);
    const int reg = scalar < 0 ? -1 : find(c, (unsigned)scalar);
    if (reg < 0)
      continue;
    rewrite(e, start + patches[i].at, (unsigned)reg);
    if (patches[i].form == GS_PATCH_SCALAR_WRITE)
      c->held[reg].is_new = true;
  }
}

bool gs_cache_writes(const gs_stencil_t *stencil, const gs_stencil_table_t *table) {
  for (unsigned i = 0; i < stencil->patch_count; i++) {
    const gs_patch_t *p = &table->patches[stencil->first_patch + i];
    if (p->hole == GS_HOLE_SGPR_DST && p->form != GS_PATCH_SCALAR_READ && p->form != GS_PATCH_SCALAR_WRITE)
      return false;
  }
  return true;
}
