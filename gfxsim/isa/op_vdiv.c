/* The three instructions with which compilers build correctly rounded division: div_scale keeps the steps in
 * between away from overflow and denormals, div_fmas undoes the scaling with the last correction, div_fixup
 * puts in the special cases.
 *
 * What scales, in terms of the exponent fields of numerator and denominator (f32: S = 64, far = 96; f64:
 * S = 128, far = 768), as measured on gfx1100 (rocm-systems, emulation/rocjitsu); AMD's texts ask instead
 * whether quotients are denormal:
 *   numerator's exponent far above              denominator * 2^S, div_fmas scales the result up
 *   denominator denormal                        both * 2^S
 *   1/denominator denormal, quotient far below  denominator * 2^-S, div_fmas scales the result down
 *   1/denominator denormal                      both * 2^-S
 *   numerator's exponent far below              numerator * 2^S, div_fmas scales the result down
 *   numerator so small that remainders vanish   both * 2^S
 * div_fmas tells up from down by the size of the quotient it is given. A zero on either side gives a NaN, but
 * the mask for div_fmas is as for a denormal there.
 * Not here: approximate reciprocals (op_vtrans.c). */
#include "isa/float.h"

static inline int32_t gs_pick_i32(bool condition, int32_t a, int32_t b) {
  return (int32_t)gs_pick32(gs_when32(condition), (uint32_t)a, (uint32_t)b);
}

/* The power of two by which denominator and numerator are scaled. `den` and `num` are their exponent fields;
 * later cases win over earlier ones. */
static inline int32_t gs_div_scale_den(int32_t den, int32_t num, int32_t top, int32_t over, int32_t under,
                                       int32_t tiny, int32_t by) {
  const int32_t ratio = num - den;
  int32_t n = by & -(num <= tiny) & -(ratio > under);
  n = gs_pick_i32(den >= top, -by, n);
  return gs_pick_i32((den == 0) | (ratio >= over), by, n);
}
static inline int32_t gs_div_scale_num(int32_t den, int32_t num, int32_t top, int32_t over, int32_t under,
                                       int32_t tiny, int32_t by) {
  const int32_t ratio = num - den;
  int32_t n = by & -((num <= tiny) | (ratio <= under));
  n = gs_pick_i32(den >= top, -by & -(ratio > under), n);
  n = gs_pick_i32(den == 0, by, n);
  return n & -(ratio < over);
}

/* ---- f32 ---- */

static inline int32_t gs_exponent32(float x) {
  return (int32_t)(gs_bits_of_float(x) >> 23 & 255);
}
static inline float gs_div_scale32(float value, float den, float num) {
  const int32_t ed = gs_exponent32(den), en = gs_exponent32(num);
  const int32_t nden = gs_div_scale_den(ed, en, 253, 96, -96, 24, 64);
  const int32_t nnum = gs_div_scale_num(ed, en, 253, 96, -96, 24, 64);
  const int32_t n = value == den ? nden : nnum;
  const float invalid = gs_float_of_bits(0xffc00000),
              scaled = value * gs_float_of_bits((uint32_t)(n + 127) << 23),
              unless_num = num == 0 ? invalid : scaled;
  return den == 0 ? invalid : unless_num;
}
/* Whether div_fmas has to scale back, as a row of a mask has it. */
static inline uint32_t gs_div_scaled32(float den, float num) {
  const int32_t ed = gs_exponent32(den), ratio = gs_exponent32(num) - ed;
  return gs_when32((ratio <= -96) & (ed != 0)) | gs_when32(ratio >= 96);
}

/* Whether no lane has a denominator or numerator that is scaled, as is nearly always so. */
static inline bool gs_div_ordinary32(const gs_row_t *den, const gs_row_t *num) {
  uint32_t odd = 0;
  GS_LANES_DO(l) {
    const uint32_t ed = den->u32[l] >> 23 & 255, en = num->u32[l] >> 23 & 255;
    odd |= gs_when32(ed - 1 > 251) | gs_when32(en - 25 > 229) | gs_when32(en - ed + 95 > 190);
  }
  return odd == 0;
}

