/* See cache.h. What is known of the host's instructions here: moves of 32 or 64 bits, REX 8B or 89 ModRM and
 * the displacement from %rdi. Between registers such a move has no displacement, and four prefixes without
 * meaning in its place; or, of a pair's upper half, there is room for a shift. */
#include "translate/cache.h"

#include <string.h>

enum { REX = 0x40, REX_W = 8, REX_R = 4, REX_B = 1, LOAD = 0x8b, STORE = 0x89, OR = 0x0b, RDI = 7 };
enum { SHIFT = 0xc1, LEFT = 4, RIGHT = 5 }; /* by a number of bits, which is behind the ModRM */
enum { MODE_MEMORY = 0x80, MODE_REGISTER = 0xc0, MODRM_REG = 0x38, MODRM_REG_SHIFT = 3, IGNORED = 0x2e };
enum { MOVE_BYTES = 7, DISPLACEMENT_AT = 3, HALF_BITS = 32 };

/* rbx, r8 to r10, r12 and r13: those that GFXSIM_CACHE_REGISTERS has. */
static const uint8_t host_register[GS_CACHE_REGISTERS] = {3, 8, 9, 10, 12, 13};

static void drop(gs_cache_t *c, int i) {
  if (i < 0)
    return;
  c->held[i].scalar = -1;
  c->held[i].is_pair = c->held[i].is_new = false;
}

void gs_cache_begin(gs_cache_t *c) {
  for (int i = 0; i < GS_CACHE_REGISTERS; i++) {
    drop(c, i);
    c->held[i].used = 0;
  }
  c->clock = 0;
}

/* ---- Instructions of the host ---- */

static size_t place_of(unsigned scalar) {
  return scalar == GS_SCALAR_SCC ? offsetof(gs_wave_t, scc)
                                 : offsetof(gs_wave_t, s) + sizeof(uint32_t) * scalar;
}

/* A load or store of a scalar register, or of a pair. */
static void emit_move(gs_emitter_t *e, uint8_t opcode, int i, unsigned scalar, bool is_pair) {
  const unsigned reg = host_register[i];
  const uint32_t displacement = (uint32_t)place_of(scalar);
  uint8_t code[MOVE_BYTES] = {(uint8_t)(REX | (is_pair ? REX_W : 0) | (reg & 8 ? REX_R : 0)), opcode,
                              (uint8_t)(MODE_MEMORY | (reg & 7) << MODRM_REG_SHIFT | RDI)};
  memcpy(code + DISPLACEMENT_AT, &displacement, sizeof displacement);
  gs_emit_bytes(e, code, sizeof code);
}

/* Of registers of the cache: a move or disjunction to `to`, of 32 bits, which clears the others, or of 64. */
static void emit_between(gs_emitter_t *e, uint8_t opcode, int to, int from, bool is_wide) {
  const unsigned reg = host_register[to], rm = host_register[from];
  const uint8_t code[] = {
      (uint8_t)(REX | (is_wide ? REX_W : 0) | (reg & 8 ? REX_R : 0) | (rm & 8 ? REX_B : 0)), opcode,
      (uint8_t)(MODE_REGISTER | (reg & 7) << MODRM_REG_SHIFT | (rm & 7))};
  gs_emit_bytes(e, code, sizeof code);
}

/* A half of 64 bits goes where the other one is. */
static void emit_shift(gs_emitter_t *e, unsigned direction, int i) {
  const unsigned reg = host_register[i];
  const uint8_t code[] = {(uint8_t)(REX | REX_W | (reg & 8 ? REX_B : 0)), SHIFT,
                          (uint8_t)(MODE_REGISTER | direction << MODRM_REG_SHIFT | (reg & 7)), HALF_BITS};
  gs_emit_bytes(e, code, sizeof code);
}

/* ---- What is held ---- */

/* The register that has the scalar one, by itself or in a pair; -1 = none. */
static int find(const gs_cache_t *c, unsigned scalar) {
  for (int i = 0; i < GS_CACHE_REGISTERS; i++)
    if (c->held[i].scalar >= 0 && scalar - (unsigned)c->held[i].scalar < (c->held[i].is_pair ? 2u : 1u))
      return i;
  return -1;
}

