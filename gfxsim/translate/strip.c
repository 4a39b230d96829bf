/* See strip.h. What is known of the host's instructions here: the EVEX prefix, and moves of whole vector
 * registers. An access to memory is 62 P0 P1 P2 opcode ModRM displacement, with r14 as base. As an access to
 * a register, it has that register's number in ModRM and P0 instead, and no displacement. */
#include "translate/strip.h"

#include <string.h>

enum { PREFIX_BYTES = 6, DISPLACEMENT_BYTES = 4, P0 = 1, MODRM = 5 };
/* Bits of P0 that extend the number in ModRM.rm; they are inverted. */
enum { P0_RM4 = 0x40, P0_RM3 = 0x20 };
enum { R11 = 11, RDI = 7, R14 = 14 };

/* ---- Scalar registers ---- */

static bool has_scalar(const gs_scalar_set_t *set, unsigned reg) {
  return set->bits[reg / 64] >> reg % 64 & 1;
}
static void add_scalar(gs_scalar_set_t *set, unsigned reg) {
  set->bits[reg / 64] |= UINT64_C(1) << reg % 64;
}

/* A mask that is written: `width` registers from `reg` on. */
static bool add_mask(gs_strip_scalars_t *s, unsigned reg, unsigned width) {
  bool is_good = reg + width <= GS_SGPRS;
  for (unsigned i = reg; is_good && i < reg + width; i++) {
    is_good = !has_scalar(&s->values, i);
    add_scalar(&s->written, i);
  }
  if (is_good)
    add_scalar(&s->masks, reg);
  return is_good;
}

static bool add_value(gs_strip_scalars_t *s, unsigned reg, unsigned width) {
  bool is_good = reg + width <= GS_SGPRS;
  for (unsigned i = reg; is_good && i < reg + width; i++) {
    is_good = !has_scalar(&s->written, i);
    add_scalar(&s->values, i);
  }
  return is_good;
}

bool gs_strip_scalars_add(gs_strip_scalars_t *s, const gs_inst_t *in, unsigned lanes) {
  const gs_opcode_t *op = in->op;
  bool is_good = true;
  for (unsigned i = 0; i < 3; i++)
    if (in->src[i].kind == GS_SRC_SGPR && op->src[i] != GS_T_MASK)
      is_good = add_value(s, in->src[i].reg, gs_type_dwords(op->src[i])) && is_good;
  if (op->encoding == GS_ENC_VOPC || (op->flags & GS_OPF_SDST))
    is_good = add_mask(s, in->sdst, lanes / 32) && is_good;
  return is_good;
}

/* ---- Rows ---- */

/* The row of a constant. */
static int constant_row(gs_strip_t *s, uint32_t value) {
  unsigned i = 0;
  while (i < s->constant_count && s->constant[i] != value)
    i++;
  if (i == s->constant_count)
    s->constant[s->constant_count++] = value;
  return GS_STRIP_CONSTANT + (int)i;
}

/* The row that an access has. Operands that are no vector registers have one for each dword. */
static int row_of(gs_strip_t *s, const gs_patch_t *p, const gs_inst_t *in,
                  const uint64_t values[GS_HOLE_VALUES]) {
  const unsigned dword = (unsigned)p->addend / (unsigned)sizeof(gs_row_t);
  const unsigned i = p->hole - (unsigned)GS_HOLE_ROW_SRC0;
  if (i < 3 && in->src[i].kind == GS_SRC_SGPR)
    return GS_STRIP_SCALAR + in->src[i].reg + (int)dword;
  if (i < 3 && in->src[i].kind == GS_SRC_CONST)
    return constant_row(s, (uint32_t)(in->src[i].value >> 32 * dword));
  return (int)(values[p->hole] / sizeof(gs_row_t) + dword);
}

/* An opcode's place: 66 0F or 66 0F38, and W. */
typedef struct opcode {
  uint8_t map, p1, number;
} opcode_t;
static const opcode_t load_row = {1, 0xfd, 0x6f}, store_row = {1, 0xfd, 0x7f}; /* vmovdqa64 */
static const opcode_t broadcast = {2, 0x7d, 0x58};                             /* vpbroadcastd from memory */
static const opcode_t broadcast_general = {2, 0x7d, 0x7c}; /* and from a general register */

/* Prefix, opcode and ModRM of an instruction on the whole vector register `reg` and a general register, or,
 * with `mode` for displacements of 32 bits, memory behind it. */
