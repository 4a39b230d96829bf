/* From encoded words to decoded instructions: the only place that knows bit positions.
 * Every field that an instruction does not have must be zero where the assembler leaves no freedom, every
 * operand must name a register or constant that exists; else the words are no instruction.
 *
 * Not here: which opcodes exist (ops.def), and names and texts (disasm.c). */
#include "isa/inst.h"

#include <string.h>

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

enum { VGPR_COUNT = 256, TTMP_COUNT = 16 };

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
    uint8_t offset_bits, dlc;
  } flat;
  struct {
    uint8_t dlc, slc, tfe;
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
  places_t at;
  const vop3_range_t *vop3_ranges;
  const format_t *formats;
  size_t format_count;
} family_t;

typedef struct decoder {
  gs_target_t target;
  const family_t *family;
  uint8_t base_words; /* of the encoding: a literal follows them */
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

/* ---- Opcodes ---- */

#define KEY(encoding, number) ((uint32_t)(encoding) << 16 | (number))

/* The rows of gs_opcodes as sorted numbers. */
static const uint32_t keys[] = {
#define GS_ROW(name, encoding, number, targets, dst, s0, s1, s2, flags, fn) KEY(GS_ENC_##encoding, number),
#include "isa/ops.def"
#undef GS_ROW
};
enum { KEY_COUNT = sizeof keys / sizeof *keys };

/* Index of the first key that is not below `key`, without branches that the processor could mispredict. */
static size_t lower_bound(uint32_t key) {
  const uint32_t *base = keys;
  size_t count = KEY_COUNT;
  while (count > 1) {
    const size_t half = count / 2;
    base += base[half - 1] < key ? half : 0;
    count -= half;
  }
  return (size_t)(base - keys) + (*base < key);
}

/* Finds the row; parts that gave a number different meanings have a row each. */
static bool find(decoder_t *d, gs_encoding_t encoding, unsigned number) {
  const uint32_t key = KEY(encoding, number);
  for (size_t i = lower_bound(key); i < KEY_COUNT && keys[i] == key; i++)
    if (gs_opcodes[i].targets & d->target) {
      d->op = &gs_opcodes[i];
      return true;
    }
  return false;
}

static inline bool has(const decoder_t *d, uint32_t flag) {
  return d->op->flags & flag;
}
static inline bool is_float(unsigned type) {
  return type == GS_T_F16 || type == GS_T_F32 || type == GS_T_F64 || type == GS_T_V2F16;
}

/* ---- Registers ---- */

/* Registers that a scalar operand of this type takes. */
static unsigned scalar_dwords(const decoder_t *d, unsigned type) {
  return type == GS_T_MASK ? gs_target_lanes(d->target) / 32 : gs_type_dwords((gs_type_t)type);
}

static bool is_named_pair(const decoder_t *d, unsigned code) {
  return code == OPERAND_VCC || code == OPERAND_EXEC ||
         (!d->family->has_null && (code == OPERAND_FLAT_SCRATCH || code == OPERAND_XNACK_MASK));
}

/* Scalar register or tuple; a tuple's number is taken at its alignment, as the hardware does. */
static bool scalar_register(const decoder_t *d, unsigned code, unsigned dwords, uint16_t *reg) {
  if (code > OPERAND_SCALAR_LAST || dwords == 0)
    return false;
  const unsigned align = dwords >= 4 ? 4 : dwords;
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

static bool scalar_dst(decoder_t *d, unsigned code) {
  return scalar_register(d, code, scalar_dwords(d, d->op->dst), &d->in->dst);
}

/* Scalar register as source `i`; null reads 0. */
static bool scalar_reg_src(decoder_t *d, unsigned i, unsigned code, unsigned dwords) {
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

static bool vector_register(unsigned number, unsigned dwords, bool acc, uint16_t *reg) {
  *reg = (uint16_t)(number + (acc ? VGPR_COUNT : 0));
  return number + dwords <= VGPR_COUNT;
}

static bool vector_dst(decoder_t *d, unsigned number, bool acc) {
  return vector_register(number, gs_type_dwords(d->op->dst), acc, &d->in->dst);
}

static bool vector_src_of(decoder_t *d, unsigned i, unsigned number, unsigned dwords, bool acc) {
  gs_src_t *s = &d->in->src[i];
  s->kind = GS_SRC_VGPR;
  return vector_register(number, dwords, acc, &s->reg);
}

static bool vector_src(decoder_t *d, unsigned i, unsigned number, bool acc) {
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

static bool is_wide(unsigned type) {
  return type == GS_T_B64 || type == GS_T_I64 || type == GS_T_U64 || type == GS_T_F64 || type == GS_T_F64X4 ||
         type == GS_T_MASK;
}

/* Float constants are halves for operands that are halves; for 16-bit integers the hardware makes the 32-bit
 * float. */
static uint64_t float_constant(unsigned type, bool half, unsigned index) {
  if (is_wide(type))
    return constants_f64[index];
  if (half || type == GS_T_F16 || type == GS_T_V2F16)
    return constants_f16[index];
  return constants_f32[index];
}

static uint64_t int_constant(unsigned type, unsigned code) {
  const int64_t value =
      code <= OPERAND_INT_64 ? (int64_t)code - OPERAND_INT : (int64_t)OPERAND_INT_64 - (int64_t)code;
  return is_wide(type) || type == GS_T_V2B32 ? (uint64_t)value : (uint32_t)value;
}

/* A literal fills the high half of a double, and is extended for other 64-bit operands. */
static uint64_t extend_literal(unsigned type, uint32_t literal) {
  if (type == GS_T_F64)
    return (uint64_t)literal << 32;
  return type == GS_T_I64 ? (uint64_t)(int64_t)(int32_t)literal : literal;
}

static bool literal_src(decoder_t *d, unsigned i) {
  if (d->count <= d->base_words)
    return false;
  d->in->size = (uint8_t)(4 * d->base_words + 4);
  gs_src_t *s = &d->in->src[i];
  s->kind = GS_SRC_CONST;
  s->reg = OPERAND_LITERAL;
  s->value = extend_literal(d->op->src[i], d->words[d->base_words]);
  return true;
}

/* A scalar operand that is no literal: register, constant or computed value. `half` is for mixed-precision
 * operands. */
static bool scalar_value(decoder_t *d, unsigned i, unsigned code, bool half) {
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
             (code >= OPERAND_VCCZ && code <= OPERAND_SCC)) {
    s->kind = GS_SRC_SPECIAL;
  } else {
    return false;
  }
  return true;
}

/* 8-bit operand of a scalar instruction. */
static bool scalar_src(decoder_t *d, unsigned i, unsigned code) {
  return code == OPERAND_LITERAL ? literal_src(d, i) : scalar_value(d, i, code, false);
}

/* 9-bit operand of a vector instruction; literals only in encodings of 8 bytes of later families. */
static bool vector_operand(decoder_t *d, unsigned i, unsigned code, bool half) {
  if (code >= OPERAND_VGPR)
    return vector_src(d, i, code - OPERAND_VGPR, false);
  if (code == OPERAND_LDS_DIRECT) {
    d->in->src[i].kind = GS_SRC_SPECIAL;
    d->in->src[i].reg = OPERAND_LDS_DIRECT;
    return gs_type_dwords(d->op->src[i]) == 1;
  }
  if (code == OPERAND_LITERAL)
    return d->base_words == 2 && d->family->vop3_literals && literal_src(d, i);
  return scalar_value(d, i, code, half);
}

/* ---- Scalar instructions ---- */

/* The 16-bit immediate as the operand type `type` wants it. */
static void immediate(decoder_t *d, unsigned type, bool is_signed) {
  const uint32_t value = bits(d->w0, 15, 0);
  if (type == GS_T_BRANCH || is_signed)
    d->in->imm = sign_extend(value, 16);
  else
    d->in->imm = (int32_t)value;
}

static bool decode_sop1(decoder_t *d) {
  if (!find(d, GS_ENC_SOP1, bits(d->w0, 15, 8)))
    return false;
  if (d->op->dst != GS_T_NONE && !scalar_dst(d, bits(d->w0, 22, 16)))
    return false;
  if (d->op->src[0] != GS_T_NONE && !scalar_src(d, 0, bits(d->w0, 7, 0)))
    return false;
  return !has(d, GS_OPF_REG_SRC) || d->in->src[0].kind != GS_SRC_CONST;
}

static bool decode_sop2(decoder_t *d) {
  if (!find(d, GS_ENC_SOP2, bits(d->w0, 29, 23)))
    return false;
  if (d->op->dst != GS_T_NONE && !scalar_dst(d, bits(d->w0, 22, 16)))
    return false;
  return scalar_src(d, 0, bits(d->w0, 7, 0)) && scalar_src(d, 1, bits(d->w0, 15, 8));
}

static bool decode_sopk(decoder_t *d) {
  if (!find(d, GS_ENC_SOPK, bits(d->w0, 27, 23)))
    return false;
  const unsigned code = bits(d->w0, 22, 16), type = d->op->src[0];
  /* The register field is the destination, or the first source of what has none. */
  if (d->op->dst != GS_T_NONE) {
    immediate(d, type, type == GS_T_SIMM16);
    return scalar_dst(d, code);
  }
  if (type == GS_T_SIMM16) { /* no register at all */
    immediate(d, type, false);
    return true;
  }
  immediate(d, d->op->src[1], type == GS_T_I32);
  if (type == GS_T_K32)
    return literal_src(d, 0);
  return scalar_reg_src(d, 0, code, gs_type_dwords(type));
}

static bool decode_sopc(decoder_t *d) {
  if (!find(d, GS_ENC_SOPC, bits(d->w0, 22, 16)) || !scalar_src(d, 0, bits(d->w0, 7, 0)))
    return false;
  if (d->op->src[1] != GS_T_SIMM16)
    return scalar_src(d, 1, bits(d->w0, 15, 8));
  d->in->imm = (int32_t)bits(d->w0, 15, 8); /* s_set_gpr_idx_on: which operands are indexed */
  return true;
}

static bool decode_sopp(decoder_t *d) {
  if (!find(d, GS_ENC_SOPP, bits(d->w0, 22, 16)))
    return false;
  immediate(d, d->op->src[0], false);
  return d->op->src[0] != GS_T_NONE || d->in->imm == 0;
}

/* Scalar memory reads and writes any scalar register but M0 and EXEC. */
static bool smem_data(decoder_t *d, unsigned sdata) {
  if (d->op->dst == GS_T_PROBE)
    d->in->dst = (uint16_t)sdata;
  else if (sdata == OPERAND_NULL && d->family->has_null && gs_type_dwords(d->op->dst) <= 4)
    d->in->dst = GS_S_NULL; /* four dwords, too */
  else if (d->op->dst != GS_T_NONE)
    return sdata < OPERAND_M0 && scalar_dst(d, sdata);
  return true;
}

static bool decode_smem(decoder_t *d) {
  if (!find(d, GS_ENC_SMEM, bits(d->w0, 25, 18)) || !smem_data(d, bits(d->w0, 12, 6)))
    return false;
  gs_inst_t *in = d->in;
  if (d->op->src[0] == GS_T_NONE)
    return !bit(d->w0, 17);
  in->glc = bit(d->w0, 16) && d->op->dst != GS_T_NONE && d->op->dst != GS_T_PROBE;
  in->nv = bit(d->w0, 15);
  const bool imm = bit(d->w0, 17), soffset_en = bit(d->w0, 14);
  in->has_imm = imm;
  if (imm)
    in->imm = sign_extend(bits(d->w1, 20, 0), 21);
  if ((soffset_en || !imm) && !scalar_reg_src(d, 1, soffset_en ? bits(d->w1, 31, 25) : bits(d->w1, 6, 0), 1))
    return false;
  return scalar_reg_src(d, 0, bits(d->w0, 5, 0) << 1, gs_type_dwords(d->op->src[0]));
}

/* As the later families have it: the offset is always there, and null says that no register is added. */
static bool decode_smem_gfx10(decoder_t *d) {
  if (!find(d, GS_ENC_SMEM, bits(d->w0, 25, 18)) || !smem_data(d, bits(d->w0, 12, 6)))
    return false;
  gs_inst_t *in = d->in;
  if (d->op->src[0] == GS_T_NONE)
    return true;
  const bool is_probe = d->op->dst == GS_T_PROBE;
  in->glc = !is_probe && bit_at(d->w0, d->w1, d->family->at.smem.glc);
  in->dlc = !is_probe && bit_at(d->w0, d->w1, d->family->at.smem.dlc);
  in->imm = sign_extend(bits(d->w1, 20, 0), 21);
  const unsigned soffset = bits(d->w1, 31, 25);
  in->has_imm = in->imm != 0 || soffset == d->family->at.none;
  if (soffset != d->family->at.none && !scalar_reg_src(d, 1, soffset, 1))
    return false;
  return scalar_reg_src(d, 0, bits(d->w0, 5, 0) << 1, gs_type_dwords(d->op->src[0]));
}

/* ---- Vector arithmetic ---- */

static bool has_wide_operand(const gs_opcode_t *op) {
  return is_wide(op->src[0]) || (op->dst != GS_T_MASK && is_wide(op->dst));
}

/* neg and abs of source `i`, which only floats have. Sign extension by the neg bit of an integer beside a
 * float has no effect outside of SDWA but has a spelling; neg_lo remembers it. */
static bool float_mods(decoder_t *d, unsigned i, bool neg, bool abs) {
  if (is_float(d->op->src[i])) {
    d->in->src[i].mods |= (uint8_t)((neg ? GS_MOD_NEG : 0) | (abs ? GS_MOD_ABS : 0));
    return true;
  }
  if (has(d, GS_OPF_LOOSE_MODS))
    return d->op->src[i] != GS_T_NONE || (has(d, GS_OPF_OP_SEL) && has(d, GS_OPF_ACC_DST)) || (!neg && !abs);
  if (is_float(d->op->src[0]) && d->op->encoding != GS_ENC_VOPC && d->op->src[i] != GS_T_NONE &&
      d->op->src[i] != GS_T_MASK) {
    d->in->neg_lo |= (uint8_t)(neg << i);
    return true;
  }
  return !neg && !abs;
}

/* What handlers want to know of flags and modifiers together. */
static void set_summary(decoder_t *d) {
  gs_inst_t *in = d->in;
  const bool sdwa = in->form == GS_FORM_SDWA && in->sdwa.dst_sel != GS_SEL_DWORD;
  in->plain_dst = !in->omod && !in->clamp && !in->dst_hi && !sdwa && in->form != GS_FORM_DPP &&
                  !has(d, GS_OPF_PRESERVE_HI);
  in->cmpx = has(d, GS_OPF_CMPX);
}

static bool sdwa_src(decoder_t *d, unsigned i, unsigned number, bool scalar, unsigned selection) {
  const unsigned sel = bits(selection, 2, 0);
  const bool sext = bit(selection, 3), neg = bit(selection, 4), abs = bit(selection, 5);
  gs_src_t *s = &d->in->src[i];
  if (sel > GS_SEL_DWORD || !(scalar ? vector_operand(d, i, number, false) : vector_src(d, i, number, false)))
    return false;
  d->in->sdwa.src_sel[i] = (uint8_t)sel;
  if (is_float(d->op->src[i]) ? sext : neg || abs)
    return false;
  if (sel != GS_SEL_DWORD || sext)
    s->mods |= GS_MOD_SDWA;
  s->mods |= (uint8_t)((sext ? GS_MOD_SEXT : 0) | (neg ? GS_MOD_NEG : 0) | (abs ? GS_MOD_ABS : 0));
  return true;
}

/* The mask that a comparison writes. */
static bool mask_dst(decoder_t *d, unsigned code) {
  if (d->family->cmpx_only_exec && has(d, GS_OPF_CMPX))
    code = OPERAND_EXEC;
  const bool good = scalar_register(d, code, scalar_dwords(d, GS_T_MASK), &d->in->sdst);
  d->in->dst = d->in->sdst;
  return good;
}

/* Destination fields of the SDWA form: a mask register for comparisons, else where and how the result is
 * placed. */
static bool sdwa_dst(decoder_t *d) {
  gs_inst_t *in = d->in;
  if (d->op->encoding == GS_ENC_VOPC) {
    in->sdwa.dst_sel = GS_SEL_DWORD;
    if (d->family->cmpx_only_exec && has(d, GS_OPF_CMPX) && bit(d->w1, 15))
      return false;
    return mask_dst(d, bit(d->w1, 15) ? bits(d->w1, 14, 8) : OPERAND_VCC);
  }
  in->sdwa.dst_sel = (uint8_t)bits(d->w1, 10, 8);
  in->sdwa.dst_unused = has(d, GS_OPF_SRC_SEL) ? GS_UNUSED_PAD : (uint8_t)bits(d->w1, 12, 11);
  if (has(d, GS_OPF_SRC_SEL) && in->sdwa.dst_sel != GS_SEL_DWORD)
    return false;
  in->clamp = bit(d->w1, 13);
  in->omod = (uint8_t)bits(d->w1, 15, 14);
  return in->sdwa.dst_sel <= GS_SEL_DWORD && in->sdwa.dst_unused <= GS_UNUSED_PRESERVE &&
         (in->omod == 0 || is_float(d->op->dst) || has(d, GS_OPF_SRC_SEL));
}

static bool decode_sdwa(decoder_t *d) {
  if (has(d, GS_OPF_NO_SDWA) || has_wide_operand(d->op) || d->count < 2)
    return false;
  d->w1 = d->words[1];
  d->in->size = 8;
  d->in->form = GS_FORM_SDWA;
  if (!sdwa_dst(d) || !sdwa_src(d, 0, bits(d->w1, 7, 0), bit(d->w1, 23), bits(d->w1, 21, 16)))
    return false;
  if (d->op->encoding == GS_ENC_VOP1)
    return bits(d->w1, 29, 24) == 0 && !bit(d->w1, 31);
  return sdwa_src(d, 1, bits(d->w0, 16, 9), bit(d->w1, 31), bits(d->w1, 29, 24));
}

/* Lane permutations that exist. Doubles only know row_newbcast, which only gfx90a and later know. */
static bool dpp_control_exists(const decoder_t *d, unsigned control) {
  if (d->family->has_dpp8) /* shifts and the like in rows, row_share, row_xmask */
    return control <= 0xff || (control > 0x100 && control <= 0x12f && (control & 15) != 0) ||
           control == 0x140 || control == 0x141 || (control >= 0x150 && control <= 0x16f);
  if (control >= 0x150 && control <= 0x15f)
    return d->target & GS_CDNA2_3;
  if (is_wide(d->op->src[0]))
    return false;
  if (control <= 0xff || control == 0x130 || control == 0x134 || control == 0x138 || control == 0x13c)
    return true;
  return (control > 0x100 && control <= 0x12f && (control & 15) != 0) ||
         (control >= 0x140 && control <= 0x143);
}

static bool decode_dpp(decoder_t *d) {
  if (has(d, GS_OPF_NO_DPP) || (has_wide_operand(d->op) && !(d->target & GS_CDNA2_3)) || d->count < 2)
    return false;
  d->w1 = d->words[1];
  gs_inst_t *in = d->in;
  in->size = 8;
  in->form = GS_FORM_DPP;
  in->dpp.ctrl = (uint16_t)bits(d->w1, 16, 8);
  in->dpp.bound_ctrl = bit(d->w1, 19);
  in->dpp.fetch_inactive = d->family->has_dpp8 && bit(d->w1, 18);
  in->dpp.bank_mask = (uint8_t)bits(d->w1, 27, 24);
  in->dpp.row_mask = (uint8_t)bits(d->w1, 31, 28);
  if (!dpp_control_exists(d, in->dpp.ctrl) || !vector_src(d, 0, bits(d->w1, 7, 0), false) ||
      !float_mods(d, 0, bit(d->w1, 20), bit(d->w1, 21)))
    return false;
  in->src[0].mods |= GS_MOD_DPP;
  if (d->op->encoding == GS_ENC_VOP1)
    return bits(d->w1, 23, 22) == 0;
  return vector_src(d, 1, bits(d->w0, 16, 9), false) && float_mods(d, 1, bit(d->w1, 22), bit(d->w1, 23));
}

/* Eight lane numbers of three bits; nothing is switched off. */
static bool decode_dpp8(decoder_t *d, bool fetch_inactive) {
  if (has(d, GS_OPF_NO_DPP) || has_wide_operand(d->op) || d->count < 2)
    return false;
  d->w1 = d->words[1];
  gs_inst_t *in = d->in;
  in->size = 8;
  in->form = GS_FORM_DPP;
  in->dpp.ctrl = GS_DPP_EIGHT;
  in->dpp.bound_ctrl = true;
  in->dpp.fetch_inactive = fetch_inactive;
  in->dpp.bank_mask = in->dpp.row_mask = 0xf;
  if (!vector_src(d, 0, bits(d->w1, 7, 0), false))
    return false;
  in->src[0].mods |= GS_MOD_DPP;
  return d->op->encoding == GS_ENC_VOP1 || vector_src(d, 1, bits(d->w0, 16, 9), false);
}

/* The first source of VOP1, VOP2 and VOPC, which also says that the instruction is of another form. */
static bool short_form_sources(decoder_t *d) {
  const unsigned code = bits(d->w0, 8, 0);
  if (code == OPERAND_SDWA)
    return decode_sdwa(d);
  if (code == OPERAND_DPP)
    return d->op->encoding != GS_ENC_VOPC && decode_dpp(d);
  if (d->family->has_dpp8 && (code == OPERAND_DPP8 || code == OPERAND_DPP8_FI))
    return d->op->encoding != GS_ENC_VOPC && decode_dpp8(d, code == OPERAND_DPP8_FI);
  if (!(code == OPERAND_LITERAL ? literal_src(d, 0) : vector_operand(d, 0, code, false)))
    return false;
  return d->op->encoding == GS_ENC_VOP1 || vector_src(d, 1, bits(d->w0, 16, 9), false);
}

/* Instructions whose source must be a vector register: v_readfirstlane, v_swap, v_accvgpr_mov. */
static bool vector_only_source(decoder_t *d, bool acc) {
  const unsigned code = bits(d->w0, 8, 0);
  if (code == OPERAND_LDS_DIRECT && has(d, GS_OPF_SCALAR_DST))
    return vector_operand(d, 0, code, false);
  return code >= OPERAND_VGPR && vector_src(d, 0, code - OPERAND_VGPR, acc);
}

static bool decode_vop1(decoder_t *d) {
  if (!find(d, GS_ENC_VOP1, bits(d->w0, 16, 9)))
    return false;
  const unsigned vdst = bits(d->w0, 24, 17);
  const bool acc = has(d, GS_OPF_ACC_FILE);
  if (d->op->dst == GS_T_NONE)
    return vdst == 0;
  if (!(has(d, GS_OPF_SCALAR_DST) ? scalar_dst(d, vdst) : vector_dst(d, vdst, acc)))
    return false;
  if (has(d, GS_OPF_REG_SRC) && bits(d->w0, 8, 0) < OPERAND_VGPR && bits(d->w0, 8, 0) != OPERAND_DPP &&
      bits(d->w0, 8, 0) != OPERAND_SDWA && bits(d->w0, 8, 0) != OPERAND_DPP8 &&
      bits(d->w0, 8, 0) != OPERAND_DPP8_FI)
    return false;
  return has(d, GS_OPF_NO_VOP3) ? vector_only_source(d, acc) : short_form_sources(d);
}

/* v_madmk and v_madak: a literal as second or third source. */
static bool decode_madk(decoder_t *d) {
  const unsigned k = d->op->src[1] == GS_T_K32 ? 1 : 2, code = bits(d->w0, 8, 0);
  if (code == OPERAND_SDWA || code == OPERAND_DPP || !literal_src(d, k))
    return false;
  return (code == OPERAND_LITERAL ? literal_src(d, 0) : vector_operand(d, 0, code, false)) &&
         vector_src(d, 3 - k, bits(d->w0, 16, 9), false);
}

static bool decode_vop2(decoder_t *d) {
  if (!find(d, GS_ENC_VOP2, bits(d->w0, 30, 25)) || !vector_dst(d, bits(d->w0, 24, 17), false))
    return false;
  if (d->op->src[1] == GS_T_K32 || d->op->src[2] == GS_T_K32)
    return decode_madk(d);
  if (has(d, GS_OPF_SDST))
    d->in->sdst = OPERAND_VCC;
  if (has(d, GS_OPF_VCC_IN) && !scalar_reg_src(d, 2, OPERAND_VCC, scalar_dwords(d, GS_T_MASK)))
    return false;
  return short_form_sources(d);
}

static bool decode_vopc(decoder_t *d) {
  if (!find(d, GS_ENC_VOPC, bits(d->w0, 24, 17)))
    return false;
  return mask_dst(d, OPERAND_VCC) && short_form_sources(d);
}

/* ---- VOP3 ---- */

/* VOP3 numbers: comparisons, then VOP2, VOP1, what only exists here, and on gfx9 VOP3P. */
static const vop3_range_t vop3_ranges_gfx9[] = {
    {256, 0, GS_ENC_VOPC},
    {320, 256, GS_ENC_VOP2},
    {448, 320, GS_ENC_VOP1},
    {896, 0, GS_ENC_VOP3},
};
static const vop3_range_t vop3_ranges_gfx10[] = {
    {256, 0, GS_ENC_VOPC},   {320, 256, GS_ENC_VOP2}, {384, 0, GS_ENC_VOP3},
    {512, 384, GS_ENC_VOP1}, {1024, 0, GS_ENC_VOP3},
};

static bool find_vop3(decoder_t *d, unsigned number) {
  const vop3_range_t *const ranges = d->family->vop3_ranges;
  size_t i = 0;
  while (number >= ranges[i].end)
    i++;
  return find(d, (gs_encoding_t)ranges[i].encoding, number - ranges[i].start) && !has(d, GS_OPF_NO_VOP3);
}

/* op_sel: a bit for each source and, above them, one for the destination. */
static bool vop3_op_sel(decoder_t *d, unsigned op_sel) {
  gs_inst_t *in = d->in;
  if (!has(d, GS_OPF_OP_SEL))
    return true;
  if (d->op->src[2] == GS_T_NONE && (op_sel & 4) && !has(d, GS_OPF_ACC_DST))
    return false;
  in->op_sel = (uint8_t)op_sel;
  for (unsigned i = 0; i < 3; i++) {
    const unsigned type = d->op->src[i];
    if ((op_sel >> i & 1) && (type == GS_T_F16 || type == GS_T_I16 || type == GS_T_U16))
      in->src[i].mods |= GS_MOD_HI;
  }
  const unsigned type = d->op->dst;
  in->dst_hi = (op_sel & 8) && (type == GS_T_F16 || type == GS_T_I16 || type == GS_T_U16);
  return true;
}

/* Lane numbers and masks come from scalar registers or constants, the value of v_writelane too; v_readlane's
 * from a vector register. */
static bool vop3_src(decoder_t *d, unsigned i, unsigned code) {
  const unsigned type = d->op->src[i];
  if (type == GS_T_NONE)
    return code == 0;
  if (type == GS_T_MASK)
    return (code < OPERAND_EXEC || code >= OPERAND_SHARED_BASE) && code < OPERAND_VGPR &&
           scalar_value(d, i, code, false) && d->in->src[i].kind != GS_SRC_CONST;
  if (type == GS_T_B128)
    return code >= OPERAND_VGPR && vector_operand(d, i, code, false);
  if (type == GS_T_LANE ||
      (has(d, GS_OPF_ACC_DST) && d->op->src[1] == GS_T_LANE && d->op->src[2] == GS_T_NONE))
    return code < OPERAND_VGPR && code != OPERAND_LDS_DIRECT && vector_operand(d, i, code, false);
  if (d->op->src[1] == GS_T_LANE && d->op->src[2] == GS_T_LANE) /* v_permlane16 */
    return code >= OPERAND_VGPR && vector_operand(d, i, code, false);
  if (has(d, GS_OPF_REG_SRC))
    return code >= OPERAND_VGPR && vector_operand(d, i, code, false);
  if (has(d, GS_OPF_SCALAR_DST) && code < OPERAND_VGPR)
    return code == OPERAND_LDS_DIRECT && vector_operand(d, i, code, false);
  return vector_operand(d, i, code, false);
}

static bool vop3_dst(decoder_t *d) {
  const unsigned vdst = bits(d->w0, 7, 0);
  if (d->op->encoding == GS_ENC_VOPC)
    return mask_dst(d, vdst);
  if (has(d, GS_OPF_SCALAR_DST))
    return scalar_dst(d, vdst);
  return d->op->dst == GS_T_NONE ? vdst == 0 : vector_dst(d, vdst, false);
}

static bool decode_vop3(decoder_t *d) {
  gs_inst_t *in = d->in;
  if (!find_vop3(d, bits(d->w0, 25, 16)))
    return false;
  if (has(d, GS_OPF_ILLEGAL))
    return true;
  in->form = d->op->encoding == GS_ENC_VOP3 ? GS_FORM_NATIVE : GS_FORM_VOP3;
  if (!vop3_dst(d))
    return false;
  for (unsigned i = 0; i < 3; i++)
    if (!vop3_src(d, i, bits(d->w1, 9 * i + 8, 9 * i)))
      return false;
  const unsigned abs = has(d, GS_OPF_SDST) ? 0 : bits(d->w0, 10, 8), neg = bits(d->w1, 31, 29);
  for (unsigned i = 0; i < 3; i++)
    if (!float_mods(d, i, neg >> i & 1, abs >> i & 1))
      return false;
  in->clamp = bit(d->w0, 15);
  in->omod = (uint8_t)bits(d->w1, 28, 27);
  if ((in->clamp && !has(d, GS_OPF_CLAMP)) || (in->omod && !has(d, GS_OPF_OMOD)))
    return false;
  if (has(d, GS_OPF_SDST))
    return scalar_register(d, bits(d->w0, 14, 8), scalar_dwords(d, GS_T_MASK), &in->sdst);
  return vop3_op_sel(d, bits(d->w0, 14, 11));
}

/* ---- VOP3P ---- */

static bool decode_accvgpr(decoder_t *d) {
  const unsigned vdst = bits(d->w0, 7, 0), code = bits(d->w1, 8, 0);
  if (bits(d->w0, 13, 8) != 0 || bits(d->w1, 26, 9) != 0 || bits(d->w1, 31, 29) != 0)
    return false;
  if (has(d, GS_OPF_ACC_FILE)) /* v_accvgpr_write */
    return vector_dst(d, vdst, true) && vector_operand(d, 0, code, false);
  return vector_dst(d, vdst, false) && code >= OPERAND_VGPR && vector_src(d, 0, code - OPERAND_VGPR, true);
}

/* Matrices: two bits choose the register file of the factors. The accumulators are AGPRs on gfx908; later a
 * bit says whether they are. What adds to a product of sparse matrices has an index in place of C. */
static bool decode_mfma(decoder_t *d) {
  gs_inst_t *in = d->in;
  const bool acc_cd = d->target == GS_GFX908 || bit(d->w0, 15);
  const unsigned c = bits(d->w1, 26, 18);
  in->cbsz = (uint8_t)bits(d->w0, 10, 8);
  in->abid = (uint8_t)bits(d->w0, 14, 11);
  in->blgp = (uint8_t)bits(d->w1, 31, 29);
  if (!vector_dst(d, bits(d->w0, 7, 0), acc_cd) || (in->blgp && has(d, GS_OPF_SPARSE)))
    return false;
  for (unsigned i = 0; i < 2; i++) {
    const unsigned code = bits(d->w1, 9 * i + 8, 9 * i);
    if (code < OPERAND_VGPR || !vector_src(d, i, code - OPERAND_VGPR, bit(d->w1, 27 + i)))
      return false;
  }
  if (c >= OPERAND_VGPR)
    return vector_src(d, 2, c - OPERAND_VGPR, acc_cd && !has(d, GS_OPF_SPARSE));
  return !has(d, GS_OPF_SPARSE) && c >= OPERAND_INT && scalar_value(d, 2, c, false) &&
         in->src[2].kind == GS_SRC_CONST;
}

/* The neg bits of packed integers have no meaning, but the first source's may be set. */
static bool packed_mods(decoder_t *d, unsigned i, unsigned mods) {
  const unsigned type = d->op->src[i];
  if (type == GS_T_NONE || (type == GS_T_V2B16 && i > 0))
    return mods == 0;
  return true;
}

static bool decode_vop3p(decoder_t *d) {
  gs_inst_t *in = d->in;
  if (!find(d, GS_ENC_VOP3P, bits(d->w0, 22, 16)))
    return false;
  if (has(d, GS_OPF_MFMA))
    return decode_mfma(d);
  if (d->op->src[1] == GS_T_NONE)
    return decode_accvgpr(d);
  in->op_sel = (uint8_t)bits(d->w0, 13, 11);
  in->op_sel_hi = (uint8_t)(bits(d->w1, 28, 27) | (uint32_t)bit(d->w0, 14) << 2);
  in->neg_lo = (uint8_t)bits(d->w1, 31, 29);
  in->neg_hi = (uint8_t)bits(d->w0, 10, 8);
  in->clamp = bit(d->w0, 15);
  if (d->op->src[2] == GS_T_NONE) {
    in->op_sel_hi &= 3;
    if (in->op_sel & 4)
      return false;
  }
  if (!vector_dst(d, bits(d->w0, 7, 0), false))
    return false;
  for (unsigned i = 0; i < 3; i++) {
    const unsigned code = bits(d->w1, 9 * i + 8, 9 * i);
    const bool half = d->op->src[i] == GS_T_MIX && (in->op_sel_hi >> i & 1);
    if (!packed_mods(d, i, (in->neg_lo | in->neg_hi) >> i & 1) ||
        !(d->op->src[i] == GS_T_NONE ? code == 0 : vector_operand(d, i, code, half)))
      return false;
  }
  return true;
}

/* ---- Memory ---- */

/* Whether the accumulation register bit of a memory instruction is set. */
static bool acc_bit(const decoder_t *d, bool set) {
  return set && d->target & GS_CDNA2_3;
}

static bool decode_ds(decoder_t *d) {
  gs_inst_t *in = d->in;
  const unsigned op_at = d->family->at.ds.op;
  if (!find(d, GS_ENC_DS, bits(d->w0, op_at + 7, op_at)))
    return false;
  const bool spare = op_at == 17 && bit(d->w0, 25), acc = acc_bit(d, spare);
  const bool has_data = d->op->dst != GS_T_NONE || d->op->src[1] != GS_T_NONE ||
                        (has(d, GS_OPF_GDS) && d->op->src[0] != GS_T_NONE);
  in->gds = bit_at(d->w0, d->w1, d->family->at.ds.gds);
  if (has(d, in->gds ? GS_OPF_NO_GDS : GS_OPF_GDS) || (spare && !has_data))
    return false;
  if (has(d, GS_OPF_TWO_ADDR)) {
    in->imm = (int32_t)bits(d->w0, 7, 0);
    in->imm1 = bits(d->w0, 15, 8);
  } else {
    in->imm = (int32_t)bits(d->w0, 15, 0);
  }
  if (!has_data && !has(d, GS_OPF_GDS) && d->op->src[0] == GS_T_NONE && in->imm != 0) /* ds_nop */
    return false;
  const unsigned vdst = bits(d->w1, 31, 24);
  if (d->op->dst == GS_T_NONE ? vdst != 0 : !vector_dst(d, vdst, acc))
    return false;
  for (unsigned i = 0; i < 3; i++) {
    const unsigned number = bits(d->w1, 8 * i + 7, 8 * i);
    const bool is_data = i > 0 || has(d, GS_OPF_GDS);
    if (d->op->src[i] == GS_T_NONE ? number != 0 : !vector_src(d, i, number, acc && is_data))
      return false;
  }
  return true;
}

enum { GFX942_HAS_VECTOR = 13 }; /* bit of the first word: scratch memory's address has a vector register */

/* Address registers of FLAT, GLOBAL and SCRATCH: a 64-bit address, a 32-bit offset to a scalar base, or for
 * SCRATCH one of the two offsets. */
static bool flat_address(decoder_t *d) {
  enum { OFF = 0x7f };
  const unsigned vaddr = bits(d->w1, 7, 0), saddr = bits(d->w1, 22, 16);
  const bool global = d->op->encoding == GS_ENC_GLOBAL;
  if (d->target == GS_GFX942 && d->op->encoding != GS_ENC_SCRATCH && bit(d->w0, GFX942_HAS_VECTOR))
    return false;
  if (d->op->encoding == GS_ENC_FLAT)
    return saddr == 0 && vector_src_of(d, 0, vaddr, 2, false);
  if (d->target == GS_GFX942 && !global) {
    const bool has_vector = bit(d->w0, GFX942_HAS_VECTOR); /* each of the two may be there */
    return (!has_vector || vector_src_of(d, 0, vaddr, 1, false)) &&
           (saddr == OFF || scalar_reg_src(d, 2, saddr, 1));
  }
  if (saddr == OFF)
    return vector_src_of(d, 0, vaddr, global ? 2 : 1, false);
  if (global && !vector_src_of(d, 0, vaddr, 1, false))
    return false;
  return scalar_reg_src(d, 2, saddr, global ? 2 : 1);
}

/* The same of later families: null says that there is no scalar register. Only scratch memory has the last
 * kind, in which the vector register is not there either. */
static bool flat_address_gfx10(decoder_t *d) {
  enum { NEITHER = 0x7f };
  const unsigned vaddr = bits(d->w1, 7, 0), saddr = bits(d->w1, 22, 16);
  const bool none = saddr == d->family->at.none;
  if (d->op->encoding == GS_ENC_FLAT)
    return none && vector_src_of(d, 0, vaddr, 2, false);
  const bool global = d->op->encoding == GS_ENC_GLOBAL;
  if (global && d->op->src[0] == GS_T_NONE) /* *_addtid */
    return none || scalar_reg_src(d, 2, saddr, 2);
  if (none)
    return vector_src_of(d, 0, vaddr, global ? 2 : 1, false);
  if (saddr == NEITHER)
    return !global;
  if (global && !vector_src_of(d, 0, vaddr, 1, false))
    return false;
  return scalar_reg_src(d, 2, saddr, global ? 2 : 1);
}

/* A conditional subtraction without return is none. */
static bool returns_if_it_must(const decoder_t *d) {
  return d->in->glc || !has(d, GS_OPF_RTN);
}

static bool decode_flat_gfx10(decoder_t *d) {
  static const gs_encoding_t segments[] = {GS_ENC_FLAT, GS_ENC_SCRATCH, GS_ENC_GLOBAL};
  gs_inst_t *in = d->in;
  const unsigned segment = bits(d->w0, 15, 14), width = d->family->at.flat.offset_bits;
  if (segment > 2 || !find(d, segments[segment], bits(d->w0, 24, 18)))
    return false;
  in->glc = bit(d->w0, 16);
  in->slc = bit(d->w0, 17);
  in->dlc = bit_at(d->w0, d->w1, d->family->at.flat.dlc);
  const uint32_t offset = bits(d->w0, width - 1, 0);
  in->imm = segment == 0 ? (int32_t)(offset & ~(1u << (width - 1))) : sign_extend(offset, width);
  in->lds = bit(d->w0, 13);
  if ((in->lds && !has(d, GS_OPF_LDS)) || bit(d->w1, 23) || !flat_address_gfx10(d) || !returns_if_it_must(d))
    return false;
  const bool returns = d->op->dst != GS_T_NONE && !in->lds && (!has(d, GS_OPF_ATOMIC) || in->glc);
  if (returns && !vector_dst(d, bits(d->w1, 31, 24), false))
    return false;
  return d->op->src[1] == GS_T_NONE || vector_src(d, 1, bits(d->w1, 15, 8), false);
}

/* Float atomics have no scc bit, and those of gfx908 return nothing. */
static bool atomic_bits(const decoder_t *d, bool scc_bit) {
  if (!has(d, GS_OPF_ATOMIC) || !is_float(d->op->dst) || d->target == GS_GFX942)
    return true;
  return !scc_bit && !(has(d, GS_OPF_NO_RTN) && d->in->glc);
}

static bool decode_flat(decoder_t *d) {
  static const gs_encoding_t segments[] = {GS_ENC_FLAT, GS_ENC_SCRATCH, GS_ENC_GLOBAL};
  gs_inst_t *in = d->in;
  const unsigned segment = bits(d->w0, 15, 14);
  if (segment > 2 || !find(d, segments[segment], bits(d->w0, 24, 18)))
    return false;
  const bool acc = acc_bit(d, bit(d->w1, 23));
  in->glc = bit(d->w0, 16);
  in->slc = bit(d->w0, 17);
  in->scc = bit(d->w0, 25) && d->target & GS_CDNA2_3;
  in->nv = bit(d->w1, 23) && !(d->target & GS_CDNA2_3);
  in->lds = d->target == GS_GFX942 ? has(d, GS_OPF_TO_LDS) : bit(d->w0, 13);
  in->imm = segment == 0 ? (int32_t)bits(d->w0, 12, 0) : sign_extend(bits(d->w0, 12, 0), 13);
  if ((in->lds && (!has(d, GS_OPF_LDS | GS_OPF_TO_LDS) || bit(d->w1, 23))) || !flat_address(d))
    return false;
  if (!atomic_bits(d, bit(d->w0, 25)))
    return false;
  const bool returns = d->op->dst != GS_T_NONE && !in->lds && (!has(d, GS_OPF_ATOMIC) || in->glc);
  if (returns && !vector_dst(d, bits(d->w1, 31, 24), acc))
    return false;
  return d->op->src[1] == GS_T_NONE || vector_src(d, 1, bits(d->w1, 15, 8), acc);
}

/* Address and resource of MUBUF and MTBUF. */
static bool buffer_address(decoder_t *d) {
  gs_inst_t *in = d->in;
  in->imm = (int32_t)bits(d->w0, 11, 0);
  in->offen = bit(d->w0, 12);
  in->idxen = bit(d->w0, 13);
  const unsigned dwords = (unsigned)in->offen + in->idxen;
  if (dwords && !vector_src_of(d, 0, bits(d->w1, 7, 0), dwords, false))
    return false;
  return scalar_reg_src(d, 1, bits(d->w1, 20, 16) << 2, 4) && scalar_value(d, 2, bits(d->w1, 31, 24), false);
}

/* The data register; with tfe one more for the fault code. */
static bool buffer_data(decoder_t *d, bool acc) {
  const unsigned dwords = gs_type_dwords(d->op->dst) + d->in->tfe;
  return vector_register(bits(d->w1, 15, 8), dwords, acc, &d->in->dst);
}

/* Bits that must be clear in cache control instructions, which have no operands. */
static bool cache_control_bits(const decoder_t *d) {
  enum { BUFFER_WBL2 = 40, BUFFER_INVL2 = 41 };
  const unsigned n = d->op->number;
  if (d->target == GS_GFX942 && (n == BUFFER_WBL2 || n == BUFFER_INVL2)) { /* of which scope */
    d->in->glc = bit(d->w0, 14);
    d->in->scc = bit(d->w0, 15);
    return bits(d->w0, 13, 12) == 0 && !bit(d->w0, 16) && !bit(d->w1, 23);
  }
  if (bits(d->w0, 13, 12) != 0 || bit(d->w0, 16) || (n != BUFFER_WBL2 && bits(d->w0, 15, 14) != 0))
    return false;
  return (n != BUFFER_WBL2 && n != BUFFER_INVL2) || !bit(d->w1, 23);
}

static bool decode_mubuf(decoder_t *d) {
  gs_inst_t *in = d->in;
  if (!find(d, GS_ENC_MUBUF, bits(d->w0, 24, 18)))
    return false;
  if (d->op->src[1] == GS_T_NONE)
    return cache_control_bits(d);
  const bool acc = acc_bit(d, bit(d->w1, 23));
  in->glc = bit(d->w0, 14);
  in->slc = bit(d->w0, 17);
  in->scc = bit(d->w0, 15) && d->target & GS_CDNA2_3;
  in->lds = bit(d->w0, 16);
  in->tfe = bit(d->w1, 23) && !(d->target & GS_CDNA2_3) && !has(d, GS_OPF_ATOMIC) && !in->lds;
  if (!buffer_address(d) || !atomic_bits(d, in->scc) ||
      (d->op->src[0] == GS_T_NONE && (in->offen || in->idxen)))
    return false;
  if (in->lds)
    return has(d, GS_OPF_LDS) && !(bit(d->w1, 23) && (d->op->dst != GS_T_NONE || d->target & GS_CDNA2_3));
  return d->op->dst != GS_T_NONE && buffer_data(d, acc);
}

static bool decode_mubuf_gfx10(decoder_t *d) {
  gs_inst_t *in = d->in;
  if (!find(d, GS_ENC_MUBUF, bits(d->w0, 24, 18) | (uint32_t)bit(d->w0, 25) << 7))
    return false;
  if (d->op->src[1] == GS_T_NONE)
    return bits(d->w0, 16, 12) == 0;
  in->glc = bit(d->w0, 14);
  in->dlc = bit_at(d->w0, d->w1, d->family->at.buffer.dlc);
  in->slc = bit_at(d->w0, d->w1, d->family->at.buffer.slc);
  in->lds = bit(d->w0, 16);
  in->tfe = bit_at(d->w0, d->w1, d->family->at.buffer.tfe) && !has(d, GS_OPF_ATOMIC) && !in->lds;
  if (!buffer_address(d) || !returns_if_it_must(d) || (in->dlc && has(d, GS_OPF_ATOMIC)))
    return false;
  if (in->lds)
    return has(d, GS_OPF_LDS) && !bit_at(d->w0, d->w1, d->family->at.buffer.tfe);
  return d->op->dst != GS_T_NONE && buffer_data(d, false);
}

static bool decode_mtbuf_gfx10(decoder_t *d) {
  gs_inst_t *in = d->in;
  if (!find(d, GS_ENC_MTBUF, bits(d->w0, 18, 16) | (uint32_t)bit(d->w1, 21) << 3))
    return false;
  in->glc = bit(d->w0, 14);
  in->dlc = bit_at(d->w0, d->w1, d->family->at.buffer.dlc);
  in->slc = bit_at(d->w0, d->w1, d->family->at.buffer.slc);
  const unsigned unified = bits(d->w0, 25, 19);
  in->imm1 = gs_format_of_unified(unified) | unified << 8;
  return buffer_address(d) && buffer_data(d, false);
}

static bool decode_mtbuf(decoder_t *d) {
  gs_inst_t *in = d->in;
  if (!find(d, GS_ENC_MTBUF, bits(d->w0, 18, 15)))
    return false;
  const bool acc = acc_bit(d, bit(d->w1, 23));
  in->glc = bit(d->w0, 14);
  in->slc = bit(d->w1, 22);
  in->scc = bit(d->w1, 21) && d->target & GS_CDNA2_3;
  in->imm1 = bits(d->w0, 22, 19) | bits(d->w0, 25, 23) << 4;
  return buffer_address(d) && buffer_data(d, acc);
}

/* ---- Graphics: known by name only ---- */

static bool decode_mimg(decoder_t *d) {
  return find(d, GS_ENC_MIMG, bits(d->w0, 24, 18));
}
static bool decode_exp(decoder_t *d) {
  return find(d, GS_ENC_EXP, 0);
}
static bool decode_vintrp(decoder_t *d) {
  return find(d, GS_ENC_VINTRP, bits(d->w0, 17, 16));
}

/* ---- Encodings ---- */

/* The first that fits counts. */
static const format_t formats_gfx9[] = {
    {0xfe000000, 0x7e000000, 4, decode_vop1},  {0xfe000000, 0x7c000000, 4, decode_vopc},
    {0x80000000, 0x00000000, 4, decode_vop2},  {0xff800000, 0xbe800000, 4, decode_sop1},
    {0xff800000, 0xbf000000, 4, decode_sopc},  {0xff800000, 0xbf800000, 4, decode_sopp},
    {0xf0000000, 0xb0000000, 4, decode_sopk},  {0xc0000000, 0x80000000, 4, decode_sop2},
    {0xff800000, 0xd3800000, 8, decode_vop3p}, {0xfc000000, 0xd0000000, 8, decode_vop3},
    {0xfc000000, 0xdc000000, 8, decode_flat},  {0xfc000000, 0xd8000000, 8, decode_ds},
    {0xfc000000, 0xe0000000, 8, decode_mubuf}, {0xfc000000, 0xc0000000, 8, decode_smem},
    {0xfc000000, 0xe8000000, 8, decode_mtbuf}, {0xfc000000, 0xf0000000, 8, decode_mimg},
    {0xfc000000, 0xc4000000, 8, decode_exp},   {0xfc000000, 0xd4000000, 4, decode_vintrp},
};

/* Images, exports and interpolation of later families are for graphics only, and not even known by name. */
static const format_t formats_gfx10[] = {
    {0xfe000000, 0x7e000000, 4, decode_vop1},        {0xfe000000, 0x7c000000, 4, decode_vopc},
    {0x80000000, 0x00000000, 4, decode_vop2},        {0xff800000, 0xbe800000, 4, decode_sop1},
    {0xff800000, 0xbf000000, 4, decode_sopc},        {0xff800000, 0xbf800000, 4, decode_sopp},
    {0xf0000000, 0xb0000000, 4, decode_sopk},        {0xc0000000, 0x80000000, 4, decode_sop2},
    {0xff800000, 0xcc000000, 8, decode_vop3p},       {0xfc000000, 0xd4000000, 8, decode_vop3},
    {0xfc000000, 0xdc000000, 8, decode_flat_gfx10},  {0xfc000000, 0xd8000000, 8, decode_ds},
    {0xfc000000, 0xe0000000, 8, decode_mubuf_gfx10}, {0xfc000000, 0xf4000000, 8, decode_smem_gfx10},
    {0xfc000000, 0xe8000000, 8, decode_mtbuf_gfx10},
};

#define FORMATS(list) .formats = (list), .format_count = sizeof(list) / sizeof *(list)
static const family_t gfx9 = {
    .sgpr_last = OPERAND_SGPR_LAST,
    .tuple_end = OPERAND_SGPR_LAST + 3,
    .at = {.none = 0x7f, .ds = {17, 16}},
    .vop3_ranges = vop3_ranges_gfx9,
    FORMATS(formats_gfx9),
};
static const family_t gfx10 = {
    .sgpr_last = OPERAND_VCC - 1,
    .tuple_end = OPERAND_VCC,
    .has_null = true,
    .has_dpp8 = true,
    .vop3_literals = true,
    .cmpx_only_exec = true,
    .at = {.none = OPERAND_NULL,
           .smem = {.glc = 16, .dlc = 14},
           .ds = {18, 17},
           .flat = {.offset_bits = 12, .dlc = 12},
           .buffer = {.dlc = 15, .slc = 32 + 22, .tfe = 32 + 23}},
    .vop3_ranges = vop3_ranges_gfx10,
    FORMATS(formats_gfx10),
};

static const format_t *find_format(const family_t *family, uint32_t word) {
  for (size_t i = 0; i < family->format_count; i++)
    if ((word & family->formats[i].mask) == family->formats[i].value)
      return &family->formats[i];
  return NULL;
}

static bool decode_words(decoder_t *d) {
  const format_t *format = d->count > 0 ? find_format(d->family, d->w0) : NULL;
  if (!format || 4 * d->count < format->size)
    return false;
  d->in->size = format->size;
  d->base_words = format->size / 4;
  d->w1 = format->size == 8 ? d->words[1] : 0;
  if (!format->decode(d))
    return false;
  set_summary(d);
  return true;
}

bool gs_decode(gs_target_t target, const uint32_t *words, size_t count, gs_inst_t *inst) {
  decoder_t d = {.target = target,
                 .family = target & GS_GFX9 ? &gfx9 : &gfx10,
                 .words = words,
                 .count = count,
                 .in = inst};
  memset(inst, 0, sizeof *inst);
  d.w0 = inst->word[0] = count > 0 ? words[0] : 0;
  inst->word[1] = count > 1 ? words[1] : 0;
  if (decode_words(&d)) {
    inst->op = d.op;
    return true;
  }
  /* Nothing that was found so far must be taken for an instruction. */
  const uint32_t found[2] = {inst->word[0], inst->word[1]};
  memset(inst, 0, sizeof *inst);
  inst->word[0] = found[0];
  inst->word[1] = found[1];
  inst->size = 4;
  return false;
}
