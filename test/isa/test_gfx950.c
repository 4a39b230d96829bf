/* What gfx950 has and gfx942 has not: conversions with a scale, products of matrices in blocks with scales,
 * transposing loads, exchanges of rows, truth tables, and others, each compared with a description of its own
 * kind. Not here: matrices of other types (test_mfma.c), floats of eight bits without a scale (test_vfp8.c),
 * loads to LDS (test_flat.c, test_mubuf.c). */
#include "float_model.h"

#include <math.h>

enum { TEXT = 160, ROW_A = 40, ROW_B = 80, SCALE = 120, RANDOM = 121, RESULT = 130 };

/* ---- Small floats ---- */

typedef struct format {
  const char *name;
  unsigned bits, fraction;
  int bias;
  unsigned most; /* the greatest number */
  bool finite;   /* there is nothing but numbers */
} format_t;
static const format_t fp8 = {"fp8", 8, 3, 7, 0x7e, false}, bf8 = {"bf8", 8, 2, 15, 0x7b, false},
                      fp6 = {"fp6", 6, 3, 1, 0x1f, true}, bf6 = {"bf6", 6, 2, 3, 0x1f, true},
                      fp4 = {"fp4", 4, 1, 1, 0x7, true};
/* As cbsz and blgp number them. */
static const format_t *const formats[] = {&fp8, &bf8, &fp6, &bf6, &fp4};
enum { FORMATS = 5 };

static unsigned sign_of(const format_t *f) {
  return 1u << (f->bits - 1);
}
static double value_of(const format_t *f, unsigned code) {
  const unsigned magnitude = code & (sign_of(f) - 1), fraction = magnitude & ((1u << f->fraction) - 1);
  const int exponent = (int)(magnitude >> f->fraction);
  const double part = ldexp(fraction, -(int)f->fraction);
  double value = exponent ? ldexp(1 + part, exponent - f->bias) : ldexp(part, 1 - f->bias);
  if (magnitude > f->most)
    value = f->fraction == 2 && magnitude == f->most + 1 ? INFINITY : NAN;
  return code & sign_of(f) ? -value : value;
}

/* What stands for infinities and NaNs. */
static unsigned beyond(const format_t *f, bool negative, bool nan, bool saturate) {
  const unsigned sign = negative ? sign_of(f) : 0;
  if (f->finite)
    return sign | f->most;
  if (nan)
    return sign | (f->fraction == 3 ? 0x7f : 0x7e);
  return sign | (saturate ? f->most : f->most + 1);
}

/* The nearest number, of two the even one. */
static unsigned nearest(const format_t *f, double x, bool saturate) {
  const double size = fabs(x), last = value_of(f, f->most) - value_of(f, f->most - 1);
  const double limit = value_of(f, f->most) + last / 2;
  if (isnan(x) || size > limit || (size == limit && f->most % 2))
    return beyond(f, signbit(x), isnan(x), saturate);
  unsigned best = 0;
  for (unsigned code = 1; code <= f->most; code++) {
    const double old = fabs(value_of(f, best) - size), now = fabs(value_of(f, code) - size);
    if (now < old || (now == old && code % 2 == 0))
      best = code;
  }
  return best | (signbit(x) ? sign_of(f) : 0);
}

/* By chance, of a number with so many bits of fraction: it is written in units of its last one, or of that of
 * the least normal number; the random number's upper bits are added to those that the format does not have.
 */
static unsigned by_chance(const format_t *f, double x, unsigned fraction, uint32_t random, bool saturate) {
  if (isnan(x) || isinf(x))
    return beyond(f, signbit(x), isnan(x), saturate);
  const int least = 1 - f->bias;
  int exponent;
  (void)frexp(x, &exponent);
  exponent = x == 0 || exponent - 1 < least ? least : exponent - 1;
  const double units = floor(ldexp(fabs(x), (int)fraction - exponent));
  const unsigned more = fraction - f->fraction;
  const double kept = floor(ldexp(units + (random >> (32 - more)), -(int)more));
  const double code = ldexp(exponent - least, (int)f->fraction) + kept;
  if (code > f->most)
    return beyond(f, signbit(x), false, saturate);
  return (unsigned)code | (signbit(x) ? sign_of(f) : 0);
}

static uint32_t next_random(uint32_t x) {
  return x & 0x80000000 ? (x << 1) ^ 197 : x << 1;
}

/* ---- Wide numbers ---- */

typedef enum wide { WIDE_F32, WIDE_F16, WIDE_BF16 } wide_t;
static const char *const wide_names[] = {"f32", "f16", "bf16"};
static const unsigned wide_fraction[] = {23, 10, 7};

static double wide_value(wide_t type, uint32_t bits) {
  mpfr_t x;
  mpfr_init2(x, 100);
  ref_set(type == WIDE_F16 ? &ref_f16 : &ref_f32, x, type == WIDE_BF16 ? bits << 16 : bits);
  const double value = mpfr_get_d(x, MPFR_RNDN);
  mpfr_clear(x);
  const bool negative = bits >> (type == WIDE_F32 ? 31 : 15) & 1; /* of a NaN, too */
  return copysign(value, negative ? -1.0 : 1.0);
}
/* To nearest. */
static uint32_t wide_bits(wide_t type, double value) {
  mpfr_t x;
  mpfr_init2(x, 100);
  mpfr_set_d(x, value, MPFR_RNDN);
  uint32_t bits = (uint32_t)ref_round(type == WIDE_F16 ? &ref_f16 : &ref_f32, x, 0);
  mpfr_clear(x);
  if (type == WIDE_BF16 &&
      !isnan(value)) { /* of what has a few bits only, a float loses nothing that counts */
    const uint32_t odd = bits >> 16 & 1;
    bits += 0x7fff + odd;
  }
  return type == WIDE_BF16 ? bits >> 16 : bits;
}
static bool same_wide(wide_t type, uint32_t a, uint32_t b) {
  return a == b || (isnan(wide_value(type, a)) && isnan(wide_value(type, b)));
}

