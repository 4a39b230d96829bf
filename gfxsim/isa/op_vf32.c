/* Single-precision arithmetic: add, multiply, fused and unfused multiply-add, minimum, maximum, rounding to
 * integers, exponents, cube maps, and the packed pairs of gfx90a. Not here: transcendental functions
 * (op_vtrans.c), division (op_vdiv.c), conversions (op_vcvt.c). */
#include "isa/float.h"

#include <float.h>

GS_F32_SUM_2(v_add_f32, gs_strip_add32, gs_add32(a, b))
GS_F32_2(v_sub_f32, a - b)
GS_F32_2(v_subrev_f32, gs_first_nan32(a, b - a))
GS_F32_SUM_2(v_mul_f32, gs_strip_mul32, gs_mul32(a, b))
GS_F32_SUM_3(v_fma_f32, gs_strip_fma32, gs_fma32(a, b, c))
GS_F32_SUM_ACC_3(v_fmac_f32, gs_strip_fma32, gs_fma32(a, b, c))

/* Zero times anything is +0, as DirectX 9 had it. */
static inline float gs_mul_legacy(float a, float b) {
  return a == 0.0f || b == 0.0f ? 0.0f : gs_mul32(a, b);
}
GS_F32_2(v_mul_legacy_f32, gs_mul_legacy(a, b))
/* Of the multiply-adds of this kind: where the product is zero, NaNs of its factors do not count. */
static void gs_find_signaling_legacy(const gs_row_t *ra, const gs_row_t *rb, const gs_row_t *rc,
                                     gs_row_t *signaling) {
  gs_row_t a, b;
  GS_LANES_DO(l) {
    const bool zero = gs_flush32(ra->f32[l]) == 0.0f || gs_flush32(rb->f32[l]) == 0.0f;
    a.u32[l] = zero ? 0 : ra->u32[l];
    b.u32[l] = zero ? 0 : rb->u32[l];
  }
  gs_find_signaling32((const gs_row_t *const[]){&a, &b, rc}, 3, signaling);
}
/* The fused one knows no denormals whatever MODE says, as measured on gfx1100
 * (rocm-systems, emulation/rocjitsu). */
static inline float gs_fma_legacy(float a, float b, float c) {
  const float x = gs_flush32(a), y = gs_flush32(b), z = gs_flush32(c);
  return gs_flush32(x == 0.0f || y == 0.0f ? gs_add32(z, 0.0f) : gs_fma32(x, y, z));
}
#define GS_FMA_LEGACY(name, source_c)                                                                        \
  GS_OP(name) {                                                                                              \
    GS_F32_SRC(0, a);                                                                                        \
    GS_F32_SRC(1, b);                                                                                        \
    source_c;                                                                                                \
    gs_row_t signaling, td;                                                                                  \
    const bool signals = gs_keeps_signaling(w);                                                              \
    if (signals)                                                                                             \
      gs_find_signaling_legacy(ra, rb, rc, &signaling);                                                      \
    gs_row_t *const d = gs_dst32(w, in, &td);                                                                \
    gs_round_custom(w, GS_MODE_ROUND32_SHIFT, true);                                                         \
    GS_LANES_DO(l)                                                                                           \
      d->f32[l] = gs_fma_legacy(ra->f32[l], rb->f32[l], rc->f32[l]);                                         \
    if (signals)                                                                                             \
      gs_put_signaling32(&signaling, d);                                                                     \
    gs_finish_flushed32(w, in, d);                                                                           \
    gs_commit32(w, in, d);                                                                                   \
  }
GS_FMA_LEGACY(v_fma_legacy_f32, GS_F32_SRC(2, c))
GS_FMA_LEGACY(v_fmac_legacy_f32, GS_F32_ACC(c))

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
  return gs_flush32(gs_add32(gs_flush32(gs_mul_legacy(gs_flush32(a), gs_flush32(b))), gs_flush32(c)));
}
GS_F32_3(v_mad_f32, gs_mad(a, b, c))
GS_F32_SHAPE_3(v_mad_legacy_f32, if (signals) gs_find_signaling_legacy(ra, rb, rc, signaling), gs_round32(w),
               gs_mad_legacy(a, b, c))
GS_F32_ACC_3(v_mac_f32, gs_mad(a, b, c))

/* ---- Minimum, maximum ---- */

/* The signaling NaNs of these are the rule's. */
#define GS_SETUP_RULE                                                                                        \
  const gs_nan_rule32_t rule = gs_nan_rule32(w);                                                             \
  signals = false
GS_F32_SHAPE_2(v_min_f32, GS_SETUP_RULE, (void)0, gs_min32(a, b, rule))
GS_F32_SHAPE_2(v_max_f32, GS_SETUP_RULE, (void)0, gs_max32(a, b, rule))
GS_F32_SHAPE_3(v_min3_f32, GS_SETUP_RULE, (void)0, gs_min32(gs_min32(a, b, rule), c, rule))
GS_F32_SHAPE_3(v_max3_f32, GS_SETUP_RULE, (void)0, gs_max32(gs_max32(a, b, rule), c, rule))
GS_F32_SHAPE_3(v_med3_f32, GS_SETUP_RULE, (void)0, gs_med32(a, b, c, rule))

GS_F32_SHAPE_3(v_maxmin_f32, GS_SETUP_RULE, (void)0, gs_min32(gs_max32(a, b, rule), c, rule))
GS_F32_SHAPE_3(v_minmax_f32, GS_SETUP_RULE, (void)0, gs_max32(gs_min32(a, b, rule), c, rule))

/* Of IEEE 754-2019: a NaN is the result, and -0 is less than 0. */
GS_F32_SHAPE_3(v_minimum3_f32, (void)0, (void)0, gs_minimum32(gs_minimum32(a, b), c))
GS_F32_SHAPE_3(v_maximum3_f32, (void)0, (void)0, gs_maximum32(gs_maximum32(a, b), c))

