/* Conversions between integers and floats: each opcode for edge values and random ones, in every MODE and
 * with modifiers, against exact numbers. Not here: conversions inside mixed precision instructions
 * (test_vpk_float.c). */
#include "float_model.h"

/* What an operand or a result is. */
typedef enum kind {
  K_F16,
  K_F32,
  K_F64,
  K_I16,
  K_U16,
  K_I32,
  K_U32,
  K_BYTE0,
  K_BYTE1,
  K_BYTE2,
  K_BYTE3,
  K_NIBBLE
} kind_t;

typedef enum how { TRUNCATE, FLOOR, ROUND_UP_HALF, NORMALISE, TO_FLOAT } how_t;

typedef struct row {
  const char *name;
  kind_t from, to;
  how_t how;
} row_t;

static const row_t rows[] = {
    {"v_cvt_i32_f32", K_F32, K_I32, TRUNCATE},       {"v_cvt_u32_f32", K_F32, K_U32, TRUNCATE},
    {"v_cvt_i32_f64", K_F64, K_I32, TRUNCATE},       {"v_cvt_u32_f64", K_F64, K_U32, TRUNCATE},
    {"v_cvt_i16_f16", K_F16, K_I16, TRUNCATE},       {"v_cvt_u16_f16", K_F16, K_U16, TRUNCATE},
    {"v_cvt_flr_i32_f32", K_F32, K_I32, FLOOR},      {"v_cvt_rpi_i32_f32", K_F32, K_I32, ROUND_UP_HALF},
    {"v_cvt_norm_i16_f16", K_F16, K_I16, NORMALISE}, {"v_cvt_norm_u16_f16", K_F16, K_U16, NORMALISE},
    {"v_cvt_f32_i32", K_I32, K_F32, TO_FLOAT},       {"v_cvt_f32_u32", K_U32, K_F32, TO_FLOAT},
    {"v_cvt_f64_i32", K_I32, K_F64, TO_FLOAT},       {"v_cvt_f64_u32", K_U32, K_F64, TO_FLOAT},
    {"v_cvt_f16_i16", K_I16, K_F16, TO_FLOAT},       {"v_cvt_f16_u16", K_U16, K_F16, TO_FLOAT},
    {"v_cvt_f32_ubyte0", K_BYTE0, K_F32, TO_FLOAT},  {"v_cvt_f32_ubyte1", K_BYTE1, K_F32, TO_FLOAT},
    {"v_cvt_f32_ubyte2", K_BYTE2, K_F32, TO_FLOAT},  {"v_cvt_f32_ubyte3", K_BYTE3, K_F32, TO_FLOAT},
    {"v_cvt_off_f32_i4", K_NIBBLE, K_F32, TO_FLOAT}, {"v_cvt_f32_f16", K_F16, K_F32, TO_FLOAT},
    {"v_cvt_f16_f32", K_F32, K_F16, TO_FLOAT},       {"v_cvt_f32_f64", K_F64, K_F32, TO_FLOAT},
    {"v_cvt_f64_f32", K_F32, K_F64, TO_FLOAT},
};
enum { ROWS = sizeof rows / sizeof rows[0], FORMS = 5, TEXT = 80 };

static const ref_format_t *format_of(kind_t kind) {
  return kind == K_F16 ? &ref_f16 : kind == K_F32 ? &ref_f32 : kind == K_F64 ? &ref_f64 : NULL;
}

/* An operand's number. */
static void number(kind_t kind, uint64_t bits, mpfr_t x) {
  const uint32_t b = (uint32_t)bits;
  switch (kind) {
  case K_I16: mpfr_set_si(x, (int16_t)b, MPFR_RNDN); return;
  case K_U16: mpfr_set_ui(x, b & 0xffff, MPFR_RNDN); return;
  case K_I32: mpfr_set_si(x, (int32_t)b, MPFR_RNDN); return;
  case K_U32: mpfr_set_ui(x, b, MPFR_RNDN); return;
  case K_NIBBLE: mpfr_set_si_2exp(x, (long)(b & 7) - (long)(b & 8), -4, MPFR_RNDN); return;
  case K_BYTE0:
  case K_BYTE1:
  case K_BYTE2:
  case K_BYTE3: mpfr_set_ui(x, b >> 8 * (kind - K_BYTE0) & 0xff, MPFR_RNDN); return;
  default: ref_set(format_of(kind), x, bits);
  }
}