GS_OP(v_div_scale_f32) {
  GS_F32_SRC(0, a);
  GS_F32_SRC(1, b);
  GS_F32_SRC(2, c);
  GS_SIGNALS_32(ra);
  gs_row_t td, back;
  gs_row_t *const d = gs_dst32(w, in, &td);
  uint64_t scaled = 0;
  if (GS_LIKELY(gs_div_ordinary32(rb, rc))) {
    GS_LANES_DO(l)
      d->f32[l] = gs_quiet32(ra->f32[l]);
  } else {
    GS_LANES_DO(l) {
      const float a = ra->f32[l], b = rb->f32[l], c = rc->f32[l];
      d->f32[l] = gs_div_scale32(a, b, c);
      back.u32[l] = gs_div_scaled32(b, c);
    }
    scaled = gs_mask_from_row(&back) & gs_exec(w);
  }
  if (signals)
    gs_put_signaling32(signaling, d);
  gs_finish32(w, in, d);
  gs_commit32(w, in, d);
  gs_write_mask(w, in->sdst, scaled);
}

/* a * b + c, times 2^64 or 2^-64, rounded once: the product is exact in double, the sum is rounded to odd
 * there when rounding is to nearest, so that the bits that are lost cannot make a tie. With directed rounding
 * both steps go the same way. */
static inline float gs_div_fmas32(float a, float b, float c, uint32_t scale_back, uint64_t nearest) {
  const double product = (double)a * (double)b, addend = (double)c, sum = product + addend;
  const double part = sum - product;
  const double error = (product - (sum - part)) + (addend - part);
  const uint64_t bits = gs_bits_of_double(sum), toward = (gs_bits_of_double(error) ^ bits) >> 63;
  const bool inexact = error < 0.0 || error > 0.0;
  const uint64_t odd = inexact && !(bits & 1) ? bits + 1 - 2 * toward : bits;
  const double exact = gs_double_of_bits(nearest ? odd : bits);
  const double factor = fabsf(c) >= 2.0f ? 0x1p64 : 0x1p-64;
  const float scaled = (float)(exact * factor);
  const float number = scale_back ? scaled : fmaf(a, b, c);
  return product != product ? gs_mul32(a, b) : gs_first_nan32(c, number);
}

/* Operands as they are: div_fmas flushes none, whatever MODE says, nor div_fixup the quotient. */
#define GS_F32_AS_IS(i, n)                                                                                   \
  gs_row_t t##n;                                                                                             \
  const gs_row_t *const r##n = gs_src32_float(w, in, i, &t##n)
#define GS_F64_AS_IS(i, n)                                                                                   \
  gs_row_t t##n[2];                                                                                          \
  const gs_row64_t r##n = gs_src64(w, in, i, true, t##n)
#define GS_F16_AS_IS(i, n)                                                                                   \
  gs_row_t t##n;                                                                                             \
  const gs_row_t *const r##n = gs_src16(w, in, i, &t##n)

GS_OP(v_div_fmas_f32) {
  GS_F32_AS_IS(0, a);
  GS_F32_AS_IS(1, b);
  GS_F32_AS_IS(2, c);
  GS_SIGNALS_32(ra, rb, rc);
  const uint64_t nearest = (w->mode >> GS_MODE_ROUND32_SHIFT & 3) == 0, scaled = gs_vcc(w);
  gs_row_t back, td;
  gs_row_t *const d = gs_dst32(w, in, &td);
  gs_round32(w);
  if (GS_LIKELY(scaled == 0)) {
    GS_LANES_DO(l)
      d->f32[l] = gs_fma32(ra->f32[l], rb->f32[l], rc->f32[l]);
  } else {
    gs_row_from_mask(scaled, &back);
    GS_LANES_DO(l)
      d->f32[l] = gs_div_fmas32(ra->f32[l], rb->f32[l], rc->f32[l], back.u32[l], nearest);
  }
  if (signals)
    gs_put_signaling32(signaling, d);
  gs_finish32(w, in, d);
  gs_commit32(w, in, d);
}