static void write_back(gs_cache_t *c, gs_emitter_t *e, int i) {
  if (c->held[i].scalar >= 0 && c->held[i].is_new)
    emit_move(e, STORE, i, (unsigned)c->held[i].scalar, c->held[i].is_pair);
  c->held[i].is_new = false;
}

static void hold(gs_cache_t *c, int i, unsigned scalar, bool is_pair) {
  c->held[i].scalar = (int16_t)scalar;
  c->held[i].is_pair = is_pair;
  c->held[i].used = ++c->clock;
}

/* Joins two registers that have a pair's halves. */
static void join(gs_cache_t *c, gs_emitter_t *e, unsigned first, int low, int high) {
  emit_shift(e, LEFT, high);
  emit_between(e, OR, high, low, true);
  c->held[high].is_new |= c->held[low].is_new;
  drop(c, low);
  hold(c, high, first, true);
}

/* Halves of a pair that are both to be stored. Whoever loads at once what several stores have put there waits
 * until all of them are in the host's first cache. (A half that is not new may have no value yet: of a
 * detour, where the stencil has not begun that writes it.) */
static void join_halves(gs_cache_t *c, gs_emitter_t *e) {
  for (int low = 0; low < GS_CACHE_REGISTERS; low++) {
    const int scalar = c->held[low].scalar;
    if (scalar < 0 || scalar % 2 || c->held[low].is_pair)
      continue;
    const int high = find(c, (unsigned)scalar + 1);
    if (high >= 0 && c->held[low].is_new && c->held[high].is_new)
      join(c, e, (unsigned)scalar, low, high);
  }
}

void gs_cache_clean(gs_cache_t *c, gs_emitter_t *e) {
  join_halves(c, e);
  for (int i = 0; i < GS_CACHE_REGISTERS; i++)
    write_back(c, e, i);
}

void gs_cache_drop_dead(gs_cache_t *c, const gs_scalar_set_t *live) {
  for (int i = 0; i < GS_CACHE_REGISTERS; i++) {
    const unsigned scalar = c->held[i].scalar < 0 ? 0 : (unsigned)c->held[i].scalar;
    if (!gs_scalar_set_has(live, scalar) && !(c->held[i].is_pair && gs_scalar_set_has(live, scalar + 1)))
      drop(c, i);
  }
}

void gs_cache_flush(gs_cache_t *c, gs_emitter_t *e) {
  gs_cache_clean(c, e);
  gs_cache_begin(c);
}

void gs_cache_forget(gs_cache_t *c, unsigned first, unsigned count) {
  for (unsigned scalar = first; scalar < first + count; scalar++)
    drop(c, find(c, scalar));
}

void gs_cache_reload(const gs_cache_t *c, gs_emitter_t *e) {
  for (int i = 0; i < GS_CACHE_REGISTERS; i++)
    if (c->held[i].scalar >= 0)
      emit_move(e, LOAD, i, (unsigned)c->held[i].scalar, c->held[i].is_pair);
}

/* Memory is where both registers of a pair are to be found. */
static void spill(gs_cache_t *c, gs_emitter_t *e, unsigned first) {
  for (unsigned scalar = first; scalar < first + 2; scalar++) {
    const int i = find(c, scalar);
    if (i >= 0)
      write_back(c, e, i);
    drop(c, i);
  }
}

/* A register for what has none: the one that was not used for longest, but for those of the stencil in hand,
 * which were used after `since`. Returns -1 when there is none. */
static int take_register(gs_cache_t *c, gs_emitter_t *e, unsigned since) {
  int best = -1;
  for (int i = 0; i < GS_CACHE_REGISTERS; i++) {
    if (c->held[i].scalar < 0)
      return i;
    if (c->held[i].used <= since && (best < 0 || c->held[i].used < c->held[best].used))
      best = i;
  }
  if (best >= 0) {
    write_back(c, e, best);
    drop(c, best);
  }
  return best;
}

/* ---- What a stencil accesses ---- */

/* Of scalar registers, by a move that can be one between the host's registers. */
typedef struct access {
  unsigned scalar; /* the first */
  bool is_pair, is_write;
} access_t;

