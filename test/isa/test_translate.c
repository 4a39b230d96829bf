/* The translator: what it makes of instructions, how blocks count them, and what there is without memory for
 * code. Not here: that results are the same as the interpreter's. */
#include "harness.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/strict.h"
#include "exec/guard.h"
#include "exec/internal.h"
#include "isa/strip_rows.h"
#include "translate/block.h"
#include "translate/choose.h"
#include "translate/level.h"
#include "translate/live.h"

typedef struct choice_row {
  const char *text;
  gs_step_kind_t kind;
  bool writes_exec;
} choice_row_t;

static const choice_row_t choices[] = {
    {"v_add_u32_e32 v0, v1, v2", GS_STEP_STENCIL, false},
    {"v_add_u32_e64 v0, s1, v2", GS_STEP_STENCIL, false},
    {"v_add_u32_e64 v0, v1, s2 clamp", GS_STEP_CALL, false},
    {"v_add_u32_sdwa v0, v1, v2 dst_sel:BYTE_1 dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:DWORD",
     GS_STEP_CALL, false},
    {"v_add_u32_dpp v0, v1, v2 row_shl:1 row_mask:0xf bank_mask:0xf", GS_STEP_CALL, false},
    {"v_fma_f32 v0, v1, v2, 1.0", GS_STEP_STENCIL, false},
    {"v_fma_f32 v0, -v1, v2, v3", GS_STEP_STENCIL, false},
    {"v_fma_f32 v0, -s1, v2, v3", GS_STEP_CALL, false},
    {"v_or_b32_sdwa v0, v1, v2 dst_sel:DWORD src0_sel:BYTE_1 src1_sel:DWORD", GS_STEP_STENCIL, false},
    {"v_or_b32_sdwa v0, v1, v2 dst_sel:WORD_1 src0_sel:DWORD src1_sel:DWORD", GS_STEP_CALL, false},
    {"v_or_b32_sdwa v0, v1, sext(v2) dst_sel:DWORD src0_sel:BYTE_1 src1_sel:BYTE_0", GS_STEP_CALL, false},
    {"v_pk_fma_f16 v0, v1, s2, v3", GS_STEP_STENCIL, false},
    {"v_pk_add_u16 v0, v1, v2", GS_STEP_STENCIL, false},
    {"v_pk_add_u16 v0, v1, v2 clamp", GS_STEP_CALL, false},
    {"v_pk_add_u16 v0, v1, v2 op_sel:[0,1]", GS_STEP_CALL, false},
    {"v_pk_add_u16 v0, v1, v2 op_sel_hi:[0,1]", GS_STEP_CALL, false},
    {"v_pk_add_f16 v0, v1, v2 neg_lo:[1,0]", GS_STEP_CALL, false},
    {"v_pk_add_f16 v0, v1, v2 neg_hi:[0,1]", GS_STEP_CALL, false},
    {"v_add_f32_e64 v0, v1, v2 mul:2", GS_STEP_CALL, false},
    {"v_mov_b32_e32 v0, src_shared_base", GS_STEP_CALL, false},
    {"v_cmp_lt_u32_e32 vcc, v1, v2", GS_STEP_STENCIL, false},
    {"v_cmp_lt_u32_e64 exec, v1, v2", GS_STEP_STENCIL, true},
    {"v_cmpx_lt_u32_e32 vcc, v1, v2", GS_STEP_STENCIL, true},
    {"v_cmpx_class_f32_e32 vcc, v1, v2", GS_STEP_CALL, true},
    {"v_addc_co_u32_e64 v0, exec, v1, v2, vcc", GS_STEP_STENCIL, true},
    {"v_readlane_b32 exec_hi, v0, 1", GS_STEP_STENCIL, true},
    {"v_readfirstlane_b32 s0, v0", GS_STEP_STENCIL, false},
    {"s_add_u32 s0, s1, 5", GS_STEP_STENCIL, false},
    {"s_add_u32 exec_lo, s1, 5", GS_STEP_STENCIL, true},
    {"s_mov_b64 exec, s[2:3]", GS_STEP_STENCIL, true},
    {"s_and_saveexec_b64 s[0:1], vcc", GS_STEP_STENCIL, true},
    {"s_mov_b32 ttmp0, s1", GS_STEP_LAST, false},
    {"s_movreld_b32 s0, s1", GS_STEP_LAST, false},
    {"s_setpc_b64 s[0:1]", GS_STEP_JUMP, false},
    {"s_swappc_b64 s[2:3], s[0:1]", GS_STEP_JUMP, false},
    {"s_call_b64 s[0:1], 1", GS_STEP_JUMP, false},
    {"s_getpc_b64 s[0:1]", GS_STEP_STENCIL, false},
    {"s_setreg_b32 hwreg(HW_REG_MODE), s0", GS_STEP_LAST, false},
    {"s_set_gpr_idx_on s0, gpr_idx(SRC0)", GS_STEP_LAST, false},
    {"s_branch 5", GS_STEP_GO, false},
    {"s_cbranch_vccnz 5", GS_STEP_BRANCH, false},
    {"s_barrier", GS_STEP_STOP, false},
    {"s_endpgm", GS_STEP_LAST, false},
    {"s_icache_inv", GS_STEP_LAST, false},
    {"s_nop 3", GS_STEP_NOTHING, false},
    {"s_waitcnt vmcnt(0)", GS_STEP_NOTHING, false},
    {"s_waitcnt vmcnt(3)", GS_STEP_NOTHING, false},
    {"s_load_dwordx4 s[0:3], s[4:5], 0x10", GS_STEP_SHORT, false},
    {"s_store_dword s0, s[4:5], 0x10", GS_STEP_CALL_STORE, false},
    {"global_load_dword v0, v1, s[2:3]", GS_STEP_SHORT, false},
    {"global_load_dword v1, s[2:3] lds", GS_STEP_CALL, false},
    {"global_store_dwordx2 v[0:1], v[2:3], off", GS_STEP_SHORT_STORE, false},
    {"global_atomic_add v0, v1, s[2:3]", GS_STEP_CALL_STORE, false},
    {"flat_load_dwordx3 v[0:2], v[4:5]", GS_STEP_SHORT, false},
    {"ds_read_b64 v[0:1], v2 offset:8", GS_STEP_SHORT, false},
    {"ds_add_u32 v0, v1", GS_STEP_CALL, false},
};

static void test_choices(void **state) {
  const gs_stencil_table_t *const table = gs_stencils_like(isa_handlers(state));
  if (!table)
    skip();
  gs_finder_t finder = {.table = table};
  for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
    size_t count;
    const uint32_t *const words = isa_assemble(state, GS_GFX908, choices[i].text, &count);
    gs_inst_t in;
    assert_true(gs_decode(GS_GFX908, words, count, &in));
    const gs_choice_t choice = gs_choose(&finder, &in);
    if (choice.kind != choices[i].kind || choice.writes_exec != choices[i].writes_exec)
      fail_msg("%s: kind %d, %s EXEC", choices[i].text, (int)choice.kind,
               choice.writes_exec ? "writes" : "does not write");
    const bool is_stencil = choice.any || (choice.full && choice.part);
    const bool wants_one = choice.kind == GS_STEP_STENCIL || choice.kind == GS_STEP_BRANCH ||
                           choice.kind == GS_STEP_SHORT || choice.kind == GS_STEP_SHORT_STORE ||
                           choice.kind == GS_STEP_STOP || choice.kind == GS_STEP_JUMP;
    assert_int_equal(is_stencil, wants_one);
  }
}

/* A stencil whose name no instruction makes is never used. */
static void test_every_stencil_has_an_instruction(void **state) {
  static const char *const names[] = {
#define GS_ROW(mnemonic, encoding, number, targets, dst, s0, s1, s2, flags, fn) #fn,
#include "isa/ops.def"
#undef GS_ROW
      "add_pair", "subtract_pair", /* two of them */
  };
  const gs_stencil_table_t *const table = gs_stencils_like(isa_handlers(state));
  if (!table)
    skip();
  for (size_t i = 0; i < table->stencil_count; i++) {
    const char *const name = table->names + table->stencils[i].name, *const kinds = strstr(name, "__");
    bool found = !kinds;
    for (size_t n = 0; n < sizeof names / sizeof *names && !found; n++)
      found = strlen(names[n]) == (size_t)(kinds - name) && strncmp(names[n], name, strlen(names[n])) == 0;
    if (!found)
      fail_msg("%s: no instruction has this handler", name);
  }
}

/* A program at ISA_CODE, decoded. */
enum { MOST_WORDS = 64 };
typedef struct program {
  gs_inst_t inst[MOST_WORDS];
  gs_cell_t cell[MOST_WORDS];
  size_t words;
} program_t;

static bool find(void *context, uint64_t address, gs_code_place_t *place) {
  program_t *const p = context;
  const uint64_t slot = (address - ISA_CODE) / 4;
  if (slot >= p->words)
    return false;
  *place = (gs_code_place_t){&p->inst[slot], &p->cell[slot]};
  return true;
}

