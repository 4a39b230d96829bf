/* Reciprocals, roots, powers of two, logarithms, sine and cosine as gfx11's cards compute them (approx.h),
 * also for gfx1030, whose unit is an older version of the same. MODE's rounding does not matter to them. Not
 * here: those of gfx9, whose bits nobody published (op_vtrans.c). */
#include "isa/approx.h"
#include "isa/float.h"

/* Whether signaling NaNs become quiet. */
static inline bool gs_quiets(const gs_wave_t *w) {
  return w->mode & GS_MODE_IEEE;
}

/* ---- f32 ---- */

#define GS_APPROX_F32(name, fn)                                                                              \
  GS_OP(name) {                                                                                              \
    gs_row_t ta, td;                                                                                         \
    const gs_row_t *const ra = gs_src32_float(w, in, 0, &ta);                                                \
    gs_row_t *const d = gs_dst32(w, in, &td);                                                                \
    const bool quiet = gs_quiets(w);                                                                         \
    GS_LANES_DO(l)                                                                                           \
      d->u32[l] = fn(ra->u32[l], quiet);                                                                     \
    if (!in->plain_dst)                                                                                      \
      gs_finish_flushed32(w, in, d);                                                                         \
    gs_commit32(w, in, d);                                                                                   \
  }
GS_APPROX_F32(approx_rcp_f32, gs_rcp_f32_bits)
GS_APPROX_F32(approx_rsq_f32, gs_rsq_f32_bits)
GS_APPROX_F32(approx_sqrt_f32, gs_sqrt_f32_bits)
GS_APPROX_F32(approx_exp_f32, gs_exp_f32_bits)
GS_APPROX_F32(approx_log_f32, gs_log_f32_bits)

/* These have denormals where MODE keeps them, but are scaled all the same. */
#define GS_APPROX_TRIG_F32(name, cosine)                                                                     \
  GS_OP(name) {                                                                                              \
    gs_row_t ta, td;                                                                                         \
    const gs_row_t *const ra = gs_src32_float(w, in, 0, &ta);                                                \
    gs_row_t *const d = gs_dst32(w, in, &td);                                                                \
    const bool quiet = gs_quiets(w);                                                                         \
    const unsigned keep = w->mode >> GS_MODE_DENORM32_SHIFT & 3;                                             \
    for (unsigned l = 0; l < GS_LANES; l++)                                                                  \
      d->u32[l] = gs_trig_f32_bits(ra->u32[l], cosine, keep, quiet);                                         \
    if (!in->plain_dst)                                                                                      \
      gs_finish_flushed32(w, in, d);                                                                         \
    gs_commit32(w, in, d);                                                                                   \
  }
GS_APPROX_TRIG_F32(approx_sin_f32, false)
GS_APPROX_TRIG_F32(approx_cos_f32, true)

/* ---- f16: as a float, rounded once more, to even; powers of two were measured to be rounded once only ----
 */

/* What the float `x` gives as a half when `source` gave it: with FP16_OVFL infinities of numbers become the
 * greatest half. */
static inline uint32_t gs_approx_half(uint32_t x, uint32_t source, bool saturate) {
  const uint32_t magnitude = x & 0x7fffffff, sign = x >> 16 & 0x8000;
  if (magnitude > GS_F32_INFINITY)
    return sign | 0x7c00 | (magnitude >> 13 & 0x3ff);
  const uint32_t half = gs_half_of_float(gs_float_of_bits(x));
  return saturate && (half & 0x7fff) == 0x7c00 && (source & 0x7fff) < 0x7c00 ? sign | 0x7bff : half;
}

#define GS_APPROX_F16(name, expr)                                                                            \
  GS_OP(name) {                                                                                              \
    GS_F16_SRC(0, a);                                                                                        \
    gs_row_t td;                                                                                             \
    gs_row_t *const d = gs_dst32(w, in, &td);                                                                \
    const bool quiet = gs_quiets(w), saturate = w->mode & GS_MODE_FP16_OVFL;                                 \
    for (unsigned l = 0; l < GS_LANES; l++) {                                                                \
      const uint32_t half = ra->u32[l] & 0xffff, x = gs_bits_of_float(gs_float_of_half((uint16_t)half));     \
      d->u32[l] = gs_approx_half(expr, half, saturate);                                                      \
    }                                                                                                        \
    gs_finish16(w, in, d);                                                                                   \
    gs_commit32(w, in, d);                                                                                   \
  }
GS_APPROX_F16(approx_rcp_f16, gs_rcp_f32_bits(x, quiet))
GS_APPROX_F16(approx_rsq_f16, gs_rsq_f32_bits(x, quiet))
GS_APPROX_F16(approx_sqrt_f16, gs_sqrt_f32_bits(x, quiet))
GS_APPROX_F16(approx_exp_f16, gs_exp_rounded(x, quiet, true))
GS_APPROX_F16(approx_log_f16, gs_log_f32_bits(x, quiet))
GS_APPROX_F16(approx_sin_f16, gs_trig_f32_bits(x, false, 3, quiet))
GS_APPROX_F16(approx_cos_f16, gs_trig_f32_bits(x, true, 3, quiet))