/* ---- To integers that stay floats ---- */

GS_F32_1_EXACT(v_trunc_f32, truncf(gs_quiet32(a)))
GS_F32_1_EXACT(v_ceil_f32, ceilf(gs_quiet32(a)))
GS_F32_1_EXACT(v_floor_f32, floorf(gs_quiet32(a)))
GS_F32_1_EXACT(v_rndne_f32, rintf(gs_quiet32(a)))

/* The difference to the next lower integer, below 1 even where it rounds up to it, and +0 also if rounded
 * down (gfx1201; rocm-systems, emulation/rocjitsu). Infinities give NaN. The integer is found before MODE's
 * rounding is set, under which not every host's floor works. */
static inline float gs_fract(float x, float whole) {
  const float f = x - whole, below = f > 0x1.fffffep-1f ? 0x1.fffffep-1f : f;
  return below == 0.0f ? 0.0f : below;
}
GS_OP(v_fract_f32) {
  gs_row_t whole;
  GS_F32_SRC(0, a);
  GS_LANES_DO(l)
    whole.f32[l] = floorf(ra->f32[l]);
  GS_SIGNALS_32(ra);
  GS_F32_NAN_LOOP(gs_round32(w), (void)0, gs_fract(ra->f32[l], whole.f32[l]));
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
  GS_SIGNALS_32(ra);
  GS_F32_NAN_LOOP(gs_round32(w), const float a = ra->f32[l]; const int32_t n = rb->i32[l], gs_ldexp(a, n));
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

/* ---- Cube maps: x, y, z are a, b, c. The major axis is z, else y, else x, in case of a tie ----
 *
 * Denormals count as zeroes, whatever MODE says; a NaN leaves x as the axis. Coordinates are copied as they
 * are, and twice the distance is +0 for zeroes. So AMD's emulator has it (rocm-systems, emulation/rocjitsu).
 */

typedef struct gs_cube {
  uint32_t x, y, z, major, flip; /* flip: the sign, if the major coordinate is negative */
  bool is_z, is_y;
} gs_cube_t;

static inline uint32_t gs_cube_magnitude(uint32_t x) {
  const uint32_t magnitude = x & 0x7fffffff;
  return magnitude < 0x00800000 ? 0 : magnitude;
}
static inline gs_cube_t gs_cube(uint32_t x, uint32_t y, uint32_t z) {
  const uint32_t mx = gs_cube_magnitude(x), my = gs_cube_magnitude(y), mz = gs_cube_magnitude(z);
  const bool xy = mx <= 0x7f800000 && my <= 0x7f800000, is_y = xy && my >= mx;
  const bool is_z = xy && mz <= 0x7f800000 && mz >= mx && mz >= my;
  const uint32_t unless_z = is_y ? y : x, major = is_z ? z : unless_z, magnitude = gs_cube_magnitude(major);
  const uint32_t flip = magnitude - 1 < 0x7f800000 ? major & 0x80000000 : 0;
  return (gs_cube_t){.x = x, .y = y, .z = z, .major = major, .flip = flip, .is_z = is_z, .is_y = is_y};
}
static inline uint32_t gs_cube_id(gs_cube_t c) {
  const float unless_z = c.is_y ? 2.0f : 0.0f, face = c.is_z ? 4.0f : unless_z;
  return gs_bits_of_float(c.flip ? face + 1.0f : face);
}
static inline uint32_t gs_cube_sc(gs_cube_t c) {
  const uint32_t unless_z = c.is_y ? c.x : c.z ^ c.flip ^ 0x80000000;
  return c.is_z ? c.x ^ c.flip : unless_z;
}
static inline uint32_t gs_cube_tc(gs_cube_t c) {
  return !c.is_z && c.is_y ? c.z ^ c.flip : c.y ^ 0x80000000;
}
static inline uint32_t gs_cube_ma(gs_cube_t c) {
  const float twice = gs_flush32(gs_float_of_bits(c.major)) * 2.0f + 0.0f;
  return gs_cube_magnitude(c.major) > 0x7f800000 ? c.major : gs_bits_of_float(twice);
}
static inline uint32_t gs_cube_quiet(uint32_t bits, uint32_t quiet) {
  return (bits & 0x7fffffff) > 0x7f800000 ? bits | quiet : bits;
}
#define GS_CUBE(name, fn)                                                                                    \
  GS_OP(name) {                                                                                              \
    gs_row_t ta, tb, tc, td;                                                                                 \
    const gs_row_t *const ra = gs_src32_float(w, in, 0, &ta), *const rb = gs_src32_float(w, in, 1, &tb);     \
    const gs_row_t *const rc = gs_src32_float(w, in, 2, &tc);                                                \
    gs_row_t *const d = gs_dst32(w, in, &td);                                                                \
    const uint32_t quiet = gs_keeps_signaling(w) ? 0 : 0x00400000;                                           \
    gs_round32(w);                                                                                           \
    GS_LANES_DO(l)                                                                                           \
      d->u32[l] = gs_cube_quiet(fn(gs_cube(ra->u32[l], rb->u32[l], rc->u32[l])), quiet);                     \
    if (gs_finish_needed(w, in))                                                                             \
      gs_finish_kept32(w, in, d);                                                                            \
    gs_commit32(w, in, d);                                                                                   \
  }
GS_CUBE(v_cubeid_f32, gs_cube_id)
GS_CUBE(v_cubesc_f32, gs_cube_sc)
GS_CUBE(v_cubetc_f32, gs_cube_tc)
GS_CUBE(v_cubema_f32, gs_cube_ma)