static void emit_vector(gs_emitter_t *e, opcode_t opcode, unsigned reg, unsigned general, uint8_t mode) {
  enum { P0_REG3 = 0x80, P0_REG4 = 0x10, P2_WHOLE = 0x48 };
  const unsigned p0 = opcode.map | P0_RM4 | (reg & 8 ? 0 : P0_REG3) | (reg & 16 ? 0 : P0_REG4);
  const uint8_t code[PREFIX_BYTES] = {0x62,          (uint8_t)(p0 | (general & 8 ? 0 : P0_RM3)),
                                      opcode.p1,     P2_WHOLE,
                                      opcode.number, (uint8_t)(mode | (reg & 7) << 3 | (general & 7))};
  gs_emit_bytes(e, code, sizeof code);
}
enum { MODE_MEMORY = 0x80, MODE_REGISTER = 0xc0 };

static void emit_32(gs_emitter_t *e, size_t value) {
  const uint32_t bits = (uint32_t)value;
  uint8_t code[DISPLACEMENT_BYTES];
  memcpy(code, &bits, sizeof code);
  gs_emit_bytes(e, code, sizeof code);
}

static void emit_move(gs_emitter_t *e, opcode_t opcode, unsigned reg, int row) {
  emit_vector(e, opcode, reg, R14, MODE_MEMORY);
  emit_32(e, (size_t)row * sizeof(gs_row_t));
}

static void emit_scalar(gs_emitter_t *e, unsigned reg, unsigned scalar) {
  emit_vector(e, broadcast, reg, RDI, MODE_MEMORY);
  emit_32(e, offsetof(gs_wave_t, s) + sizeof(uint32_t) * scalar);
}

/* By way of r11d, which stencils do not use: mov $value, %r11d. */
static void emit_constant(gs_emitter_t *e, unsigned reg, uint32_t value) {
  static const uint8_t mov[] = {0x41, 0xbb};
  gs_emit_bytes(e, mov, sizeof mov);
  emit_32(e, value);
  emit_vector(e, broadcast_general, reg, R11, MODE_REGISTER);
}

static void emit_load(const gs_strip_t *s, gs_emitter_t *e, unsigned reg, int row) {
  if (row < GS_STRIP_SCALAR)
    emit_move(e, load_row, reg, row);
  else if (row < GS_STRIP_CONSTANT)
    emit_scalar(e, reg, (unsigned)row - GS_STRIP_SCALAR);
  else
    emit_constant(e, reg, s->constant[row - GS_STRIP_CONSTANT]);
}

void gs_strip_begin(gs_strip_t *s) {
  s->constant_count = 0;
  memset(s->register_of, -1, sizeof s->register_of);
  for (unsigned i = 0; i < GS_STRIP_REGISTERS; i++)
    s->held[i].row = -1;
  s->clock = 0;
}

static void write_back(gs_strip_t *s, gs_emitter_t *e, unsigned i) {
  if (s->held[i].row >= 0 && s->held[i].is_new)
    emit_move(e, store_row, GS_STRIP_FIRST + i, s->held[i].row);
  s->held[i].is_new = false;
}

/* A register for a row that has none: a free one, or the one that was not used for longest. */
static unsigned take_register(gs_strip_t *s, gs_emitter_t *e, int row) {
  unsigned best = 0;
  for (unsigned i = 0; i < GS_STRIP_REGISTERS && s->held[best].row >= 0; i++)
    if (s->held[i].row < 0 || s->held[i].used < s->held[best].used)
      best = i;
  write_back(s, e, best);
  if (s->held[best].row >= 0)
    s->register_of[s->held[best].row] = -1;
  s->held[best].row = (int16_t)row;
  s->register_of[row] = (int8_t)best;
  return best;
}

/* The register that a row is in when an access of this form has it. */
static unsigned register_for(gs_strip_t *s, gs_emitter_t *e, int row, unsigned form) {
  int i = s->register_of[row];
  if (i < 0) {
    i = (int)take_register(s, e, row);
    if (form != GS_PATCH_ROW_WRITE)
      emit_load(s, e, GS_STRIP_FIRST + (unsigned)i, row);
  }
  s->held[i].used = ++s->clock;
  if (form != GS_PATCH_ROW_READ)
    s->held[i].is_new = true;
  return GS_STRIP_FIRST + (unsigned)i;
}

