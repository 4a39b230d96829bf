/* Scalar instructions that change control flow or the state of the wave: branches, calls, forks, hardware
 * registers, MODE, indexing, messages, traps, and the end of a program. Not here: scalar arithmetic
 * (test_sop.c). */
#include "harness.h"

#include <stdio.h>
#include <string.h>

#define END (ISA_CODE + t->code_bytes)

/* ---- Branches ---- */

static void test_branches(void **state) {
  static const struct {
    const char *name;
    uint64_t vcc, exec;
    unsigned scc;
    bool taken;
  } rows[] = {
      {"s_branch", 1, 1, 0, true},
      {"s_branch", 0, 0, 1, true},
      {"s_cbranch_scc0", 1, 1, 0, true},
      {"s_cbranch_scc0", 0, 0, 1, false},
      {"s_cbranch_scc1", 1, 1, 0, false},
      {"s_cbranch_scc1", 0, 0, 1, true},
      {"s_cbranch_vccz", 0, 1, 1, true},
      {"s_cbranch_vccz", 1, 0, 0, false},
      {"s_cbranch_vccz", UINT64_C(1) << 63, 0, 0, false},
      {"s_cbranch_vccnz", 0, 1, 1, false},
      {"s_cbranch_vccnz", UINT64_C(1) << 32, 0, 0, true},
      {"s_cbranch_vccnz", 8, 0, 0, true},
      {"s_cbranch_execz", 1, 0, 1, true},
      {"s_cbranch_execz", 0, 1, 0, false},
      {"s_cbranch_execz", 0, UINT64_C(1) << 63, 0, false},
      {"s_cbranch_execnz", 1, 0, 1, false},
      {"s_cbranch_execnz", 0, UINT64_C(1) << 32, 0, true},
      {"s_cbranch_cdbgsys", 1, 1, 1, false},
      {"s_cbranch_cdbguser", 1, 1, 1, false},
      {"s_cbranch_cdbgsys_or_user", 1, 1, 1, false},
      {"s_cbranch_cdbgsys_and_user", 1, 1, 1, false},
  };
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char text[128];
    /* Forward, and backward over the first instruction. */
    (void)snprintf(text, sizeof text, "%s done\ns_mov_b32 s9, 1\ndone:", rows[i].name);
    for (unsigned backward = 0; backward < 2; backward++) {
      if (backward)
        (void)snprintf(
            text, sizeof text,
            "s_branch test\nback:\ns_mov_b32 s9, 2\ns_branch done\ntest:\n%s back\ndone:", rows[i].name);
      isa_reset(t, 0);
      isa_set_s64(t, GS_S_VCC, rows[i].vcc);
      gs_set_exec(&t->w, rows[i].exec);
      t->w.scc = rows[i].scc;
      t->w.s.u32[9] = 0;
      assert_int_equal(isa_run(t, text), GS_WAVE_RUNNING);
      const uint32_t expected = backward ? (rows[i].taken ? 2 : 0) : !rows[i].taken;
      if (t->w.s.u32[9] != expected)
        fail_msg("%s: s9 is %u, not %u", text, t->w.s.u32[9], expected);
      assert_true(t->w.pc == END);
      isa_assert_only_changed(t, "s9");
    }
  }
  isa_free(t);
}

static void test_far_branches(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  const uint32_t forward[] = {0xbf827fff}, backward[] = {0xbf828000};
  (void)isa_run_words(t, forward, 1);
  assert_true(t->w.pc == ISA_CODE + 4 + 4 * 0x7fff);
  (void)isa_run_words(t, backward, 1);
  assert_true(t->w.pc == ISA_CODE + 4 - 4 * 0x8000);
  isa_free(t);
}

static void test_calls(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  (void)isa_run(t, "s_nop 0\ns_getpc_b64 s[2:3]");
  assert_true(isa_s64(t, 2) == ISA_CODE + 8);
  isa_assert_only_changed(t, "s[2:3]");

  isa_set_s64(t, 2, UINT64_C(0x7fff12345677));
  (void)isa_run(t, "s_setpc_b64 s[2:3]");
  assert_true(t->w.pc == UINT64_C(0x7fff12345674));
  isa_assert_only_changed(t, "");

  isa_set_s64(t, 2, UINT64_C(0x123456789a));
  (void)isa_run(t, "s_swappc_b64 s[4:5], s[2:3]");
  assert_true(t->w.pc == UINT64_C(0x1234567898));
  assert_true(isa_s64(t, 4) == ISA_CODE + 4);
  isa_assert_only_changed(t, "s[4:5]");
  /* The target is read before the return address is written. */
  isa_set_s64(t, 4, UINT64_C(0x1234567890));
  (void)isa_run(t, "s_swappc_b64 s[4:5], s[4:5]");
  assert_true(t->w.pc == UINT64_C(0x1234567890));
  assert_true(isa_s64(t, 4) == ISA_CODE + 4);

  (void)isa_run(t, "s_call_b64 s[6:7], done\ns_nop 0\ns_mov_b32 s8, 1\ndone:");
  assert_true(isa_s64(t, 6) == ISA_CODE + 4 && t->w.pc == END);
  isa_assert_only_changed(t, "s[6:7]");
  isa_free(t);
}

