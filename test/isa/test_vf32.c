/* Single-precision arithmetic against exact numbers rounded once, in every MODE, with every kind of operand
 * and modifier. Not here: division (test_div.c), transcendental functions (test_vtrans.c), packed pairs
 * (test_vpk_float.c). */
#include "float_model.h"

#include <math.h>

static const float_row_t rows[] = {
    {"v_add_f32", REF_ADD, 2, 0},
    {"v_sub_f32", REF_SUB, 2, 0},
    {"v_subrev_f32", REF_SUBREV, 2, 0},
    {"v_mul_f32", REF_MUL, 2, 0},
    {"v_mul_legacy_f32", REF_MUL_LEGACY, 2, ROW_BEFORE_90A},
    {"v_mul_legacy_f32", REF_MUL_LEGACY, 2, ROW_VOP3_ONLY},
    {"v_fma_f32", REF_FMA, 3, ROW_VOP3_ONLY},
    {"v_fmac_f32", REF_FMA, 3, ROW_ACC},
    {"v_mad_f32", REF_MAD, 3, ROW_VOP3_ONLY},
    {"v_mad_legacy_f32", REF_MAD_LEGACY, 3, ROW_VOP3_ONLY},
    {"v_mac_f32", REF_MAD, 3, ROW_ACC},
    {"v_min_f32", REF_MIN, 2, 0},
    {"v_max_f32", REF_MAX, 2, 0},
    {"v_min3_f32", REF_MIN3, 3, ROW_VOP3_ONLY},
    {"v_max3_f32", REF_MAX3, 3, ROW_VOP3_ONLY},
    {"v_med3_f32", REF_MED3, 3, ROW_VOP3_ONLY},
    {"v_trunc_f32", REF_TRUNC, 1, 0},
    {"v_ceil_f32", REF_CEIL, 1, 0},
    {"v_floor_f32", REF_FLOOR, 1, 0},
    {"v_rndne_f32", REF_RNDNE, 1, 0},
    {"v_fract_f32", REF_FRACT, 1, 0},
    {"v_ldexp_f32", REF_LDEXP, 2, ROW_VOP3_ONLY},
    {"v_frexp_mant_f32", REF_FREXP_MANT, 1, 0},
};

static void test_arithmetic(void **state) {
  run_float_rows(state, &ref_f32, rows, sizeof rows / sizeof rows[0], isa_f32_edges, isa_f32_edge_count);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_arithmetic),
  };
  return isa_main(tests, sizeof tests / sizeof tests[0]);
}
