/* Operands of vector instructions that are not plain registers: constants and scalars broadcast to all
 * lanes, source modifiers, SDWA selection, DPP lane permutation, partial destinations, and GPR indexing.
 * Not here: the straight paths (lanes.h), arithmetic modifiers of results (omod and clamp, in the
 * handlers). */
#include "isa/lanes.h"

/* ---- DPP ---- */

enum {
  GS_ROW_LANES = 16,
  GS_NO_LANE = 0xff, /* beyond the row or the wave */
};

/* DPP controls; those of the first group carry a number in their low bits. */
enum {
  GS_DPP_QUAD_PERM = 0x000, /* four lane numbers of two bits */
  GS_DPP_ROW_SHL = 0x100,
  GS_DPP_ROW_SHR = 0x110,
  GS_DPP_ROW_ROR = 0x120,
  GS_DPP_ROW_SHARE = 0x150, /* row_newbcast of gfx90a */
  GS_DPP_ROW_XMASK = 0x160,

  GS_DPP_WAVE_SHL = 0x130,
  GS_DPP_WAVE_ROL = 0x134,
  GS_DPP_WAVE_SHR = 0x138,
  GS_DPP_WAVE_ROR = 0x13c,
  GS_DPP_ROW_MIRROR = 0x140,
  GS_DPP_ROW_HALF_MIRROR = 0x141,
  GS_DPP_ROW_BCAST15 = 0x142,
  GS_DPP_ROW_BCAST31 = 0x143,
};

/* The lane that lane `l` reads under a control with a number in its low four bits. A shift to the left
 * brings values from lanes with higher numbers. */
static unsigned gs_dpp_row_lane(unsigned control, unsigned l) {
  const unsigned row = l & ~15u, lane = l & 15u, n = control & 15u;
  switch (control & ~15u) {
  case GS_DPP_ROW_SHL: return lane + n < GS_ROW_LANES ? l + n : GS_NO_LANE;
  case GS_DPP_ROW_SHR: return lane >= n ? l - n : GS_NO_LANE;
  case GS_DPP_ROW_ROR: return row | ((lane - n) & 15u);
  case GS_DPP_ROW_SHARE: return row | n;
  case GS_DPP_ROW_XMASK: return row | (lane ^ n);
  default: return GS_NO_LANE;
  }
}

/* The lane that lane `l` reads. */
static unsigned gs_dpp_lane(unsigned control, unsigned l) {
  switch (control) {
  case GS_DPP_WAVE_SHL: return l + 1 < GS_LANES ? l + 1 : GS_NO_LANE;
  case GS_DPP_WAVE_ROL: return (l + 1) % GS_LANES;
  case GS_DPP_WAVE_SHR: return l > 0 ? l - 1 : GS_NO_LANE;
  case GS_DPP_WAVE_ROR: return (l - 1) % GS_LANES;
  case GS_DPP_ROW_MIRROR: return l ^ 15u;
  case GS_DPP_ROW_HALF_MIRROR: return l ^ 7u;
  case GS_DPP_ROW_BCAST15: /* the last lane of a row to the next row */
    return l >= GS_ROW_LANES ? (l & ~15u) - 1 : GS_NO_LANE;
  case GS_DPP_ROW_BCAST31: /* the last lane of the lower half to the upper half */
    return l >= 32 ? 31 : GS_NO_LANE;
  default: break;
  }
  if (control < GS_DPP_ROW_SHL)
    return (l & ~3u) | (control >> (2 * (l & 3u)) & 3u);
  return gs_dpp_row_lane(control, l);
}