/* A recursive function, as compilers call: 10 + 9 + ... + 1. */
static void test_recursion(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  t->w.s.u32[0] = 10;
  t->w.s.u32[1] = 0;
  isa_set_s64(t, 2, ISA_MEMORY);
  assert_int_equal(isa_run(t, "s_getpc_b64 s[4:5]\n"
                              "anchor:\n"
                              "s_add_u32 s4, s4, sum-anchor\n"
                              "s_addc_u32 s5, s5, 0\n"
                              "s_swappc_b64 s[30:31], s[4:5]\n"
                              "s_endpgm\n"
                              "sum:\n"
                              "s_cmp_eq_u32 s0, 0\n"
                              "s_cbranch_scc1 leave\n"
                              "s_store_dwordx2 s[30:31], s[2:3], 0x0\n"
                              "s_add_u32 s2, s2, 8\n"
                              "s_addc_u32 s3, s3, 0\n"
                              "s_add_i32 s1, s1, s0\n"
                              "s_sub_i32 s0, s0, 1\n"
                              "s_swappc_b64 s[30:31], s[4:5]\n"
                              "s_sub_u32 s2, s2, 8\n"
                              "s_subb_u32 s3, s3, 0\n"
                              "s_load_dwordx2 s[30:31], s[2:3], 0x0\n"
                              "s_waitcnt lgkmcnt(0)\n"
                              "leave:\n"
                              "s_setpc_b64 s[30:31]"),
                   GS_WAVE_ENDED);
  assert_int_equal(t->w.s.u32[1], 55);
  assert_true(isa_s64(t, 2) == ISA_MEMORY);
  isa_free(t);
}

/* ---- Forks ---- */

/* Both sides of a fork run, each for its own lanes, the smaller group first; with one side empty nothing is
 * forked. */
static void check_fork(isa_wave_t *t, const char *program, uint64_t exec, uint64_t condition) {
  isa_reset(t, 0);
  gs_set_exec(&t->w, exec);
  isa_set_s64(t, 40, condition);
  isa_set_s64(t, 42, ISA_CODE); /* start of the program, for g_fork */
  t->w.s.u32[50] = 0;
  t->w.s.u32[60] = t->w.s.u32[61] = t->w.s.u32[62] = 0;
  for (unsigned l = 0; l < GS_LANES; l++)
    t->v[1].u32[l] = t->v[2].u32[l] = 0;
  assert_int_equal(isa_run(t, program), GS_WAVE_RUNNING);
  assert_true(t->w.pc == END);
  const uint64_t pass = exec & condition, fail = exec & ~condition;
  const bool fail_first = pass && __builtin_popcountll(fail) < __builtin_popcountll(pass) && fail;
  for (unsigned l = 0; l < GS_LANES; l++) {
    const uint32_t passed = pass >> l & 1, failed = fail >> l & 1;
    assert_int_equal(t->v[1].u32[l], passed);
    assert_int_equal(t->v[2].u32[l], failed);
  }
  /* s61 and s62 tell in which order the sides ran. */
  if (pass && fail) {
    assert_int_equal(t->w.s.u32[61], fail_first ? 2 : 1);
    assert_int_equal(t->w.s.u32[62], fail_first ? 1 : 2);
    assert_true(gs_exec(&t->w) == (fail_first ? pass : fail));
  } else {
    assert_int_equal(t->w.s.u32[60], 1);
    assert_true(gs_exec(&t->w) == exec);
  }
  assert_int_equal(t->w.mode >> GS_MODE_CSP_SHIFT, 0);
  isa_assert_only_changed(t, "s[0:3] s[42:43] s[60:62] v[1:2] exec scc");
}

