/* See strip_emit.h. Values are made in their order, each in a register that is free, or that has the value
 * that is needed again last. What is not in a register when it is needed is made again, or is in the row that
 * has got it, or is in the wave's memory for such values. */
#include "translate/strip_emit.h"

#include <string.h>

#include "isa/strip_rows.h"

enum { DISPLACEMENT_BYTES = 4, P0 = 1, P1 = 2, P2 = 3, EVEX_BYTES = 4, EVEX_MODRM = 5 };
enum { R11 = 11, RDI = 7, R14 = 14, R15 = 15 };
enum { VECTORS = 32, MASKS = 8, NEVER = GS_STRIP_VALUES };

/* ---- Numbers of registers in instructions ---- */

void gs_strip_row_to_register(gs_strip_value_t *v) {
  enum { BEHIND = EVEX_MODRM + 1 };
  v->code[EVEX_MODRM] |= 0xc0;
  memmove(v->code + BEHIND, v->code + BEHIND + DISPLACEMENT_BYTES, v->size - BEHIND - DISPLACEMENT_BYTES);
  v->size = (uint8_t)(v->size - DISPLACEMENT_BYTES);
}

/* Sets bits of a byte, which are inverted in prefixes. */
static void set_bits(uint8_t *byte, unsigned shift, unsigned width, unsigned value) {
  const unsigned mask = ((1u << width) - 1) << shift;
  *byte = (uint8_t)((*byte & ~mask) | (value << shift & mask));
}

static void set_vex(gs_strip_value_t *v, unsigned field, unsigned number) {
  const bool is_long = v->code[0] == 0xc4;
  uint8_t *const last = &v->code[is_long ? 2 : 1], *const modrm = last + 2;
  switch (field) {
  case GS_FIELD_REG: set_bits(modrm, 3, 3, number); break;
  case GS_FIELD_V: set_bits(last, 3, 4, ~number); break;
  default: set_bits(modrm, 0, 3, number);
  }
}

void gs_strip_set_register(gs_strip_value_t *v, unsigned field, unsigned number) {
  if (v->op->is_vex) {
    set_vex(v, field, number);
    return;
  }
  switch (field) {
  case GS_FIELD_REG:
    set_bits(&v->code[P0], 7, 1, ~(number >> 3));
    set_bits(&v->code[P0], 4, 1, ~(number >> 4));
    set_bits(&v->code[EVEX_MODRM], 3, 3, number);
    break;
  case GS_FIELD_V:
    set_bits(&v->code[P1], 3, 4, ~number);
    set_bits(&v->code[P2], 3, 1, ~(number >> 4));
    break;
  case GS_FIELD_RM:
    set_bits(&v->code[P0], 5, 1, ~(number >> 3));
    set_bits(&v->code[P0], 6, 1, ~(number >> 4));
    set_bits(&v->code[EVEX_MODRM], 0, 3, number);
    break;
  default: set_bits(&v->code[P2], 0, 3, number);
  }
}

/* ---- Moves ---- */

/* An opcode's place: 0F or 0F38, with W and the mandatory prefix. */
typedef struct opcode {
  uint8_t map, p1, number;
} opcode_t;
static const opcode_t load = {1, 0xfd, 0x6f}, store = {1, 0xfd, 0x7f}; /* vmovdqa64 */
static const opcode_t load_any = {1, 0xfe, 0x6f};                      /* vmovdqu64 */
static const opcode_t broadcast = {2, 0x7d, 0x58};                     /* vpbroadcastd from memory */
static const opcode_t broadcast_general = {2, 0x7d, 0x7c};             /* and from a general register */
enum { MODE_MEMORY = 0x80, MODE_REGISTER = 0xc0 };