/* Element i of numbers in registers, of one lane. */
static uint32_t get_wide(const gs_row_t *rows, wide_t type, unsigned i, unsigned l) {
  return type == WIDE_F32 ? rows[i].u32[l] : rows[i / 2].u32[l] >> i % 2 * 16 & 0xffff;
}
static unsigned get_small(const gs_row_t *rows, unsigned bits, unsigned at, unsigned l) {
  unsigned code = 0;
  for (unsigned b = 0; b < bits; b++)
    code |= (rows[(at + b) / 32].u32[l] >> (at + b) % 32 & 1) << b;
  return code;
}

static void fill(isa_wave_t *t, wide_t type, unsigned first, unsigned registers, uint64_t *seed) {
  for (unsigned r = 0; r < registers; r++)
    for (unsigned l = 0; l < GS_LANES; l++) {
      uint32_t word = 0;
      for (unsigned h = 0; h < (type == WIDE_F32 ? 1u : 2u); h++) {
        const uint64_t random = isa_random(seed);
        uint32_t bits = (uint32_t)(random >> 32);
        if (random %
            4) /* near 1, where the formats have numbers, and now and then on one of them or between */
          bits = wide_bits(type, ldexp((double)(int32_t)bits, -31 + (int)(random >> 8) % 12 - 6));
        if (random % 4 == 1)
          bits &= type == WIDE_F32 ? ~0x7ffffu : type == WIDE_F16 ? ~0x3fu : ~0x7u;
        word = type == WIDE_F32 ? bits : word | (bits & 0xffff) << 16 * h;
      }
      t->v[first + r].u32[l] = word;
    }
}

/* Exponents of floats: around that of 1, extremes, and the one that is no number; the rest does not matter.
 */
static void fill_scales(isa_wave_t *t, uint64_t *seed) {
  static const unsigned special[] = {0, 1, 254, 255, 100, 150};
  for (unsigned l = 0; l < GS_LANES; l++) {
    const uint64_t random = isa_random(seed);
    const unsigned exponent = random % 8 ? 120 + (unsigned)(random >> 8) % 15 : special[(random >> 8) % 6];
    t->v[SCALE].u32[l] = exponent << 23 | ((uint32_t)(random >> 32) & 0x807fffff);
    t->v[RANDOM].u32[l] = (uint32_t)isa_random(seed);
  }
}
static double scale_of(const isa_wave_t *t, unsigned l) {
  const unsigned exponent = t->before.v[SCALE].u32[l] >> 23 & 0xff;
  return exponent == 255 ? NAN : ldexp(1, (int)exponent - 127);
}

/* ---- To small floats ---- */

static unsigned expected(const isa_wave_t *t, const format_t *f, wide_t type, uint32_t bits, unsigned l,
                         uint32_t random, bool chance, bool saturate) {
  const double x = wide_value(type, bits), scale = scale_of(t, l);
  if (isnan(scale))
    return beyond(f, signbit(x), true, saturate);
  return chance ? by_chance(f, x / scale, wide_fraction[type], random, saturate)
                : nearest(f, x / scale, saturate);
}

/* `count` numbers from registers on, in turns from two if there are two; the result begins at bit `at`. */
static void check_packed(isa_wave_t *t, const char *text, const format_t *f, wide_t type, unsigned count,
                         bool turns, bool chance, unsigned at, bool saturate) {
  for (unsigned l = 0; l < GS_LANES; l++) {
    uint32_t random = t->before.v[RANDOM].u32[l];
    for (unsigned i = 0; i < count; i++) {
      const gs_row_t *const rows = &t->before.v[turns && i % 2 ? ROW_B : ROW_A];
      const uint32_t bits = get_wide(rows, type, turns ? i / 2 : i, l);
      const unsigned want = expected(t, f, type, bits, l, random, chance, saturate);
      const unsigned got = get_small(&t->v[RESULT], f->bits, at + i * f->bits, l);
      if (got != want)
        fail_msg("%s: number %u of lane %u, %a by %a: 0x%x, not 0x%x", text, i, l, wide_value(type, bits),
                 scale_of(t, l), got, want);
      random = next_random(random);
    }
    for (unsigned bit = 0; count * f->bits < 32 && bit < 32; bit++)
      if (bit < at || bit >= at + count * f->bits)
        assert_int_equal(t->v[RESULT].u32[l] >> bit & 1, t->before.v[RESULT].u32[l] >> bit & 1);
  }
}

static void run_packed(isa_wave_t *t, const char *text, const format_t *f, wide_t type, unsigned count,
                       bool turns, bool chance, unsigned at) {
  for (unsigned run = 0; run < 6; run++) {
    uint64_t seed = 100 + run;
    isa_reset(t, run);
    gs_wave_set_mode(&t->w, 0x3f0 | run % 3 | (run & 1 ? GS_MODE_FP16_OVFL : 0));
    fill(t, type, ROW_A, 32, &seed);
    fill(t, type, ROW_B, 16, &seed);
    fill_scales(t, &seed);
    assert_int_equal(isa_run(t, text), GS_WAVE_RUNNING);
    check_packed(t, text, f, type, count, turns, chance, at, run & 1);
    isa_assert_only_changed(t, count > 2 ? "v[130:135]" : "v130");
  }
}

