/* Strips of translated code that assume that no lane has anything unusual, and lanes that have: sums with
 * NaNs and divisions that are scaled, one lane or two at a time, in each strip. Registers must be as when
 * each instruction's handler is called. Not here: code by chance (test_blocks.c). */
#include "harness.h"

#include <stdio.h>
#include <string.h>

#include "device.h"

enum { OPERANDS = 6, LAST_RESULT = 40, ADDRESS = 12, MASK = 4, OTHER_MASK = 8, SCALARS = 10 };

/* Operands are v[0:1] to v[10:11], or the low ones of these. {vcc}, {mask} and {other} are masks of lanes,
 * and {a} to {g}; {mov} moves one, {and} joins two. */
static const char *const programs[] = {
    "v_fma_f32 v16, v0, v2, v4\n v_cmp_lt_f32_e64 {mask}, v0, v16\n v_fma_f32 v17, v16, v2, v6\n"
    "v_cndmask_b32_e64 v18, v0, v2, {mask}\n v_xor_b32_e32 v19, v0, v2",
    "v_mov_b32_e32 v16, v4\n v_fma_f32 v16, v0, v2, v16\n v_fma_f32 v16, v8, v10, v16\n"
    "v_fma_f32 v17, -v0, v2, 1.0\n v_fma_f32 v18, |v6|, v8, -v10",
    /* the same in all lanes */
    "v_mov_b32_e32 v20, s10\n v_mov_b32_e32 v21, s11\n v_mov_b32_e32 v22, s12\n v_fma_f32 v16, v20, v21, "
    "v22\n"
    "v_xor_b32_e32 v17, v16, v0",
    /* who reads EXEC would see that it is another one */
    "v_mov_b32_e32 v16, exec_lo\n v_fma_f32 v17, v0, v2, v4\n v_xor_b32_e32 v18, v17, v16",
    "global_load_dword v32, v12, s[2:3]\n v_fma_f32 v17, v0, v2, v32\n v_mov_b32_e32 v16, exec_lo",
    "v_div_fixup_f32 v16, v8, v2, v0\n v_div_fixup_f32 v17, v10, v2, -v0",
    /* masks that scalar instructions make among loads, from others each time */
    "global_load_dword v32, v12, s[2:3]\n v_fma_f32 v16, v32, v2, v4\n {mov} {mask}, {other}\n {mov} {vcc}, "
    "{mask}\n"
    "v_div_fmas_f32 v17, v0, v2, v16\n s_not_b32 s4, s4",
    "global_load_dword v32, v12, s[2:3]\n v_fma_f32 v16, v32, v2, v4\n {and} {vcc}, {mask}, {other}\n"
    "v_div_fmas_f32 v17, v0, v2, v16\n s_not_b32 vcc_lo, vcc_lo",
    /* scalar instructions among loads are done once */
    "global_load_dword v32, v12, s[2:3]\n s_add_u32 s14, s14, 1\n v_fma_f32 v16, v32, v2, v4\n s_add_u32 "
    "s14, s14, 3\n"
    "v_fma_f32 v17, v16, v0, v6",
    /* nobody needs the second sum, which would have told of the first one */
    "v_fma_f32 v16, v0, v2, v4\n v_fma_f32 v17, v16, v2, v6\n v_mov_b32_e32 v17, v8\n v_fma_f32 v18, v12, "
    "v12, v12",
    "v_fma_f64 v[16:17], v[0:1], v[2:3], v[4:5]\n v_cmp_lt_f64_e64 {mask}, v[0:1], v[16:17]\n"
    "v_fma_f64 v[18:19], v[16:17], v[2:3], v[6:7]\n v_fma_f64 v[20:21], v[8:9], -v[10:11], v[18:19]",
    "v_cmp_gt_f32_e64 {other}, v8, v10\n"
    "v_div_scale_f32 v16, {mask}, v2, v2, v0\n v_div_scale_f32 v17, {vcc}, v0, v2, v0\n v_rcp_f32_e32 v18, "
    "v16\n"
    "v_fma_f32 v19, -v16, v18, 1.0\n v_fma_f32 v18, v19, v18, v18\n v_mul_f32_e32 v20, v17, v18\n"
    "v_fma_f32 v21, -v16, v20, v17\n v_fma_f32 v20, v21, v18, v20\n v_fma_f32 v21, -v16, v20, v17\n"
    "v_div_fmas_f32 v22, v21, v18, v20\n v_div_fixup_f32 v23, v22, v2, v0",
    "v_div_scale_f32 v16, {vcc}, v2, v2, v0\n v_div_scale_f32 v24, {mask}, v4, v6, v4\n v_mul_f32_e32 v20, "
    "v16, v2\n"
    "v_div_fmas_f32 v22, v16, v18, v20\n {mov} {vcc}, {mask}\n v_div_fmas_f32 v26, v24, v8, v10\n"
    "v_div_fixup_f32 v23, v22, v2, -v0\n v_div_fixup_f32 v27, v26, |v4|, v6\n v_cndmask_b32_e64 v28, v0, v2, "
    "{vcc}",
    "v_div_scale_f64 v[16:17], {mask}, v[2:3], v[2:3], v[0:1]\n"
    "v_div_scale_f64 v[18:19], {vcc}, v[0:1], v[2:3], v[0:1]\n v_rcp_f64_e32 v[20:21], v[16:17]\n"
    "v_fma_f64 v[22:23], -v[16:17], v[20:21], 1.0\n v_fma_f64 v[20:21], v[20:21], v[22:23], v[20:21]\n"
    "v_mul_f64 v[24:25], v[18:19], v[20:21]\n v_fma_f64 v[22:23], -v[16:17], v[24:25], v[18:19]\n"
    "v_div_fmas_f64 v[26:27], v[22:23], v[20:21], v[24:25]\n"
    "v_div_fixup_f64 v[28:29], v[26:27], v[2:3], v[0:1]\n v_div_fixup_f64 v[30:31], -v[8:9], v[4:5], "
    "|v[6:7]|",
    "v_div_scale_f32 v16, {mask}, v8, v2, v0\n v_div_scale_f64 v[18:19], {vcc}, v[8:9], v[2:3], v[0:1]",
    "global_load_dword v32, v12, s[2:3]\n v_lshl_add_u32 v13, v12, 0, 64\n global_load_dword v33, v13, "
    "s[2:3]\n"
    "s_waitcnt vmcnt(0)\n v_fma_f32 v16, v32, v2, v4\n v_div_scale_f32 v17, {vcc}, v0, v2, v0\n"
    "v_fma_f32 v18, v33, v0, v16\n v_cmp_lt_f32_e64 {mask}, v0, v18\n v_div_fmas_f32 v19, v17, v18, v0",
    "v_cmp_lt_f32_e64 {mask}, v0, v2\n {xor} {other}, {mask}, {other}\n v_fma_f32 v16, v0, v2, v4\n"
    "{andn2} {vcc}, {exec}, {mask}\n v_cndmask_b32_e64 v17, v0, v2, {other}\n"
    "v_cndmask_b32_e64 v18, v0, v2, {vcc}",
    "v_div_scale_f32 v16, {mask}, v0, v2, v0\n v_cmp_gt_f32_e64 {vcc}, v4, v6\n {or} {other}, {other}, "
    "{vcc}\n"
    "s_add_u32 s14, s14, s15\n {xor} {mask}, {vcc}, {exec}\n {and} {vcc}, {exec}, {vcc}\n"
    "v_div_fmas_f32 v17, v16, v2, v0",
    "v_cmp_lt_f32_e64 {mask}, v0, v2\n v_fma_f32 v16, v0, v2, v4\n {xor} {vcc}, {mask}, {other}\n"
    "v_mov_b32_e32 v17, v16",
    "v_cmp_class_f32_e64 {mask}, v0, v2\n v_cndmask_b32_e64 v16, v4, v6, {mask}\n"
    "v_cmp_class_f64_e64 {other}, v[4:5], v6\n v_cmp_class_f32_e64 {vcc}, v8, -1",
    /* SCC of masks is read elsewhere */
    "v_cmp_lt_f32_e64 {vcc}, v0, v2\n {and} {mask}, {vcc}, {other}\n v_cndmask_b32_e64 v16, v4, v6, {mask}\n"
    "s_cbranch_vccnz some\n s_cmp_eq_u32 s14, s14\nsome:\n s_cselect_b32 s15, 1, 2",
    "v_cmp_lt_f32_e64 {vcc}, v0, v2\n {and} {mask}, {vcc}, {other}\n v_cndmask_b32_e64 v16, v4, v6, {mask}\n"
    "s_branch next\nnext:\n s_cselect_b32 s15, 1, 2",
    /* masks that addresses depend on: of what is loaded, and of a carry that nobody works out */
    "global_load_dword v32, v12, s[2:3]\n v_cmp_lt_u32_e64 {mask}, v32, v2\n {and} {vcc}, {mask}, {exec}\n"
    "v_cndmask_b32_e64 v13, 0, 64, {vcc}\n global_load_dword v33, v13, s[2:3]\n s_waitcnt vmcnt(0)\n"
    "v_xor_b32_e32 v16, v33, v2\n v_mov_b32_e32 v32, 0",
    "v_lshl_add_u32 v13, v12, 0, 4\n v_mad_u64_u32 v[14:15], {mask}, v13, 1, -1\n"
    "{and} {vcc}, {mask}, {exec}\n v_cndmask_b32_e64 v13, 0, 64, {vcc}\n"
    "global_load_dword v33, v13, s[2:3]\n s_waitcnt vmcnt(0)\n v_xor_b32_e32 v16, v33, v2",
    "v_lshl_add_u32 v13, v12, 0, 4\n v_mad_u64_u32 v[14:15], {mask}, v13, 1, -1\n"
    "v_cmp_lt_u32_e64 {vcc}, v13, v12\n {or} {vcc}, {mask}, {vcc}\n v_cndmask_b32_e64 v13, 0, 64, {vcc}\n"
    "global_load_dword v33, v13, s[2:3]\n s_waitcnt vmcnt(0)\n v_xor_b32_e32 v16, v33, v2",
    "v_fma_f32 v16, v0, v2, v4\n {xor} {other}, {other}, {exec}\n v_fma_f32 v17, v16, v6, v8",
    /* a mask that is read, and must have no lanes */
    "v_cmp_lt_f32_e64 {vcc}, v0, v2\n v_div_fmas_f32 v17, v4, v6, v8\n v_cndmask_b32_e64 v18, v0, v2, {vcc}",
    /* more masks than the host has registers */
    "v_cmp_lt_f32_e64 {a}, v0, v2\n v_cmp_lt_f32_e64 {b}, v0, v4\n v_cmp_lt_f32_e64 {c}, v0, v6\n"
    "v_cmp_lt_f32_e64 {d}, v0, v8\n v_cmp_lt_f32_e64 {e}, v0, v10\n v_cmp_lt_f32_e64 {f}, v2, v4\n"
    "v_cmp_lt_f32_e64 {g}, v2, v6\n v_fma_f32 v16, v0, v2, v4\n v_fma_f64 v[18:19], v[0:1], v[2:3], v[4:5]\n"
    "v_cndmask_b32_e64 v20, v0, v2, {a}\n v_cndmask_b32_e64 v21, v0, v2, {b}\n"
    "v_cndmask_b32_e64 v22, v0, v2, {c}\n v_cndmask_b32_e64 v23, v0, v2, {d}\n"
    "v_cndmask_b32_e64 v24, v0, v2, {e}\n v_cndmask_b32_e64 v25, v0, v2, {f}\n"
    "v_cndmask_b32_e64 v26, v0, v2, {g}",
};

