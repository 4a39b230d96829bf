/* Half-precision arithmetic, one number per register. How results are rounded correctly: float.h.
 * Not here: packed halves and mixed precision (op_vpk_float.c), reciprocals, roots and the like
 * (op_vtrans.c), division (op_vdiv.c), conversions (op_vcvt.c). */
#include "isa/convert.h"
#include "isa/float.h"
#include "isa/fma16.h"

GS_F16_2(v_add_f16, gs_add32(a, b))
GS_F16_2(v_sub_f16, a - b)
GS_F16_2(v_subrev_f16, gs_first_nan32(a, b - a))
GS_F16_2(v_mul_f16, gs_mul32(a, b))

#define GS_FMA16_LOOP(round, fma)                                                                            \
  GS_F16_NAN_LOOP(round, GS_F16_LOAD(a); GS_F16_LOAD(b); GS_F16_LOAD(c), fma(a, b, c, limit))
#define GS_FMA16(name, source_c)                                                                             \
  GS_OP(name) {                                                                                              \
    GS_F16_SRC(0, a);                                                                                        \
    GS_F16_SRC(1, b);                                                                                        \
    source_c;                                                                                                \
    GS_SIGNALS_16(ra, rb, rc);                                                                               \
    if (GS_LIKELY(!gs_fp_custom(w))) {                                                                       \
      GS_FMA16_LOOP((void)0, gs_fma16_near);                                                                 \
    } else {                                                                                                 \
      GS_FMA16_LOOP(gs_round16(w), gs_fma16);                                                                \
    }                                                                                                        \
  }
/* The legacy one differs in what happens to the other half of the destination, which the commit knows. */
GS_FMA16(v_fma_f16, GS_F16_SRC(2, c))
GS_FMA16(v_fmac_f16, GS_F16_ACC(c))
GS_FMA16(v_fma_legacy_f16, GS_F16_SRC(2, c))

/* The unfused multiply-add rounds the product, and knows no denormals whatever MODE says. */
static inline uint32_t gs_mad16(uint32_t a, uint32_t b, uint32_t c, gs_f16_limit_t limit) {
  const float x = gs_f32_of_f16(gs_flush16(a)), y = gs_f32_of_f16(gs_flush16(b)),
              z = gs_f32_of_f16(gs_flush16(c));
  const uint32_t product = gs_flush16(gs_f16_of_f32(gs_mul32(x, y), limit));
  return gs_flush16(gs_f16_of_f32(gs_add32(gs_f32_of_f16(product), z), limit));
}
#define GS_MAD16(name, source_c)                                                                             \
  GS_OP(name) {                                                                                              \
    GS_F16_SRC(0, a);                                                                                        \
    GS_F16_SRC(1, b);                                                                                        \
    source_c;                                                                                                \
    GS_SIGNALS_16(ra, rb, rc);                                                                               \
    GS_F16_NAN_LOOP(gs_round16(w), (void)0, gs_mad16(ra->u32[l], rb->u32[l], rc->u32[l], limit));            \
  }
GS_MAD16(v_mad_f16, GS_F16_SRC(2, c))
GS_MAD16(v_mad_legacy_f16, GS_F16_SRC(2, c))
GS_MAD16(v_mac_f16, GS_F16_ACC(c))

/* ---- Minimum, maximum: as floats, whose signaling NaNs have the half's quiet bit in the right place ---- */

/* The signaling NaNs of these are the rule's. */
#define GS_SETUP_RULE                                                                                        \
  const gs_nan_rule32_t rule = gs_nan_rule32(w);                                                             \
  signals = false