/* What results too small and too large for any rounding but MODE's become, for positive and negative ones:
 * the least denormal or 0, and how far below infinity large ones stay. The last is whether signaling NaNs
 * become quiet. */
typedef struct gs_extremes {
  bool least_positive, least_negative, short_positive, short_negative, quiet;
} gs_extremes_t;

static inline gs_extremes_t gs_extremes(const gs_wave_t *w, unsigned round_shift, unsigned denormal_shift) {
  const uint32_t round = w->mode >> round_shift & 3;
  const bool keeps = gs_keeps(w, denormal_shift, GS_KEEP_OUTPUTS);
  return (gs_extremes_t){.least_positive = round == 1 && keeps,
                         .least_negative = round == 2 && keeps,
                         .short_positive = round >= 2,
                         .short_negative = round & 1,
                         .quiet = !gs_keeps_signaling(w)};
}

/* The quotient `q` of num / den, or what it is where q cannot be right. A quotient that is infinite or no
 * number although its operands are numbers is one that overflowed on the way. */
static inline float gs_div_fixup32(float q, float den, float num, gs_extremes_t extremes) {
  const uint32_t uq = gs_bits_of_float(q), ud = gs_bits_of_float(den), un = gs_bits_of_float(num);
  const uint32_t sign = (ud ^ un) & 0x80000000, mq = uq & 0x7fffffff, md = ud & 0x7fffffff,
                 mn = un & 0x7fffffff;
  const uint32_t infinity = 0x7f800000, quiet = extremes.quiet ? 0x00400000 : 0;
  const int32_t ratio = (int32_t)(mn >> 23) - (int32_t)(md >> 23);
  const uint32_t least = sign ? extremes.least_negative : extremes.least_positive;
  const uint32_t most = infinity - (sign ? extremes.short_negative : extremes.short_positive);
  uint32_t r = sign | (mq >= infinity ? most : mq);
  r = ratio < -150 ? sign | least : r;
  r = md == infinity || mn == 0 ? sign : r;
  r = md == 0 || mn == infinity ? sign | infinity : r;
  r = (md == 0 && mn == 0) || (md == infinity && mn == infinity) ? 0xffc00000 : r;
  r = md > infinity ? ud | quiet : r;
  return gs_float_of_bits(mn > infinity ? un | quiet : r);
}

/* Whether every lane keeps its quotient, as is nearly always so: operands are normal numbers, and it is
 * neither infinite nor no number, nor too small. */
static inline bool gs_div_is_right32(const gs_row_t *q, const gs_row_t *den, const gs_row_t *num) {
  uint32_t odd = 0;
  GS_LANES_DO(l) {
    const uint32_t ed = den->u32[l] >> 23 & 255, en = num->u32[l] >> 23 & 255;
    odd |= gs_when32(ed - 1 > 253) | gs_when32(en - 1 > 253) | gs_when32(en - ed + 150 > 404) |
           gs_when32((q->u32[l] & 0x7fffffff) >= 0x7f800000);
  }
  return odd == 0;
}

/* Nor is the result flushed. */
GS_OP(v_div_fixup_f32) {
  GS_F32_AS_IS(0, a);
  GS_F32_SRC(1, b);
  GS_F32_SRC(2, c);
  const gs_extremes_t extremes = gs_extremes(w, GS_MODE_ROUND32_SHIFT, GS_MODE_DENORM32_SHIFT);
  gs_row_t td;
  gs_row_t *const d = gs_dst32(w, in, &td);
  if (GS_LIKELY(gs_div_is_right32(ra, rb, rc))) {
    GS_LANES_DO(l)
      d->u32[l] = (ra->u32[l] & 0x7fffffff) | ((rb->u32[l] ^ rc->u32[l]) & 0x80000000);
  } else {
    GS_LANES_DO(l)
      d->f32[l] = gs_div_fixup32(ra->f32[l], rb->f32[l], rc->f32[l], extremes);
  }
  if (gs_finish_needed(w, in))
    gs_finish_kept32(w, in, d);
  gs_commit32(w, in, d);
}

