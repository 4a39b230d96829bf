/* v_cmp_* and v_cmpx_* on floats: every predicate and format for all pairs of edge values, kinds of operands,
 * EXEC masks and denormal modes, against an ordering of the bit patterns; and v_cmp_class_* against
 * classification by value. Not here: comparisons of integers (test_vcmp_int.c). */
#include "float_model.h"

#include <math.h>

/* Outcomes of a comparison, and the predicates as sets of outcomes that they accept. */
enum { LESS = 1, EQUAL = 2, GREATER = 4, UNORDERED = 8 };
static const struct {
  const char *name;
  unsigned accepts;
} predicates[16] = {
    {"f", 0},
    {"lt", LESS},
    {"eq", EQUAL},
    {"le", LESS | EQUAL},
    {"gt", GREATER},
    {"lg", LESS | GREATER},
    {"ge", GREATER | EQUAL},
    {"o", LESS | EQUAL | GREATER},
    {"u", UNORDERED},
    {"nge", LESS | UNORDERED},
    {"nlg", EQUAL | UNORDERED},
    {"ngt", LESS | EQUAL | UNORDERED},
    {"nle", GREATER | UNORDERED},
    {"neq", LESS | GREATER | UNORDERED},
    {"nlt", GREATER | EQUAL | UNORDERED},
    {"tru", LESS | EQUAL | GREATER | UNORDERED},
};

static unsigned outcome(const ref_format_t *f, uint64_t a, uint64_t b, uint32_t mode) {
  if (!(mode >> f->denorm_shift & 1)) {
    a = ref_flush(f, a);
    b = ref_flush(f, b);
  }
  if (ref_is_nan(f, a) || ref_is_nan(f, b))
    return UNORDERED;
  if (ref_equal(f, a, b))
    return EQUAL;
  return ref_key(f, a) < ref_key(f, b) ? LESS : GREATER;
}

/* How operands are written; b is v[12:13]. */
typedef struct form {
  const char *format32, *format64; /* of "v_cmp" or "v_cmpx", predicate, type */
  unsigned mask;                   /* operand number of the result */
  const char *mods[2];
  int constant; /* 1: 0.5, 2: s[14:15], for the first operand */
} form_t;
static const form_t forms[] = {
    {"%s_%s_%s_e32 vcc, v10, v12", "%s_%s_%s_e32 vcc, v[10:11], v[12:13]", GS_S_VCC, {"", ""}, 0},
    {"%s_%s_%s_e64 s[20:21], v10, v12", "%s_%s_%s_e64 s[20:21], v[10:11], v[12:13]", 20, {"", ""}, 0},
    {"%s_%s_%s_e64 s[20:21], -v10, |v12|", "%s_%s_%s_e64 s[20:21], -v[10:11], |v[12:13]|", 20, {"-", "|"}, 0},
    {"%s_%s_%s_e64 vcc, 0.5, -v12", "%s_%s_%s_e64 vcc, 0.5, -v[12:13]", GS_S_VCC, {"", "-"}, 1},
    {"%s_%s_%s_e32 vcc, s14, v12", "%s_%s_%s_e32 vcc, s[14:15], v[12:13]", GS_S_VCC, {"", ""}, 2},
};
enum { FORMS = sizeof forms / sizeof forms[0], TEXT = 96 };
static const uint32_t modes[] = {0x3f0, 0x3a0};
static const uint64_t execs[] = {UINT64_MAX, 0, UINT64_C(0x8000000000000001), UINT64_C(0x0123456789abcdef)};

