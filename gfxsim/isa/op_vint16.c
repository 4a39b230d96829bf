/* Vector instructions on 16-bit integers that are not packed. Which ones keep bits 31:16 of their
 * destination is said by GS_OPF_PRESERVE_HI in ops.def and done by the commit; the others write zeroes
 * there.
 * Not here: packed halves (op_vpk_int.c, op_vdot.c), conversions. */
#include "isa/vint.h"

/* The formatter would take products and masks of macro arguments for pointers. */
/* clang-format off */

GS_VARITH_2(v_add_u16, 16, u16, u16, a + b)
GS_VARITH_2(v_sub_u16, 16, u16, u16, a - b)
GS_VARITH_2(v_subrev_u16, 16, u16, u16, b - a)
GS_VARITH_2(v_add_i16, 16, i16, i16, a + b)
GS_VARITH_2(v_sub_i16, 16, i16, i16, a - b)
GS_VARITH_2(v_mul_lo_u16, 16, u16, u16, a * b)
GS_VARITH_3(v_mad_u16, 16, 16, u16, u16, a * b + c)
GS_VARITH_3(v_mad_i16, 16, 16, i16, i16, a * b + c)
GS_VARITH_3(v_mad_legacy_u16, 16, 16, u16, u16, a * b + c)
GS_VARITH_3(v_mad_legacy_i16, 16, 16, i16, i16, a * b + c)

/* Shifts look at four bits of the count. */
GS_V16_2(v_lshlrev_b16, u16, b << (a & 15))
GS_V16_2(v_lshrrev_b16, u16, b >> (a & 15))
GS_V16_2(v_ashrrev_i16, i16, b >> (a & 15))

GS_V16_2(v_min_u16, u16, gs_min_u32(a, b))
GS_V16_2(v_max_u16, u16, gs_max_u32(a, b))
GS_V16_2(v_min_i16, i16, gs_min_i32(a, b))
GS_V16_2(v_max_i16, i16, gs_max_i32(a, b))
GS_V16_3(v_min3_u16, u16, gs_min_u32(gs_min_u32(a, b), c))
GS_V16_3(v_max3_u16, u16, gs_max_u32(gs_max_u32(a, b), c))
GS_V16_3(v_med3_u16, u16, gs_max_u32(gs_min_u32(a, b), gs_min_u32(gs_max_u32(a, b), c)))
GS_V16_3(v_min3_i16, i16, gs_min_i32(gs_min_i32(a, b), c))
GS_V16_3(v_max3_i16, i16, gs_max_i32(gs_max_i32(a, b), c))
GS_V16_3(v_med3_i16, i16, gs_max_i32(gs_min_i32(a, b), gs_min_i32(gs_max_i32(a, b), c)))

GS_V16_3(v_bitop3_b16, u16, gs_by_table((uint32_t)gs_immediate(in), a, b, c))

/* ---- Of gfx11, where operands may be upper halves of registers ---- */

GS_V16_2(v_and_b16, u16, a & b)
GS_V16_2(v_or_b16, u16, a | b)
GS_V16_2(v_xor_b16, u16, a ^ b)

/* `from` says how the operand is read. */
#define GS_V16_1(name, from, mask, expr)                                                                     \
  GS_OP(name) {                                                                                              \
    gs_row_t ta, td;                                                                                         \
    const gs_row_t *const ra = gs_src16(w, in, 0, &ta);                                                      \
    gs_row_t *const d = gs_dst32(w, in, &td);                                                                \
    GS_LANES_DO(l) {                                                                                         \
      const __typeof__(gs_as_##from(0)) a = gs_as_##from(ra->u32[l]);                                        \
      d->u32[l] = (uint32_t)(expr)&mask;                                                                     \
    }                                                                                                        \
    gs_commit32(w, in, d);                                                                                   \
  }
GS_V16_1(v_mov_b16, u16, 0xffffu, a)
GS_V16_1(v_not_b16, u16, 0xffffu, ~a)
GS_V16_1(v_cvt_i32_i16, i16, UINT32_MAX, a)
GS_V16_1(v_cvt_u32_u16, u16, UINT32_MAX, a)

/* src1 where the mask has a bit, else src0; neg and abs change sign bits of raw values. */
GS_OP(v_cndmask_b16) {
  gs_row_t ta, tb, td;
  const gs_row_t *const ra = gs_src16(w, in, 0, &ta), *const rb = gs_src16(w, in, 1, &tb);
  gs_row_t *const d = gs_dst32(w, in, &td);
  gs_select_row(gs_src_mask(w, in, 2), ra, rb, d);
  gs_commit32(w, in, d);
}

/* Half `high` of register `reg` in the low bits of `value`. */
static inline void put_half(gs_wave_t *w, unsigned reg, bool high, const gs_row_t *value) {
  const unsigned shift = high ? 16 : 0;
  gs_row_t result;
  GS_LANES_DO(l)
    result.u32[l] = (w->v[reg].u32[l] & ~(0xffffu << shift)) | (value->u32[l] & 0xffffu) << shift;
  gs_write_row(w, reg, &result, gs_exec(w));
}
GS_OP(v_swap_b16) {
  const gs_src_t *const s = &in->src[0];
  gs_row_t old_dst, old_src;
  GS_LANES_DO(l)
    old_dst.u32[l] = w->v[in->dst].u32[l] >> (in->dst_hi ? 16 : 0);
  GS_LANES_DO(l)
    old_src.u32[l] = w->v[s->reg].u32[l] >> (s->mods & GS_MOD_HI ? 16 : 0);
  put_half(w, in->dst, in->dst_hi, &old_src);
  put_half(w, s->reg, s->mods & GS_MOD_HI, &old_dst);
}