static void load_for(void *const *state, gs_target_t target, program_t *p, const char *text) {
  const uint32_t *const words = isa_assemble(state, target, text, &p->words);
  assert_in_range(p->words, 1, MOST_WORDS);
  for (size_t i = 0; i < p->words; i++) {
    atomic_init(&p->cell[i], gs_block_missing);
    if (gs_decode(target, words + i, p->words - i, &p->inst[i]))
      p->inst[i].fn = gs_handler_fn(&isa_handlers(state)[p->inst[i].op - gs_opcodes]);
  }
}
static void load(void *const *state, program_t *p, const char *text) {
  load_for(state, GS_GFX90A, p, text);
}

/* Runs a block from its beginning, with so many instructions left. */
static void run(gs_block_fn_t *block, gs_wave_t *w, uint32_t left) {
  w->pc = ISA_CODE;
  w->left = left;
  gs_block_run(block, w);
}

static gs_block_fn_t *translate_at(gs_translator_t *t, program_t *p, uint64_t address) {
  unsigned count = 0;
  gs_block_fn_t *const block = gs_translate(t, address, find, p, &count);
  assert_non_null(block);
  atomic_store(&p->cell[(address - ISA_CODE) / 4], block);
  return block;
}

/* A block counts the instructions that it executed, wherever it is left. */
static void test_blocks_count(void **state) {
  static program_t program;
  gs_translator_t *const t = gs_translator_create(isa_handlers(state), GS_LOOKS_ALWAYS);
  if (!t)
    skip();
  isa_wave_t *const wave = isa_new(state, GS_GFX90A);
  gs_wave_t *const w = &wave->w;
  load(state, &program,
       "s_add_u32 s0, s0, 1\n s_cmp_eq_u32 s0, 1\n s_cbranch_scc1 2\n v_mov_b32_e32 v0, s0\n"
       "s_store_dword s0, s[2:3], 0x0\n s_barrier");
  unsigned count = 0;
  gs_block_fn_t *const block = gs_translate(t, ISA_CODE, find, &program, &count);
  assert_non_null(block);
  assert_int_equal(count, 6);
  w->s.u32[0] = 0; /* the branch is taken */
  run(block, w, 10);
  assert_int_equal(w->left, 7);
  assert_int_equal(w->pc, ISA_CODE + 20);
  run(block, w, 5); /* too few are left */
  assert_int_equal(w->left, 5);
  assert_int_equal(w->pc, ISA_CODE);
  assert_int_equal(w->s.u32[0], 1);
  isa_set_s64(wave, 2, ISA_MEMORY);
  run(block, w, 10);
  assert_int_equal(w->left, 4);
  assert_int_equal(w->state, GS_WAVE_BARRIER);
  assert_int_equal(w->pc, ISA_CODE + 28);
  w->state = GS_WAVE_RUNNING;
  isa_set_s64(wave, 2, ISA_READONLY); /* the store faults */
  run(block, w, 6);
  assert_int_equal(w->left, 1);
  assert_int_equal(w->state, GS_WAVE_FAULTED);
  assert_int_equal(w->pc, ISA_CODE + 16);
  w->state = GS_WAVE_RUNNING;
  isa_set_s64(wave, 2, ISA_MEMORY);
  wave->env.status = 0; /* nobody else is at the barrier */
  run(block, w, 10);
  assert_int_equal(w->left, 4);
  assert_int_equal(w->state, GS_WAVE_RUNNING);
  assert_int_equal(w->pc, ISA_CODE + 28);
  isa_free(wave);
  gs_translator_destroy(t);
}

/* One copy of the code is for all lanes, one for some, and one for a single lane; which runs is seen by what
 * the others would do. */
static void test_lanes(void **state) {
  static program_t program;
  gs_translator_t *const t = gs_translator_create(isa_handlers(state), GS_LOOKS_ALWAYS);
  if (!t)
    skip();
  isa_wave_t *const wave = isa_new(state, GS_GFX90A);
  gs_wave_t *const w = &wave->w;
  load(state, &program,
       "v_mov_b32_e32 v0, 1\n s_mov_b64 exec, s[0:1]\n v_mov_b32_e32 v1, 2\n s_mov_b64 exec, s[2:3]\n"
       "v_mov_b32_e32 v2, 3\n s_endpgm");
  unsigned count = 0;
  gs_block_fn_t *const block = gs_translate(t, ISA_CODE, find, &program, &count);
  assert_non_null(block);
  for (unsigned masks = 0; masks < 27; masks++) {
    static const uint64_t kinds[] = {UINT64_MAX, UINT64_C(0x8000000100000002), UINT64_C(0x0000400000000000)};
    const unsigned kind[3] = {masks % 3, masks / 3 % 3, masks / 9};
    memset(wave->v, 0, 3 * sizeof *wave->v);
    uint64_t mask[3];
    for (unsigned i = 0; i < 3; i++)
      mask[i] = kind[i] ? kinds[kind[i]] << i : UINT64_MAX;
    gs_set_exec(w, mask[0]);
    isa_set_s64(wave, 0, mask[1]);
    isa_set_s64(wave, 2, mask[2]);
    w->state = GS_WAVE_RUNNING;
    run(block, w, 100);
    assert_int_equal(w->state, GS_WAVE_ENDED);
    for (unsigned i = 0; i < 3; i++)
      for (unsigned l = 0; l < GS_LANES; l++)
        assert_int_equal(wave->v[i].u32[l], mask[i] >> l & 1 ? i + 1 : 0);
  }
  isa_free(wave);
  gs_translator_destroy(t);
}

/* Narrow waves have a register behind EXEC that comparisons leave alone, also where one lane is active. */
static void test_narrow_exec(void **state) {
  static program_t program;
  gs_translator_t *const t = gs_translator_create(isa_handlers(state), GS_LOOKS_ALWAYS);
  if (!t)
    skip();
  isa_wave_t *const wave = isa_new(state, ISA_PART);
  gs_wave_t *const w = &wave->w;
  load_for(state, isa_part(state), &program, "v_cmpx_eq_u32_e32 v0, v0\n s_endpgm");
  unsigned count = 0;
  gs_block_fn_t *const block = gs_translate(t, ISA_CODE, find, &program, &count);
  assert_non_null(block);
  static const uint32_t masks[] = {UINT32_MAX, 0x80000004, 0x00400000, 0};
  for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
    w->s.u32[GS_S_EXEC] = masks[i];
    w->s.u32[GS_S_EXEC + 1] = 0x1234;
    w->state = GS_WAVE_RUNNING;
    run(block, w, 10);
    assert_int_equal(w->state, GS_WAVE_ENDED);
    assert_int_equal(w->s.u32[GS_S_EXEC], masks[i]);
    assert_int_equal(w->s.u32[GS_S_EXEC + 1], 0x1234);
  }
  isa_free(wave);
  gs_translator_destroy(t);
}

static const struct {
  const char *text;
  bool is_parted; /* two stencils do it */
  uint32_t v0, v1;
} pairs[] = {
    {"v_dual_mov_b32 v0, v2 :: v_dual_add_nc_u32 v1, v3, v2\n s_endpgm", true, 20, 50},
    {"v_dual_mov_b32 v0, v2 :: v_dual_add_nc_u32 v1, v0, v3\n s_endpgm", true, 20, 35},
    {"v_dual_mov_b32 v0, v2 :: v_dual_lshlrev_b32 v1, 1, v0\n s_endpgm", true, 20, 10},
    {"v_dual_mov_b32 v0, v1 :: v_dual_add_nc_u32 v1, v2, v3\n s_endpgm", true, 6, 50},
    {"v_dual_mov_b32 v1, v2 :: v_dual_add_nc_u32 v0, v1, v3\n s_endpgm", true, 36, 20},
    {"v_dual_mov_b32 v0, v1 :: v_dual_add_nc_u32 v1, v0, v3\n s_endpgm", false, 6, 35},
    {"v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v1, v0\n s_endpgm", false, 6, 5},
};

static void check_pair(isa_wave_t *wave, gs_block_fn_t *block, uint32_t mask, uint32_t v0, uint32_t v1) {
  static const uint32_t before[] = {5, 6, 20, 30};
  gs_wave_t *const w = &wave->w;
  for (unsigned v = 0; v < 4; v++)
    for (unsigned l = 0; l < 32; l++)
      wave->v[v].u32[l] = before[v];
  gs_set_exec(w, mask);
  w->state = GS_WAVE_RUNNING;
  run(block, w, 10);
  assert_int_equal(w->state, GS_WAVE_ENDED);
  assert_int_equal(w->left, 8);
  for (unsigned l = 0; l < 32; l++) {
    assert_int_equal(wave->v[0].u32[l], mask >> l & 1 ? v0 : before[0]);
    assert_int_equal(wave->v[1].u32[l], mask >> l & 1 ? v1 : before[1]);
  }
}

