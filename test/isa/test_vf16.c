/* Half-precision arithmetic against exact numbers rounded once, in every MODE, with every kind of operand and
 * modifier, and what happens to the other half of registers. Not here: division (test_div.c), transcendental
 * functions (test_vtrans.c), packed halves (test_vpk_float.c). */
#include "float_model.h"

static const float_row_t rows[] = {
    {"v_add_f16", REF_ADD, 2, ROW_ZERO_HIGH},
    {"v_sub_f16", REF_SUB, 2, ROW_ZERO_HIGH},
    {"v_subrev_f16", REF_SUBREV, 2, ROW_ZERO_HIGH},
    {"v_mul_f16", REF_MUL, 2, ROW_ZERO_HIGH},
    {"v_fma_f16", REF_FMA, 3, ROW_VOP3_ONLY},
    {"v_fma_legacy_f16", REF_FMA, 3, ROW_VOP3_ONLY | ROW_ZERO_HIGH},
    {"v_mad_f16", REF_MAD, 3, ROW_VOP3_ONLY},
    {"v_mad_legacy_f16", REF_MAD, 3, ROW_VOP3_ONLY | ROW_ZERO_HIGH},
    {"v_mac_f16", REF_MAD, 3, ROW_ACC},
    {"v_min_f16", REF_MIN, 2, ROW_ZERO_HIGH},
    {"v_max_f16", REF_MAX, 2, ROW_ZERO_HIGH},
    {"v_min3_f16", REF_MIN3, 3, ROW_VOP3_ONLY},
    {"v_max3_f16", REF_MAX3, 3, ROW_VOP3_ONLY},
    {"v_med3_f16", REF_MED3, 3, ROW_VOP3_ONLY},
    {"v_trunc_f16", REF_TRUNC, 1, ROW_ZERO_HIGH},
    {"v_ceil_f16", REF_CEIL, 1, ROW_ZERO_HIGH},
    {"v_floor_f16", REF_FLOOR, 1, ROW_ZERO_HIGH},
    {"v_rndne_f16", REF_RNDNE, 1, ROW_ZERO_HIGH},
    {"v_fract_f16", REF_FRACT, 1, ROW_ZERO_HIGH},
    {"v_ldexp_f16", REF_LDEXP, 2, ROW_ZERO_HIGH},
    {"v_frexp_mant_f16", REF_FREXP_MANT, 1, ROW_ZERO_HIGH},
};

static void test_arithmetic(void **state) {
  run_float_rows(state, &ref_f16, rows, sizeof rows / sizeof rows[0], isa_f16_edges, isa_f16_edge_count);
}

/* op_sel of sources and destination, and SDWA, move halves; results are those of the plain form. */
static void test_halves(void **state) {
  isa_wave_t *t = isa_new(state, ISA_PART);
  for (unsigned run = 0; run < 30; run++) {
    uint64_t seed = run + 1;
    for (unsigned l = 0; l < GS_LANES; l++)
      for (unsigned i = 0; i < 3; i++) {
        const uint64_t r = isa_random(&seed);
        t->v[10 + i].u32[l] = (isa_f16_edges[r % isa_f16_edge_count] & 0xffff) |
                              isa_f16_edges[(r >> 20) % isa_f16_edge_count] << 16;
      }
    assert_int_equal(
        isa_run(t, "v_fma_f16 v2, v10, v11, v12 op_sel:[1,0,1,1]\n"
                   "v_add_f16_sdwa v3, v10, v11 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1 "
                   "src1_sel:WORD_0\n"
                   "v_mul_f16_sdwa v4, -v10, |v11| dst_sel:DWORD src0_sel:WORD_0 src1_sel:WORD_1\n"),
        GS_WAVE_RUNNING);
    for (unsigned l = 0; l < GS_LANES; l++) {
      const uint32_t a = t->v[10].u32[l], b = t->v[11].u32[l], c = t->v[12].u32[l];
      const uint64_t fma[3] = {a >> 16, b & 0xffff, c >> 16}, add[3] = {a >> 16, b & 0xffff, 0};
      const uint64_t mul[3] = {(a & 0xffff) ^ 0x8000, b >> 16 & 0x7fff, 0};
      const uint64_t want[3] = {ref_exact(&ref_f16, REF_FMA, fma, 0), ref_exact(&ref_f16, REF_ADD, add, 0),
                                ref_exact(&ref_f16, REF_MUL, mul, 0)};
      const uint32_t got[3] = {t->v[2].u32[l] >> 16, t->v[3].u32[l] >> 16, t->v[4].u32[l]};
      for (unsigned i = 0; i < 3; i++)
        if (ref_is_nan(&ref_f16, want[i]))
          assert_int_equal(got[i] & 0x7e00, 0x7e00);
        else
          assert_int_equal(got[i], want[i]);
      assert_int_equal(t->v[2].u32[l] & 0xffff, t->before.v[2].u32[l] & 0xffff);
      assert_int_equal(t->v[3].u32[l] & 0xffff, t->before.v[3].u32[l] & 0xffff);
    }
  }
  isa_free(t);
}

