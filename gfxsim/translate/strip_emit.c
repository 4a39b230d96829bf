/* See strip_emit.h. Values are made in their order, each in a register that is free, or that has the value
 * that is needed again last. What is not in a register when it is needed is made again, or is in the row that
 * has got it, or is in the wave's memory for such values. */
#include "translate/strip_emit.h"

#include <string.h>

#include "translate/strip_alloc.h"

enum { DISPLACEMENT_BYTES = 4, P0 = 1, P1 = 2, P2 = 3, EVEX_BYTES = 4, EVEX_MODRM = 5, VEX_MODRM = 4 };
enum { R11 = 11, RDI = 7, R14 = 14, R15 = 15 };

/* Of a strip: bytes in a vector register, and of a mask; whether masks are in vector registers. */
static size_t vector_bytes(const gs_emitter_t *e) {
  return sizeof(uint32_t) * e->table->strip_lanes;
}
static size_t mask_bytes(const gs_emitter_t *e) {
  return e->table->strip_lanes / 8;
}
static bool is_narrow(const gs_emitter_t *e) {
  return e->table->strip_lanes == 8;
}

/* ---- Numbers of registers in instructions ---- */

void gs_strip_row_to_register(gs_strip_value_t *v) {
  const size_t modrm = v->op->is_vex ? VEX_MODRM : EVEX_MODRM, behind = modrm + 1;
  v->code[modrm] |= 0xc0;
  memmove(v->code + behind, v->code + behind + DISPLACEMENT_BYTES, v->size - behind - DISPLACEMENT_BYTES);
  v->size = (uint8_t)(v->size - DISPLACEMENT_BYTES);
}

/* Sets bits of a byte, which are inverted in prefixes. */
static void set_bits(uint8_t *byte, unsigned shift, unsigned width, unsigned value) {
  const unsigned mask = ((1u << width) - 1) << shift;
  *byte = (uint8_t)((*byte & ~mask) | (value << shift & mask));
}