static void test_pack_parts(void **state) {
  isa_wave_t *t = isa_new(state, ISA_PART);
  char text[TEXT];
  for (wide_t type = WIDE_F32; type <= WIDE_BF16; type++)
    for (unsigned k = 0; k < 3; k++) {
      const format_t *const f = k == 2 ? &fp4 : k ? &bf8 : &fp8;
      for (unsigned part = 0; part < 4; part++) {
        char op_sel[32];
        snprintf(op_sel, sizeof op_sel, "op_sel:[0,0,%u,%u]", part & 1, part >> 1);
        if (k < 2 && part < 2)
          snprintf(op_sel, sizeof op_sel, "op_sel:[0,0,%s%u]", type == WIDE_F32 ? "0," : "", part);
        if (type == WIDE_F32)
          snprintf(text, sizeof text, "v_cvt_scalef32_pk_%s_f32 v130, v40, v80, v120 %s", f->name, op_sel);
        else
          snprintf(text, sizeof text, "v_cvt_scalef32_pk_%s_%s v130, v40, v120 %s", f->name, wide_names[type],
                   op_sel);
        if (k == 2 || part < 2)
          run_packed(t, text, f, type, 2, type == WIDE_F32, false, part * 2 * f->bits);
        snprintf(text, sizeof text, "v_cvt_scalef32_sr_%s%s_%s v130, %s, v121, v120 op_sel:[0,0,%u,%u]",
                 k == 2 ? "pk_" : "", f->name, wide_names[type],
                 k == 2 && type == WIDE_F32 ? "v[40:41]" : "v40", part & 1, part >> 1);
        run_packed(t, text, f, type, k == 2 ? 2 : 1, false, true, part * 8);
      }
    }
  isa_free(t);
}

static void test_pack_all(void **state) {
  isa_wave_t *t = isa_new(state, ISA_PART);
  char text[TEXT];
  for (unsigned k = 0; k < 2; k++) {
    const format_t *const f = k ? &bf6 : &fp6;
    snprintf(text, sizeof text, "v_cvt_scalef32_2xpk16_%s_f32 v[130:135], v[40:55], v[80:95], v120", f->name);
    run_packed(t, text, f, WIDE_F32, 32, true, false, 0);
    for (wide_t type = WIDE_F32; type <= WIDE_BF16; type++) {
      const unsigned last = type == WIDE_F32 ? 71 : 55;
      snprintf(text, sizeof text, "v_cvt_scalef32_pk32_%s_%s v[130:135], v[40:%u], v120", f->name,
               wide_names[type], last);
      if (type != WIDE_F32)
        run_packed(t, text, f, type, 32, false, false, 0);
      snprintf(text, sizeof text, "v_cvt_scalef32_sr_pk32_%s_%s v[130:135], v[40:%u], v121, v120", f->name,
               wide_names[type], last);
      run_packed(t, text, f, type, 32, false, true, 0);
    }
  }
  isa_free(t);
}

/* ---- From small floats ---- */

static void run_unpacked(isa_wave_t *t, const char *text, const format_t *f, wide_t type, unsigned count,
                         unsigned at, unsigned to, const char *changed) {
  for (unsigned run = 0; run < 4; run++) {
    uint64_t seed = 7 + run;
    isa_reset(t, 3 * run);
    gs_wave_set_mode(&t->w, 0x3f0 | run); /* roundings, of which none matters */
    fill_scales(t, &seed);
    assert_int_equal(isa_run(t, text), GS_WAVE_RUNNING);
    for (unsigned l = 0; l < GS_LANES; l++)
      for (unsigned i = 0; i < count; i++) {
        const double x = value_of(f, get_small(&t->before.v[ROW_A], f->bits, at + i * f->bits, l));
        const uint32_t want = wide_bits(type, x * scale_of(t, l));
        const uint32_t got = get_wide(&t->v[RESULT], type, i + to, l);
        if (!same_wide(type, got, want))
          fail_msg("%s: number %u of lane %u, %a by %a: 0x%x, not 0x%x", text, i, l, x, scale_of(t, l), got,
                   want);
        if (count == 1 && type != WIDE_F32) /* the other half stays */
          assert_int_equal(get_wide(&t->v[RESULT], type, 1 - to, l),
                           get_wide(&t->before.v[RESULT], type, 1 - to, l));
      }
    isa_assert_only_changed(t, changed);
  }
}

static void test_unpack_parts(void **state) {
  isa_wave_t *t = isa_new(state, ISA_PART);
  char text[TEXT];
  for (wide_t type = WIDE_F32; type <= WIDE_BF16; type++)
    for (unsigned k = 0; k < 3; k++) {
      const format_t *const f = k == 2 ? &fp4 : k ? &bf8 : &fp8;
      const char *const pair = type == WIDE_F32 ? "v[130:131]" : "v130";
      for (unsigned part = 0; part < 4; part++) {
        snprintf(text, sizeof text, "v_cvt_scalef32_pk_%s_%s %s, v40, v120 op_sel:[%u,%u,0]",
                 wide_names[type], f->name, pair, part & 1, part >> 1);
        if (k == 2 || part < 2)
          run_unpacked(t, text, f, type, 2, part * 2 * f->bits, 0, pair);
        snprintf(text, sizeof text, "v_cvt_scalef32_%s_%s v130, v40, v120 op_sel:[%u,%u,0]", wide_names[type],
                 f->name, part & 1, part >> 1);
        if (k < 2 && type != WIDE_BF16)
          run_unpacked(t, text, f, type, 1, part * 8, 0, "v130");
      }
    }
  /* Into the upper half: LLVM's assembler does not spell it. */
  const uint32_t words[] = {0xd24a4082,
                            0x0002f128}; /* v_cvt_scalef32_f16_fp8 v130, v40, v120 op_sel:[0,0,1] */
  uint64_t seed = 1;
  fill_scales(t, &seed);
  assert_int_equal(isa_run_words(t, words, 2), GS_WAVE_RUNNING);
  for (unsigned l = 0; l < GS_LANES; l++) {
    const double x = value_of(&fp8, t->before.v[ROW_A].u32[l] & 0xff);
    assert_true(same_wide(WIDE_F16, t->v[RESULT].u32[l] >> 16, wide_bits(WIDE_F16, x * scale_of(t, l))));
    assert_int_equal(t->v[RESULT].u32[l] & 0xffff, t->before.v[RESULT].u32[l] & 0xffff);
  }
  isa_free(t);
}