/* Both parts of a pair read before either writes, whichever is done first; and a pair is one instruction. */
static void test_pairs(void **state) {
  static const uint32_t masks[] = {UINT32_MAX, 0x00ff0002, 0x00400000};
  static program_t program;
  gs_translator_t *const t = gs_translator_create(isa_handlers(state), GS_LOOKS_ALWAYS);
  if (!t)
    skip();
  isa_wave_t *const wave = isa_new(state, ISA_PART);
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    unsigned count = 0;
    load_for(state, isa_part(state), &program, pairs[i].text);
    assert_int_equal(program.inst[0].op->encoding, GS_ENC_VOPD);
    if (pairs[i].is_parted)
      program.inst[0].fn = NULL; /* who calls the whole dies */
    gs_block_fn_t *const block = gs_translate(t, ISA_CODE, find, &program, &count);
    assert_non_null(block);
    assert_int_equal(count, 2);
    for (size_t m = 0; m < sizeof masks / sizeof *masks; m++)
      check_pair(wave, block, masks[m], pairs[i].v0, pairs[i].v1);
  }
  isa_free(wave);
  gs_translator_destroy(t);
}

/* More scalar registers than the host has, of which each holds what the last write to it was, and those that
 * an access needs which faults then. */
static void test_scalars(void **state) {
  enum { FIRST = 8, COUNT = 16 };
  static program_t program;
  gs_translator_t *const t = gs_translator_create(isa_handlers(state), GS_LOOKS_ALWAYS);
  if (!t)
    skip();
  isa_wave_t *const wave = isa_new(state, GS_GFX90A);
  gs_wave_t *const w = &wave->w;
  load(state, &program,
       "s_add_u32 s8, s0, 1\n s_add_u32 s9, s8, 1\n s_add_u32 s10, s9, 1\n s_add_u32 s11, s10, 1\n"
       "s_add_u32 s12, s11, 1\n s_add_u32 s13, s12, 1\n s_lshl_b64 s[14:15], s[12:13], 4\n"
       "s_add_u32 s16, s8, s14\n s_addc_u32 s17, s9, s15\n s_load_dwordx2 s[18:19], s[2:3], 0x0\n"
       "s_add_u32 s20, s18, s10\n s_load_dwordx4 s[4:7], s[2:3], 0x0\n s_add_u32 s21, s4, s7\n"
       "s_cmp_lt_u32 s20, s21\n s_cselect_b32 s22, s20, s21\n s_add_u32 s23, s22, s17\n"
       "s_load_dword s8, s[24:25], 0x0\n s_endpgm");
  static const uint32_t words[] = {7, 107, 207, 307};
  memcpy(wave->memory, words, sizeof words);
  unsigned count = 0;
  gs_block_fn_t *const block = gs_translate(t, ISA_CODE, find, &program, &count);
  assert_non_null(block);
  static const uint32_t expected[COUNT] = {6, 7, 8, 9, 10, 11, 160, 176, 166, 183, 7, 107, 15, 314, 15, 198};
  for (unsigned time = 0; time < 3; time++) { /* the second finds the notes of ranges */
    w->s.u32[0] = 5;
    isa_set_s64(wave, 2, ISA_MEMORY);
    isa_set_s64(wave, 24, time == 2 ? 16 : ISA_MEMORY);
    w->state = GS_WAVE_RUNNING;
    run(block, w, 100);
    assert_int_equal(w->state, time == 2 ? GS_WAVE_FAULTED : GS_WAVE_ENDED);
    for (unsigned i = 0; i < COUNT; i++)
      assert_int_equal(w->s.u32[FIRST + i], i == 0 && time != 2 ? 7 : expected[i]);
    assert_int_equal(w->scc, 0);
  }
  isa_free(wave);
  gs_translator_destroy(t);
}

/* Instructions on scalar registers and pairs of them: %1 to %3 are registers, %4 to %6 pairs, or VCC. */
static const char *const scalar_texts[] = {
    "s_add_u32 %1, %2, %3",
    "s_addc_u32 %1, %2, %3",
    "s_sub_u32 %1, %2, 0x87654321",
    "s_subb_u32 %1, -5, %3",
    "s_mov_b32 %1, %2",
    "s_mov_b64 %4, %5",
    "s_lshl_b64 %4, %5, %1",
    "s_ashr_i64 %4, %4, 7",
    "s_and_b64 %4, %5, %6",
    "s_xor_b64 %4, %5, 0x12345678",
    "s_or_b32 %1, %2, %3",
    "s_bcnt1_i32_b64 %1, %4",
    "s_ff1_i32_b64 %1, %5",
    "s_bfm_b64 %4, %1, %2",
    "s_cselect_b64 %4, %5, %6",
    "s_cselect_b32 %1, %2, 3",
    "s_cmov_b64 %4, %5",
    "s_cmp_lt_u32 %1, %2",
    "s_cmp_eq_u64 %4, %5",
    "s_bitset1_b32 %1, %2",
    "s_mul_i32 %1, %2, %3",
    "s_load_dword %1, s[20:21], 0x4",
    "s_load_dwordx2 %4, s[20:21], 0x8",
    "s_load_dwordx4 s[4:7], s[20:21], 0x10",
    "s_nop 0",
};
/* Pairs' own registers are %a and %b of the first, %c and %d of the second, and %e and %f of the third. */
static const char *const sum_texts[] = {
    "s_add_u32 %a, %c, %e\n s_addc_u32 %b, %d, %f",
    "s_add_u32 %a, %c, %e\n s_nop 0\n s_addc_u32 %b, %d, %f",
    "s_add_u32 %a, %c, 0x87654321\n s_addc_u32 %b, %d, -1",
    "s_sub_u32 %a, %c, %e\n s_subb_u32 %b, %d, %f",
    "s_sub_u32 %a, -2, %e\n s_subb_u32 %b, 0, %f",
    "s_sub_u32 %a, %c, %e\n s_subb_u32 %b, %f, %d", /* halves of none */
    "s_add_u32 %a, %c, %e\n s_subb_u32 %b, %d, %f",
    "s_add_u32 %b, %c, %e\n s_addc_u32 %a, %d, %f",
    "s_add_u32 %a, %c, %e\n s_addc_u32 %1, %d, %f",
    "s_add_u32 %b, %c, %e\n s_addc_u32 s%7, %d, %f", /* of pairs that are none */
    "s_add_u32 %a, %b, %e\n s_addc_u32 %b, s%7, %f",
};

enum { PAIRS_HERE = 9 };

/* Writes what `%what` is, of which the registers are chosen already. */
static void write_operand(FILE *out, char what, const unsigned single[3], const unsigned pair[3]) {
  static const char *const halves[] = {"lo", "hi"};
  if (what >= '1' && what <= '3') {
    fprintf(out, "s%u", single[what - '1']);
    return;
  }
  if (what == '7') { /* the one behind the first pair */
    fprintf(out, "%u", 2 * (pair[0] % PAIRS_HERE) + 2);
    return;
  }
  const bool is_half = what >= 'a';
  const unsigned place = (unsigned)(is_half ? what - 'a' : 2 * (what - '4')), half = place % 2;
  const unsigned number = pair[place / 2];
  if (number == PAIRS_HERE)
    fprintf(out, is_half ? "vcc_%s" : "vcc", halves[half]);
  else if (is_half)
    fprintf(out, "s%u", 2 * number + half);
  else
    fprintf(out, "s[%u:%u]", 2 * number, 2 * number + 1);
}

static void write_any(FILE *out, gs_random_t *random) {
  const bool is_sum = gs_random_once_in(random, 4);
  const char *text = is_sum
                         ? sum_texts[gs_random_below(random, sizeof sum_texts / sizeof *sum_texts)]
                         : scalar_texts[gs_random_below(random, sizeof scalar_texts / sizeof *scalar_texts)];
  unsigned single[3], pair[3];
  for (unsigned i = 0; i < 3; i++) {
    single[i] = gs_random_below(random, 2 * PAIRS_HERE);
    pair[i] = gs_random_below(random, PAIRS_HERE + 1);
  }
  for (; *text; text++)
    if (*text == '%')
      write_operand(out, *++text, single, pair);
    else
      fputc(*text, out);
  fputc('\n', out);
}

/* So that registers, SCC and what is in memory begin alike. */
static void set_scalars(isa_wave_t *wave, unsigned seed) {
  gs_random_t random = gs_random_of(seed, 1, 0);
  for (unsigned i = 0; i < 2 * PAIRS_HERE + 1; i++) /* with carries as often as without */
    wave->w.s.u32[i] = gs_random_once_in(&random, 3) ? UINT32_MAX : (uint32_t)gs_random_next(&random);
  for (unsigned i = 0; i < 8; i++)
    ((uint32_t *)(void *)wave->memory)[i] = (uint32_t)gs_random_next(&random);
  isa_set_s64(wave, GS_S_VCC, gs_random_next(&random));
  isa_set_s64(wave, 20, ISA_MEMORY);
  wave->w.scc = seed % 2;
  wave->w.state = GS_WAVE_RUNNING;
}

static void interpret(gs_wave_t *w, const program_t *p) {
  for (size_t i = 0; w->state == GS_WAVE_RUNNING; i += p->inst[i].size / 4) {
    assert_true(i < p->words);
    w->pc = ISA_CODE + 4 * i + p->inst[i].size;
    p->inst[i].fn(w, &p->inst[i]);
  }
}