static void test_forks(void **state) {
  static const char sides[] = "s_add_u32 s60, s60, 1\n"
                              "v_add_u32 v2, 1, v2\n"
                              "s_mov_b32 s62, s60\n"
                              "s_branch join\n"
                              "pass:\n"
                              "s_add_u32 s60, s60, 1\n"
                              "v_add_u32 v1, 1, v1\n"
                              "s_mov_b32 s61, s60\n"
                              "join:\n"
                              "s_cbranch_join s50\n";
  char i_fork[512], g_fork[512];
  (void)snprintf(i_fork, sizeof i_fork, "s_cbranch_i_fork s[40:41], pass\n%s", sides);
  (void)snprintf(g_fork, sizeof g_fork,
                 "start:\ns_add_u32 s42, s42, pass-start\ns_addc_u32 s43, s43, 0\ns_cbranch_g_fork s[40:41], "
                 "s[42:43]\n%s",
                 sides);
  static const uint64_t execs[] = {UINT64_MAX, 0xffff, UINT64_C(0x8000000000000001), 1, 0};
  static const uint64_t conditions[] = {0,
                                        UINT64_MAX,
                                        1,
                                        3,
                                        UINT64_C(0x8000000000000000),
                                        UINT64_C(0xaaaaaaaaaaaaaaaa),
                                        UINT64_C(0xfffffffffffffff0),
                                        0xff};
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (size_t e = 0; e < sizeof execs / sizeof *execs; e++)
    for (size_t c = 0; c < sizeof conditions / sizeof *conditions; c++) {
      /* With no lanes at all, control goes to the target. */
      if (execs[e] == 0) {
        gs_set_exec(&t->w, 0);
        (void)isa_run(t, "s_cbranch_i_fork s[40:41], 7");
        assert_true(t->w.pc == ISA_CODE + 32);
        continue;
      }
      check_fork(t, i_fork, execs[e], conditions[c]);
      check_fork(t, g_fork, execs[e], conditions[c]);
    }
  isa_free(t);
}

/* What the stack holds while forked, and where it is for each depth. */
static void test_fork_stack(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (unsigned depth = 0; depth < 8; depth++) {
    isa_reset(t, depth);
    const uint32_t mode = t->w.mode | depth << GS_MODE_CSP_SHIFT;
    gs_wave_set_mode(&t->w, mode);
    isa_set_s64(t, 40, 0xf);
    (void)isa_run(t, "s_cbranch_i_fork s[40:41], 100");
    assert_true(t->w.pc == ISA_CODE + 4 + 400);
    assert_true(gs_exec(&t->w) == 0xf);
    assert_int_equal(t->w.mode >> GS_MODE_CSP_SHIFT, (depth + 1) % 8);
    assert_true(isa_s64(t, 4 * depth) == ~UINT64_C(0xf));
    assert_true(isa_s64(t, 4 * depth + 2) == ISA_CODE + 4);
    char changed[64];
    (void)snprintf(changed, sizeof changed, "s[%u:%u] exec mode", 4 * depth, 4 * depth + 3);
    isa_assert_only_changed(t, changed);
  }
  isa_free(t);
}

/* Three levels of nested forks sort lanes by their number modulo 8: each of the eight leaves counts its lanes
 * once. */
static void test_nested_forks(void **state) {
  static const char program[] =
      "s_mov_b32 s50, 0\n s_mov_b32 s51, 1\n s_mov_b32 s52, 2\n"
      "v_mov_b32 v1, 0\n v_and_b32 v2, 1, v0\n v_cmp_ne_u32 s[40:41], v2, 0\n"
      "v_and_b32 v2, 2, v0\n v_cmp_ne_u32 s[42:43], v2, 0\n"
      "v_and_b32 v2, 4, v0\n v_cmp_ne_u32 s[44:45], v2, 0\n"
      "s_cbranch_i_fork s[40:41], b1\n s_branch second\n b1: v_or_b32 v1, 1, v1\n"
      "second: s_cbranch_i_fork s[42:43], b2\n s_branch third\n b2: v_or_b32 v1, 2, v1\n"
      "third: s_cbranch_i_fork s[44:45], b3\n s_branch leaf\n b3: v_or_b32 v1, 4, v1\n"
      "leaf: v_add_u32 v3, 1, v3\n"
      "s_cbranch_join s52\n s_cbranch_join s51\n s_cbranch_join s50";
  static const uint64_t masks[] = {UINT64_MAX, UINT64_C(0x00ff00ff0f0f3355), 0xff, 0x80,
                                   UINT64_C(0x8100000000000018)};
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
    isa_reset(t, 0);
    gs_set_exec(&t->w, masks[i]);
    for (unsigned l = 0; l < GS_LANES; l++) {
      t->v[0].u32[l] = l;
      t->v[3].u32[l] = 0;
    }
    assert_int_equal(isa_run(t, program), GS_WAVE_RUNNING);
    for (unsigned l = 0; l < GS_LANES; l++)
      if (masks[i] >> l & 1) {
        assert_int_equal(t->v[1].u32[l], l % 8);
        assert_int_equal(t->v[3].u32[l], 1);
      } else {
        assert_int_equal(t->v[3].u32[l], 0);
      }
    isa_assert_lanes_kept(t, 1, 3, masks[i]);
  }
  isa_free(t);
}

/* ---- Hardware registers ---- */

