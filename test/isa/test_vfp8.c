/* Conversions between floats and floats of eight bits: all bytes to floats, from every place; floats to the
 * nearest byte, found by looking at all; and by chance. Not here: products of such matrices (test_mfma.c). */
#include "harness.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* `most`: the greatest number; what is greater becomes the next code, or none. */
typedef struct format {
  const char *name;
  unsigned fraction;
  int bias;
  unsigned most, nan; /* NaN with a sign unless there is only one */
  bool ocp;
} format_t;
static const format_t all_formats[][2] = {
    {{"fp8", 3, 8, 0x7f, 0x80, false}, {"bf8", 2, 16, 0x7f, 0x80, false}},
    {{"fp8", 3, 7, 0x7e, 0x7f, true}, {"bf8", 2, 15, 0x7b, 0x7e, true}},
};
/* gfx950 has the Open Compute Project's. */
static const format_t *formats_of(void **state) {
  return all_formats[isa_part(state) == GS_GFX950];
}

enum { MOST = 0x7f, TEXT = 96 };

/* Sign, exponent, fraction; gfx942's have no infinities and no negative zero. */
static double value_of(const format_t *f, unsigned bits) {
  const int exponent = (int)((bits & MOST) >> f->fraction);
  const double fraction = ldexp(bits & ((1u << f->fraction) - 1), -(int)f->fraction);
  const double magnitude = exponent ? ldexp(1 + fraction, exponent - f->bias) : ldexp(fraction, 1 - f->bias);
  if (f->ocp && (bits & MOST) > f->most)
    return (bits & MOST) != f->most + 1 || f->fraction == 3 ? NAN : bits & 0x80 ? -INFINITY : INFINITY;
  return bits == 0x80 && !f->ocp ? NAN : bits & 0x80 ? -magnitude : magnitude;
}

/* The nearest, of two the even one. What is half a last place or more beyond the largest is none. */
static unsigned nearest(const format_t *f, double x, bool saturate) {
  const double most = value_of(f, f->most), half = (most - value_of(f, f->most - 1)) / 2, size = fabs(x);
  const unsigned sign = signbit(x) ? 0x80 : 0;
  const bool tie_fits = f->most % 2 == 0; /* it is even */
  if (isnan(x) || (isinf(x) && !f->ocp))
    return f->ocp ? sign | f->nan : f->nan;
  if (isinf(x) || size > most + half || (size == most + half && !tie_fits))
    return saturate ? sign | f->most : f->ocp ? sign | (f->most + 1) : f->nan;
  unsigned best = 0;
  for (unsigned bits = 1; bits <= f->most; bits++) {
    const double old = fabs(value_of(f, best) - size), now = fabs(value_of(f, bits) - size);
    if (now < old || (now == old && bits % 2 == 0))
      best = bits;
  }
  return best || f->ocp ? sign | best : 0;
}

static void check_float(float got, double want, const char *text, unsigned byte) {
  if (isnan(want) ? !isnan(got) : got != (float)want || !signbit(got) != !signbit(want))
    fail_msg("%s: 0x%02x is %a, not %a", text, byte, (double)got, want);
}

/* One byte, in the first place or in one that the SDWA form names. */
static void test_to_float(void **state) {
  static const struct {
    const char *form, *end;
    unsigned byte;
  } ways[] = {{"_e32", "", 0},
              {"_e64", "", 0},
              {"_sdwa", " src0_sel:BYTE_0", 0},
              {"_sdwa", " src0_sel:BYTE_1", 1},
              {"_sdwa", " src0_sel:BYTE_2", 2},
              {"_sdwa", " src0_sel:BYTE_3", 3}};
  isa_wave_t *t = isa_new(state, ISA_PART);
  for (unsigned i = 0; i < 2 * sizeof ways / sizeof *ways; i++)
    for (unsigned first = 0; first < 256; first += GS_LANES) {
      const format_t *const f = &formats_of(state)[i & 1];
      char text[TEXT];
      snprintf(text, sizeof text, "v_cvt_f32_%s%s v2, v4%s", f->name, ways[i / 2].form, ways[i / 2].end);
      isa_reset(t, i);
      for (unsigned l = 0; l < GS_LANES; l++) {
        t->v[4].u32[l] &= ~(0xffu << 8 * ways[i / 2].byte);
        t->v[4].u32[l] |= (first + l) << 8 * ways[i / 2].byte;
      }
      assert_int_equal(isa_run(t, text), GS_WAVE_RUNNING);
      for (unsigned l = 0; l < GS_LANES; l++)
        check_float(t->v[2].f32[l], value_of(f, first + l), text, first + l);
      isa_assert_only_changed(t, "v2");
    }
  isa_free(t);
}