/* An instruction on the whole vector register `reg` and another register, or memory behind a general one. */
static void emit_vector(gs_emitter_t *e, opcode_t opcode, unsigned reg, unsigned other, uint8_t mode) {
  const unsigned p0 = opcode.map | (reg & 8 ? 0 : 0x80) | (reg & 16 ? 0 : 0x10) | (other & 8 ? 0 : 0x20) |
                      (other & 16 ? 0 : 0x40);
  const uint8_t code[] = {0x62, (uint8_t)p0,   opcode.p1,
                          0x48, opcode.number, (uint8_t)(mode | (reg & 7) << 3 | (other & 7))};
  gs_emit_bytes(e, code, sizeof code);
}

static void emit_memory(gs_emitter_t *e, opcode_t opcode, unsigned reg, unsigned base, size_t at) {
  emit_vector(e, opcode, reg, base, MODE_MEMORY);
  gs_emit_32(e, at);
}

/* kmovw between a mask register and memory behind rdi. */
static void emit_mask(gs_emitter_t *e, bool is_store, unsigned mask, size_t at) {
  const uint8_t code[] = {0xc5, 0xf8, is_store ? 0x91 : 0x90, (uint8_t)(MODE_MEMORY | mask << 3 | RDI)};
  gs_emit_bytes(e, code, sizeof code);
  gs_emit_32(e, at);
}

/* kmovw from a mask register to a general one. */
static void emit_mask_bits(gs_emitter_t *e, unsigned general, unsigned mask) {
  const uint8_t code[] = {0xc5, (uint8_t)(general & 8 ? 0x78 : 0xf8), 0x93,
                          (uint8_t)(MODE_REGISTER | (general & 7) << 3 | mask)};
  gs_emit_bytes(e, code, sizeof code);
}

/* By way of r11d, which stencils do not use: mov $value, %r11d. */
static void emit_constant(gs_emitter_t *e, unsigned reg, uint32_t value) {
  static const uint8_t mov[] = {0x41, 0xbb};
  gs_emit_bytes(e, mov, sizeof mov);
  gs_emit_32(e, value);
  emit_vector(e, broadcast_general, reg, R11, MODE_REGISTER);
}

/* mov or add between r11 and memory behind rdi. */
static void emit_r11(gs_emitter_t *e, uint8_t opcode, size_t at) {
  const uint8_t code[] = {0x4c, opcode, (uint8_t)(MODE_MEMORY | (R11 & 7) << 3 | RDI)};
  gs_emit_bytes(e, code, sizeof code);
  gs_emit_32(e, at);
}
enum { MOV_FROM_MEMORY = 0x8b, ADD_TO_MEMORY = 0x01 };

void gs_strip_next_loads(gs_emitter_t *e, unsigned loads) {
  for (unsigned i = 0; i < loads; i++) {
    emit_r11(e, MOV_FROM_MEMORY, gs_strip_place(i) + offsetof(gs_strip_place_t, step));
    emit_r11(e, ADD_TO_MEMORY, gs_strip_place(i));
  }
}

/* ---- Registers ---- */

/* Where values are while code is written. */
typedef struct allocator {
  gs_strip_t *s;
  gs_emitter_t *e;
  int at;                                /* the value that is being made */
  int16_t last_use[GS_STRIP_VALUES];     /* -1 = it is not needed */
  int8_t register_of[GS_STRIP_VALUES];   /* -1 = none */
  int8_t slot_of[GS_STRIP_VALUES];       /* likewise */
  int16_t home[GS_STRIP_VALUES];         /* a row that has been stored from it, or -1 */
  int16_t vector[VECTORS], mask[MASKS];  /* values that registers have, or -1 */
  uint32_t locked_vectors, locked_masks; /* what the instruction in hand needs */
  int16_t slot[GS_STRIP_VALUE_SLOTS];
  bool is_stored[GS_ROWS];                /* the row has no longer what it had when the strip began */
  int16_t next_use_from[GS_STRIP_VALUES]; /* no value is needed between the last question and this */
} allocator_t;

static bool is_mask(const allocator_t *a, int value) {
  return a->s->value[value].role == GS_ROLE_MASK;
}

