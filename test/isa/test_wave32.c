/* Waves of 32 lanes against waves of 64: each instruction of gfx1030 and gfx1100 that random words of an
 * encoding make does in a narrow wave what it does in the lower half of a wide one whose upper half is
 * switched off. What the wide ones do is compared with arithmetic elsewhere.
 *
 * Not here: lane numbers, which count modulo the width (test_lane_numbers), private memory, whose layout
 * depends on the width (test_private_layout) and how masks of the two widths differ (test_masks).
 *
 * The number of instructions of each encoding is 2000, or what the environment variable WAVE32_STEPS says. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/lanes.h"

enum { DEFAULT_STEPS = 2000, MOST_TRIES = 400, NARROW = 32, ADDRESS_REGISTERS = 64 };

/* Encodings by value and the bits that may be anything. */
static const struct {
  uint32_t value, any;
} encodings[] = {
    {0x00000000, 0x7fffffff}, {0x7c000000, 0x01ffffff}, {0x7e000000, 0x01ffffff}, {0x80000000, 0x3fffffff},
    {0xb0000000, 0x0fffffff}, {0xbe800000, 0x007fffff}, {0xbf000000, 0x007fffff}, {0xcc000000, 0x007fffff},
    {0xd4000000, 0x03ffffff}, {0xd8000000, 0x03fdffff}, {0xdc000000, 0x03ffdfff}, {0xe0000000, 0x03feffff},
    {0xe8000000, 0x03ffffff}, {0xf4000000, 0x03ffffff},
};

/* The part in waves of 64 lanes. */
static gs_target_t wide_part(gs_target_t narrow) {
  return narrow == GS_GFX1030_W32 ? GS_GFX1030 : narrow == GS_GFX1100_W32 ? GS_GFX1100 : GS_GFX1151;
}

/* What depends on the width by its meaning. */
static bool is_left_out(const gs_inst_t *in) {
  static const char *const names[] = {"v_readlane_b32", "v_writelane_b32", "s_subvector", "s_endpgm",
                                      "s_branch",       "s_cbranch",       "s_setpc",     "s_swappc",
                                      "s_call",         "s_sleep",         "s_barrier",   "s_icache_inv",
                                      "v_permlane64"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strncmp(in->op->name, names[i], strlen(names[i])) == 0)
      return true;
  return in->op->encoding == GS_ENC_SCRATCH || (in->op->flags & (GS_OPF_ILLEGAL | GS_OPF_WMMA));
}

typedef struct pair {
  isa_wave_t *narrow, *wide;
  unsigned long *steps_of; /* for each row */
} pair_t;

/* The same registers for both, with addresses in reach in some; the upper half of the wide wave is off. */
static void set_registers(pair_t *p, uint64_t *seed) {
  isa_wave_t *const a = p->narrow, *const b = p->wide;
  for (unsigned i = 0; i < ADDRESS_REGISTERS; i++) {
    const unsigned r = 2 * (unsigned)(isa_random(seed) % (GS_ARCH_VGPRS / 2));
    const uint64_t random = isa_random(seed), base = ISA_MEMORY + random % (ISA_MEMORY_BYTES - 4096);
    for (unsigned l = 0; l < GS_LANES; l++)
      isa_set_u64(&a->v[r], l, random >> 62 ? base + l % NARROW * (random >> 58) : isa_random(seed));
    isa_set_s64(a, 2 * (unsigned)(isa_random(seed) % 50), base);
  }
  a->w.s.u32[GS_S_EXEC] = (uint32_t)(isa_random(seed) | (isa_random(seed) & 1 ? UINT32_MAX : 0));
  a->w.s.u32[GS_S_EXEC + 1] = a->w.s.u32[GS_S_VCC + 1] = 0;
  gs_wave_set_mode(&a->w, (uint32_t)isa_random(seed) & (GS_MODE_FP_MASK | GS_MODE_DX10_CLAMP | GS_MODE_IEEE));
  memcpy(b->v, a->v, sizeof a->v);
  memcpy(b->lds, a->lds, sizeof a->lds);
  memcpy(b->memory, a->memory, sizeof a->memory);
  b->w.s = a->w.s;
  b->w.scc = a->w.scc;
  b->w.trapsts = a->w.trapsts;
  gs_wave_set_mode(&b->w, a->w.mode);
}