/* A number as an integer of a kind, saturated; NaN is 0, or for v_cvt_flr and v_cvt_rpi an infinity. */
static uint64_t integer(kind_t kind, how_t how, mpfr_t x) {
  const bool wide = kind == K_I32 || kind == K_U32, is_signed = kind == K_I32 || kind == K_I16;
  const int64_t most = is_signed ? (wide ? INT32_MAX : INT16_MAX) : wide ? UINT32_MAX : UINT16_MAX;
  const int64_t least = !is_signed ? 0 : how == NORMALISE ? -most : -most - 1;
  if (mpfr_nan_p(x) && how == FLOOR)
    mpfr_set_inf(x, mpfr_signbit(x) ? -1 : 1);
  if (mpfr_nan_p(x))
    return 0;
  if (how == NORMALISE) {
    mpfr_mul_si(x, x, (long)most, MPFR_RNDN);
    mpfr_rint(x, x, MPFR_RNDN);
  }
  if (how == TRUNCATE)
    mpfr_trunc(x, x);
  if (how == FLOOR)
    mpfr_floor(x, x);
  int64_t n = mpfr_cmp_si(x, (long)most) > 0    ? most
              : mpfr_cmp_si(x, (long)least) < 0 ? least
                                                : mpfr_get_si(x, MPFR_RNDN);
  return (uint64_t)n & (wide ? UINT32_MAX : UINT16_MAX);
}

static uint64_t expected(const row_t *row, uint64_t source, ref_modifiers_t out, uint32_t mode) {
  const ref_format_t *from = format_of(row->from), *to = format_of(row->to);
  mpfr_t x;
  mpfr_init2(x, 2300);
  if (from && !(mode >> from->denorm_shift & 1))
    source = ref_flush(from, source);
  number(row->from, source, x);
  if (from && ref_is_nan(from, source))
    mpfr_setsign(x, x, source & ref_sign(from) ? 1 : 0, MPFR_RNDN);
  if (row->how == ROUND_UP_HALF)
    mpfr_add_d(x, x, 0.5, MPFR_RNDN);
  uint64_t r;
  if (!to)
    r = integer(row->to, row->how == ROUND_UP_HALF ? FLOOR : row->how, x);
  else {
    r = ref_round(to, x, ref_how(to, mode));
    if (!from || ref_magnitude(from, source) < ref_infinity(from))
      r = ref_saturate(to, r, NULL, 0, mode);
    if (!(mode >> to->denorm_shift & 2))
      r = ref_flush(to, r);
    r = ref_modify(to, r, out, mode);
  }
  mpfr_clear(x);
  return r;
}

static void row_text(const row_t *row, unsigned form, char *text) {
  static const char *const ends[FORMS] = {"", "", "", " clamp", " mul:4"};
  const bool wide = row->from == K_F64;
  const char *src = wide ? (form == 2 ? "-|v[10:11]|" : "v[10:11]") : form == 2 ? "-|v10|" : "v10";
  snprintf(text, TEXT, "%s%s %s, %s%s", row->name, form == 0 ? "_e32" : "_e64",
           row->to == K_F64 ? "v[2:3]" : "v2", src, ends[form]);
}

/* neg and abs are there for floats; clamp and omod, too, as for integers they mean nothing. */
static bool row_has_form(const row_t *row, unsigned form) {
  if (form == 2)
    return format_of(row->from) != NULL;
  return form < 3 || format_of(row->to) != NULL;
}