/* Halves and wholes of the same pairs, in any order, as the interpreter has them. */
static void test_pairs_of_scalars(void **state) {
  enum { PROGRAMS = 400, MOST_BYTES = 4096 };
  static program_t program;
  gs_translator_t *const t = gs_translator_create(isa_handlers(state), GS_LOOKS_AT_END);
  if (!t)
    skip();
  isa_wave_t *const one = isa_new(state, GS_GFX90A), *const other = isa_new(state, GS_GFX90A);
  const gs_vm_range_t *const none = other->w.env->vm->found[0];
  for (unsigned seed = 0; seed < PROGRAMS; seed++) {
    char text[MOST_BYTES];
    gs_random_t random = gs_random_of(seed, 0, 0);
    FILE *const out = fmemopen(text, sizeof text, "w");
    assert_non_null(out);
    for (unsigned i = 0; i < 20; i++)
      write_any(out, &random);
    fputs("s_endpgm\n", out);
    fclose(out);
    load(state, &program, text);
    unsigned count = 0;
    gs_block_fn_t *const block = gs_translate(t, ISA_CODE, find, &program, &count);
    assert_non_null(block);
    for (unsigned i = 0; i < GS_VM_HINTS; i++)
      other->w.env->vm->found[i] = none;
    for (unsigned time = 0; time < 3; time++) { /* from the second on, notes of ranges are there */
      set_scalars(one, 8 * seed + time);
      set_scalars(other, 8 * seed + time);
      interpret(&one->w, &program);
      run(block, &other->w, 100);
      assert_int_equal(other->w.state, GS_WAVE_ENDED);
      if (memcmp(&one->w.s, &other->w.s, sizeof one->w.s) != 0 || one->w.scc != other->w.scc)
        fail_msg("program %u ends in another way when it is translated:\n%s", seed, text);
    }
  }
  isa_free(one);
  isa_free(other);
  gs_translator_destroy(t);
}

/* Addresses that are worked out from their first and last lane, or as rows. What the two lanes have looks
 * linear in most that are not. Registers are those of set_registers. */
static const struct {
  const char *text; /* makes v1, an offset */
  bool is_linear;
} offsets[] = {
    {"v_lshlrev_b32_e32 v1, 2, v0", true},
    {"v_mul_u32_u24_e32 v1, 4, v0\n v_sub_u32_e32 v1, 0x200, v1\n v_sub_u32_e32 v1, 0x300, v1", true},
    {"v_add_u32_e32 v1, 64, v0\n v_and_b32_e32 v1, 63, v1\n v_lshlrev_b32_e32 v1, 2, v1", true},
    {"v_mul_hi_u32 v1, v0, s4\n v_lshrrev_b32_e32 v1, 6, v1", true}, /* the same for all */
    {"v_cmp_gt_u32_e32 vcc, 64, v0\n v_cndmask_b32_e32 v1, 8, v0, vcc\n v_lshl_or_b32 v1, v1, 2, 2", true},
    {"v_mul_hi_u32 v1, v0, s4", false}, /* nearly half of them */
    {"v_mul_lo_u32 v1, v0, v0", false},
    {"v_cmp_gt_u32_e32 vcc, 63, v0\n v_cndmask_b32_e32 v1, 8, v0, vcc", false},
    {"v_add_u32_e32 v1, -8, v0\n v_lshrrev_b32_e32 v1, 31, v1", false}, /* some are below 0 */
    {"v_xor_b32_e32 v1, 1, v0", false},
    {"v_mul_lo_u32 v1, v0, s5\n v_lshrrev_b32_e32 v1, 2, v1\n v_and_b32_e32 v1, 0xff, v1", false},
    {"v_lshrrev_b32_e32 v1, 2, v6\n v_and_b32_e32 v1, 0xff, v1", false},
    {"v_sub_u32_e32 v1, 67, v0\n v_mul_lo_u32 v1, v0, v1", false},
    {"v_mov_b32_e32 v1, 0x1000005\n v_mul_u32_u24_e32 v1, 1, v1\n v_lshrrev_b32_e32 v1, 20, v1", false},
    {"v_mul_u32_u24_e32 v1, 61, v0\n v_and_b32_e32 v1, 0xff, v1\n v_lshrrev_b32_e32 v1, 2, v1", false},
    {"v_or_b32_e32 v1, 21, v0\n v_mul_u32_u24_e32 v1, 6, v1", false},
    {"v_lshlrev_b32_e32 v1, 2, v0\n v_or_b32_e32 v1, 3, v1", true},
    {"v_lshlrev_b32_e32 v1, 2, v0\n v_cndmask_b32_e64 v1, 8, v1, s[8:9]", false},
    {"v_lshlrev_b32_e32 v1, 2, v0\n v_cmp_gt_u32_e32 vcc, 63, v0\n v_cndmask_b32_e32 v1, 8, v1, vcc", false},
    /* One lane in the middle is HALF. */
    {"v_add_u32_e32 v1, 0x7fffffe0, v0\n v_cmp_gt_i32_e32 vcc, s4, v1\n v_lshlrev_b32_e32 v1, 2, v0\n"
     "v_cndmask_b32_e32 v1, 8, v1, vcc",
     false},
    /* Signs change on the way, and a falling row hides it. */
    {"v_add_u32_e32 v1, 0x7fffffe0, v0\n v_mul_hi_i32 v1, v1, 4\n v_mul_lo_u32 v7, v0, s6\n"
     "v_sub_u32_e32 v7, s4, v7\n v_add_u32_e32 v1, v1, v7\n v_lshrrev_b32_e32 v1, 31, v1",
     false},
    {"v_sub_u32_e32 v7, 66, v0\n v_lshlrev_b32_e32 v1, v7, v0\n v_and_b32_e32 v1, 0xfff, v1", false},
    {"v_mov_b32_e32 v8, 16\n v_mov_b32_e32 v9, v0\n v_lshlrev_b64 v[8:9], 2, v[8:9]\n v_mov_b32_e32 v1, v9",
     false},
    {"v_lshlrev_b32_e32 v8, 2, v0\n v_mov_b32_e32 v9, 0\n v_ashrrev_i64 v[8:9], 0, v[8:9]\n v_mov_b32_e32 "
     "v1, v8",
     false},
    {"v_lshrrev_b32_e32 v1, 4, v0", false},
    {"v_ashrrev_i32_e32 v1, 4, v0", false},
    /* Two thirds, rounded down, are no linear row, nor is the sum of two of these. */
    {"v_mul_hi_u32 v1, v0, s10\n v_mul_u32_u24_e32 v1, 6, v1", false},
    {"v_sub_u32_e32 v7, 63, v0\n v_mul_hi_u32 v7, v7, s10\n v_mul_hi_u32 v1, v0, s10\n"
     "v_add_u32_e32 v1, v1, v7\n v_lshrrev_b32_e32 v1, 1, v1",
     false},
    /* The carry of a high half, which all lanes have here, is not followed. */
    {"v_mov_b32_e32 v7, -1\n v_add_u32_e32 v9, 1, v0\n v_add_co_u32_e32 v8, vcc, v0, v0\n"
     "v_addc_co_u32_e32 v7, vcc, v7, v9, vcc\n v_lshlrev_b32_e32 v1, 2, v0\n v_cndmask_b32_e32 v1, 8, v1, "
     "vcc",
     false},
    {"v_mov_b32_e32 v7, -1\n v_add_u32_e32 v9, 1, v0\n v_add_co_u32_e32 v8, vcc, v0, v0\n"
     "v_addc_co_u32_e32 v7, vcc, v7, v9, vcc\n v_lshlrev_b32_e32 v1, 2, v0\n v_addc_co_u32_e32 v1, vcc, 0, "
     "v1, vcc",
     false},
};

static bool has_made_rows(const isa_wave_t *wave) {
  return wave->v[GS_STRIP_ADDRESSES].u32[0] != UINT32_MAX;
}

/* v0 has the lanes' numbers, and v6 some of which the last is 3, after many turns by 2^32. */
static void set_registers(isa_wave_t *t) {
  enum { HALF = 0x7fffffff, TURNS = 0x3cf3cf3d, STEP = 34087042 };
  const uint32_t two_thirds = 2877628088;
  for (uint32_t l = 0; l < GS_MAX_LANES; l++) {
    t->v[0].u32[l] = l;
    t->v[6].u32[l] = l * TURNS;
  }
  isa_set_s64(t, 2, ISA_MEMORY + 4096);
  t->w.s.u32[4] = HALF;
  t->w.s.u32[5] = TURNS;
  t->w.s.u32[6] = STEP; /* 63 of them are HALF - 1 */
  isa_set_s64(t, 8, UINT64_C(0x8000000000000001));
  t->w.s.u32[10] = two_thirds;
}