static void check(isa_wave_t *t, const ref_format_t *f, const form_t *form, unsigned accepts, bool cmpx,
                  uint32_t mode) {
  static const uint64_t halves[3] = {0x3800, 0x3f000000, UINT64_C(0x3fe0000000000000)};
  const uint64_t exec = t->before.w.s.u64[GS_S_EXEC / 2];
  uint64_t want = 0;
  for (unsigned l = 0; l < GS_LANES; l++) {
    uint64_t a = get_value(f, &t->v[10], l);
    if (form->constant == 1)
      a = halves[format_index(f)];
    if (form->constant == 2)
      a = isa_s64(t, 14) & ((ref_sign(f) - 1) | ref_sign(f));
    const unsigned o = outcome(f, with_mods(f, form->mods[0], a),
                               with_mods(f, form->mods[1], get_value(f, &t->v[12], l)), mode);
    want |= (uint64_t)((accepts & o) != 0) << l;
  }
  assert_int_equal(isa_s64(t, form->mask), want & exec);
  assert_int_equal(isa_s64(t, GS_S_EXEC), cmpx ? want & exec : exec);
  isa_assert_only_changed(t, cmpx               ? (form->mask == 20 ? "s[20:21] exec" : "vcc exec")
                             : form->mask == 20 ? "s[20:21]"
                                                : "vcc");
}

static void test_format(void **state, const ref_format_t *f, const void *edges, size_t count) {
  static char texts[FORMS * 2 * 16][TEXT];
  const char *list[FORMS * 2 * 16];
  for (unsigned i = 0; i < FORMS * 2 * 16; i++) {
    const form_t *form = &forms[i / 32];
    snprintf(texts[i], TEXT, f->bits == 64 ? form->format64 : form->format32, i & 1 ? "v_cmpx" : "v_cmp",
             predicates[i / 2 % 16].name, f->name);
    list[i] = texts[i];
  }
  isa_prepare(state, ISA_PART, list, sizeof list[0], sizeof list / sizeof list[0]);
  isa_wave_t *t = isa_new(state, ISA_PART);
  uint64_t seed = 5;
  for (unsigned i = 0; i < FORMS * 2 * 16; i++)
    for (unsigned m = 0; m < 2; m++) {
      const size_t pairs = i / 32 < 2 ? count * count : 4 * GS_LANES;
      for (size_t start = 0; start < pairs; start += GS_LANES) {
        for (unsigned l = 0; l < GS_LANES; l++) {
          const size_t x = (start + l) % count, y = (start + l) / count % count;
          set_value(f, &t->v[10], l,
                    f->bits == 64 ? ((const uint64_t *)edges)[x] : ((const uint32_t *)edges)[x]);
          set_value(f, &t->v[12], l,
                    f->bits == 64 ? ((const uint64_t *)edges)[y] : ((const uint32_t *)edges)[y]);
        }
        const size_t e = isa_random(&seed) % count;
        isa_set_s64(t, 14, f->bits == 64 ? ((const uint64_t *)edges)[e] : ((const uint32_t *)edges)[e]);
        isa_set_s64(t, GS_S_EXEC, execs[start ? isa_random(&seed) % 4 : 0]);
        gs_wave_set_mode(&t->w, modes[m]);
        assert_int_equal(isa_run(t, texts[i]), GS_WAVE_RUNNING);
        check(t, f, &forms[i / 32], predicates[i / 2 % 16].accepts, i & 1, modes[m]);
      }
    }
  isa_free(t);
}
static void test_f16(void **state) {
  test_format(state, &ref_f16, isa_f16_edges, isa_f16_edge_count);
}
static void test_f32(void **state) {
  test_format(state, &ref_f32, isa_f32_edges, isa_f32_edge_count);
}
static void test_f64(void **state) {
  test_format(state, &ref_f64, isa_f64_edges, isa_f64_edge_count);
}

/* The class bit of a number, by what it compares to. */
static unsigned class_of(const ref_format_t *f, uint64_t x) {
  if (ref_is_nan(f, x))
    return ref_is_signaling(f, x) ? 0 : 1;
  mpfr_t v, normal;
  mpfr_inits2(f->exact, v, normal, (mpfr_ptr)NULL);
  ref_set(f, v, x);
  mpfr_set_ui_2exp(normal, 1, 1 - f->bias, MPFR_RNDN);
  const bool negative = mpfr_signbit(v);
  const unsigned rank = mpfr_inf_p(v) ? 3 : mpfr_cmpabs(v, normal) >= 0 ? 2 : mpfr_zero_p(v) ? 0 : 1;
  mpfr_clears(v, normal, (mpfr_ptr)NULL);
  return negative ? 5 - rank : 6 + rank;
}

