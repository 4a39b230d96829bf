/* Vector instructions with carries and on 64-bit integers: carry chains, 64-bit shifts, wide multiply-add.
 * Not here: 64-bit comparisons (op_vcmp_int.c). */
#include "isa/vint.h"

/* Gives a bit per lane to the scalar destination: lanes that are not written give 0. Comes after the
 * commit of the result, as the destination may be EXEC. */
static inline void gs_commit_carry(gs_wave_t *w, const gs_inst_t *in, const gs_row_t *carry) {
  gs_write_sgpr64(w, in->sdst, gs_mask_from_row(carry) & gs_vexec(w, in));
}

/* Sums and differences with a carry or borrow out, which tells overflow of the exact result also when
 * clamp saturates the destination. `x` and `y` name the operands of x + y or x - y. */
#define GS_VADD_CO(name)                                                                                     \
  GS_OP(name) {                                                                                              \
    gs_row_t ta, tb, td, carry;                                                                              \
    GS_VOP_SRC(0, a);                                                                                        \
    GS_VOP_SRC(1, b);                                                                                        \
    gs_row_t *const d = gs_dst32(w, in, &td);                                                                \
    GS_LANES_DO(l) {                                                                                         \
      const uint32_t a = ra->u32[l], sum = a + rb->u32[l];                                                   \
      d->u32[l] = sum;                                                                                       \
      carry.i32[l] = -(sum < a);                                                                             \
    }                                                                                                        \
    if (GS_UNLIKELY(in->clamp))                                                                              \
      GS_LANES_DO(l) {                                                                                       \
        d->u32[l] |= carry.u32[l];                                                                           \
      }                                                                                                      \
    gs_commit32(w, in, d);                                                                                   \
    gs_commit_carry(w, in, &carry);                                                                          \
  }
#define GS_VSUB_CO(name, x, y)                                                                               \
  GS_OP(name) {                                                                                              \
    gs_row_t ta, tb, td, carry;                                                                              \
    GS_VOP_SRC(0, a);                                                                                        \
    GS_VOP_SRC(1, b);                                                                                        \
    gs_row_t *const d = gs_dst32(w, in, &td);                                                                \
    GS_LANES_DO(l) {                                                                                         \
      const uint32_t a = ra->u32[l], b = rb->u32[l];                                                         \
      d->u32[l] = x - y;                                                                                     \
      carry.i32[l] = -(x < y);                                                                               \
    }                                                                                                        \
    if (GS_UNLIKELY(in->clamp))                                                                              \
      GS_LANES_DO(l) {                                                                                       \
        d->u32[l] &= ~carry.u32[l];                                                                          \
      }                                                                                                      \
    gs_commit32(w, in, d);                                                                                   \
    gs_commit_carry(w, in, &carry);                                                                          \
  }

GS_VADD_CO(v_add_co_u32)
GS_VSUB_CO(v_sub_co_u32, a, b)
GS_VSUB_CO(v_subrev_co_u32, b, a)

/* The same with a carry or borrow in. Rows of masks hold -1 for a set bit, so that subtracting one adds
 * the carry. */
GS_OP(v_addc_co_u32) {
  gs_row_t ta, tb, td, carry;
  GS_VOP_SRC(0, a);
  GS_VOP_SRC(1, b);
  gs_row_from_mask(gs_src_mask(w, in, 2), &carry);
  gs_row_t *const d = gs_dst32(w, in, &td);
  GS_LANES_DO(l) {
    const uint32_t a = ra->u32[l], b = rb->u32[l], sum = a + b, all = sum - carry.u32[l];
    d->u32[l] = all;
    carry.i32[l] = -(sum < a) | -(all < sum);
  }
  if (GS_UNLIKELY(in->clamp))
    GS_LANES_DO(l) {
      d->u32[l] |= carry.u32[l];
    }
  gs_commit32(w, in, d);
  gs_commit_carry(w, in, &carry);
}