/* Of masks that are the same in all lanes: {mask} has all of them, {vcc} none. A load's address depends on
 * the result. */
static const char *const combinations[] = {
    "{and} {vcc}, {mask}, {vcc}",    "{or} {vcc}, {mask}, {vcc}",    "{xor} {vcc}, {vcc}, {mask}",
    "{andn2} {vcc}, {mask}, {vcc}",  "{andn2} {vcc}, {vcc}, {mask}", "{and} {vcc}, {exec}, {mask}",
    "{and} {vcc}, {vcc}, {exec}",    "{xor} {vcc}, {exec}, {mask}",  "{xor} {vcc}, {vcc}, {exec}",
    "{andn2} {vcc}, {exec}, {mask}", "{andn2} {vcc}, {exec}, {vcc}",
};

/* With literals, which gfx9 has none of there. */
static const char *const later_programs[] = {
    "v_fma_f32 v16, v0, v2, 0x7fc04321\n v_fma_f32 v17, v4, v6, 0x7fffffff\n v_fma_f32 v18, v8, v10, "
    "0xff800000",
};

/* A strip ends between the parts of a pair, the second of which reads what nobody reads behind them. */
static const char *const pairs[] = {
    "v_cmp_lt_f32_e64 s4, v0, v2\n v_xor_b32_e32 v9, v0, v2\n"
    "v_dual_mul_f32 v17, v2, v3 :: v_dual_add_f32 v20, s4, v9\n v_mov_b32_e32 v9, 0",
};