static void test_getreg(void **state) {
  static const struct {
    const char *text;
    uint32_t value;
  } rows[] = {
      {"s_getreg_b32 s10, hwreg(HW_REG_SH_MEM_BASES)", 0x00010002},
      {"s_getreg_b32 s10, hwreg(HW_REG_SH_MEM_BASES, 16, 16)", 1},
      {"s_getreg_b32 s10, hwreg(HW_REG_SH_MEM_BASES, 0, 16)", 2},
      {"s_getreg_b32 s10, hwreg(HW_REG_MODE)", 0xa0123b5c},
      {"s_getreg_b32 s10, hwreg(HW_REG_MODE, 0, 4)", 0xc},
      {"s_getreg_b32 s10, hwreg(HW_REG_MODE, 4, 4)", 0x5},
      {"s_getreg_b32 s10, hwreg(HW_REG_MODE, 31, 1)", 1},
      {"s_getreg_b32 s10, hwreg(HW_REG_MODE, 28, 32)", 0xa},
      {"s_getreg_b32 s10, hwreg(HW_REG_MODE, 1, 31)", 0x50091dae},
      {"s_getreg_b32 s10, hwreg(HW_REG_HW_ID)", 0x89abcdef},
      {"s_getreg_b32 s10, hwreg(HW_REG_HW_ID, 8, 4)", 0xd},
      {"s_getreg_b32 s10, hwreg(HW_REG_HW_ID, 13, 2)", 2},
      {"s_getreg_b32 s10, hwreg(HW_REG_TRAPSTS)", 0x155},
      {"s_getreg_b32 s10, hwreg(HW_REG_GPR_ALLOC)", 0x02001500},
      {"s_getreg_b32 s10, hwreg(HW_REG_LDS_ALLOC, 12, 9)", ISA_LDS_BYTES / 256},
      {"s_getreg_b32 s10, hwreg(HW_REG_LDS_ALLOC, 0, 8)", 0},
      {"s_getreg_b32 s10, hwreg(HW_REG_IB_STS)", 0},
      {"s_getreg_b32 s10, hwreg(HW_REG_TBA_LO)", 0},
      {"s_getreg_b32 s10, hwreg(HW_REG_TBA_HI)", 0},
      {"s_getreg_b32 s10, hwreg(HW_REG_TMA_LO)", 0},
      {"s_getreg_b32 s10, hwreg(HW_REG_TMA_HI)", 0},
      {"s_getreg_b32 s10, hwreg(HW_REG_STATUS)", 0x10010801},
      {"s_mov_b64 vcc, 0\ns_mov_b64 exec, 0\ns_getreg_b32 s10, hwreg(HW_REG_STATUS, 0, 17)", 0x10e01},
  };
  isa_wave_t *const t = isa_new(state, ISA_PART);
  isa_prepare(state, ISA_PART, &rows[0].text, sizeof *rows, sizeof rows / sizeof *rows);
  t->env.gpr_alloc = 0x02001500;
  t->env.status = 1 << 28 | 1 << 11;
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    t->w.mode = 0xa0123b5c;
    t->w.trapsts = 0x155;
    t->w.scc = 1;
    gs_set_exec(&t->w, 1);
    isa_set_s64(t, GS_S_VCC, 1);
    (void)isa_run(t, rows[k].text);
    if (t->w.s.u32[10] != rows[k].value)
      fail_msg("%s: 0x%08x, not 0x%08x", rows[k].text, t->w.s.u32[10], rows[k].value);
    isa_assert_only_changed(t, "s10 vcc exec");
  }
  isa_free(t);
}

/* What a profiler would find in a wave that it has stopped: nobody takes samples, and nobody can write them.
 */
static void snapshots_are_empty(void **state, const unsigned ids[], size_t count) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  t->env.hw_id = 0x89abcdef;
  for (size_t i = 0; i < count; i++) {
    char text[96];
    (void)snprintf(text, sizeof text, "s_setreg_imm32_b32 hwreg(%u), 0x5a5a5a5a\ns_getreg_b32 s10, hwreg(%u)",
                   ids[i], ids[i]);
    t->w.s.u32[10] = 77;
    assert_int_equal(isa_run(t, text), GS_WAVE_RUNNING);
    assert_int_equal(t->w.s.u32[10], 0);
    isa_assert_only_changed(t, "s10");
  }
  isa_free(t);
}
static void test_snapshots_gfx942(void **state) {
  snapshots_are_empty(state, (const unsigned[]){21, 22, 23, 24}, 4);
}
static void test_snapshots_gfx11(void **state) {
  snapshots_are_empty(state, (const unsigned[]){18, 19, 27}, 3);
}

