/* Shapes of integer handlers beyond those of lanes.h: operands narrower than a lane or packed, and results
 * that saturate when the instruction says clamp.
 * Not here: any instruction. */
#ifndef GFXSIM_ISA_VINT_H
#define GFXSIM_ISA_VINT_H

#include "isa/lanes.h"

/* Ways to read an operand's bits as a number. The result's C type carries the signedness on to wider
 * arithmetic. */
static inline uint32_t gs_as_u32(uint32_t x) {
  return x;
}
static inline int32_t gs_as_i32(uint32_t x) {
  return (int32_t)x;
}
static inline uint32_t gs_as_u24(uint32_t x) {
  return x & 0xffffffu;
}
static inline int32_t gs_as_i24(uint32_t x) {
  return (int32_t)(x << 8) >> 8;
}
static inline uint32_t gs_as_u16(uint32_t x) {
  return x & 0xffffu;
}
static inline int32_t gs_as_i16(uint32_t x) {
  return (int16_t)x;
}

/* Results that wrap: 16-bit ones have zeroes above. */
static inline uint32_t gs_wrap_u32(uint32_t x) {
  return x;
}
static inline uint32_t gs_wrap_i32(uint32_t x) {
  return x;
}
static inline uint32_t gs_wrap_u16(uint32_t x) {
  return x & 0xffffu;
}
static inline uint32_t gs_wrap_i16(uint32_t x) {
  return x & 0xffffu;
}

/* Results that saturate, from the exact value. */
static inline int64_t gs_limit(int64_t x, int64_t lowest, int64_t highest) {
  const int64_t y = x < lowest ? lowest : x;
  return y > highest ? highest : y;
}
static inline uint32_t gs_sat_u32(int64_t x) {
  return (uint32_t)gs_limit(x, 0, UINT32_MAX);
}
static inline uint32_t gs_sat_i32(int64_t x) {
  return (uint32_t)gs_limit(x, INT32_MIN, INT32_MAX);
}
static inline uint32_t gs_sat_u16(int64_t x) {
  return (uint32_t)gs_limit(x, 0, UINT16_MAX);
}
static inline uint32_t gs_sat_i16(int64_t x) {
  return (uint32_t)gs_limit(x, INT16_MIN, INT16_MAX) & 0xffffu;
}

/* One operand of a packed instruction with the halves that op_sel and op_sel_hi choose, in the order that
 * a packed instruction without them has. Negation bits have no meaning for integers. Constants come as
 * 32-bit values, so that their high half is found where op_sel_hi looks for it. */
static inline const gs_row_t *gs_src_pk(gs_wave_t *w, const gs_inst_t *in, unsigned i, gs_row_t *tmp) {
  const gs_row_t *r = gs_src32(w, in, i, tmp);
  const unsigned low = (in->op_sel >> i & 1u) * 16, high = (in->op_sel_hi >> i & 1u) * 16;
  if (GS_LIKELY(low == 0 && high == 16))
    return r;
  GS_LANES_DO(l) {
    const uint32_t x = r->u32[l];
    tmp->u32[l] = (x >> low & 0xffff) | x >> high << 16;
  }
  return tmp;
}

static inline uint32_t gs_min_u32(uint32_t a, uint32_t b) {
  return a < b ? a : b;
}
static inline uint32_t gs_max_u32(uint32_t a, uint32_t b) {
  return a > b ? a : b;
}
static inline int32_t gs_min_i32(int32_t a, int32_t b) {
  return a < b ? a : b;
}
static inline int32_t gs_max_i32(int32_t a, int32_t b) {
  return a > b ? a : b;
}

/* ---- Products of 64 bits ----
 *
 * Processors multiply every other lane; compilers widen all lanes and multiply 64 bits by 64, which takes
 * three times as long. */

#if defined(__AVX512F__) && GS_WIDTH % 16 == 0
enum { GS_PAIRS_BYTES = 64 };
typedef __m512i gs_host_pairs_t;
#define GS_HOST_MULTIPLY(kind) _mm512_mul_##kind
#elif defined(__AVX2__) && GS_WIDTH % 8 == 0
enum { GS_PAIRS_BYTES = 32 };
typedef __m256i gs_host_pairs_t;
#define GS_HOST_MULTIPLY(kind) _mm256_mul_##kind
#endif

#ifdef GS_HOST_MULTIPLY
/* Elements of 64 bits: of a row, their low halves are the even lanes, and their high halves the odd ones. */
typedef uint64_t gs_pairs_t __attribute__((vector_size(GS_PAIRS_BYTES), may_alias));
typedef int32_t gs_singles_t __attribute__((vector_size(GS_PAIRS_BYTES), may_alias));
enum { GS_PAIRS_LANES = GS_PAIRS_BYTES / 4 };
#define GS_HIGH_HALVES UINT64_C(0xffffffff00000000)

