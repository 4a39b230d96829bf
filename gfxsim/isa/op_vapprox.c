/* Reciprocals, roots, powers of two, logarithms, sine and cosine as gfx11's cards compute them (approx.h),
 * also for gfx1030, whose unit is an older version of the same. MODE's rounding does not matter to them. Not
 * here: those of gfx9, whose bits nobody published (op_vtrans.c). */
#include "isa/approx.h"
#include "isa/float.h"

/* Whether signaling NaNs become quiet. */
static inline bool gs_quiets(const gs_wave_t *w) {
  return w->mode & GS_MODE_IEEE;
}

/* ---- Rows ----
 *
 * Coefficients are looked up first, for all lanes. Then comes arithmetic that compilers make vectors of, and
 * last, one by one, the lanes with an argument that is not plain. */

typedef struct gs_cubic_row {
  gs_row_t c[GS_COEFFICIENTS];
} gs_cubic_row_t;

#if defined(__AVX2__) && !defined(__AVX512F__) && GS_WIDTH % 8 == 0
/* Eight of the 32 numbers, by the low five bits of `index`. */
static inline __m256i gs_pick_of_pieces(const uint32_t numbers[GS_PIECES], __m256i index) {
  __m256 part[4];
  for (unsigned i = 0; i < 4; i++)
    part[i] = (__m256)_mm256_permutevar8x32_epi32(
        _mm256_loadu_si256((const __m256i *)(const void *)&numbers[8 * i]), index);
  const __m256 odd = (__m256)_mm256_slli_epi32(index, 28), upper = (__m256)_mm256_slli_epi32(index, 27);
  return (__m256i)_mm256_blendv_ps(_mm256_blendv_ps(part[0], part[1], odd),
                                   _mm256_blendv_ps(part[2], part[3], odd), upper);
}
#endif

/* The coefficients of the pieces of `pieces` whose numbers are in `piece`, of `tables` times GS_PIECES ones.
 */
static inline void gs_look_up(const gs_cubics_t *pieces, unsigned tables, const gs_row_t *piece,
                              gs_cubic_row_t *c) {
  for (unsigned k = 0; k < GS_COEFFICIENTS; k++) {
#if defined(__AVX512F__)
    for (unsigned l = 0; l < GS_LANES; l += 16) {
      const __m512i index = _mm512_load_si512(&piece->u32[l]);
      const __m512i first = _mm512_permutex2var_epi32(_mm512_loadu_si512(&pieces[0].c[k][0]), index,
                                                      _mm512_loadu_si512(&pieces[0].c[k][16]));
      const __m512i last = _mm512_permutex2var_epi32(_mm512_loadu_si512(&pieces[tables - 1].c[k][0]), index,
                                                     _mm512_loadu_si512(&pieces[tables - 1].c[k][16]));
      const __mmask16 is_last = _mm512_test_epi32_mask(index, _mm512_set1_epi32(GS_PIECES));
      _mm512_store_si512(&c->c[k].u32[l], _mm512_mask_blend_epi32(is_last, first, last));
    }
#elif defined(__AVX2__) && GS_WIDTH % 8 == 0
    for (unsigned l = 0; l < GS_LANES; l += 8) {
      const __m256i index = _mm256_load_si256((const __m256i *)(const void *)&piece->u32[l]);
      __m256i found = gs_pick_of_pieces(pieces[0].c[k], index);
      if (tables > 1) {
        const __m256 is_last = (__m256)_mm256_slli_epi32(index, 26);
        const __m256 last = (__m256)gs_pick_of_pieces(pieces[1].c[k], index);
        found = (__m256i)_mm256_blendv_ps((__m256)found, last, is_last);
      }
      _mm256_store_si256((__m256i *)(void *)&c->c[k].u32[l], found);
    }
#else
    GS_LANES_DO(l) {
      c->c[k].u32[l] = pieces[tables == 1 ? 0 : piece->u32[l] / GS_PIECES].c[k][piece->u32[l] % GS_PIECES];
    }
#endif
  }
}
static inline gs_cubic_t gs_cubic_of(const gs_cubic_row_t *c, unsigned l) {
  return (gs_cubic_t){c->c[0].i32[l], c->c[1].u32[l], c->c[2].u32[l], c->c[3].u32[l], c->c[4].u32[l]};
}