static bool reads(const gs_strip_value_t *v, int value) {
  for (unsigned f = 0; f < GS_FIELDS; f++)
    if (v->src[f] == value)
      return true;
  return false;
}

/* The next value that is made of this one. */
static int next_use(allocator_t *a, int value) {
  int at = a->next_use_from[value] > a->at ? a->next_use_from[value] : a->at;
  while (at < a->last_use[value] && !(a->last_use[at] >= 0 && reads(&a->s->value[at], value)))
    at++;
  a->next_use_from[value] = (int16_t)at;
  return at > a->last_use[value] ? NEVER : at;
}

/* Whether an instruction does nothing but load a constant of the compiler. */
static bool is_pool(const gs_strip_value_t *v) {
  return v->pool && v->op->memory == GS_MEMORY_SAME &&
         v->op->role[GS_FIELD_REG] == (GS_ROLE_VECTOR | GS_ROLE_WRITE) && !v->op->role[GS_FIELD_V] &&
         !v->op->role[GS_FIELD_MASK];
}

/* Whether the value can be had again without having been kept. */
static bool is_at_hand(const allocator_t *a, int value) {
  const gs_strip_value_t *v = &a->s->value[value];
  return a->slot_of[value] >= 0 || a->home[value] >= 0 || v->kind == GS_VALUE_SCALAR ||
         v->kind == GS_VALUE_CONSTANT || (v->kind == GS_VALUE_ROW && !a->is_stored[v->number]) || is_pool(v);
}

static size_t slot_at(const allocator_t *a, int value) {
  return offsetof(gs_wave_t, strip_values) + 64 * (size_t)a->slot_of[value];
}

static void keep_in_slot(allocator_t *a, int value, unsigned reg) {
  unsigned slot = 0;
  while (slot < GS_STRIP_VALUE_SLOTS && a->slot[slot] >= 0)
    slot++;
  if (slot == GS_STRIP_VALUE_SLOTS) {
    a->s->is_full = true;
    return;
  }
  a->slot[slot] = (int16_t)value;
  a->slot_of[value] = (int8_t)slot;
  if (is_mask(a, value))
    emit_mask(a->e, true, reg, slot_at(a, value));
  else
    emit_memory(a->e, store, reg, RDI, slot_at(a, value));
}

/* A register of the class: a free one, or the one whose value is needed again last. */
static unsigned take_register(allocator_t *a, bool of_masks, int value) {
  int16_t *const file = of_masks ? a->mask : a->vector;
  uint32_t *const locked = of_masks ? &a->locked_masks : &a->locked_vectors;
  const unsigned first = of_masks ? 1 : 0, end = of_masks ? MASKS : VECTORS; /* k0 is no mask of lanes */
  unsigned best = end;
  int farthest = -1;
  for (unsigned i = first; i < end && farthest < NEVER + 1; i++) {
    const int use = *locked >> i & 1 ? -1 : file[i] < 0 ? NEVER + 1 : next_use(a, file[i]);
    if (use > farthest) {
      best = i;
      farthest = use;
    }
  }
  if (best == end) {
    a->s->is_full = true;
    return first;
  }
  if (file[best] >= 0) {
    if (!is_at_hand(a, file[best]))
      keep_in_slot(a, file[best], best);
    a->register_of[file[best]] = -1;
  }
  file[best] = (int16_t)value;
  *locked |= 1u << best;
  a->register_of[value] = (int8_t)best;
  return best;
}

static void fill_pool(allocator_t *a, const gs_strip_value_t *v, size_t start) {
  static const uint64_t none[GS_HOLE_VALUES];
  if (v->pool && !a->e->is_full)
    gs_emit_patch(a->e, start + v->pool_at, v->pool, none, 0);
}

static void emit_code(allocator_t *a, const gs_strip_value_t *v) {
  const size_t start = a->e->end;
  gs_emit_bytes(a->e, v->code, v->size);
  fill_pool(a, v, start);
}