static void test_unpack_all(void **state) {
  isa_wave_t *t = isa_new(state, ISA_PART);
  char text[TEXT];
  for (unsigned k = 0; k < 2; k++)
    for (wide_t type = WIDE_F32; type <= WIDE_BF16; type++) {
      const char *const result = type == WIDE_F32 ? "v[130:161]" : "v[130:145]";
      snprintf(text, sizeof text, "v_cvt_scalef32_pk32_%s_%s %s, v[40:45], v120", wide_names[type],
               k ? "bf6" : "fp6", result);
      run_unpacked(t, text, k ? &bf6 : &fp6, type, 32, 0, 0, result);
    }
  isa_free(t);
}

/* Inactive lanes, denormal floats that MODE flushes, a constant scale, and results over sources. */
static void test_conversion_details(void **state) {
  const uint64_t exec = UINT64_C(0xf0f0123456789abc);
  isa_wave_t *t = isa_new(state, ISA_PART);
  isa_set_s64(t, GS_S_EXEC, exec);
  assert_int_equal(isa_run(t, "v_cvt_scalef32_pk32_f32_fp6 v[2:33], v[4:9], 2.0\n"
                              "v_cvt_scalef32_sr_pk32_bf6_f16 v[40:45], v[42:57], v60, 1.0"),
                   GS_WAVE_RUNNING);
  isa_assert_only_changed(t, "v[2:33] v[40:45]");
  isa_assert_lanes_kept(t, 2, 32, exec);
  isa_assert_lanes_kept(t, 40, 6, exec);
  for (unsigned l = 0; l < GS_LANES; l++)
    for (unsigned i = 0; exec >> l & 1 && i < 32; i++) {
      uint32_t random = t->before.v[60].u32[l];
      for (unsigned n = 0; n < i; n++)
        random = next_random(random);
      const double half = wide_value(WIDE_F16, get_wide(&t->before.v[42], WIDE_F16, i, l));
      assert_true(t->v[2 + i].f32[l] == 2 * (float)value_of(&fp6, get_small(&t->before.v[4], 6, 6 * i, l)));
      assert_int_equal(get_small(&t->v[40], 6, 6 * i, l), by_chance(&bf6, half, 10, random, true));
    }
  gs_set_exec(&t->w, UINT64_MAX);
  for (unsigned keep = 0; keep < 2; keep++) {
    gs_wave_set_mode(&t->w, keep ? 0x3f0 : 0x3c0);
    for (unsigned l = 0; l < GS_LANES; l++) {
      t->v[2].u32[l] = t->v[3].u32[l] = 0x00400000; /* half of the least normal float: 2^-127 */
      t->v[4].u32[l] = 0;                           /* by 2^-127 */
      t->v[5].u32[l] = 0;
    }
    assert_int_equal(isa_run(t, "v_cvt_scalef32_pk_fp8_f32 v5, v2, v3, v4"), GS_WAVE_RUNNING);
    for (unsigned l = 0; l < GS_LANES; l++)
      assert_int_equal(t->v[5].u32[l], keep ? 0x3838 : 0);
  }
  isa_free(t);
}

/* ---- Wide floats ---- */

static uint32_t wide_by_chance(wide_t type, double x, uint32_t random) {
  static const format_t half = {"f16", 16, 10, 15, 0x7bff, false},
                        brain = {"bf16", 16, 7, 127, 0x7f7f, false};
  if (isnan(x) || isinf(x))
    return wide_bits(type, x);
  const format_t *const f = type == WIDE_F16 ? &half : &brain;
  const unsigned code = by_chance(f, x, 23, random, true);
  /* by_chance keeps what is beyond at the greatest number */
  return (code & 0x7fff) == f->most && by_chance(f, x, 23, random, false) != code ? code + 1 : code;
}

static void test_wide(void **state) {
  isa_wave_t *t = isa_new(state, ISA_PART);
  for (unsigned run = 0; run < 20; run++) {
    uint64_t seed = run;
    isa_reset(t, run);
    gs_wave_set_mode(&t->w, 0x3f0 | run % 4);
    fill(t, WIDE_F32, ROW_A, 2, &seed);
    if (run % 4 == 0)
      isa_fill32(&t->v[ROW_A], isa_f32_edges, isa_f32_edge_count, 1, run);
    assert_int_equal(
        isa_run(t, "v_cvt_f32_bf16 v2, v40\nv_cvt_f32_bf16_sdwa v3, v40 src0_sel:WORD_1\n"
                   "v_cvt_pk_f16_f32 v4, v40, -v41\nv_cvt_pk_bf16_f32 v5, |v40|, v41\n"
                   "v_cvt_sr_f16_f32 v6, v40, v121\nv_cvt_sr_bf16_f32 v7, v40, v121 op_sel:[0,0,1]"),
        GS_WAVE_RUNNING);
    for (unsigned l = 0; l < GS_LANES; l++) {
      const uint32_t a = t->before.v[ROW_A].u32[l], random = t->before.v[RANDOM].u32[l];
      const double x = wide_value(WIDE_F32, a), y = wide_value(WIDE_F32, t->before.v[ROW_A + 1].u32[l]);
      assert_true(same_wide(WIDE_F32, t->v[2].u32[l], a << 16));
      assert_true(same_wide(WIDE_F32, t->v[3].u32[l], a & 0xffff0000));
      assert_true(same_wide(WIDE_F16, t->v[4].u32[l] & 0xffff, wide_bits(WIDE_F16, x)));
      assert_true(same_wide(WIDE_F16, t->v[4].u32[l] >> 16, wide_bits(WIDE_F16, -y)));
      assert_true(same_wide(WIDE_BF16, t->v[5].u32[l] & 0xffff, wide_bits(WIDE_BF16, fabs(x))));
      assert_true(same_wide(WIDE_BF16, t->v[5].u32[l] >> 16, wide_bits(WIDE_BF16, y)));
      assert_true(same_wide(WIDE_F16, t->v[6].u32[l] & 0xffff, wide_by_chance(WIDE_F16, x, random)));
      assert_int_equal(t->v[6].u32[l] >> 16, t->before.v[6].u32[l] >> 16);
      assert_true(same_wide(WIDE_BF16, t->v[7].u32[l] >> 16, wide_by_chance(WIDE_BF16, x, random)));
      assert_int_equal(t->v[7].u32[l] & 0xffff, t->before.v[7].u32[l] & 0xffff);
    }
  }
  isa_free(t);
}