/* The lane that each lane reads, and a mask of the lanes for which that lane exists and is active. */
static uint64_t gs_dpp_sources(const gs_wave_t *w, const gs_inst_t *in, uint8_t source[GS_LANES]) {
  const unsigned control = in->dpp.ctrl;
  const bool whole_wave = (control >= GS_DPP_WAVE_SHL && control <= GS_DPP_WAVE_ROR) ||
                          control == GS_DPP_ROW_BCAST15 || control == GS_DPP_ROW_BCAST31;
  for (unsigned l = 0; l < (whole_wave ? GS_LANES : GS_ROW_LANES); l++)
    source[l] = (uint8_t)gs_dpp_lane(control, l);
  /* Other controls do the same in each row. */
  for (unsigned l = GS_ROW_LANES; !whole_wave && l < GS_LANES; l++) {
    const unsigned first = source[l % GS_ROW_LANES];
    source[l] = (uint8_t)(first == GS_NO_LANE ? GS_NO_LANE : first + (l & ~15u));
  }
  if (control == GS_DPP_EIGHT)
    for (unsigned l = 0; l < GS_LANES; l++)
      source[l] = (uint8_t)((l & ~7u) | (in->imm1 >> 3 * (l & 7) & 7));
  const uint64_t exec = in->dpp.fetch_inactive ? GS_ALL_LANES : gs_exec(w);
  uint64_t found = 0;
  for (unsigned l = 0; l < GS_LANES; l++)
    found |= (uint64_t)(source[l] < GS_LANES && (exec >> source[l] % GS_LANES & 1)) << l;
  return found;
}

uint64_t gs_dpp_exec(const gs_wave_t *w, const gs_inst_t *in) {
  uint8_t source[GS_LANES];
  uint64_t lanes = in->dpp.bound_ctrl ? GS_ALL_LANES : gs_dpp_sources(w, in, source);
  for (unsigned i = 0; i < 4; i++) {
    if (!(in->dpp.row_mask >> i & 1))
      lanes &= ~(UINT64_C(0xffff) << (GS_ROW_LANES * i));
    if (!(in->dpp.bank_mask >> i & 1))
      lanes &= ~(UINT64_C(0x000f000f000f000f) << (4 * i));
  }
  return lanes & gs_exec(w);
}

/* Permutes lanes; those without a source get 0, which only bound_ctrl lets through to the destination. */
static void gs_dpp_permute(const gs_wave_t *w, const gs_inst_t *in, const gs_row_t *from, gs_row_t *to) {
  uint8_t source[GS_LANES];
  const uint64_t found = gs_dpp_sources(w, in, source);
  for (unsigned l = 0; l < GS_LANES; l++)
    to->u32[l] = found >> l & 1 ? from->u32[source[l]] : 0;
}

/* ---- SDWA ---- */

static void gs_sdwa_select(gs_field_t field, bool sign, gs_row_t *row) {
  const unsigned up = 32u - field.shift - field.bits, down = 32u - field.bits;
  GS_LANES_DO(l) {
    const uint32_t top = row->u32[l] << up;
    row->u32[l] = sign ? (uint32_t)((int32_t)top >> down) : top >> down;
  }
}

/* What an SDWA destination becomes: the low bits of the result at the selected place, and around them
 * zeroes, copies of the sign above and zeroes below, or what was there. */
static void gs_sdwa_place(const gs_inst_t *in, const gs_row_t *old, gs_row_t *result) {
  const gs_field_t field = gs_sdwa_field(in->sdwa.dst_sel);
  if (field.bits == 32)
    return;
  const uint32_t mask = ((1u << field.bits) - 1u) << field.shift;
  const uint32_t keep = in->sdwa.dst_unused == GS_UNUSED_PRESERVE ? ~mask : 0;
  const uint32_t above = ~mask & ~((1u << field.shift) - 1u);
  const uint32_t fill = in->sdwa.dst_unused == GS_UNUSED_SEXT ? above : 0;
  const unsigned shift = field.shift, up = 32u - field.bits;
  GS_LANES_DO(l) {
    const uint32_t value = result->u32[l], sign = (uint32_t)((int32_t)(value << up) >> 31);
    result->u32[l] = (value << shift & mask) | (old->u32[l] & keep) | (sign & fill);
  }
}

/* ---- Sources ---- */

/* One dword of operand `i` in every lane, without modifiers other than DPP. */
static void gs_fetch_dword(gs_wave_t *w, const gs_inst_t *in, unsigned i, unsigned part, gs_row_t *tmp) {
  const gs_src_t *s = &in->src[i];
  switch (s->kind) {
  case GS_SRC_VGPR:
    if (s->mods & GS_MOD_DPP)
      gs_dpp_permute(w, in, &w->v[s->reg + part], tmp);
    else
      gs_copy_row(&w->v[s->reg + part], tmp);
    break;
  case GS_SRC_SGPR: gs_broadcast(w->s.u32[s->reg + part], tmp); break;
  case GS_SRC_CONST: gs_broadcast((uint32_t)(s->value >> (32 * part)), tmp); break;
  case GS_SRC_SPECIAL: gs_broadcast((uint32_t)(gs_special_value(w, in, i) >> (32 * part)), tmp); break;
  default: gs_broadcast(0, tmp); break;
  }
}