static void test_setreg_mode(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  const uint32_t before = t->w.mode;
  /* Only the bits of the field, and its low bits of the source. */
  t->w.s.u32[2] = 0xfffffff5;
  (void)isa_run(t, "s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s2");
  assert_int_equal(t->w.mode, (before & ~UINT32_C(15)) | 5);
  assert_true(t->w.fp_custom);
  isa_assert_only_changed(t, "mode");
  (void)isa_run(t, "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0xabcdef00");
  assert_int_equal(t->w.mode, before);
  assert_false(t->w.fp_custom);
  /* Denormals off, and back on. */
  (void)isa_run(t, "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0");
  assert_int_equal(t->w.mode, before & ~UINT32_C(0x30));
  assert_true(t->w.fp_custom);
  (void)isa_run(t, "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 15");
  assert_false(t->w.fp_custom);
  /* A bit that does not concern rounding, denormals or NaNs, and the IEEE bit. */
  (void)isa_run(t, "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 8, 1), 0");
  assert_int_equal(t->w.mode, before & ~UINT32_C(0x100));
  assert_false(t->w.fp_custom);
  (void)isa_run(t, "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 9, 1), 0");
  assert_int_equal(t->w.mode, before & ~UINT32_C(0x300));
  assert_true(t->w.fp_custom);
  /* A field cut off at bit 31; all of MODE. */
  (void)isa_run(t, "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 29, 32), 0x3");
  assert_int_equal(t->w.mode >> GS_MODE_CSP_SHIFT, 3);
  (void)isa_run(t, "s_setreg_imm32_b32 hwreg(HW_REG_MODE), 0x008003f0");
  assert_int_equal(t->w.mode, 0x008003f0);
  assert_false(t->w.fp_custom);
  /* Two bits are nobody's. */
  (void)isa_run(t, "s_setreg_imm32_b32 hwreg(HW_REG_MODE), -1");
  assert_int_equal(t->w.mode, 0xff9fffff);
  isa_free(t);
}

static void test_setreg_others(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  t->w.trapsts = 0x0f0;
  (void)isa_run(t, "s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 4), 5");
  assert_int_equal(t->w.trapsts, 0x0f5);
  /* Bits beyond the exception flags need privilege. */
  (void)isa_run(t, "s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS), -1");
  assert_int_equal(t->w.trapsts, 0x1ff);
  /* Registers that can only be read keep their value. */
  static const char *const read_only[] = {"STATUS", "HW_ID",  "GPR_ALLOC", "LDS_ALLOC",
                                          "IB_STS", "TBA_LO", "TMA_HI",    "SH_MEM_BASES"};
  for (size_t i = 0; i < sizeof read_only / sizeof *read_only; i++) {
    char text[160];
    (void)snprintf(text, sizeof text,
                   "s_getreg_b32 s10, hwreg(HW_REG_%s)\ns_setreg_imm32_b32 hwreg(HW_REG_%s), 0x5a5a5a5a\n"
                   "s_getreg_b32 s11, hwreg(HW_REG_%s)",
                   read_only[i], read_only[i], read_only[i]);
    assert_int_equal(isa_run(t, text), GS_WAVE_RUNNING);
    assert_int_equal(t->w.s.u32[10], t->w.s.u32[11]);
    isa_assert_only_changed(t, "s[10:11]");
  }
  isa_free(t);
}

/* Registers and requests that no compute shader has end in a fault. */
static void test_hwreg_faults(void **state) {
  static const char *const texts[] = {
      "s_getreg_b32 s10, hwreg(0)",
      "s_getreg_b32 s10, hwreg(8)",
      "s_getreg_b32 s10, hwreg(14)",
      "s_getreg_b32 s10, hwreg(25)",
      "s_getreg_b32 s10, hwreg(63)",
      "s_setreg_b32 hwreg(28), s2",
      "s_setreg_imm32_b32 hwreg(0), 1",
      "s_rfe_b64 s[2:3]",
      "s_rfe_restore_b64 s[2:3], s4",
      "s_sethalt 1",
      "s_sendmsg sendmsg(MSG_GS_DONE, GS_OP_NOP)",
      "s_sendmsg 0",
      "s_sendmsg 15",
      "s_sendmsghalt sendmsg(MSG_INTERRUPT)",
  };
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    (void)isa_run(t, texts[i]);
    isa_assert_fault(t, GS_WAVE_FAULT_ILLEGAL);
    assert_true(t->w.fault.address == ISA_CODE);
    assert_int_equal(t->w.fault.lane, GS_LANES);
    isa_assert_only_changed(t, "");
    /* What halts after a message has sent it. */
    assert_int_equal(t->interrupts - t->before.interrupts, strncmp(texts[i], "s_sendmsghalt", 13) == 0);
  }
  isa_free(t);
}

/* ---- Indexing ---- */