static void check_offset(void **state, isa_wave_t *wave, gs_block_fn_t *block, const program_t *program) {
  isa_wave_t *const steps = isa_new_on(state, GS_GFX90A, NULL);
  for (unsigned time = 0; time < 2; time++) { /* the second finds the notes of ranges */
    set_registers(wave);
    wave->v[GS_STRIP_ADDRESSES].u32[0] = UINT32_MAX;
    wave->w.state = GS_WAVE_RUNNING;
    run(block, &wave->w, 100);
    assert_int_equal(wave->w.state, GS_WAVE_ENDED);
  }
  memcpy(steps->memory, wave->memory, sizeof wave->memory);
  set_registers(steps);
  for (size_t i = 0; i + 1 < program->words; i += program->inst[i].size / 4)
    program->inst[i].fn(&steps->w, &program->inst[i]);
  for (unsigned row = 1; row <= 5; row++)
    assert_memory_equal(&steps->v[row], &wave->v[row], sizeof wave->v[row]);
  isa_free(steps);
}

static void test_linear_addresses(void **state) {
  static program_t program;
  gs_translator_t *const t = gs_translator_create(isa_handlers(state), GS_LOOKS_ALWAYS);
  const gs_stencil_table_t *const table = gs_stencils_like(isa_handlers(state));
  if (!t || !gs_stencil_find(table, "strip_first") || !gs_stencil_find(table, "load_1_stripfull"))
    skip();
  for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
    char text[512];
    unsigned count = 0;
    (void)snprintf(text, sizeof text,
                   "%s\n v_add_co_u32_e32 v2, vcc, s2, v1\n v_mov_b32_e32 v3, s3\n"
                   "v_addc_co_u32_e32 v3, vcc, 0, v3, vcc\n flat_load_dword v4, v[2:3]\n"
                   "v_add_u32_e32 v5, v4, v0\n s_endpgm",
                   offsets[i].text);
    isa_wave_t *const wave = isa_new(state, GS_GFX90A);
    for (size_t at = 0; at < sizeof wave->memory; at++)
      wave->memory[at] = (uint8_t)(at * 7 + at / 256);
    load(state, &program, text);
    gs_block_fn_t *const block = gs_translate(t, ISA_CODE, find, &program, &count);
    assert_non_null(block);
    check_offset(state, wave, block, &program);
    if (has_made_rows(wave) == offsets[i].is_linear)
      fail_msg("%s: rows were %s", offsets[i].text, offsets[i].is_linear ? "made" : "not made");
    isa_free(wave);
  }
  gs_translator_destroy(t);
}

/* What was the program's own memory when the snapshot was taken may be the GPU's by now: also who has noted
 * the range leaves such an access to the handler, which has it repeated. */
static void test_old_gaps(void **state) {
  static const char *const texts[] = {"global_load_dword v4, v[2:3], off\n s_endpgm",
                                      "s_load_dword s6, s[4:5], 0x0\n s_endpgm"};
  static program_t program;
  static uint32_t word = 7, page[1024];
  const uint64_t mapped = UINT64_C(0x700000000);
  gs_translator_t *const t = gs_translator_create(isa_handlers(state), GS_LOOKS_ALWAYS);
  if (!t)
    skip();
  for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
    isa_wave_t *const wave = isa_new(state, GS_GFX90A);
    gs_wave_t *const w = &wave->w;
    assert_int_equal(gs_vm_share_host(wave->vm, true), 0);
    (void)gs_vm_reader_enter(&wave->reader);
    load(state, &program, texts[i]);
    unsigned count = 0;
    gs_block_fn_t *const block = gs_translate(t, ISA_CODE, find, &program, &count);
    assert_non_null(block);
    gs_set_exec(w, 1);
    for (unsigned time = 0; time < 3; time++) { /* the second finds the note, the third something new */
      const gs_vm_range_t range = {
          .start = mapped, .end = mapped + sizeof page, .host = (uint8_t *)page, .access = GS_VM_READ};
      if (time == 2)
        assert_int_equal(gs_vm_map(wave->vm, &range), 0);
      isa_set_u64(&wave->v[2], 0, time == 2 ? mapped : (uintptr_t)&word);
      isa_set_s64(wave, 4, time == 2 ? mapped : (uintptr_t)&word);
      w->state = GS_WAVE_RUNNING;
      run(block, w, 10);
      assert_int_equal(w->state, time == 2 ? GS_WAVE_FAULTED : GS_WAVE_ENDED);
      assert_int_equal(i ? w->s.u32[6] : wave->v[4].u32[0], word);
    }
    assert_int_not_equal(w->fault.access, 0);
    isa_free(wave);
  }
  gs_translator_destroy(t);
}

/* ---- Registers that matter (translate/live.h) ---- */

/* Which of v0 to v7 do before instruction `at`, a bit for each, to waves at whose end nobody looks, and at
 * whose end somebody does. */
static const struct {
  const char *text;
  unsigned at;
  uint8_t rows, rows_at_end;
} lives[] = {
    {"v_mov_b32_e32 v1, v0\n v_mov_b32_e32 v0, 1\n s_endpgm", 0, 0x01, 0xfd},
    {"v_mov_b32_e32 v1, v0\n v_mov_b32_e32 v0, 1\n s_endpgm", 1, 0x00, 0xfe},
    {"v_fmac_f32_e32 v1, v0, v2\n global_store_dword v[4:5], v1, off\n s_endpgm", 0, 0x37, 0xff},
    /* once more, or to the end */
    {"v_mov_b32_e32 v1, v0\n v_xor_b32_e32 v2, v1, v2\n s_cbranch_scc1 -3\n global_store_dword v[4:5], v2, "
     "off\n"
     "s_endpgm",
     2, 0x35, 0xff},
    /* two ways, one of which reads */
    {"s_cbranch_scc1 1\n v_mov_b32_e32 v0, v1\n s_mov_b32 s0, 0\n v_mov_b32_e32 v1, 2\n"
     "global_store_dword v[4:5], v0, off\n s_endpgm",
     0, 0x33, 0xff},
    /* lanes that go keep what they have, and come back */
    {"s_and_saveexec_b64 s[0:1], s[2:3]\n v_mov_b32_e32 v0, 1\n s_or_b64 exec, exec, s[0:1]\n"
     "global_store_dword v[4:5], v0, off\n s_endpgm",
     0, 0x31, 0xff},
    {"s_and_saveexec_b64 s[0:1], s[2:3]\n v_mov_b32_e32 v0, 1\n s_or_b64 exec, exec, s[0:1]\n"
     "global_store_dword v[4:5], v0, off\n s_endpgm",
     1, 0x30, 0xfe},
    {"s_and_b64 exec, exec, s[2:3]\n v_mov_b32_e32 v0, 1\n global_store_dword v[4:5], v0, off\n s_endpgm", 0,
     0x30, 0xff},
    {"s_mov_b64 exec, s[2:3]\n v_mov_b32_e32 v0, 1\n s_mov_b64 exec, s[4:5]\n global_store_dword v[4:5], v0, "
     "off\n"
     "s_endpgm",
     0, 0x31, 0xff},
    {"s_sendmsg sendmsg(MSG_GET_DOORBELL)\n v_mov_b32_e32 v0, 1\n global_store_dword v[4:5], v0, off\n "
     "s_endpgm",
     0, 0x30, 0xff},
    /* other lanes are read, also those that are not active */
    {"s_and_saveexec_b64 s[0:1], s[2:3]\n v_mov_b32_e32 v0, 1\n v_readlane_b32 s4, v0, 5\n s_endpgm", 0, 0x01,
     0xff},
    {"s_and_saveexec_b64 s[0:1], s[2:3]\n v_mov_b32_e32 v0, 1\n v_mov_b32_dpp v1, v0 row_shr:1\n"
     "global_store_dword v[4:5], v1, off\n s_endpgm",
     0, 0x33, 0xff},
    {"s_and_saveexec_b64 s[0:1], s[2:3]\n v_mov_b32_e32 v0, 1\n ds_bpermute_b32 v1, v2, v0\n"
     "global_store_dword v[4:5], v1, off\n s_endpgm",
     0, 0x37, 0xff},
    /* a part of a register is no register */
    {"v_mov_b32_sdwa v0, v1 dst_sel:BYTE_0 dst_unused:UNUSED_PRESERVE src0_sel:DWORD\n"
     "global_store_dword v[4:5], v0, off\n s_endpgm",
     0, 0x33, 0xff},
    {"global_load_short_d16 v0, v[2:3], off\n global_store_dword v[4:5], v0, off\n s_endpgm", 0, 0x3d, 0xff},
    {"global_load_dword v0, v[2:3], off\n global_store_dword v[4:5], v0, off\n s_endpgm", 0, 0x3c, 0xfe},
    /* nobody knows how it goes on */
    {"v_mov_b32_e32 v0, 1\n s_setpc_b64 s[0:1]", 0, 0xfe, 0xfe},
    {"v_mov_b32_e32 v0, 1", 0, 0xfe, 0xfe},
    {"v_mov_b32_e32 v0, 1\n s_movreld_b32 s0, s1\n s_endpgm", 0, 0xfe, 0xfe},
    {"v_mov_b32_e32 v0, 1\n s_set_gpr_idx_on s0, gpr_idx(SRC0)\n s_endpgm", 0, 0xfe, 0xfe},
};