/* ---- Minimum and maximum of IEEE 754-2019 ---- */

static double extreme(double a, double b, bool most) {
  if (isnan(a) || isnan(b))
    return NAN;
  const bool first = a == b ? !signbit(a) == most : (a > b) == most;
  return first ? a : b;
}

static void test_extremes(void **state) {
  isa_wave_t *t = isa_new(state, ISA_PART);
  for (unsigned run = 0; run < 2 * isa_f32_edge_count; run++) {
    isa_reset(t, run);
    for (unsigned i = 0; i < 3; i++) {
      const size_t repeat = i == 1 ? 3 : 1;
      isa_fill32(&t->v[40 + i], isa_f32_edges, isa_f32_edge_count, repeat, (i + 1) * run);
      isa_fill32(&t->v[50 + i], isa_f16_edges, isa_f16_edge_count, repeat, (i + 1) * run);
      for (unsigned l = 0; l < GS_LANES; l++)
        t->v[50 + i].u32[l] = (t->v[50 + i].u32[l] & 0xffff) | t->v[50 + i].u32[GS_LANES - 1 - l] << 16;
    }
    assert_int_equal(isa_run(t, "v_minimum3_f32 v2, v40, -v41, v42\nv_maximum3_f32 v3, v40, v41, |v42|\n"
                                "v_pk_minimum3_f16 v4, v50, v51, v52 op_sel:[1,0,0] op_sel_hi:[0,1,1]\n"
                                "v_pk_maximum3_f16 v5, v50, v51, v52 neg_lo:[0,1,0] neg_hi:[1,0,0]"),
                     GS_WAVE_RUNNING);
    for (unsigned l = 0; l < GS_LANES; l++) {
      double x[3], lo[3], hi[3];
      for (unsigned i = 0; i < 3; i++) {
        x[i] = wide_value(WIDE_F32, t->before.v[40 + i].u32[l]);
        lo[i] = wide_value(WIDE_F16, t->before.v[50 + i].u32[l] & 0xffff);
        hi[i] = wide_value(WIDE_F16, t->before.v[50 + i].u32[l] >> 16);
      }
      const struct {
        wide_t type;
        uint32_t got;
        double want;
      } rows[] = {
          {WIDE_F32, t->v[2].u32[l], extreme(extreme(x[0], -x[1], false), x[2], false)},
          {WIDE_F32, t->v[3].u32[l], extreme(extreme(x[0], x[1], true), fabs(x[2]), true)},
          {WIDE_F16, t->v[4].u32[l] & 0xffff, extreme(extreme(hi[0], lo[1], false), lo[2], false)},
          {WIDE_F16, t->v[4].u32[l] >> 16, extreme(extreme(lo[0], hi[1], false), hi[2], false)},
          {WIDE_F16, t->v[5].u32[l] & 0xffff, extreme(extreme(lo[0], -lo[1], true), lo[2], true)},
          {WIDE_F16, t->v[5].u32[l] >> 16, extreme(extreme(-hi[0], hi[1], true), hi[2], true)},
      };
      for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!same_wide(rows[i].type, rows[i].got, wide_bits(rows[i].type, rows[i].want)))
          fail_msg("run %u lane %u row %u: 0x%x, not %a", run, l, i, rows[i].got, rows[i].want);
    }
  }
  isa_free(t);
}

/* ---- Dot products of bf16: small integers, of which nothing is lost ---- */

static void test_dots(void **state) {
  isa_wave_t *t = isa_new(state, ISA_PART);
  uint64_t seed = 5;
  for (unsigned l = 0; l < GS_LANES; l++) {
    for (unsigned i = 0; i < 4; i++) {
      const double a = (double)(isa_random(&seed) % 255) - 127, b = (double)(isa_random(&seed) % 255) - 127;
      t->v[40 + i].u32[l] = wide_bits(WIDE_BF16, a) | wide_bits(WIDE_BF16, b) << 16;
    }
    t->v[2].f32[l] = t->v[44].f32[l] = (float)(isa_random(&seed) % 1000);
  }
  assert_int_equal(isa_run(t, "v_dot2c_f32_bf16 v2, v40, v41\n"
                              "v_dot2_f32_bf16 v3, v40, v41, v44\n"
                              "v_dot2_f32_bf16 v4, v40, v41, v44 neg_lo:[1,0,0] neg_hi:[0,1,0]"),
                   GS_WAVE_RUNNING);
  for (unsigned l = 0; l < GS_LANES; l++) {
    double lo[2], hi[2];
    for (unsigned i = 0; i < 2; i++) {
      lo[i] = wide_value(WIDE_BF16, t->before.v[40 + i].u32[l] & 0xffff);
      hi[i] = wide_value(WIDE_BF16, t->before.v[40 + i].u32[l] >> 16);
    }
    const double c = (double)t->before.v[44].f32[l], dot = lo[0] * lo[1] + hi[0] * hi[1];
    assert_true((double)t->v[2].f32[l] == c + dot);
    assert_true((double)t->v[3].f32[l] == c + dot);
    assert_true((double)t->v[4].f32[l] == c - dot);
  }
  isa_free(t);
}