static void step(isa_wave_t *t, const uint32_t *words, unsigned bytes) {
  memcpy(t->code, words, bytes);
  t->code_bytes = bytes;
  t->w.pc = ISA_CODE;
  memset(&t->w.fault, 0, sizeof t->w.fault);
  isa_step(t);
}

/* A mask has one word in the narrow wave and two in the wide one. */
static bool is_upper_of_mask(const gs_inst_t *in, unsigned reg) {
  const bool has_mask = (in->op->flags & GS_OPF_SDST) || in->op->encoding == GS_ENC_VOPC;
  return has_mask && reg == in->sdst + 1u;
}

static void compare_scalars(const pair_t *p, const char *text) {
  const gs_wave_t *const a = &p->narrow->w, *const b = &p->wide->w;
  for (unsigned r = 0; r < GS_S_OPERANDS; r++)
    if (a->s.u32[r] != b->s.u32[r] && !is_upper_of_mask(&p->narrow->inst, r))
      fail_msg("%s: scalar register %u: 0x%08x, wide 0x%08x", text, r, a->s.u32[r], b->s.u32[r]);
  if (a->scc != b->scc || a->mode != b->mode || a->trapsts != b->trapsts || a->state != b->state ||
      a->fault.kind != b->fault.kind || a->fault.address != b->fault.address)
    fail_msg("%s: SCC, MODE, TRAPSTS, state or fault differ", text);
}

/* Which of two NaNs a result comes from is the compiler's choice on the host, and may differ. */
static bool is_nan16(uint32_t x) {
  return (x & 0x7fff) > 0x7c00;
}
static bool is_nan32(uint32_t x) {
  return (x & 0x7fffffff) > 0x7f800000;
}
static bool is_nan64(const gs_row_t *row, unsigned l) {
  return (isa_u64(row, l) & INT64_MAX) > UINT64_C(0x7ff0000000000000);
}
static bool same_half(uint32_t a, uint32_t b) {
  return (a & 0xffff) == (b & 0xffff) || (is_nan16(a) && is_nan16(b));
}

static bool same_lane(const pair_t *p, unsigned r, unsigned l) {
  const gs_inst_t *const in = &p->narrow->inst;
  const gs_row_t *const a = &p->narrow->v[r], *const b = &p->wide->v[r];
  switch (in->op->dst) {
  case GS_T_F16:
  case GS_T_V2F16: return same_half(a->u32[l], b->u32[l]) && same_half(a->u32[l] >> 16, b->u32[l] >> 16);
  case GS_T_F32: return is_nan32(a->u32[l]) && is_nan32(b->u32[l]);
  case GS_T_F64: {
    const unsigned back = r - in->dst;
    return back < 2 && is_nan64(a - back, l) && is_nan64(b - back, l);
  }
  default: return false;
  }
}

static void compare_rows(const pair_t *p, const char *text) {
  for (unsigned r = 0; r < GS_ARCH_VGPRS; r++) {
    const gs_row_t *const a = &p->narrow->v[r], *const b = &p->wide->v[r];
    if (memcmp(a, b, NARROW * sizeof *a->u32) == 0)
      continue;
    for (unsigned l = 0; l < NARROW; l++)
      if (a->u32[l] != b->u32[l] && !same_lane(p, r, l))
        fail_msg("%s: v%u lane %u: 0x%08x, wide 0x%08x", text, r, l, a->u32[l], b->u32[l]);
  }
}