/* An access as one to a register. Returns how much of the stencil's code that was. */
static size_t emit_access(gs_strip_t *s, gs_emitter_t *e, const uint8_t *code, const gs_patch_t *p, int row) {
  enum { MODRM_REG = 0x38 };
  const unsigned reg = register_for(s, e, row, p->form);
  uint8_t changed[PREFIX_BYTES];
  memcpy(changed, code, sizeof changed);
  changed[P0] =
      (uint8_t)((changed[P0] & ~(P0_RM4 | P0_RM3)) | (reg & 16 ? 0 : P0_RM4) | (reg & 8 ? 0 : P0_RM3));
  changed[MODRM] = (uint8_t)(MODE_REGISTER | (changed[MODRM] & MODRM_REG) | (reg & 7));
  gs_emit_bytes(e, changed, sizeof changed);
  return PREFIX_BYTES + DISPLACEMENT_BYTES;
}

/* Other holes are filled as they are copied: patches are in the order of the code, and nothing in it is a
 * distance to another place in it. */
void gs_strip_stencil(gs_strip_t *s, gs_emitter_t *e, const gs_stencil_t *stencil, const gs_inst_t *in,
                      const uint64_t values[GS_HOLE_VALUES]) {
  const uint8_t *const code = e->table->code + stencil->code;
  size_t at = 0;
  for (unsigned i = 0; i < stencil->patch_count && !e->is_full; i++) {
    const gs_patch_t *p = &e->table->patches[stencil->first_patch + i];
    gs_emit_bytes(e, code + at, p->at - at);
    at = p->at;
    if (p->form >= GS_PATCH_ROW_READ) {
      at += emit_access(s, e, code + at, p, row_of(s, p, in, values));
      continue;
    }
    const size_t hole = e->end, bytes = p->form == GS_PATCH_64 ? 8 : 4;
    gs_emit_bytes(e, code + at, bytes);
    at += bytes;
    if (!e->is_full)
      gs_emit_patch(e, hole, p, values, 0);
  }
  gs_emit_bytes(e, code + at, stencil->size - at);
}

void gs_strip_end(gs_strip_t *s, gs_emitter_t *e) {
  for (unsigned i = 0; i < GS_STRIP_REGISTERS; i++)
    write_back(s, e, i);
}

/* vpxor %xmm0, %xmm0, %xmm0; vpinsrw $part, displacement(%rdi), %xmm0, %xmm0 for each; and vmovd or vmovq
 * %xmm0, displacement(%rdi). */
static void emit_join(gs_emitter_t *e, unsigned reg, unsigned parts) {
  enum { PART_BYTES = 2 };
  static const uint8_t clear[] = {0xc5, 0xf9, 0xef, 0xc0}, insert[] = {0xc5, 0xf9, 0xc4, 0x87};
  const uint8_t move[] = {0xc5, 0xf9, parts > 2 ? 0xd6 : 0x7e, 0x87};
  const size_t at = offsetof(gs_wave_t, s) + sizeof(uint32_t) * reg;
  gs_emit_bytes(e, clear, sizeof clear);
  for (uint8_t part = 0; part < parts; part++) {
    gs_emit_bytes(e, insert, sizeof insert);
    emit_32(e, at + (size_t)part * PART_BYTES);
    gs_emit_bytes(e, &part, 1);
  }
  gs_emit_bytes(e, move, sizeof move);
  emit_32(e, at);
}

void gs_strip_join_masks(const gs_strip_scalars_t *s, gs_emitter_t *e, unsigned lanes) {
  enum { STRIP_LANES = 16 };
  for (unsigned reg = 0; reg < GS_SGPRS; reg++)
    if (has_scalar(&s->masks, reg))
      emit_join(e, reg, lanes / STRIP_LANES);
}

/* movw $0, displacement(%r15) for each mask. */
void gs_strip_idle(const gs_strip_scalars_t *s, gs_emitter_t *e) {
  for (unsigned reg = 0; reg < GS_SGPRS; reg++) {
    if (!has_scalar(&s->masks, reg))
      continue;
    static const uint8_t movw[] = {0x66, 0x41, 0xc7, 0x87}, zero[2] = {0};
    gs_emit_bytes(e, movw, sizeof movw);
    emit_32(e, offsetof(gs_wave_t, s) + sizeof(uint32_t) * reg);
    gs_emit_bytes(e, zero, sizeof zero);
  }
}
