/* What decoding of all families is made of: families as data, and operands. Not here: encodings (decode.c,
 * decode_gfx10.c). */
#ifndef GFXSIM_ISA_DECODE_H
#define GFXSIM_ISA_DECODE_H

#include "isa/inst.h"
#include "isa/wave.h"

/* Operand numbers of the 8-bit and 9-bit source fields. */
enum {
  OPERAND_SGPR_LAST = 101,
  OPERAND_FLAT_SCRATCH = 102,
  OPERAND_XNACK_MASK = 104,
  OPERAND_VCC = 106,
  OPERAND_TTMP = 108,
  OPERAND_TTMP_LAST = 123,
  OPERAND_M0 = 124,
  OPERAND_NULL = 125, /* a register of families after gfx9 */
  OPERAND_EXEC = 126,
  OPERAND_SCALAR_LAST = 127,
  OPERAND_INT = 128, /* 0; then 1 to 64 and -1 to -16 */
  OPERAND_INT_64 = 192,
  OPERAND_INT_LAST = 208,
  OPERAND_SHARED_BASE = 235,
  OPERAND_POPS = 239,
  OPERAND_FLOAT = 240,
  OPERAND_FLOAT_LAST = 248,
  OPERAND_DPP8 = 233,
  OPERAND_DPP8_FI = 234,
  OPERAND_SDWA = 249,
  OPERAND_DPP = 250,
  OPERAND_VCCZ = 251,
  OPERAND_SCC = 253,
  OPERAND_LDS_DIRECT = 254,
  OPERAND_LITERAL = 255,
  OPERAND_VGPR = 256,
};

enum { VGPR_COUNT = 256, TTMP_COUNT = 16, DS_READ_B96_TR_B6 = 225 };

/* Where a family has the fields of its memory instructions: numbers of bits, in the second word from 32 on.
 */
typedef struct places {
  uint8_t none; /* operand number of no scalar register */
  struct {
    uint8_t glc, dlc;
  } smem;
  struct {
    uint8_t op, gds;
  } ds;
  struct {
    uint8_t segment, offset_bits, glc, slc, dlc, lds;
    uint8_t sve; /* scratch memory: whether there is a vector register */
  } flat;
  struct {
    uint8_t offen, idxen, glc, dlc, slc, tfe, lds;
    uint8_t typed_op, typed_op3; /* of MTBUF's opcode the three low bits, and the fourth */
  } buffer;
} places_t;

enum { NOWHERE = 0xff };

struct decoder;
/* An encoding of a family. */
typedef struct format {
  uint32_t mask, value; /* of the first word */
  uint8_t size;         /* bytes without literal */
  bool (*decode)(struct decoder *d);
} format_t;

/* VOP3 numbers from `start` up to `end`: those of an encoding from 0 on, or of VOP3 itself. */
typedef struct vop3_range {
  uint16_t end, start;
  uint8_t encoding;
} vop3_range_t;

/* What differs between families of parts. */
typedef struct family {
  uint8_t sgpr_last, tuple_end; /* scalar registers with a number; end of their tuples */
  bool has_null; /* operand 125 is no register but null, FLAT_SCRATCH and XNACK_MASK are none */
  bool has_dpp8; /* and DPP that fetches from inactive lanes */
  bool vop3_literals;
  bool cmpx_only_exec; /* v_cmpx writes no mask beside EXEC */
  bool gfx11;          /* M0 and null have changed places; halves of vector registers are operands of 16-bit
                          instructions; no SDWA, DPP in all vector encodings */
  uint8_t waitcnt;     /* number of s_waitcnt */
  places_t at;
  const vop3_range_t *vop3_ranges;
  const format_t *formats;
  size_t format_count;
} family_t;

typedef struct decoder {
  gs_target_t target;
  const family_t *family;
  uint8_t base_words; /* of the encoding: a literal follows them */
  bool misaligned;    /* a vector register has an odd number where only even ones will do */
  bool halves;        /* the upper half of the vector registers' numbers are upper halves of registers */
  const uint32_t *words;
  size_t count;
  uint32_t w0, w1; /* w1 is 0 where there is no second word */
  const gs_opcode_t *op;
  gs_inst_t *in;
} decoder_t;

