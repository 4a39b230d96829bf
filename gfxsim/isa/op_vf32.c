/* Single-precision arithmetic: add, multiply, fused and unfused multiply-add, minimum, maximum, rounding to
 * integers, exponents, cube maps, and the packed pairs of gfx90a. Not here: transcendental functions
 * (op_vtrans.c), division (op_vdiv.c), conversions (op_vcvt.c). */
#include "isa/float.h"

#include <float.h>

GS_F32_SUM_2(v_add_f32, gs_strip_add32, gs_add32(a, b))
GS_F32_2(v_sub_f32, a - b)
GS_F32_2(v_subrev_f32, b - a)
GS_F32_SUM_2(v_mul_f32, gs_strip_mul32, gs_mul32(a, b))
GS_F32_SUM_3(v_fma_f32, gs_strip_fma32, gs_fma32(a, b, c))
GS_F32_SUM_ACC_3(v_fmac_f32, gs_strip_fma32, gs_fma32(a, b, c))

/* Zero times anything is +0, as DirectX 9 had it. */
static inline float gs_mul_legacy(float a, float b) {
  return a == 0.0f || b == 0.0f ? 0.0f : a * b;
}
GS_F32_2(v_mul_legacy_f32, gs_mul_legacy(a, b))
static inline float gs_fma_legacy(float a, float b, float c) {
  return a == 0.0f || b == 0.0f ? c + 0.0f : fmaf(a, b, c);
}
GS_F32_3(v_fma_legacy_f32, gs_fma_legacy(a, b, c))
GS_F32_ACC_3(v_fmac_legacy_f32, gs_fma_legacy(a, b, c))

/* A specular term of lighting: none where the light does not fall, or its power has no meaning. */
static inline float gs_mullit(float a, float b, float c) {
  return b > -FLT_MAX && c > 0.0f ? gs_mul_legacy(a, b) : -FLT_MAX;
}
GS_F32_3(v_mullit_f32, gs_mullit(a, b, c))

/* The unfused multiply-add rounds the product, and knows no denormals whatever MODE says. */
static inline float gs_mad(float a, float b, float c) {
  return gs_flush32(gs_add32(gs_flush32(gs_mul32(gs_flush32(a), gs_flush32(b))), gs_flush32(c)));
}
static inline float gs_mad_legacy(float a, float b, float c) {
  return gs_flush32(gs_flush32(gs_mul_legacy(gs_flush32(a), gs_flush32(b))) + gs_flush32(c));
}
GS_F32_3(v_mad_f32, gs_mad(a, b, c))
GS_F32_3(v_mad_legacy_f32, gs_mad_legacy(a, b, c))
GS_F32_ACC_3(v_mac_f32, gs_mad(a, b, c))

/* ---- Minimum, maximum ---- */

#define GS_SETUP_RULE const gs_nan_rule32_t rule = gs_nan_rule32(w)
GS_F32_SHAPE_2(v_min_f32, GS_SETUP_RULE, (void)0, gs_min32(a, b, rule))
GS_F32_SHAPE_2(v_max_f32, GS_SETUP_RULE, (void)0, gs_max32(a, b, rule))
GS_F32_SHAPE_3(v_min3_f32, GS_SETUP_RULE, (void)0, gs_min32(gs_min32(a, b, rule), c, rule))
GS_F32_SHAPE_3(v_max3_f32, GS_SETUP_RULE, (void)0, gs_max32(gs_max32(a, b, rule), c, rule))
GS_F32_SHAPE_3(v_med3_f32, GS_SETUP_RULE, (void)0, gs_med32(a, b, c, rule))

GS_F32_SHAPE_3(v_maxmin_f32, GS_SETUP_RULE, (void)0, gs_min32(gs_max32(a, b, rule), c, rule))
GS_F32_SHAPE_3(v_minmax_f32, GS_SETUP_RULE, (void)0, gs_max32(gs_min32(a, b, rule), c, rule))

/* ---- To integers that stay floats ---- */

GS_F32_1_EXACT(v_trunc_f32, truncf(gs_quiet32(a)))
GS_F32_1_EXACT(v_ceil_f32, ceilf(gs_quiet32(a)))
GS_F32_1_EXACT(v_floor_f32, floorf(gs_quiet32(a)))
GS_F32_1_EXACT(v_rndne_f32, rintf(gs_quiet32(a)))

/* The difference to the next lower integer, below 1 even where it rounds up to it. Infinities give NaN. The
 * integer is found before MODE's rounding is set, under which not every host's floor works. */
