/* Double-precision arithmetic against exact numbers rounded once, in every MODE, with every kind of operand
 * and modifier; and the pieces of 2/pi. Not here: division (test_div.c), reciprocals and roots
 * (test_vtrans.c). */
#include "float_model.h"

#include <math.h>

static const float_row_t rows[] = {
    {"v_add_f64", REF_ADD, 2, ROW_VOP3_ONLY},   {"v_mul_f64", REF_MUL, 2, ROW_VOP3_ONLY},
    {"v_fma_f64", REF_FMA, 3, ROW_VOP3_ONLY},   {"v_fmac_f64", REF_FMA, 3, ROW_ACC},
    {"v_min_f64", REF_MIN, 2, ROW_VOP3_ONLY},   {"v_max_f64", REF_MAX, 2, ROW_VOP3_ONLY},
    {"v_trunc_f64", REF_TRUNC, 1, 0},           {"v_ceil_f64", REF_CEIL, 1, 0},
    {"v_floor_f64", REF_FLOOR, 1, 0},           {"v_rndne_f64", REF_RNDNE, 1, 0},
    {"v_fract_f64", REF_FRACT, 1, 0},           {"v_ldexp_f64", REF_LDEXP, 2, ROW_VOP3_ONLY},
    {"v_frexp_mant_f64", REF_FREXP_MANT, 1, 0},
};

static void test_arithmetic(void **state) {
  run_float_rows(state, &ref_f64, rows, sizeof rows / sizeof rows[0], isa_f64_edges, isa_f64_edge_count);
}

/* Piece number s of 2/pi: bits 53 * s and up, moved on by the exponent of large arguments, at their place. */
static void test_trig_preop(void **state) {
  static const int exponents[] = {0, 1, 500, 1023, 1077, 1078, 1100, 1500, 1967, 1968, 2000, 2046, 2047};
  enum { EXPONENTS = sizeof exponents / sizeof exponents[0] };
  isa_wave_t *t = isa_new(state, ISA_PART);
  mpfr_t x, pi;
  mpfr_inits2(3000, x, pi, (mpfr_ptr)NULL);
  mpfr_const_pi(pi, MPFR_RNDN);
  mpfr_ui_div(pi, 2, pi, MPFR_RNDN);
  mpfr_mul_2ui(pi, pi, 1184, MPFR_RNDN);
  mpfr_floor(pi, pi); /* the table ends there */
  for (unsigned e = 0; e < EXPONENTS; e++) {
    for (unsigned l = 0; l < GS_LANES; l++) {
      isa_set_u64(&t->v[10], l, (uint64_t)exponents[e] << 52 | (uint64_t)l << 40 | (uint64_t)(l & 1) << 63);
      t->v[12].u32[l] = l % 32 | l << 20;
    }
    assert_int_equal(isa_run(t, "v_trig_preop_f64 v[2:3], v[10:11], v12"), GS_WAVE_RUNNING);
    for (unsigned l = 0; l < GS_LANES; l++) {
      const long shift = 53 * (long)(l % 32) + (exponents[e] > 1077 ? exponents[e] - 1077 : 0);
      mpfr_mul_2si(x, pi, shift - 1184,
                   MPFR_RNDN); /* the piece is before the point after moving 53 bits more */
      mpfr_frac(x, x, MPFR_RNDN);
      mpfr_mul_2ui(x, x, 53, MPFR_RNDN);
      mpfr_floor(x, x);
      mpfr_mul_2si(x, x, -53 - shift + (exponents[e] >= 1968 ? 128 : 0), MPFR_RNDN);
      assert_int_equal(isa_u64(&t->v[2], l), ref_round(&ref_f64, x, 0));
    }
  }
  mpfr_clears(x, pi, (mpfr_ptr)NULL);
  isa_free(t);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      isa_wide_part_test(test_arithmetic),
      isa_wide_part_test(test_trig_preop),
  };
  return isa_main(tests, sizeof tests / sizeof tests[0]);
}
