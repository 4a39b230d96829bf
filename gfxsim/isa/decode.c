/* From encoded words to decoded instructions: the only place that knows bit positions.
 * Every field that an instruction does not have must be zero where the assembler leaves no freedom, unless
 * hardware was seen to ignore it; every operand must name a register or constant that exists; else the words
 * are no instruction.
 *
 * Not here: which opcodes exist (ops.def), and names and texts (disasm.c). */
#include "isa/decode.h"

#include "isa/align.h"

#include <string.h>

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
bool gs_decode_find(decoder_t *d, gs_encoding_t encoding, unsigned number) {
  const uint32_t key = KEY(encoding, number);
  for (size_t i = lower_bound(key); i < KEY_COUNT && keys[i] == key; i++)
    if (gs_opcodes[i].targets & d->target) {
      d->op = &gs_opcodes[i];
      return true;
    }
  return false;
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
  if (d->op->src[0] == GS_T_SIMM16) { /* s_sendmsg_rtn */
    d->in->imm = (int32_t)bits(d->w0, 7, 0);
    return true;
  }
  if (d->op->src[0] != GS_T_NONE && !scalar_src(d, 0, bits(d->w0, 7, 0)))
    return false;
  return !has(d, GS_OPF_REG_SRC) || d->in->src[0].kind != GS_SRC_CONST;
}