static void test_live_rows(void **state) {
  static program_t program;
  for (size_t i = 0; i < sizeof lives / sizeof *lives; i++)
    for (unsigned at_end = 0; at_end < 2; at_end++) {
      gs_live_t live = {.lanes = 64};
      uint64_t address = ISA_CODE;
      load(state, &program, lives[i].text);
      for (unsigned step = 0; step < lives[i].at; step++)
        address += program.inst[(address - ISA_CODE) / 4].size;
      const unsigned wanted = at_end ? lives[i].rows_at_end : lives[i].rows;
      for (unsigned time = 0; time < 2; time++) { /* the second time it is known */
        const gs_row_set_t rows = gs_live_at(&live, address, at_end, find, &program).rows;
        if ((rows.bits[0] & 0xff) != wanted)
          fail_msg("before instruction %u of\n%s\nthese registers matter%s: 0x%x, and not 0x%x", lives[i].at,
                   lives[i].text, at_end ? ", if somebody looks at the end" : "",
                   (unsigned)(rows.bits[0] & 0xff), wanted);
      }
      gs_live_clear(&live);
    }
}

/* The same of s0 to s7, and behind them VCC_LO, VCC_HI and SCC, to waves at whose end nobody looks. */
enum { LIVE_VCC = 1 << 8, LIVE_VCC_HI = 1 << 9, LIVE_SCC = 1 << 10 };
static const struct {
  const char *text;
  unsigned scalars;
} scalar_lives[] = {
    {"s_endpgm", 0},
    {"s_add_u32 s0, s1, s2\n s_addc_u32 s3, s4, s5\n s_endpgm", 0x36},
    {"s_addc_u32 s3, s4, s5\n s_endpgm", 0x30 | LIVE_SCC},
    {"s_mov_b64 s[0:1], s[2:3]\n v_mov_b32_e32 v0, s1\n s_endpgm", 0x0c},
    {"s_cmp_eq_u32 s0, 1\n s_cbranch_scc1 1\n v_mov_b32_e32 v0, s2\n s_endpgm", 0x05},
    {"s_cbranch_scc1 0\n s_endpgm", LIVE_SCC},
    {"s_cbranch_vccnz 0\n s_endpgm", LIVE_VCC | LIVE_VCC_HI},
    {"s_cbranch_execz 0\n s_endpgm", 0},
    {"v_mov_b32_e32 v0, src_vccz\n s_endpgm", LIVE_VCC | LIVE_VCC_HI | LIVE_SCC}, /* it may be SCC */
    {"s_getreg_b32 s0, hwreg(HW_REG_STATUS)\n s_endpgm", LIVE_VCC | LIVE_VCC_HI | LIVE_SCC},
    {"v_cmp_eq_u32_e32 vcc, v0, v1\n v_cndmask_b32_e32 v0, v1, v2, vcc\n s_endpgm", 0},
    {"v_cndmask_b32_e32 v0, v1, v2, vcc\n s_endpgm", LIVE_VCC | LIVE_VCC_HI},
    {"v_cndmask_b32_e64 v0, v1, v2, s[2:3]\n s_endpgm", 0x0c},
    {"v_div_fmas_f32 v0, v1, v2, v3\n s_endpgm", LIVE_VCC | LIVE_VCC_HI},
    {"v_add_co_u32_e32 v0, vcc, s1, v0\n v_addc_co_u32_e32 v1, vcc, 0, v1, vcc\n s_endpgm", 0x02},
    {"v_addc_co_u32_e64 v1, s[2:3], 0, v1, s[4:5]\n v_cndmask_b32_e64 v0, v1, v2, s[2:3]\n s_endpgm", 0x30},
    {"v_cmpx_eq_u32_e64 s[0:1], v0, v1\n s_mov_b32 s2, s0\n s_endpgm", 0x01}, /* not that it is known */
    {"v_add_co_u32_dpp v0, vcc, v1, v2 row_shr:1\n s_mov_b32 s2, vcc_lo\n s_endpgm", LIVE_VCC},
    {"v_readlane_b32 s0, v0, s1\n s_mov_b32 s2, s0\n s_endpgm", 0x02},
    {"s_load_dwordx2 s[0:1], s[2:3], s4\n s_waitcnt lgkmcnt(0)\n s_mov_b64 s[6:7], s[0:1]\n s_endpgm", 0xfc},
    {"s_store_dword s0, s[4:5], 0x0\n s_endpgm", 0xff},
    {"s_cmov_b32 s0, s1\n s_mov_b32 s2, s0\n s_endpgm", 0x03 | LIVE_SCC},
    {"s_bitset1_b32 s0, s1\n s_mov_b32 s2, s0\n s_endpgm", 0x03},
    {"s_addk_i32 s0, 1\n s_mov_b32 s2, s0\n s_endpgm", 0x01},
    {"s_movk_i32 s0, 1\n s_mov_b32 s2, s0\n s_endpgm", 0},
    {"s_movrels_b32 s0, s1\n s_endpgm", 0xff | LIVE_VCC | LIVE_VCC_HI | LIVE_SCC},
    {"s_and_saveexec_b64 s[0:1], s[2:3]\n s_or_b64 exec, exec, s[0:1]\n s_endpgm", 0x0c},
    {"s_setpc_b64 s[0:1]", 0xff | LIVE_VCC | LIVE_VCC_HI | LIVE_SCC},
    /* once more, or to the end */
    {"s_add_u32 s0, s0, s1\n s_sub_u32 s2, s2, 1\n s_cmp_lg_u32 s2, 0\n s_cbranch_scc1 -4\n"
     "v_mov_b32_e32 v0, s0\n s_endpgm",
     0x07},
};

static unsigned bits_of(const gs_scalar_set_t *set) {
  unsigned bits = (unsigned)set->bits[0] & 0xff;
  for (unsigned i = 0; i < 2; i++)
    bits |= gs_scalar_set_has(set, GS_S_VCC + i) ? (unsigned)LIVE_VCC << i : 0;
  return bits | (gs_scalar_set_has(set, GS_SCALAR_SCC) ? LIVE_SCC : 0);
}

static void test_live_scalars(void **state) {
  static program_t program;
  for (size_t i = 0; i < sizeof scalar_lives / sizeof *scalar_lives; i++) {
    gs_live_t live = {.lanes = 64};
    load(state, &program, scalar_lives[i].text);
    const gs_scalar_set_t set = gs_live_at(&live, ISA_CODE, false, find, &program).scalars;
    gs_live_clear(&live);
    if (bits_of(&set) != scalar_lives[i].scalars)
      fail_msg("%s\nthese scalar registers matter: 0x%x, and not 0x%x", scalar_lives[i].text, bits_of(&set),
               scalar_lives[i].scalars);
    for (unsigned s = GS_S_FLAT_SCRATCH; s < GS_SGPRS; s++)
      if (s / 2 != GS_S_VCC / 2 && s != GS_S_NULL)
        assert_true(gs_scalar_set_has(&set, s));
  }
}

/* What nobody reads is not written, unless somebody looks: masks of strips, and what is in registers of the
 * host when code goes on elsewhere. What is read there is. */
static void test_dead_scalars(void **state) {
  static program_t program;
  const gs_stencil_table_t *const table = gs_stencils_like(isa_handlers(state));
  const bool has_strips = table && gs_stencil_find(table, "v_add_co_u32__VV_stripfull");
  for (unsigned looks = 0; looks < 2; looks++) {
    gs_translator_t *const t =
        gs_translator_create(isa_handlers(state), looks ? GS_LOOKS_ALWAYS : GS_LOOKS_NEVER);
    if (!t)
      skip();
    isa_wave_t *const wave = isa_new(state, GS_GFX90A);
    gs_wave_t *const w = &wave->w;
    load(state, &program,
         "v_add_co_u32_e32 v0, vcc, 1, v0\n v_addc_co_u32_e64 v1, s[6:7], 0, v1, vcc\n"
         "v_cmp_lt_u32_e64 s[4:5], v0, v1\n"
         "s_add_u32 s0, s1, 5\n s_add_u32 s2, s1, 7\n s_cmp_eq_u32 s1, 0\n s_cbranch_scc1 1\n"
         "s_branch 1\n s_mov_b32 s2, s0\n"
         "v_cndmask_b32_e64 v2, v0, v1, s[4:5]\n v_mov_b32_e32 v3, s2\n s_endpgm");
    unsigned count = 0;
    gs_block_fn_t *const block = gs_translate(t, ISA_CODE, find, &program, &count);
    assert_non_null(block);
    for (unsigned taken = 0; taken < 2; taken++) {
      for (unsigned s = 0; s < 8; s++)
        w->s.u32[s] = 100 + s;
      isa_set_s64(wave, GS_S_VCC, 0x1234);
      for (unsigned l = 0; l < GS_LANES; l++) {
        wave->v[0].u32[l] = UINT32_MAX;
        wave->v[1].u32[l] = 9;
      }
      w->s.u32[1] = taken ? 0 : 1;
      w->state = GS_WAVE_RUNNING;
      run(block, w, 100);
      assert_int_equal(w->pc, ISA_CODE + (taken ? 40U : 44U));
      assert_int_equal(w->s.u32[0], taken || looks ? w->s.u32[1] + 5 : 100);
      assert_int_equal(w->s.u32[2], !taken || looks ? w->s.u32[1] + 7 : 102);
      assert_int_equal(gs_read_sgpr64(w, GS_S_VCC), looks || !has_strips ? UINT64_MAX : 0x1234);
      assert_int_equal(w->s.u32[6], looks || !has_strips ? 0 : 106);
      assert_int_equal(gs_read_sgpr64(w, 4), UINT64_MAX);
    }
    isa_free(wave);
    gs_translator_destroy(t);
  }
}

