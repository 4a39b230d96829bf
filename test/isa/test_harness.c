/* The test bench checks itself: what it sets up, assembles and notices.
 * Not here: tests of instructions. */
#include "harness.h"

#include <string.h>

static void test_assemble(void **state) {
  static const char *const texts[] = {"s_nop 0", "s_mov_b32 s0, 0x12345678", "s_branch end\ns_nop 1\nend:"};
  isa_prepare(state, GS_GFX906, texts, sizeof *texts, 3);
  size_t count;
  const uint32_t *words = isa_assemble(state, GS_GFX906, texts[0], &count);
  assert_int_equal(count, 1);
  assert_int_equal(words[0], 0xbf800000);
  words = isa_assemble(state, GS_GFX906, texts[1], &count);
  assert_int_equal(count, 2);
  assert_int_equal(words[1], 0x12345678);
  words = isa_assemble(state, GS_GFX906, texts[2], &count);
  assert_int_equal(count, 2);
  assert_int_equal(words[0], 0xbf820001);
  /* The same text means other words on another target. */
  words = isa_assemble(state, GS_GFX90A, "v_add_u32 v0, v1, v2", &count);
  assert_int_equal(words[0], 0x68000501);
}

static void test_wave(void **state) {
  for (unsigned i = 0; i < GS_TARGET_COUNT; i++) {
    isa_wave_t *const a = isa_new(state, gs_targets[i]), *const b = isa_new(state, gs_targets[i]);
    assert_memory_equal(a->v, b->v, sizeof a->v);
    assert_memory_equal(&a->w.s, &b->w.s, sizeof a->w.s);
    assert_true(gs_exec(&a->w) == UINT64_MAX >> (64 - gs_target_lanes(gs_targets[i])));
    assert_false(a->w.fp_custom);
    isa_reset(b, 1);
    assert_memory_not_equal(a->v, b->v, sizeof a->v);
    const gs_vm_map_t *const map = gs_vm_reader_enter(&a->reader);
    assert_ptr_equal(gs_vm_translate(map, ISA_MEMORY + 8, 4, GS_VM_WRITE), a->memory + 8);
    assert_null(gs_vm_translate(map, ISA_MEMORY + ISA_MEMORY_BYTES - 2, 4, GS_VM_READ));
    assert_null(gs_vm_translate(map, ISA_READONLY, 4, GS_VM_WRITE));
    isa_free(a);
    isa_free(b);
  }
}

static void test_bad_words(void **state) {
  isa_wave_t *const t = isa_new(state, GS_GFX906);
  const uint32_t nothing[] = {0xffffffff};
  assert_int_equal(isa_run_words(t, nothing, 1), GS_WAVE_FAULTED);
  isa_assert_fault(t, GS_WAVE_FAULT_ILLEGAL);
  isa_assert_only_changed(t, "");
  isa_free(t);
}

static void test_values(void **state) {
  (void)state;
  gs_row_t rows[2];
  const uint32_t three[] = {7, 8, 9};
  isa_fill32(&rows[0], three, 3, 3, 1);
  assert_int_equal(rows[0].u32[0], 8);
  assert_int_equal(rows[0].u32[3], 9);
  assert_int_equal(rows[0].u32[6], 7);
  isa_fill64(rows, isa_u64_edges, isa_u64_edge_count, 1, 0);
  for (unsigned l = 0; l < GS_LANES; l++)
    assert_true(isa_u64(rows, l) == isa_u64_edges[l % isa_u64_edge_count]);
}

static void test_lists(void **state) {
  isa_wave_t *const t = isa_new(state, GS_GFX90A);
  (void)isa_run_words(t, NULL, 0);
  t->w.s.u32[3]++;
  t->w.s.u32[GS_S_VCC + 1]++;
  t->v[2].u32[63]++;
  t->v[GS_ARCH_VGPRS + 5].u32[0]++;
  t->lds[9]++;
  t->memory[ISA_MEMORY_BYTES - 1]++;
  t->w.scc ^= 1;
  isa_assert_only_changed(t, "s[2:3] vcc v2 a[4:5] lds memory scc");
  isa_assert_lanes_kept(t, 2, 1, UINT64_C(1) << 63);
  isa_free(t);
}

/* Runs on one part after the other. */
static void test_parts(void **state) {
  const gs_target_t part = isa_part(state);
  isa_wave_t *const t = isa_new(state, ISA_PART);
  assert_int_equal(t->env.target, part);
  isa_free(t);
  size_t count, same;
  const uint32_t *const words = isa_assemble(state, ISA_PART, "v_add_u32 v0, v1, v2", &count);
  assert_ptr_equal(words, isa_assemble(state, part, "v_add_u32 v0, v1, v2", &same));

  assert_true(isa_has(state, ISA_PART, "v_mov_b32_dpp v0, v1 wave_shl:1"));
  assert_int_equal(isa_has(state, ISA_PART, "v_fmac_f64"), (part & GS_CDNA2_4) != 0);
  assert_int_equal(isa_has(state, ISA_PART, "v_mul_legacy_f32_e32"), !(part & GS_CDNA2_4));
  assert_true(isa_has(state, ISA_PART, "v_mul_legacy_f32_e64 v0, v1, v2"));
  assert_int_equal(isa_has(state, ISA_PART, "v_xnor_b32_sdwa"), part != GS_GFX900);
  assert_int_equal(isa_has(state, GS_GFX906, "v_xnor_b32_dpp"), true);
  assert_int_equal(isa_has(state, ISA_PART, "v_mfma_f32_32x32x1f32"), (part & GS_CDNA1_2) != 0);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_assemble), cmocka_unit_test(test_wave),  cmocka_unit_test(test_bad_words),
      cmocka_unit_test(test_values),   cmocka_unit_test(test_lists), isa_part_test(test_parts),
  };
  return isa_main(tests, sizeof tests / sizeof *tests);
}
