/* SOP2: scalar instructions with two sources.
 * Not here: comparisons (op_sopc.c). */
#include "isa/scalar.h"

/* Results of 32 bits; `scc` is the new SCC as an expression of a, b and the result d, or GS_KEEP_SCC. */
#define GS_SOP2_32(name, scc_expr, expr)                                                                     \
  GS_OP(name) {                                                                                              \
    const uint32_t a = gs_ssrc32(w, in, 0), b = gs_ssrc32(w, in, 1);                                         \
    const uint32_t d = (uint32_t)(expr);                                                                     \
    gs_end_scc(w, (scc_expr));                                                                               \
    gs_sdst32(w, in, d);                                                                                     \
  }
/* 64-bit sources and result. */
#define GS_SOP2_64(name, scc_expr, expr)                                                                     \
  GS_OP(name) {                                                                                              \
    const uint64_t a = gs_ssrc64(w, in, 0), b = gs_ssrc64(w, in, 1);                                         \
    const uint64_t d = (expr);                                                                               \
    gs_end_scc(w, (scc_expr));                                                                               \
    gs_sdst64(w, in, d);                                                                                     \
  }
/* 64-bit result of a 64-bit and a 32-bit source. */
#define GS_SOP2_64_32(name, scc_expr, expr)                                                                  \
  GS_OP(name) {                                                                                              \
    const uint64_t a = gs_ssrc64(w, in, 0);                                                                  \
    const uint32_t b = gs_ssrc32(w, in, 1);                                                                  \
    const uint64_t d = (expr);                                                                               \
    gs_end_scc(w, (scc_expr));                                                                               \
    gs_sdst64(w, in, d);                                                                                     \
  }

/* ---- Addition and subtraction ---- */

GS_SOP2_32(s_add_u32, d < a, a + b)
GS_SOP2_32(s_sub_u32, b > a, a - b)
GS_SOP2_32(s_add_i32, (~(a ^ b) & (a ^ d)) >> 31, a + b)
GS_SOP2_32(s_sub_i32, ((a ^ b) & (a ^ d)) >> 31, a - b)

GS_OP(s_addc_u32) {
  const uint64_t sum = (uint64_t)gs_ssrc32(w, in, 0) + gs_ssrc32(w, in, 1) + gs_read_scc(w);
  gs_write_scc(w, (uint32_t)(sum >> 32));
  gs_sdst32(w, in, (uint32_t)sum);
}

GS_OP(s_subb_u32) {
  const uint64_t difference = (uint64_t)gs_ssrc32(w, in, 0) - gs_ssrc32(w, in, 1) - gs_read_scc(w);
  gs_write_scc(w, (uint32_t)(difference >> 63));
  gs_sdst32(w, in, (uint32_t)difference);
}

GS_SOP2_32(s_absdiff_i32, d != 0, (int32_t)(a - b) < 0 ? 0 - (a - b) : a - b)

/* The carry is that of the sum of 36-bit values, so bits shifted out count too. */
#define GS_LSHL_ADD(name, shift) GS_SOP2_32(name, ((uint64_t)a << shift) + b > UINT32_MAX, (a << shift) + b)
GS_LSHL_ADD(s_lshl1_add_u32, 1)
GS_LSHL_ADD(s_lshl2_add_u32, 2)
GS_LSHL_ADD(s_lshl3_add_u32, 3)
GS_LSHL_ADD(s_lshl4_add_u32, 4)

/* ---- Multiplication: SCC stays ---- */

GS_SOP2_32(s_mul_i32, GS_KEEP_SCC, (a * b))
GS_SOP2_32(s_mul_hi_u32, GS_KEEP_SCC, ((uint64_t)a * b) >> 32)
GS_SOP2_32(s_mul_hi_i32, GS_KEEP_SCC, (uint64_t)((int64_t)(int32_t)a *(int32_t)b) >> 32)

/* ---- Selection: SCC says whether the first source was taken ---- */

GS_SOP2_32(s_min_i32, (int32_t)a < (int32_t)b, (int32_t)a < (int32_t)b ? a : b)
GS_SOP2_32(s_min_u32, a < b, a < b ? a : b)
GS_SOP2_32(s_max_i32, (int32_t)a >= (int32_t)b, (int32_t)a >= (int32_t)b ? a : b)
GS_SOP2_32(s_max_u32, a >= b, a >= b ? a : b)
GS_SOP2_32(s_cselect_b32, GS_KEEP_SCC, gs_read_scc(w) ? a : b)
GS_SOP2_64(s_cselect_b64, GS_KEEP_SCC, gs_read_scc(w) ? a : b)

