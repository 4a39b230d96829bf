/* Packed instructions on two 16-bit integers.
 * Not here: packed floats (op_vpk_float.c), dot products (op_vdot.c). */
#include "isa/vint.h"

/* One lane of a packed result: `finish` takes expr, made of halves a, b (and c) of C type `type`, to 16
 * bits. */
#define GS_VPK_LANE_2(type, from, finish, expr)                                                              \
  GS_LANES_DO(l) {                                                                                           \
    uint32_t half[2];                                                                                        \
    for (unsigned i = 0; i < 2; i++) {                                                                       \
      const type a = gs_as_##from(ra->u32[l] >> (16 * i)), b = gs_as_##from(rb->u32[l] >> (16 * i));         \
      half[i] = finish(expr);                                                                                \
    }                                                                                                        \
    d->u32[l] = half[0] | half[1] << 16;                                                                     \
  }
#define GS_VPK_LANE_3(type, from, finish, expr)                                                              \
  GS_LANES_DO(l) {                                                                                           \
    uint32_t half[2];                                                                                        \
    for (unsigned i = 0; i < 2; i++) {                                                                       \
      const type a = gs_as_##from(ra->u32[l] >> (16 * i)), b = gs_as_##from(rb->u32[l] >> (16 * i)),         \
                 c = gs_as_##from(rc->u32[l] >> (16 * i));                                                   \
      half[i] = finish(expr);                                                                                \
    }                                                                                                        \
    d->u32[l] = half[0] | half[1] << 16;                                                                     \
  }
#define GS_LOW16(x) ((uint32_t)(x)&0xffffu)

/* Packed instructions that cannot overflow, and those that saturate with clamp. */
#define GS_VPK_2(name, from, expr)                                                                           \
  GS_OP(name) {                                                                                              \
    gs_row_t ta, tb, td;                                                                                     \
    const gs_row_t *const ra = gs_src_pk(w, in, 0, &ta), *const rb = gs_src_pk(w, in, 1, &tb);               \
    gs_row_t *const d = gs_dst32(w, in, &td);                                                                \
    GS_VPK_LANE_2(__typeof__(gs_as_##from(0)), from, GS_LOW16, expr)                                         \
    gs_commit32(w, in, d);                                                                                   \
  }
#define GS_VPK_ARITH_2(name, from, expr)                                                                     \
  GS_OP(name) {                                                                                              \
    gs_row_t ta, tb, td;                                                                                     \
    const gs_row_t *const ra = gs_src_pk(w, in, 0, &ta), *const rb = gs_src_pk(w, in, 1, &tb);               \
    gs_row_t *const d = gs_dst32(w, in, &td);                                                                \
    if (GS_LIKELY(!in->clamp))                                                                               \
      GS_VPK_LANE_2(__typeof__(gs_as_##from(0)), from, GS_LOW16, expr)                                       \
    else                                                                                                     \
      GS_VPK_LANE_2(int64_t, from, gs_sat_##from, expr)                                                      \
    gs_commit32(w, in, d);                                                                                   \
  }
#define GS_VPK_ARITH_3(name, from, expr)                                                                     \
  GS_OP(name) {                                                                                              \
    gs_row_t ta, tb, tc, td;                                                                                 \
    const gs_row_t *const ra = gs_src_pk(w, in, 0, &ta), *const rb = gs_src_pk(w, in, 1, &tb);               \
    const gs_row_t *const rc = gs_src_pk(w, in, 2, &tc);                                                     \
    gs_row_t *const d = gs_dst32(w, in, &td);                                                                \
    if (GS_LIKELY(!in->clamp))                                                                               \
      GS_VPK_LANE_3(__typeof__(gs_as_##from(0)), from, GS_LOW16, expr)                                       \
    else                                                                                                     \
      GS_VPK_LANE_3(int64_t, from, gs_sat_##from, expr)                                                      \
    gs_commit32(w, in, d);                                                                                   \
  }

/* The formatter would take products and masks of macro arguments for pointers. */
/* clang-format off */
GS_VPK_ARITH_2(v_pk_add_u16, u16, a + b)
GS_VPK_ARITH_2(v_pk_add_i16, i16, a + b)
GS_VPK_ARITH_2(v_pk_sub_u16, u16, a - b)
GS_VPK_ARITH_2(v_pk_sub_i16, i16, a - b)
GS_VPK_ARITH_2(v_pk_mul_lo_u16, u16, a * b)
GS_VPK_ARITH_3(v_pk_mad_u16, u16, a * b + c)
GS_VPK_ARITH_3(v_pk_mad_i16, i16, a * b + c)
GS_VPK_2(v_pk_lshlrev_b16, u16, b << (a & 15))
GS_VPK_2(v_pk_lshrrev_b16, u16, b >> (a & 15))
GS_VPK_2(v_pk_ashrrev_i16, i16, b >> (a & 15))
GS_VPK_2(v_pk_min_u16, u16, gs_min_u32(a, b))
GS_VPK_2(v_pk_max_u16, u16, gs_max_u32(a, b))
GS_VPK_2(v_pk_min_i16, i16, gs_min_i32(a, b))
GS_VPK_2(v_pk_max_i16, i16, gs_max_i32(a, b))
/* clang-format on */