/* Results of all lanes, but those outside `lanes` whose arguments are not plain. `x` and `d` are different.
 */
#define GS_APPROX_ROW(fn, pieces, tables)                                                                    \
  static inline void fn##_row(const gs_row_t *x, uint64_t lanes, bool quiet, gs_row_t *d) {                  \
    gs_row_t piece, other;                                                                                   \
    gs_cubic_row_t c;                                                                                        \
    GS_LANES_DO(l) {                                                                                         \
      piece.u32[l] = fn##_piece(x->u32[l]);                                                                  \
      other.u32[l] = fn##_is_plain(x->u32[l]) ? 0 : ~0u;                                                     \
    }                                                                                                        \
    gs_look_up(pieces, tables, &piece, &c);                                                                  \
    GS_LANES_DO(l) {                                                                                         \
      d->u32[l] = fn##_plain(gs_cubic_of(&c, l), x->u32[l]);                                                 \
    }                                                                                                        \
    for (uint64_t left = gs_mask_from_row(&other) & lanes; left; left &= left - 1) {                         \
      const unsigned l = (unsigned)__builtin_ctzll(left);                                                    \
      d->u32[l] = fn##_bits(x->u32[l], quiet);                                                               \
    }                                                                                                        \
  }
GS_APPROX_ROW(gs_rcp_f32, &gs_rcp_pieces, 1)
GS_APPROX_ROW(gs_rsq_f32, gs_rsq_pieces, 2)
GS_APPROX_ROW(gs_sqrt_f32, &gs_sqrt_pieces, 1)
GS_APPROX_ROW(gs_exp_f32, &gs_exp_pieces, 1)
GS_APPROX_ROW(gs_log_f32, &gs_log_pieces, 1)

/* ---- f32 ---- */

#define GS_APPROX_F32(name, fn)                                                                              \
  GS_OP(name) {                                                                                              \
    gs_row_t ta, td;                                                                                         \
    const gs_row_t *const ra = gs_src32_float(w, in, 0, &ta);                                                \
    fn##_row(ra, gs_exec(w), gs_quiets(w), &td);                                                             \
    if (!in->plain_dst)                                                                                      \
      gs_finish_flushed32(w, in, &td);                                                                       \
    gs_commit32(w, in, &td);                                                                                 \
  }
GS_APPROX_F32(approx_rcp_f32, gs_rcp_f32)
GS_APPROX_F32(approx_rsq_f32, gs_rsq_f32)
GS_APPROX_F32(approx_sqrt_f32, gs_sqrt_f32)
GS_APPROX_F32(approx_exp_f32, gs_exp_f32)
GS_APPROX_F32(approx_log_f32, gs_log_f32)

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

#define GS_APPROX_F16(name, row)                                                                             \
  GS_OP(name) {                                                                                              \
    GS_F16_SRC(0, a);                                                                                        \
    gs_row_t half, x, wide, td;                                                                              \
    gs_row_t *const d = gs_dst32(w, in, &td);                                                                \
    const bool quiet = gs_quiets(w), saturate = w->mode & GS_MODE_FP16_OVFL;                                 \
    const uint64_t lanes = gs_exec(w);                                                                       \
    GS_LANES_DO(l) {                                                                                         \
      half.u32[l] = ra->u32[l] & 0xffff;                                                                     \
      x.u32[l] = gs_bits_of_float(gs_float_of_half((uint16_t)half.u32[l]));                                  \
    }                                                                                                        \
    row(&x, lanes, quiet, &wide);                                                                            \
    GS_LANES_DO(l) {                                                                                         \
      d->u32[l] = gs_approx_half(wide.u32[l], half.u32[l], saturate);                                        \
    }                                                                                                        \
    gs_finish16(w, in, d);                                                                                   \
    gs_commit32(w, in, d);                                                                                   \
  }
