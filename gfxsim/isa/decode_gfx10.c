/* Memory instructions as families after gfx9 encode them, and gfx11's pairs of vector instructions. What
 * differs between those families is in their places_t. Not here: other encodings, which they share with gfx9
 * (decode.c). */
#include "isa/decode.h"

/* As the later families have it: the offset is always there, and null says that no register is added. */
bool gs_decode_smem_gfx10(decoder_t *d) {
  if (!find(d, GS_ENC_SMEM, bits(d->w0, 25, 18)) || !smem_data(d, bits(d->w0, 12, 6)))
    return false;
  gs_inst_t *in = d->in;
  const bool is_probe = d->op->dst == GS_T_PROBE;
  const bool glc = bit(d->w0, d->family->at.smem.glc), dlc = bit(d->w0, d->family->at.smem.dlc);
  if ((is_probe || d->op->src[0] == GS_T_NONE) && d->family->gfx11 && (glc || dlc))
    return false;
  if (d->op->src[0] == GS_T_NONE)
    return true;
  in->glc = glc && !is_probe;
  in->dlc = dlc && !is_probe;
  in->imm = sign_extend(bits(d->w1, 20, 0), 21);
  const unsigned soffset = bits(d->w1, 31, 25);
  in->has_imm = in->imm != 0 || soffset == d->family->at.none;
  if (soffset != d->family->at.none && !scalar_reg_src(d, 1, soffset, 1))
    return false;
  return scalar_reg_src(d, 0, bits(d->w0, 5, 0) << 1, gs_type_dwords(d->op->src[0]));
}

/* Address registers of FLAT, GLOBAL and SCRATCH; null says that there is no scalar register. Scratch memory
 * may do without either: gfx10 has a number that says so, gfx11 a bit for the vector register. */
