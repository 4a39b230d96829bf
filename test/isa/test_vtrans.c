/* Reciprocals, roots, powers of two, logarithms, sine and cosine of all formats: special values exactly, the
 * others within the error that the ISA text allows, against MPFR. Not here: division (test_div.c). */
#include "float_model.h"

#include <math.h>

typedef enum function { RCP, RSQ, SQRT, EXP, LOG, SIN, COS } function_t;

typedef struct row {
  const char *name;
  const ref_format_t *format;
  function_t function;
  double ulps;  /* error in the last place of the result */
  bool flushes; /* knows no denormals, whatever MODE says */
} row_t;

static const row_t rows[] = {
    {"v_rcp_f32", &ref_f32, RCP, 1.0, true},    {"v_rcp_iflag_f32", &ref_f32, RCP, 1.0, true},
    {"v_rsq_f32", &ref_f32, RSQ, 1.0, true},    {"v_sqrt_f32", &ref_f32, SQRT, 0.5, true},
    {"v_exp_f32", &ref_f32, EXP, 1.0, true},    {"v_exp_legacy_f32", &ref_f32, EXP, 1.0, true},
    {"v_log_f32", &ref_f32, LOG, 1.0, true},    {"v_log_legacy_f32", &ref_f32, LOG, 1.0, true},
    {"v_sin_f32", &ref_f32, SIN, 1.0, true},    {"v_cos_f32", &ref_f32, COS, 1.0, true},
    {"v_rcp_f64", &ref_f64, RCP, 0.5, false},   {"v_rsq_f64", &ref_f64, RSQ, 2.0, false},
    {"v_sqrt_f64", &ref_f64, SQRT, 0.5, false}, {"v_rcp_f16", &ref_f16, RCP, 0.51, false},
    {"v_rsq_f16", &ref_f16, RSQ, 0.51, false},  {"v_sqrt_f16", &ref_f16, SQRT, 0.51, false},
    {"v_exp_f16", &ref_f16, EXP, 0.51, false},  {"v_log_f16", &ref_f16, LOG, 0.51, false},
    {"v_sin_f16", &ref_f16, SIN, 0.51, false},  {"v_cos_f16", &ref_f16, COS, 0.51, false},
};
enum { ROWS = sizeof rows / sizeof rows[0], TEXT = 64 };

/* The function's value to 200 bits. Sine and cosine take turns, of which whole ones do not count. */
static void evaluate(function_t function, mpfr_t x) {
  mpfr_t turn;
  switch (function) {
  case RCP: mpfr_ui_div(x, 1, x, MPFR_RNDN); return;
  case RSQ: {
    const bool negative_zero = mpfr_zero_p(x) && mpfr_signbit(x); /* whose result MPFR makes positive */
    mpfr_rec_sqrt(x, x, MPFR_RNDN);
    if (negative_zero)
      mpfr_set_inf(x, -1);
    return;
  }
  case SQRT: mpfr_sqrt(x, x, MPFR_RNDN); return;
  case EXP: mpfr_exp2(x, x, MPFR_RNDN); return;
  case LOG: mpfr_log2(x, x, MPFR_RNDN); return;
  default: break;
  }
  if (mpfr_number_p(x) && !mpfr_zero_p(x))
    mpfr_frac(x, x, MPFR_RNDN);
  if (mpfr_number_p(x)) { /* multiples of a quarter turn are exact */
    mpfr_init2(turn, mpfr_get_prec(x));
    mpfr_mul_ui(turn, x, 4, MPFR_RNDN);
    if (mpfr_integer_p(turn) && !mpfr_zero_p(x)) {
      const unsigned quarter = (unsigned)(mpfr_get_si(turn, MPFR_RNDN) + (function == COS)) & 3;
      mpfr_set_si(x, quarter == 1 ? 1 : quarter == 3 ? -1 : 0, MPFR_RNDN);
      mpfr_clear(turn);
      return;
    }
    mpfr_const_pi(turn, MPFR_RNDN);
    mpfr_mul_2ui(turn, turn, 1, MPFR_RNDN);
    mpfr_mul(x, x, turn, MPFR_RNDN);
    mpfr_clear(turn);
  }
  if (function == SIN)
    mpfr_sin(x, x, MPFR_RNDN);
  else
    mpfr_cos(x, x, MPFR_RNDN);
}