static inline gs_pairs_t gs_even_u32(gs_pairs_t a, gs_pairs_t b) {
  return (gs_pairs_t)GS_HOST_MULTIPLY(epu32)((gs_host_pairs_t)a, (gs_host_pairs_t)b);
}
static inline gs_pairs_t gs_even_i32(gs_pairs_t a, gs_pairs_t b) {
  return (gs_pairs_t)GS_HOST_MULTIPLY(epi32)((gs_host_pairs_t)a, (gs_host_pairs_t)b);
}
static inline gs_pairs_t gs_pairs_of(const gs_row_t *row, unsigned l) {
  return *(const gs_pairs_t *)&row->u32[l];
}
static inline void gs_pairs_to(gs_row_t *row, unsigned l, gs_pairs_t pairs) {
  *(gs_pairs_t *)&row->u32[l] = pairs;
}
/* The lower halves of even and odd results as lanes, and the upper ones; and the other way round. */
static inline gs_pairs_t gs_lower(gs_pairs_t even, gs_pairs_t odd) {
  return (even & ~GS_HIGH_HALVES) | odd << 32;
}
static inline gs_pairs_t gs_upper(gs_pairs_t even, gs_pairs_t odd) {
  return even >> 32 | (odd & GS_HIGH_HALVES);
}

/* The upper halves of products of two rows. */
#define GS_MUL_HI_ROW(type, wide)                                                                            \
  static inline void gs_mul_hi_##type(const gs_row_t *a, const gs_row_t *b, gs_row_t *d) {                   \
    for (unsigned l = 0; l < GS_LANES; l += GS_PAIRS_LANES) {                                                \
      const gs_pairs_t x = gs_pairs_of(a, l), y = gs_pairs_of(b, l);                                         \
      gs_pairs_to(d, l, gs_upper(gs_even_##type(x, y), gs_even_##type(x >> 32, y >> 32)));                   \
    }                                                                                                        \
  }

/* Sums of products and 64 bits; all ones in the lanes of `carry` that have one. */
static inline void gs_mad_u64(const gs_row_t *a, const gs_row_t *b, gs_row64_t c, gs_dst64_t d,
                              gs_row_t *carry) {
  for (unsigned l = 0; l < GS_LANES; l += GS_PAIRS_LANES) {
    const gs_pairs_t x = gs_pairs_of(a, l), y = gs_pairs_of(b, l);
    const gs_pairs_t lo = gs_pairs_of(c.lo, l), hi = gs_pairs_of(c.hi, l);
    const gs_pairs_t product[2] = {gs_even_u32(x, y), gs_even_u32(x >> 32, y >> 32)};
    const gs_pairs_t addend[2] = {gs_lower(lo, hi), gs_upper(lo, hi)};
    gs_pairs_t sum[2], out[2]; /* bit 63 of `out` is the carry */
    for (unsigned i = 0; i < 2; i++) {
      sum[i] = product[i] + addend[i];
      out[i] = (product[i] & addend[i]) | ((product[i] | addend[i]) & ~sum[i]);
    }
    gs_pairs_to(d.lo, l, gs_lower(sum[0], sum[1]));
    gs_pairs_to(d.hi, l, gs_upper(sum[0], sum[1]));
    gs_pairs_to(carry, l, (gs_pairs_t)((gs_singles_t)gs_upper(out[0], out[1]) >> 31));
  }
}
#else
#define GS_MUL_HI_ROW(type, wide)                                                                            \
  static inline void gs_mul_hi_##type(const gs_row_t *a, const gs_row_t *b, gs_row_t *d) {                   \
    GS_LANES_DO(l)                                                                                           \
      d->u32[l] = (uint32_t)((uint64_t)((wide)a->type[l] * b->type[l]) >> 32);                               \
  }
static inline void gs_mad_u64(const gs_row_t *a, const gs_row_t *b, gs_row64_t c, gs_dst64_t d,
                              gs_row_t *carry) {
  GS_LANES_DO(l) {
    const uint64_t product = (uint64_t)a->u32[l] * b->u32[l], sum = product + gs_get_u64(c, l);
    gs_put_u64(d, l, sum);
    carry->i32[l] = -(sum < product);
  }
}
#endif
GS_MUL_HI_ROW(u32, uint64_t)
GS_MUL_HI_ROW(i32, int64_t)

/* Arithmetic on two operands of `bits` bits (16 or 32) read as `from`; the result wraps, or with clamp
 * saturates, as `to` (u16, i16, u32, i32). The expression must be a polynomial of a and b: it is evaluated
 * modulo 2^32 to wrap and in 64 bits, where it is exact, to saturate. */