/* ---- f64: 29 bits of the significand are looked at, and some 35 of the result are there ---- */

#define GS_F64_SIGN     (UINT64_C(1) << 63)
#define GS_F64_INFINITY UINT64_C(0x7ff0000000000000)
#define GS_F64_FRACTION UINT64_C(0x000fffffffffffff)
#define GS_F64_LEAST    (UINT64_C(1) << 52)
#define GS_F64_INVALID  UINT64_C(0xfff8000000000000)

typedef enum gs_root { GS_RCP, GS_RSQ, GS_SQRT } gs_root_t;

/* (2^52 + fraction) * 2^(exponent - 52), which is exact. */
static inline uint64_t gs_f64_of(int exponent, uint64_t fraction) {
  if (exponent > 1023)
    return GS_F64_INFINITY;
  if (exponent >= -1022)
    return (uint64_t)(exponent + 1023) << 52 | fraction;
  return (GS_F64_LEAST | fraction) >> (-1022 - exponent);
}

/* The next number below 2^exponent. */
static inline uint64_t gs_f64_below(int exponent) {
  return exponent > 1023 ? GS_F64_INFINITY : gs_f64_of(exponent, 0) - 1;
}

/* 1 / x. What is looked at rounds to a power of two or a place beside it at both ends. */
static inline uint64_t gs_f64_rcp(int exponent, uint64_t fraction) {
  const int64_t m = (int64_t)(fraction >> 23);
  if (fraction == 0)
    return gs_f64_of(-exponent, 0);
  if (fraction == GS_F64_FRACTION)
    return -exponent - 1 >= -1022 ? gs_f64_of(-exponent - 1, 1) : gs_f64_of(-exponent - 1, 0) + 1;
  if (m == 0)
    return gs_f64_below(-exponent);
  return gs_f64_of(-exponent - 1, (uint64_t)(gs_rcp_significand(m, 1) - (INT64_C(1) << 34)) << 18);
}
static inline uint64_t gs_f64_root(gs_root_t root, int exponent, uint64_t fraction) {
  const unsigned odd = (unsigned)exponent & 1;
  const int half = (exponent - (int)odd) / 2;
  const int64_t m = (int64_t)(fraction >> 23), one = INT64_C(1) << 35;
  if (root == GS_SQRT)
    return gs_f64_of(half, (uint64_t)(gs_sqrt_significand(odd, m & ~INT64_C(1), 1) - one) << 17);
  if (!odd && m == 0)
    return fraction ? gs_f64_below(-half) : gs_f64_of(-half, 0);
  return gs_f64_of(-half - 1, (uint64_t)(gs_rsq_significand(odd, m, 1) - one) << 17);
}

/* Not numbers, zeroes and infinities. */
static inline uint64_t gs_f64_special(gs_root_t root, uint64_t x, bool quiet) {
  const uint64_t sign = x & GS_F64_SIGN, magnitude = x ^ sign;
  if (magnitude > GS_F64_INFINITY)
    return x | (quiet ? GS_F64_LEAST >> 1 : 0);
  if (magnitude == 0)
    return root == GS_SQRT ? x : sign | GS_F64_INFINITY;
  if (root == GS_RCP)
    return sign;
  return sign ? GS_F64_INVALID : root == GS_SQRT ? x : 0;
}

static inline uint64_t gs_f64_approx(gs_root_t root, uint64_t x, bool quiet) {
  const uint64_t sign = x & GS_F64_SIGN, magnitude = x ^ sign;
  if (magnitude >= GS_F64_INFINITY || magnitude == 0 || (root != GS_RCP && sign))
    return gs_f64_special(root, x, quiet);
  int exponent = (int)(magnitude >> 52) - 1023;
  uint64_t fraction = magnitude & GS_F64_FRACTION;
  if (exponent == -1023) { /* denormal */
    const int up = __builtin_clzll(fraction) - 11;
    fraction = fraction << up & GS_F64_FRACTION;
    exponent = -1022 - up;
  }
  return sign | (root == GS_RCP ? gs_f64_rcp(exponent, fraction) : gs_f64_root(root, exponent, fraction));
}

#define GS_APPROX_F64(name, root)                                                                            \
  GS_OP(name) {                                                                                              \
    GS_F64_SRC(0, a);                                                                                        \
    gs_row_t td[2];                                                                                          \
    const gs_dst64_t d = gs_dst64(w, in, td);                                                                \
    const bool quiet = gs_quiets(w);                                                                         \
    for (unsigned l = 0; l < GS_LANES; l++)                                                                  \
      gs_put_u64(d, l, gs_f64_approx(root, gs_get_u64(ra, l), quiet));                                       \
    gs_finish64(w, in, d);                                                                                   \
    gs_commit64(w, in, d);                                                                                   \
  }
GS_APPROX_F64(approx_rcp_f64, GS_RCP)
GS_APPROX_F64(approx_rsq_f64, GS_RSQ)
GS_APPROX_F64(approx_sqrt_f64, GS_SQRT)