/* ---- Bit logic ---- */

#define GS_LOGIC(op, expr)                                                                                   \
  GS_SOP2_32(op##_b32, d != 0, expr)                                                                         \
  GS_SOP2_64(op##_b64, d != 0, expr)
/* The formatter takes these operators for pointers. */
/* clang-format off */
GS_LOGIC(s_and, (a & b))
GS_LOGIC(s_or, a | b)
GS_LOGIC(s_xor, a ^ b)
GS_LOGIC(s_andn2, a & ~b)
GS_LOGIC(s_orn2, a | ~b)
GS_LOGIC(s_nand, ~(a & b))
GS_LOGIC(s_nor, ~(a | b))
GS_LOGIC(s_xnor, ~(a ^ b))
/* clang-format on */

/* ---- Shifts and bit fields ---- */

GS_SOP2_32(s_lshl_b32, d != 0, a << (b & 31))
GS_SOP2_32(s_lshr_b32, d != 0, a >> (b & 31))
GS_SOP2_32(s_ashr_i32, d != 0, (int32_t)a >> (b & 31))
GS_SOP2_64_32(s_lshl_b64, d != 0, a << (b & 63))
GS_SOP2_64_32(s_lshr_b64, d != 0, a >> (b & 63))
GS_SOP2_64_32(s_ashr_i64, d != 0, (uint64_t)((int64_t)a >> (b & 63)))

GS_SOP2_32(s_bfm_b32, GS_KEEP_SCC, ((UINT32_C(1) << (a & 31)) - 1) << (b & 31))
GS_OP(s_bfm_b64) {
  const uint32_t a = gs_ssrc32(w, in, 0), b = gs_ssrc32(w, in, 1);
  gs_sdst64(w, in, ((UINT64_C(1) << (a & 63)) - 1) << (b & 63));
}

/* s_bfe: the second source holds the offset in its low bits and the width in bits 22:16. */
static inline unsigned gs_bfe_width(uint32_t field) {
  return field >> 16 & 0x7f;
}
/* The low `width` bits of `value`; a width of 64 or more takes all. */
static inline uint64_t gs_low_bits(uint64_t value, unsigned width) {
  return width < 64 ? value & ((UINT64_C(1) << width) - 1) : value;
}
/* The same with the field's highest bit repeated above it. */
static inline uint64_t gs_low_bits_signed(uint64_t value, unsigned width) {
  if (width == 0 || width >= 64)
    return width ? value : 0;
  return (uint64_t)((int64_t)(value << (64 - width)) >> (64 - width));
}
GS_SOP2_32(s_bfe_u32, d != 0, gs_low_bits(a >> (b & 31), gs_bfe_width(b)))
GS_SOP2_32(s_bfe_i32, d != 0,
           gs_low_bits_signed((uint64_t)((int64_t)(int32_t)a >> (b & 31)), gs_bfe_width(b)))
GS_SOP2_64_32(s_bfe_u64, d != 0, gs_low_bits(a >> (b & 63), gs_bfe_width(b)))
GS_SOP2_64_32(s_bfe_i64, d != 0, gs_low_bits_signed((uint64_t)((int64_t)a >> (b & 63)), gs_bfe_width(b)))

GS_SOP2_32(s_pack_ll_b32_b16, GS_KEEP_SCC, (a & 0xffff) | b << 16)
GS_SOP2_32(s_pack_lh_b32_b16, GS_KEEP_SCC, (a & 0xffff) | (b & 0xffff0000))
GS_SOP2_32(s_pack_hl_b32_b16, GS_KEEP_SCC, a >> 16 | b << 16)
GS_SOP2_32(s_pack_hh_b32_b16, GS_KEEP_SCC, a >> 16 | (b & 0xffff0000))

/* ---- Control flow ---- */

GS_OP(s_cbranch_g_fork) {
  gs_wave_fork(w, gs_ssrc64(w, in, 0), gs_ssrc64(w, in, 1) & ~UINT64_C(3));
}

GS_OP(s_rfe_restore_b64) {
  gs_wave_illegal(w, in); /* privileged: only a trap handler returns from an exception */
}
