/* What a compute shader may not contain: every image, export and interpolation instruction of a part, and
 * words that no instruction begins with, stop the wave at their address and change nothing. Not here:
 * requests that single instructions refuse (test_sop_control.c), and GDS and GWS (test_ds.c). */
#include "harness.h"

/* Words with that opcode; what else they contain does not matter. */
static uint32_t graphics_word(const gs_opcode_t *op) {
  switch (op->encoding) {
  case GS_ENC_MIMG: return 0xf0000f00u | (uint32_t)op->number << 18;
  case GS_ENC_EXP: return 0xc400000fu;
  case GS_ENC_VINTRP: return 0xd4000000u | (uint32_t)op->number << 16;
  case GS_ENC_DS: return 0xd8020000u | (uint32_t)op->number << 18; /* counters of geometry, with gds */
  default: return 0xd0000000u | (uint32_t)op->number << 16;
  }
}

static void expect_illegal(isa_wave_t *t, const uint32_t words[2], const char *name) {
  (void)isa_run_words(t, words, 2);
  if (t->w.state != GS_WAVE_FAULTED || t->w.fault.kind != GS_WAVE_FAULT_ILLEGAL ||
      t->w.pc != ISA_CODE + t->inst.size)
    fail_msg("%s of %s: state %u, fault %u, PC 0x%llx", name, gs_target_name(t->env.target), t->w.state,
             t->w.fault.kind, (unsigned long long)t->w.pc);
  assert_true(t->w.fault.address == ISA_CODE);
  isa_assert_only_changed(t, "");
}

static void test_graphics(void **state) {
  isa_wave_t *t = isa_new(state, ISA_PART);
  unsigned count = 0;
  for (size_t row = 0; row < gs_opcode_count; row++) {
    const gs_opcode_t *op = &gs_opcodes[row];
    if (!(op->flags & GS_OPF_ILLEGAL) || !(op->targets & isa_part(state)))
      continue;
    const uint32_t words[2] = {graphics_word(op), 0};
    expect_illegal(t, words, op->name);
    assert_ptr_equal(t->inst.op, op);
    count++;
  }
  /* gfx90a has no graphics at all, but image instructions are in its tables; later families' tables have none
   * but for two of gfx11. */
  assert_in_range(count, 1, gs_opcode_count);
  isa_free(t);
}

static void test_no_instruction(void **state) {
  static const uint32_t words[][2] = {
      {0xffffffff, 0xffffffff}, /* an encoding that nothing has */
      {0xcc000000, 0},          /* likewise */
      {0xbe80ffff, 0},          /* SOP1 without such an opcode */
      {0xbfff0000, 0},          /* SOPP likewise */
      {0xd93c0000, 0},          /* DS likewise */
  };
  isa_wave_t *t = isa_new(state, ISA_PART);
  for (size_t k = 0; k < sizeof words / sizeof *words; k++)
    expect_illegal(t, words[k], "no instruction");
  isa_free(t);
}

/* What gfx90a has last: rows of other tests are left out by the same table that decides here. */
static void test_removed(void **state) {
  static const char *const texts[] = {"buffer_store_lds_dword s[4:7], s2 lds", "buffer_wbinvl1",
                                      "buffer_wbinvl1_vol"};
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    size_t count;
    expect_illegal(t, isa_assemble(state, GS_GFX90A, texts[i], &count), texts[i]);
  }
  isa_free(t);
}

