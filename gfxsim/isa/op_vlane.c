/* Vector instructions that move values: within a lane, between lanes and scalar registers, and by a mask;
 * and those that do nothing.
 * Not here: DPP permutations, which are a property of operands (operand.c), and permutations through LDS
 * (op_ds.c). */
#include "isa/scalar.h"

GS_OP(v_mov_b32) {
  gs_row_t ta, td;
  GS_VOP_SRC(0, a);
  gs_row_t *const d = gs_dst32(w, in, &td);
  if (d != ra)
    gs_copy_row(ra, d);
  gs_commit32(w, in, d);
}

/* No effect here: there are no VALU exceptions to clear. */
GS_OP(v_nop) {
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

/* The lowest active lane, or lane 0 when there is none. */
GS_OP(v_readfirstlane_b32) {
  gs_row_t ta;
  GS_VOP_SRC(0, a);
  const uint64_t exec = gs_exec(w);
  w->s.u32[in->dst] = ra->u32[exec ? (unsigned)__builtin_ctzll(exec) : 0];
}

/* EXEC plays no part in these two. */
GS_OP(v_readlane_b32) {
  gs_row_t ta;
  GS_VOP_SRC(0, a);
  w->s.u32[in->dst] = ra->u32[gs_ssrc32(w, in, 1) % GS_LANES];
}
GS_OP(v_writelane_b32) {
  w->v[in->dst].u32[gs_ssrc32(w, in, 1) % GS_LANES] = gs_ssrc32(w, in, 0);
}