static void test_gpr_idx(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  t->w.s.u32[GS_S_M0] = 0x12345678;
  t->w.s.u32[2] = 0xffffffab;
  const uint32_t mode = t->w.mode;
  (void)isa_run(t, "s_set_gpr_idx_on s2, gpr_idx(SRC0,DST)");
  assert_int_equal(t->w.s.u32[GS_S_M0], 0x123496ab);
  assert_int_equal(t->w.mode, mode | GS_MODE_GPR_IDX_EN);
  isa_assert_only_changed(t, "m0 mode");
  t->w.s.u32[3] = 0x1c4;
  (void)isa_run(t, "s_set_gpr_idx_idx s3");
  assert_int_equal(t->w.s.u32[GS_S_M0], 0x123496c4);
  (void)isa_run(t, "s_set_gpr_idx_mode gpr_idx(SRC1,SRC2)");
  assert_int_equal(t->w.s.u32[GS_S_M0], 0x123466c4);
  assert_int_equal(t->w.mode, mode | GS_MODE_GPR_IDX_EN);
  (void)isa_run(t, "s_set_gpr_idx_mode gpr_idx(SRC0,DST)");
  assert_int_equal(t->w.s.u32[GS_S_M0], 0x123496c4);
  (void)isa_run(t, "s_set_gpr_idx_mode gpr_idx(SRC1,SRC2)");
  (void)isa_run(t, "s_set_gpr_idx_off");
  assert_int_equal(t->w.mode, mode);
  assert_int_equal(t->w.s.u32[GS_S_M0], 0x123466c4);
  /* Constants as the index; no operand named. */
  (void)isa_run(t, "s_set_gpr_idx_on 7, gpr_idx()");
  assert_int_equal(t->w.s.u32[GS_S_M0], 0x12340607);
  isa_free(t);
}

static void test_movrel(void **state) {
  static const struct {
    const char *text;
    uint32_t m0;
    const char *changed;
    unsigned dst, src, dwords; /* registers that must be equal afterwards */
  } rows[] = {
      {"s_movrels_b32 s10, s20", 0, "s10", 10, 20, 1},
      {"s_movrels_b32 s10, s20", 5, "s10", 10, 25, 1},
      {"s_movrels_b32 s10, s20", 81, "s10", 10, 101, 1},
      {"s_movrels_b32 s10, s20", 82, "s10", 10, 0, 1}, /* beyond the last SGPR: SGPR 0 */
      {"s_movrels_b32 s10, s20", UINT32_MAX, "s10", 10, 0, 1},
      {"s_movrels_b64 s[10:11], s[20:21]", 6, "s[10:11]", 10, 26, 2},
      {"s_movrels_b64 s[10:11], s[20:21]", 7, "s[10:11]", 10, 26, 2}, /* without its last bit */
      {"s_movrels_b64 s[10:11], s[20:21]", 80, "s[10:11]", 10, 100, 2},
      {"s_movrels_b64 s[10:11], s[20:21]", 82, "s[10:11]", 10, 0, 2},
      {"s_movreld_b32 s10, s20", 7, "s17", 17, 20, 1},
      {"s_movreld_b32 s10, s20", 91, "s101", 101, 20, 1},
      {"s_movreld_b32 s10, s20", 92, "", 10, 10, 1}, /* beyond the last SGPR: nothing */
      {"s_movreld_b64 s[10:11], s[20:21]", 8, "s[18:19]", 18, 20, 2},
      {"s_movreld_b64 s[10:11], s[20:21]", 9, "s[18:19]", 18, 20, 2},
      {"s_movreld_b64 s[10:11], s[20:21]", 90, "s[100:101]", 100, 20, 2},
      {"s_movreld_b64 s[10:11], s[20:21]", UINT32_MAX - 1, "", 10, 10, 2},
  };
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    isa_reset(t, 0);
    t->w.s.u32[GS_S_M0] = rows[i].m0;
    assert_int_equal(isa_run(t, rows[i].text), GS_WAVE_RUNNING);
    for (unsigned d = 0; d < rows[i].dwords; d++)
      assert_int_equal(t->w.s.u32[rows[i].dst + d], t->before.w.s.u32[rows[i].src + d]);
    isa_assert_only_changed(t, rows[i].changed);
  }
  isa_free(t);
}

/* ---- Messages, waits, ends ---- */

static void test_messages(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  t->w.s.u32[GS_S_M0] = 0x7fffff42;
  assert_int_equal(isa_run(t, "s_sendmsg sendmsg(MSG_INTERRUPT)"), GS_WAVE_RUNNING);
  assert_int_equal(t->interrupts, 1);
  assert_int_equal(t->interrupt_id, 0x42);
  isa_assert_only_changed(t, "");
  assert_int_equal(isa_run(t, "s_sendmsg sendmsg(MSG_GET_DOORBELL)"), GS_WAVE_RUNNING);
  assert_true(gs_exec(&t->w) == 0x123);
  isa_assert_only_changed(t, "exec");
  assert_int_equal(t->interrupts, 1);
  isa_free(t);
}