#define GS_VARITH_2(name, bits, from, to, expr)                                                              \
  GS_OP(name) {                                                                                              \
    gs_row_t ta, tb, td;                                                                                     \
    const gs_row_t *const ra = gs_src##bits(w, in, 0, &ta);                                                  \
    const gs_row_t *const rb = gs_src##bits(w, in, 1, &tb);                                                  \
    gs_row_t *const d = gs_dst32(w, in, &td);                                                                \
    if (GS_LIKELY(in->plain_dst || !in->clamp)) {                                                            \
      GS_LANES_DO(l) {                                                                                       \
        const uint32_t a = (uint32_t)gs_as_##from(ra->u32[l]), b = (uint32_t)gs_as_##from(rb->u32[l]);       \
        d->u32[l] = gs_wrap_##to(expr);                                                                      \
      }                                                                                                      \
    } else {                                                                                                 \
      GS_LANES_DO(l) {                                                                                       \
        const int64_t a = gs_as_##from(ra->u32[l]), b = gs_as_##from(rb->u32[l]);                            \
        d->u32[l] = gs_sat_##to(expr);                                                                       \
      }                                                                                                      \
    }                                                                                                        \
    gs_commit32(w, in, d);                                                                                   \
  }

/* The same with a third operand of `bits_c` bits, which is read as `to`. */
#define GS_VARITH_3(name, bits, bits_c, from, to, expr)                                                      \
  GS_OP(name) {                                                                                              \
    gs_row_t ta, tb, tc, td;                                                                                 \
    const gs_row_t *const ra = gs_src##bits(w, in, 0, &ta);                                                  \
    const gs_row_t *const rb = gs_src##bits(w, in, 1, &tb);                                                  \
    const gs_row_t *const rc = gs_src##bits_c(w, in, 2, &tc);                                                \
    gs_row_t *const d = gs_dst32(w, in, &td);                                                                \
    if (GS_LIKELY(in->plain_dst || !in->clamp)) {                                                            \
      GS_LANES_DO(l) {                                                                                       \
        const uint32_t a = (uint32_t)gs_as_##from(ra->u32[l]), b = (uint32_t)gs_as_##from(rb->u32[l]);       \
        const uint32_t c = (uint32_t)gs_as_##to(rc->u32[l]);                                                 \
        d->u32[l] = gs_wrap_##to(expr);                                                                      \
      }                                                                                                      \
    } else {                                                                                                 \
      GS_LANES_DO(l) {                                                                                       \
        const int64_t a = gs_as_##from(ra->u32[l]), b = gs_as_##from(rb->u32[l]),                            \
                      c = gs_as_##to(rc->u32[l]);                                                            \
        d->u32[l] = gs_sat_##to(expr);                                                                       \
      }                                                                                                      \
    }                                                                                                        \
    gs_commit32(w, in, d);                                                                                   \
  }

/* 16-bit instructions that cannot overflow. `from` says how operands are read: u16 or i16. */
#define GS_V16_2(name, from, expr)                                                                           \
  GS_OP(name) {                                                                                              \
    gs_row_t ta, tb, td;                                                                                     \
    const gs_row_t *const ra = gs_src16(w, in, 0, &ta);                                                      \
    const gs_row_t *const rb = gs_src16(w, in, 1, &tb);                                                      \
    gs_row_t *const d = gs_dst32(w, in, &td);                                                                \
    GS_LANES_DO(l) {                                                                                         \
      const __typeof__(gs_as_##from(0)) a = gs_as_##from(ra->u32[l]), b = gs_as_##from(rb->u32[l]);          \
      d->u32[l] = (uint32_t)(expr)&0xffffu;                                                                  \
    }                                                                                                        \
    gs_commit32(w, in, d);                                                                                   \
  }
#define GS_V16_3(name, from, expr)                                                                           \
  GS_OP(name) {                                                                                              \
    gs_row_t ta, tb, tc, td;                                                                                 \
    const gs_row_t *const ra = gs_src16(w, in, 0, &ta);                                                      \
    const gs_row_t *const rb = gs_src16(w, in, 1, &tb);                                                      \
    const gs_row_t *const rc = gs_src16(w, in, 2, &tc);                                                      \
    gs_row_t *const d = gs_dst32(w, in, &td);                                                                \
    GS_LANES_DO(l) {                                                                                         \
      const __typeof__(gs_as_##from(0)) a = gs_as_##from(ra->u32[l]), b = gs_as_##from(rb->u32[l]),          \
                                        c = gs_as_##from(rc->u32[l]);                                        \
      d->u32[l] = (uint32_t)(expr)&0xffffu;                                                                  \
    }                                                                                                        \
    gs_commit32(w, in, d);                                                                                   \
  }

/* What a truth table says of each bit of three numbers. */
static inline uint32_t gs_by_table(uint32_t table, uint32_t a, uint32_t b, uint32_t c) {
  uint32_t result = 0;
  for (unsigned i = 0; i < 8; i++)
    result |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c) & (0 - (table >> i & 1));
  return result;
}

#endif