/* ---- f64 ---- */

static inline int32_t gs_exponent64(double x) {
  return (int32_t)((uint32_t)(gs_bits_of_double(x) >> 52) & 2047);
}
static inline double gs_div_scale64(double value, double den, double num) {
  const int32_t ed = gs_exponent64(den), en = gs_exponent64(num);
  const int32_t nden = gs_div_scale_den(ed, en, 2045, 768, -768, 53, 128);
  const int32_t nnum = gs_div_scale_num(ed, en, 2045, 768, -768, 53, 128);
  const int32_t n = value == den ? nden : nnum;
  const double invalid = gs_double_of_bits(UINT64_C(0xfff8000000000000)),
               scaled = value * gs_double_of_bits((uint64_t)(uint32_t)(n + 1023) << 52),
               unless_num = num == 0 ? invalid : scaled;
  return den == 0 ? invalid : unless_num;
}
/* Whether div_fmas has to scale back, as a row of a mask has it. */
static inline uint32_t gs_div_scaled64(double den, double num) {
  const int32_t ed = gs_exponent64(den), ratio = gs_exponent64(num) - ed;
  return gs_when32((ratio <= -768) & (ed != 0)) | gs_when32(ratio >= 768);
}

GS_OP(v_div_scale_f64) {
  GS_F64_SRC(0, a);
  GS_F64_SRC(1, b);
  GS_F64_SRC(2, c);
  GS_SIGNALS_64(ra);
  gs_row_t td[2], back;
  const gs_dst64_t d = gs_dst64(w, in, td);
  GS_LANES_DO(l) {
    const double a = gs_get_f64(ra, l), b = gs_get_f64(rb, l), c = gs_get_f64(rc, l);
    back.u32[l] = gs_div_scaled64(b, c);
    gs_put_f64(d, l, gs_div_scale64(a, b, c));
  }
  if (signals)
    gs_put_signaling64(signaling, d);
  gs_finish64(w, in, d);
  gs_commit64(w, in, d);
  gs_write_mask(w, in->sdst, gs_mask_from_row(&back) & gs_exec(w));
}

/* The sign of what rounding a * b + c to the double r lost. All steps are exact or cannot change the sign
 * (Boldo and Muller's error of an fma), as long as nothing underflows, which scaled operands do not. */
static double gs_fma_error(double a, double b, double c, double r) {
  const double product = a * b, low = fma(a, b, -product);
  const double sum = c + low, part = sum - c;
  const double sum_low = (c - (sum - part)) + (low - part);
  const double all = product + sum, all_part = all - product;
  const double all_low = (product - (all - all_part)) + (sum - all_part);
  return ((all - r) + all_low) + sum_low;
}

/* The same of a small r, whose product may underflow: then the product is far below c and the error has its
 * sign, or c is 0 and it does not matter. */
static double gs_small_fma_error(double a, double b, double c, double r) {
  const bool swap = fabs(a) > fabs(b);
  const double small = (swap ? b : a) * 0x1p700, large = swap ? a : b, product = small * large;
  if (fabs(product) < 0x1p-500)
    return a == 0.0 || b == 0.0 ? 0.0 : copysign(1.0, a) * copysign(1.0, b);
  return gs_fma_error(small, large, c * 0x1p700, r * 0x1p700);
}