GS_F16_BITS_2(v_min_f16, GS_SETUP_RULE, (void)0, gs_f16_bits(gs_min32(a, b, rule)))
GS_F16_BITS_2(v_max_f16, GS_SETUP_RULE, (void)0, gs_f16_bits(gs_max32(a, b, rule)))
GS_F16_BITS_3(v_min3_f16, GS_SETUP_RULE, (void)0, gs_f16_bits(gs_min32(gs_min32(a, b, rule), c, rule)))
GS_F16_BITS_3(v_max3_f16, GS_SETUP_RULE, (void)0, gs_f16_bits(gs_max32(gs_max32(a, b, rule), c, rule)))
GS_F16_BITS_3(v_med3_f16, GS_SETUP_RULE, (void)0, gs_f16_bits(gs_med32(a, b, c, rule)))

GS_F16_BITS_3(v_maxmin_f16, GS_SETUP_RULE, (void)0, gs_f16_bits(gs_min32(gs_max32(a, b, rule), c, rule)))
GS_F16_BITS_3(v_minmax_f16, GS_SETUP_RULE, (void)0, gs_f16_bits(gs_max32(gs_min32(a, b, rule), c, rule)))

/* ---- To integers that stay floats ---- */

GS_F16_1_EXACT(v_trunc_f16, truncf(a))
GS_F16_1_EXACT(v_ceil_f16, ceilf(a))
GS_F16_1_EXACT(v_floor_f16, floorf(a))
GS_F16_1_EXACT(v_rndne_f16, rintf(a))
/* Stays below 1 even where the difference rounds up to it, and +0 if rounded down. The integer is found
 * before MODE's rounding is set, under which not every host's floor works. */
static inline uint32_t gs_fract16(float x, float whole, gs_f16_limit_t limit) {
  const uint32_t f = gs_f16_of_f32(x - whole, limit);
  return f == 0x3c00 ? 0x3bff : f == 0x8000 ? 0 : f;
}
GS_OP(v_fract_f16) {
  gs_row_t whole;
  GS_F16_SRC(0, a);
  GS_LANES_DO(l)
    whole.f32[l] = floorf(gs_f32_of_f16(ra->u32[l]));
  GS_SIGNALS_16(ra);
  GS_F16_NAN_LOOP(gs_round16(w), GS_F16_LOAD(a), gs_fract16(a, whole.f32[l], limit));
}

/* ---- Exponents: every half is a normal float ---- */

static inline float gs_ldexp16(float x, int32_t n) {
  const int32_t low = n < -60 ? -60 : n, both = low > 60 ? 60 : low;
  return x * gs_float_of_bits((uint32_t)(both + 127) << 23);
}
GS_OP(v_ldexp_f16) {
  GS_F16_SRC(0, a);
  gs_row_t tb;
  const gs_row_t *const rb = gs_src16(w, in, 1, &tb);
  GS_SIGNALS_16(ra);
  GS_F16_NAN_LOOP(gs_round16(w), GS_F16_LOAD(a);
                  const int32_t n = (int16_t)rb->u32[l], gs_f16_of_f32(gs_ldexp16(a, n), limit));
}

static inline bool gs_has_exponent16(uint32_t bits) {
  return (bits & 0x7fffffff) - 1 < 0x7f7fffff;
}
static inline float gs_frexp_mant16(float x) {
  const uint32_t bits = gs_bits_of_float(x);
  return gs_has_exponent16(bits) ? gs_float_of_bits((bits & 0x807fffff) | 0x3f000000) : x;
}
static inline uint32_t gs_frexp_exp16(float x) {
  const uint32_t bits = gs_bits_of_float(x);
  return gs_has_exponent16(bits) ? ((bits >> 23 & 0xff) - 126) & 0xffff : 0;
}
GS_F16_1_EXACT(v_frexp_mant_f16, gs_frexp_mant16(a))
GS_OP(v_frexp_exp_i16_f16) {
  GS_F16_SRC(0, a);
  gs_row_t td;
  gs_row_t *const d = gs_dst32(w, in, &td);
  GS_LANES_DO(l) {
    GS_F16_LOAD(a);
    d->u32[l] = gs_frexp_exp16(a);
  }
  gs_commit32(w, in, d);
}
