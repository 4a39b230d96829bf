/* Vector instructions that move values: within a lane, between lanes and scalar registers, and by a mask;
 * and those that do nothing.
 * Not here: DPP permutations, which are a property of operands (operand.c), and permutations through LDS
 * (op_ds.c). */
#include "isa/scalar.h"

GS_OP(v_mov_b32) {
  gs_row_t ta, td;
  GS_VOP_SRC(0, a);
  gs_row_t *const d = gs_dst32(w, in, &td);
#ifndef GS_STENCIL /* which asks nothing */
  if (d != ra)
#endif
    gs_copy_row(ra, d);
  gs_commit32(w, in, d);
}

GS_OP(v_mov_b64) {
  gs_row_t ta[2], td[2];
  const gs_row64_t ra = gs_src64(w, in, 0, false, ta);
  const gs_dst64_t d = gs_dst64(w, in, td);
  GS_LANES_DO(l)
    gs_put_u64(d, l, gs_get_u64(ra, l));
  gs_commit64(w, in, d);
}

/* No effect here: there are no VALU exceptions to clear. */
GS_OP(v_nop) {
  (void)w;
  (void)in;
}
GS_OP(v_pipeflush) {
  (void)w;
  (void)in;
}
GS_OP(v_clrexcp) {
  (void)w;
  (void)in;
}

/* Which of four shader engines own a part of a rectangle. The screen is cut into tiles of 32 x 32 pixels;
 * the operand holds bits 6:5 of the rectangle's x_min, y_min, x_max and y_max from the top bit down, so
 * that a rectangle reaches from the first tile to the last one modulo 4. Tile (x, y) belongs to engine
 * {x[0] ^ y[1], y[0] ^ x[1]}. */
static inline uint32_t gs_screen_partition(uint32_t select) {
  const uint32_t x = select >> 6 & 3, y = select >> 4 & 3;
  const uint32_t width = ((select >> 2) - x) & 3, height = (select - y) & 3;
  uint32_t engines = 0;
  for (uint32_t i = 0; i < 16; i++) {
    const uint32_t dx = i >> 2, dy = i & 3, tx = (x + dx) & 3, ty = (y + dy) & 3;
    const uint32_t engine = ((tx ^ ty >> 1) & 1) << 1 | ((ty ^ tx >> 1) & 1);
    engines |= (uint32_t)(dx <= width && dy <= height) << engine;
  }
  return engines;
}
GS_V32_1(v_screen_partition_4se_b32, u32, gs_screen_partition(a))

/* src1 where the mask has a bit, else src0; neg and abs change sign bits of raw values. */
GS_OP(v_cndmask_b32) {
  gs_row_t ta, tb, td;
  GS_VOP_SRC(0, a);
  GS_VOP_SRC(1, b);
  gs_row_t *const d = gs_dst32(w, in, &td);
  gs_select_row(gs_src_mask(w, in, 2), ra, rb, d);
  gs_commit32(w, in, d);
}

GS_OP(v_swap_b32) {
  gs_row_t old_dst, old_src;
  gs_copy_row(&w->v[in->dst], &old_dst);
  gs_copy_row(&w->v[in->src[0].reg], &old_src);
  gs_write_row(w, in->dst, &old_src, gs_exec(w));
  gs_write_row(w, in->src[0].reg, &old_dst, gs_exec(w));
}

/* ---- Registers by number ---- */

/* v_mov_b32 with other registers. Beyond the last, sources are v0, and destinations are dropped. */
static void move_relative(gs_wave_t *w, const gs_inst_t *in, uint32_t from, uint32_t to) {
  gs_inst_t copy = *in;
  if (copy.src[0].kind == GS_SRC_VGPR)
    copy.src[0].reg = (uint16_t)(copy.src[0].reg + from < GS_ARCH_VGPRS ? copy.src[0].reg + from : 0);
  if (copy.dst + to >= GS_ARCH_VGPRS)
    return;
  copy.dst = (uint16_t)(copy.dst + to);
  GS_OP_SYMBOL(v_mov_b32)(w, &copy);
}
/* The parts of M0 that move the source and the destination. */
static inline uint32_t from_of(const gs_wave_t *w) {
  return w->s.u32[GS_S_M0] & 0x3ff;
}
static inline uint32_t to_of(const gs_wave_t *w) {
  return w->s.u32[GS_S_M0] >> 16 & 0x3ff;
}
static inline uint32_t limited_m0(const gs_wave_t *w) {
  const uint32_t m0 = w->s.u32[GS_S_M0];
  return m0 < GS_ARCH_VGPRS ? m0 : GS_ARCH_VGPRS;
}
GS_OP(v_movreld_b32) {
  move_relative(w, in, 0, limited_m0(w));
}
GS_OP(v_movrels_b32) {
  move_relative(w, in, limited_m0(w), 0);
}
GS_OP(v_movrelsd_b32) {
  move_relative(w, in, limited_m0(w), limited_m0(w));
}
GS_OP(v_movrelsd_2_b32) {
  move_relative(w, in, from_of(w), to_of(w));
}
GS_OP(v_swaprel_b32) {
  gs_inst_t copy = *in;
  const uint32_t from = copy.src[0].reg + from_of(w), to = copy.dst + to_of(w);
  if (from >= GS_ARCH_VGPRS || to >= GS_ARCH_VGPRS)
    return;
  copy.src[0].reg = (uint16_t)from;
  copy.dst = (uint16_t)to;
  GS_OP_SYMBOL(v_swap_b32)(w, &copy);
}

