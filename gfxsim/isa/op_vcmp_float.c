/* Comparisons of floats of all widths, and tests of their class.
 * Not here: comparisons of integers (op_vcmp_int.c). */
#include "isa/float.h"

/* v_cmpx_* does the same as v_cmp_*; that EXEC is written too is known to the commit. */
#define GS_CMPX(name)                                                                                        \
  GS_OP(v_cmpx_##name) {                                                                                     \
    GS_OP_SYMBOL(v_cmp_##name)(w, in);                                                                       \
  }

#define GS_FCMP16(name, expr)                                                                                \
  GS_OP(v_cmp_##name##_f16) {                                                                                \
    GS_F16_SRC(0, a);                                                                                        \
    GS_F16_SRC(1, b);                                                                                        \
    gs_row_t results;                                                                                        \
    GS_LANES_DO(l) {                                                                                         \
      GS_F16_LOAD(a);                                                                                        \
      GS_F16_LOAD(b);                                                                                        \
      results.i32[l] = -(int32_t)(expr);                                                                     \
    }                                                                                                        \
    gs_commit_cmp_row(w, in, &results);                                                                      \
  }                                                                                                          \
  GS_CMPX(name##_f16)
#define GS_FCMP32(name, expr)                                                                                \
  GS_OP(v_cmp_##name##_f32) {                                                                                \
    GS_F32_SRC(0, a);                                                                                        \
    GS_F32_SRC(1, b);                                                                                        \
    gs_row_t results;                                                                                        \
    GS_LANES_DO(l) {                                                                                         \
      const float a = ra->f32[l], b = rb->f32[l];                                                            \
      results.i32[l] = -(int32_t)(expr);                                                                     \
    }                                                                                                        \
    gs_commit_cmp_row(w, in, &results);                                                                      \
  }                                                                                                          \
  GS_CMPX(name##_f32)
#if defined(__AVX2__) && !defined(__AVX512F__)
/* Halves of results, which are alike: elsewhere compilers join and part what they compare by half a register.
 */
#define GS_FCMP64_LOOP(results, expr)                                                                        \
  for (unsigned first = 0; first < GS_LANES; first += GS_WIDE_LANES) {                                       \
    gs_row_t halves;                                                                                         \
    gs_wide_t xd;                                                                                            \
    GS_F64_JOIN(a);                                                                                          \
    GS_F64_JOIN(b);                                                                                          \
    GS_IVDEP for (unsigned i = 0; i < GS_WIDE_LANES; i++) {                                                  \
      const double a = xa.f64[i], b = xb.f64[i];                                                             \
      xd.u64[i] = -(uint64_t)(expr);                                                                         \
    }                                                                                                        \
    gs_split64(&xd, first, (gs_dst64_t){&(results), &halves});                                               \
  }
#else
#define GS_FCMP64_LOOP(results, expr)                                                                        \
  GS_LANES_DO(l) {                                                                                           \
    const double a = gs_get_f64(ra, l), b = gs_get_f64(rb, l);                                               \
    (results).i32[l] = -(int32_t)(expr);                                                                     \
  }
#endif
#define GS_FCMP64(name, expr)                                                                                \
  GS_OP(v_cmp_##name##_f64) {                                                                                \
    GS_F64_SRC(0, a);                                                                                        \
    GS_F64_SRC(1, b);                                                                                        \
    gs_row_t results;                                                                                        \
    GS_FCMP64_LOOP(results, expr)                                                                            \
    gs_commit_cmp_row(w, in, &results);                                                                      \
  }                                                                                                          \
  GS_CMPX(name##_f64)

/* All widths of one comparison. */
#define GS_FCMP(name, expr)                                                                                  \
  GS_FCMP16(name, expr)                                                                                      \
  GS_FCMP32(name, expr)                                                                                      \
  GS_FCMP64(name, expr)

/* With a NaN the first eight are false, except `u`; the negated ones, except `u` again, are true. */
GS_FCMP(lt, a < b)
GS_FCMP(eq, a == b)
GS_FCMP(le, a <= b)
GS_FCMP(gt, a > b)
GS_FCMP(lg, (a < b) | (a > b))
GS_FCMP(ge, a >= b)
GS_FCMP(o, (a == a) & (b == b))
GS_FCMP(u, (a != a) | (b != b))
GS_FCMP(nge, !(a >= b))
GS_FCMP(nlg, !((a < b) | (a > b)))
GS_FCMP(ngt, !(a > b))
GS_FCMP(nle, !(a <= b))
GS_FCMP(neq, a != b)
GS_FCMP(nlt, !(a < b))

/* Those that do not look at their operands. */
#define GS_FCMP_CONSTANT(name, type, mask)                                                                   \
  GS_OP(v_cmp_##name##_##type) {                                                                             \
    gs_commit_cmp_mask(w, in, mask);                                                                         \
  }                                                                                                          \
  GS_CMPX(name##_##type)
GS_FCMP_CONSTANT(f, f16, 0)
GS_FCMP_CONSTANT(f, f32, 0)
GS_FCMP_CONSTANT(f, f64, 0)
GS_FCMP_CONSTANT(tru, f16, UINT64_MAX)
GS_FCMP_CONSTANT(tru, f32, UINT64_MAX)
GS_FCMP_CONSTANT(tru, f64, UINT64_MAX)

/* ---- Classes: a bit for each; negative ones from bit 2 to 5 away from zero to it, positive ones from 6 to 9
 * mirrored ---- */

enum {
  GS_CLASS_SIGNALING = 1 << 0,
  GS_CLASS_QUIET = 1 << 1,
  GS_CLASS_NEG_INFINITY = 1 << 2,
  GS_CLASS_NEG_NORMAL = 1 << 3,
  GS_CLASS_NEG_DENORMAL = 1 << 4,
  GS_CLASS_NEG_ZERO = 1 << 5,
  GS_CLASS_ZERO = 1 << 6,
  GS_CLASS_DENORMAL = 1 << 7,
  GS_CLASS_NORMAL = 1 << 8,
  GS_CLASS_INFINITY = 1 << 9,
};

/* The class of a number from its upper bits; for doubles, bit 0 also stands for all that are not here.
 * `normal` and `infinity` are the magnitudes where these begin. */
static inline uint32_t gs_class(uint32_t x, uint32_t sign, uint32_t normal, uint32_t infinity,
                                uint32_t quiet) {
  const uint32_t m = x & (sign - 1);
  const uint32_t not_zero = gs_when32(m != 0), not_small = gs_when32(m >= normal),
                 not_finite = gs_when32(m >= infinity);
  uint32_t positive = GS_CLASS_ZERO, negative = GS_CLASS_NEG_ZERO; /* away from zero: up and down one bit */
  positive += positive & not_zero;
  positive += positive & not_small;
  positive += positive & not_finite;
  negative -= negative >> 1 & not_zero;
  negative -= negative >> 1 & not_small;
  negative -= negative >> 1 & not_finite;
  const uint32_t number = gs_pick32(gs_when32((x & sign) != 0), negative, positive);
  const uint32_t nan = gs_pick32(gs_when32((x & quiet) != 0), GS_CLASS_QUIET, GS_CLASS_SIGNALING);
  return gs_pick32(gs_when32(m > infinity), nan, number);
}
static inline uint32_t gs_class16(uint32_t x) {
  return gs_class(x & 0xffff, 0x8000, 0x0400, 0x7c00, 0x0200);
}
static inline uint32_t gs_class32(uint32_t x) {
  return gs_class(x, 0x80000000, 0x00800000, 0x7f800000, 0x00400000);
}
static inline uint32_t gs_class64(uint32_t low, uint32_t high) {
  return gs_class(high | (low != 0), 0x80000000, 0x00100000, 0x7ff00000, 0x00080000);
}

#define GS_FCLASS(type, fetch, expr)                                                                         \
  GS_OP(v_cmp_class_##type) {                                                                                \
    fetch;                                                                                                   \
    gs_row_t tb, results;                                                                                    \
    const gs_row_t *const rb = gs_src32(w, in, 1, &tb);                                                      \
    GS_LANES_DO(l)                                                                                           \
      results.u32[l] = gs_when32((rb->u32[l] & (expr)) != 0);                                                \
    gs_commit_cmp_row(w, in, &results);                                                                      \
  }                                                                                                          \
  GS_CMPX(class_##type)
GS_FCLASS(f16, gs_row_t ta; const gs_row_t *const ra = gs_src16(w, in, 0, &ta), gs_class16(ra->u32[l]))
GS_FCLASS(f32, gs_row_t ta; const gs_row_t *const ra = gs_src32(w, in, 0, &ta), gs_class32(ra->u32[l]))
GS_FCLASS(f64, gs_row_t ta[2];
          const gs_row64_t ra = gs_src64(w, in, 0, true, ta), gs_class64(ra.lo->u32[l], ra.hi->u32[l]))