static bool flat_address_gfx10(decoder_t *d) {
  enum { NEITHER = 0x7f };
  const unsigned vaddr = bits(d->w1, 7, 0), saddr = bits(d->w1, 22, 16);
  const bool none = saddr == d->family->at.none;
  if (d->op->encoding == GS_ENC_FLAT)
    return none && vector_src_of(d, 0, vaddr, 2, false);
  const bool global = d->op->encoding == GS_ENC_GLOBAL;
  if (global && d->op->src[0] == GS_T_NONE) /* *_addtid */
    return none || scalar_reg_src(d, 2, saddr, 2);
  if (!global && d->family->at.flat.sve != NOWHERE)
    return saddr != NEITHER && (!bit(d->w1, 23) || vector_src_of(d, 0, vaddr, 1, false)) &&
           (none || scalar_reg_src(d, 2, saddr, 1));
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

bool gs_decode_flat_gfx10(decoder_t *d) {
  static const gs_encoding_t segments[] = {GS_ENC_FLAT, GS_ENC_SCRATCH, GS_ENC_GLOBAL};
  gs_inst_t *in = d->in;
  const places_t *const at = &d->family->at;
  const unsigned segment = d->w0 >> at->flat.segment & 3, width = at->flat.offset_bits;
  if (segment > 2 || !find(d, segments[segment], bits(d->w0, 24, 18)))
    return false;
  in->glc = bit(d->w0, at->flat.glc);
  in->slc = bit(d->w0, at->flat.slc);
  in->dlc = bit(d->w0, at->flat.dlc);
  in->lds = bit_at(d->w0, d->w1, at->flat.lds);
  const uint32_t offset = bits(d->w0, width - 1, 0);
  in->imm = segment == 0 ? (int32_t)(offset & ~(1u << (width - 1))) : sign_extend(offset, width);
  const bool spare = bit(d->w1, 23) && (at->flat.sve == NOWHERE || segment != 1);
  if ((in->lds && !has(d, GS_OPF_LDS)) || spare || !flat_address_gfx10(d) || !returns_if_it_must(d))
    return false;
  const bool returns = d->op->dst != GS_T_NONE && !in->lds && (!has(d, GS_OPF_ATOMIC) || in->glc);
  if (returns && !vector_dst(d, bits(d->w1, 31, 24), false))
    return false;
  return d->op->src[1] == GS_T_NONE || vector_src(d, 1, bits(d->w1, 15, 8), false);
}

/* Address, resource and cache policy of MUBUF and MTBUF. */
static bool buffer_operands(decoder_t *d) {
  gs_inst_t *in = d->in;
  const places_t *const at = &d->family->at;
  in->glc = bit(d->w0, at->buffer.glc);
  in->dlc = bit(d->w0, at->buffer.dlc);
  in->slc = bit_at(d->w0, d->w1, at->buffer.slc);
  in->imm = (int32_t)bits(d->w0, 11, 0);
  in->offen = bit_at(d->w0, d->w1, at->buffer.offen);
  in->idxen = bit_at(d->w0, d->w1, at->buffer.idxen);
  const unsigned dwords = (unsigned)in->offen + in->idxen;
  if (dwords && !vector_src_of(d, 0, bits(d->w1, 7, 0), dwords, false))
    return false;
  return scalar_reg_src(d, 1, bits(d->w1, 20, 16) << 2, 4) && scalar_value(d, 2, bits(d->w1, 31, 24), false);
}

bool gs_decode_mubuf_gfx10(decoder_t *d) {
  gs_inst_t *in = d->in;
  const places_t *const at = &d->family->at;
  const unsigned number = bits(d->w0, 24, 18) | (uint32_t)bit(d->w0, 25) << 7;
  if (!find(d, GS_ENC_MUBUF, number))
    return false;
  if (d->op->src[1] == GS_T_NONE)
    return d->family->gfx11 ? bits(d->w0, 14, 13) == 0 && bits(d->w1, 23, 22) == 0 : bits(d->w0, 16, 12) == 0;
  const bool to_lds = d->op->dst == GS_T_NONE, tfe = bit_at(d->w0, d->w1, at->buffer.tfe);
  in->lds = to_lds || bit_at(d->w0, d->w1, at->buffer.lds);
  in->tfe = tfe && !has(d, GS_OPF_ATOMIC) && !in->lds;
  if (!buffer_operands(d) || !returns_if_it_must(d))
    return false;
  if (in->dlc && has(d, GS_OPF_ATOMIC) && !d->family->gfx11)
    return false;
  if (in->lds)
    return has(d, GS_OPF_LDS) && !tfe;
  return buffer_data(d, false);
}

bool gs_decode_mtbuf_gfx10(decoder_t *d) {
  const places_t *const at = &d->family->at;
  const unsigned low = d->w0 >> at->buffer.typed_op & 7;
  if (!find(d, GS_ENC_MTBUF, low | (unsigned)bit_at(d->w0, d->w1, at->buffer.typed_op3) << 3))
    return false;
  d->in->tfe = false;
  const unsigned unified = bits(d->w0, 25, 19);
  d->in->imm1 = gs_format_of_unified(d->target, unified) | unified << 8;
  return buffer_operands(d) && buffer_data(d, false);
}

/* ---- Pairs ---- */

/* The first source of half `half` and its row; the second one is always a register. */
static bool dual_source(decoder_t *d, unsigned half, const gs_opcode_t *op, unsigned code) {
  enum { SECOND = 1 };
  gs_src_t *const s = d->in->src;
  d->op = op;
  if (half == SECOND) { /* its type is that of the row's first source, too */
    const gs_src_t first = s[0];
    const bool good = vector_operand(d, 0, code, false);
    s[1] = s[0];
    s[0] = first;
    return good;
  }
  return vector_operand(d, 0, code, false);
}

/* Two instructions that share a literal. The second writes the register that the first's number leaves: one
 * is odd, the other even. Hardware was seen not to look at the second source of a part that has one only. */
bool gs_decode_vopd(decoder_t *d) {
  gs_inst_t *in = d->in;
  if (!find(d, GS_ENC_VOPD, bits(d->w0, 21, 17)))
    return false;
  const gs_opcode_t *const second = d->op;
  if (!find(d, GS_ENC_VOPD, bits(d->w0, 25, 22)))
    return false;
  const gs_opcode_t *const first = d->op;
  const unsigned dst = bits(d->w1, 31, 24);
  in->dst = (uint16_t)dst;
  in->sdst = (uint16_t)(bits(d->w1, 23, 17) << 1 | (~dst & 1));
  in->imm = (int32_t)bits(d->w0, 16, 9);
  in->imm1 = bits(d->w1, 16, 9) | (uint32_t)(second - gs_opcodes) << 8;
  if (!dual_source(d, 0, first, bits(d->w0, 8, 0)) || !dual_source(d, 1, second, bits(d->w1, 8, 0)))
    return false;
  for (unsigned i = 0; i < 2; i++) {
    const gs_opcode_t *const op = i ? second : first;
    d->op = op;
    if (op->src[1] == GS_T_NONE && i)
      in->imm1 &= ~0xffu;
    else if (op->src[1] == GS_T_NONE)
      in->imm = 0;
    if ((op->src[1] == GS_T_K32 || op->src[2] == GS_T_K32) && !literal_src(d, 2))
      return false;
  }
  d->op = first;
  return true;
}
