/* Conversions between floats and floats of eight bits, without a scale. How these look: small_float.h. Not
 * here: conversions with a scale (op_vscale.c), products of matrices (op_mfma.c). */
#include "isa/small_float.h"

#include "isa/float.h"

/* What instructions call fp8 and bf8 are other formats from gfx950 on. */
static inline gs_small_format_t gs_fp8_of(const gs_wave_t *w) {
  return w->env->target == GS_GFX942 ? gs_fp8_fnuz : gs_fp8;
}
static inline gs_small_format_t gs_bf8_of(const gs_wave_t *w) {
  return w->env->target == GS_GFX942 ? gs_bf8_fnuz : gs_bf8;
}

#define GS_F32_OF_FP8(name, format_of)                                                                       \
  GS_OP(name) {                                                                                              \
    gs_row_t ta;                                                                                             \
    const gs_row_t *const ra = gs_src32(w, in, 0, &ta);                                                      \
    const gs_small_format_t format = format_of(w);                                                           \
    GS_F32_LOOP((void)0, const uint32_t a = ra->u32[l], gs_f32_of_small(format, a));                         \
  }
GS_F32_OF_FP8(v_cvt_f32_fp8, gs_fp8_of)
GS_F32_OF_FP8(v_cvt_f32_bf8, gs_bf8_of)

/* Two, from a half of a register. */
static inline void gs_pk_f32_of_fp8(gs_wave_t *w, const gs_inst_t *in, gs_small_format_t format) {
  gs_row_t ta, td[2];
  const gs_row_t *const ra = gs_src32(w, in, 0, &ta);
  const gs_dst64_t d = gs_dst64(w, in, td);
  GS_LANES_DO(l) {
    const uint32_t a = ra->u32[l];
    d.lo->f32[l] = gs_f32_of_small(format, a);
    d.hi->f32[l] = gs_f32_of_small(format, a >> 8);
  }
  gs_finish32(w, in, d.lo);
  gs_finish32(w, in, d.hi);
  gs_commit64(w, in, d);
}
GS_OP(v_cvt_pk_f32_fp8) {
  gs_pk_f32_of_fp8(w, in, gs_fp8_of(w));
}
GS_OP(v_cvt_pk_f32_bf8) {
  gs_pk_f32_of_fp8(w, in, gs_bf8_of(w));
}

/* Two, into a half of a register: the commit knows which. */
#define GS_PK_FP8_OF_F32(name, format_of)                                                                    \
  GS_OP(name) {                                                                                              \
    GS_F32_SRC(0, a);                                                                                        \
    GS_F32_SRC(1, b);                                                                                        \
    gs_row_t td;                                                                                             \
    gs_row_t *const d = gs_dst32(w, in, &td);                                                                \
    const gs_small_format_t format = format_of(w);                                                           \
    const bool saturate = w->mode & GS_MODE_FP16_OVFL;                                                       \
    GS_LANES_DO(l)                                                                                           \
      d->u32[l] = gs_small_of_f32(format, ra->f32[l], 0, saturate) |                                         \
                  gs_small_of_f32(format, rb->f32[l], 0, saturate) << 8;                                     \
    gs_commit32(w, in, d);                                                                                   \
  }
GS_PK_FP8_OF_F32(v_cvt_pk_fp8_f32, gs_fp8_of)
GS_PK_FP8_OF_F32(v_cvt_pk_bf8_f32, gs_bf8_of)

/* One, into a byte that two bits of op_sel choose. */
#define GS_SR_FP8_OF_F32(name, format_of)                                                                    \
  GS_OP(name) {                                                                                              \
    GS_F32_SRC(0, a);                                                                                        \
    gs_row_t tb, td;                                                                                         \
    const gs_row_t *const rb = gs_src32(w, in, 1, &tb), *const old = &w->v[in->dst];                         \
    gs_row_t *const d = gs_dst32(w, in, &td);                                                                \
    const gs_small_format_t format = format_of(w);                                                           \
    const bool saturate = w->mode & GS_MODE_FP16_OVFL;                                                       \
    const uint32_t shift = in->op_sel >> 2 & 3u, at = 8 * shift;                                             \
    GS_LANES_DO(l)                                                                                           \
      d->u32[l] = (old->u32[l] & ~(UINT32_C(0xff) << at)) |                                                  \
                  gs_fp8_by_chance(format, ra->f32[l], rb->u32[l], saturate) << at;                          \
    gs_commit32(w, in, d);                                                                                   \
  }
GS_SR_FP8_OF_F32(v_cvt_sr_fp8_f32, gs_fp8_of)
GS_SR_FP8_OF_F32(v_cvt_sr_bf8_f32, gs_bf8_of)