static inline float gs_fract(float x, float whole) {
  const float f = x - whole;
  return f > 0x1.fffffep-1f ? 0x1.fffffep-1f : f;
}
GS_OP(v_fract_f32) {
  gs_row_t whole;
  GS_F32_SRC(0, a);
  GS_LANES_DO(l)
    whole.f32[l] = floorf(ra->f32[l]);
  GS_F32_LOOP(gs_round32(w), (void)0, gs_fract(ra->f32[l], whole.f32[l]));
}

/* ---- Exponents ---- */

/* 2^n for an n that a double's exponent has room for. */
static inline double gs_pow2(int32_t n) {
  return gs_double_of_bits((uint64_t)(uint32_t)(n + 1023) << 52);
}
static inline int32_t gs_limit_i32(int32_t n, int32_t most) {
  const int32_t x = n < -most ? -most : n;
  return x > most ? most : x;
}
/* Exact in double, whose range holds all products that matter, then rounded once. */
static inline float gs_ldexp(float x, int32_t n) {
  return (float)((double)x * gs_pow2(gs_limit_i32(n, 300)));
}
GS_OP(v_ldexp_f32) {
  GS_F32_SRC(0, a);
  gs_row_t tb;
  const gs_row_t *const rb = gs_src32(w, in, 1, &tb);
  GS_F32_LOOP(gs_round32(w), const float a = ra->f32[l]; const int32_t n = rb->i32[l], gs_ldexp(a, n));
}

/* Numbers that are not 0, infinite or NaN have a mantissa in [0.5, 1) and an exponent; the others are their
 * own mantissa and have exponent 0. Denormals are normalised first. */
static inline bool gs_has_exponent(float x) {
  const uint32_t magnitude = gs_bits_of_float(x) & 0x7fffffff;
  return magnitude - 1 < 0x7f7fffff;
}
static inline bool gs_is_denormal(float x) {
  return (gs_bits_of_float(x) & 0x7f800000) == 0;
}
static inline float gs_frexp_mant(float x) {
  const uint32_t bits = gs_bits_of_float(gs_is_denormal(x) ? x * 0x1p64f : x);
  return gs_has_exponent(x) ? gs_float_of_bits((bits & 0x807fffff) | 0x3f000000) : x + x;
}
static inline int32_t gs_frexp_exp(float x) {
  const uint32_t bits = gs_bits_of_float(gs_is_denormal(x) ? x * 0x1p64f : x);
  const int32_t exponent = (int32_t)(bits >> 23 & 0xff) - (gs_is_denormal(x) ? 126 + 64 : 126);
  return gs_has_exponent(x) ? exponent : 0;
}
GS_F32_1_EXACT(v_frexp_mant_f32, gs_frexp_mant(a))
GS_OP(v_frexp_exp_i32_f32) {
  GS_F32_SRC(0, a);
  gs_row_t td;
  gs_row_t *const d = gs_dst32(w, in, &td);
  GS_LANES_DO(l)
    d->i32[l] = gs_frexp_exp(ra->f32[l]);
  gs_commit32(w, in, d);
}

/* ---- Cube maps: x, y, z are a, b, c. The major axis is z, else y, else x, in case of a tie. ---- */

static inline bool gs_cube_z(float x, float y, float z) {
  return fabsf(z) >= fabsf(x) && fabsf(z) >= fabsf(y);
}
static inline bool gs_cube_y(float x, float y) {
  return fabsf(y) >= fabsf(x);
}
static inline float gs_cube_id(float x, float y, float z) {
  const float face_z = z < 0.0f ? 5.0f : 4.0f, face_y = y < 0.0f ? 3.0f : 2.0f,
              face_x = x < 0.0f ? 1.0f : 0.0f;
  const float other = gs_cube_y(x, y) ? face_y : face_x;
  return gs_cube_z(x, y, z) ? face_z : other;
}
static inline float gs_cube_sc(float x, float y, float z) {
  const float face_z = z < 0.0f ? -x : x, face_x = x < 0.0f ? z : -z;
  const float other = gs_cube_y(x, y) ? x : face_x;
  return gs_cube_z(x, y, z) ? face_z : other;
}
static inline float gs_cube_tc(float x, float y, float z) {
  const float face_y = y < 0.0f ? -z : z;
  const float other = gs_cube_y(x, y) ? face_y : -y;
  return gs_cube_z(x, y, z) ? -y : other;
}
static inline float gs_cube_ma(float x, float y, float z) {
  const float other = gs_cube_y(x, y) ? y : x;
  return (gs_cube_z(x, y, z) ? z : other) * 2.0f;
}
GS_F32_3(v_cubeid_f32, gs_cube_id(a, b, c))
GS_F32_3(v_cubesc_f32, gs_cube_sc(a, b, c))
GS_F32_3(v_cubetc_f32, gs_cube_tc(a, b, c))
GS_F32_3(v_cubema_f32, gs_cube_ma(a, b, c))