/* ---- Bits ---- */

static uint32_t by_table(unsigned table, uint32_t a, uint32_t b, uint32_t c, unsigned bits) {
  uint32_t result = 0;
  for (unsigned i = 0; i < bits; i++) {
    const unsigned place = (a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1);
    result |= (uint32_t)(table >> place & 1) << i;
  }
  return result;
}

static void test_tables(void **state) {
  static char texts[256][TEXT];
  isa_wave_t *t = isa_new(state, ISA_PART);
  for (unsigned table = 0; table < 256; table++) {
    snprintf(texts[table], TEXT,
             "v_bitop3_b32 v2, v40, v41, s6 bitop3:0x%x\nv_bitop3_b16 v3, v40, v41, v42 bitop3:0x%x\n"
             "v_bitop3_b16 v4, v40, v41, v42 bitop3:0x%x op_sel:[1,0,1,1]",
             table, table, table);
    isa_reset(t, table);
    assert_int_equal(isa_run(t, texts[table]), GS_WAVE_RUNNING);
    for (unsigned l = 0; l < GS_LANES; l++) {
      const uint32_t a = t->before.v[40].u32[l], b = t->before.v[41].u32[l], c = t->before.v[42].u32[l];
      assert_int_equal(t->v[2].u32[l], by_table(table, a, b, t->w.s.u32[6], 32));
      assert_int_equal(t->v[3].u32[l], by_table(table, a, b, c, 16) | (t->before.v[3].u32[l] & 0xffff0000));
      assert_int_equal(t->v[4].u32[l],
                       by_table(table, a >> 16, b, c >> 16, 16) << 16 | (t->before.v[4].u32[l] & 0xffff));
    }
    isa_assert_only_changed(t, "v[2:4]");
  }
  isa_free(t);
}

static int64_t between(int64_t x, int64_t least, int64_t most) {
  return x < least ? least : x > most ? most : x;
}

static void test_shifts(void **state) {
  isa_wave_t *t = isa_new(state, ISA_PART);
  for (unsigned run = 0; run < 64; run++) {
    isa_reset(t, run);
    isa_fill32(&t->v[40], isa_u32_edges, isa_u32_edge_count, 1, run);
    isa_fill32(&t->v[41], isa_u32_edges, isa_u32_edge_count, 1, 7 * run + 3);
    assert_int_equal(isa_run(t, "v_ashr_pk_i8_i32 v2, v40, v41, v42\n"
                                "v_ashr_pk_u8_i32 v3, v40, v41, v42 op_sel:[0,0,0,1]\n"
                                "v_prng_b32 v4, v40"),
                     GS_WAVE_RUNNING);
    for (unsigned l = 0; l < GS_LANES; l++) {
      const uint32_t shift = t->before.v[42].u32[l] & 31;
      const int64_t a = t->before.v[40].i32[l] >> shift, b = t->before.v[41].i32[l] >> shift;
      const uint32_t i8 = (uint32_t)between(a, -128, 127) % 256 | (uint32_t)between(b, -128, 127) % 256 << 8;
      const uint32_t u8 = (uint32_t)(between(a, 0, 255) | between(b, 0, 255) << 8);
      assert_int_equal(t->v[2].u32[l], i8 | (t->before.v[2].u32[l] & 0xffff0000));
      assert_int_equal(t->v[3].u32[l], u8 << 16 | (t->before.v[3].u32[l] & 0xffff));
      assert_int_equal(t->v[4].u32[l], next_random(t->before.v[40].u32[l]));
    }
    isa_assert_only_changed(t, "v[2:4]");
  }
  isa_free(t);
}

/* ---- Lanes ---- */

/* Odd rows, or the upper half, of v2 and even ones, or the lower half, of v3 change places. */
static void check_swap(isa_wave_t *t, unsigned rows, uint64_t exec, bool zeroes, bool all) {
  for (unsigned l = 0; l < GS_LANES; l++) {
    const bool upper = l / rows % 2;
    const unsigned other = upper ? l - rows : l + rows;
    const uint32_t given = t->before.v[upper ? 3 : 2].u32[other];
    const bool comes = all || exec >> other & 1, active = exec >> l & 1;
    for (unsigned i = 0; i < 2; i++) {
      const bool changes = active && (i == 0) == upper && (comes || zeroes);
      const uint32_t want = changes ? (comes ? given : 0) : t->before.v[2 + i].u32[l];
      if (t->v[2 + i].u32[l] != want)
        fail_msg("rows of %u, v%u lane %u: 0x%x, not 0x%x", rows, 2 + i, l, t->v[2 + i].u32[l], want);
    }
  }
  isa_assert_only_changed(t, "v[2:3]");
}

static void test_swaps(void **state) {
  static const uint64_t masks[] = {UINT64_MAX, UINT64_C(0x123456789abcdef0), UINT64_C(0xffffffff), 1, 0};
  isa_wave_t *t = isa_new(state, ISA_PART);
  for (unsigned i = 0; i < 5 * 2 * 4; i++) {
    const unsigned rows = i / 5 % 2 ? 32 : 16, how = i / 10;
    char text[TEXT];
    snprintf(text, sizeof text, "v_permlane%u_swap_b32%s v2, v3%s%s", rows, how ? "_e64" : "",
             how & 2 ? " bound_ctrl:1" : "", how & 1 ? " fi:1" : "");
    isa_reset(t, i);
    isa_set_s64(t, GS_S_EXEC, masks[i % 5]);
    assert_int_equal(isa_run(t, text), GS_WAVE_RUNNING);
    check_swap(t, rows, masks[i % 5], how & 2, how & 1);
  }
  isa_free(t);
}

