/* What floating-point instructions need when MODE is not the default or an instruction has output modifiers:
 * rounding modes of the host, flushed denormals, omod and clamp. Compiled for each width of a wave;
 * the other lane loops are in op_v*.c. Not here: anything that the default MODE needs. */
#include "isa/float.h"

#include <fenv.h>
#ifdef __SSE__
#include <xmmintrin.h>
#endif

/* ---- Inputs ---- */

static void gs_flush_row16(const gs_row_t *from, gs_row_t *to) {
  GS_LANES_DO(l)
    to->u32[l] = (from->u32[l] & 0x7c00) == 0 ? from->u32[l] & ~0x3ffu : from->u32[l];
}
static void gs_flush_row_pk16(const gs_row_t *from, gs_row_t *to) {
  GS_LANES_DO(l) {
    const uint32_t x = from->u32[l], low = (x & 0x7c00) == 0 ? 0x3ff : 0,
                   high = (x & 0x7c000000) == 0 ? 0x3ff0000 : 0;
    to->u32[l] = x & ~(low | high);
  }
}
static void gs_flush_row32(const gs_row_t *from, gs_row_t *to) {
  GS_LANES_DO(l)
    to->u32[l] = (from->u32[l] & 0x7f800000) == 0 ? from->u32[l] & 0x80000000 : from->u32[l];
}
static void gs_flush_row64(gs_row64_t from, gs_row_t *lo, gs_row_t *hi) {
  GS_LANES_DO(l) {
    const uint32_t low = from.lo->u32[l], high = from.hi->u32[l];
    const bool denormal = (high & 0x7ff00000) == 0;
    lo->u32[l] = denormal ? 0 : low;
    hi->u32[l] = denormal ? high & 0x80000000 : high;
  }
}

const gs_row_t *gs_flush_input16(const gs_wave_t *w, const gs_row_t *row, gs_row_t *tmp) {
  if (gs_keeps(w, GS_MODE_DENORM64_SHIFT, GS_KEEP_INPUTS))
    return row;
  gs_flush_row16(row, tmp);
  return tmp;
}

const gs_row_t *gs_flush_input_pk16(const gs_wave_t *w, const gs_row_t *row, gs_row_t *tmp) {
  if (gs_keeps(w, GS_MODE_DENORM64_SHIFT, GS_KEEP_INPUTS))
    return row;
  gs_flush_row_pk16(row, tmp);
  return tmp;
}

const gs_row_t *gs_flush_input32(const gs_wave_t *w, const gs_row_t *row, gs_row_t *tmp) {
  if (gs_keeps(w, GS_MODE_DENORM32_SHIFT, GS_KEEP_INPUTS))
    return row;
  gs_flush_row32(row, tmp);
  return tmp;
}

gs_row64_t gs_flush_input64(const gs_wave_t *w, gs_row64_t rows, gs_row_t tmp[2]) {
  if (gs_keeps(w, GS_MODE_DENORM64_SHIFT, GS_KEEP_INPUTS))
    return rows;
  gs_flush_row64(rows, &tmp[0], &tmp[1]);
  return (gs_row64_t){&tmp[0], &tmp[1]};
}

/* ---- Rounding ---- */

/* Whether the host makes zeroes of results that, rounded as if they were normal, are too small for that: also
 * of those that would round up to the least normal number as denormals. */
static void gs_flush_results(bool flush) {
#ifdef __SSE__
  _MM_SET_FLUSH_ZERO_MODE(flush ? _MM_FLUSH_ZERO_ON : _MM_FLUSH_ZERO_OFF);
#else
  (void)flush;
#endif
}

void gs_round_custom(const gs_wave_t *w, unsigned shift, bool flush) {
  static const int modes[4] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  (void)fesetround(modes[w->mode >> shift & 3]);
  gs_flush_results(flush);
}

void gs_round_to_zero(void) {
  (void)fesetround(FE_TOWARDZERO);
}

void gs_round_default(void) {
  (void)fesetround(FE_TONEAREST);
  gs_flush_results(false);
}

/* ---- Signaling NaNs ---- */