/* The operand is a result, too: what was in the other register before is there, which nobody reads otherwise.
 */
static const char *const swaps[] = {
    "v_xor_b32_e32 v16, v0, v2\n v_xor_b32_e32 v18, v4, v6\n v_swap_b32 v16, v18\n v_mov_b32_e32 v16, v8",
    "v_xor_b32_e32 v16, v0, v2\n v_xor_b32_e32 v18, v4, v6\n .long 0x7e20b312\n"
    "v_mov_b32_e32 v16, v8",
    "v_xor_b32_e32 v16, v0, v2\n v_xor_b32_e32 v18, v4, v6\n .long 0x7e20b512\n"
    "v_mov_b32_e32 v16, v8",
};

/* Replaces the names of masks. */
static void spell(const char *program, bool is_wide, char *text, size_t size) {
  static const char *const names[][3] = {{"{vcc}", "vcc", "vcc_lo"},
                                         {"{mask}", "s[4:5]", "s4"},
                                         {"{other}", "s[8:9]", "s8"},
                                         {"{mov}", "s_mov_b64", "s_mov_b32"},
                                         {"{exec}", "exec", "exec_lo"},
                                         {"{and}", "s_and_b64", "s_and_b32"},
                                         {"{or}", "s_or_b64", "s_or_b32"},
                                         {"{xor}", "s_xor_b64", "s_xor_b32"},
                                         {"{andn2}", "s_andn2_b64", "s_andn2_b32"},
                                         {"{a}", "s[16:17]", "s16"},
                                         {"{b}", "s[18:19]", "s18"},
                                         {"{c}", "s[20:21]", "s20"},
                                         {"{d}", "s[22:23]", "s22"},
                                         {"{e}", "s[24:25]", "s24"},
                                         {"{f}", "s[26:27]", "s26"},
                                         {"{g}", "s[28:29]", "s28"}};
  size_t at = 0;
  while (*program && at + 16 < size) {
    const char *put = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !put; i++)
      if (strncmp(program, names[i][0], strlen(names[i][0])) == 0) {
        put = names[i][is_wide ? 1 : 2];
        program += strlen(names[i][0]);
      }
    at += (size_t)snprintf(text + at, size - at, "%.*s", put ? 16 : 1, put ? put : program);
    program += put ? 0 : 1;
  }
}