/* Returns false for all other patches. */
static bool access_of(const gs_patch_t *p, const uint64_t values[GS_HOLE_VALUES], access_t *access) {
  access->is_pair = p->form == GS_PATCH_PAIR_READ || p->form == GS_PATCH_PAIR_WRITE;
  access->is_write = p->form == GS_PATCH_SCALAR_WRITE || p->form == GS_PATCH_PAIR_WRITE;
  if (!access->is_pair && !access->is_write && p->form != GS_PATCH_SCALAR_READ)
    return false;
  access->scalar = GS_SCALAR_SCC;
  if (p->hole == GS_HOLE_SCC)
    return true;
  const uint64_t place = values[p->hole] + (uint64_t)(int64_t)p->addend - offsetof(gs_wave_t, s);
  access->scalar = (unsigned)(place / sizeof(uint32_t));
  return access->scalar < GS_S_FLAT_SCRATCH;
}

/* How it accesses a pair, or its registers. (Pairs are aligned: the decoder refuses others.) */
typedef struct usage {
  bool is_read;   /* any of it */
  bool is_paired; /* as a whole, at least once */
  bool writes_half;
} usage_t;

static usage_t usage_of(const gs_stencil_table_t *table, const gs_stencil_t *stencil,
                        const uint64_t values[GS_HOLE_VALUES], unsigned first) {
  usage_t usage = {0};
  access_t a;
  for (unsigned i = 0; i < stencil->patch_count; i++) {
    if (!access_of(&table->patches[stencil->first_patch + i], values, &a) || (a.scalar & ~1u) != first)
      continue;
    usage.is_read |= !a.is_write;
    usage.is_paired |= a.is_pair;
    usage.writes_half |= a.is_write && !a.is_pair;
  }
  return usage;
}

/* Whether the stencil reads the scalar register by itself. */
static bool reads(const gs_stencil_table_t *table, const gs_stencil_t *stencil,
                  const uint64_t values[GS_HOLE_VALUES], unsigned scalar) {
  access_t a;
  for (unsigned i = 0; i < stencil->patch_count; i++)
    if (access_of(&table->patches[stencil->first_patch + i], values, &a) && !a.is_write && a.scalar == scalar)
      return true;
  return false;
}

/* ---- Bringing it to registers ---- */

/* Has a pair in a register, or in memory where there is none. What is not read needs no value. */
static void hold_pair(gs_cache_t *c, gs_emitter_t *e, unsigned first, bool is_read, unsigned since) {
  const int low = find(c, first), high = find(c, first + 1);
  if (low >= 0 && low == high) {
    c->held[low].used = ++c->clock;
    return;
  }
  if (!is_read) {
    drop(c, low);
    drop(c, high);
  } else if (low >= 0 || high >= 0) {
    c->held[low >= 0 ? low : high].used = ++c->clock; /* it is to stay for that long */
  }
  const bool is_joined = is_read && (low >= 0 || high >= 0);
  const int other = is_joined && low >= 0 && high >= 0 ? GS_CACHE_REGISTERS : take_register(c, e, since);
  if (other < 0) {
    spill(c, e, first);
    return;
  }
  if (!is_joined) {
    if (is_read)
      emit_move(e, LOAD, other, first, true);
    hold(c, other, first, true);
    return;
  }
  if (other < GS_CACHE_REGISTERS)
    emit_move(e, LOAD, other, low >= 0 ? first + 1 : first, false);
  join(c, e, first, low >= 0 ? low : other, high >= 0 ? high : other);
}

/* Parts a pair, of which the stencil writes one register. `is_read`: it wants that one's value, too. */
static void part(gs_cache_t *c, gs_emitter_t *e, int i, unsigned scalar, bool is_read, unsigned since) {
  const unsigned first = (unsigned)c->held[i].scalar;
  const bool is_new = c->held[i].is_new;
  c->held[i].used = ++c->clock;
  const int other = is_read ? take_register(c, e, since) : -1;
  if (is_read && other < 0) {
    spill(c, e, first);
    return;
  }
  if (other >= 0) {
    emit_between(e, LOAD, other, i, true);
    emit_shift(e, RIGHT, other);
    hold(c, other, first + 1, false);
    c->held[other].is_new = is_new;
  }
  if (other < 0 && scalar == first) {
    emit_shift(e, RIGHT, i);
    hold(c, i, first + 1, false);
  } else {
    emit_between(e, LOAD, i, i, false);
    hold(c, i, first, false);
  }
}