static void run_both(pair_t *p, const uint32_t *words, const gs_inst_t *in) {
  char text[256];
  step(p->narrow, words, in->size);
  step(p->wide, words, in->size);
  (void)gs_disassemble(p->narrow->env.target, &p->narrow->inst, text, sizeof text);
  compare_scalars(p, text);
  compare_rows(p, text);
  if (memcmp(p->narrow->memory, p->wide->memory, ISA_MEMORY_BYTES) != 0 ||
      memcmp(p->narrow->lds, p->wide->lds, ISA_LDS_BYTES) != 0)
    fail_msg("%s: memory or LDS differs", text);
  p->steps_of[in->op - gs_opcodes]++;
}

/* Pairs begin at even numbers, where the narrow wave's single registers may be anywhere. */
static bool same_registers(const gs_inst_t *a, const gs_inst_t *b) {
  bool same = a->op == b->op && a->dst == b->dst && a->sdst == b->sdst;
  for (unsigned i = 0; i < 3; i++)
    same = same && a->src[i].reg == b->src[i].reg && a->src[i].kind == b->src[i].kind;
  return same;
}

/* Words of the encoding that both widths know; false when there are none to be found. */
static bool find_words(gs_target_t part, size_t e, uint64_t *seed, uint32_t words[3], gs_inst_t *in) {
  for (unsigned i = 0; i < MOST_TRIES; i++) {
    gs_inst_t wide;
    words[0] = encodings[e].value | ((uint32_t)isa_random(seed) & encodings[e].any);
    words[1] = (uint32_t)(isa_random(seed) >> (isa_random(seed) % 32));
    words[2] = (uint32_t)isa_random(seed);
    if (gs_decode(part, words, 3, in) && gs_decode(wide_part(part), words, 3, &wide) &&
        same_registers(in, &wide) && !is_left_out(in))
      return true;
  }
  return false;
}

static void test_both_widths(void **state) {
  const char *const wanted = getenv("WAVE32_STEPS");
  const unsigned long steps = wanted ? strtoul(wanted, NULL, 10) : DEFAULT_STEPS;
  const gs_target_t part = isa_part(state);
  pair_t p = {.narrow = isa_new(state, part),
              .wide = isa_new(state, wide_part(part)),
              .steps_of = calloc(gs_opcode_count, sizeof(unsigned long))};
  uint64_t seed = 1030;
  assert_non_null(p.steps_of);
  isa_compares_nothing(state);
  for (size_t e = 0; e < sizeof encodings / sizeof *encodings; e++)
    for (unsigned long i = 0; i < steps; i++) {
      uint32_t words[3];
      gs_inst_t in;
      set_registers(&p, &seed);
      if (find_words(part, e, &seed, words, &in))
        run_both(&p, words, &in);
    }
  unsigned seen = 0, all = 0;
  for (size_t i = 0; i < gs_opcode_count; i++) {
    all += (gs_opcodes[i].targets & part) != 0;
    seen += p.steps_of[i] != 0;
  }
  print_message("%u of %u opcodes\n", seen, all);
  assert_in_range(seen, all * 7 / 10, all);
  free(p.steps_of);
  isa_free(p.narrow);
  isa_free(p.wide);
}

/* ---- What differs ---- */

static void test_lane_numbers(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  const unsigned lanes = gs_target_lanes(isa_part(state));
  for (unsigned n = 0; n < 128; n += 7) {
    t->w.s.u32[2] = n;
    t->w.s.u32[3] = 0x1000 + n;
    isa_run(t, "v_readlane_b32 s1, v5, s2\nv_writelane_b32 v6, s3, s2");
    assert_int_equal(t->w.s.u32[1], t->v[5].u32[n % lanes]);
    assert_int_equal(t->v[6].u32[n % lanes], 0x1000 + n);
    isa_assert_only_changed(t, "s1 v6");
    isa_assert_lanes_kept(t, 6, 1, UINT64_C(1) << n % lanes);
  }
  isa_free(t);
}