/* Constants of v_madmk and v_madak, of both sizes; those of floats are fused on gfx942. */
static void test_literals(void **state) {
  isa_wave_t *t = isa_new(state, ISA_PART);
  for (unsigned l = 0; l < GS_LANES; l++) {
    t->v[10].u32[l] = isa_f16_edges[l % isa_f16_edge_count];
    t->v[11].u32[l] = isa_f16_edges[(l * 7 + 3) % isa_f16_edge_count];
    t->v[12].u32[l] = isa_f32_edges[l % isa_f32_edge_count];
    t->v[13].u32[l] = isa_f32_edges[(l * 11 + 5) % isa_f32_edge_count];
  }
  const bool fused = isa_part(state) & GS_GFX9_4;
  const char *const texts[2] = {
      "v_madmk_f16 v2, v10, 0x4a00, v11\nv_madak_f16 v3, v10, v11, 0xc234\n",
      fused ? "v_fmamk_f32 v4, v12, 0x41200001, v13\nv_fmaak_f32 v5, v12, v13, 0xc1200003"
            : "v_madmk_f32 v4, v12, 0x41200001, v13\nv_madak_f32 v5, v12, v13, 0xc1200003"};
  isa_prepare(state, ISA_PART, texts, sizeof *texts,
              2); /* at once: see coverage.c, whose copies do not assemble */
  for (unsigned i = 0; i < 2; i++)
    assert_int_equal(isa_run(t, texts[i]), GS_WAVE_RUNNING);
  for (unsigned l = 0; l < GS_LANES; l++) {
    const uint32_t a = t->v[10].u32[l] & 0xffff, b = t->v[11].u32[l] & 0xffff, x = t->v[12].u32[l],
                   y = t->v[13].u32[l];
    const uint64_t s[4][3] = {{a, 0x4a00, b}, {a, b, 0xc234}, {x, 0x41200001, y}, {x, y, 0xc1200003}};
    for (unsigned i = 0; i < 4; i++) {
      const ref_format_t *f = i < 2 ? &ref_f16 : &ref_f32;
      const uint64_t want = fused && i > 1 ? ref_exact(f, REF_FMA, s[i], 0) : ref_mad(f, s[i], false, 0),
                     got = t->v[2 + i].u32[l] & (i < 2 ? 0xffff : UINT32_MAX);
      if (i < 2)
        assert_int_equal(t->v[2 + i].u32[l] >> 16, t->before.v[2 + i].u32[l] >> 16);
      if (ref_is_nan(f, want))
        assert_true(ref_is_nan(f, got) && !ref_is_signaling(f, got));
      else
        assert_int_equal(got, want);
    }
  }
  isa_free(t);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      isa_part_test(test_arithmetic),
      isa_part_test(test_halves),
      isa_part_test(test_literals),
  };
  return isa_main(tests, sizeof tests / sizeof tests[0]);
}