/* What is unusual: two registers each, for both widths. */
static const uint64_t unusual[] = {
    0x0000000000000000, 0x8000000080000000, 0x7f8000007f800000, 0xff800000ff800000, 0x7fc012347fc01234,
    0x7f8012347f801234, 0x0000000100000001, 0x007fffff007fffff, 0x7f7fffff7f7fffff, 0x0080000000800000,
    0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000001234, 0x7ff4000000001234, 0x0000000000000001,
    0x7fefffffffffffff, 0x0010000000000000, 0x0c80000000c80000, 0x7e8000007e800000, 0x3ff0000000000000,
    0x6f8000006f800000, 0x0f8000000f800000, 0x0c0000000c000000, 0x0350000003500000, 0x7fd000007fd00000,
};
enum { UNUSUAL = sizeof unusual / sizeof *unusual, MOST_UNUSUAL = 6 };

/* Ordinary numbers of both widths in all lanes, but in `lane` and the last one, what chance says; mostly
 * zeroes, infinities and NaNs every second time. */
static void fill(isa_wave_t *t, unsigned lane, unsigned time, uint64_t *seed) {
  isa_reset(t, 1);
  for (unsigned i = 0; i < OPERANDS; i++)
    for (unsigned l = 0; l < GS_LANES; l++) {
      const uint32_t number = 0x3f800000u + (isa_random(seed) & 0x807fffff);
      const bool is_unusual =
          (l == lane || (lane % 2 && l + 1 == gs_target_lanes(t->env.target))) && isa_random(seed) % 2;
      isa_set_u64(&t->v[2 * i], l,
                  is_unusual ? unusual[isa_random(seed) % (time % 2 ? MOST_UNUSUAL : UNUSUAL)]
                             : (uint64_t)number << 32 | number);
    }
  for (unsigned l = 0; l < GS_LANES; l++)
    t->v[ADDRESS].u32[l] = 4 * l;
  for (unsigned i = 0; i < sizeof t->memory / 4; i++) {
    const uint32_t number = 0x3f800000u + (i * 0x1234567u & 0x807fffff);
    memcpy(t->memory + 4 * (size_t)i, &number, sizeof number);
  }
  isa_set_s64(t, 2, ISA_MEMORY);
  isa_set_s64(t, MASK, isa_random(seed));
  isa_set_s64(t, OTHER_MASK, isa_random(seed));
  for (unsigned i = 0; i < 3; i++)
    t->w.s.u32[SCALARS + i] = (uint32_t)unusual[isa_random(seed) % UNUSUAL];
  gs_set_exec(&t->w, gs_target_lanes(t->env.target) == GS_LANES ? UINT64_MAX : UINT32_MAX);
}

