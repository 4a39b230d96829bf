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
    {"v_mul_legacy_f32", REF_MUL_LEGACY, 2, 0},
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

/* Faces of a cube by the axis on which the point is farthest out (z before y before x), their coordinates,
 * and twice the distance on that axis. */
static void test_cube(void **state) {
  static const float values[] = {0.0f, -0.0f, 1.0f, -1.0f, 2.5f, -2.5f, 7.0f, -7.0f};
  isa_wave_t *t = isa_new(state, ISA_PART);
  for (unsigned run = 0; run < 8; run++) {
    for (unsigned l = 0; l < GS_LANES; l++) {
      t->v[10].f32[l] = values[l % 8];
      t->v[11].f32[l] = values[l / 8];
      t->v[12].f32[l] = values[run];
    }
    assert_int_equal(isa_run(t, "v_cubeid_f32 v2, v10, v11, v12\nv_cubesc_f32 v3, v10, v11, v12\n"
                                "v_cubetc_f32 v4, v10, v11, v12\nv_cubema_f32 v5, v10, v11, v12\n"),
                     GS_WAVE_RUNNING);
    for (unsigned l = 0; l < GS_LANES; l++) {
      const float p[3] = {t->v[10].f32[l], t->v[11].f32[l], t->v[12].f32[l]};
      unsigned axis = 2;
      for (unsigned i = 2; i-- > 0;)
        axis = fabsf(p[i]) > fabsf(p[axis]) ? i : axis;
      const bool minus = p[axis] < 0.0f;
      /* Per face: which coordinate is s and which is t, and their signs. */
      static const struct {
        unsigned s, t;
        int ssign, tsign;
      } faces[6] = {{2, 1, -1, -1}, {2, 1, 1, -1}, {0, 2, 1, 1},
                    {0, 2, 1, -1},  {0, 1, 1, -1}, {0, 1, -1, -1}};
      const unsigned face = 2 * axis + minus;
      assert_true(t->v[2].f32[l] == (float)face);
      assert_true(t->v[3].f32[l] == (float)faces[face].ssign * p[faces[face].s]);
      assert_true(t->v[4].f32[l] == (float)faces[face].tsign * p[faces[face].t]);
      assert_true(t->v[5].f32[l] == 2.0f * p[axis]);
    }
  }
  isa_free(t);
}

/* Denormals, zeroes and NaNs of cubes, whatever MODE says of them. */
static void test_cube_edges(void **state) {
  static const uint32_t points[][7] = {
      /* x, y, z; face, s, t, twice the distance */
      {0x00000001, 0x80000002, 0x00000003, 0x40800000, 0x00000001, 0x00000002, 0x00000000},
      {0x80000005, 0x80000004, 0x80000000, 0x40800000, 0x80000005, 0x00000004, 0x00000000},
      {0x00000001, 0x80800000, 0x80000003, 0x40400000, 0x00000001, 0x00000003, 0x81000000},
      {0x80800000, 0x007fffff, 0x00000003, 0x3f800000, 0x00000003, 0x807fffff, 0x81000000},
      {0x7fc00001, 0x3f800000, 0x40000000, 0x00000000, 0xc0000000, 0xbf800000, 0x7fc00001},
      {0xff800001, 0x3f800000, 0x40000000, 0x00000000, 0xc0000000, 0xbf800000, 0xffc00001},
      {0xbf800000, 0xff800002, 0x40000000, 0x3f800000, 0x40000000, 0x7fc00002, 0xc0000000},
      {0x3f800000, 0xc0000000, 0x7f800003, 0x40400000, 0x3f800000, 0xffc00003, 0xc0800000},
      {0x3f800000, 0x40000000, 0xff7fffff, 0x40a00000, 0xbf800000, 0xc0000000, 0xff800000},
      {0x3f800000, 0x40000000, 0xff800000, 0x40a00000, 0xbf800000, 0xc0000000, 0xff800000},
  };
  enum { POINTS = sizeof points / sizeof points[0] };
  static const uint32_t modes[] = {0x3f0, 0x3c0, 0x350};
  isa_wave_t *t = isa_new(state, ISA_PART);
  for (unsigned m = 0; m < 3; m++) {
    for (unsigned l = 0; l < GS_LANES; l++)
      for (unsigned i = 0; i < 3; i++)
        t->v[10 + i].u32[l] = points[l % POINTS][i];
    gs_wave_set_mode(&t->w, modes[m]);
    assert_int_equal(isa_run(t, "v_cubeid_f32 v2, v10, v11, v12\nv_cubesc_f32 v3, v10, v11, v12\n"
                                "v_cubetc_f32 v4, v10, v11, v12\nv_cubema_f32 v5, v10, v11, v12\n"),
                     GS_WAVE_RUNNING);
    for (unsigned l = 0; l < GS_LANES; l++)
      for (unsigned i = 0; i < 4; i++)
        if (t->v[2 + i].u32[l] != points[l % POINTS][3 + i])
          fail_msg("mode %x, row %u, result %u: %08x, want %08x", modes[m], l % POINTS, i, t->v[2 + i].u32[l],
                   points[l % POINTS][3 + i]);
  }
  isa_free(t);
}

/* Interpolation needs a graphics pipeline. */
static void test_interpolation(void **state) {
  isa_wave_t *t = isa_new(state, ISA_PART);
  assert_int_equal(isa_run(t, "v_interp_p1_f32 v2, v3, attr0.x"), GS_WAVE_FAULTED);
  isa_assert_fault(t, GS_WAVE_FAULT_ILLEGAL);
  isa_free(t);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      isa_wide_part_test(test_arithmetic),
      isa_wide_part_test(test_cube),
      isa_wide_part_test(test_cube_edges),
      isa_part_test_on(test_interpolation, GS_BEFORE_90A),
  };
  return isa_main(tests, sizeof tests / sizeof tests[0]);
}