/* Makes a value that was not kept, or loads it. */
static void bring(allocator_t *a, int value, unsigned reg) {
  gs_strip_value_t v = a->s->value[value];
  if (a->slot_of[value] >= 0 && is_mask(a, value))
    emit_mask(a->e, false, reg, slot_at(a, value));
  else if (a->slot_of[value] >= 0)
    emit_memory(a->e, load, reg, RDI, slot_at(a, value));
  else if (a->home[value] >= 0)
    emit_memory(a->e, load, reg, R14, (size_t)a->home[value] * sizeof(gs_row_t));
  else if (v.kind == GS_VALUE_ROW)
    emit_memory(a->e, load, reg, R14, (size_t)v.number * sizeof(gs_row_t));
  else if (v.kind == GS_VALUE_SCALAR)
    emit_memory(a->e, broadcast, reg, RDI, offsetof(gs_wave_t, s) + sizeof(uint32_t) * (size_t)v.number);
  else if (v.kind == GS_VALUE_CONSTANT)
    emit_constant(a->e, reg, v.number);
  else {
    gs_strip_set_register(&v, GS_FIELD_REG, reg);
    emit_code(a, &v);
  }
}

/* The register that the value is in, which stays so until the instruction in hand is done. */
static unsigned need(allocator_t *a, int value) {
  if (a->register_of[value] < 0)
    bring(a, value, take_register(a, is_mask(a, value), value));
  const unsigned reg = (unsigned)a->register_of[value];
  if (is_mask(a, value))
    a->locked_masks |= 1u << reg;
  else
    a->locked_vectors |= 1u << reg;
  return reg;
}

/* Whether nobody needs the value behind the instruction in hand. */
static bool is_last_use(const allocator_t *a, int value) {
  return a->last_use[value] <= a->at;
}

static void forget(allocator_t *a, int value) {
  const int reg = a->register_of[value];
  if (reg >= 0 && is_mask(a, value))
    a->mask[reg] = -1;
  else if (reg >= 0)
    a->vector[reg] = -1;
  a->register_of[value] = -1;
  if (a->slot_of[value] >= 0)
    a->slot[(unsigned)a->slot_of[value]] = -1;
  a->slot_of[value] = -1;
}

static void forget_sources(allocator_t *a, const gs_strip_value_t *v) {
  for (unsigned f = 0; f < GS_FIELDS; f++)
    if (v->src[f] >= 0 && is_last_use(a, v->src[f]))
      forget(a, v->src[f]);
}

/* The register for a result that begins as the value `old`: that one's, if nobody else needs it. */
static unsigned take_over(allocator_t *a, int old) {
  const unsigned from = need(a, old);
  if (is_last_use(a, old)) {
    forget(a, old);
    a->vector[from] = (int16_t)a->at;
    a->register_of[a->at] = (int8_t)from;
    return from;
  }
  const unsigned to = take_register(a, false, a->at);
  emit_vector(a->e, load, to, from, MODE_REGISTER);
  return to;
}

/* Makes a value of an instruction. */
static void make(allocator_t *a) {
  gs_strip_value_t v = a->s->value[a->at];
  const gs_op_t *const op = v.op;
  unsigned result = GS_FIELDS, reg = 0;
  for (unsigned f = 0; f < GS_FIELDS; f++) {
    if (op->role[f] & GS_ROLE_WRITE)
      result = f;
    if (v.src[f] >= 0)
      gs_strip_set_register(&v, f, need(a, v.src[f]));
  }
  if (v.role && v.src[result] >= 0) {
    reg = take_over(a, v.src[result]);
    forget_sources(a, &v);
  } else if (v.role) {
    forget_sources(a, &v);
    a->locked_vectors = a->locked_masks = 0;
    reg = take_register(a, v.role == GS_ROLE_MASK, a->at);
  } else {
    forget_sources(a, &v);
  }
  for (unsigned f = 0; f < GS_FIELDS && v.role; f++)
    if (f == result || (op->role[f] && v.src[f] < 0))
      gs_strip_set_register(&v, f, reg);
  emit_code(a, &v);
}

