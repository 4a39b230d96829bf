/* Scalar floats of gfx11.5: arithmetic, rounding to integers, conversions and comparisons of f32 and f16.
 * MODE says how they round and what becomes of denormals, as for vectors. Of a half the upper bits of the
 * destination are 0. Not here: what vectors do (op_vf32.c, op_vf16.c, op_vcvt.c), moves and integers
 * (op_sop*.c). */
#include "isa/convert.h"
#include "isa/scalar.h"

/* ---- Operands and results ---- */

static inline bool gs_flushes(const gs_wave_t *w, unsigned shift, unsigned which) {
  return GS_UNLIKELY(gs_fp_custom(w)) && !gs_keeps(w, shift, which);
}

static inline float gs_sf32_of(const gs_wave_t *w, uint32_t bits) {
  const float x = gs_float_of_bits(bits);
  return gs_flushes(w, GS_MODE_DENORM32_SHIFT, GS_KEEP_INPUTS) ? gs_flush32(x) : x;
}
static inline float gs_sf16_of(const gs_wave_t *w, uint32_t bits) {
  const uint32_t x = bits & 0xffff;
  return gs_f32_of_f16(gs_flushes(w, GS_MODE_DENORM64_SHIFT, GS_KEEP_INPUTS) ? gs_flush16(x) : x);
}
static inline float gs_sf32(const gs_wave_t *w, const gs_inst_t *in, unsigned i) {
  return gs_sf32_of(w, gs_ssrc32(w, in, i));
}
static inline float gs_sf16(const gs_wave_t *w, const gs_inst_t *in, unsigned i) {
  return gs_sf16_of(w, gs_ssrc32(w, in, i));
}
/* The destination as an operand (fmac). */
static inline uint32_t gs_sdst_bits(const gs_wave_t *w, const gs_inst_t *in) {
  return gs_is_ttmp(in->dst) ? 0 : gs_read_sgpr32(w, in->dst);
}

static inline void gs_end_sf32(gs_wave_t *w, const gs_inst_t *in, float x) {
  gs_round_end(w);
  gs_sdst32(w, in,
            gs_bits_of_float(gs_flushes(w, GS_MODE_DENORM32_SHIFT, GS_KEEP_OUTPUTS) ? gs_flush32(x) : x));
}
static inline uint32_t gs_sf16_result(const gs_wave_t *w, uint32_t half) {
  return gs_flushes(w, GS_MODE_DENORM64_SHIFT, GS_KEEP_OUTPUTS) ? gs_flush16(half) : half;
}
static inline void gs_end_sf16(gs_wave_t *w, const gs_inst_t *in, uint32_t half) {
  gs_round_end(w);
  gs_sdst32(w, in, gs_sf16_result(w, half));
}

/* ---- Shapes: `expr` of a, b, c, rounded as `round` sets it ----
 *
 * Operands and results pass through volatile variables, so that no compiler moves the arithmetic out of where
 * the host rounds as MODE says. */

#define GS_SFLOAT_1(name, load_a, round, type, expr, end)                                                    \
  GS_OP(name) {                                                                                              \
    const volatile __typeof__(load_a) va = (load_a);                                                         \
    const gs_f16_limit_t limit = gs_f16_limit(w);                                                            \
    (void)limit;                                                                                             \
    round;                                                                                                   \
    const __typeof__(load_a) a = va;                                                                         \
    const volatile type d = (expr);                                                                          \
    end(w, in, d);                                                                                           \
  }
#define GS_SFLOAT_3(name, load_a, load_b, load_c, round, type, expr, end)                                    \
  GS_OP(name) {                                                                                              \
    const volatile float va = (load_a), vb = (load_b), vc = (load_c);                                        \
    const gs_f16_limit_t limit = gs_f16_limit(w);                                                            \
    const gs_nan_rule32_t rule = gs_nan_rule32(w);                                                           \
    (void)limit, (void)rule;                                                                                 \
    round;                                                                                                   \
    const float a = va, b = vb, c = vc;                                                                      \
    (void)c;                                                                                                 \
    const volatile type d = (expr);                                                                          \
    end(w, in, d);                                                                                           \
  }

#define GS_SF32_1(name, expr) GS_SFLOAT_1(name, gs_sf32(w, in, 0), (void)0, float, expr, gs_end_sf32)
#define GS_SF32_3(name, load_c, expr)                                                                        \
  GS_SFLOAT_3(name, gs_sf32(w, in, 0), gs_sf32(w, in, 1), load_c, gs_round32(w), float, expr, gs_end_sf32)
#define GS_SF32_2(name, expr) GS_SF32_3(name, 0.0f, expr)
#define GS_SF16_1(name, expr)                                                                                \
  GS_SFLOAT_1(name, gs_sf16(w, in, 0), (void)0, uint32_t, gs_f16_of_f32(expr, limit), gs_end_sf16)
#define GS_SF16_3(name, load_c, bits)                                                                        \
  GS_SFLOAT_3(name, gs_sf16(w, in, 0), gs_sf16(w, in, 1), load_c, gs_round64(w), uint32_t, bits, gs_end_sf16)