/* ---- Lanes ---- */

/* Lanes read the lane of a row of 16 whose number is among the 16 of four bits: of their own row, or of the
 * one beside it. op_sel[0] has inactive lanes read, too; else op_sel[1] has them give 0, and not keep what
 * was. */
static void permute_rows(gs_wave_t *w, const gs_inst_t *in, unsigned other) {
  const uint64_t select = (uint64_t)gs_ssrc32(w, in, 2) << 32 | gs_ssrc32(w, in, 1), exec = gs_exec(w);
  const uint64_t sources = in->op_sel & 1 ? GS_ALL_LANES : exec;
  const gs_row_t *const from = &w->v[in->src[0].reg];
  uint64_t lanes = 0;
  gs_row_t result;
  for (unsigned l = 0; l < GS_LANES; l++) {
    const unsigned source = ((l & ~15u) ^ other) | (unsigned)(select >> (4 * (l & 15u)) & 15);
    const bool found = sources >> source & 1;
    result.u32[l] = found ? from->u32[source] : 0;
    lanes |= (uint64_t)(found || (in->op_sel & 2)) << l;
  }
  gs_write_row(w, in->dst, &result, lanes & exec);
}
GS_OP(v_permlane16_b32) {
  permute_rows(w, in, 0);
}
GS_OP(v_permlanex16_b32) {
  permute_rows(w, in, 16);
}

/* The lowest active lane, or lane 0 when there is none. */
GS_OP(v_readfirstlane_b32) {
  gs_row_t ta;
  GS_VOP_SRC(0, a);
  const uint64_t exec = gs_exec(w);
  gs_write_sgpr32(w, in->dst, ra->u32[exec ? (unsigned)__builtin_ctzll(exec) : 0]);
}

/* EXEC plays no part in these two. */
GS_OP(v_readlane_b32) {
  gs_row_t ta;
  GS_VOP_SRC(0, a);
  gs_write_sgpr32(w, in->dst, ra->u32[gs_ssrc32(w, in, 1) % GS_LANES]);
}
GS_OP(v_writelane_b32) {
  gs_row(w, in->dst)->u32[gs_ssrc32(w, in, 1) % GS_LANES] = gs_ssrc32(w, in, 0);
}

/* The two halves of a wave change places; inactive lanes are sources, too. */
GS_OP(v_permlane64_b32) {
  gs_row_t result;
  if (GS_LANES == 32)
    return;
  for (unsigned l = 0; l < GS_LANES; l++)
    result.u32[l] = w->v[in->src[0].reg].u32[l ^ 32];
  gs_write_row(w, in->dst, &result, gs_exec(w));
}

/* Rows of 16 lanes, or halves of a wave, of two registers change places: an even one of the first operand
 * with the odd one behind it of the destination. Lanes that are not active do not give what they have, unless
 * op_sel[0] says so: what would get it keeps its value, or is 0 by op_sel[1], as with v_permlane16. */
static void swap_rows(gs_wave_t *w, const gs_inst_t *in, unsigned distance) {
  const uint64_t exec = gs_exec(w), sources = in->op_sel & 1 ? GS_ALL_LANES : exec;
  const gs_row_t a = w->v[in->src[0].reg], d = w->v[in->dst];
  gs_row_t to_a = a, to_d = d;
  for (unsigned l = 0; l < GS_LANES; l++) {
    const unsigned other = l ^ distance;
    const bool found = sources >> other & 1;
    if (!found && !(in->op_sel & 2))
      continue;
    if (l & distance)
      to_d.u32[l] = found ? a.u32[other] : 0;
    else
      to_a.u32[l] = found ? d.u32[other] : 0;
  }
  gs_write_row(w, in->src[0].reg, &to_a, exec);
  gs_write_row(w, in->dst, &to_d, exec);
}
GS_OP(v_permlane16_swap_b32) {
  swap_rows(w, in, 16);
}
GS_OP(v_permlane32_swap_b32) {
  swap_rows(w, in, 32);
}