/* Goes from the last operand to the first, whose NaN counts. */
static void gs_find_signaling(const gs_row_t *const *rows, unsigned n, uint32_t mask, uint32_t infinity,
                              gs_row_t *signaling) {
  const uint32_t quiet = (infinity & (0 - infinity)) >> 1; /* below the exponent */
  GS_LANES_DO(l)
    signaling->u32[l] = 0;
  for (unsigned i = n; i-- > 0;)
    GS_LANES_DO(l) {
      const uint32_t x = rows[i]->u32[l] & mask, nan = (x & mask >> 1) > infinity ? x : 0;
      const uint32_t candidate = nan & quiet ? 0 : nan;
      signaling->u32[l] = nan ? candidate : signaling->u32[l];
    }
}
void gs_find_signaling16(const gs_row_t *const *rows, unsigned n, gs_row_t *signaling) {
  gs_find_signaling(rows, n, 0xffff, 0x7c00, signaling);
}
void gs_find_signaling32(const gs_row_t *const *rows, unsigned n, gs_row_t *signaling) {
  gs_find_signaling(rows, n, 0xffffffff, 0x7f800000, signaling);
}
void gs_find_signaling64(const gs_row64_t *rows, unsigned n, gs_row_t signaling[2]) {
  const uint64_t infinity = UINT64_C(0x7ff0000000000000), quiet = UINT64_C(0x0008000000000000);
  const gs_dst64_t d = {&signaling[0], &signaling[1]};
  GS_LANES_DO(l)
    gs_put_u64(d, l, 0);
  for (unsigned i = n; i-- > 0;)
    GS_LANES_DO(l) {
      const uint64_t x = gs_get_u64(rows[i], l), nan = (x & UINT64_MAX >> 1) > infinity ? x : 0;
      const uint64_t candidate = nan & quiet ? 0 : nan, later = gs_get_u64((gs_row64_t){d.lo, d.hi}, l);
      gs_put_u64(d, l, nan ? candidate : later);
    }
}

/* Results that are other NaNs, or none, stay. */
void gs_put_signaling16(const gs_row_t *signaling, gs_row_t *d) {
  GS_LANES_DO(l)
    d->u32[l] =
        signaling->u32[l] && d->u32[l] == (signaling->u32[l] | 0x0200) ? signaling->u32[l] : d->u32[l];
}
void gs_put_signaling32(const gs_row_t *signaling, gs_row_t *d) {
  GS_LANES_DO(l)
    d->u32[l] =
        signaling->u32[l] && d->u32[l] == (signaling->u32[l] | 0x00400000) ? signaling->u32[l] : d->u32[l];
}
void gs_put_signaling64(const gs_row_t signaling[2], gs_dst64_t d) {
  GS_LANES_DO(l) {
    const uint32_t hi = signaling[1].u32[l];
    d.hi->u32[l] =
        hi && d.lo->u32[l] == signaling[0].u32[l] && d.hi->u32[l] == (hi | 0x00080000) ? hi : d.hi->u32[l];
  }
}

/* ---- Outputs ---- */

/* The factor of omod, or 0 for none. The hardware ignores omod when the IEEE bit is set or denormal results
 * are kept. It scales the rounded result: zeroes, also those that denormals were, come out positive,
 * infinities and NaNs as they are; what becomes too small for a normal number is a zero with its sign. So
 * measured on gfx1010, gfx1030 and gfx1100 (rocm-systems, emulation/rocjitsu). */
static float gs_omod(const gs_wave_t *w, const gs_inst_t *in, bool keeps_denormals) {
  static const float factors[4] = {0.0f, 2.0f, 4.0f, 0.5f};
  return w->mode & GS_MODE_IEEE || keeps_denormals ? 0.0f : factors[in->omod & 3];
}

/* A result between 0 and 1; -0 becomes +0. A NaN becomes 0, or without DX10_CLAMP stays. */
static float gs_clamp32(float x, bool nan_to_zero) {
  const float y = x > 0.0f ? x : 0.0f, z = y < 1.0f ? y : 1.0f;
  return x == x || nan_to_zero ? z : x;
}

/* One half with output modifiers; multiplying by a power of two is exact here, as denormals are flushed. */
static uint32_t gs_modify16(uint32_t half, float omod, bool clamp, bool nan_to_zero, gs_f16_limit_t limit) {
  if (omod != 0.0f && (half & 0x7c00) != 0x7c00)
    half = half & 0x7c00 ? gs_flush16(gs_f16_of_f32(gs_f32_of_f16(half) * omod, limit)) : 0;
  if (clamp && (nan_to_zero || (half & 0x7fff) <= 0x7c00))
    half = gs_f16_of_f32(gs_clamp32(gs_f32_of_f16(half), true), limit);
  return half;
}

void gs_finish_slow16(const gs_wave_t *w, const gs_inst_t *in, gs_row_t *d) {
  if (!gs_keeps(w, GS_MODE_DENORM64_SHIFT, GS_KEEP_OUTPUTS))
    gs_flush_row16(d, d);
  gs_finish_kept16(w, in, d);
}