#define GS_SF16_2(name, expr) GS_SF16_3(name, 0.0f, gs_f16_of_f32(expr, limit))

/* ---- Arithmetic ---- */

GS_SF32_2(s_add_f32, gs_add32(a, b))
GS_SF32_2(s_sub_f32, a - b)
GS_SF32_2(s_mul_f32, gs_mul32(a, b))
GS_SF32_2(s_min_f32, gs_min32(a, b, rule))
GS_SF32_2(s_max_f32, gs_max32(a, b, rule))
GS_SF32_3(s_fma_f32, gs_sf32(w, in, 2), gs_fma32(a, b, c)) /* fmaak, fmamk */
GS_SF32_3(s_fmac_f32, gs_sf32_of(w, gs_sdst_bits(w, in)), gs_fma32(a, b, c))
GS_SF16_2(s_add_f16, gs_add32(a, b))
GS_SF16_2(s_sub_f16, a - b)
GS_SF16_2(s_mul_f16, gs_mul32(a, b))
GS_SF16_3(s_min_f16, 0.0f, gs_f16_bits(gs_min32(a, b, rule)))
GS_SF16_3(s_max_f16, 0.0f, gs_f16_bits(gs_max32(a, b, rule)))
GS_SF16_3(s_fmac_f16, gs_sf16_of(w, gs_sdst_bits(w, in)), gs_fma16(a, b, c, limit))

/* ---- To integers that stay floats ---- */

GS_SF32_1(s_ceil_f32, ceilf(gs_quiet32(a)))
GS_SF32_1(s_floor_f32, floorf(gs_quiet32(a)))
GS_SF32_1(s_trunc_f32, truncf(gs_quiet32(a)))
GS_SF32_1(s_rndne_f32, rintf(gs_quiet32(a)))
GS_SF16_1(s_ceil_f16, ceilf(a))
GS_SF16_1(s_floor_f16, floorf(a))
GS_SF16_1(s_trunc_f16, truncf(a))
GS_SF16_1(s_rndne_f16, rintf(a))

/* ---- Conversions ---- */

GS_SFLOAT_1(s_cvt_f32_i32, (int32_t)gs_ssrc32(w, in, 0), gs_round32(w), float, (float)a, gs_end_sf32)
GS_SFLOAT_1(s_cvt_f32_u32, gs_ssrc32(w, in, 0), gs_round32(w), float, gs_f32_of_u32(a), gs_end_sf32)
GS_SFLOAT_1(s_cvt_f16_f32, gs_sf32(w, in, 0), gs_round64(w), uint32_t, gs_f16_of_f32(a, limit), gs_end_sf16)
GS_SFLOAT_1(s_cvt_f32_f16, gs_sf16(w, in, 0), (void)0, float, gs_quiet32(a), gs_end_sf32)
GS_SFLOAT_1(s_cvt_hi_f32_f16, gs_sf16_of(w, gs_ssrc32(w, in, 0) >> 16), (void)0, float, gs_quiet32(a),
            gs_end_sf32)
GS_OP(s_cvt_i32_f32) {
  gs_sdst32(w, in, (uint32_t)gs_i32_of_f32(gs_sf32(w, in, 0)));
}
GS_OP(s_cvt_u32_f32) {
  gs_sdst32(w, in, gs_u32_of_f32(gs_sf32(w, in, 0)));
}
GS_OP(s_cvt_pk_rtz_f16_f32) {
  const uint32_t low = gs_f16_of_f32_rtz(gs_sf32(w, in, 0)), high = gs_f16_of_f32_rtz(gs_sf32(w, in, 1));
  gs_sdst32(w, in, gs_sf16_result(w, low) | gs_sf16_result(w, high) << 16);
}

/* ---- Comparisons: with a NaN the first eight are false, except `u`; the others are true ---- */

#define GS_SF_CMP(name, expr)                                                                                \
  GS_OP(s_cmp_##name##_f32) {                                                                                \
    const float a = gs_sf32(w, in, 0), b = gs_sf32(w, in, 1);                                                \
    gs_write_scc(w, (uint32_t)(expr));                                                                       \
  }                                                                                                          \
  GS_OP(s_cmp_##name##_f16) {                                                                                \
    const float a = gs_sf16(w, in, 0), b = gs_sf16(w, in, 1);                                                \
    gs_write_scc(w, (uint32_t)(expr));                                                                       \
  }
GS_SF_CMP(lt, a < b)
GS_SF_CMP(eq, a == b)
GS_SF_CMP(le, a <= b)
GS_SF_CMP(gt, a > b)
GS_SF_CMP(lg, a<b || a> b)
GS_SF_CMP(ge, a >= b)
GS_SF_CMP(o, a == a && b == b)
GS_SF_CMP(u, a != a || b != b)
GS_SF_CMP(nge, !(a >= b))
GS_SF_CMP(nlg, !(a < b || a > b))
GS_SF_CMP(ngt, !(a > b))
GS_SF_CMP(nle, !(a <= b))
GS_SF_CMP(neq, a != b)
GS_SF_CMP(nlt, !(a < b))
