/* Double-precision arithmetic: add, multiply, fused multiply-add, minimum, maximum, rounding to integers,
 * exponents, and the pieces of 2/pi with which arguments of sin and cos are reduced. Not here: rcp, rsq, sqrt
 * (op_vtrans.c), division (op_vdiv.c), conversions (op_vcvt.c). */
#include "isa/float.h"

GS_F64_SUM_2(v_add_f64, gs_strip_add64, gs_add64(a, b))
GS_F64_SUM_2(v_mul_f64, gs_strip_mul64, gs_mul64(a, b))
GS_F64_SUM_3(v_fma_f64, gs_strip_fma64, gs_fma64(a, b, c))
GS_F64_SUM_ACC_3(v_fmac_f64, gs_strip_fma64, gs_fma64(a, b, c))

/* The signaling NaNs of these are the rule's. */
#define GS_SETUP_RULE                                                                                        \
  const gs_nan_rule64_t rule = gs_nan_rule64(w);                                                             \
  signals = false
GS_F64_SHAPE_2(v_min_f64, GS_SETUP_RULE, (void)0, gs_min64(a, b, rule))
GS_F64_SHAPE_2(v_max_f64, GS_SETUP_RULE, (void)0, gs_max64(a, b, rule))

/* ---- To integers that stay floats ---- */

GS_F64_1_EXACT(v_trunc_f64, trunc(gs_quiet64(a)))
GS_F64_1_EXACT(v_ceil_f64, ceil(gs_quiet64(a)))
GS_F64_1_EXACT(v_floor_f64, floor(gs_quiet64(a)))
GS_F64_1_EXACT(v_rndne_f64, rint(gs_quiet64(a)))

/* The difference to the next lower integer, below 1 even where it rounds up to it, and +0 also if rounded
 * down. Infinities give NaN. The integer is found before MODE's rounding is set, under which not every host's
 * floor works. */
static inline double gs_fract(double x, double whole) {
  const double f = x - whole, below = f > 0x1.fffffffffffffp-1 ? 0x1.fffffffffffffp-1 : f;
  return below == 0.0 ? 0.0 : below;
}
GS_OP(v_fract_f64) {
  _Alignas(64) double whole[GS_LANES];
  GS_F64_SRC(0, a);
  GS_LANES_DO(l)
    whole[l] = floor(gs_get_f64(ra, l));
  GS_SIGNALS_64(ra);
  GS_F64_NAN_LOOP(gs_round64(w), (void)0, gs_fract(gs_get_f64(ra, l), whole[l]));
}

/* ---- Exponents ---- */

static inline double gs_pow2(int32_t n) {
  return gs_double_of_bits((uint64_t)(uint32_t)(n + 1023) << 52);
}
/* A part of n that gs_pow2 can do. The one for small results leaves 53 bits of room, so that if the first
 * step of gs_ldexp is not exact the result is 0 (or the least denormal) anyway and rounding twice does no
 * harm. */
static inline int32_t gs_ldexp_step(int32_t n) {
  const int32_t x = n < -1022 ? -969 : n;
  return x > 1023 ? 1023 : x;
}
static inline double gs_ldexp(double x, int32_t n) {
  const int32_t low = n < -2960 ? -2960 : n, all = low > 3069 ? 3069 : low;
  const int32_t first = gs_ldexp_step(all), second = gs_ldexp_step(all - first);
  return x * gs_pow2(first) * gs_pow2(second) * gs_pow2(all - first - second);
}
GS_OP(v_ldexp_f64) {
  GS_F64_SRC(0, a);
  gs_row_t tb;
  const gs_row_t *const rb = gs_src32(w, in, 1, &tb);
  GS_SIGNALS_64(ra);
  GS_F64_NAN_LOOP(gs_round64(w), const double a = gs_get_f64(ra, l);
                  const int32_t n = rb->i32[l], gs_ldexp(a, n));
}