/* Whether `got` is within `ulps` places of x. */
static bool close_to(const ref_format_t *f, uint64_t got, mpfr_t x, double ulps) {
  mpfr_t g, place;
  mpfr_inits2(300, g, place, (mpfr_ptr)NULL);
  ref_set(f, g, got);
  const long least = 1 - f->bias, exponent = mpfr_zero_p(x) ? least : (long)mpfr_get_exp(x) - 1;
  mpfr_set_d(place, ulps, MPFR_RNDN);
  mpfr_mul_2si(place, place, (exponent < least ? least : exponent) - (long)f->fraction, MPFR_RNDN);
  mpfr_sub(g, g, x, MPFR_RNDN);
  const bool ok = mpfr_cmpabs(g, place) <= 0;
  mpfr_clears(g, place, (mpfr_ptr)NULL);
  return ok;
}

static void check(const isa_wave_t *t, const row_t *row, const char *text, uint32_t mode) {
  const ref_format_t *f = row->format;
  mpfr_t x;
  mpfr_init2(x, 1100);
  for (unsigned l = 0; l < GS_LANES; l++) {
    const uint64_t source = get_value(f, &t->before.v[10], l), got = get_value(f, &t->v[2], l);
    const bool flush_in = row->flushes || !(mode >> f->denorm_shift & 1);
    const bool flush_out = row->flushes || !(mode >> f->denorm_shift & 2);
    ref_set(f, x, flush_in ? ref_flush(f, source) : source);
    if (row->function == EXP && mpfr_number_p(x) && mpfr_cmp_si(x, -2000) < 0)
      mpfr_set_si(x, -2000, MPFR_RNDN); /* MPFR has no exponents for these; the result is 0 all the same */
    if (row->function == EXP && mpfr_number_p(x) && mpfr_cmp_si(x, 2000) > 0)
      mpfr_set_si(x, 2000, MPFR_RNDN);
    evaluate(row->function, x);
    uint64_t want = ref_round(f, x, 0);
    if (flush_out)
      want = ref_flush(f, want);
    bool ok;
    if (ref_is_nan(f, want))
      ok = ref_is_nan(f, got) && !ref_is_signaling(f, got);
    else if (ref_magnitude(f, want) == 0)
      ok = ref_magnitude(f, got) == 0 && (row->function >= EXP || got == want);
    else if (ref_magnitude(f, want) == ref_infinity(f))
      ok = got == want;
    else
      ok = close_to(f, got, x, row->ulps) && !(flush_out && ref_is_denormal(f, got));
    if (!ok && ref_is_denormal(f, ref_round(f, x, 0)) == false && flush_out && ref_magnitude(f, got) == 0)
      ok = close_to(f, UINT64_C(1) << f->fraction | (want & ref_sign(f)), x,
                    1.0); /* the least normal, missed by one place */
    if (!ok)
      fail_msg("%s (mode %x): %llx -> %llx, want %llx", text, mode, (unsigned long long)source,
               (unsigned long long)got, (unsigned long long)want);
    if (f->bits == 16)
      assert_int_equal(t->v[2].u32[l] >> 16, 0);
  }
  mpfr_clear(x);
  isa_assert_only_changed(t, f->bits == 64 ? "v[2:3]" : "v2");
}

/* Parts of turns, the ends of the domains, around 1. */
static const uint32_t places32[16] = {0x3e000000, 0x3e800000, 0x3f000000, 0x3f400000, 0x43800000, 0x43800001,
                                      0xc3800000, 0x437fffff, 0x3f800001, 0x3f7fffff, 0xc2fc0000, 0xc2fc0001,
                                      0x43000000, 0x42ffffff, 0xc3160000, 0x3f880000};