/* Each sixteen lanes load a matrix by rows and get it by columns, as rocRoller's test of a card expects: with
 * elements in one line, element e of lane l is number 16 * e + l. */
static void test_transposed(void **state) {
  static const struct {
    const char *text;
    unsigned bits, bytes;
  } rows[] = {{"ds_read_b64_tr_b16 v[4:5], v2 offset:8", 16, 8},
              {"ds_read_b64_tr_b8 v[4:5], v2 offset:8", 8, 8},
              {"ds_read_b96_tr_b6 v[3:5], v2 offset:8", 6, 12},
              {"ds_read_b64_tr_b4 a[4:5], v2 offset:8", 4, 8}};
  isa_wave_t *t = isa_new(state, ISA_PART);
  for (unsigned i = 0; i < 4; i++) {
    const unsigned to = i == 2 ? 3 : i == 3 ? 260 : 4, count = 8 * rows[i].bytes / rows[i].bits;
    gs_row_t loaded[3];
    isa_reset(t, i);
    for (unsigned l = 0; l < GS_LANES; l++) {
      t->v[2].u32[l] = l * 37 % 64 * 16;
      for (unsigned r = 0; r < rows[i].bytes / 4; r++)
        memcpy(&loaded[r].u32[l], t->lds + 8 + l * 37 % 64 * 16 + 4 * r, 4);
    }
    assert_int_equal(isa_run(t, rows[i].text), GS_WAVE_RUNNING);
    for (unsigned l = 0; l < GS_LANES; l++)
      for (unsigned e = 0; e < count; e++) {
        const unsigned n = 16 * e + l % 16, lane = l / 16 * 16 + n / count;
        assert_int_equal(get_small(&t->v[to], rows[i].bits, e * rows[i].bits, l),
                         get_small(loaded, rows[i].bits, n % count * rows[i].bits, lane));
      }
    isa_assert_only_changed(t, i == 2 ? "v[3:5]" : i == 3 ? "a[4:5]" : "v[4:5]");
  }
  isa_free(t);
}

/* ---- Matrices in blocks with scales ---- */

typedef struct blocks {
  unsigned size, depth;
  const format_t *a, *b;
  unsigned byte_a, byte_b; /* of the scales; 4: none are loaded */
} blocks_t;

/* Where number k of a row is, as CDNA4's manual draws it (7.1.5.1): lanes of `size` rows, and its place
 * there. */
static unsigned lane_of(const blocks_t *m, const format_t *f, unsigned row, unsigned k, unsigned *item) {
  const unsigned groups = 64 / m->size, half = m->depth / 2;
  *item = f->bits == 8 ? k % 16 + 16 * (k / half) : k % 32;
  return row + m->size * (f->bits == 8 ? k % half / 16 : k / (m->depth / groups));
}
static double number_of(const isa_wave_t *t, const blocks_t *m, bool b, unsigned row, unsigned k) {
  const format_t *const f = b ? m->b : m->a;
  unsigned item;
  const unsigned lane = lane_of(m, f, row, k, &item), byte = b ? m->byte_b : m->byte_a;
  const double x = value_of(f, get_small(&t->before.v[b ? 20 : 10], f->bits, item * f->bits, lane));
  if (byte == 4)
    return x;
  const unsigned scale = t->before.v[30 + b].u32[row + m->size * (k / 32)] >> 8 * byte & 0xff;
  return scale == 255 ? NAN : ldexp(x, (int)scale - 127);
}

static void fill_blocks(isa_wave_t *t, const blocks_t *m, uint64_t *seed) {
  for (unsigned b = 0; b < 2; b++)
    for (unsigned r = 0; r < 8; r++)
      for (unsigned l = 0; l < GS_LANES; l++)
        t->v[10 + 10 * b + r].u32[l] = 0;
  for (unsigned b = 0; b < 2; b++)
    for (unsigned l = 0; l < GS_LANES; l++) {
      const format_t *const f = b ? m->b : m->a;
      for (unsigned i = 0; i < 32; i++) { /* halves and wholes up to 6, of which sums are exact */
        const double x = (double)((int)(isa_random(seed) % 13) - 6) / 2;
        const uint64_t code = nearest(f, x, true);
        const unsigned at = i * f->bits;
        for (unsigned bit = 0; bit < f->bits; bit++)
          t->v[10 + 10 * b + (at + bit) / 32].u32[l] |= (uint32_t)(code >> bit & 1) << (at + bit) % 32;
      }
      t->v[30 + b].u32[l] = 0;
      for (unsigned byte = 0; byte < 4; byte++)
        t->v[30 + b].u32[l] |= (125 + (uint32_t)(isa_random(seed) % 5)) << 8 * byte;
    }
  for (unsigned r = 0; r < 16; r++)
    for (unsigned l = 0; l < GS_LANES; l++)
      t->v[64 + r].f32[l] = (float)(isa_random(seed) % 64);
}

static void check_blocks(const isa_wave_t *t, const blocks_t *m, const char *text) {
  for (unsigned row = 0; row < m->size; row++)
    for (unsigned column = 0; column < m->size; column++) {
      const unsigned reg = m->size == 32 ? 4 * (row / 8) + row % 4 : row % 4;
      const unsigned lane = column + (m->size == 32 ? 32 * (row / 4 % 2) : 16 * (row / 4));
      double sum = (double)t->before.v[64 + reg].f32[lane];
      for (unsigned k = 0; k < m->depth; k++)
        sum += number_of(t, m, false, row, k) * number_of(t, m, true, column, k);
      const double got = (double)t->v[64 + reg].f32[lane];
      if (got != sum && !(isnan(got) && isnan(sum)))
        fail_msg("%s, row %u column %u: %a, not %a", text, row, column, got, sum);
    }
}