const gs_row_t *gs_fetch_slow(gs_wave_t *w, const gs_inst_t *in, unsigned i, unsigned bits, gs_row_t *tmp) {
  const unsigned mods = in->src[i].mods;
  gs_fetch_dword(w, in, i, 0, tmp);
  if (GS_LIKELY(mods == 0))
    return tmp;
  if (mods & GS_MOD_SDWA)
    gs_sdwa_select(gs_sdwa_field(in->sdwa.src_sel[i & 1]), mods & GS_MOD_SEXT, tmp);
  if (mods & GS_MOD_HI)
    gs_sdwa_select(gs_sdwa_field(GS_SEL_WORD1), false, tmp);
  if (mods & (GS_MOD_ABS | GS_MOD_NEG))
    gs_apply_sign(tmp, mods, 1u << (bits - 1), tmp);
  return tmp;
}

const gs_row_t *gs_fetch_slow64(gs_wave_t *w, const gs_inst_t *in, unsigned i, unsigned part, bool is_float,
                                gs_row_t *tmp) {
  gs_fetch_dword(w, in, i, part, tmp);
  if (is_float && part == 1)
    gs_apply_sign(tmp, in->src[i].mods, 1u << 31, tmp);
  return tmp;
}

/* ---- Destinations ---- */

void gs_lane_mask_update(gs_wave_t *w, uint64_t exec) {
  gs_row_from_mask(exec, &w->lane_mask);
  w->lane_mask_exec = exec;
}

void gs_commit_slow(gs_wave_t *w, const gs_inst_t *in, gs_row_t *result) {
  const gs_row_t *old = &w->v[in->dst];
  if (in->form == GS_FORM_SDWA) {
    gs_sdwa_place(in, old, result);
  } else if (in->dst_hi) {
    GS_LANES_DO(l) {
      result->u32[l] = result->u32[l] << 16 | (old->u32[l] & 0xffffu);
    }
  } else if (in->op->flags & GS_OPF_PRESERVE_HI) {
    GS_LANES_DO(l) {
      result->u32[l] = (result->u32[l] & 0xffffu) | (old->u32[l] & 0xffff0000u);
    }
  }
  gs_write_row(w, in->dst, result, gs_vexec(w, in));
}

/* ---- Modes that change what instructions do: GPR indexing, skipping ---- */

/* M0 while MODE.GPR_IDX_EN is set. */
enum { GS_IDX_MASK = 0xff, GS_IDX_SRC0_BIT = 12, GS_IDX_DST_BIT = 15 };

static void do_nothing(gs_wave_t *w, const gs_inst_t *in) {
  (void)w;
  (void)in;
}

static const gs_inst_t *skip(const gs_inst_t *in, gs_inst_t *copy) {
  *copy = *in;
  copy->fn = do_nothing;
  return copy;
}

const gs_inst_t *gs_mode_apply(const gs_wave_t *w, const gs_inst_t *in, gs_inst_t *copy) {
  const uint32_t m0 = w->s.u32[GS_S_M0], index = m0 & GS_IDX_MASK;
  if (in->op == NULL || in->op->encoding < GS_ENC_VOP1)
    return in;
  if (w->mode & GS_MODE_VSKIP)
    return skip(in, copy);
  if (in->op->encoding > GS_ENC_VOP3P)
    return in;
  *copy = *in;
  for (unsigned i = 0; i < 3; i++) {
    gs_src_t *s = &copy->src[i];
    if (s->kind == GS_SRC_VGPR && s->reg < GS_ARCH_VGPRS && (m0 >> (GS_IDX_SRC0_BIT + i) & 1))
      s->reg = (uint16_t)(s->reg + index < GS_ARCH_VGPRS ? s->reg + index : 0);
  }
  const bool vector_dst = in->op->encoding != GS_ENC_VOPC && !(in->op->flags & GS_OPF_SCALAR_DST);
  if (vector_dst && in->dst < GS_ARCH_VGPRS && (m0 >> GS_IDX_DST_BIT & 1)) {
    copy->dst = (uint16_t)(in->dst + index);
    if (copy->dst >= GS_ARCH_VGPRS)
      copy->fn = do_nothing;
  }
  return copy;
}