/* Numbers that are not 0, infinite or NaN have a mantissa in [0.5, 1) and an exponent; the others are their
 * own mantissa and have exponent 0. Denormals are normalised first. */
static inline bool gs_has_exponent(double x) {
  const uint64_t magnitude = gs_bits_of_double(x) & ~(UINT64_C(1) << 63);
  return magnitude - 1 < UINT64_C(0x7fefffffffffffff);
}
static inline bool gs_is_denormal(double x) {
  return (gs_bits_of_double(x) & UINT64_C(0x7ff0000000000000)) == 0;
}
static inline double gs_frexp_mant(double x) {
  const uint64_t bits = gs_bits_of_double(gs_is_denormal(x) ? x * 0x1p128 : x);
  const uint64_t mantissa = (bits & UINT64_C(0x800fffffffffffff)) | UINT64_C(0x3fe0000000000000);
  return gs_has_exponent(x) ? gs_double_of_bits(mantissa) : x + x;
}
static inline int32_t gs_frexp_exp(double x) {
  const uint64_t bits = gs_bits_of_double(gs_is_denormal(x) ? x * 0x1p128 : x);
  const int32_t exponent = (int32_t)(uint32_t)(bits >> 52 & 0x7ff) - (gs_is_denormal(x) ? 1022 + 128 : 1022);
  return gs_has_exponent(x) ? exponent : 0;
}
GS_F64_1_EXACT(v_frexp_mant_f64, gs_frexp_mant(a))
GS_OP(v_frexp_exp_i32_f64) {
  GS_F64_SRC(0, a);
  gs_row_t td;
  gs_row_t *const d = gs_dst32(w, in, &td);
  GS_LANES_DO(l)
    d->i32[l] = gs_frexp_exp(gs_get_f64(ra, l));
  gs_commit32(w, in, d);
}

/* ---- 2/pi ---- */

/* The fraction of 2/pi in binary, most significant word first: 1184 bits, then zeroes. The ISA text has 17
 * more, but gfx1100 and gfx1201 were found to read zeroes there (rocm-systems, emulation/rocjitsu). */
static const uint64_t gs_two_over_pi[21] = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0,
    0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4,
    0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x5603304600000000, 0x0000000000000000,
    0x0000000000000000};

/* 53 bits of 2/pi from bit `shift` on, as an integer. Nothing follows the table. */
static inline uint64_t gs_two_over_pi_bits(uint32_t shift) {
  const uint32_t word = shift / 64 < 19 ? shift / 64 : 19, bit = shift % 64;
  const uint64_t high = gs_two_over_pi[word] << bit, low = gs_two_over_pi[word + 1] >> 1 >> (63 - bit);
  return (high | low) >> 11;
}

/* The piece number `segment` of 2/pi, moved on by what the exponent of a large argument cannot reach, with
 * the exponent that makes the product with the argument come out right; for huge arguments scaled up to stay
 * away from denormals. */
static inline double gs_trig_preop(double x, uint32_t segment) {
  const uint32_t exponent = (uint32_t)(gs_bits_of_double(x) >> 52) & 0x7ff;
  const uint32_t shift = (segment & 31) * 53 + (exponent > 1077 ? exponent - 1077 : 0);
  const int32_t scale = -53 - (int32_t)shift + (exponent >= 1968 ? 128 : 0);
  return gs_ldexp((double)gs_two_over_pi_bits(shift), scale);
}
GS_OP(v_trig_preop_f64) {
  GS_F64_SRC(0, a);
  gs_row_t tb;
  const gs_row_t *const rb = gs_src32(w, in, 1, &tb);
  gs_row_t td[2];
  const gs_dst64_t d = gs_dst64(w, in, td);
  for (unsigned l = 0; l < GS_LANES; l++)
    gs_put_f64(d, l, gs_trig_preop(gs_get_f64(ra, l), rb->u32[l]));
  gs_finish64(w, in, d);
  gs_commit64(w, in, d);
}