static struct sigaction guard_action; /* gfxsim's: cmocka has its own while tests run */

/* Memory that the host does not have faults in the middle of a stencil. Who looks always finds registers as
 * they were then, also those that other instructions of the block have written. */
static void test_host_fault(void **state) {
  static const char *const texts[] = {
      "s_add_u32 s0, s0, 1\n s_cmp_eq_u32 s0, s0\n s_load_dword s6, s[4:5], 0x0\n s_endpgm",
      "s_add_u32 s0, s0, 1\n s_cmp_eq_u32 s0, s0\n global_load_dword v4, v[2:3], off\n s_endpgm",
      "s_add_u32 s0, s0, 1\n s_cmp_eq_u32 s0, s0\n global_store_dword v[2:3], v4, off\n s_endpgm"};
  static program_t program;
  gs_translator_t *const t = gs_translator_create(isa_handlers(state), GS_LOOKS_ALWAYS);
  if (!t)
    skip();
  const size_t bytes = 4096;
  void *const page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_ptr_not_equal(page, MAP_FAILED);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    isa_wave_t *const wave = isa_new(state, GS_GFX90A);
    gs_wave_t *const w = &wave->w;
    const uint64_t address = UINT64_C(0x700000000);
    const gs_vm_range_t range = {
        .start = address, .end = address + bytes, .host = page, .access = GS_VM_READ | GS_VM_WRITE};
    assert_int_equal(gs_vm_map(wave->vm, &range), 0);
    (void)gs_vm_reader_enter(&wave->reader);
    load(state, &program, texts[i]);
    gs_block_fn_t *const block = translate_at(t, &program, ISA_CODE);
    gs_set_exec(w, 1);
    isa_set_u64(&wave->v[2], 0, address);
    isa_set_s64(wave, 4, address);
    assert_int_equal(mprotect(page, bytes, PROT_READ | PROT_WRITE), 0);
    run(block, w, 10); /* so that the next time finds the range noted, and calls no handler */
    assert_int_equal(w->state, GS_WAVE_ENDED);
    assert_int_equal(mprotect(page, bytes, PROT_NONE), 0);
    w->state = GS_WAVE_RUNNING;
    w->s.u32[0] = 7;
    w->scc = 0;
    gs_guard_t guard;
    struct sigaction others;
    volatile bool has_faulted = true;
    assert_int_equal(sigaction(SIGSEGV, &guard_action, &others), 0);
    if (sigsetjmp(guard.resume, 0) == 0) {
      gs_guard_set(&guard);
      run(block, w, 10);
      has_faulted = false;
    }
    gs_guard_set(NULL);
    assert_int_equal(sigaction(SIGSEGV, &others, NULL), 0);
    assert_true(has_faulted);
    assert_int_equal(guard.address, (uintptr_t)page);
    assert_int_equal(w->s.u32[0], 8);
    assert_int_equal(w->scc, 1);
    isa_free(wave);
  }
  assert_int_equal(munmap(page, bytes), 0);
  gs_translator_destroy(t);
}

/* ---- Going on without a detour ---- */

/* The address behind the instruction, which no other tells blocks. */
static void test_getpc(void **state) {
  static program_t program;
  gs_translator_t *const t = gs_translator_create(isa_handlers(state), GS_LOOKS_ALWAYS);
  if (!t)
    skip();
  isa_wave_t *const wave = isa_new(state, GS_GFX90A);
  load(state, &program, "s_nop 0\n s_getpc_b64 s[0:1]\n s_add_u32 s0, s0, 1\n s_endpgm");
  unsigned count = 0;
  run(gs_translate(t, ISA_CODE, find, &program, &count), &wave->w, 10);
  assert_int_equal(gs_read_sgpr64(&wave->w, 0), ISA_CODE + 9);
  assert_int_equal(wave->w.state, GS_WAVE_ENDED);
  isa_free(wave);
  gs_translator_destroy(t);
}

/* Jumps go to a block if there is one, and else return. Two addresses may have the same place in the table.
 */
static void test_jumps(void **state) {
  static const struct {
    const char *text;
    unsigned link;    /* where the return address is */
    bool is_computed; /* the target is in s[0:1] */
  } jumps[] = {{"s_setpc_b64 s[0:1]\n s_nop 0\n s_mov_b32 s4, 1\n s_endpgm", 0, true},
               {"s_swappc_b64 s[2:3], s[0:1]\n s_nop 0\n s_mov_b32 s4, 1\n s_endpgm", 2, true},
               {"s_call_b64 s[2:3], 1\n s_nop 0\n s_mov_b32 s4, 1\n s_endpgm", 2, false}};
  static program_t program;
  for (size_t i = 0; i < sizeof jumps / sizeof *jumps; i++) {
    gs_translator_t *const t = gs_translator_create(isa_handlers(state), GS_LOOKS_ALWAYS);
    if (!t)
      skip();
    isa_wave_t *const wave = isa_new(state, GS_GFX90A);
    gs_wave_t *const w = &wave->w;
    load(state, &program, jumps[i].text);
    gs_block_fn_t *const block = translate_at(t, &program, ISA_CODE);
    for (unsigned known = 0; known < 2; known++) {
      isa_set_s64(wave, 0, ISA_CODE + 8);
      isa_set_s64(wave, 2, 0);
      w->s.u32[4] = 0;
      w->state = GS_WAVE_RUNNING;
      run(block, w, 10);
      assert_int_equal(w->s.u32[4], known);
      assert_int_equal(w->state, known ? GS_WAVE_ENDED : GS_WAVE_RUNNING);
      assert_int_equal(w->left, known ? 7 : 9);
      if (!known)
        assert_int_equal(w->pc, ISA_CODE + 8);
      if (jumps[i].link)
        assert_int_equal(gs_read_sgpr64(w, jumps[i].link), ISA_CODE + 4);
      (void)translate_at(t, &program, ISA_CODE + 8);
    }
    if (jumps[i].is_computed) {
      isa_set_s64(wave, 0, ISA_CODE + 8 + 4 * (uint64_t)GS_JUMPS);
      w->s.u32[4] = 0;
      w->state = GS_WAVE_RUNNING;
      run(block, w, 10);
      assert_int_equal(w->s.u32[4], 0);
      assert_int_equal(w->pc, ISA_CODE + 8 + 4 * GS_JUMPS);
    }
    isa_free(wave);
    gs_translator_destroy(t);
  }
}

enum { TURN_WAVES = 4, TURN_SLICE = 100 };

/* Who had a turn, when the first wave began and all were as told, as bits. */
static unsigned turns_of(const gs_turns_t *like, gs_block_fn_t *block, gs_wave_t waves[TURN_WAVES]) {
  unsigned ran = 0;
  gs_turns_t turns = *like;
  gs_wave_t *const first = turns.current;
  turns.pc = first->pc;
  turns.block = block;
  turns.slice = TURN_SLICE;
  first->turns = &turns;
  first->left = TURN_SLICE;
  gs_block_run(block, first);
  for (unsigned i = 0; i < TURN_WAVES; i++) {
    const bool has_run = waves[i].s.u32[0] != 7;
    ran |= (unsigned)has_run << i;
    if (!has_run)
      continue;
    assert_int_equal(waves[i].state, GS_WAVE_BARRIER);
    assert_int_equal(waves[i].pc, ISA_CODE + 8);
    assert_int_equal(waves[i].s.u32[0], 8);
    assert_int_equal(waves[i].left, TURN_SLICE - 3); /* of the whole block */
    assert_true(waves[i].unfenced || &waves[i] == first);
  }
  assert_true(ran >> (turns.current - waves) & 1);
  return ran;
}

/* The next wave's turn begins in the code of the one before, if it begins at the same place in the same mode;
 * not behind the last one, and not when the turn took long. */
