/* Comparisons of integers: v_cmp_* and v_cmpx_* on 16, 32 and 64 bits. CMPX differs in its row of ops.def
 * only, which the commit looks at.
 * Not here: comparisons of floats (op_vcmp_float.c). */
#include "isa/vint.h"

/* 16-bit operands; bits 31:16 of the rows are undefined. */
#define GS_VCMP16(name, from, expr)                                                                          \
  GS_OP(name) {                                                                                              \
    gs_row_t ta, tb, result;                                                                                 \
    const gs_row_t *const ra = gs_src16(w, in, 0, &ta);                                                      \
    const gs_row_t *const rb = gs_src16(w, in, 1, &tb);                                                      \
    GS_LANES_DO(l) {                                                                                         \
      const __typeof__(gs_as_##from(0)) a = gs_as_##from(ra->u32[l]), b = gs_as_##from(rb->u32[l]);          \
      result.i32[l] = -(expr);                                                                               \
    }                                                                                                        \
    gs_commit_cmp_row(w, in, &result);                                                                       \
  }

/* 64-bit operands, by dwords, which vectorises better than 64-bit lanes: the high ones decide, as `type`
 * (u32 or i32), and where they are equal the low ones. expr is made of the comparisons below. What compilers
 * make well of parts of it are bits where there are registers of masks, and else rows of 0 and -1. */
#ifdef __AVX512F__
#define GS_PART(condition) (condition)
#define GS_WHOLE(expr)     -(expr)
#else
#define GS_PART(condition) -(condition)
#define GS_WHOLE(expr)     (expr)
#endif
#define GS_VCMP64(name, type, expr)                                                                          \
  GS_OP(name) {                                                                                              \
    gs_row_t ta[2], tb[2], result;                                                                           \
    const gs_row64_t ra = gs_src64(w, in, 0, false, ta), rb = gs_src64(w, in, 1, false, tb);                 \
    GS_LANES_DO(l) {                                                                                         \
      const __typeof__(ra.hi->type[0]) a_hi = ra.hi->type[l], b_hi = rb.hi->type[l];                         \
      const uint32_t a_lo = ra.lo->u32[l], b_lo = rb.lo->u32[l];                                             \
      result.i32[l] = GS_WHOLE(expr);                                                                        \
    }                                                                                                        \
    gs_commit_cmp_row(w, in, &result);                                                                       \
  }
#define GS_LESS64(x, y) (GS_PART(x##_hi < y##_hi) | (GS_PART(x##_hi == y##_hi) & GS_PART(x##_lo < y##_lo)))
#define GS_NOT_MORE64(x, y)                                                                                  \
  (GS_PART(x##_hi < y##_hi) | (GS_PART(x##_hi == y##_hi) & GS_PART(x##_lo <= y##_lo)))
#define GS_EQUAL64(x, y)     (GS_PART(x##_hi == y##_hi) & GS_PART(x##_lo == y##_lo))
#define GS_DIFFERENT64(x, y) (GS_PART(x##_hi != y##_hi) | GS_PART(x##_lo != y##_lo))

/* The outcome of v_cmp_f_* and v_cmp_t_* depends on no operand. */
#define GS_VCMP_CONST(name, value)                                                                           \
  GS_OP(name) {                                                                                              \
    gs_commit_cmp_mask(w, in, value);                                                                        \
  }

/* The eight predicates on one type, given how to write them; for both families. */
#define GS_VCMP_FAMILY(shape, family, suffix, type, lt, eq, le, gt, ne, ge)                                  \
  GS_VCMP_CONST(family##_f_##suffix, 0)                                                                      \
  shape(family##_lt_##suffix, type, lt) shape(family##_eq_##suffix, type, eq)                                \
      shape(family##_le_##suffix, type, le) shape(family##_gt_##suffix, type, gt)                            \
          shape(family##_ne_##suffix, type, ne) shape(family##_ge_##suffix, type, ge)                        \
              GS_VCMP_CONST(family##_t_##suffix, UINT64_MAX)
#define GS_VCMP_SHORT(shape, family, suffix, type)                                                           \
  GS_VCMP_FAMILY(shape, family, suffix, type, a<b, a == b, a <= b, a> b, a != b, a >= b)
#define GS_VCMP_WIDE(family, suffix, type)                                                                   \
  GS_VCMP_FAMILY(GS_VCMP64, family, suffix, type, GS_LESS64(a, b), GS_EQUAL64(a, b), GS_NOT_MORE64(a, b),    \
                 GS_LESS64(b, a), GS_DIFFERENT64(a, b), GS_NOT_MORE64(b, a))

GS_VCMP_SHORT(GS_VCMP16, v_cmp, i16, i16)
GS_VCMP_SHORT(GS_VCMP16, v_cmp, u16, u16)
GS_VCMP_SHORT(GS_VCMP32, v_cmp, i32, i32)
GS_VCMP_SHORT(GS_VCMP32, v_cmp, u32, u32)
GS_VCMP_WIDE(v_cmp, i64, i32)
GS_VCMP_WIDE(v_cmp, u64, u32)
GS_VCMP_SHORT(GS_VCMP16, v_cmpx, i16, i16)
GS_VCMP_SHORT(GS_VCMP16, v_cmpx, u16, u16)
GS_VCMP_SHORT(GS_VCMP32, v_cmpx, i32, i32)
GS_VCMP_SHORT(GS_VCMP32, v_cmpx, u32, u32)
GS_VCMP_WIDE(v_cmpx, i64, i32)
GS_VCMP_WIDE(v_cmpx, u64, u32)