static inline uint32_t bits(uint32_t word, unsigned high, unsigned low) {
  return (word >> low) & (UINT32_MAX >> (31 - (high - low)));
}
static inline bool bit(uint32_t word, unsigned number) {
  return (word >> number) & 1u;
}
/* A bit by its number, in the second word from 32 on. */
static inline bool bit_at(uint32_t w0, uint32_t w1, unsigned number) {
  return number != NOWHERE && bit(number < 32 ? w0 : w1, number % 32);
}
static inline int32_t sign_extend(uint32_t value, unsigned width) {
  const uint32_t sign = 1u << (width - 1);
  return (int32_t)((value ^ sign) - sign);
}
/* Finds the row of an opcode, d->op. */
bool gs_decode_find(decoder_t *d, gs_encoding_t encoding, unsigned number);
static inline bool find(decoder_t *d, gs_encoding_t encoding, unsigned number) {
  return gs_decode_find(d, encoding, number);
}

/* Encodings of memory, and pairs of instructions, as families after gfx9 have them: decode_gfx10.c. */
bool gs_decode_smem_gfx10(decoder_t *d);
bool gs_decode_flat_gfx10(decoder_t *d);
bool gs_decode_mubuf_gfx10(decoder_t *d);
bool gs_decode_mtbuf_gfx10(decoder_t *d);
bool gs_decode_vopd(decoder_t *d);

static inline bool has(const decoder_t *d, uint32_t flag) {
  return d->op->flags & flag;
}
static inline bool is_float(unsigned type) {
  return type == GS_T_F16 || type == GS_T_F32 || type == GS_T_F64 || type == GS_T_V2F16 ||
         type == GS_T_BF16 || type == GS_T_V2BF16;
}

/* ---- Registers ---- */

/* Registers that a scalar operand of this type takes. */
static inline unsigned scalar_dwords(const decoder_t *d, unsigned type) {
  return type == GS_T_MASK ? gs_target_lanes(d->target) / 32 : gs_type_dwords((gs_type_t)type);
}

static inline bool is_named_pair(const decoder_t *d, unsigned code) {
  return code == OPERAND_VCC || code == OPERAND_EXEC ||
         (!d->family->has_null && (code == OPERAND_FLAT_SCRATCH || code == OPERAND_XNACK_MASK));
}

/* Scalar register or tuple; a tuple's number is taken at its alignment, as the hardware does. */
static inline bool scalar_register(const decoder_t *d, unsigned code, unsigned dwords, uint16_t *reg) {
  if (code > OPERAND_SCALAR_LAST || dwords == 0)
    return false;
  const unsigned align = dwords >= 4 ? 4 : dwords;
  if (d->family->gfx11 && (code | 1) == OPERAND_NULL)
    code ^= 1;
  unsigned first = code;
  if (code == OPERAND_NULL) {
    first = GS_S_NULL;
    if (!d->family->has_null || dwords > 2)
      return false;
  } else if (code <= d->family->sgpr_last) {
    first = code & ~(align - 1);
    if (first + dwords > d->family->tuple_end)
      return false;
  } else if (code >= OPERAND_TTMP && code <= OPERAND_TTMP_LAST) {
    const unsigned offset = (code - OPERAND_TTMP) & ~(align - 1);
    if (offset + dwords > TTMP_COUNT)
      return false;
    first = OPERAND_TTMP + offset;
  } else if (dwords > 2 || (dwords == 2 && !is_named_pair(d, code))) {
    return false;
  }
  *reg = (uint16_t)first;
  return true;
}

static inline bool scalar_dst(decoder_t *d, unsigned code) {
  return scalar_register(d, code, scalar_dwords(d, d->op->dst), &d->in->dst);
}

/* Scalar register as source `i`; null reads 0. */
static inline bool scalar_reg_src(decoder_t *d, unsigned i, unsigned code, unsigned dwords) {
  gs_src_t *s = &d->in->src[i];
  s->kind = GS_SRC_SGPR;
  if (!scalar_register(d, code, dwords, &s->reg))
    return false;
  if (s->reg == GS_S_NULL) {
    s->kind = GS_SRC_CONST;
    s->reg = OPERAND_NULL;
  }
  return true;
}