static uint64_t edge(kind_t kind, size_t i, uint64_t *seed) {
  static const uint64_t around[] = {
      UINT64_C(0x41dfffffffe00000), UINT64_C(0x41dfffffffffffff), UINT64_C(0xc1e0000000000000),
      UINT64_C(0xc1e00000001fffff), UINT64_C(0x41efffffffffffff), UINT64_C(0x41f0000000000001),
      UINT64_C(0x3810000000000000), UINT64_C(0x380fffffffffffff), UINT64_C(0x3690000000000000),
      UINT64_C(0x3690000000000001), UINT64_C(0x47effffff0000000), UINT64_C(0x47efffffefffffff)};
  static const uint32_t halves[] = {0x477fefff, 0x477ff000, 0x477fe000, 0x477fe001, 0x33000000, 0x33000001,
                                    0x33800000, 0x387fc000, 0x387fe000, 0x387fffff, 0x38800000, 0x3f801000,
                                    0x3f803000, 0x3f801001, 0xc77ff000, 0x477fffff, 0x47800000, 0xb3000001};
  const uint64_t r = isa_random(seed);
  if (kind == K_F64)
    return i < isa_f64_edge_count ? isa_f64_edges[i]
           : i < 60               ? around[i % 12]
           : r & 1                ? r
                                  : (r & UINT64_C(0x800fffffffffffff)) | (900 + (r >> 53 & 255)) << 52;
  if (kind == K_F32)
    return i < isa_f32_edge_count ? isa_f32_edges[i]
           : i < 70               ? halves[i % 18]
           : r & 1                ? r & UINT32_MAX
                                  : (r & 0x807fffff) | (100 + (r >> 32 & 63)) << 23;
  if (kind == K_F16)
    return i < isa_f16_edge_count ? isa_f16_edges[i] & 0xffff : r & 0xffff;
  return i < isa_u32_edge_count ? isa_u32_edges[i] : r & UINT32_MAX;
}

static void check(const isa_wave_t *t, const row_t *row, unsigned form, const char *text, uint32_t mode) {
  static const ref_modifiers_t outs[FORMS] = {{0, false}, {0, false}, {0, false}, {0, true}, {2, false}};
  const ref_format_t *from = format_of(row->from), *to = format_of(row->to);
  const uint64_t exec = t->before.w.s.u64[GS_S_EXEC / 2];
  for (unsigned l = 0; l < GS_LANES; l++) {
    if (!(exec >> l & 1))
      continue;
    uint64_t source = from ? get_value(from, &t->before.v[10], l) : t->before.v[10].u32[l];
    if (form == 2)
      source |= ref_sign(from);
    const uint64_t want = expected(row, source, outs[form], mode);
    const uint64_t got = row->to == K_F64 ? isa_u64(&t->v[2], l) : t->v[2].u32[l];
    const bool same =
        to && ref_is_nan(to, want) ? ref_is_nan(to, got) && !ref_is_signaling(to, got) : got == want;
    if (!same)
      fail_msg("%s (mode %x): %llx -> %llx, want %llx", text, mode, (unsigned long long)source,
               (unsigned long long)got, (unsigned long long)want);
  }
  isa_assert_lanes_kept(t, 2, row->to == K_F64 ? 2 : 1, exec);
  isa_assert_only_changed(t, row->to == K_F64 ? "v[2:3]" : "v2");
}

static void test_single(void **state) {
  static char texts[ROWS * FORMS][TEXT];
  const char *list[ROWS * FORMS];
  size_t n = 0;
  for (unsigned i = 0; i < ROWS * FORMS; i++)
    if (row_has_form(&rows[i / FORMS], i % FORMS)) {
      row_text(&rows[i / FORMS], i % FORMS, texts[i]);
      list[n++] = texts[i];
    }
  isa_prepare(state, ISA_PART, list, sizeof list[0], n);
  isa_wave_t *t = isa_new(state, ISA_PART);
  uint64_t seed = 8;
  for (unsigned i = 0; i < ROWS * FORMS; i++)
    for (unsigned m = 0; m < FLOAT_MODES && texts[i][0]; m++)
      for (unsigned run = 0; run < (i % FORMS < 2 ? 8u : 3u); run++) {
        const row_t *row = &rows[i / FORMS];
        for (unsigned l = 0; l < GS_LANES; l++) {
          const uint64_t x = edge(row->from, run * GS_LANES + l, &seed);
          if (row->from == K_F64)
            isa_set_u64(&t->v[10], l, x);
          else /* halves come with rubbish above */
            t->v[10].u32[l] = (uint32_t)x | (row->from == K_F16 ? (uint32_t)isa_random(&seed) << 16 : 0);
        }
        isa_set_s64(t, GS_S_EXEC, run ? UINT64_C(0xfedcba9876543210) : UINT64_MAX);
        gs_wave_set_mode(&t->w, float_modes[m]);
        assert_int_equal(isa_run(t, texts[i]), GS_WAVE_RUNNING);
        check(t, row, i % FORMS, texts[i], float_modes[m]);
      }
  isa_free(t);
}