static const uint32_t places16[16] = {0x3000, 0x3400, 0x3800, 0x3a00, 0x5c00, 0x5c01, 0xdc00, 0x5bff,
                                      0x3c01, 0x3bff, 0xcb80, 0xce40, 0x4c00, 0x4bff, 0xcb00, 0x3c40};

static void test_functions(void **state) {
  static const uint32_t modes[] = {0x3f0, 0x300, 0x3a5};
  static char texts[ROWS][TEXT];
  const char *list[ROWS];
  for (unsigned i = 0; i < ROWS; i++) {
    const bool wide = rows[i].format->bits == 64;
    snprintf(texts[i], TEXT, "%s_e32 %s, %s", rows[i].name, wide ? "v[2:3]" : "v2",
             wide ? "v[10:11]" : "v10");
    list[i] = texts[i];
  }
  isa_prepare(state, ISA_PART, list, sizeof list[0], ROWS);
  isa_wave_t *t = isa_new(state, ISA_PART);
  uint64_t seed = 21;
  for (unsigned i = 0; i < ROWS; i++) {
    const ref_format_t *f = rows[i].format;
    for (unsigned run = 0; run < 40; run++) {
      const uint32_t mode = modes[run % 3];
      for (unsigned l = 0; l < GS_LANES; l++) {
        const uint64_t r = isa_random(&seed), exponent = (uint64_t)f->bias - 9 + (r >> 52) % 19;
        uint64_t x = run & 1 ? r : (r & ~ref_infinity(f)) | exponent << f->fraction;
        if (run < 3)
          x = f->bits == 64   ? isa_f64_edges[l % isa_f64_edge_count]
              : f->bits == 32 ? isa_f32_edges[l % isa_f32_edge_count]
                              : isa_f16_edges[l % isa_f16_edge_count];
        if (run == 4 && f->bits < 64)
          x = f->bits == 32 ? places32[l % 16] : places16[l % 16];
        set_value(f, &t->v[10], l, x);
      }
      gs_wave_set_mode(&t->w, mode);
      assert_int_equal(isa_run(t, texts[i]), GS_WAVE_RUNNING);
      check(t, &rows[i], texts[i], mode);
    }
  }
  isa_free(t);
}

/* Modifiers of operands and results, and partial EXEC. */
static void test_modifiers(void **state) {
  isa_wave_t *t = isa_new(state, ISA_PART);
  const uint64_t exec = UINT64_C(0x5555aaaaffff0001);
  for (unsigned l = 0; l < GS_LANES; l++) {
    t->v[10].f32[l] = (float)(1 << l % 12) * (l & 1 ? -1.0f : 1.0f);
    const double x = (double)(1 << l % 12) * (l & 1 ? -1.0 : 1.0);
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    isa_set_u64(&t->v[12], l, bits);
  }
  gs_wave_set_mode(&t->w, 0x100);
  isa_set_s64(t, GS_S_EXEC, exec);
  assert_int_equal(isa_run(t, "v_rcp_f32_e64 v2, -|v10| mul:4\nv_rcp_f32_e64 v3, v10 clamp\n"
                              "v_rcp_f64_e64 v[4:5], -v[12:13] div:2\nv_sqrt_f32_e64 v6, |v10|"),
                   GS_WAVE_RUNNING);
  for (unsigned l = 0; l < GS_LANES; l++) {
    const float p = (float)(1 << l % 12), sign = l & 1 ? -1.0f : 1.0f;
    if (!(exec >> l & 1))
      continue;
    assert_true(t->v[2].f32[l] == -4.0f / p);
    assert_true(t->v[3].f32[l] == (l & 1 ? 0.0f : 1.0f / p));
    uint64_t bits = isa_u64(&t->v[4], l);
    double d;
    memcpy(&d, &bits, sizeof d);
    assert_true(d == -0.5 / (double)(sign * p));
    assert_true(t->v[6].f32[l] == sqrtf(p));
  }
  isa_assert_lanes_kept(t, 2, 5, exec);
  isa_assert_only_changed(t, "v[2:6]");
  isa_free(t);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      isa_part_test(test_functions),
      isa_part_test(test_modifiers),
  };
  return isa_main(tests, sizeof tests / sizeof tests[0]);
}