/* `even`: only even numbers will do where tuples are aligned; three registers of ds_read_b96_tr_b6 are not.
 */
static inline void note_alignment(decoder_t *d, unsigned number, bool even) {
  const bool is_free =
      d->op->encoding == GS_ENC_DS && d->op->number == DS_READ_B96_TR_B6 && d->target == GS_GFX950;
  d->misaligned |= even && number % 2 != 0 && (d->target & GS_CDNA2_4) && !is_free;
}

static inline bool vector_register(decoder_t *d, unsigned number, unsigned dwords, bool acc, uint16_t *reg) {
  note_alignment(d, number, dwords > 1);
  *reg = (uint16_t)(number + (acc ? VGPR_COUNT : 0));
  return number + dwords <= VGPR_COUNT;
}

/* Whether the operand is a half of a register that its number chooses, and which one it is. */
static inline bool takes_half(const decoder_t *d, unsigned type) {
  return d->halves && (type == GS_T_F16 || type == GS_T_I16 || type == GS_T_U16 || type == GS_T_B16);
}
enum { HALF_COUNT = VGPR_COUNT / 2 };

static inline bool vector_dst(decoder_t *d, unsigned number, bool acc) {
  if (takes_half(d, d->op->dst)) {
    d->in->dst_hi = number >= HALF_COUNT;
    number %= HALF_COUNT;
  }
  return vector_register(d, number, gs_type_dwords(d->op->dst), acc, &d->in->dst);
}

static inline bool vector_src_of(decoder_t *d, unsigned i, unsigned number, unsigned dwords, bool acc) {
  gs_src_t *s = &d->in->src[i];
  s->kind = GS_SRC_VGPR;
  return vector_register(d, number, dwords, acc, &s->reg);
}

static inline bool vector_src(decoder_t *d, unsigned i, unsigned number, bool acc) {
  if (takes_half(d, d->op->src[i])) {
    d->in->src[i].mods |= number >= HALF_COUNT ? GS_MOD_HI : 0;
    number %= HALF_COUNT;
  }
  return vector_src_of(d, i, number, gs_type_dwords(d->op->src[i]), acc);
}

/* ---- Constants ---- */

/* The nine float constants 0.5, -0.5, 1, -1, 2, -2, 4, -4, 1/(2 pi). */
static const uint16_t constants_f16[] = {0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000,
                                         0xc000, 0x4400, 0xc400, 0x3118};
static const uint32_t constants_f32[] = {0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000,
                                         0xc0000000, 0x40800000, 0xc0800000, 0x3e22f983};
static const uint64_t constants_f64[] = {
    UINT64_C(0x3fe0000000000000), UINT64_C(0xbfe0000000000000), UINT64_C(0x3ff0000000000000),
    UINT64_C(0xbff0000000000000), UINT64_C(0x4000000000000000), UINT64_C(0xc000000000000000),
    UINT64_C(0x4010000000000000), UINT64_C(0xc010000000000000), UINT64_C(0x3fc45f306dc9c882)};

static inline bool is_wide(unsigned type) {
  return type == GS_T_B64 || type == GS_T_I64 || type == GS_T_U64 || type == GS_T_F64 || type == GS_T_F64X4 ||
         type == GS_T_MASK;
}

/* Float constants are halves for operands that are halves; for 16-bit integers the hardware makes the 32-bit
 * float. */
static inline uint64_t float_constant(unsigned type, bool half, unsigned index) {
  if (is_wide(type))
    return constants_f64[index];
  if (half || type == GS_T_F16 || type == GS_T_V2F16)
    return constants_f16[index];
  if (type == GS_T_BF16 || type == GS_T_V2BF16)
    return constants_f32[index] >> 16;
  return constants_f32[index];
}

static inline uint64_t int_constant(unsigned type, unsigned code) {
  const int64_t value =
      code <= OPERAND_INT_64 ? (int64_t)code - OPERAND_INT : (int64_t)OPERAND_INT_64 - (int64_t)code;
  return is_wide(type) || type == GS_T_V2B32 ? (uint64_t)value : (uint32_t)value;
}