static void compare(const isa_wave_t *steps, const isa_wave_t *device, const char *text, unsigned lane) {
  for (unsigned row = 0; row <= LAST_RESULT; row++)
    for (unsigned l = 0; l < gs_target_lanes(steps->env.target); l++)
      if (steps->v[row].u32[l] != device->v[row].u32[l])
        fail_msg("v%u, lane %u, with lane %u unusual: 0x%x by steps, 0x%x on the device, in\n%s", row, l,
                 lane, steps->v[row].u32[l], device->v[row].u32[l], text);
  for (unsigned reg = 0; reg < GS_S_NULL; reg++)
    if (steps->w.s.u32[reg] != device->w.s.u32[reg])
      fail_msg("scalar register %u, with lane %u unusual: 0x%x by steps, 0x%x on the device, in\n%s", reg,
               lane, steps->w.s.u32[reg], device->w.s.u32[reg], text);
}

/* A loop that runs twice: what is loaded is in strips when it is known where the memory is. */
static void make_loop(const char *program, bool is_wide, char *text, size_t size) {
  char loop[1024];
  (void)snprintf(loop, sizeof loop,
                 "s_movk_i32 s13, 2\nagain:\n%s\n s_sub_u32 s13, s13, 1\n s_cmp_lg_u32 s13, 0\n"
                 "s_cbranch_scc1 again",
                 program);
  spell(loop, is_wide, text, size);
}

static void try(isa_wave_t *steps, isa_wave_t *device, const char *program) {
  enum { TIMES = 320 };
  const unsigned lanes = gs_target_lanes(steps->env.target);
  uint64_t seed = 1;
  char text[1280];
  make_loop(program, lanes == GS_LANES, text, sizeof text);
  for (unsigned time = 0; time < TIMES; time++) {
    const unsigned lane = (unsigned)(isa_random(&seed) % (lanes + 8)); /* perhaps none */
    uint64_t same = seed;
    fill(steps, lane, time, &seed);
    if (time / 2 % 8 == 0) /* other code in between: strips that failed lately are trusted again */
      (void)isa_run(device, "s_nop 0");
    fill(device, lane, time, &same);
    assert_int_equal(isa_run(steps, text), isa_run(device, text));
    compare(steps, device, text, lane);
  }
}