static void test_turns(void **state) {
  static program_t program;
  static gs_wave_t waves[TURN_WAVES];
  gs_translator_t *const t = gs_translator_create(isa_handlers(state), GS_LOOKS_ALWAYS);
  if (!t)
    skip();
  isa_wave_t *const wave = isa_new(state, GS_GFX90A);
  load(state, &program, "s_add_u32 s0, s0, 1\n s_barrier\n s_endpgm");
  gs_block_fn_t *const block = translate_at(t, &program, ISA_CODE);
  for (unsigned kind = 0; kind < 8; kind++) {
    for (unsigned i = 0; i < TURN_WAVES; i++) {
      waves[i] = wave->w;
      waves[i].pc = ISA_CODE;
      waves[i].s.u32[0] = 7;
      waves[i].unfenced = false;
    }
    gs_turns_t turns = {.current = &waves[0], .end = &waves[3], .last = &waves[3]};
    unsigned wanted = 15;
    switch (kind) {
    case 1: turns = (gs_turns_t){.current = &waves[1], .end = &waves[4], .last = &waves[0]}; break;
    case 2: turns.end = turns.last = &waves[2], wanted = 7; break;
    case 3: turns.end = turns.last = &waves[0], wanted = 1; break;
    case 4: waves[2].pc = ISA_CODE + 4, wanted = 3; break;
    case 5: waves[1].state = GS_WAVE_YIELDED, wanted = 1; break;
    case 6: waves[3].mode ^= 1, wanted = 7; break;
    case 7: turns.least = TURN_SLICE, wanted = 1; break;
    default: break;
    }
    assert_int_equal(turns_of(&turns, block, waves), wanted);
  }
  isa_free(wave);
  gs_translator_destroy(t);
}

static bool refuses_code; /* the system */
int __real_mprotect(void *address, size_t size, int rights);
int __wrap_mprotect(void *address, size_t size, int rights);
int __wrap_mprotect(void *address, size_t size, int rights) {
  if (!refuses_code || !(rights & PROT_EXEC))
    return __real_mprotect(address, size, rights);
  errno = EACCES;
  return -1;
}

/* What strips assume, and a register that makes it wrong with this value in one lane. */
static const struct {
  const char *text;
  unsigned reg;
  uint32_t value;
} assuming[] = {
    {"v_fma_f32 v16, v0, v2, v4\n v_fma_f32 v17, v16, v2, v6", 6, 0x7fc00000},
    {"v_fma_f32 v16, v0, v2, v4\n v_fma_f32 v17, v6, v2, v8", 4, 0x7fc00000},
    {"v_fma_f32 v16, v0, v2, v4\n v_fma_f32 v17, v6, v2, v8", 8, 0x7fc00000},
    {"v_fma_f64 v[16:17], v[0:1], v[2:3], v[4:5]\n v_mov_b32 v18, v0", 5, 0x7ff80000},
    {"v_fma_f64 v[16:17], v[0:1], v[2:3], v[4:5]\n v_fma_f32 v18, v0, v2, v6", 5, 0x7ff80000},
    {"v_fma_f64 v[16:17], v[0:1], v[2:3], v[4:5]\n v_fma_f32 v18, v0, v2, v6", 6, 0x7fc00000},
    {"v_fma_f32 v18, v0, v2, v6\n v_fma_f64 v[16:17], v[0:1], v[2:3], v[4:5]", 6, 0x7fc00000},
    {"v_fma_f32 v18, v0, v2, v6\n v_fma_f64 v[16:17], v[0:1], v[2:3], v[4:5]", 5, 0x7ff80000},
    {"v_div_fixup_f32 v16, v8, v2, v0\n v_mov_b32 v17, v0", 8, 0x7f800000},
    {"v_div_fixup_f32 v16, v8, v2, v0\n v_mov_b32 v17, v0", 2, 0},
    {"v_div_fixup_f32 v16, v8, v2, v0\n v_mov_b32 v17, v0", 0, 0},
    {"v_div_fixup_f32 v16, v8, v2, v0\n v_fma_f32 v18, v4, v2, v6", 6, 0x7fc00000},
    {"v_div_scale_f32 v16, s[8:9], v2, v2, v0\n v_div_fmas_f32 v17, v16, v2, v4", 0, 0x7f800000},
    {"v_div_fmas_f32 v17, v0, v2, v4\n v_div_fixup_f32 v16, v8, v2, v0", 8, 0x7f800000},
    {"v_div_fmas_f32 v17, v0, v2, v4\n v_div_fixup_f32 v16, v8, v2, v0", 4, 0x7fc00000},
    {"v_cmp_class_f32 s[8:9], v0, v2\n v_mov_b32 v17, v0", 0, 0},
    {"v_cmp_lt_f32 vcc, v2, v0\n v_div_fmas_f32 v17, v0, v2, v4", 0, 0x40000000},
    {"v_mov_b32 v9, 0\n v_cmp_le_f32 vcc, v2, v9\n v_div_fmas_f32 v17, v0, v2, v4", 2, 0},
    {"v_cmp_lt_f64 vcc, v[2:3], v[0:1]\n v_div_fmas_f32 v17, v0, v2, v4", 1, 0x40000000},
    {"v_mov_b32 v9, 0\n v_cmp_eq_u64 vcc, v[8:9], v[6:7]\n v_div_fmas_f32 v17, v0, v2, v4", 7, 0},
    {"v_mov_b32 v8, 0\n v_cmp_eq_u64 vcc, v[8:9], v[6:7]\n v_div_fmas_f32 v17, v0, v2, v4", 6, 0},
    {"v_cmp_class_f32 vcc, v0, v2\n v_div_fmas_f32 v17, v0, v2, v4", 4, 0x7fc00000},
};

/* Runs it with something unusual in one lane, or none: returns whether a strip was left. */
static bool leaves_strip(void **state, size_t i, unsigned lane) {
  static program_t program;
  char text[256];
  gs_translator_t *const t = gs_translator_create(isa_handlers(state), GS_LOOKS_ALWAYS);
  isa_wave_t *const wave = isa_new(state, GS_GFX90A);
  (void)snprintf(text, sizeof text, "%s\n s_endpgm", assuming[i].text);
  load(state, &program, text);
  gs_block_fn_t *const block = translate_at(t, &program, ISA_CODE);
  for (unsigned reg = 0; reg < 10; reg++)
    for (unsigned l = 0; l < GS_LANES; l++)
      wave->v[reg].u32[l] = 0x3ff00000 + l;
  if (lane < GS_LANES)
    wave->v[assuming[i].reg].u32[lane] = assuming[i].value;
  gs_set_exec(&wave->w, UINT64_MAX);
  isa_set_s64(wave, GS_S_VCC, 0);
  run(block, &wave->w, 10);
  assert_int_equal(wave->w.state, GS_WAVE_ENDED);
  const unsigned wary = gs_translator_wary(t);
  if (!wary)
    assert_int_equal(gs_read_sgpr64(&wave->w, GS_S_VCC), 0);
  isa_free(wave);
  gs_translator_destroy(t);
  return wary != 0;
}

/* Strips are left where what they assume is wrong in any lane, and only there: to leave one is always right,
 * but takes longer. */
static void test_assumptions(void **state) {
  const gs_stencil_table_t *const table = gs_stencils_like(isa_handlers(state));
  if (!table || !gs_stencil_find(table, "v_div_fixup_f32__VVV_stripassumed"))
    skip();
  for (size_t i = 0; i < sizeof assuming / sizeof *assuming; i++)
    for (unsigned lane = 0; lane <= GS_LANES; lane++)
      if (leaves_strip(state, i, lane) != (lane < GS_LANES))
        fail_msg("%s: with 0x%" PRIx32 " in v%u, lane %u", assuming[i].text, assuming[i].value,
                 assuming[i].reg, lane);
}

/* Then there are no blocks, now and later. */
static void test_no_executable_memory(void **state) {
  static program_t program;
  gs_translator_t *const t = gs_translator_create(isa_handlers(state), GS_LOOKS_ALWAYS);
  if (!t)
    skip();
  load(state, &program, "s_add_u32 s0, s0, 1\n s_endpgm");
  unsigned count = 0;
  refuses_code = true;
  assert_null(gs_translate(t, ISA_CODE, find, &program, &count));
  refuses_code = false;
  assert_null(gs_translate(t, ISA_CODE, find, &program, &count));
  gs_translator_destroy(t);
}

int main(void) {
  gs_guard_install();
  (void)sigaction(SIGSEGV, NULL, &guard_action);
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_choices),
      cmocka_unit_test(test_every_stencil_has_an_instruction),
      cmocka_unit_test(test_blocks_count),
      cmocka_unit_test(test_lanes),
      cmocka_unit_test(test_scalars),
      cmocka_unit_test(test_pairs_of_scalars),
      cmocka_unit_test(test_linear_addresses),
      cmocka_unit_test(test_live_rows),
      cmocka_unit_test(test_live_scalars),
      cmocka_unit_test(test_dead_scalars),
      cmocka_unit_test(test_host_fault),
      cmocka_unit_test(test_getpc),
      cmocka_unit_test(test_jumps),
      cmocka_unit_test(test_turns),
      isa_part_test_on(test_narrow_exec, GS_WAVE32),
      isa_part_test_on(test_pairs, GS_GFX11_W32),
      cmocka_unit_test(test_old_gaps),
      cmocka_unit_test(test_assumptions),
      cmocka_unit_test(test_no_executable_memory),
  };
  return isa_main(tests, sizeof tests / sizeof *tests);
}