static void hold_single(gs_cache_t *c, gs_emitter_t *e, const access_t *a, bool is_read, unsigned since) {
  int i = find(c, a->scalar);
  if (i >= 0 && c->held[i].is_pair && a->is_write) {
    part(c, e, i, a->scalar, is_read, since);
    i = find(c, a->scalar);
  }
  if (i < 0) {
    i = take_register(c, e, since);
    if (i < 0)
      return;
    if (is_read)
      emit_move(e, LOAD, i, a->scalar, false);
    hold(c, i, a->scalar, false);
  }
  c->held[i].used = ++c->clock;
}

/* Brings what the stencil accesses to registers. Accesses that are not moves find it in memory; so does a
 * stencil that accesses both a pair and one of its registers in a way that neither serves. */
static void prepare(gs_cache_t *c, gs_emitter_t *e, const gs_stencil_t *stencil,
                    const uint64_t values[GS_HOLE_VALUES]) {
  const gs_stencil_table_t *const table = e->table;
  const unsigned since = c->clock;
  access_t a;
  for (unsigned i = 0; i < stencil->patch_count; i++) {
    if (!access_of(&table->patches[stencil->first_patch + i], values, &a))
      continue;
    const unsigned first = a.scalar & ~1u;
    const usage_t usage = usage_of(table, stencil, values, first);
    if (usage.is_paired && usage.writes_half)
      spill(c, e, first);
    else if (usage.is_paired)
      hold_pair(c, e, first, usage.is_read, since);
    else
      hold_single(c, e, &a, reads(table, stencil, values, a.scalar), since);
  }
}

/* The upper half of a pair to the register that a move loads: all of it, and a shift. */
static void rewrite_half(uint8_t code[MOVE_BYTES], unsigned reg) {
  const uint8_t prefix = code[0];
  const unsigned to = (code[2] & (unsigned)MODRM_REG) >> MODRM_REG_SHIFT;
  code[0] = (uint8_t)(prefix | REX_W | (reg & 8 ? REX_B : 0));
  code[2] = (uint8_t)(MODE_REGISTER | to << MODRM_REG_SHIFT | (reg & 7));
  code[3] = (uint8_t)(REX | REX_W | (prefix & REX_R ? REX_B : 0));
  code[4] = SHIFT;
  code[5] = (uint8_t)(MODE_REGISTER | RIGHT << MODRM_REG_SHIFT | to);
  code[6] = HALF_BITS;
}

/* A move between registers in place of one to or from memory. */
static void rewrite(uint8_t code[MOVE_BYTES], unsigned reg) {
  const uint8_t prefix = code[0], opcode = code[1], modrm = code[2];
  memset(code, IGNORED, MOVE_BYTES - DISPLACEMENT_AT);
  code[4] = (uint8_t)(prefix | (reg & 8 ? REX_B : 0));
  code[5] = opcode;
  code[6] = (uint8_t)(MODE_REGISTER | (modrm & MODRM_REG) | (reg & 7));
}

gs_cache_t gs_cache_stencil(gs_cache_t *c, gs_emitter_t *e, const gs_stencil_t *stencil,
                            const uint64_t values[GS_HOLE_VALUES], unsigned label) {
  const gs_patch_t *const patches = &e->table->patches[stencil->first_patch];
  prepare(c, e, stencil, values);
  const gs_cache_t before = *c;
  const size_t start = e->end;
  gs_emit_stencil(e, stencil, values, label);
  access_t a;
  for (unsigned i = 0; i < stencil->patch_count && !e->is_full; i++) {
    const int held = access_of(&patches[i], values, &a) ? find(c, a.scalar) : -1;
    if (held < 0)
      continue;
    uint8_t *const code = e->arena->base + start + patches[i].at - DISPLACEMENT_AT;
    if (c->held[held].scalar == (int)a.scalar)
      rewrite(code, host_register[held]);
    else
      rewrite_half(code, host_register[held]);
    c->held[held].is_new |= a.is_write;
  }
  return before;
}

bool gs_cache_writes(const gs_stencil_t *stencil, const gs_stencil_table_t *table) {
  for (unsigned i = 0; i < stencil->patch_count; i++) {
    const gs_patch_t *p = &table->patches[stencil->first_patch + i];
    if (p->hole == GS_HOLE_SGPR_DST && p->form < GS_PATCH_SCALAR_READ)
      return false;
  }
  return true;
}
