/* Reciprocals, roots, powers of two, logarithms, sine and cosine, of all widths.
 *
 * The hardware approximates these; here reciprocals and roots are rounded correctly, and the rest is computed
 * in double and rounded once, which is within the hardware's error bounds. MODE's rounding does not matter to
 * approximations. The f32 unit knows no denormals, whatever MODE says; those of f16 and f64 do. That is gfx9,
 * and sine and cosine of gfx10. Not here: full division (op_vdiv.c), and what cards of later families give
 * bit for bit (op_vapprox.c). */
#include "isa/float.h"

/* ---- In double, without branches or calls ---- */

/* Adding it rounds to an integer, which then is in the low bits. */
#define GS_TO_INTEGER 0x1.8p52

/* 2^x; at the ends 0 and infinity as a float. The Taylor series of e^y for |y| <= ln(2)/2 is exact to 10^-14.
 */
static inline double gs_exp2(double x) {
  const double low = x > -200.0 ? x : -200.0, n = low < 200.0 ? low : 200.0;
  const double whole = n + GS_TO_INTEGER;
  const double y = (n - (whole - GS_TO_INTEGER)) * 0x1.62e42fefa39efp-1;
  double p = 1.0 / 39916800.0;
  p = p * y + 1.0 / 3628800.0;
  p = p * y + 1.0 / 362880.0;
  p = p * y + 1.0 / 40320.0;
  p = p * y + 1.0 / 5040.0;
  p = p * y + 1.0 / 720.0;
  p = p * y + 1.0 / 120.0;
  p = p * y + 1.0 / 24.0;
  p = p * y + 1.0 / 6.0;
  p = p * y + 0.5;
  p = p * y + 1.0;
  p = p * y + 1.0;
  const double scale = gs_double_of_bits((gs_bits_of_double(whole) + 1023) << 52);
  return x == x ? p * scale : x + x;
}

/* log2(x). The mantissa m is taken from [sqrt(1/2), sqrt(2)), and log(m) = 2 atanh((m - 1) / (m + 1)). */
static inline double gs_log2(double x) {
  const uint64_t root_half = UINT64_C(0x3fe6a09e667f3bcd), one = UINT64_C(0x3ff0000000000000);
  const uint64_t bits = gs_bits_of_double(x) + (one - root_half);
  const double m = gs_double_of_bits((bits & UINT64_C(0x000fffffffffffff)) + root_half);
  const uint64_t exponent = (bits >> 52) - 1023;
  const double k = gs_double_of_bits(gs_bits_of_double(GS_TO_INTEGER) + exponent) - GS_TO_INTEGER;
  const double s = (m - 1.0) / (m + 1.0), z = s * s;
  double p = 1.0 / 17.0;
  p = p * z + 1.0 / 15.0;
  p = p * z + 1.0 / 13.0;
  p = p * z + 1.0 / 11.0;
  p = p * z + 1.0 / 9.0;
  p = p * z + 1.0 / 7.0;
  p = p * z + 1.0 / 5.0;
  p = p * z + 1.0 / 3.0;
  p = p * z + 1.0;
  const double finite = k + s * p * 0x1.71547652b82fep+1;
  const double special = x == 0.0 ? -(double)INFINITY : x < 0.0 ? (double)NAN : x + x;
  return x > 0.0 && x < (double)INFINITY ? finite : special;
}

/* sin(2 pi x): x is reduced to a quarter turn around a multiple of a half turn, odd ones of which change the
 * sign. */
static inline double gs_sin_turns(double x) {
  const double halves = 2.0 * x + GS_TO_INTEGER;
  const double y = (x - 0.5 * (halves - GS_TO_INTEGER)) * 0x1.921fb54442d18p+2, z = y * y;
  double p = -1.0 / 121645100408832000.0;
  p = p * z + 1.0 / 355687428096000.0;
  p = p * z - 1.0 / 1307674368000.0;
  p = p * z + 1.0 / 6227020800.0;
  p = p * z - 1.0 / 39916800.0;
  p = p * z + 1.0 / 362880.0;
  p = p * z - 1.0 / 5040.0;
  p = p * z + 1.0 / 120.0;
  p = p * z - 1.0 / 6.0;
  p = p * z + 1.0;
  return gs_double_of_bits(gs_bits_of_double(p * y) ^ gs_bits_of_double(halves) << 63);
}
/* Floats from there on are whole turns. Infinities give NaN. No domain ends at 256 turns, as Vega's manual
 * still has it: compilers (LLVM, Mesa) reduce arguments for earlier families only. */
static inline double gs_part_of_turn(double x) {
  return fabs(x) < 0x1p24 ? x : x - x;
}
static inline double gs_sin(double x) {
  return gs_sin_turns(gs_part_of_turn(x));
}
static inline double gs_cos(double x) {
  return gs_sin_turns(fabs(gs_part_of_turn(x)) + 0.25);
}

/* ---- f32 ---- */

#define GS_TRANS_F32(name, expr)                                                                             \
  static inline float gs_trans_##name(float a) {                                                             \
    return gs_flush32((float)(expr));                                                                        \
  }                                                                                                          \
  GS_F32_1_EXACT(name, gs_trans_##name(gs_flush32(a)))

GS_TRANS_F32(v_rcp_f32, 1.0f / a)
GS_TRANS_F32(v_rcp_iflag_f32, 1.0f / a)
GS_TRANS_F32(v_rsq_f32, 1.0 / sqrt((double)a))
GS_TRANS_F32(v_sqrt_f32, sqrtf(a))
GS_TRANS_F32(v_exp_f32, gs_exp2((double)a))
GS_TRANS_F32(v_exp_legacy_f32, gs_exp2((double)a))
GS_TRANS_F32(v_log_f32, gs_log2((double)a))
GS_TRANS_F32(v_log_legacy_f32, gs_log2((double)a))
GS_TRANS_F32(v_sin_f32, gs_sin((double)a))
GS_TRANS_F32(v_cos_f32, gs_cos((double)a))

/* ---- f64 ---- */

GS_F64_1_EXACT(v_rcp_f64, 1.0 / a)
GS_F64_1_EXACT(v_rsq_f64, 1.0 / sqrt(a))
GS_F64_1_EXACT(v_sqrt_f64, sqrt(a))

/* ---- f16 ---- */

GS_F16_1_EXACT(v_rcp_f16, 1.0f / a)
GS_F16_1_EXACT(v_rsq_f16, (float)(1.0 / sqrt((double)a)))
GS_F16_1_EXACT(v_sqrt_f16, sqrtf(a))
GS_F16_1_EXACT(v_exp_f16, (float)gs_exp2((double)a))
GS_F16_1_EXACT(v_log_f16, (float)gs_log2((double)a))
GS_F16_1_EXACT(v_sin_f16, (float)gs_sin((double)a))
GS_F16_1_EXACT(v_cos_f16, (float)gs_cos((double)a))