/* 2^-128 * (a * b + c) for a result that is denormal, rounded to nearest once. */
static double gs_scale_down64(double a, double b, double c) {
  const double r = fma(a, b, c), error = gs_small_fma_error(a, b, c, r) * (r < 0 ? -1.0 : 1.0);
  const double units = fabs(r) * 0x1p473 * 0x1p473; /* of the least denormal: 2^-1074 * 2^128 = 2^-946 */
  const uint64_t whole = (uint64_t)units;
  const double rest = units - (double)whole;
  const bool up = rest > 0.5 || (rest == 0.5 && (error > 0.0 || (error == 0.0 && (whole & 1))));
  return gs_double_of_bits((whole + up) | (gs_bits_of_double(r) & (UINT64_C(1) << 63)));
}

/* 2^-128 * (a * b + c) where a * b + c itself would be infinite; of c, which is below 2, only the sign
 * matters. */
static double gs_scale_down_large64(double a, double b, double c) {
  const bool swap = fabs(b) > fabs(a);
  const double large = swap ? b : a, other = swap ? a : b;
  return fma(large * 0x1p-128, other, copysign(c < 0.0 || c > 0.0 ? 0x1p-200 : 0.0, c));
}

static inline double gs_div_fmas64(double a, double b, double c) {
  const double r = gs_fma64(a, b, c);
  if (fabs(c) >= 2.0)
    return r * 0x1p128;
  return fabs(r) >= 0x1.fffffffffffffp1023 ? gs_scale_down_large64(a, b, c) : r * 0x1p-128;
}

/* Where lanes are scaled, which is rare. Of `twice`, the vector code's way would round denormals twice, which
 * harms rounding to nearest only. */
static void gs_div_fmas64_scaled(gs_row64_t ra, gs_row64_t rb, gs_row64_t rc, uint64_t lanes, bool twice,
                                 gs_dst64_t d) {
  uint64_t done[GS_LANES];
  for (unsigned l = 0; l < GS_LANES; l++) {
    const double a = gs_get_f64(ra, l), b = gs_get_f64(rb, l), c = gs_get_f64(rc, l), r = gs_fma64(a, b, c);
    const bool denormal = twice && fabs(c) < 2.0 && fabs(r) < 0x1p-894;
    const double scaled = denormal ? gs_scale_down64(a, b, c) : gs_div_fmas64(a, b, c);
    done[l] = gs_bits_of_double(gs_bit(lanes, l) ? scaled : r);
  }
  for (unsigned l = 0; l < GS_LANES; l++)
    gs_put_u64(d, l, done[l]);
}

GS_OP(v_div_fmas_f64) {
  GS_F64_AS_IS(0, a);
  GS_F64_AS_IS(1, b);
  GS_F64_AS_IS(2, c);
  GS_SIGNALS_64(ra, rb, rc);
  gs_row_t td[2];
  const gs_dst64_t d = gs_dst64(w, in, td);
  gs_round64(w);
  if (GS_UNLIKELY(gs_vcc(w) != 0)) {
    const bool nearest = (w->mode >> GS_MODE_ROUND64_SHIFT & 3) == 0;
    gs_div_fmas64_scaled(ra, rb, rc, gs_vcc(w),
                         nearest && gs_keeps(w, GS_MODE_DENORM64_SHIFT, GS_KEEP_OUTPUTS), d);
  } else {
    GS_LANES_DO(l)
      gs_put_f64(d, l, gs_fma64(gs_get_f64(ra, l), gs_get_f64(rb, l), gs_get_f64(rc, l)));
  }
  if (signals)
    gs_put_signaling64(signaling, d);
  gs_finish64(w, in, d);
  gs_commit64(w, in, d);
}