/* Dword d of lane l lies behind those of all lanes before, whatever instruction looks. */
static void test_private_layout(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  const unsigned lanes = gs_target_lanes(isa_part(state));
  isa_set_s64(t, GS_S_SCRATCH_BASE, ISA_MEMORY);
  isa_run(t, "scratch_store_dwordx2 off, v[4:5], off offset:12");
  for (unsigned l = 0; l < lanes; l++)
    for (unsigned i = 0; i < 2; i++) {
      uint32_t value;
      memcpy(&value, t->memory + ((3 + i) * lanes + l) * 4, 4);
      assert_int_equal(value, t->v[4 + i].u32[l]);
    }
  isa_assert_only_changed(t, "memory");
  isa_run(t, "scratch_load_dword v7, off, off offset:16");
  for (unsigned l = 0; l < lanes; l++)
    assert_int_equal(t->v[7].u32[l], t->v[5].u32[l]);
  isa_free(t);
}

/* FLAT_SCRATCH is a pair of hardware registers. */
static void test_flat_scratch(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  isa_set_s64(t, 2, ISA_MEMORY + 256);
  isa_run(t, "s_setreg_b32 hwreg(HW_REG_FLAT_SCR_LO), s2\ns_setreg_b32 hwreg(HW_REG_FLAT_SCR_HI), s3\n"
             "s_getreg_b32 s4, hwreg(HW_REG_FLAT_SCR_LO)");
  assert_int_equal(t->w.s.u32[4], (uint32_t)(ISA_MEMORY + 256));
  assert_true(gs_flat_scratch(&t->w) == ISA_MEMORY + 256);
  isa_free(t);
}

/* Masks, branches and EXEC look at as many bits as there are lanes; what is beside is a register like others.
 */
static void test_masks(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  t->w.s.u32[GS_S_EXEC] = 0x00ff00ff;
  t->w.s.u32[GS_S_EXEC + 1] = 0x12345678;
  t->w.s.u32[9] = 0xdeadbeef;
  isa_run(t, "v_cmp_eq_u32_e64 s8, v1, v1");
  assert_int_equal(t->w.s.u32[8], 0x00ff00ff);
  isa_assert_only_changed(t, "s8");
  isa_run(t, "v_cmp_ne_u32_e32 vcc_lo, v1, v1");
  assert_int_equal(t->w.s.u32[GS_S_VCC], 0);
  isa_assert_only_changed(t, "vcc");
  t->w.s.u32[GS_S_VCC + 1] = 1;
  isa_run(t, "s_cbranch_vccz L1\ns_mov_b32 s5, 1\nL1:\ns_nop 0");
  isa_assert_only_changed(t, "");
  isa_run(t, "s_and_saveexec_b32 s6, 0\ns_cbranch_execz L2\ns_mov_b32 s5, 1\nL2:\ns_nop 0");
  assert_int_equal(t->w.s.u32[6], 0x00ff00ff);
  assert_int_equal(t->w.s.u32[GS_S_EXEC + 1], 0x12345678);
  isa_assert_only_changed(t, "s6 exec scc");
  isa_free(t);
}

static void test_null(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  isa_run(t, "s_add_u32 null, s1, s2");
  isa_assert_only_changed(t, "scc");
  isa_run(t, "s_mov_b64 null, s[2:3]\ns_mov_b32 s4, null\nv_mov_b32 v9, null");
  assert_int_equal(t->w.s.u32[4], 0);
  isa_assert_only_changed(t, "s4 v9");
  isa_free(t);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      isa_part_test_on(test_both_widths, GS_WAVE32),
      isa_part_test_on(test_lane_numbers, GS_GFX10_UP),
      isa_part_test_on(test_private_layout, GS_GFX10_UP),
      isa_part_test_on(test_flat_scratch, GS_GFX10),
      isa_part_test_on(test_masks, GS_WAVE32),
      isa_part_test_on(test_null, GS_GFX10_UP),
  };
  return isa_main(tests, sizeof tests / sizeof *tests);
}