/* ---- Pairs ---- */

typedef struct pair_row {
  const char *text;
  kind_t from, to;
  how_t how;
} pair_row_t;
static const pair_row_t pair_rows[] = {
    {"v_cvt_pknorm_i16_f32 v2, v10, -v11", K_F32, K_I16, NORMALISE},
    {"v_cvt_pknorm_u16_f32 v2, v10, -v11", K_F32, K_U16, NORMALISE},
    {"v_cvt_pknorm_i16_f16 v2, v10, -v11", K_F16, K_I16, NORMALISE},
    {"v_cvt_pknorm_u16_f16 v2, v10, -v11", K_F16, K_U16, NORMALISE},
    {"v_cvt_pk_u16_u32 v2, v10, v11", K_U32, K_U16, TRUNCATE},
    {"v_cvt_pk_i16_i32 v2, v10, v11", K_I32, K_I16, TRUNCATE},
};

static void test_pairs(void **state) {
  isa_wave_t *t = isa_new(state, ISA_PART);
  uint64_t seed = 11;
  mpfr_t x;
  mpfr_init2(x, 300);
  for (unsigned i = 0; i < sizeof pair_rows / sizeof pair_rows[0]; i++)
    for (unsigned run = 0; run < 20; run++) {
      const pair_row_t *row = &pair_rows[i];
      for (unsigned l = 0; l < GS_LANES; l++)
        for (unsigned s = 0; s < 2; s++) {
          uint64_t v = edge(row->from, run < 4 ? (run * GS_LANES + l) * (s + 1) : 1000, &seed);
          if (run >= 10 && row->from == K_F32) /* around the range */
            v = (v & 0x807fffff) | (110 + (isa_random(&seed) % 19)) << 23;
          t->v[10 + s].u32[l] = (uint32_t)v;
        }
      assert_int_equal(isa_run(t, row->text), GS_WAVE_RUNNING);
      for (unsigned l = 0; l < GS_LANES; l++)
        for (unsigned s = 0; s < 2; s++) {
          uint64_t v = t->v[10 + s].u32[l];
          if (s == 1 && row->from == K_F32)
            v ^= 0x80000000;
          if (row->from == K_F16)
            v = (v ^ (s == 1 ? 0x8000 : 0)) & 0xffff;
          number(row->from, v, x);
          assert_int_equal(t->v[2].u32[l] >> 16 * s & 0xffff, integer(row->to, row->how, x));
        }
    }
  mpfr_clear(x);
  isa_free(t);
}

/* Towards zero whatever MODE says. */
static void test_pkrtz(void **state) {
  isa_wave_t *t = isa_new(state, ISA_PART);
  uint64_t seed = 12;
  mpfr_t x;
  mpfr_init2(x, 300);
  for (unsigned run = 0; run < 60; run++) {
    static const uint32_t modes[] = {0x3f0, 0x3fa, 0x3f5, 0x370, 0x3b0};
    const uint32_t mode = modes[run % 5];
    for (unsigned l = 0; l < GS_LANES; l++)
      for (unsigned s = 0; s < 2; s++)
        t->v[10 + s].u32[l] =
            (uint32_t)edge(K_F32, run < 10 ? (run / 5 * GS_LANES + l + 13 * s) % 80 : 1000, &seed);
    gs_wave_set_mode(&t->w, mode);
    assert_int_equal(isa_run(t, "v_cvt_pkrtz_f16_f32 v2, v10, |v11|"), GS_WAVE_RUNNING);
    for (unsigned l = 0; l < GS_LANES; l++)
      for (unsigned s = 0; s < 2; s++) {
        ref_set(&ref_f32, x, t->v[10 + s].u32[l] & (s ? 0x7fffffff : 0xffffffff));
        uint64_t want = ref_round(&ref_f16, x, 3);
        if (!(mode & 0x80))
          want = ref_flush(&ref_f16, want);
        const uint32_t got = t->v[2].u32[l] >> 16 * s & 0xffff;
        if (ref_is_nan(&ref_f16, want))
          assert_int_equal(got & 0x7e00, 0x7e00);
        else
          assert_int_equal(got, want);
      }
  }
  mpfr_clear(x);
  isa_free(t);
}