/* What other parts have: an opcode of each of them that this part lacks. */
static void test_other_parts(void **state) {
  isa_wave_t *t = isa_new(state, ISA_PART);
  static const char *const texts[] = {"v_mad_mix_f32 v0, v1, v2, v3",
                                      "v_fma_mix_f32 v0, v1, v2, v3",
                                      "v_xnor_b32_e32 v0, v1, v2",
                                      "v_mfma_f32_4x4x1f32 a[0:3], v0, v1, a[0:3]",
                                      "v_fmac_f64_e32 v[0:1], v[2:3], v[4:5]",
                                      "v_interp_p1_f32 v0, v1, attr0.x",
                                      "v_pk_add_f32 v[0:1], v[2:3], v[4:5]"};
  unsigned lacking = 0;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    unsigned has = 0;
    for (unsigned p = 0; p < GS_TARGET_COUNT; p++)
      has |= isa_has(state, gs_targets[p], texts[i]) ? gs_targets[p] : 0u;
    if (has & isa_part(state))
      continue;
    size_t count;
    const uint32_t *const code = isa_assemble(state, (gs_target_t)(has & -has), texts[i], &count);
    uint32_t words[2] = {code[0], count > 1 ? code[1] : 0};
    /* Numbers are given anew: on gfx900 and gfx90a those of v_mad_mix and v_fmac_f64 mean something else. */
    gs_inst_t in;
    if (gs_decode(isa_part(state), words, 2, &in))
      continue;
    expect_illegal(t, words, texts[i]);
    lacking++;
  }
  assert_in_range(lacking, 1, sizeof texts / sizeof *texts);
  isa_free(t);
}

/* Tuples of vector registers, and data of GWS, that begin at odd numbers. gfx908 takes the same words. */
static void test_misaligned(void **state) {
  static const struct {
    const char *odd, *even;
    gs_target_t assembler; /* whose assembler takes the odd numbers, and has these words */
  } pairs[] = {
      {"v_add_f64 v[1:2], v[4:5], v[6:7]", "v_add_f64 v[2:3], v[4:5], v[6:7]", GS_GFX908},
      {"v_add_f64 v[2:3], v[5:6], v[8:9]", "v_add_f64 v[2:3], v[6:7], v[8:9]", GS_GFX908},
      {"v_fma_f64 v[2:3], v[4:5], v[6:7], v[9:10]", "v_fma_f64 v[2:3], v[4:5], v[6:7], v[10:11]", GS_GFX908},
      {"v_mad_u64_u32 v[2:3], vcc, v5, v7, v[9:10]", "v_mad_u64_u32 v[2:3], vcc, v5, v7, v[10:11]",
       GS_GFX908},
      {"v_cvt_f64_i32_e32 v[3:4], v5", "v_cvt_f64_i32_e32 v[4:5], v5", GS_GFX908},
      {"v_cmp_lt_u64_e32 vcc, v[2:3], v[5:6]", "v_cmp_lt_u64_e32 vcc, v[2:3], v[6:7]", GS_GFX908},
      {"ds_write_b96 v1, v[3:5]", "ds_write_b96 v1, v[4:6]", GS_GFX908},
      {"ds_read2_b32 v[5:6], v1 offset1:1", "ds_read2_b32 v[6:7], v1 offset1:1", GS_GFX908},
      {"ds_gws_init v1 gds", "ds_gws_init v2 gds", GS_GFX908},
      {"buffer_load_dwordx2 v[3:4], v1, s[4:7], 0 offen", "buffer_load_dwordx2 v[4:5], v1, s[4:7], 0 offen",
       GS_GFX908},
      {"buffer_load_dword v4, v[1:2], s[4:7], 0 idxen offen",
       "buffer_load_dword v4, v[2:3], s[4:7], 0 idxen offen", GS_GFX908},
  };
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    size_t count;
    const uint32_t *const odd = isa_assemble(state, pairs[i].assembler, pairs[i].odd, &count);
    const uint32_t *const even = isa_assemble(state, pairs[i].assembler, pairs[i].even, &count);
    gs_inst_t in;
    assert_true(gs_decode(isa_part(state), even, count, &in));
    assert_false(gs_decode(isa_part(state), odd, count, &in));
    const uint32_t words[2] = {odd[0], count > 1 ? odd[1] : 0};
    expect_illegal(t, words, pairs[i].odd);
  }
  isa_free(t);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      isa_part_test_on(test_graphics, GS_TO_90A | GS_GFX1100),
      isa_part_test_on(test_removed, GS_GFX9_4),
      isa_part_test_on(test_misaligned, GS_CDNA2_4),
      isa_part_test(test_no_instruction),
      isa_part_test(test_other_parts),
  };
  return isa_main(tests, sizeof tests / sizeof *tests);
}