/* While VSKIP is on, vector instructions do nothing, whatever their operands; scalar ones go on. */
static void test_vskip(void **state) {
  static const char *const on[] = {"s_setvskip 4, 2", "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 28, 1), 1",
                                   "s_mov_b32 s4, 0x80000000\ns_setvskip s4, 63"};
  static const char *const off[] = {"s_setvskip 4, 1", "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 28, 1), 0",
                                    "s_mov_b32 s4, 0x7fffffff\ns_setvskip s4, 31"};
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (size_t i = 0; i < sizeof on / sizeof *on; i++) {
    char text[1024];
    isa_reset(t, (unsigned)i);
    t->w.s.u32[8] = 5;
    const uint32_t mode = t->w.mode;
    (void)snprintf(
        text, sizeof text,
        "%s\nv_mov_b32 v0, 1\nv_cmp_eq_u32 s[2:3], v0, v0\nv_readfirstlane_b32 s5, v9\n"
        "v_pk_add_u16 v1, v2, v3\nds_write_b32 v4, v5\nds_nop\nglobal_store_dword v[6:7], v8, off\n"
        "flat_load_dword v9, v[6:7]\nbuffer_store_dword v8, off, s[0:3], 0\n"
        "s_add_u32 s8, s8, 1\n%s\nv_mov_b32 v0, 7",
        on[i], off[i]);
    assert_int_equal(isa_run(t, text), GS_WAVE_RUNNING);
    assert_int_equal(t->w.mode, mode);
    assert_int_equal(t->w.s.u32[8], 6);
    for (unsigned l = 0; l < GS_LANES; l++)
      assert_int_equal(t->v[0].u32[l], 7);
    isa_assert_only_changed(t, "v0 s4 s8 scc");
    assert_int_equal(isa_run(t, on[i]), GS_WAVE_RUNNING);
    assert_int_equal(t->w.mode, mode | GS_MODE_VSKIP);
    isa_assert_only_changed(t, "s4 mode");
  }
  isa_free(t);
}

static void test_states(void **state) {
  static const struct {
    const char *text;
    gs_wave_state_t result;
  } rows[] = {
      {"s_sleep 0", GS_WAVE_YIELDED},
      {"s_sleep 0x7f", GS_WAVE_YIELDED},
      {"s_barrier", GS_WAVE_BARRIER},
      {"s_endpgm", GS_WAVE_ENDED},
      {"s_endpgm 3", GS_WAVE_ENDED},
      {"s_endpgm_saved", GS_WAVE_ENDED},
      {"s_endpgm_ordered_ps_done", GS_WAVE_ENDED},
      {"s_setkill 1", GS_WAVE_ENDED},
      {"s_setkill 0", GS_WAVE_RUNNING},
      {"s_sethalt 0", GS_WAVE_RUNNING},
      {"s_setvskip 4, 1", GS_WAVE_RUNNING},
      {"s_nop 0", GS_WAVE_RUNNING},
      {"s_nop 15", GS_WAVE_RUNNING},
      {"s_setprio 3", GS_WAVE_RUNNING},
      {"s_wakeup", GS_WAVE_RUNNING},
      {"s_incperflevel 1", GS_WAVE_RUNNING},
      {"s_decperflevel 1", GS_WAVE_RUNNING},
      {"s_ttracedata", GS_WAVE_RUNNING},
      {"s_waitcnt 0", GS_WAVE_RUNNING},
      {"s_waitcnt vmcnt(3)", GS_WAVE_RUNNING},
      {"s_waitcnt vmcnt(63) expcnt(7) lgkmcnt(15)", GS_WAVE_RUNNING},
      {"s_trap 0", GS_WAVE_RUNNING},
      {"s_trap 1", GS_WAVE_RUNNING},
      {"s_trap 3", GS_WAVE_RUNNING},
      {"s_trap 0xff", GS_WAVE_RUNNING},
  };
  isa_prepare(state, ISA_PART, &rows[0].text, sizeof *rows, sizeof rows / sizeof *rows);
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    if (isa_run(t, rows[k].text) != rows[k].result)
      fail_msg("%s: state %u", rows[k].text, t->w.state);
    assert_true(t->w.pc == END);
    isa_assert_only_changed(t, "");
  }
  isa_free(t);
}

static void test_resume(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  t->w.s.u32[0] = 0;
  assert_int_equal(
      isa_run(t, "s_add_u32 s0, s0, 1\ns_barrier\ns_add_u32 s0, s0, 2\ns_sleep 1\ns_add_u32 s0, s0, 4"),
      GS_WAVE_BARRIER);
  assert_int_equal(t->w.s.u32[0], 1);
  assert_int_equal(isa_resume(t), GS_WAVE_YIELDED);
  assert_int_equal(t->w.s.u32[0], 3);
  assert_int_equal(isa_resume(t), GS_WAVE_RUNNING);
  assert_int_equal(t->w.s.u32[0], 7);
  isa_free(t);
}