#define GS_VSUBB_CO(name, x, y)                                                                              \
  GS_OP(name) {                                                                                              \
    gs_row_t ta, tb, td, carry;                                                                              \
    GS_VOP_SRC(0, a);                                                                                        \
    GS_VOP_SRC(1, b);                                                                                        \
    gs_row_from_mask(gs_src_mask(w, in, 2), &carry);                                                         \
    gs_row_t *const d = gs_dst32(w, in, &td);                                                                \
    GS_LANES_DO(l) {                                                                                         \
      const uint32_t a = ra->u32[l], b = rb->u32[l], difference = x - y, all = difference + carry.u32[l];    \
      d->u32[l] = all;                                                                                       \
      carry.i32[l] = -(x < y) | -(difference < all);                                                         \
    }                                                                                                        \
    if (GS_UNLIKELY(in->clamp))                                                                              \
      GS_LANES_DO(l) {                                                                                       \
        d->u32[l] &= ~carry.u32[l];                                                                          \
      }                                                                                                      \
    gs_commit32(w, in, d);                                                                                   \
    gs_commit_carry(w, in, &carry);                                                                          \
  }

GS_VSUBB_CO(v_subb_co_u32, a, b)
GS_VSUBB_CO(v_subbrev_co_u32, b, a)

/* 64-bit shifts, count first; six bits of it count. */
#define GS_VSHIFT64(name, type, expr)                                                                        \
  GS_OP(name) {                                                                                              \
    gs_row_t ta, tb[2], td[2];                                                                               \
    GS_VOP_SRC(0, a);                                                                                        \
    const gs_row64_t rb = gs_src64(w, in, 1, false, tb);                                                     \
    const gs_dst64_t d = gs_dst64(w, in, td);                                                                \
    GS_LANES_DO(l) {                                                                                         \
      const uint32_t a = ra->u32[l] & 63;                                                                    \
      const type b = (type)gs_get_u64(rb, l);                                                                \
      gs_put_u64(d, l, (uint64_t)(expr));                                                                    \
    }                                                                                                        \
    gs_commit64(w, in, d);                                                                                   \
  }

GS_VSHIFT64(v_lshlrev_b64, uint64_t, b << a)
GS_VSHIFT64(v_lshrrev_b64, uint64_t, b >> a)
GS_VSHIFT64(v_ashrrev_i64, int64_t, b >> a)

/* 32 x 32 + 64 bits. The scalar destination gets bit 64 of the exact sum: the carry of unsigned operands,
 * the sign of signed ones. */
GS_OP(v_mad_u64_u32) {
  gs_row_t ta, tb, tc[2], td[2], carry;
  GS_VOP_SRC(0, a);
  GS_VOP_SRC(1, b);
  const gs_row64_t rc = gs_src64(w, in, 2, false, tc);
  const gs_dst64_t d = gs_dst64(w, in, td);
  GS_LANES_DO(l) {
    const uint64_t product = (uint64_t)ra->u32[l] * rb->u32[l], sum = product + gs_get_u64(rc, l);
    gs_put_u64(d, l, sum);
    carry.i32[l] = -(sum < product);
  }
  if (GS_UNLIKELY(in->clamp))
    GS_LANES_DO(l) {
      d.lo->u32[l] |= carry.u32[l];
      d.hi->u32[l] |= carry.u32[l];
    }
  gs_commit64(w, in, d);
  gs_commit_carry(w, in, &carry);
}

GS_OP(v_mad_i64_i32) {
  gs_row_t ta, tb, tc[2], td[2], sign;
  GS_VOP_SRC(0, a);
  GS_VOP_SRC(1, b);
  const gs_row64_t rc = gs_src64(w, in, 2, false, tc);
  const gs_dst64_t d = gs_dst64(w, in, td);
  const bool clamp = in->clamp;
  GS_LANES_DO(l) {
    const int64_t product = (int64_t)ra->i32[l] * rb->i32[l], c = (int64_t)gs_get_u64(rc, l);
    const int64_t sum = (int64_t)((uint64_t)product + (uint64_t)c);
    /* Overflow needs operands of one sign and a sum of the other; the exact sum then has the operands'
     * sign. */
    const bool overflow = ((product ^ sum) & (c ^ sum)) < 0;
    const bool negative = overflow ? sum >= 0 : sum < 0;
    const int64_t limit = negative ? INT64_MIN : INT64_MAX;
    gs_put_u64(d, l, (uint64_t)(clamp && overflow ? limit : sum));
    sign.i32[l] = -(int32_t)negative;
  }
  gs_commit64(w, in, d);
  gs_commit_carry(w, in, &sign);
}
