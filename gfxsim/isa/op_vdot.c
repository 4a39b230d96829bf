/* Dot products of small integers with a 32-bit sum.
 * Not here: dot products of floats, packed results (op_vpk_int.c). */
#include "isa/vint.h"

/* Exact sums of the products of two operands' parts. */
static inline int64_t gs_dot2_i16(uint32_t a, uint32_t b) {
  return (int64_t)((int16_t)a * (int16_t)b) + ((int32_t)a >> 16) * ((int32_t)b >> 16);
}
static inline int64_t gs_dot2_u16(uint32_t a, uint32_t b) {
  return (int64_t)((a & 0xffff) * (b & 0xffff)) + (a >> 16) * (b >> 16);
}
static inline int32_t gs_dot4_i8(uint32_t a, uint32_t b) {
  return (int8_t)a * (int8_t)b + (int8_t)(a >> 8) * (int8_t)(b >> 8) + (int8_t)(a >> 16) * (int8_t)(b >> 16) +
         ((int32_t)a >> 24) * ((int32_t)b >> 24);
}
static inline int32_t gs_dot4_u8(uint32_t a, uint32_t b) {
  return (uint8_t)a * (uint8_t)b + (uint8_t)(a >> 8) * (uint8_t)(b >> 8) +
         (uint8_t)(a >> 16) * (uint8_t)(b >> 16) + (uint8_t)(a >> 24) * (uint8_t)(b >> 24);
}
#define GS_NIBBLE_I(x, i) ((int32_t)((x) << (28 - 4 * (i))) >> 28)
#define GS_NIBBLE_U(x, i) (int32_t)((x) >> (4 * (i)) & 15)
#define GS_DOT8(part)                                                                                        \
  (part(a, 0) * part(b, 0) + part(a, 1) * part(b, 1) + part(a, 2) * part(b, 2) + part(a, 3) * part(b, 3) +   \
   part(a, 4) * part(b, 4) + part(a, 5) * part(b, 5) + part(a, 6) * part(b, 6) + part(a, 7) * part(b, 7))
static inline int32_t gs_dot8_i4(uint32_t a, uint32_t b) {
  return GS_DOT8(GS_NIBBLE_I);
}
static inline int32_t gs_dot8_u4(uint32_t a, uint32_t b) {
  return GS_DOT8(GS_NIBBLE_U);
}

/* Adds a dot product to a row: modulo 2^32, or with clamp saturating in the type that `to` names. */
#define GS_VDOT_BODY(src, dot, to, c_row)                                                                    \
  gs_row_t ta, tb, td;                                                                                       \
  const gs_row_t *const ra = src(w, in, 0, &ta), *const rb = src(w, in, 1, &tb), *const rc = (c_row);        \
  gs_row_t *const d = gs_dst32(w, in, &td);                                                                  \
  if (GS_LIKELY(!in->clamp))                                                                                 \
    GS_LANES_DO(l) {                                                                                         \
      d->u32[l] = (uint32_t)dot(ra->u32[l], rb->u32[l]) + rc->u32[l];                                        \
    }                                                                                                        \
  else                                                                                                       \
    GS_LANES_DO(l)                                                                                           \
      d->u32[l] = gs_sat_##to((int64_t)dot(ra->u32[l], rb->u32[l]) + gs_as_##to(rc->u32[l]));                \
  gs_commit32(w, in, d);

/* The VOP3P forms, and those that accumulate into their destination. */
#define GS_VDOT(name, src, dot, to)                                                                          \
  GS_OP(name) {                                                                                              \
    gs_row_t tc;                                                                                             \
    GS_VDOT_BODY(src, dot, to, gs_src32(w, in, 2, &tc))                                                      \
  }
#define GS_VDOTC(name, dot, to)                                                                              \
  GS_OP(name) {                                                                                              \
    GS_VDOT_BODY(gs_src32, dot, to, &w->v[in->dst])                                                          \
  }

/* op_sel chooses halves of 16-bit parts; smaller parts have no such choice. */
GS_VDOT(v_dot2_i32_i16, gs_src_pk, gs_dot2_i16, i32)
GS_VDOT(v_dot2_u32_u16, gs_src_pk, gs_dot2_u16, u32)
GS_VDOT(v_dot4_i32_i8, gs_src32, gs_dot4_i8, i32)
GS_VDOT(v_dot4_u32_u8, gs_src32, gs_dot4_u8, u32)
GS_VDOT(v_dot8_i32_i4, gs_src32, gs_dot8_i4, i32)
GS_VDOT(v_dot8_u32_u4, gs_src32, gs_dot8_u4, u32)
GS_VDOTC(v_dot2c_i32_i16, gs_dot2_i16, i32)
GS_VDOTC(v_dot4c_i32_i8, gs_dot4_i8, i32)
GS_VDOTC(v_dot8c_i32_i4, gs_dot8_i4, i32)

/* gfx11 says with the neg bits of each operand whether it is signed; the sum is. */
#define GS_SIGNED_PART(x, bits, i, is_signed)                                                                \
  ((is_signed) ? (int32_t)((x) << (32 - (bits) * ((i) + 1))) >> (32 - (bits))                                \
               : (int32_t)((x) << (32 - (bits) * ((i) + 1)) >> (32 - (bits))))
#define GS_VDOT_MIXED(name, bits)                                                                            \
  GS_OP(name) {                                                                                              \
    gs_row_t ta, tb, tc, td;                                                                                 \
    GS_VOP_SRC(0, a);                                                                                        \
    GS_VOP_SRC(1, b);                                                                                        \
    GS_VOP_SRC(2, c);                                                                                        \
    gs_row_t *const d = gs_dst32(w, in, &td);                                                                \
    const bool signed_a = in->neg_lo & 1, signed_b = in->neg_lo & 2, clamp = in->clamp;                      \
    GS_LANES_DO(l) {                                                                                         \
      int64_t sum = rc->i32[l];                                                                              \
      for (unsigned i = 0; i < 32 / (bits); i++)                                                             \
        sum +=                                                                                               \
            GS_SIGNED_PART(ra->u32[l], bits, i, signed_a) * GS_SIGNED_PART(rb->u32[l], bits, i, signed_b);   \
      d->u32[l] = clamp ? gs_sat_i32(sum) : (uint32_t)sum;                                                   \
    }                                                                                                        \
    gs_commit32(w, in, d);                                                                                   \
  }
GS_VDOT_MIXED(v_dot4_i32_iu8, 8)
GS_VDOT_MIXED(v_dot8_i32_iu4, 4)
