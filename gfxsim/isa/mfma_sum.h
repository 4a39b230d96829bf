/* How matrix instructions add products of halves, bf16, bytes and xf32, as measured on cards of gfx90a and
 * gfx942 (Microsoft's MMA-Sim, arXiv 2511.10909, MIT licence). Not here: which elements are multiplied, and
 * the sums of floats, doubles and integers, which are fused one by one (op_mfma.c). */
#ifndef GFXSIM_ISA_MFMA_SUM_H
#define GFXSIM_ISA_MFMA_SUM_H

#include "isa/float.h"

#include <string.h>

typedef enum gs_mfma_way {
  /* One product after the other, each rounded. */
  GS_SUM_FUSED,
  /* Products of a group are added in pairs, and the group to the sum, rounded each time; denormals count as
   * zeroes everywhere. */
  GS_SUM_PAIRS,
  /* Products of a group are cut off 24 places below the greatest's exponent. Their sum is rounded down to 32
   * places, and what they are added to down to 24, below the greater exponent. */
  GS_SUM_ALIGNED,
  /* The same, where products of even and of odd k are first added among themselves. */
  GS_SUM_BYTES,
} gs_mfma_way_t;

enum { GS_SUM_LANES = 16, GS_SUM_DEPTH = 64 };

/* Loop over the lanes of a sum. GCC would take it apart into sixteen steps before it looks for vectors. */
#if defined(__clang__)
#define GS_SUM_DO(j) for (unsigned j = 0; j < GS_SUM_LANES; j++)
#else
#define GS_SUM_DO(j) _Pragma("GCC unroll 1") for (unsigned j = 0; j < GS_SUM_LANES; j++)
#endif

/* Factors of sixteen lanes of D in the order of k. The least exponents are those of the types' normal
 * numbers: denormals are aligned by them. The products' sum counts 2^scale times. */
typedef struct gs_factors {
  gs_mfma_way_t way;
  unsigned count, group;
  int32_t least_a, least_b, scale[GS_SUM_LANES];
  float a[GS_SUM_DEPTH][GS_SUM_LANES], b[GS_SUM_DEPTH][GS_SUM_LANES];
} gs_factors_t;

/* ---- gfx90a ---- */

static inline float gs_sum_flushed(float a, float b) {
  return gs_flush32(a + b);
}

/* Products of the k-th pair. */
static inline void gs_add_pair(const gs_factors_t *f, unsigned k, float *sum) {
  GS_SUM_DO(j)
    sum[j] = gs_sum_flushed(gs_flush32(f->a[k][j] * f->b[k][j]), gs_flush32(f->a[k + 1][j] * f->b[k + 1][j]));
}

static void gs_sum_pairs(const gs_factors_t *f, float *d) {
  float sum[GS_SUM_LANES], first[GS_SUM_LANES], second[GS_SUM_LANES];
  GS_SUM_DO(j) /* -0 becomes 0, too: sums are never -0 */
    sum[j] = fabsf(d[j]) < 0x1p-126f ? 0.0f : d[j];
  for (unsigned k = 0; k < f->count; k += f->group) {
    gs_add_pair(f, k, first);
    if (f->group == 4) {
      gs_add_pair(f, k + 2, second);
      GS_SUM_DO(j)
        first[j] = gs_sum_flushed(first[j], second[j]);
    }
    GS_SUM_DO(j)
      sum[j] = gs_sum_flushed(sum[j], first[j]);
  }
  memcpy(d, sum, sizeof sum);
}

/* ---- gfx942 ---- */

static inline double gs_power_of_two(int32_t exponent) {
  return gs_double_of_bits((uint64_t)(int64_t)(1023 + exponent) << 52);
}

static inline int32_t gs_aligned_exponent(float x, int32_t least) {
  const int32_t e = (int32_t)(gs_bits_of_float(x) >> 23 & 255) - 127;
  return e < least ? least : e;
}

/* Of products that are zero: below that of any other. */
enum { GS_ZERO_EXPONENT = -400 };

/* Sixteen sums in units of 2^(exponent - 24). */
typedef struct gs_aligned {
  int32_t exponent[GS_SUM_LANES];
  double sum[GS_SUM_LANES];
} gs_aligned_t;

/* Of each `step`th product from the k-th on. */
static inline void gs_align(const gs_factors_t *f, unsigned k, unsigned end, unsigned step, gs_aligned_t *s) {
  GS_SUM_DO(j) {
    s->exponent[j] = GS_ZERO_EXPONENT;
    s->sum[j] = 0.0;
  }
  for (unsigned i = k; i < end; i += step)
    GS_SUM_DO(j) {
      const int32_t e =
          gs_aligned_exponent(f->a[i][j], f->least_a) + gs_aligned_exponent(f->b[i][j], f->least_b);
      const bool more = (e > s->exponent[j]) & (f->a[i][j] != 0.0f) & (f->b[i][j] != 0.0f);
      s->exponent[j] = more ? e : s->exponent[j];
    }
  for (unsigned i = k; i < end; i += step)
    GS_SUM_DO(j)
      s->sum[j] += trunc((double)f->a[i][j] * (double)f->b[i][j] * gs_power_of_two(24 - s->exponent[j]));
}