static void try_combinations(isa_wave_t *steps, isa_wave_t *device) {
  char program[320];
  for (size_t i = 0; i < sizeof combinations / sizeof *combinations; i++) {
    (void)snprintf(program, sizeof program,
                   "v_mul_lo_u32 v13, 0, v12\n v_cmp_ne_u32_e64 {mask}, 1, v13\n"
                   "v_cmp_ne_u32_e64 {vcc}, 0, v13\n %s\n v_cndmask_b32_e64 v13, 0, 64, {vcc}\n"
                   "global_load_dword v33, v13, s[2:3]\n s_waitcnt vmcnt(0)\n v_xor_b32_e32 v16, v33, v2",
                   combinations[i]);
    try(steps, device, program);
  }
}

static void test_unusual_lanes(void **state) {
  isa_wave_t *const steps = isa_new_on(state, ISA_PART, NULL), *const device =
                                                                   isa_new_on(state, ISA_PART, "always");
  isa_device_look(device->device, GS_LOOKS_AT_END);
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
    try(steps, device, programs[i]);
  for (size_t i = 0; i < sizeof later_programs / sizeof *later_programs && steps->env.target & GS_GFX10_UP;
       i++)
    try(steps, device, later_programs[i]);
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs && steps->env.target & GS_GFX11_W32; i++)
    try(steps, device, pairs[i]);
  for (size_t i = 0; i < (steps->env.target & GS_GFX950 ? sizeof swaps / sizeof *swaps : 1); i++)
    try(steps, device, swaps[i]);
  try_combinations(steps, device);
  isa_free(steps);
  isa_free(device);
}

/* Addresses of lanes that lie side by side, but for a gap before `lane`, or where two lanes change places. */
static void fill_rows(isa_wave_t *t, unsigned lane, unsigned bytes, bool change_places) {
  enum { GAP = 48 };
  uint32_t *const at = t->v[ADDRESS].u32;
  uint64_t seed = lane;
  fill(t, GS_LANES, 0, &seed);
  for (unsigned l = 0; l < GS_LANES; l++)
    at[l] = l * bytes + (l >= lane && !change_places ? GAP : 0);
  if (!change_places || !lane)
    return;
  const uint32_t before = at[lane - 1];
  at[lane - 1] = at[lane];
  at[lane] = before;
}

static void test_rows_of_lanes(void **state) {
  static const struct {
    unsigned bytes;
    const char *program;
  } loads[] = {
      {4, "global_load_dword v32, v12, s[2:3]\n s_waitcnt vmcnt(0)\n v_xor_b32_e32 v16, v32, v2"},
      {8, "global_load_dwordx2 v[32:33], v12, s[2:3]\n s_waitcnt vmcnt(0)\n v_xor_b32_e32 v16, v32, v33"},
      {16, "global_load_dwordx4 v[32:35], v12, s[2:3]\n s_waitcnt vmcnt(0)\n v_xor_b32_e32 v16, v32, v33\n"
           "v_xor_b32_e32 v17, v34, v35"},
  };
  isa_wave_t *const steps = isa_new_on(state, ISA_PART, NULL), *const device =
                                                                   isa_new_on(state, ISA_PART, "always");
  const unsigned lanes = gs_target_lanes(steps->env.target);
  isa_device_look(device->device, GS_LOOKS_AT_END);
  for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
    char text[1280];
    make_loop(loads[i].program, lanes == GS_LANES, text, sizeof text);
    for (unsigned lane = 0; lane < 2 * lanes; lane++) {
      fill_rows(steps, lane / 2, loads[i].bytes, lane % 2);
      fill_rows(device, lane / 2, loads[i].bytes, lane % 2);
      assert_int_equal(isa_run(steps, text), isa_run(device, text));
      compare(steps, device, text, lane / 2);
    }
  }
  isa_free(steps);
  isa_free(device);
}

int main(void) {
  static const struct CMUnitTest tests[] = {isa_part_test_on(test_unusual_lanes, GS_GFX9_11),
                                            isa_part_test_on(test_rows_of_lanes, GS_GFX9_11)};
  return isa_main(tests, sizeof tests / sizeof tests[0]);
}
