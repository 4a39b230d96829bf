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
  default: return 0xd0000000u | (uint32_t)op->number << 16;
  }
}

static void expect_illegal(isa_wave_t *t, const uint32_t words[2], const char *name) {
  (void)isa_run_words(t, words, 2);
  if (t->w.state != GS_WAVE_FAULTED || t->w.fault.kind != GS_WAVE_FAULT_ILLEGAL || t->steps != 1)
    fail_msg("%s of %s: state %u, fault %u after %zu steps", name, gs_target_name(t->env.target), t->w.state,
             t->w.fault.kind, t->steps);
  assert_true(t->w.fault.address == ISA_CODE);
  isa_assert_only_changed(t, "");
}

static void test_graphics(void **state) {
  for (unsigned i = 0; i < ISA_TARGETS; i++) {
    isa_wave_t *t = isa_new(state, isa_targets[i]);
    unsigned count = 0;
    for (size_t row = 0; row < gs_opcode_count; row++) {
      const gs_opcode_t *op = &gs_opcodes[row];
      if (!(op->flags & GS_OPF_ILLEGAL) || !(op->targets & isa_targets[i]))
        continue;
      const uint32_t words[2] = {graphics_word(op), 0};
      expect_illegal(t, words, op->name);
      assert_ptr_equal(t->inst.op, op);
      count++;
    }
    /* gfx90a has no graphics at all, but image instructions are in its tables. */
    assert_in_range(count, 1, gs_opcode_count);
    isa_free(t);
  }
}

static void test_no_instruction(void **state) {
  static const uint32_t words[][2] = {
      {0xffffffff, 0xffffffff}, /* an encoding that nothing has */
      {0xcc000000, 0},          /* likewise */
      {0xbe80ffff, 0},          /* SOP1 without such an opcode */
      {0xbfff0000, 0},          /* SOPP likewise */
      {0xd93c0000, 0},          /* DS likewise */
  };
  for (unsigned i = 0; i < ISA_TARGETS; i++) {
    isa_wave_t *t = isa_new(state, isa_targets[i]);
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
      expect_illegal(t, words[k], "no instruction");
    isa_free(t);
  }
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_graphics),
      cmocka_unit_test(test_no_instruction),
  };
  return isa_main(tests, sizeof tests / sizeof *tests);
}