/* One byte of the third operand, or of the destination, in MODE's rounding. */
static void test_pk_u8(void **state) {
  isa_wave_t *t = isa_new(state, ISA_PART);
  uint64_t seed = 13;
  mpfr_t x;
  mpfr_init2(x, 300);
  for (unsigned run = 0; run < 40; run++) {
    const unsigned round = run % 4;
    for (unsigned l = 0; l < GS_LANES; l++) {
      t->v[10].f32[l] = (float)(int)(isa_random(&seed) % 2400 - 200) * 0.125f;
      if (run < 4)
        t->v[10].u32[l] = isa_f32_edges[l % isa_f32_edge_count];
      t->v[11].u32[l] = (uint32_t)isa_random(&seed);
    }
    gs_wave_set_mode(&t->w, 0x3f0 | round);
    assert_int_equal(isa_run(t, "v_cvt_pk_u8_f32 v2, v10, v11, v12\nv_cvt_pkaccum_u8_f32 v3, v10, v11"),
                     GS_WAVE_RUNNING);
    for (unsigned l = 0; l < GS_LANES; l++) {
      ref_set(&ref_f32, x, t->v[10].u32[l]);
      uint32_t byte = 0;
      if (!mpfr_nan_p(x)) {
        mpfr_rint(x, x, ref_rounding(round));
        byte = mpfr_cmp_ui(x, 255) > 0 ? 255 : mpfr_sgn(x) < 0 ? 0 : (uint32_t)mpfr_get_ui(x, MPFR_RNDN);
      }
      const unsigned place = 8 * (t->v[11].u32[l] % 4);
      assert_int_equal(t->v[2].u32[l], (t->before.v[12].u32[l] & ~(0xffu << place)) | byte << place);
      assert_int_equal(t->v[3].u32[l], (t->before.v[3].u32[l] & ~(0xffu << place)) | byte << place);
    }
  }
  mpfr_clear(x);
  isa_free(t);
}

/* Exponents as integers. */
static void test_frexp_exp(void **state) {
  static const struct {
    const char *text;
    kind_t kind;
  } exps[] = {{"v_frexp_exp_i16_f16_e32 v2, v10", K_F16},
              {"v_frexp_exp_i32_f32_e32 v2, v10", K_F32},
              {"v_frexp_exp_i32_f64_e32 v2, v[10:11]", K_F64}};
  isa_wave_t *t = isa_new(state, ISA_PART);
  uint64_t seed = 14;
  mpfr_t x;
  mpfr_init2(x, 300);
  for (unsigned i = 0; i < 3; i++)
    for (unsigned run = 0; run < 20; run++) {
      const ref_format_t *f = format_of(exps[i].kind);
      for (unsigned l = 0; l < GS_LANES; l++)
        set_value(f, &t->v[10], l,
                  run & 1
                      ? isa_random(&seed) & (ref_sign(f) | (f->bits < 64 ? ref_quiet(f) * 2 - 1 : UINT64_MAX))
                      : edge(exps[i].kind, run / 2 * GS_LANES + l, &seed));
      gs_wave_set_mode(&t->w, run == 2 ? 0x3a0 : 0x3f0);
      assert_int_equal(isa_run(t, exps[i].text), GS_WAVE_RUNNING);
      for (unsigned l = 0; l < GS_LANES; l++) {
        const uint64_t v = get_value(f, &t->v[10], l);
        ref_set(f, x, run == 2 ? ref_flush(f, v) : v);
        const uint32_t want = mpfr_regular_p(x) ? (uint32_t)(int32_t)mpfr_get_exp(x) : 0;
        assert_int_equal(t->v[2].u32[l], i == 0 ? want & 0xffff : want);
      }
    }
  mpfr_clear(x);
  isa_free(t);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      isa_part_test(test_single), isa_wide_part_test(test_pairs), isa_wide_part_test(test_pkrtz),
      isa_part_test(test_pk_u8),  isa_part_test(test_frexp_exp),
  };
  return isa_main(tests, sizeof tests / sizeof tests[0]);
}