/* A wave without others in its group does not wait for them. */
static void test_lone_barrier(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  t->env.status = 0;
  t->w.s.u32[0] = 0;
  assert_int_equal(isa_run(t, "s_add_u32 s0, s0, 1\ns_barrier\ns_add_u32 s0, s0, 2"), GS_WAVE_RUNNING);
  assert_int_equal(t->w.s.u32[0], 3);
  isa_free(t);
}

static void test_abort_trap(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  (void)isa_run(t, "s_nop 0\ns_trap 2\ns_mov_b32 s0, 0");
  isa_assert_fault(t, GS_WAVE_FAULT_TRAP);
  assert_true(t->w.fault.address == ISA_CODE + 4);
  assert_int_equal(t->w.fault.lane, GS_LANES);
  isa_assert_only_changed(t, "");
  /* The first fault counts. */
  gs_wave_fault(&t->w, GS_WAVE_FAULT_MEMORY, 1, GS_VM_READ, 0);
  isa_assert_fault(t, GS_WAVE_FAULT_TRAP);
  isa_free(t);
}

/* Whoever decodes must see that code may have changed, and gets the turn to do so. */
static void test_icache_inv(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  const uint64_t epoch = gs_vm_reader_enter(&t->reader)->code_epoch;
  assert_int_equal(isa_run(t, "s_icache_inv"), GS_WAVE_YIELDED);
  assert_true(gs_vm_reader_enter(&t->reader)->code_epoch != epoch);
  isa_assert_only_changed(t, "");
  isa_free(t);
}

/* Random words in each scalar encoding: whatever the operands, an instruction changes scalar state, touches
 * mapped memory, or faults; the sanitizers see what else it does. */
static void test_random_words(void **state) {
  static const uint32_t encodings[][2] = {
      {0xbe800000, 0x007fffff}, /* SOP1: fixed bits, free bits */
      {0x80000000, 0x1fffffff}, /* SOP2 */
      {0xb0000000, 0x0fffffff}, /* SOPK */
      {0xbf000000, 0x007fffff}, /* SOPC */
      {0xbf800000, 0x007fffff}, /* SOPP */
      {0xc0000000, 0x03ffffff}, /* SMEM */
  };
  enum { ENCODINGS = sizeof encodings / sizeof *encodings, ROUNDS = 100000 };
  isa_compares_nothing(state);
  isa_wave_t *const t = isa_new(state, ISA_PART);
  const gs_row_t *const v = t->w.v;
  const gs_wave_env_t *const env = t->w.env;
  uint64_t seed = 1;
  for (unsigned i = 0; i < ROUNDS; i++) {
    const uint64_t random = isa_random(&seed);
    const uint32_t words[3] = {encodings[i % ENCODINGS][0] | ((uint32_t)random & encodings[i % ENCODINGS][1]),
                               (uint32_t)(random >> 32), (uint32_t)isa_random(&seed)};
    for (unsigned r = 0; r < GS_SGPRS; r += 4)
      isa_set_s64(t, r, ISA_MEMORY + isa_random(&seed) % ISA_MEMORY_BYTES);
    gs_wave_set_mode(&t->w, GS_MODE_FP_DEFAULT);
    memset(&t->w.fault, 0, sizeof t->w.fault);
    memcpy(t->code, words, sizeof words);
    gs_inst_t inst;
    t->w.pc = ISA_CODE;
    t->code_bytes = gs_decode(t->env.target, words, 3, &inst) ? inst.size : 4;
    isa_step(t);
    assert_ptr_equal(t->w.v, v);
    assert_ptr_equal(t->w.env, env);
    assert_true(t->w.state == GS_WAVE_FAULTED || (t->w.fault.kind == GS_WAVE_FAULT_NONE && t->w.scc <= 1));
  }
  isa_free(t);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      isa_part_test(test_branches),
      isa_part_test(test_far_branches),
      isa_part_test(test_calls),
      isa_part_test(test_recursion),
      isa_part_test(test_forks),
      isa_part_test(test_fork_stack),
      isa_part_test(test_nested_forks),
      isa_part_test(test_getreg),
      isa_part_test(test_setreg_mode),
      isa_part_test_on(test_snapshots_gfx942, GS_GFX9_4),
      isa_part_test_on(test_snapshots_gfx11, GS_GFX11),
      isa_part_test(test_setreg_others),
      isa_part_test(test_hwreg_faults),
      isa_part_test(test_gpr_idx),
      isa_part_test(test_movrel),
      isa_part_test(test_messages),
      isa_part_test(test_states),
      isa_part_test(test_resume),
      isa_part_test(test_lone_barrier),
      isa_part_test(test_abort_trap),
      isa_part_test(test_icache_inv),
      isa_part_test(test_vskip),
      isa_part_test(test_random_words),
  };
  return isa_main(tests, sizeof tests / sizeof *tests);
}
