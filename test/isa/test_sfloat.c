/* What only gfx11.5 has: scalar floats, against exact numbers rounded once, in every MODE, and scalar
 * operands beside DPP. LLVM's assembler of most tests does not know that part: instructions are encoded here,
 * and that the numbers are LLVM's is test_decode's to prove. Not here: scalar integers (test_sop.c), vector
 * floats (test_vf*.c). */
#include "float_model.h"

#include <stdio.h>

#include "isa/ops.h"

enum {
  A = 4, /* registers of the sources, and of the destination, which s_fmac has for a third */
  B = 5,
  D = 6,
  CONSTANT_ONE = 242,
  LITERAL = 255,
};

static const gs_opcode_t *opcode_of(const char *name) {
  for (size_t i = 0; i < gs_opcode_count; i++)
    if ((gs_opcodes[i].targets & GS_GFX11_5) && strcmp(gs_opcodes[i].name, name) == 0)
      return &gs_opcodes[i];
  fail_msg("gfx1151 has no %s", name);
  return NULL;
}

static uint32_t encode(const char *name, uint32_t a, uint32_t b) {
  const gs_opcode_t *const op = opcode_of(name);
  switch (op->encoding) {
  case GS_ENC_SOP1: return 0xbe800000u | (uint32_t)D << 16 | (uint32_t)op->number << 8 | a;
  case GS_ENC_SOPC: return 0xbf000000u | (uint32_t)op->number << 16 | b << 8 | a;
  default: return 0x80000000u | (uint32_t)op->number << 23 | (uint32_t)D << 16 | b << 8 | a;
  }
}

/* Runs one instruction on these values. */
static uint32_t run(isa_wave_t *t, const uint32_t *words, size_t count, const uint32_t s[3], uint32_t mode) {
  t->w.s.u32[A] = s[0];
  t->w.s.u32[B] = s[1];
  t->w.s.u32[D] = s[2];
  gs_wave_set_mode(&t->w, mode);
  assert_int_equal(isa_run_words(t, words, count), GS_WAVE_RUNNING);
  return t->w.s.u32[D];
}

static void compare(const ref_format_t *f, const char *name, const uint32_t s[3], uint32_t mode,
                    uint64_t want, bool exact_nan, uint32_t got) {
  const bool quiet = ref_is_nan(f, got) && !ref_is_signaling(f, got) && got >> (f->bits - 1) >> 1 == 0;
  if (ref_is_nan(f, want) && !exact_nan ? !quiet : got != want)
    fail_msg("%s (mode %x): %x %x %x -> %x, want %llx", name, mode, s[0], s[1], s[2], got,
             (unsigned long long)want);
}

/* ---- Arithmetic ---- */

static const struct {
  const char *name;
  ref_op_t op;
  unsigned operands;
} rows[] = {
    {"s_add", REF_ADD, 2},     {"s_sub", REF_SUB, 2},     {"s_mul", REF_MUL, 2},   {"s_min", REF_MIN, 2},
    {"s_max", REF_MAX, 2},     {"s_fmac", REF_FMA, 3},    {"s_ceil", REF_CEIL, 1}, {"s_floor", REF_FLOOR, 1},
    {"s_trunc", REF_TRUNC, 1}, {"s_rndne", REF_RNDNE, 1},
};

static void check_row(isa_wave_t *t, const ref_format_t *f, size_t row, const uint32_t s[3], uint32_t mode) {
  char name[32];
  (void)snprintf(name, sizeof name, "%s_%s", rows[row].name, f->name);
  const uint32_t word = encode(name, A, B), got = run(t, &word, 1, s, mode);
  uint64_t operands[3] = {0, 0, 0};
  for (unsigned i = 0; i < rows[row].operands; i++)
    operands[i] = f->bits == 16 ? s[i] & 0xffff : s[i];
  const bool choice = rows[row].op == REF_MIN || rows[row].op == REF_MAX;
  compare(f, name, s, mode,
          ref_instruction(f, rows[row].op, operands, (ref_modifiers_t){0, false}, ref_mode(t, mode)), choice,
          got);
  isa_assert_only_changed(t, "s6");
}

/* All pairs of edges in the default MODE, some in the others. */
static void check_format(isa_wave_t *t, const ref_format_t *f, const uint32_t *edges, size_t count) {
  enum { SOME = 30 };
  uint64_t seed = 7;
  for (size_t row = 0; row < sizeof rows / sizeof *rows; row++)
    for (unsigned m = 0; m < FLOAT_MODES; m++)
      for (size_t i = 0; i < (m == 0 ? count * count : SOME); i++) {
        const uint64_t r = m == 0 ? i : isa_random(&seed);
        const uint32_t s[3] = {edges[r % count], edges[r / count % count], edges[(r * 5 + 3) % count]};
        check_row(t, f, row, s, float_modes[m]);
      }
}
static void test_arithmetic(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  check_format(t, &ref_f32, isa_f32_edges, isa_f32_edge_count);
  check_format(t, &ref_f16, isa_f16_edges, isa_f16_edge_count);
  isa_free(t);
}