static void block_text(char *text, const blocks_t *m, unsigned cbsz, unsigned blgp) {
  const char *const name = m->size == 32 ? "v_mfma%s_f32_32x32x64_f8f6f4" : "v_mfma%s_f32_16x16x128_f8f6f4";
  char mnemonic[64];
  snprintf(mnemonic, sizeof mnemonic, name, m->byte_a < 4 ? "_scale" : "");
  int n = snprintf(text, TEXT, "%s v[64:%u], v[10:%u], v[20:%u], v[64:%u]", mnemonic,
                   m->size == 32 ? 79u : 67u, 9 + m->a->bits, 19 + m->b->bits, m->size == 32 ? 79u : 67u);
  if (m->byte_a < 4)
    n += snprintf(text + n, TEXT - (size_t)n, ", v30, v31 op_sel:[%u,%u,0] op_sel_hi:[%u,%u,0]",
                  m->byte_a & 1, m->byte_b & 1, m->byte_a >> 1, m->byte_b >> 1);
  snprintf(text + n, TEXT - (size_t)n, " cbsz:%u blgp:%u", cbsz, blgp);
}

static void test_blocks(void **state) {
  isa_wave_t *t = isa_new(state, ISA_PART);
  for (unsigned i = 0; i < 2 * FORMATS * FORMATS; i++)
    for (unsigned scaled = 0; scaled < 2; scaled++) {
      const unsigned cbsz = i / 2 % FORMATS, blgp = i / 2 / FORMATS;
      const blocks_t m = {i % 2 ? 32 : 16, i % 2 ? 64 : 128,   formats[cbsz],
                          formats[blgp],   scaled ? i % 4 : 4, scaled ? i / 4 % 4 : 4};
      char text[TEXT];
      uint64_t seed = i;
      isa_reset(t, i);
      block_text(text, &m, cbsz, blgp);
      fill_blocks(t, &m, &seed);
      isa_set_s64(t, GS_S_EXEC, i % 3 ? UINT64_C(0xf0f0) : 0); /* which does not matter */
      assert_int_equal(isa_run(t, text), GS_WAVE_RUNNING);
      check_blocks(t, &m, text);
      isa_assert_only_changed(t, i % 2 ? "v[64:79]" : "v[64:67]");
    }
  isa_free(t);
}

/* Scales that are no numbers and large ones, constants for scales, and what is infinite or no number itself.
 */
static void test_block_details(void **state) {
  isa_wave_t *t = isa_new(state, ISA_PART);
  blocks_t m = {16, 128, &fp8, &bf8, 0, 0};
  uint64_t seed = 3;
  fill_blocks(t, &m, &seed);
  for (unsigned l = 0; l < GS_LANES; l++) {
    t->v[30].u32[l] = l == 17 ? 255 : l == 2 ? 254 : 127;
    t->v[31].u32[l] = l == 2 ? 200 : 127;
  }
  t->v[20].u32[5] = (t->v[20].u32[5] & ~0xffu) | 0x7c; /* infinite, by whatever A has there */
  char text[TEXT];
  block_text(text, &m, 0, 1);
  assert_int_equal(isa_run(t, text), GS_WAVE_RUNNING);
  for (unsigned l = 0; l < GS_LANES; l++)
    for (unsigned r = 0; r < 4; r++) {
      const unsigned row = 4 * (l / 16) + r, column = l % 16;
      const float got = t->v[64 + r].f32[l];
      if (row == 1) /* whose second block's scale is none */
        assert_true(isnan(got));
      else if (row == 2 && column == 2) /* 2^127 and 2^73 times what is not 0 */
        assert_true(isinf(got) || isnan(got));
      else if (column == 5)
        assert_true(isinf(got) || isnan(got));
      else if (row != 2)
        assert_true(isfinite(got));
    }
  m.byte_a = m.byte_b = 4;
  isa_reset(t, 4);
  fill_blocks(t, &m, &seed);
  size_t first, second;
  const uint32_t *const load = isa_assemble(state, ISA_PART, "v_mfma_ld_scale_b32 0.5, 2.0", &first);
  const uint32_t *const multiply = isa_assemble(
      state, ISA_PART, "v_mfma_f32_16x16x128_f8f6f4 v[64:67], v[10:17], v[20:27], v[64:67] blgp:1", &second);
  assert_int_equal(first + second, 4);
  const uint32_t words[] = {load[0], load[1], multiply[0] | 1 << 11, multiply[1]}; /* abid: with scales */
  assert_int_equal(isa_run_words(t, words, 4), GS_WAVE_RUNNING);
  check_blocks(t, &m, "scales of 0.5 and 2.0");
  isa_free(t);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      isa_part_test_on(test_pack_parts, GS_GFX950),   isa_part_test_on(test_pack_all, GS_GFX950),
      isa_part_test_on(test_unpack_parts, GS_GFX950), isa_part_test_on(test_unpack_all, GS_GFX950),
      isa_part_test_on(test_wide, GS_GFX950),         isa_part_test_on(test_conversion_details, GS_GFX950),
      isa_part_test_on(test_extremes, GS_GFX950),     isa_part_test_on(test_dots, GS_GFX950),
      isa_part_test_on(test_tables, GS_GFX950),       isa_part_test_on(test_shifts, GS_GFX950),
      isa_part_test_on(test_swaps, GS_GFX950),        isa_part_test_on(test_transposed, GS_GFX950),
      isa_part_test_on(test_blocks, GS_GFX950),       isa_part_test_on(test_block_details, GS_GFX950),
  };
  return isa_main(tests, sizeof tests / sizeof tests[0]);
}