/* Two, from either half. */
static void test_to_floats(void **state) {
  static const struct {
    const char *form, *end;
    unsigned half;
  } ways[] = {
      {"_e32", "", 0}, {"_e64", "", 0}, {"_sdwa", " src0_sel:WORD_0", 0}, {"_sdwa", " src0_sel:WORD_1", 1}};
  isa_wave_t *t = isa_new(state, ISA_PART);
  for (unsigned i = 0; i < 2 * sizeof ways / sizeof *ways; i++)
    for (unsigned run = 0; run < 8; run++) {
      const format_t *const f = &formats_of(state)[i & 1];
      char text[TEXT];
      snprintf(text, sizeof text, "v_cvt_pk_f32_%s%s v[2:3], v4%s", f->name, ways[i / 2].form,
               ways[i / 2].end);
      isa_reset(t, 10 * i + run);
      isa_set_s64(t, GS_S_EXEC, run ? UINT64_MAX : UINT64_C(0xf00f));
      assert_int_equal(isa_run(t, text), GS_WAVE_RUNNING);
      for (unsigned l = 0; l < GS_LANES; l++) {
        const uint32_t pair = t->v[4].u32[l] >> 16 * ways[i / 2].half;
        if (!run && !(0xf00f >> l % 32 & 1 && l < 32))
          continue;
        check_float(t->v[2].f32[l], value_of(f, pair & 0xff), text, pair & 0xff);
        check_float(t->v[3].f32[l], value_of(f, pair >> 8 & 0xff), text, pair >> 8 & 0xff);
      }
      isa_assert_lanes_kept(t, 2, 2, run ? UINT64_MAX : UINT64_C(0xf00f));
      isa_assert_only_changed(t, "v[2:3]");
    }
  isa_free(t);
}

/* Numbers around those of a format: each of them, halfway to the next, and a little beside that. */
static float around(const format_t *f, unsigned n) {
  static const double beside[] = {0, -0x1p-20, 0x1p-20, 0};
  const unsigned bits = n / 4 % (f->most + 1);
  const double step =
      value_of(f, bits < f->most ? bits + 1 : f->most) - value_of(f, bits < f->most ? bits : f->most - 1);
  const double x = value_of(f, bits) + (n % 4 == 3 ? 0 : step / 2) * (1 + beside[n % 4]);
  return (float)(n / 512 % 2 ? -x : x);
}

static float source(const format_t *f, unsigned n, uint64_t *seed) {
  static const float others[] = {0.0f,   -0.0f,   INFINITY, -INFINITY, NAN,
                                 1e-45f, -1e-39f, 3e38f,    -300.0f,   60000.0f};
  if (n < 1024)
    return around(f, n);
  if (n % 8 == 0)
    return others[n / 8 % (sizeof others / sizeof *others)];
  const uint64_t r = isa_random(seed);
  return ldexpf((float)(int32_t)(uint32_t)r, -(int)(r >> 32) % 52);
}