static bool decode_sop2(decoder_t *d) {
  if (!find(d, GS_ENC_SOP2, bits(d->w0, 29, 23)))
    return false;
  if (d->op->dst != GS_T_NONE && !scalar_dst(d, bits(d->w0, 22, 16)))
    return false;
  /* s_fmaak and s_fmamk have a literal for their third or second source, and the field is that of the other.
   */
  const bool fmamk = d->op->src[1] == GS_T_K32, fmaak = d->op->src[2] == GS_T_K32;
  if ((fmamk && !literal_src(d, 1)) || (fmaak && !literal_src(d, 2)))
    return false;
  return scalar_src(d, 0, bits(d->w0, 7, 0)) && scalar_src(d, fmamk ? 2 : 1, bits(d->w0, 15, 8));
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
  if (d->op->number == d->family->waitcnt)
    d->in->imm1 = gs_wait_counts_of(d->target, bits(d->w0, 15, 0)).vm;
  return d->op->src[0] != GS_T_NONE || d->in->imm == 0;
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

/* ---- Vector arithmetic ---- */

static bool has_wide_operand(const gs_opcode_t *op) {
  return is_wide(op->src[0]) || (op->dst != GS_T_MASK && is_wide(op->dst));
}

/* neg and abs of source `i`, which only floats have. Sign extension by the neg bit of an integer beside a
 * float has no effect outside of SDWA but has a spelling; neg_lo remembers it. */
static bool float_mods(decoder_t *d, unsigned i, bool neg, bool abs) {
  if (is_float(d->op->src[i]) || d->op->src[i] == GS_T_V2F32) {
    d->in->src[i].mods |= (uint8_t)((neg ? GS_MOD_NEG : 0) | (abs ? GS_MOD_ABS : 0));
    return true;
  }
  if (has(d, GS_OPF_LOOSE_MODS) && d->in->form == GS_FORM_DPP && d->in->size == 12)
    d->in->neg_lo |= (uint8_t)(neg << i);
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
  if (in->form == GS_FORM_DPP && has(d, GS_OPF_REVERSED)) {
    in->src[0].mods &= (uint8_t)~GS_MOD_DPP;
    in->src[1].mods |= GS_MOD_DPP;
  }
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
    return d->target & GS_CDNA2_4;
  if (is_wide(d->op->src[0]))
    return false;
  if (control <= 0xff || control == 0x130 || control == 0x134 || control == 0x138 || control == 0x13c)
    return true;
  return (control > 0x100 && control <= 0x12f && (control & 15) != 0) ||
         (control >= 0x140 && control <= 0x143);
}

/* What a DPP dword says of lanes, and the first source. */
static bool dpp_source(decoder_t *d, uint32_t word) {
  gs_inst_t *in = d->in;
  in->form = GS_FORM_DPP;
  in->dpp.ctrl = (uint16_t)bits(word, 16, 8);
  in->dpp.bound_ctrl = bit(word, 19);
  in->dpp.fetch_inactive = d->family->has_dpp8 && bit(word, 18);
  in->dpp.bank_mask = (uint8_t)bits(word, 27, 24);
  in->dpp.row_mask = (uint8_t)bits(word, 31, 28);
  if (!dpp_control_exists(d, in->dpp.ctrl) || !vector_src(d, 0, bits(word, 7, 0), false))
    return false;
  in->src[0].mods |= GS_MOD_DPP;
  return true;
}

static bool decode_dpp(decoder_t *d) {
  if (has(d, GS_OPF_NO_DPP) || (has_wide_operand(d->op) && !(d->target & GS_CDNA2_4)) || d->count < 2)
    return false;
  d->w1 = d->words[1];
  d->in->size = 8;
  if (!dpp_source(d, d->w1) || !float_mods(d, 0, bit(d->w1, 20), bit(d->w1, 21)))
    return false;
  if (d->op->encoding == GS_ENC_VOP1)
    return bits(d->w1, 23, 22) == 0;
  return vector_src(d, 1, bits(d->w0, 16, 9), false) && float_mods(d, 1, bit(d->w1, 22), bit(d->w1, 23));
}

/* Eight lane numbers of three bits; nothing is switched off. */
static bool dpp8_source(decoder_t *d, uint32_t word, bool fetch_inactive) {
  gs_inst_t *in = d->in;
  in->form = GS_FORM_DPP;
  in->dpp.ctrl = GS_DPP_EIGHT;
  in->dpp.bound_ctrl = true;
  in->dpp.fetch_inactive = fetch_inactive;
  in->dpp.bank_mask = in->dpp.row_mask = 0xf;
  in->imm1 = word >> 8;
  if (!vector_src(d, 0, bits(word, 7, 0), false))
    return false;
  in->src[0].mods |= GS_MOD_DPP;
  return true;
}

static bool decode_dpp8(decoder_t *d, bool fetch_inactive) {
  if (has(d, GS_OPF_NO_DPP) || has_wide_operand(d->op) || d->count < 2)
    return false;
  d->w1 = d->words[1];
  d->in->size = 8;
  return dpp8_source(d, d->w1, fetch_inactive) &&
         (d->op->encoding == GS_ENC_VOP1 || vector_src(d, 1, bits(d->w0, 16, 9), false));
}

static bool is_dpp(unsigned code) {
  return code == OPERAND_DPP || code == OPERAND_DPP8 || code == OPERAND_DPP8_FI;
}

/* The first source of VOP1, VOP2 and VOPC, which also says that the instruction is of another form. */
static bool short_form_sources(decoder_t *d) {
  const unsigned code = bits(d->w0, 8, 0);
  const bool may_dpp = d->op->encoding != GS_ENC_VOPC || d->family->gfx11;
  if (code == OPERAND_SDWA)
    return !d->family->gfx11 && decode_sdwa(d);
  if (code == OPERAND_DPP)
    return may_dpp && decode_dpp(d);
  if (d->family->has_dpp8 && is_dpp(code))
    return may_dpp && decode_dpp8(d, code == OPERAND_DPP8_FI);
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
  d->halves = d->family->gfx11;
  if (!find(d, GS_ENC_VOP1, bits(d->w0, 16, 9)))
    return false;
  const unsigned vdst = bits(d->w0, 24, 17);
  const bool acc = has(d, GS_OPF_ACC_FILE);
  if (d->op->dst == GS_T_NONE)
    return vdst == 0;
  if (!(has(d, GS_OPF_SCALAR_DST) ? scalar_dst(d, vdst) : vector_dst(d, vdst, acc)))
    return false;
  const unsigned code = bits(d->w0, 8, 0);
  if (has(d, GS_OPF_REG_SRC) && code < OPERAND_VGPR && !is_dpp(code) && code != OPERAND_SDWA)
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
  d->halves = d->family->gfx11;
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
  d->halves = d->family->gfx11;
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

/* Operands that are halves of registers. */
static bool is_half(const decoder_t *d, unsigned type) {
  return type == GS_T_F16 || type == GS_T_I16 || type == GS_T_U16 || type == GS_T_BF16 ||
         (type == GS_T_B16 && d->family->has_dpp8);
}

/* Whether op_sel chooses halves. LLVM knows nothing of it in the shifts, products, minima and maxima of
 * integers that gfx10 has in VOP3 alone, but Mesa's compiler uses it there. */
static bool selects_halves(const decoder_t *d) {
  return has(d, GS_OPF_OP_SEL) || d->family->gfx11 ||
         (d->op->encoding == GS_ENC_VOP3 && has(d, GS_OPF_PRESERVE_HI));
}

/* op_sel: a bit for each source and, above them, one for the destination. */
static bool vop3_op_sel(decoder_t *d, unsigned op_sel) {
  gs_inst_t *in = d->in;
  if (!selects_halves(d))
    return true;
  if (d->op->src[2] == GS_T_NONE && (op_sel & 4) && !has(d, GS_OPF_ACC_DST))
    return !has(d, GS_OPF_OP_SEL);
  in->op_sel = has(d, GS_OPF_OP_SEL) ? (uint8_t)op_sel : 0;
  if (d->op->src[0] == GS_T_V2F16 && d->family->gfx11) /* dot products have both halves */
    in->op_sel &= 0xc;
  for (unsigned i = 0; i < 3; i++) {
    const unsigned type = d->op->src[i];
    if ((op_sel >> i & 1) && is_half(d, type))
      in->src[i].mods |= GS_MOD_HI;
  }
  in->dst_hi = (op_sel & 8) && is_half(d, d->op->dst);
  return true;
}

/* What stands in the field of a source that an instruction does not have: nothing, or, from gfx10 on, where
 * LLVM 23 puts it, the constant 0. */
static bool is_unused(const decoder_t *d, unsigned code) {
  return code == 0 || (code == OPERAND_INT && d->family->has_dpp8);
}

/* Lane numbers and masks come from scalar registers or constants, the value of v_writelane too; v_readlane's
 * from a vector register. */
static bool vop3_src(decoder_t *d, unsigned i, unsigned code) {
  const unsigned type = d->op->src[i];
  if (type == GS_T_NONE)
    return is_unused(d, code);
  if (type == GS_T_MASK)
    return (code < OPERAND_EXEC || code >= OPERAND_SHARED_BASE) && code < OPERAND_VGPR &&
           scalar_value(d, i, code, false) && d->in->src[i].kind != GS_SRC_CONST;
  if (gs_type_dwords((gs_type_t)type) >= 4)
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

/* The first source of VOP3 and VOP3P where it says that a DPP dword follows. The second one is a vector
 * register then, but on gfx11.5, and there is no room for a literal. */
static bool vop3_dpp(decoder_t *d, unsigned code) {
  if (has(d, GS_OPF_NO_DPP) || has_wide_operand(d->op) || d->count < 3)
    return false;
  const unsigned second = bits(d->w1, 17, 9);
  if (d->op->src[1] != GS_T_NONE && second < OPERAND_VGPR &&
      (!(d->target & GS_GFX11_5) || second == OPERAND_LITERAL))
    return false;
  if (d->op->src[2] != GS_T_NONE && bits(d->w1, 26, 18) == OPERAND_LITERAL)
    return false;
  d->in->size = 12;
  return code == OPERAND_DPP ? dpp_source(d, d->words[2])
                             : dpp8_source(d, d->words[2], code == OPERAND_DPP8_FI);
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
  const bool dpp = d->family->gfx11 && is_dpp(bits(d->w1, 8, 0));
  if (dpp && !vop3_dpp(d, bits(d->w1, 8, 0)))
    return false;
  for (unsigned i = dpp; i < 3; i++)
    if (!vop3_src(d, i, bits(d->w1, 9 * i + 8, 9 * i)))
      return false;
  const unsigned abs = has(d, GS_OPF_SDST) ? 0 : bits(d->w0, 10, 8), neg = bits(d->w1, 31, 29);
  if (gs_is_truth_table(d->op)) {
    in->imm = (int32_t)(bits(d->w1, 28, 27) << 6 | abs << 3 | neg);
    return !bit(d->w0, 15) && vop3_op_sel(d, bits(d->w0, 14, 11));
  }
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

enum { WMMA_F16 = 66, WMMA_BF16 = 67 }; /* the last of those on floats */

static bool decode_accvgpr(decoder_t *d) {
  const unsigned vdst = bits(d->w0, 7, 0), code = bits(d->w1, 8, 0);
  if (bits(d->w0, 13, 8) != 0 || bits(d->w1, 26, 9) != 0 || bits(d->w1, 31, 29) != 0)
    return false;
  if (has(d, GS_OPF_ACC_FILE)) /* v_accvgpr_write */
    return vector_dst(d, vdst, true) && vector_operand(d, 0, code, false);
  return vector_dst(d, vdst, false) && code >= OPERAND_VGPR && vector_src(d, 0, code - OPERAND_VGPR, true);
}

enum { BLOCK_FORMATS = 5 }; /* of factors in blocks with scales */

/* A factor, of as many registers as its format needs. */
static bool mfma_factor(decoder_t *d, unsigned i, unsigned code, bool acc) {
  const bool by_format = d->op->src[i] == GS_T_B256 && !has(d, GS_OPF_SPARSE);
  d->in->op = d->op;
  if (by_format && (i ? d->in->blgp : d->in->cbsz) >= BLOCK_FORMATS)
    return false;
  return code >= OPERAND_VGPR && vector_src_of(d, i, code - OPERAND_VGPR, gs_source_dwords(d->in, i), acc);
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
    if (!mfma_factor(d, i, code, bit(d->w1, 27 + i)))
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
  if (type == GS_T_NONE || (type == GS_T_V2B16 && i > 0 && d->op->dst != GS_T_F32))
    return mods == 0;
  return true;
}

/* Matrices of gfx11: a sum may be a constant. op_sel chooses halves of sums that are halves, and means
 * nothing to others. */
static bool wmma_fields(const decoder_t *d) {
  gs_inst_t *in = d->in;
  const unsigned number = d->op->number;
  if (number != WMMA_F16 && number != WMMA_BF16) {
    if (in->op_sel)
      return false;
    in->op_sel_hi = 7;
  }
  return !(in->clamp && number <= WMMA_BF16) && in->src[2].kind != GS_SRC_SGPR;
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
  const bool dpp = d->family->gfx11 && is_dpp(bits(d->w1, 8, 0));
  if (dpp && !vop3_dpp(d, bits(d->w1, 8, 0)))
    return false;
  for (unsigned i = dpp; i < 3; i++) {
    const unsigned code = bits(d->w1, 9 * i + 8, 9 * i);
    const bool half = (d->op->src[i] == GS_T_MIX && (in->op_sel_hi >> i & 1)) ||
                      (has(d, GS_OPF_WMMA) && (d->op->number == WMMA_F16 || d->op->number == WMMA_BF16));
    if (!packed_mods(d, i, (in->neg_lo | in->neg_hi) >> i & 1) ||
        !(d->op->src[i] == GS_T_NONE ? is_unused(d, code) : vector_operand(d, i, code, half)))
      return false;
    if (has(d, GS_OPF_WMMA) && i < 2 && code < OPERAND_VGPR)
      return false;
  }
  return !has(d, GS_OPF_WMMA) || wmma_fields(d);
}

/* ---- VINTERP ---- */

/* Laid out as VOP3, but for the count of exports to wait for where abs would be. Corners are in vector
 * registers. LLVM has the factor there, too; hardware was seen to take it from a scalar one. */
static bool decode_vinterp(decoder_t *d) {
  gs_inst_t *in = d->in;
  if (!find(d, GS_ENC_VINTERP, bits(d->w0, 22, 16)) || !vector_dst(d, bits(d->w0, 7, 0), false))
    return false;
  in->imm = (int32_t)bits(d->w0, 10, 8);
  in->clamp = bit(d->w0, 15);
  for (unsigned i = 0; i < 3; i++) {
    const unsigned code = bits(d->w1, 9 * i + 8, 9 * i);
    if (!vector_operand(d, i, code, false) || !float_mods(d, i, bit(d->w1, 29 + i), false))
      return false;
    if (in->src[i].kind != GS_SRC_VGPR && !(i == 1 && in->src[i].kind == GS_SRC_SGPR))
      return false;
  }
  const unsigned op_sel = bits(d->w0, 14, 11);
  return bits(d->w1, 28, 27) == 0 && (has(d, GS_OPF_OP_SEL) ? vop3_op_sel(d, op_sel) : op_sel == 0);
}

/* ---- Memory ---- */

/* Whether the accumulation register bit of a memory instruction is set. */
static bool acc_bit(const decoder_t *d, bool set) {
  return set && d->target & GS_CDNA2_4;
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
  /* Hardware of gfx11 was seen not to look at the destination of what has none. */
  if (d->op->dst == GS_T_NONE ? vdst != 0 && !d->family->gfx11 : !vector_dst(d, vdst, acc))
    return false;
  for (unsigned i = 0; i < 3; i++) {
    const unsigned number = bits(d->w1, 8 * i + 7, 8 * i);
    const bool is_data = i > 0 || has(d, GS_OPF_GDS);
    if (d->op->src[i] == GS_T_NONE ? number != 0 : !vector_src(d, i, number, acc && is_data))
      return false;
    note_alignment(d, number, has(d, GS_OPF_GDS)); /* of GWS single registers, too */
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
  if (d->target & GS_GFX9_4 && d->op->encoding != GS_ENC_SCRATCH && bit(d->w0, GFX942_HAS_VECTOR))
    return false;
  if (d->op->encoding == GS_ENC_FLAT)
    return saddr == 0 && vector_src_of(d, 0, vaddr, 2, false);
  if (d->target & GS_GFX9_4 && !global) {
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

/* Float atomics have no scc bit, and those of gfx908 return nothing. */
static bool atomic_bits(const decoder_t *d, bool scc_bit) {
  if (!has(d, GS_OPF_ATOMIC) || !is_float(d->op->dst) || d->target & GS_GFX9_4)
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
  in->scc = bit(d->w0, 25) && d->target & GS_CDNA2_4;
  in->nv = bit(d->w1, 23) && !(d->target & GS_CDNA2_4);
  in->lds = d->target & GS_GFX9_4 ? has(d, GS_OPF_TO_LDS) : bit(d->w0, 13);
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

/* Bits that must be clear in cache control instructions, which have no operands. */
static bool cache_control_bits(const decoder_t *d) {
  enum { BUFFER_WBL2 = 40, BUFFER_INVL2 = 41 };
  const unsigned n = d->op->number;
  if (d->target & GS_GFX9_4 && (n == BUFFER_WBL2 || n == BUFFER_INVL2)) { /* of which scope */
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
  in->scc = bit(d->w0, 15) && d->target & GS_CDNA2_4;
  in->lds = bit(d->w0, 16);
  in->tfe = bit(d->w1, 23) && !(d->target & GS_CDNA2_4) && !has(d, GS_OPF_ATOMIC) && !in->lds;
  if (!buffer_address(d) || !atomic_bits(d, in->scc) ||
      (d->op->src[0] == GS_T_NONE && (in->offen || in->idxen)))
    return false;
  if (in->lds)
    return has(d, GS_OPF_LDS) && !(bit(d->w1, 23) && (d->op->dst != GS_T_NONE || d->target & GS_CDNA2_4));
  return d->op->dst != GS_T_NONE && buffer_data(d, acc);
}

static bool decode_mtbuf(decoder_t *d) {
  gs_inst_t *in = d->in;
  if (!find(d, GS_ENC_MTBUF, bits(d->w0, 18, 15)))
    return false;
  const bool acc = acc_bit(d, bit(d->w1, 23));
  in->glc = bit(d->w0, 14);
  in->slc = bit(d->w1, 22);
  in->scc = bit(d->w1, 21) && d->target & GS_CDNA2_4;
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
    {0xfe000000, 0x7e000000, 4, decode_vop1},           {0xfe000000, 0x7c000000, 4, decode_vopc},
    {0x80000000, 0x00000000, 4, decode_vop2},           {0xff800000, 0xbe800000, 4, decode_sop1},
    {0xff800000, 0xbf000000, 4, decode_sopc},           {0xff800000, 0xbf800000, 4, decode_sopp},
    {0xf0000000, 0xb0000000, 4, decode_sopk},           {0xc0000000, 0x80000000, 4, decode_sop2},
    {0xff800000, 0xcc000000, 8, decode_vop3p},          {0xfc000000, 0xd4000000, 8, decode_vop3},
    {0xfc000000, 0xdc000000, 8, gs_decode_flat_gfx10},  {0xfc000000, 0xd8000000, 8, decode_ds},
    {0xfc000000, 0xe0000000, 8, gs_decode_mubuf_gfx10}, {0xfc000000, 0xf4000000, 8, gs_decode_smem_gfx10},
    {0xfc000000, 0xe8000000, 8, gs_decode_mtbuf_gfx10},
};

static const format_t formats_gfx11[] = {
    {0xfe000000, 0x7e000000, 4, decode_vop1},           {0xfe000000, 0x7c000000, 4, decode_vopc},
    {0x80000000, 0x00000000, 4, decode_vop2},           {0xff800000, 0xbe800000, 4, decode_sop1},
    {0xff800000, 0xbf000000, 4, decode_sopc},           {0xff800000, 0xbf800000, 4, decode_sopp},
    {0xf0000000, 0xb0000000, 4, decode_sopk},           {0xc0000000, 0x80000000, 4, decode_sop2},
    {0xff800000, 0xcc000000, 8, decode_vop3p},          {0xff800000, 0xcd000000, 8, decode_vinterp},
    {0xfc000000, 0xc8000000, 8, gs_decode_vopd},        {0xfc000000, 0xd4000000, 8, decode_vop3},
    {0xfc000000, 0xdc000000, 8, gs_decode_flat_gfx10},  {0xfc000000, 0xd8000000, 8, decode_ds},
    {0xfc000000, 0xe0000000, 8, gs_decode_mubuf_gfx10}, {0xfc000000, 0xf4000000, 8, gs_decode_smem_gfx10},
    {0xfc000000, 0xe8000000, 8, gs_decode_mtbuf_gfx10},
};

#define FORMATS(list) .formats = (list), .format_count = sizeof(list) / sizeof *(list)
static const family_t gfx9 = {
    .sgpr_last = OPERAND_SGPR_LAST,
    .tuple_end = OPERAND_SGPR_LAST + 3,
    .waitcnt = 12,
    .at = {.none = 0x7f, .ds = {17, 16}},
    .vop3_ranges = vop3_ranges_gfx9,
    FORMATS(formats_gfx9),
};
static const family_t gfx10 = {
    .sgpr_last = OPERAND_VCC - 1,
    .tuple_end = OPERAND_VCC + 2, /* which follows the last SGPR */
    .has_null = true,
    .has_dpp8 = true,
    .vop3_literals = true,
    .cmpx_only_exec = true,
    .waitcnt = 12,
    .at = {.none = OPERAND_NULL,
           .smem = {.glc = 16, .dlc = 14},
           .ds = {18, 17},
           .flat =
               {.segment = 14, .offset_bits = 12, .glc = 16, .slc = 17, .dlc = 12, .lds = 13, .sve = NOWHERE},
           .buffer = {.offen = 12,
                      .idxen = 13,
                      .glc = 14,
                      .dlc = 15,
                      .slc = 32 + 22,
                      .tfe = 32 + 23,
                      .lds = 16,
                      .typed_op = 16,
                      .typed_op3 = 32 + 21}},
    .vop3_ranges = vop3_ranges_gfx10,
    FORMATS(formats_gfx10),
};
static const family_t gfx11 = {
    .sgpr_last = OPERAND_VCC - 1,
    .tuple_end = OPERAND_VCC + 2, /* which follows the last SGPR */
    .has_null = true,
    .has_dpp8 = true,
    .vop3_literals = true,
    .cmpx_only_exec = true,
    .gfx11 = true,
    .waitcnt = 9,
    .at = {.none = OPERAND_M0,
           .smem = {.glc = 14, .dlc = 13},
           .ds = {18, 17},
           .flat = {.segment = 16,
                    .offset_bits = 13,
                    .glc = 14,
                    .slc = 15,
                    .dlc = 13,
                    .lds = NOWHERE,
                    .sve = 32 + 23},
           .buffer = {.offen = 32 + 22,
                      .idxen = 32 + 23,
                      .glc = 14,
                      .dlc = 13,
                      .slc = 12,
                      .tfe = 32 + 21,
                      .lds = NOWHERE,
                      .typed_op = 15,
                      .typed_op3 = 18}},
    .vop3_ranges = vop3_ranges_gfx10,
    FORMATS(formats_gfx11),
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

static decoder_t decoder_of(gs_target_t target, const uint32_t *words, size_t count, gs_inst_t *inst) {
  decoder_t d = {.target = target,
                 .family = target & GS_GFX9    ? &gfx9
                           : target & GS_GFX10 ? &gfx10
                                               : &gfx11,
                 .words = words,
                 .count = count,
                 .in = inst};
  memset(inst, 0, sizeof *inst);
  d.w0 = inst->word[0] = count > 0 ? words[0] : 0;
  inst->word[1] = count > 1 ? words[1] : 0;
  return d;
}

bool gs_is_misaligned(gs_target_t target, const uint32_t *words, size_t count) {
  gs_inst_t inst;
  decoder_t d = decoder_of(target, words, count, &inst);
  return decode_words(&d) && d.misaligned;
}

bool gs_decode(gs_target_t target, const uint32_t *words, size_t count, gs_inst_t *inst) {
  decoder_t d = decoder_of(target, words, count, inst);
  if (decode_words(&d) && !d.misaligned) {
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

/* ---- Waits ---- */

gs_wait_counts_t gs_wait_counts_none(gs_target_t target) {
  return (gs_wait_counts_t){.vm = 63, .exp = 7, .lgkm = target & GS_GFX9 ? 15 : 63, .vs = 63};
}

gs_wait_counts_t gs_wait_counts_of(gs_target_t target, uint32_t imm) {
  gs_wait_counts_t wait = gs_wait_counts_none(target);
  if (target & GS_GFX11) {
    wait.vm = (uint8_t)bits(imm, 15, 10);
    wait.exp = (uint8_t)bits(imm, 2, 0);
    wait.lgkm &= (uint8_t)bits(imm, 9, 4);
  } else {
    wait.vm = (uint8_t)(bits(imm, 3, 0) | bits(imm, 15, 14) << 4);
    wait.exp = (uint8_t)bits(imm, 6, 4);
    wait.lgkm &= (uint8_t)bits(imm, 13, 8);
  }
  return wait;
}
