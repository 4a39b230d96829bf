/* Interpolation of gfx11 (VINTERP): a product and a sum, fused, in which the first value, and with P10 the
 * last, is that of one lane of four for all of them: a pixel shader has the three corners of a triangle there
 * (lane 0: the first; lanes 1 and 2: what the others differ by). Inactive lanes are sources, too. Compute
 * kernels may use them like other arithmetic. Not here: lds_param_load, which puts the corners there. */
#include "isa/float.h"
#include "isa/mix.h"

enum { P0, P10, P20 }; /* lanes of four */

static inline void gs_spread_lane(const gs_row_t *from, unsigned which, gs_row_t *to) {
  gs_row_t result;
  for (unsigned l = 0; l < GS_LANES; l++)
    result.u32[l] = from->u32[(l & ~3u) | which];
  *to = result;
}

/* Source `i` as floats, all of them or one lane's of four. */
static inline const gs_row_t *gs_corner(gs_wave_t *w, const gs_inst_t *in, unsigned i, unsigned which,
                                        bool half, gs_row_t *tmp) {
  const gs_row_t *const r = half ? gs_src_f16(w, in, i, tmp) : gs_src_f32(w, in, i, tmp);
  gs_spread_lane(r, which, tmp);
  if (half)
    GS_LANES_DO(l)
      tmp->f32[l] = gs_f32_of_f16(tmp->u32[l]);
  return tmp;
}

static inline void gs_round_for(const gs_wave_t *w, bool to_zero) {
  if (to_zero)
    gs_round_to_zero();
  else
    gs_round32(w);
}

/* The first corner's value and what the second adds to it. */
static inline void gs_interp_p10(gs_wave_t *w, const gs_inst_t *in, bool half, bool to_zero) {
  gs_row_t ta, tc, td;
  const gs_row_t *const ra = gs_corner(w, in, 0, P10, half, &ta), *const rc =
                                                                      gs_corner(w, in, 2, P0, half, &tc);
  GS_F32_SRC(1, b);
  gs_row_t *const d = gs_dst32(w, in, &td);
  gs_round_for(w, to_zero);
  GS_LANES_DO(l)
    d->f32[l] = gs_fma32(ra->f32[l], rb->f32[l], rc->f32[l]);
  if (to_zero)
    gs_round_default();
  gs_finish32(w, in, d);
  gs_commit32(w, in, d);
}

/* That sum, and what the third corner adds to it. A half is rounded once, as on gfx1201. */
GS_OP(v_interp_p2_f32) {
  gs_row_t ta;
  const gs_row_t *const ra = gs_corner(w, in, 0, P20, false, &ta);
  GS_F32_SRC(1, b);
  GS_F32_SRC(2, c);
  GS_F32_LOOP(gs_round32(w), (void)0, gs_fma32(ra->f32[l], rb->f32[l], rc->f32[l]));
}
static inline void gs_interp_p2_f16(gs_wave_t *w, const gs_inst_t *in, bool to_zero) {
  gs_row_t ta, td;
  const gs_row_t *const ra = gs_corner(w, in, 0, P20, true, &ta);
  GS_F32_SRC(1, b);
  GS_F32_SRC(2, c);
  gs_row_t *const d = gs_dst32(w, in, &td);
  const bool nearest = !to_zero && (w->mode >> GS_MODE_ROUND64_SHIFT & 3) == 0;
  gs_f16_limit_t limit = gs_f16_limit(w);
  if (to_zero) { /* what is finite stays so */
    limit = (gs_f16_limit_t){.positive = 0x7bff, .negative = 0x7bff};
    gs_round_to_zero();
  } else {
    gs_round16(w);
  }
  GS_LANES_DO(l)
    d->u32[l] = gs_mix_fma16(ra->f32[l], rb->f32[l], rc->f32[l], gs_when64(nearest), limit);
  if (to_zero)
    gs_round_default();
  gs_finish16(w, in, d);
  gs_commit32(w, in, d);
}

GS_OP(v_interp_p10_f32) {
  gs_interp_p10(w, in, false, false);
}
GS_OP(v_interp_p10_f16_f32) {
  gs_interp_p10(w, in, true, false);
}
GS_OP(v_interp_p10_rtz_f16_f32) {
  gs_interp_p10(w, in, true, true);
}
GS_OP(v_interp_p2_f16_f32) {
  gs_interp_p2_f16(w, in, false);
}
GS_OP(v_interp_p2_rtz_f16_f32) {
  gs_interp_p2_f16(w, in, true);
}