static void test_class(void **state) {
  static const struct {
    const ref_format_t *f;
    const char *text[2];
    const void *edges;
  } types[] = {
      {&ref_f16,
       {"v_cmp_class_f16_e64 s[20:21], v10, v12", "v_cmpx_class_f16_e64 s[20:21], -|v10|, v12"},
       isa_f16_edges},
      {&ref_f32,
       {"v_cmp_class_f32_e64 s[20:21], v10, v12", "v_cmpx_class_f32_e64 s[20:21], -|v10|, v12"},
       isa_f32_edges},
      {&ref_f64,
       {"v_cmp_class_f64_e64 s[20:21], v[10:11], v12", "v_cmpx_class_f64_e64 s[20:21], -|v[10:11]|, v12"},
       isa_f64_edges},
  };
  isa_wave_t *t = isa_new(state, ISA_PART);
  for (unsigned type = 0; type < 3; type++) {
    const ref_format_t *f = types[type].f;
    const size_t count = type == 0 ? isa_f16_edge_count : type == 1 ? isa_f32_edge_count : isa_f64_edge_count;
    for (unsigned i = 0; i < 40; i++) {
      for (unsigned l = 0; l < GS_LANES; l++) {
        const size_t e = (i / 10 * GS_LANES + l) % count;
        set_value(f, &t->v[10], l,
                  f->bits == 64 ? ((const uint64_t *)types[type].edges)[e]
                                : ((const uint32_t *)types[type].edges)[e]);
        t->v[12].u32[l] = i % 10 < 9 ? 1u << ((i + l) % 10) : 0x3ffu & ~(1u << (l % 10));
      }
      gs_wave_set_mode(&t->w, i & 1 ? 0x3f0 : 0x300); /* classes do not depend on it */
      const uint64_t exec = i % 3 ? UINT64_MAX : UINT64_C(0xf0f0f0f0deadbeef);
      isa_set_s64(t, GS_S_EXEC, exec);
      assert_int_equal(isa_run(t, types[type].text[i & 1]), GS_WAVE_RUNNING);
      uint64_t want = 0;
      for (unsigned l = 0; l < GS_LANES; l++) {
        const uint64_t x = get_value(f, &t->v[10], l);
        want |= (uint64_t)(t->v[12].u32[l] >> class_of(f, i & 1 ? x | ref_sign(f) : x) & 1) << l;
      }
      assert_int_equal(isa_s64(t, 20), want & exec);
      assert_int_equal(isa_s64(t, GS_S_EXEC), i & 1 ? want & exec : exec);
    }
  }
  /* The e32 form. */
  for (unsigned l = 0; l < GS_LANES; l++) {
    t->v[10].u32[l] = isa_f32_edges[l % isa_f32_edge_count];
    t->v[12].u32[l] = 0x203;
  }
  isa_set_s64(t, GS_S_EXEC, UINT64_MAX);
  assert_int_equal(isa_run(t, "v_cmp_class_f32_e32 vcc, v10, v12"), GS_WAVE_RUNNING);
  for (unsigned l = 0; l < GS_LANES; l++)
    assert_int_equal(isa_s64(t, GS_S_VCC) >> l & 1, 0x203 >> class_of(&ref_f32, t->v[10].u32[l]) & 1);
  isa_free(t);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      isa_part_test(test_f16),
      isa_part_test(test_f32),
      isa_part_test(test_f64),
      isa_part_test(test_class),
  };
  return isa_main(tests, sizeof tests / sizeof tests[0]);
}