static void test_from_floats(void **state) {
  isa_wave_t *t = isa_new(state, ISA_PART);
  uint64_t seed = 5;
  for (unsigned run = 0; run < 2 * 2 * 64; run++) {
    const format_t *const f = &formats_of(state)[run & 1];
    const bool high = run & 2, saturate = run / 4 % 2, signs = run / 8 % 2;
    char text[TEXT];
    isa_reset(t, run);
    gs_wave_set_mode(&t->w,
                     0x3f0 | run % 16 | (saturate ? GS_MODE_FP16_OVFL : 0)); /* rounding does not matter */
    for (unsigned l = 0; l < GS_LANES; l++) {
      t->v[4].f32[l] = source(f, (run / 4 * GS_LANES + l) % 2048, &seed);
      t->v[5].f32[l] = source(f, (run / 4 * GS_LANES + 3 * l + 77) % 2048, &seed);
    }
    snprintf(text, sizeof text, "v_cvt_pk_%s_f32 v2, %s%s", f->name, signs ? "-v4, |v5|" : "v4, v5",
             high ? " op_sel:[0,0,1]" : "");
    assert_int_equal(isa_run(t, text), GS_WAVE_RUNNING);
    for (unsigned l = 0; l < GS_LANES; l++) {
      const double a = signs ? -t->v[4].f32[l] : t->v[4].f32[l], b = t->v[5].f32[l];
      const unsigned pair = nearest(f, a, saturate) | nearest(f, signs ? fabs(b) : b, saturate) << 8;
      const uint32_t old = t->before.v[2].u32[l];
      const uint32_t want = high ? (old & 0xffff) | pair << 16 : (old & 0xffff0000) | pair;
      if (t->v[2].u32[l] != want)
        fail_msg("%s of %a, %a: 0x%08x, not 0x%08x", text, a, b, t->v[2].u32[l], want);
    }
    isa_assert_only_changed(t, "v2");
  }
  isa_free(t);
}

/* By chance: with the least number the one towards zero, with the largest the one away from it, and of
 * numbers between, as many as the distance says. */
static void test_by_chance(void **state) {
  isa_wave_t *t = isa_new(state, ISA_PART);
  for (unsigned i = 0; i < 2 * 4 * 32; i++) {
    const format_t *const f = &formats_of(state)[i & 1];
    const unsigned byte = i / 2 % 4, bits = 0x10 + i / 8 * 3 % 0x60;
    const double low = value_of(f, bits), high = value_of(f, bits + 1);
    const float x = (float)(low + (high - low) * (i % 5) / 8);
    char text[TEXT];
    isa_reset(t, i);
    for (unsigned l = 0; l < GS_LANES; l++) {
      t->v[4].f32[l] = l % 2 ? -x : x;
      t->v[5].u32[l] =
          l / 2 << 27 | 0x7ffff >> f->fraction; /* what is below the bits that count is dropped */
    }
    snprintf(text, sizeof text, "v_cvt_sr_%s_f32 v2, v4, v5 op_sel:[0,0,%u,%u]", f->name, byte & 1,
             byte >> 1);
    assert_int_equal(isa_run(t, text), GS_WAVE_RUNNING);
    for (unsigned l = 0; l < GS_LANES; l++) {
      const unsigned up = l / 2 * 8 + i % 5 * 32 >= 256; /* l / 2 of 32, i % 5 of 8 */
      const uint32_t want = (t->before.v[2].u32[l] & ~(0xffu << 8 * byte)) | (bits + up + (l % 2 ? 0x80 : 0))
                                                                                 << 8 * byte;
      if (t->v[2].u32[l] != want)
        fail_msg("%s of %a with 0x%08x: 0x%08x, not 0x%08x", text, (double)x, t->v[5].u32[l], t->v[2].u32[l],
                 want);
    }
    isa_assert_only_changed(t, "v2");
  }
  isa_free(t);
}

/* Modifiers of results of e64, and scalar operands. */
static void test_modifiers(void **state) {
  isa_wave_t *t = isa_new(state, ISA_PART);
  gs_wave_set_mode(&t->w, GS_MODE_DX10_CLAMP);                    /* omod is not for who keeps denormals */
  t->w.s.u32[6] = isa_part(state) == GS_GFX950 ? 0x3a3a : 0x4242; /* fp8: 1.25 */
  assert_int_equal(isa_run(t, "v_cvt_f32_fp8_e64 v2, s6 mul:4\nv_cvt_f32_fp8_e64 v3, s6 clamp"),
                   GS_WAVE_RUNNING);
  for (unsigned l = 0; l < GS_LANES; l++) {
    assert_true(t->v[2].f32[l] == 5.0f);
    assert_true(t->v[3].f32[l] == 1.0f);
  }
  isa_free(t);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      isa_part_test_on(test_to_float, GS_GFX9_4),    isa_part_test_on(test_to_floats, GS_GFX9_4),
      isa_part_test_on(test_from_floats, GS_GFX9_4), isa_part_test_on(test_by_chance, GS_GFX9_4),
      isa_part_test_on(test_modifiers, GS_GFX9_4),
  };
  return isa_main(tests, sizeof tests / sizeof tests[0]);
}