void gs_finish_kept16(const gs_wave_t *w, const gs_inst_t *in, gs_row_t *d) {
  const bool nan_to_zero = w->mode & GS_MODE_DX10_CLAMP;
  const float omod = gs_omod(w, in, gs_keeps(w, GS_MODE_DENORM64_SHIFT, GS_KEEP_OUTPUTS));
  const gs_f16_limit_t limit = gs_f16_limit(w); /* all that rounding has to do with omod */
  gs_round_default();
  if (omod != 0.0f || in->clamp)
    GS_LANES_DO(l)
      d->u32[l] = gs_modify16(d->u32[l], omod, in->clamp, nan_to_zero, limit);
}

void gs_finish_slow_pk16(const gs_wave_t *w, const gs_inst_t *in, gs_row_t *d) {
  const bool nan_to_zero = w->mode & GS_MODE_DX10_CLAMP;
  const gs_f16_limit_t limit = gs_f16_limit(w);
  gs_round_default();
  if (!gs_keeps(w, GS_MODE_DENORM64_SHIFT, GS_KEEP_OUTPUTS))
    gs_flush_row_pk16(d, d);
  if (in->clamp)
    GS_LANES_DO(l)
      d->u32[l] = gs_modify16(d->u32[l] & 0xffff, 0.0f, true, nan_to_zero, limit) |
                  gs_modify16(d->u32[l] >> 16, 0.0f, true, nan_to_zero, limit) << 16;
}

/* omod, under the host's rounding mode, and clamp. */
static void gs_modify32(const gs_wave_t *w, const gs_inst_t *in, float omod, gs_row_t *d) {
  const bool nan_to_zero = w->mode & GS_MODE_DX10_CLAMP;
  if (omod != 0.0f)
    GS_LANES_DO(l) {
      const uint32_t exponent = d->u32[l] & 0x7f800000;
      const float scaled = exponent ? gs_flush32(d->f32[l] * omod) : 0.0f;
      d->f32[l] = exponent == 0x7f800000 ? d->f32[l] : scaled;
    }
  gs_round_default();
  if (in->clamp)
    GS_LANES_DO(l)
      d->f32[l] = gs_clamp32(d->f32[l], nan_to_zero);
}

void gs_finish_slow32(const gs_wave_t *w, const gs_inst_t *in, gs_row_t *d) {
  if (!gs_keeps(w, GS_MODE_DENORM32_SHIFT, GS_KEEP_OUTPUTS))
    gs_flush_row32(d, d);
  gs_finish_kept32(w, in, d);
}

void gs_finish_kept32(const gs_wave_t *w, const gs_inst_t *in, gs_row_t *d) {
  const float omod = gs_omod(w, in, gs_keeps(w, GS_MODE_DENORM32_SHIFT, GS_KEEP_OUTPUTS));
  if (omod != 0.0f)
    gs_round_custom(w, GS_MODE_ROUND32_SHIFT, true);
  gs_modify32(w, in, omod, d);
}

void gs_finish_flushed32(const gs_wave_t *w, const gs_inst_t *in, gs_row_t *d) {
  gs_modify32(w, in, gs_omod(w, in, false), d);
}

void gs_finish_slow64(const gs_wave_t *w, const gs_inst_t *in, gs_dst64_t d) {
  if (!gs_keeps(w, GS_MODE_DENORM64_SHIFT, GS_KEEP_OUTPUTS))
    gs_flush_row64((gs_row64_t){d.lo, d.hi}, d.lo, d.hi);
  gs_finish_kept64(w, in, d);
}

void gs_finish_kept64(const gs_wave_t *w, const gs_inst_t *in, gs_dst64_t d) {
  const gs_row64_t rows = {d.lo, d.hi};
  const bool nan_to_zero = w->mode & GS_MODE_DX10_CLAMP;
  const double omod = (double)gs_omod(w, in, gs_keeps(w, GS_MODE_DENORM64_SHIFT, GS_KEEP_OUTPUTS));
  if (omod != 0.0) {
    gs_round_custom(w, GS_MODE_ROUND64_SHIFT, true);
    GS_LANES_DO(l) {
      const uint32_t exponent = d.hi->u32[l] & 0x7ff00000;
      if (exponent != 0x7ff00000)
        gs_put_f64(d, l, exponent ? gs_get_f64(rows, l) * omod : 0.0);
    }
    gs_flush_row64(rows, d.lo, d.hi);
  }
  gs_round_default();
  if (in->clamp)
    GS_LANES_DO(l) {
      const double x = gs_get_f64(rows, l), y = x > 0.0 ? x : 0.0, z = y < 1.0 ? y : 1.0;
      gs_put_f64(d, l, x == x || nan_to_zero ? z : x);
    }
}