static inline double gs_div_fixup64(double q, double den, double num, gs_extremes_t extremes) {
  const uint64_t top = UINT64_C(1) << 63, quiet = extremes.quiet ? UINT64_C(0x0008000000000000) : 0,
                 infinity = UINT64_C(0x7ff0000000000000);
  const uint64_t uq = gs_bits_of_double(q), ud = gs_bits_of_double(den), un = gs_bits_of_double(num);
  const uint64_t sign = (ud ^ un) & top, mq = uq & ~top, md = ud & ~top, mn = un & ~top;
  const int32_t ratio = (int32_t)(uint32_t)(mn >> 52) - (int32_t)(uint32_t)(md >> 52);
  const uint64_t least = sign ? extremes.least_negative : extremes.least_positive;
  const uint64_t most = infinity - (sign ? extremes.short_negative : extremes.short_positive);
  uint64_t r = sign | (mq >= infinity ? most : mq);
  r = ratio < -1075 ? sign | least : r;
  r = md == infinity || mn == 0 ? sign : r;
  r = md == 0 || mn == infinity ? sign | infinity : r;
  r = (md == 0 && mn == 0) || (md == infinity && mn == infinity) ? UINT64_C(0xfff8000000000000) : r;
  r = md > infinity ? ud | quiet : r;
  return gs_double_of_bits(mn > infinity ? un | quiet : r);
}

GS_OP(v_div_fixup_f64) {
  GS_F64_AS_IS(0, a);
  GS_F64_SRC(1, b);
  GS_F64_SRC(2, c);
  const gs_extremes_t extremes = gs_extremes(w, GS_MODE_ROUND64_SHIFT, GS_MODE_DENORM64_SHIFT);
  gs_row_t td[2];
  const gs_dst64_t d = gs_dst64(w, in, td);
  GS_LANES_DO(l)
    gs_put_f64(d, l, gs_div_fixup64(gs_get_f64(ra, l), gs_get_f64(rb, l), gs_get_f64(rc, l), extremes));
  if (gs_finish_needed(w, in))
    gs_finish_kept64(w, in, d);
  gs_commit64(w, in, d);
}

/* ---- f16: division is done in f32, only the special cases are left. What overflowed is a large number, of
 * which FP16_OVFL makes the largest. ---- */

static inline uint32_t gs_div_fixup16(uint32_t q, uint32_t den, uint32_t num, gs_f16_limit_t limit,
                                      uint32_t quiet) {
  const uint32_t sign = (den ^ num) & 0x8000, md = den & 0x7fff, mn = num & 0x7fff, infinity = 0x7c00;
  const uint32_t mq = q & 0x7fff, most = sign ? limit.negative : limit.positive;
  uint32_t r = sign | (mq >= infinity ? most : mq);
  r = md == infinity || mn == 0 ? sign : r;
  r = md == 0 || mn == infinity ? sign | infinity : r;
  r = (md == 0 && mn == 0) || (md == infinity && mn == infinity) ? 0xfe00 : r;
  r = md > infinity ? (den & 0xffff) | quiet : r;
  return mn > infinity ? (num & 0xffff) | quiet : r;
}

/* The two differ in what happens to the other half of the destination, which the commit knows. */
#define GS_DIV_FIXUP_F16(name)                                                                               \
  GS_OP(name) {                                                                                              \
    GS_F16_AS_IS(0, a);                                                                                      \
    GS_F16_SRC(1, b);                                                                                        \
    GS_F16_SRC(2, c);                                                                                        \
    gs_row_t td;                                                                                             \
    gs_row_t *const d = gs_dst32(w, in, &td);                                                                \
    const gs_f16_limit_t limit = gs_f16_limit(w);                                                            \
    const uint32_t quiet = gs_keeps_signaling(w) ? 0 : 0x0200;                                               \
    GS_LANES_DO(l)                                                                                           \
      d->u32[l] = gs_div_fixup16(ra->u32[l], rb->u32[l], rc->u32[l], limit, quiet);                          \
    if (gs_finish_needed(w, in))                                                                             \
      gs_finish_kept16(w, in, d);                                                                            \
    gs_commit32(w, in, d);                                                                                   \
  }
GS_DIV_FIXUP_F16(v_div_fixup_f16)
GS_DIV_FIXUP_F16(v_div_fixup_legacy_f16)