/* A literal fills the high half of a double, and is extended for other 64-bit operands. */
static inline uint64_t extend_literal(unsigned type, uint32_t literal) {
  if (type == GS_T_F64)
    return (uint64_t)literal << 32;
  return type == GS_T_I64 ? (uint64_t)(int64_t)(int32_t)literal : literal;
}

static inline bool literal_src(decoder_t *d, unsigned i) {
  if (d->count <= d->base_words)
    return false;
  d->in->size = (uint8_t)(4 * d->base_words + 4);
  gs_src_t *s = &d->in->src[i];
  s->kind = GS_SRC_CONST;
  s->reg = OPERAND_LITERAL;
  s->value = extend_literal(d->op->src[i], d->words[d->base_words]);
  return true;
}

/* Gfx11 has the constant of a pair in both halves where no op_sel_hi says which half the upper one is. */
static inline bool is_doubled(const decoder_t *d, unsigned type) {
  return d->family->gfx11 && type == GS_T_V2F16 && d->op->encoding != GS_ENC_VOP3P;
}

/* A scalar operand that is no literal: register, constant or computed value. `half` is for mixed-precision
 * operands. */
static inline bool scalar_value(decoder_t *d, unsigned i, unsigned code, bool half) {
  gs_src_t *s = &d->in->src[i];
  const unsigned type = d->op->src[i];
  if (code <= OPERAND_SCALAR_LAST)
    return scalar_reg_src(d, i, code, scalar_dwords(d, type));
  s->reg = (uint16_t)code;
  if (code <= OPERAND_INT_LAST) {
    s->kind = GS_SRC_CONST;
    s->value = int_constant(type, code);
  } else if (code >= OPERAND_FLOAT && code <= OPERAND_FLOAT_LAST) {
    s->kind = GS_SRC_CONST;
    s->value = float_constant(type, half, code - OPERAND_FLOAT);
  } else if ((code >= OPERAND_SHARED_BASE && code <= OPERAND_POPS) ||
             (code >= (d->family->gfx11 ? OPERAND_SCC : OPERAND_VCCZ) && code <= OPERAND_SCC)) {
    s->kind = GS_SRC_SPECIAL;
  } else {
    return false;
  }
  if (s->kind == GS_SRC_CONST && is_doubled(d, type))
    s->value = (s->value & 0xffff) * 0x10001;
  return true;
}

/* 8-bit operand of a scalar instruction. */
static inline bool scalar_src(decoder_t *d, unsigned i, unsigned code) {
  return code == OPERAND_LITERAL ? literal_src(d, i) : scalar_value(d, i, code, false);
}

/* 9-bit operand of a vector instruction; literals only in encodings of 8 bytes of later families. */
static inline bool vector_operand(decoder_t *d, unsigned i, unsigned code, bool half) {
  if (code >= OPERAND_VGPR)
    return vector_src(d, i, code - OPERAND_VGPR, false);
  if (code == OPERAND_LDS_DIRECT && !d->family->gfx11) {
    d->in->src[i].kind = GS_SRC_SPECIAL;
    d->in->src[i].reg = OPERAND_LDS_DIRECT;
    return gs_type_dwords(d->op->src[i]) == 1;
  }
  if (code == OPERAND_LITERAL)
    return d->base_words == 2 && d->family->vop3_literals && literal_src(d, i);
  return scalar_value(d, i, code, half);
}

/* ---- Data of memory instructions ---- */

/* Scalar memory reads and writes any scalar register but M0 and EXEC. */
static inline bool smem_data(decoder_t *d, unsigned sdata) {
  if (d->op->dst == GS_T_PROBE)
    d->in->dst = (uint16_t)sdata;
  else if (sdata == d->family->at.none && d->family->has_null && gs_type_dwords(d->op->dst) <= 4)
    d->in->dst = GS_S_NULL; /* four dwords, too */
  else if (d->op->dst != GS_T_NONE)
    return sdata < OPERAND_M0 && scalar_dst(d, sdata);
  return true;
}
/* The data register; with tfe one more for the fault code. */
static inline bool buffer_data(decoder_t *d, bool acc) {
  const unsigned dwords = gs_type_dwords(d->op->dst) + d->in->tfe;
  return vector_register(d, bits(d->w1, 15, 8), dwords, acc, &d->in->dst);
}

#endif