/* Instructions on mask registers may have the short prefix, which does for those. */
static void set_vex(gs_strip_value_t *v, unsigned field, unsigned number) {
  enum { LAST_REGISTER = 4 };
  const bool is_long = v->code[0] == 0xc4;
  uint8_t *const last = &v->code[is_long ? P1 : P0], *const modrm = last + 2;
  switch (field) {
  case GS_FIELD_REG:
    set_bits(modrm, 3, 3, number);
    set_bits(&v->code[P0], 7, 1, ~(number >> 3));
    break;
  case GS_FIELD_V: set_bits(last, 3, 4, ~number); break;
  case GS_FIELD_RM:
    set_bits(modrm, 0, 3, number);
    if (is_long)
      set_bits(&v->code[P0], 5, 1, ~(number >> 3));
    break;
  default: set_bits(&v->code[v->size - 1], LAST_REGISTER, 4, number);
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

bool gs_strip_is_of_doubles(const gs_strip_value_t *v) {
  enum { W = 0x80 };
  return v->code[P1] & W;
}

/* Whether it is a comparison that has a predicate, which is its last byte then. */
static bool has_predicate(const gs_strip_value_t *v) {
  enum { MAP = 7, COMPARE_FLOATS = 0xc2, COMPARE_UNSIGNED = 0x1e, COMPARE = 0x1f };
  if (v->kind != GS_VALUE_OP || v->role != GS_ROLE_MASK || v->op->is_vex || v->op->role[GS_FIELD_MASK])
    return false;
  const unsigned map = v->code[P0] & MAP, opcode = v->code[EVEX_BYTES];
  return (map == 1 && opcode == COMPARE_FLOATS) ||
         (map == 3 && (opcode == COMPARE || opcode == COMPARE_UNSIGNED));
}

/* Makes a comparison, of all lanes, one that leaves in the mask register those of `lanes`, a mask register or
 * 0 = all, for which it does not hold. Returns false if the value is no comparison, or has no such form. */
static bool take_out(gs_strip_value_t *v, unsigned mask, unsigned lanes) {
  enum { OPPOSITE = 4 };
  if (!has_predicate(v))
    return false;
  v->code[v->size - 1] ^= OPPOSITE;
  gs_strip_set_register(v, GS_FIELD_REG, mask);
  gs_strip_set_register(v, GS_FIELD_MASK, lanes);
  return true;
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
static const opcode_t broadcast_pair = {2, 0xfd, 0x59};                /* vpbroadcastq from memory */
static const opcode_t exclusive_or = {1, 0x7d, 0xef};                  /* vpxord */
static const opcode_t logic = {3, 0x7d, 0x25};                         /* vpternlogd, and a table */
static const opcode_t quarters = {3, 0xfd, 0x43};                      /* vshufi64x2, and which */
static const opcode_t unpack_low = {1, 0xfd, 0x6c}, unpack_high = {1, 0xfd, 0x6d}; /* vpunpck.qdq */
/* Of VEX alone: */
static const opcode_t broadcast_pair_vex = {2, 0x7d, 0x59}; /* vpbroadcastq has no W there */
static const opcode_t broadcast_byte = {2, 0x7d, 0x78};     /* vpbroadcastb from memory */
static const opcode_t from_general = {1, 0x7d, 0x6e};       /* vmovd */
static const opcode_t equal = {1, 0x7d, 0x76}, conjunction = {1, 0x7d, 0xdb}; /* vpcmpeqd, vpand */
static const opcode_t join_bits = {1, 0x7c, 0x56};                            /* vorps */
static const opcode_t bits_of_row = {1, 0x7c, 0x50};                          /* vmovmskps */
static const opcode_t test_bits = {2, 0x7d, 0x0e};                            /* vtestps */
static const opcode_t insert_half = {3, 0x7d, 0x38};                          /* vinserti128, and which */
static const opcode_t load_half = {1, 0x7e, 0x6f};                            /* vmovdqu of 128 bits */
enum { MODE_MEMORY = 0x80, MODE_REGISTER = 0xc0, MODE_NEAR_HERE = 0x05 };

static void emit_vex(gs_emitter_t *e, opcode_t opcode, bool is_whole, unsigned reg, unsigned first,
                     unsigned other, uint8_t mode) {
  enum { W_AND_PREFIX = 0x83, WHOLE = 4 };
  const unsigned p0 = opcode.map | (reg & 8 ? 0 : 0x80) | (other & 8 ? 0 : 0x20) | 0x40;
  const unsigned p1 = (opcode.p1 & W_AND_PREFIX) | (~first & 15) << 3 | (is_whole ? WHOLE : 0);
  const uint8_t code[] = {0xc4, (uint8_t)p0, (uint8_t)p1, opcode.number,
                          (uint8_t)(mode | (reg & 7) << 3 | (other & 7))};
  gs_emit_bytes(e, code, sizeof code);
}

/* An instruction on lanes of `mask`, 0 = on all, of the vector registers `reg` and `first`, and another one,
 * or memory behind a general one. */
static void emit_masked(gs_emitter_t *e, opcode_t opcode, unsigned mask, unsigned reg, unsigned first,
                        unsigned other, uint8_t mode) {
  const unsigned p0 = opcode.map | (reg & 8 ? 0 : 0x80) | (reg & 16 ? 0 : 0x10) | (other & 8 ? 0 : 0x20) |
                      (other & 16 ? 0 : 0x40);
  const unsigned p1 = (opcode.p1 & ~0x78u) | (~first & 15) << 3, p2 = 0x40 | (first & 16 ? 0 : 8) | mask;
  const uint8_t code[] = {0x62,        (uint8_t)p0,   (uint8_t)p1,
                          (uint8_t)p2, opcode.number, (uint8_t)(mode | (reg & 7) << 3 | (other & 7))};
  gs_emit_bytes(e, code, sizeof code);
}

static void emit_three(gs_emitter_t *e, opcode_t opcode, unsigned reg, unsigned first, unsigned other,
                       uint8_t mode) {
  if (is_narrow(e))
    emit_vex(e, opcode, true, reg, first, other, mode);
  else
    emit_masked(e, opcode, 0, reg, first, other, mode);
}

/* The same with one operand. */
static void emit_vector(gs_emitter_t *e, opcode_t opcode, unsigned reg, unsigned other, uint8_t mode) {
  emit_three(e, opcode, reg, 0, other, mode);
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

/* ---- Masks in vector registers ---- */

/* With each lane's bit in a mask, which the table's pool begins with. */
static void emit_with_bits(gs_emitter_t *e, opcode_t opcode, unsigned reg, unsigned first) {
  static const gs_patch_t bits = {0, GS_PATCH_DISTANCE, GS_HOLE_POOL, -DISPLACEMENT_BYTES};
  static const uint64_t none[GS_HOLE_VALUES];
  emit_vex(e, opcode, true, reg, first, 0, MODE_NEAR_HERE);
  gs_emit_32(e, 0);
  if (!e->is_full)
    gs_emit_patch(e, e->end - DISPLACEMENT_BYTES, &bits, none, 0);
}
/* A row whose lanes have all bits of a mask: leaves each lane its own, and takes that for all of the lane. */
static void emit_part_bits(gs_emitter_t *e, unsigned reg) {
  emit_with_bits(e, conjunction, reg, reg);
  emit_with_bits(e, equal, reg, reg);
}
static void emit_row_of_bits(gs_emitter_t *e, unsigned reg, unsigned general) {
  emit_vex(e, from_general, false, reg, 0, general, MODE_REGISTER);
  emit_vex(e, broadcast, true, reg, 0, reg, MODE_REGISTER);
  emit_part_bits(e, reg);
}
/* The first bits of all lanes. */
static void emit_bits_of_row(gs_emitter_t *e, unsigned general, unsigned reg) {
  emit_vex(e, bits_of_row, true, general, 0, reg, MODE_REGISTER);
}
/* To memory behind r15, by way of r11: mov %r11b, at(%r15). */
static void emit_store_of_bits(gs_emitter_t *e, unsigned reg, size_t at) {
  static const uint8_t mov[] = {0x45, 0x88, (uint8_t)(MODE_MEMORY | (R11 & 7) << 3 | (R15 & 7))};
  emit_bits_of_row(e, R11, reg);
  gs_emit_bytes(e, mov, sizeof mov);
  gs_emit_32(e, at);
}

/* ---- Masks in registers for masks ---- */

/* kmovw from memory behind r15. */
static void emit_mask_of_lanes(gs_emitter_t *e, unsigned mask, size_t at) {
  const uint8_t code[] = {0xc4, 0xc1, 0x78, 0x90, (uint8_t)(MODE_MEMORY | mask << 3 | (R15 & 7))};
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
  static const uint8_t mov[] = {0x41, 0xbb}, all_ones = 0xff;
  if (value == 0) {
    emit_three(e, exclusive_or, reg, reg, reg, MODE_REGISTER);
    return;
  }
  if (value == UINT32_MAX && is_narrow(e)) {
    emit_vex(e, equal, true, reg, reg, reg, MODE_REGISTER);
    return;
  }
  if (value == UINT32_MAX) {
    emit_three(e, logic, reg, reg, reg, MODE_REGISTER);
    gs_emit_bytes(e, &all_ones, 1);
    return;
  }
  gs_emit_bytes(e, mov, sizeof mov);
  gs_emit_32(e, value);
  if (is_narrow(e)) {
    emit_vex(e, from_general, false, reg, 0, R11, MODE_REGISTER);
    emit_vex(e, broadcast, true, reg, 0, reg, MODE_REGISTER);
    return;
  }
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

/* A row of the strip, or of the second of two. */
static unsigned key_of(const gs_strip_value_t *v) {
  return 2 * v->number + v->half;
}
static size_t row_at(const gs_allocator_t *a, unsigned key) {
  return (size_t)(key / 2) * sizeof(gs_row_t) + key % 2 * vector_bytes(a->e);
}

static bool is_mask(const gs_allocator_t *a, int value) {
  return a->s->value[value].role == GS_ROLE_MASK;
}

static bool reads(const gs_strip_value_t *v, int value) {
  for (unsigned f = 0; f < GS_FIELDS; f++)
    if (v->src[f] == value)
      return true;
  return false;
}

/* The next value that is made of this one. */
static int next_use(gs_allocator_t *a, int value) {
  int at = a->next_use_from[value] > a->at ? a->next_use_from[value] : a->at;
  while (at < a->last_use[value] && !(a->last_use[at] >= 0 && reads(&a->s->value[at], value)))
    at++;
  a->next_use_from[value] = (int16_t)at;
  return at > a->last_use[value] ? GS_NEVER : at;
}

/* Whether an instruction does nothing but load a constant of the compiler. */
static bool is_pool(const gs_strip_value_t *v) {
  return v->pool && v->op->memory == GS_MEMORY_SAME &&
         v->op->role[GS_FIELD_REG] == (GS_ROLE_VECTOR | GS_ROLE_WRITE) && !v->op->role[GS_FIELD_V] &&
         !v->op->role[GS_FIELD_MASK];
}

/* Whether the value can be had again without having been kept. */
static bool is_at_hand(const gs_allocator_t *a, int value) {
  const gs_strip_value_t *v = &a->s->value[value];
  return a->slot_of[value] >= 0 || a->home[value] >= 0 || v->kind == GS_VALUE_SCALAR ||
         v->kind == GS_VALUE_CONSTANT || (v->kind == GS_VALUE_ROW && !a->is_stored[key_of(v)]) || is_pool(v);
}

static size_t slot_at(const gs_allocator_t *a, int value) {
  return offsetof(gs_wave_t, strip_values) + 64 * (size_t)a->slot_of[value];
}

static void keep_in_slot(gs_allocator_t *a, int value, unsigned reg) {
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

/* A register of the class, which is free now: one that was so, or the one whose value is needed again last.
 */
static unsigned free_register(gs_allocator_t *a, bool of_masks) {
  int16_t *const file = of_masks ? a->mask : a->vector;
  uint32_t *const locked = of_masks ? &a->locked_masks : &a->locked_vectors;
  const uint32_t others = *locked | (of_masks ? 0 : a->pinned);
  const unsigned first = of_masks ? 1 : 0,
                 end = of_masks ? a->masks_end : a->vectors_end; /* k0 is no mask of lanes */
  unsigned best = end;
  int farthest = -1;
  for (unsigned i = first; i < end && farthest < GS_NEVER + 1; i++) {
    const int use = others >> i & 1 ? -1 : file[i] < 0 ? GS_NEVER + 1 : next_use(a, file[i]);
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
  file[best] = -1;
  *locked |= 1u << best;
  return best;
}

/* A register for the value. */
static unsigned take_register(gs_allocator_t *a, bool of_masks, int value) {
  const unsigned reg = free_register(a, of_masks);
  (of_masks ? a->mask : a->vector)[reg] = (int16_t)value;
  a->register_of[value] = (int8_t)reg;
  return reg;
}

static void fill_pool(gs_allocator_t *a, const gs_strip_value_t *v, size_t start) {
  static const uint64_t none[GS_HOLE_VALUES];
  if (v->pool && !a->e->is_full)
    gs_emit_patch(a->e, start + v->pool_at, v->pool, none, 0);
}

/* The register of a value that an instruction makes of a general one, which is a sign for more than one. */
static void emit_sign(gs_allocator_t *a, const gs_strip_value_t *v) {
  enum { R = 0x80, B = 0x20 };
  const uint8_t prefix = v->code[P0], modrm = v->code[VEX_MODRM];
  emit_row_of_bits(a->e, (modrm >> 3 & 7u) | (prefix & R ? 0u : 8u), (modrm & 7u) | (prefix & B ? 0u : 8u));
}

static void emit_code(gs_allocator_t *a, const gs_strip_value_t *v) {
  const size_t start = a->e->end;
  if (v->op->kind == GS_OP_ROW_OF_BITS) {
    emit_sign(a, v);
    return;
  }
  gs_emit_bytes(a->e, v->code, v->size);
  fill_pool(a, v, start);
}

/* Makes a value that was not kept, or loads it. */
static void bring(gs_allocator_t *a, int value, unsigned reg) {
  gs_strip_value_t v = a->s->value[value];
  if (a->slot_of[value] >= 0 && is_mask(a, value))
    emit_mask(a->e, false, reg, slot_at(a, value));
  else if (a->slot_of[value] >= 0)
    emit_memory(a->e, load, reg, RDI, slot_at(a, value));
  else if (a->home[value] >= 0)
    emit_memory(a->e, load, reg, R14, row_at(a, (unsigned)a->home[value]));
  else if (v.kind == GS_VALUE_ROW)
    emit_memory(a->e, load, reg, R14, row_at(a, key_of(&v)));
  else if (v.kind == GS_VALUE_SCALAR)
    emit_memory(a->e, broadcast, reg, RDI, offsetof(gs_wave_t, s) + sizeof(uint32_t) * (size_t)v.number);
  else if (v.kind == GS_VALUE_CONSTANT)
    emit_constant(a->e, reg, v.number);
  else {
    gs_strip_set_register(&v, GS_FIELD_REG, reg);
    emit_code(a, &v);
  }
}

unsigned gs_alloc_need(gs_allocator_t *a, int value) {
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
static bool is_last_use(const gs_allocator_t *a, int value) {
  return a->last_use[value] <= a->at;
}

static void forget(gs_allocator_t *a, int value) {
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

static void forget_sources(gs_allocator_t *a, const gs_strip_value_t *v) {
  for (unsigned f = 0; f < GS_FIELDS; f++)
    if (v->src[f] >= 0 && is_last_use(a, v->src[f]))
      forget(a, v->src[f]);
}

/* The register for a result that begins as the value `old`: that one's, if nobody else needs it. */
static unsigned take_over(gs_allocator_t *a, int old) {
  const unsigned from = gs_alloc_need(a, old);
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

/* The result of a function of three operands takes the place of one. That had better be one that nobody needs
 * any more. */
static void choose_result(const gs_allocator_t *a, gs_strip_value_t *v) {
  const int old = v->src[GS_FIELD_REG];
  unsigned f = GS_FIELD_V;
  if (v->op->kind != GS_OP_LOGIC || old < 0 || is_last_use(a, old))
    return;
  while (f <= GS_FIELD_RM && (v->src[f] < 0 || !is_last_use(a, v->src[f])))
    f++;
  if (f > GS_FIELD_RM)
    return;
  uint8_t *const table = &v->code[v->size - 1], before = *table;
  const unsigned high = 2, low = GS_FIELD_RM - f; /* bits of a row of the table */
  for (unsigned row = *table = 0; row < 8; row++) {
    const unsigned differ = (row >> high ^ row >> low) & 1;
    *table = (uint8_t)(*table | (before >> (row ^ (differ << high | differ << low)) & 1) << row);
  }
  v->src[GS_FIELD_REG] = v->src[f];
  v->src[f] = (int16_t)old;
}

/* Makes a value of an instruction. */
static void make(gs_allocator_t *a) {
  gs_strip_value_t v = a->s->value[a->at];
  const gs_op_t *const op = v.op;
  unsigned result = GS_FIELDS, reg = 0;
  choose_result(a, &v);
  for (unsigned f = 0; f < GS_FIELDS; f++) {
    if (op->role[f] & GS_ROLE_WRITE)
      result = f;
    if (v.src[f] >= 0)
      gs_strip_set_register(&v, f, gs_alloc_need(a, v.src[f]));
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

static void store_row(gs_allocator_t *a, const gs_strip_value_t *v) {
  const int value = v->src[GS_FIELD_RM];
  const gs_strip_value_t *const from = &a->s->value[value];
  if (from->kind == GS_VALUE_ROW && key_of(from) == key_of(v))
    return; /* it has come back to where it was */
  const unsigned reg = gs_alloc_need(a, value);
  /* Who needs what the row had is to find it elsewhere from now on. */
  for (int i = 0; i < a->at; i++)
    if (a->s->value[i].kind == GS_VALUE_ROW && key_of(&a->s->value[i]) == key_of(v) && a->last_use[i] > a->at)
      (void)gs_alloc_need(a, i);
  emit_memory(a->e, store, reg, R14, row_at(a, key_of(v)));
  a->is_stored[key_of(v)] = true;
  a->home[value] = (int16_t)key_of(v);
  forget_sources(a, v);
}

/* ---- Loads ---- */

/* A jump whose distance is filled in later: returns where that is. */
static size_t emit_jump(gs_emitter_t *e, const uint8_t *code, size_t size) {
  gs_emit_bytes(e, code, size);
  gs_emit_32(e, 0);
  return e->end - DISPLACEMENT_BYTES;
}
/* Makes the jump come here. */
static void land(gs_emitter_t *e, size_t at) {
  const uint32_t distance = (uint32_t)(e->end - at - DISPLACEMENT_BYTES);
  if (!e->is_full)
    memcpy(e->arena->base + at, &distance, sizeof distance);
}

/* Even or odd quarters of `first` and of another one, or of memory behind r11. */
enum { EVEN = 0x88, ODD = 0xdd };
static void emit_quarters(gs_emitter_t *e, uint8_t which, unsigned reg, unsigned first, unsigned other) {
  emit_three(e, quarters, reg, first, other, MODE_REGISTER);
  gs_emit_bytes(e, &which, 1);
}
static void emit_quarters_at(gs_emitter_t *e, uint8_t which, unsigned reg, unsigned first, size_t at) {
  emit_three(e, quarters, reg, first, R11, MODE_MEMORY);
  gs_emit_32(e, at);
  gs_emit_bytes(e, &which, 1);
}

enum { VECTOR_BYTES = 64, PAIR_BYTES = 8 };

/* The same of eight lanes: what lies in memory at `low` and at `high`, 128 bits of each. */
static void emit_halves(gs_emitter_t *e, unsigned reg, size_t low, size_t high) {
  static const uint8_t to_upper = 1;
  emit_vex(e, load_half, false, reg, 0, R11, MODE_MEMORY);
  gs_emit_32(e, low);
  emit_vex(e, insert_half, true, reg, reg, R11, MODE_MEMORY);
  gs_emit_32(e, high);
  gs_emit_bytes(e, &to_upper, 1);
}
enum { FOUR_BYTES = 16 };
static void emit_apart_narrow(gs_emitter_t *e, const unsigned to[4], unsigned scratch) {
  enum { HALF = 4 * FOUR_BYTES };
  for (size_t i = 0; i < 2; i++) { /* lanes 0, 1, 4 and 5, and those two above */
    const size_t first = 2 * i * FOUR_BYTES, second = first + FOUR_BYTES;
    emit_halves(e, to[i], first, first + HALF);
    emit_halves(e, scratch, second, second + HALF);
    emit_three(e, unpack_high, to[i + 2], to[i], scratch, MODE_REGISTER);
    emit_three(e, unpack_low, to[i], to[i], scratch, MODE_REGISTER);
  }
}
static void emit_overlapping_narrow(gs_emitter_t *e, const unsigned to[4]) {
  enum { HALF = 4 * PAIR_BYTES };
  for (size_t i = 0; i < 4; i++) {
    const size_t first = i % 2 * FOUR_BYTES + i / 2 * PAIR_BYTES;
    emit_halves(e, to[i], first, first + HALF);
  }
}

/* Lanes that lie side by side, with sixteen bytes each: first the lanes with numbers 0, 1, 2 and 3 above a
 * multiple of 4, then pairs of dwords. */
static void emit_apart(gs_emitter_t *e, const unsigned to[4], const unsigned scratch[2]) {
  if (is_narrow(e)) {
    emit_apart_narrow(e, to, scratch[0]);
    return;
  }
  emit_memory(e, load_any, to[2], R11, 0);
  emit_quarters_at(e, EVEN, to[0], to[2], VECTOR_BYTES);
  emit_quarters_at(e, ODD, to[1], to[2], VECTOR_BYTES);
  emit_memory(e, load_any, to[2], R11, 2 * (size_t)VECTOR_BYTES);
  emit_quarters_at(e, EVEN, scratch[1], to[2], 3 * (size_t)VECTOR_BYTES);
  emit_quarters_at(e, ODD, to[2], to[2], 3 * (size_t)VECTOR_BYTES);
  emit_quarters(e, ODD, scratch[0], to[0], scratch[1]);
  emit_quarters(e, EVEN, to[0], to[0], scratch[1]);
  emit_quarters(e, ODD, to[3], to[1], to[2]);
  emit_quarters(e, EVEN, to[1], to[1], to[2]);
  emit_three(e, unpack_high, to[2], to[0], to[1], MODE_REGISTER);
  emit_three(e, unpack_low, to[0], to[0], to[1], MODE_REGISTER);
  emit_three(e, unpack_low, to[1], scratch[0], to[3], MODE_REGISTER);
  emit_three(e, unpack_high, to[3], scratch[0], to[3], MODE_REGISTER);
}

/* Lanes that begin eight bytes apart, so that each has its next lane's first pair as its second. */
static void emit_overlapping(gs_emitter_t *e, const unsigned to[4], unsigned scratch) {
  if (is_narrow(e)) {
    emit_overlapping_narrow(e, to);
    return;
  }
  for (unsigned i = 0; i < 2; i++) {
    emit_memory(e, load_any, scratch, R11, i * (size_t)PAIR_BYTES);
    emit_quarters_at(e, EVEN, to[2 * i], scratch, i * (size_t)PAIR_BYTES + VECTOR_BYTES);
    emit_quarters_at(e, ODD, to[2 * i + 1], scratch, i * (size_t)PAIR_BYTES + VECTOR_BYTES);
  }
}

/* Pairs of dwords of a load of four, in the order that strips have halves of 64-bit values in. The steps
 * from strip to strip tell how the lanes lie. */
static void emit_fours(gs_emitter_t *e, unsigned number, const unsigned to[4], const unsigned scratch[2]) {
  static const uint8_t compare[] = {0x81, 0xbf}, if_below[] = {0x0f, 0x82}, if_equal[] = {0x0f, 0x84},
                       always[] = {0xe9};
  emit_r11(e, MOV_FROM_MEMORY, gs_strip_place(number));
  gs_emit_bytes(e, compare, sizeof compare);
  gs_emit_32(e, gs_strip_place(number) + offsetof(gs_strip_place_t, step));
  gs_emit_32(e, gs_strip_overlap_step(e->table->strip_lanes));
  const size_t same = emit_jump(e, if_below, sizeof if_below),
               overlapping = emit_jump(e, if_equal, sizeof if_equal);
  emit_apart(e, to, scratch);
  const size_t end = emit_jump(e, always, sizeof always);
  land(e, overlapping);
  emit_overlapping(e, to, scratch[0]);
  const size_t other_end = emit_jump(e, always, sizeof always);
  land(e, same);
  for (unsigned i = 0; i < 4; i++)
    emit_memory(e, is_narrow(e) ? broadcast_pair_vex : broadcast_pair, to[i], R11,
                i / 2 * (size_t)PAIR_BYTES);
  land(e, end);
  land(e, other_end);
}

/* All parts of a load of four dwords. */
static void make_fours(gs_allocator_t *a, unsigned number) {
  unsigned to[4], scratch[2];
  if (a->loaded >> number & 1)
    return;
  a->loaded |= 1u << number;
  for (unsigned part = 0; part < 4; part++) {
    int value = a->at;
    while (value < (int)a->s->count &&
           !(a->s->value[value].kind == GS_VALUE_LOAD &&
             a->s->value[value].number == (number << 8 | GS_STRIP_FOURS | part) && a->last_use[value] >= 0))
      value++;
    to[part] = value == (int)a->s->count ? free_register(a, false) : take_register(a, false, value);
  }
  for (unsigned i = 0; i < 2; i++)
    scratch[i] = free_register(a, false);
  emit_fours(a->e, number, to, scratch);
}

/* Once, and when it is its turn: others may store there. */
static void make_load(gs_allocator_t *a, const gs_strip_value_t *v) {
  if (v->number & GS_STRIP_FOURS) {
    make_fours(a, v->number >> 8);
    return;
  }
  const unsigned reg = take_register(a, false, a->at);
  emit_r11(a->e, MOV_FROM_MEMORY, gs_strip_place(v->number >> 8));
  emit_memory(a->e, load_any, reg, R11, (v->number & 255) * vector_bytes(a->e));
}

/* ---- Guards ---- */

/* Registers for lanes of which all that was looked at is as assumed, one for pairs of registers that are
 * doubles. Comparisons take lanes out of them. */
enum { GOOD = 7, GOOD_DOUBLES = 6, ORDERED = 7, UNORDERED = 3 };
enum { BAD = 15 };
static const opcode_t compare_floats = {1, 0x7c, 0xc2},
                      compare_doubles = {1, 0xfd, 0xc2}; /* vcmpps, vcmppd */

/* The mask of lanes for the next one that looks: none for the first, which sets the register. */
static unsigned lanes_so_far(gs_allocator_t *a, unsigned good) {
  const bool is_first = !(a->good >> good & 1);
  a->good |= 1u << good;
  return is_first ? 0 : good;
}

/* Without registers for masks: one for the lanes where something is not as assumed. Adds lanes of `reg`. */
static void add_bad(gs_allocator_t *a, unsigned reg) {
  if (lanes_so_far(a, GOOD))
    emit_vex(a->e, join_bits, true, BAD, BAD, reg, MODE_REGISTER);
  else
    emit_vex(a->e, load, true, BAD, 0, reg, MODE_REGISTER);
}
/* That the value is no NaN. */
static void add_bad_of(gs_allocator_t *a, int value) {
  static const uint8_t unordered = UNORDERED;
  a->locked_vectors = 0;
  const unsigned reg = gs_alloc_need(a, value);
  const unsigned lanes = a->good >> GOOD & 1 ? free_register(a, false) : BAD;
  const opcode_t compare = gs_strip_is_of_doubles(&a->s->value[value]) ? compare_doubles : compare_floats;
  emit_vex(a->e, compare, true, lanes, reg, reg, MODE_REGISTER);
  gs_emit_bytes(a->e, &unordered, 1);
  if (lanes == BAD)
    a->good |= 1u << GOOD;
  else
    add_bad(a, lanes);
}

/* Behind the instruction that makes the value: it must be no NaN. */
static void add_guard(gs_allocator_t *a, int value) {
  if (is_narrow(a->e)) {
    add_bad_of(a, value);
    return;
  }
  static const uint8_t ordered = ORDERED;
  const bool is_double = gs_strip_is_of_doubles(&a->s->value[value]);
  const unsigned good = is_double ? GOOD_DOUBLES : GOOD;
  a->locked_vectors = a->locked_masks = 0;
  const unsigned reg = gs_alloc_need(a, value);
  emit_masked(a->e, is_double ? compare_doubles : compare_floats, lanes_so_far(a, good), good, reg, reg,
              MODE_REGISTER);
  gs_emit_bytes(a->e, &ordered, 1);
}

/* A mask that must have no lanes. */
static void add_guard_of_mask(gs_allocator_t *a, const gs_strip_value_t *v) {
  if (a->only_guards[v->src[GS_FIELD_REG]])
    return;
  const unsigned mask = gs_alloc_need(a, v->src[GS_FIELD_REG]);
  if (is_narrow(a->e)) {
    add_bad(a, mask);
    forget_sources(a, v);
    return;
  }
  const uint8_t set[] = {0xc5, 0xf8, 0x44,
                         (uint8_t)(MODE_REGISTER | GOOD << 3 | mask)},   /* knotw %mask, %k7 */
      narrow[] = {0xc5, (uint8_t)(0xc4 | (~mask & 7) << 3), 0x42, 0xff}; /* kandnw %k7, %mask, %k7 */
  gs_emit_bytes(a->e, lanes_so_far(a, GOOD) ? narrow : set, sizeof set);
  forget_sources(a, v);
}

/* A comparison that makes such a mask and nothing else. */
static void make_guard(gs_allocator_t *a) {
  gs_strip_value_t v = a->s->value[a->at];
  (void)take_out(&v, GOOD, lanes_so_far(a, GOOD));
  for (unsigned f = 0; f < GS_FIELDS; f++)
    if (v.src[f] >= 0)
      gs_strip_set_register(&v, f, gs_alloc_need(a, v.src[f]));
  forget_sources(a, &v);
  emit_code(a, &v);
}

/* Which comparisons are for guards alone, and have a form for that. */
static void find_guards(gs_allocator_t *a) {
  bool is_read[GS_STRIP_VALUES] = {false};
  const gs_strip_t *const s = a->s;
  for (unsigned i = 0; i < s->count; i++)
    for (unsigned f = 0; f < GS_FIELDS; f++)
      if (s->value[i].src[f] >= 0 && a->last_use[i] >= 0 && s->value[i].kind != GS_VALUE_GUARD_MASK)
        is_read[s->value[i].src[f]] = true;
  for (unsigned i = 0; i < s->count; i++) {
    if (s->value[i].kind != GS_VALUE_GUARD_MASK)
      continue;
    const int mask = s->value[i].src[GS_FIELD_REG];
    gs_strip_value_t comparison = s->value[mask];
    a->only_guards[mask] = !is_read[mask] && take_out(&comparison, GOOD, GOOD);
  }
}

static void leave_if_bad(gs_allocator_t *a) {
  static const uint8_t if_any[] = {0x0f, 0x85}; /* jnz */
  emit_vex(a->e, test_bits, true, BAD, 0, BAD, MODE_REGISTER);
  a->s->guard = emit_jump(a->e, if_any, sizeof if_any);
}

static void leave_if_guarded(gs_allocator_t *a) {
  if (is_narrow(a->e)) {
    leave_if_bad(a);
    return;
  }
  static const uint8_t spread[] = {0xc5, 0xcd, 0x4b, 0xf6}, /* kunpckbw %k6, %k6, %k6 */
      join[] = {0xc5, 0xc4, 0x41, 0xfe},                    /* kandw %k6, %k7, %k7 */
      if_not_all[] = {0x0f, 0x83};                          /* jnc */
  const bool has_floats = a->good >> GOOD & 1, has_doubles = a->good >> GOOD_DOUBLES & 1;
  const unsigned good = has_floats ? GOOD : GOOD_DOUBLES;
  const uint8_t test[] = {0xc5, 0xf8, 0x98, (uint8_t)(MODE_REGISTER | good << 3 | good)}; /* kortestw */
  if (has_doubles)
    gs_emit_bytes(a->e, spread, sizeof spread);
  if (has_doubles && has_floats)
    gs_emit_bytes(a->e, join, sizeof join);
  gs_emit_bytes(a->e, test, sizeof test);
  a->s->guard = emit_jump(a->e, if_not_all, sizeof if_not_all);
}

void gs_strip_land(gs_emitter_t *e, size_t guard) {
  land(e, guard);
}

/* ---- Strips ---- */

void gs_alloc_begin(gs_allocator_t *a, gs_strip_t *s, gs_emitter_t *e) {
  memset(a, 0, sizeof *a);
  a->s = s;
  a->e = e;
  a->masks_end = GS_HOST_MASKS;
  a->vectors_end = is_narrow(e) ? BAD + !s->assumes : GS_HOST_VECTORS;
  memset(a->last_use, -1, sizeof a->last_use);
  memset(a->register_of, -1, sizeof a->register_of);
  memset(a->slot_of, -1, sizeof a->slot_of);
  memset(a->home, -1, sizeof a->home);
  memset(a->vector, -1, sizeof a->vector);
  memset(a->mask, -1, sizeof a->mask);
  memset(a->slot, -1, sizeof a->slot);
}

void gs_alloc_pin(gs_allocator_t *a, int value, unsigned reg) {
  a->vector[reg] = (int16_t)value;
  a->register_of[value] = (int8_t)reg;
  a->last_use[value] = GS_NEVER;
  a->pinned |= 1u << reg;
}

void gs_alloc_find_uses(gs_allocator_t *a) {
  for (int i = (int)a->s->count - 1; i >= 0; i--) {
    const gs_strip_value_t *v = &a->s->value[i];
    if (v->kind == GS_VALUE_STORE || v->kind == GS_VALUE_STORE_MASK || v->kind >= GS_VALUE_GUARD_MASK)
      a->last_use[i] = (int16_t)i;
    if (a->last_use[i] < 0 || a->s->pinned[i] >= 0)
      continue;
    for (unsigned f = 0; f < GS_FIELDS; f++)
      if (v->src[f] >= 0 && a->last_use[v->src[f]] < 0)
        a->last_use[v->src[f]] = (int16_t)i;
    for (unsigned g = 0; g < v->general_count; g++)
      if (a->last_use[v->general[g]] < 0)
        a->last_use[v->general[g]] = (int16_t)i;
  }
}

static void load_mask(gs_allocator_t *a, const gs_strip_value_t *v) {
  const size_t at = v->number + v->half * mask_bytes(a->e);
  const unsigned reg = take_register(a, v->role == GS_ROLE_MASK, a->at);
  if (v->role == GS_ROLE_MASK) {
    emit_mask_of_lanes(a->e, reg, at);
    return;
  }
  emit_vex(a->e, broadcast_byte, true, reg, 0, R15, MODE_MEMORY);
  gs_emit_32(a->e, at);
  emit_part_bits(a->e, reg);
}
static void move_mask(gs_allocator_t *a, const gs_strip_value_t *v) {
  const unsigned reg = gs_alloc_need(a, v->src[GS_FIELD_RM]);
  if (is_narrow(a->e))
    emit_bits_of_row(a->e, v->number, reg);
  else
    emit_mask_bits(a->e, v->number, reg);
  forget_sources(a, v);
}
static void store_mask(gs_allocator_t *a, const gs_strip_value_t *v) {
  const uint32_t at = v->number + (uint32_t)(v->half * mask_bytes(a->e));
  if (is_narrow(a->e) && v->src[GS_FIELD_REG] >= 0) {
    emit_store_of_bits(a->e, gs_alloc_need(a, v->src[GS_FIELD_REG]), at);
    forget_sources(a, v);
    return;
  }
  memcpy(a->s->value[a->at].code + v->op->displacement, &at, sizeof at);
  make(a);
}

void gs_alloc_emit(gs_allocator_t *a) {
  const gs_strip_value_t *v = &a->s->value[a->at];
  a->locked_vectors = a->locked_masks = 0;
  switch (v->kind) {
  case GS_VALUE_ROW:
  case GS_VALUE_SCALAR:
  case GS_VALUE_CONSTANT: break; /* when they are needed */
  case GS_VALUE_MASK: load_mask(a, v); break;
  case GS_VALUE_MASK_BITS: move_mask(a, v); break;
  case GS_VALUE_STORE_MASK: store_mask(a, v); break;
  case GS_VALUE_LOAD: make_load(a, v); break;
  case GS_VALUE_STORE: store_row(a, v); break;
  case GS_VALUE_GUARD_MASK: add_guard_of_mask(a, v); break;
  case GS_VALUE_GUARDED: leave_if_guarded(a); break;
  default:
    if (a->only_guards[a->at])
      make_guard(a);
    else
      make(a);
  }
  if (a->s->is_guarded[a->at])
    add_guard(a, a->at);
}

bool gs_strip_end(gs_strip_t *s, gs_emitter_t *e) {
  gs_allocator_t a;
  gs_alloc_begin(&a, s, e);
  for (int i = 0; i < (int)s->count; i++)
    if (s->pinned[i] >= 0)
      gs_alloc_pin(&a, i, (unsigned)s->pinned[i]);
  gs_alloc_find_uses(&a);
  if (s->assumes) {
    find_guards(&a);
    a.masks_end = GOOD_DOUBLES;
  }
  for (a.at = 0; a.at < (int)s->count && !s->is_full; a.at++)
    if (a.last_use[a.at] >= 0 && s->pinned[a.at] < 0 && s->value[a.at].kind != GS_VALUE_NOTHING)
      gs_alloc_emit(&a);
  return !s->is_full;
}