/* Even products' sums and odd ones', rounded down where the greater one's are. */
static inline void gs_align_halves(gs_aligned_t *even, const gs_aligned_t *odd) {
  GS_SUM_DO(j) {
    const int32_t e = even->exponent[j], o = odd->exponent[j], most = e > o ? e : o;
    even->sum[j] =
        floor(even->sum[j] * gs_power_of_two(e - most)) + floor(odd->sum[j] * gs_power_of_two(o - most));
    even->exponent[j] = most;
  }
}

/* The sum of both has 31 places below its own exponent before it is rounded to a float. Of bytes, what is
 * added to is lost from 26 places below on. */
static inline void gs_add_aligned(const gs_aligned_t *s, bool bytes, float *d) {
  GS_SUM_DO(j) {
    const int32_t e = s->exponent[j], c = gs_aligned_exponent(d[j], -126), most = e > c ? e : c;
    const double sum = floor(s->sum[j] * gs_power_of_two(8 + e - most));
    const double old = bytes && c < most - 25 ? 0.0 : floor((double)d[j] * gs_power_of_two(24 - most));
    const double both = sum + 256.0 * old; /* in units of 2^(most - 32) */
    const int32_t top = (int32_t)(gs_bits_of_double(both) >> 52 & 2047) - 1023, least = -126 - (most - 32);
    const int32_t lost = (top > least ? top : least) - 31;
    const double grid = gs_power_of_two(lost > 0 ? lost : 0), back = gs_power_of_two(lost > 0 ? -lost : 0);
    d[j] = (float)(floor(both * back) * grid * gs_power_of_two(most - 32));
  }
}

/* Whether a product or what it is added to is infinite or no number: products are infinite from 2^128 on. */
static float gs_special_sum(const gs_factors_t *f, unsigned k, unsigned end, unsigned j, float c,
                            bool *special) {
  double sum = c, large = 0.0;
  for (unsigned i = k; i < end; i++) {
    const double product = (double)f->a[i][j] * (double)f->b[i][j];
    sum += product;
    large += fabs(product) >= 0x1p128 ? copysign(INFINITY, product) : 0.0;
  }
  *special = !(fabs(sum) < INFINITY) || !(fabs(large) < INFINITY);
  return (float)(fabs(sum) < INFINITY ? large : sum);
}

/* Whether that may be so in any lane, as it hardly ever is. */
static inline bool gs_may_be_special(const gs_factors_t *f, unsigned k, unsigned end, const float *d) {
  uint32_t any = 0;
  GS_SUM_DO(j)
    any |= gs_when32((gs_bits_of_float(d[j]) >> 23 & 255) == 255);
  for (unsigned i = k; i < end; i++)
    GS_SUM_DO(j) {
      const uint32_t a = gs_bits_of_float(f->a[i][j]) >> 23 & 255,
                     b = gs_bits_of_float(f->b[i][j]) >> 23 & 255;
      any |= gs_when32(a == 255) | gs_when32(b == 255) | gs_when32(a + b >= 127 + 127 + 127);
    }
  return any != 0;
}

static inline void gs_add_group(const gs_factors_t *f, unsigned k, unsigned end, float *d) {
  const bool bytes = f->way == GS_SUM_BYTES;
  gs_aligned_t sums, odd;
  gs_align(f, k, end, bytes ? 2 : 1, &sums);
  if (bytes) {
    gs_align(f, k + 1, end, 2, &odd);
    gs_align_halves(&sums, &odd);
  }
  GS_SUM_DO(j)
    sums.exponent[j] += f->scale[j];
  gs_add_aligned(&sums, bytes, d);
}

static void gs_add_special_group(const gs_factors_t *f, unsigned k, unsigned end, float *d) {
  float special[GS_SUM_LANES];
  bool is_special[GS_SUM_LANES];
  GS_SUM_DO(j)
    special[j] = gs_special_sum(f, k, end, j, d[j], &is_special[j]);
  gs_add_group(f, k, end, d);
  GS_SUM_DO(j)
    d[j] = is_special[j] ? special[j] : d[j];
}

static void gs_sum_aligned(const gs_factors_t *f, float *d) {
  for (unsigned k = 0; k < f->count; k += f->group) {
    const unsigned end = k + f->group < f->count ? k + f->group : f->count;
    if (GS_UNLIKELY(gs_may_be_special(f, k, end, d)))
      gs_add_special_group(f, k, end, d);
    else
      gs_add_group(f, k, end, d);
  }
}

static void gs_sum_factors(const gs_factors_t *f, float *d) {
  if (f->way == GS_SUM_PAIRS)
    gs_sum_pairs(f, d);
  else
    gs_sum_aligned(f, d);
}

#endif