GS_APPROX_F16(approx_rcp_f16, gs_rcp_f32_row)
GS_APPROX_F16(approx_rsq_f16, gs_rsq_f32_row)
GS_APPROX_F16(approx_sqrt_f16, gs_sqrt_f32_row)
GS_APPROX_F16(approx_log_f16, gs_log_f32_row)

/* These one by one. */
#define GS_APPROX_F16_EACH(name, expr)                                                                       \
  static inline void name##_row(const gs_row_t *row, uint64_t lanes, bool quiet, gs_row_t *d) {              \
    for (; lanes; lanes &= lanes - 1) {                                                                      \
      const unsigned l = (unsigned)__builtin_ctzll(lanes);                                                   \
      const uint32_t x = row->u32[l];                                                                        \
      d->u32[l] = expr;                                                                                      \
    }                                                                                                        \
  }                                                                                                          \
  GS_APPROX_F16(name, name##_row)
GS_APPROX_F16_EACH(approx_exp_f16, gs_exp_rounded(x, quiet, true))
GS_APPROX_F16_EACH(approx_sin_f16, gs_trig_f32_bits(x, false, 3, quiet))
GS_APPROX_F16_EACH(approx_cos_f16, gs_trig_f32_bits(x, true, 3, quiet))

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

/* What a significand of `one` to twice that has below it, as bits of the fraction. `one` is its `high`. */
static inline uint64_t gs_f64_digits(gs_sum_t significand, int32_t one, unsigned up) {
  return (uint64_t)((int64_t)(significand.high - one) * 64 + significand.low) << up;
}

/* 1 / x. What is looked at rounds to a power of two or a place beside it at both ends. */
static inline uint64_t gs_f64_rcp(int exponent, uint64_t fraction) {
  const uint32_t m = (uint32_t)(fraction >> 23);
  if (fraction == 0)
    return gs_f64_of(-exponent, 0);
  if (fraction == GS_F64_FRACTION)
    return -exponent - 1 >= -1022 ? gs_f64_of(-exponent - 1, 1) : gs_f64_of(-exponent - 1, 0) + 1;
  if (m == 0)
    return gs_f64_below(-exponent);
  const gs_cubic_t c = gs_cubic(&gs_rcp_pieces, gs_rcp_piece(m));
  return gs_f64_of(-exponent - 1, gs_f64_digits(gs_rcp_significand(c, m, 1), 1 << 28, 18));
}
static inline uint64_t gs_f64_root(gs_root_t root, int exponent, uint64_t fraction) {
  const unsigned odd = (unsigned)exponent & 1;
  const int half = (exponent - (int)odd) / 2;
  const uint32_t m = (uint32_t)(fraction >> 23);
  if (root == GS_SQRT) {
    const gs_cubic_t c = gs_cubic(&gs_sqrt_pieces, gs_sqrt_piece(odd, m));
    return gs_f64_of(half, gs_f64_digits(gs_sqrt_significand(c, m & ~1u, 1), 1 << 29, 17));
  }
  if (!odd && m == 0)
    return fraction ? gs_f64_below(-half) : gs_f64_of(-half, 0);
  const gs_cubic_t c = gs_cubic(gs_rsq_pieces, gs_rsq_piece(odd, m));
  return gs_f64_of(-half - 1, gs_f64_digits(gs_rsq_significand(c, m, 1), 1 << 29, 17));
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

/* As in approx.h: whether a number needs nothing but its piece, which one, and what that gives. */

static inline uint32_t gs_f64_exponent(uint64_t x) {
  return (uint32_t)(x >> 52) & 0x7ff;
}
static inline uint32_t gs_f64_looked_at(uint64_t x) {
  return (uint32_t)(x >> 23) & 0x1fffffff;
}
static inline unsigned gs_f64_odd(uint64_t x) {
  return ~(uint32_t)(x >> 52) & 1;
}
static inline uint64_t gs_f64_join(uint32_t exponent, uint64_t fraction) {
  return (uint64_t)exponent << 52 | fraction;
}

static inline bool gs_rcp_f64_is_plain(uint64_t x) {
  return gs_f64_exponent(x) - 1 < 2044 && gs_f64_looked_at(x) && (x & GS_F64_FRACTION) != GS_F64_FRACTION;
}
static inline unsigned gs_rcp_f64_piece(uint64_t x) {
  return gs_rcp_piece(gs_f64_looked_at(x));
}
static inline uint64_t gs_rcp_f64_plain(gs_cubic_t c, uint64_t x) {
  const gs_sum_t significand = gs_rcp_significand(c, gs_f64_looked_at(x), 1);
  return (x & GS_F64_SIGN) | gs_f64_join(2045 - gs_f64_exponent(x), gs_f64_digits(significand, 1 << 28, 18));
}

static inline bool gs_rsq_f64_is_plain(uint64_t x) {
  return (uint32_t)(x >> 52) - 1 < 2046 && (gs_f64_odd(x) || gs_f64_looked_at(x));
}
static inline unsigned gs_rsq_f64_piece(uint64_t x) {
  return gs_rsq_piece(gs_f64_odd(x), gs_f64_looked_at(x));
}
static inline uint64_t gs_rsq_f64_plain(gs_cubic_t c, uint64_t x) {
  const gs_sum_t significand = gs_rsq_significand(c, gs_f64_looked_at(x), 1);
  return gs_f64_join((3067 + gs_f64_odd(x) - gs_f64_exponent(x)) / 2,
                     gs_f64_digits(significand, 1 << 29, 17));
}

static inline bool gs_sqrt_f64_is_plain(uint64_t x) {
  return (uint32_t)(x >> 52) - 1 < 2046;
}
static inline unsigned gs_sqrt_f64_piece(uint64_t x) {
  return gs_sqrt_piece(gs_f64_odd(x), gs_f64_looked_at(x));
}
static inline uint64_t gs_sqrt_f64_plain(gs_cubic_t c, uint64_t x) {
  const gs_sum_t significand = gs_sqrt_significand(c, gs_f64_looked_at(x) & ~1u, 1);
  return gs_f64_join((gs_f64_exponent(x) + 1023 - gs_f64_odd(x)) / 2,
                     gs_f64_digits(significand, 1 << 29, 17));
}

#define GS_APPROX_F64(name, fn, root, pieces, tables)                                                        \
  GS_OP(name) {                                                                                              \
    GS_F64_SRC(0, a);                                                                                        \
    gs_row_t piece, other, td[2];                                                                            \
    gs_cubic_row_t c;                                                                                        \
    const gs_dst64_t d = {&td[0], &td[1]};                                                                   \
    const bool quiet = gs_quiets(w);                                                                         \
    GS_LANES_DO(l) {                                                                                         \
      piece.u32[l] = fn##_piece(gs_get_u64(ra, l));                                                          \
      other.u32[l] = fn##_is_plain(gs_get_u64(ra, l)) ? 0 : ~0u;                                             \
    }                                                                                                        \
    gs_look_up(pieces, tables, &piece, &c);                                                                  \
    GS_LANES_DO(l) {                                                                                         \
      gs_put_u64(d, l, fn##_plain(gs_cubic_of(&c, l), gs_get_u64(ra, l)));                                   \
    }                                                                                                        \
    for (uint64_t left = gs_mask_from_row(&other) & gs_exec(w); left; left &= left - 1) {                    \
      const unsigned l = (unsigned)__builtin_ctzll(left);                                                    \
      gs_put_u64(d, l, gs_f64_approx(root, gs_get_u64(ra, l), quiet));                                       \
    }                                                                                                        \
    gs_finish64(w, in, d);                                                                                   \
    gs_commit64(w, in, d);                                                                                   \
  }
GS_APPROX_F64(approx_rcp_f64, gs_rcp_f64, GS_RCP, &gs_rcp_pieces, 1)
GS_APPROX_F64(approx_rsq_f64, gs_rsq_f64, GS_RSQ, gs_rsq_pieces, 2)
GS_APPROX_F64(approx_sqrt_f64, gs_sqrt_f64, GS_SQRT, &gs_sqrt_pieces, 1)