static void store_row(allocator_t *a, const gs_strip_value_t *v) {
  const int value = v->src[GS_FIELD_RM];
  const gs_strip_value_t *const from = &a->s->value[value];
  if (from->kind == GS_VALUE_ROW && from->number == v->number)
    return; /* it has come back to where it was */
  const unsigned reg = need(a, value);
  /* Who needs what the row had is to find it elsewhere from now on. */
  for (int i = 0; i < a->at; i++)
    if (a->s->value[i].kind == GS_VALUE_ROW && a->s->value[i].number == v->number && a->last_use[i] > a->at)
      (void)need(a, i);
  emit_memory(a->e, store, reg, R14, (size_t)v->number * sizeof(gs_row_t));
  a->is_stored[v->number] = true;
  a->home[value] = (int16_t)v->number;
  forget_sources(a, v);
}

/* Once, and when it is its turn: others may store there. */
static void make_load(allocator_t *a, const gs_strip_value_t *v) {
  enum { VECTOR_BYTES = 64 };
  const unsigned reg = take_register(a, false, a->at);
  emit_r11(a->e, MOV_FROM_MEMORY, gs_strip_place(v->number >> 8));
  emit_memory(a->e, load_any, reg, R11, (v->number & 255) * (size_t)VECTOR_BYTES);
}

/* ---- Strips ---- */

/* Finds out who is needed, from the last to the first. */
static void find_uses(allocator_t *a) {
  for (int i = (int)a->s->count - 1; i >= 0; i--) {
    const gs_strip_value_t *v = &a->s->value[i];
    if (v->kind == GS_VALUE_STORE || v->kind == GS_VALUE_STORE_MASK)
      a->last_use[i] = (int16_t)i;
    if (a->last_use[i] < 0)
      continue;
    for (unsigned f = 0; f < GS_FIELDS; f++)
      if (v->src[f] >= 0 && a->last_use[v->src[f]] < 0)
        a->last_use[v->src[f]] = (int16_t)i;
    for (unsigned g = 0; g < v->general_count; g++)
      if (a->last_use[v->general[g]] < 0)
        a->last_use[v->general[g]] = (int16_t)i;
  }
}

static void emit_value(allocator_t *a) {
  const gs_strip_value_t *v = &a->s->value[a->at];
  a->locked_vectors = a->locked_masks = 0;
  switch (v->kind) {
  case GS_VALUE_ROW:
  case GS_VALUE_SCALAR:
  case GS_VALUE_CONSTANT: break; /* when they are needed */
  case GS_VALUE_MASK_BITS:
    emit_mask_bits(a->e, v->number, need(a, v->src[GS_FIELD_RM]));
    forget_sources(a, v);
    break;
  case GS_VALUE_LOAD: make_load(a, v); break;
  case GS_VALUE_STORE: store_row(a, v); break;
  default: make(a);
  }
}

bool gs_strip_end(gs_strip_t *s, gs_emitter_t *e) {
  allocator_t a = {.s = s, .e = e};
  memset(a.last_use, -1, sizeof a.last_use);
  memset(a.register_of, -1, sizeof a.register_of);
  memset(a.slot_of, -1, sizeof a.slot_of);
  memset(a.home, -1, sizeof a.home);
  memset(a.vector, -1, sizeof a.vector);
  memset(a.mask, -1, sizeof a.mask);
  memset(a.slot, -1, sizeof a.slot);
  find_uses(&a);
  for (a.at = 0; a.at < (int)s->count && !s->is_full; a.at++)
    if (a.last_use[a.at] >= 0 && s->value[a.at].kind != GS_VALUE_NOTHING)
      emit_value(&a);
  return !s->is_full;
}