/* s_fmaak and s_fmamk have a literal; constants of halves have 16 bits. */
static void test_constants(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  const uint32_t k = 0xc1200003;
  for (size_t i = 0; i < isa_f32_edge_count * isa_f32_edge_count; i++) {
    const uint32_t s[3] = {isa_f32_edges[i % isa_f32_edge_count], isa_f32_edges[i / isa_f32_edge_count], 0};
    const uint32_t words[2][2] = {{encode("s_fmaak_f32", A, B), k}, {encode("s_fmamk_f32", A, B), k}};
    const uint64_t operands[2][3] = {{s[0], s[1], k}, {s[0], k, s[1]}};
    for (unsigned which = 0; which < 2; which++) {
      const uint32_t got = run(t, words[which], 2, s, float_modes[0]);
      compare(&ref_f32, "s_fmaak or s_fmamk", s, float_modes[0],
              ref_exact(&ref_f32, REF_FMA, operands[which], 0), false, got);
      isa_assert_only_changed(t, "s6");
    }
  }
  const uint32_t s[3] = {0x3c003800, 0x3c00, 0};
  const uint32_t one[] = {encode("s_add_f16", CONSTANT_ONE, B)};
  const uint32_t half[] = {encode("s_add_f16", LITERAL, B), 0x12343800};
  const uint32_t wide[] = {encode("s_add_f32", CONSTANT_ONE, CONSTANT_ONE)};
  const uint32_t upper[] = {encode("s_cvt_hi_f32_f16", LITERAL, 0), 0x38004000};
  assert_int_equal(run(t, one, 1, s, float_modes[0]), 0x4000);
  assert_int_equal(run(t, half, 2, s, float_modes[0]), 0x3e00);
  assert_int_equal(run(t, wide, 1, s, float_modes[0]), 0x40000000);
  assert_int_equal(run(t, upper, 2, s, float_modes[0]), 0x3f000000);
  isa_free(t);
}

/* ---- Conversions ---- */

/* A number of one format in another, as MODE has it. */
static uint64_t convert(const ref_format_t *from, const ref_format_t *to, uint64_t x, uint32_t mode,
                        unsigned round) {
  const bool keeps_in = mode >> from->denorm_shift & 1, keeps_out = mode >> to->denorm_shift & 2;
  const uint64_t in = keeps_in ? x : ref_flush(from, x);
  mpfr_t exact;
  mpfr_init2(exact, from->exact);
  ref_set(from, exact, in);
  uint64_t r = ref_round(to, exact, round);
  mpfr_clear(exact);
  if (to->bits == 16 && (mode & GS_MODE_FP16_OVFL) && ref_magnitude(to, r) == ref_infinity(to) &&
      ref_magnitude(from, in) < ref_infinity(from))
    r--;
  return keeps_out ? r : ref_flush(to, r);
}

/* An integer of 32 bits as a float, and a float as one, which ends at its limits. */
static uint64_t of_integer(double x, uint32_t mode) {
  mpfr_t exact;
  mpfr_init2(exact, 64);
  mpfr_set_d(exact, x, MPFR_RNDN);
  const uint64_t r = ref_round(&ref_f32, exact, mode >> ref_f32.round_shift & 3);
  mpfr_clear(exact);
  return r;
}
static uint32_t to_integer(uint32_t bits, double least, double most) {
  float x;
  memcpy(&x, &bits, sizeof x);
  if (x != x)
    return 0;
  const double limited = (double)x < least ? least : (double)x > most ? most : (double)x;
  return (uint32_t)(int64_t)limited;
}

static void check_conversions(isa_wave_t *t, uint32_t x, uint32_t mode) {
  const unsigned round16 = mode >> ref_f16.round_shift & 3;
  const uint64_t low = convert(&ref_f32, &ref_f16, x, mode, 3);
  const struct {
    const char *name;
    const ref_format_t *to; /* NULL: bits */
    uint64_t want;
  } list[] = {
      {"s_cvt_f32_i32", &ref_f32, of_integer((double)(int32_t)x, mode)},
      {"s_cvt_f32_u32", &ref_f32, of_integer((double)x, mode)},
      {"s_cvt_i32_f32", NULL, to_integer(x, -0x1p31, 0x1p31 - 1)},
      {"s_cvt_u32_f32", NULL, to_integer(x, 0, 0x1p32 - 1)},
      {"s_cvt_f16_f32", &ref_f16, convert(&ref_f32, &ref_f16, x, mode, round16)},
      {"s_cvt_f32_f16", &ref_f32, convert(&ref_f16, &ref_f32, x & 0xffff, mode, 0)},
      {"s_cvt_hi_f32_f16", &ref_f32, convert(&ref_f16, &ref_f32, x >> 16, mode, 0)},
  };
  const uint32_t s[3] = {x, 0x3fc00000, 0xdeadbeef};
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    const uint32_t word = encode(list[i].name, A, 0), got = run(t, &word, 1, s, mode);
    compare(list[i].to ? list[i].to : &ref_f32, list[i].name, s, mode, list[i].want, !list[i].to, got);
    isa_assert_only_changed(t, "s6");
  }
  const uint32_t pack = encode("s_cvt_pk_rtz_f16_f32", A, B), got = run(t, &pack, 1, s, mode);
  compare(&ref_f16, "s_cvt_pk_rtz_f16_f32", s, mode, low, false, got & 0xffff);
  assert_int_equal(got >> 16, 0x3e00);
  isa_assert_only_changed(t, "s6");
}

static void test_conversions(void **state) {
  enum { RANDOM = 30 };
  isa_wave_t *const t = isa_new(state, ISA_PART);
  uint64_t seed = 11;
  for (unsigned m = 0; m < FLOAT_MODES; m++) {
    for (size_t i = 0; i < isa_f32_edge_count; i++)
      check_conversions(t, isa_f32_edges[i], float_modes[m]);
    for (size_t i = 0; i < isa_f16_edge_count; i++)
      check_conversions(t, isa_f16_edges[i], float_modes[m]);
    for (unsigned i = 0; i < RANDOM; i++)
      check_conversions(t, (uint32_t)isa_random(&seed), float_modes[m]);
  }
  isa_free(t);
}

/* ---- Comparisons ---- */

/* By how two numbers can be to each other, as bits: their set counts up from the first name to the last. */
static const char *const relations[] = {"lt", "eq",  "le",  "gt",  "lg",  "ge",  "o",
                                        "u",  "nge", "nlg", "ngt", "nle", "neq", "nlt"};
enum { LESS = 1, EQUAL = 2, GREATER = 4, UNORDERED = 8 };

static unsigned relation(const ref_format_t *f, uint64_t a, uint64_t b) {
  if (ref_is_nan(f, a) || ref_is_nan(f, b))
    return UNORDERED;
  if (ref_equal(f, a, b))
    return EQUAL;
  return ref_key(f, a) < ref_key(f, b) ? LESS : GREATER;
}

static void check_comparison(isa_wave_t *t, const ref_format_t *f, size_t i, const uint32_t s[3],
                             uint32_t mode) {
  char name[32];
  (void)snprintf(name, sizeof name, "s_cmp_%s_%s", relations[i], f->name);
  uint64_t operands[2];
  for (unsigned k = 0; k < 2; k++) {
    operands[k] = f->bits == 16 ? s[k] & 0xffff : s[k];
    operands[k] = mode >> f->denorm_shift & 1 ? operands[k] : ref_flush(f, operands[k]);
  }
  const uint32_t word = encode(name, A, B);
  (void)run(t, &word, 1, s, mode);
  const bool want = (i + 1) & relation(f, operands[0], operands[1]);
  if (gs_read_scc(&t->w) != want)
    fail_msg("%s (mode %x): %x %x is not %u", name, mode, s[0], s[1], want);
  isa_assert_only_changed(t, "scc");
}

static void test_comparisons(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (size_t i = 0; i < sizeof relations / sizeof *relations; i++)
    for (unsigned half = 0; half < 2; half++) {
      const uint32_t *const edges = half ? isa_f16_edges : isa_f32_edges;
      const size_t count = half ? isa_f16_edge_count : isa_f32_edge_count;
      for (size_t k = 0; k < count * count; k++) {
        const uint32_t s[3] = {edges[k % count], edges[k / count], 1};
        check_comparison(t, half ? &ref_f16 : &ref_f32, i, s,
                         k % 3 == 0   ? 0x330
                         : k % 3 == 1 ? 0x3c0
                                      : 0x3f0);
      }
    }
  isa_free(t);
}

/* ---- DPP in VOP3, with a scalar second operand ---- */

static void test_scalar_beside_dpp(void **state) {
  static const struct {
    uint32_t second;
    int32_t value;
  } operands[] = {{3, 1000}, {128 + 7, 7}}; /* s3, and a constant */
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (size_t i = 0; i < sizeof operands / sizeof *operands; i++) {
    /* v_add_nc_i32 v1, v2, s3 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf */
    const uint32_t words[3] = {0xd7260001, 0x000000fa | operands[i].second << 9, 0xff00b102};
    t->w.s.u32[3] = 1000;
    assert_int_equal(isa_run_words(t, words, 3), GS_WAVE_RUNNING);
    for (unsigned l = 0; l < gs_target_lanes(t->env.target); l++)
      assert_int_equal(t->v[1].u32[l], t->v[2].u32[l ^ 1] + (uint32_t)operands[i].value);
    isa_assert_only_changed(t, "v1");
  }
  isa_free(t);
  /* gfx1100 has it not. */
  isa_wave_t *const other = isa_new(state, GS_GFX1100);
  const uint32_t words[3] = {0xd7260001, 0x000006fa, 0xff00b102};
  (void)isa_run_words(other, words, 3);
  isa_assert_fault(other, GS_WAVE_FAULT_ILLEGAL);
  isa_free(other);
}

int main(void) {
#define TEST(function) isa_part_test_on(function, GS_GFX11_5)
  static const struct CMUnitTest tests[] = {
      TEST(test_arithmetic),  TEST(test_constants),         TEST(test_conversions),
      TEST(test_comparisons), TEST(test_scalar_beside_dpp),
  };
  return isa_main(tests, sizeof tests / sizeof *tests);
}
