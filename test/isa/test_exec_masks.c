/* EXEC as compilers use it: programs with divergent branches and loops, in the instruction sequences that
 * clang emits for them, against the same programs executed one lane at a time. Not here: single instructions
 * (test_sop.c and others). */
#include "harness.h"

#include <stdio.h>
#include <string.h>

/* ---- Random structured programs ---- */

/* A program works on each lane's `value` and counts what it does in `count`. Conditions are (value & mask) <
 * limit. */
typedef enum node_kind { ASSIGN, IF, IF_ELSE, LOOP } node_kind_t;
typedef struct node {
  node_kind_t kind;
  unsigned operation;        /* ASSIGN */
  uint32_t constant;         /* ASSIGN */
  uint32_t mask, limit;      /* condition; of a loop: to leave it in the middle */
  unsigned form;             /* which of several equivalent sequences */
  struct node *body, *other; /* statement lists; a loop runs `body`, perhaps leaves, and runs `other` */
  struct node *next;
} node_t;

enum { MOST_NODES = 60, MOST_DEPTH = 5, MOST_TURNS = 5, TEXT = 16384 };

typedef struct program {
  node_t nodes[MOST_NODES];
  unsigned count;
  uint64_t seed;
  char text[TEXT];
  size_t length;
  unsigned labels;
} program_t;

static uint32_t choose(program_t *p, uint32_t below) {
  return (uint32_t)(isa_random(&p->seed) >> 32) % below;
}

static node_t *make_list(program_t *p, unsigned depth) {
  node_t *first = NULL, **link = &first;
  for (unsigned n = 1 + choose(p, 3); n && p->count < MOST_NODES; n--) {
    node_t *const node = &p->nodes[p->count++];
    *node = (node_t){.kind = depth < MOST_DEPTH ? (node_kind_t)choose(p, 4) : ASSIGN,
                     .operation = choose(p, 4),
                     .constant = choose(p, 60) + 1,
                     .form = choose(p, 4)};
    node->mask = (UINT32_C(2) << choose(p, 5)) - 1;
    node->limit = choose(p, node->mask + 2);
    if (node->kind != ASSIGN)
      node->body = make_list(p, depth + 1);
    if (node->kind == IF_ELSE || node->kind == LOOP)
      node->other = make_list(p, depth + 1);
    *link = node;
    link = &node->next;
  }
  return first;
}

/* ---- One lane at a time ---- */

typedef struct lane {
  uint32_t value, count;
} lane_t;

static bool condition(const node_t *node, const lane_t *lane) {
  return (lane->value & node->mask) < node->limit;
}
static void run_list(const node_t *node, lane_t *lane);

static void run_loop(const node_t *node, lane_t *lane) {
  /* At least one turn; how many depends on the lane's value at the start. */
  for (uint32_t turns = lane->value % (MOST_TURNS - 1);; turns--) {
    run_list(node->body, lane);
    if (condition(node, lane))
      return;
    run_list(node->other, lane);
    if (turns == 0)
      return;
  }
}
static void run_list(const node_t *node, lane_t *lane) {
  for (; node; node = node->next) {
    lane->count++;
    switch (node->kind) {
    case ASSIGN: {
      const uint32_t v = lane->value, c = node->constant;
      const uint32_t results[] = {v + c, v ^ c, v * 5 + c, (v << 7 | v >> 25) - c};
      lane->value = results[node->operation];
      break;
    }
    case IF:
      if (condition(node, lane))
        run_list(node->body, lane);
      break;
    case IF_ELSE: run_list(condition(node, lane) ? node->body : node->other, lane); break;
    case LOOP: run_loop(node, lane); break;
    }
  }
}

/* ---- As clang writes it ---- */

static void emit(program_t *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void emit(program_t *p, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  p->length += (size_t)vsnprintf(p->text + p->length, TEXT - p->length, format, arguments);
  va_end(arguments);
  if (p->length >= TEXT)
    fail_msg("the program is too long");
}

/* Scalar pair and vector register of a nesting depth. */
static unsigned pair(unsigned depth) {
  return 20 + 2 * depth;
}
static unsigned turns_register(unsigned depth) {
  return 10 + depth;
}

static void emit_list(program_t *p, const node_t *node, unsigned depth);

static void emit_condition(program_t *p, const node_t *node) {
  emit(p, "v_and_b32 v5, 0x%x, v1\nv_cmp_gt_u32 vcc, %u, v5\n", node->mask, node->limit);
}

static void emit_assign(program_t *p, const node_t *node) {
  switch (node->operation) {
  case 0: emit(p, "v_add_u32 v1, %u, v1\n", node->constant); break;
  case 1: emit(p, "v_xor_b32 v1, %u, v1\n", node->constant); break;
  case 2: emit(p, "v_lshl_add_u32 v1, v1, 2, v1\nv_add_u32 v1, %u, v1\n", node->constant); break;
  default: emit(p, "v_alignbit_b32 v1, v1, v1, 25\nv_subrev_u32 v1, %u, v1\n", node->constant); break;
  }
}

static void emit_if(program_t *p, const node_t *node, unsigned depth) {
  const unsigned s = pair(depth), label = p->labels++;
  emit_condition(p, node);
  emit(p, "s_and_saveexec_b64 s[%u:%u], vcc\n", s, s + 1);
  if (node->form & 1)
    emit(p, "s_cbranch_execz end%u\n", label);
  emit_list(p, node->body, depth + 1);
  emit(p, "end%u:\ns_or_b64 exec, exec, s[%u:%u]\n", label, s, s + 1);
}

static void emit_if_else(program_t *p, const node_t *node, unsigned depth) {
  const unsigned s = pair(depth), label = p->labels++;
  emit_condition(p, node);
  emit(p, "s_and_saveexec_b64 s[%u:%u], vcc\ns_xor_b64 s[%u:%u], exec, s[%u:%u]\n", s, s + 1, s, s + 1, s,
       s + 1);
  if (node->form & 1)
    emit(p, "s_cbranch_execz else%u\n", label);
  emit_list(p, node->body, depth + 1);
  emit(p, "else%u:\n", label);
  if (node->form & 2)
    emit(p, "s_andn2_saveexec_b64 s[%u:%u], s[%u:%u]\n", s, s + 1, s, s + 1);
  else
    emit(p, "s_or_saveexec_b64 s[%u:%u], s[%u:%u]\ns_xor_b64 exec, exec, s[%u:%u]\n", s, s + 1, s, s + 1, s,
         s + 1);
  if (node->form & 1)
    emit(p, "s_cbranch_execz end%u\n", label);
  emit_list(p, node->other, depth + 1);
  emit(p, "end%u:\ns_or_b64 exec, exec, s[%u:%u]\n", label, s, s + 1);
}

/* The pair collects lanes that have left. */
static void emit_loop(program_t *p, const node_t *node, unsigned depth) {
  const unsigned s = pair(depth), label = p->labels++, turns = turns_register(depth);
  emit(p, "v_and_b32 v%u, 3, v1\ns_mov_b64 s[%u:%u], 0\nloop%u:\n", turns, s, s + 1, label);
  emit_list(p, node->body, depth + 1);
  emit_condition(p, node);
  emit(p, "s_or_b64 s[%u:%u], vcc, s[%u:%u]\ns_andn2_b64 exec, exec, vcc\n", s, s + 1, s, s + 1);
  if (node->form & 1)
    emit(p, "s_cbranch_execz tail%u\n", label);
  emit_list(p, node->other, depth + 1);
  emit(p, "tail%u:\nv_cmp_eq_u32 vcc, 0, v%u\nv_add_u32 v%u, -1, v%u\n", label, turns, turns, turns);
  emit(p, "s_or_b64 s[%u:%u], vcc, s[%u:%u]\n", s, s + 1, s, s + 1);
  if (node->form & 2)
    emit(p, "s_andn2_b64 exec, exec, s[%u:%u]\ns_cbranch_execnz loop%u\n", s, s + 1, label);
  else
    emit(p, "s_andn2_b64 exec, exec, s[%u:%u]\ns_cbranch_scc1 loop%u\n", s, s + 1, label);
  emit(p, "s_or_b64 exec, exec, s[%u:%u]\n", s, s + 1);
}

static void emit_list(program_t *p, const node_t *node, unsigned depth) {
  for (; node; node = node->next) {
    emit(p, "v_add_u32 v2, 1, v2\n");
    switch (node->kind) {
    case ASSIGN: emit_assign(p, node); break;
    case IF: emit_if(p, node, depth); break;
    case IF_ELSE: emit_if_else(p, node, depth); break;
    case LOOP: emit_loop(p, node, depth); break;
    }
  }
}

static void check_program(isa_wave_t *t, const program_t *p, const node_t *list, uint64_t exec,
                          uint64_t seed) {
  lane_t lanes[GS_LANES];
  gs_set_exec(&t->w, exec);
  for (unsigned l = 0; l < GS_LANES; l++) {
    lanes[l] = (lane_t){(uint32_t)isa_random(&seed), 0};
    t->v[1].u32[l] = lanes[l].value;
    t->v[2].u32[l] = 0;
    if (exec >> l & 1)
      run_list(list, &lanes[l]);
  }
  assert_int_equal(isa_run(t, p->text), GS_WAVE_RUNNING);
  assert_true(gs_exec(&t->w) == exec);
  for (unsigned l = 0; l < GS_LANES; l++)
    if (t->v[1].u32[l] != lanes[l].value || t->v[2].u32[l] != lanes[l].count)
      fail_msg("lane %u of exec 0x%llx: value 0x%x count %u, not 0x%x %u, in\n%s", l,
               (unsigned long long)exec, t->v[1].u32[l], t->v[2].u32[l], lanes[l].value, lanes[l].count,
               p->text);
  isa_assert_lanes_kept(t, 0, 20, exec);
}

static void test_random_programs(void **state) {
  enum { PROGRAMS = 150 };
  static program_t programs[PROGRAMS];
  static const char *texts[PROGRAMS];
  static const node_t *lists[PROGRAMS];
  static const uint64_t execs[] = {UINT64_MAX, 1, UINT64_C(0x8000000000000000), UINT64_C(0x00ff0f0f33335555)};
  for (unsigned i = 0; i < PROGRAMS; i++) {
    program_t *const p = &programs[i];
    memset(p, 0, sizeof *p);
    p->seed = i;
    p->labels = i * MOST_NODES; /* the texts are assembled together */
    lists[i] = make_list(p, 0);
    emit_list(p, lists[i], 0);
    texts[i] = p->text;
  }
  isa_prepare(state, ISA_PART, texts, sizeof *texts, PROGRAMS);
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (unsigned i = 0; i < PROGRAMS; i++)
    for (unsigned e = 0; e < sizeof execs / sizeof *execs; e++) {
      isa_reset(t, i);
      check_program(t, &programs[i], lists[i], execs[e], i * 7 + e);
    }
  isa_free(t);
}

/* ---- Idioms ---- */

static void set_lanes(isa_wave_t *t, unsigned reg, uint32_t factor, uint32_t modulo) {
  for (unsigned l = 0; l < GS_LANES; l++)
    t->v[reg].u32[l] = l * factor % modulo;
}

/* A loop over the distinct values of a register, as for resources or call targets that differ between lanes:
 * each turn takes the first active lane's value and serves all lanes that share it. */
static void check_waterfall(isa_wave_t *t, const char *tail, uint64_t exec, uint32_t modulo) {
  char text[512];
  (void)snprintf(text, sizeof text,
                 "s_mov_b64 s[2:3], exec\ns_mov_b32 s8, 0\nloop:\nv_readfirstlane_b32 s4, v1\n"
                 "v_cmp_eq_u32 vcc, s4, v1\ns_and_saveexec_b64 s[6:7], vcc\n"
                 "v_add_u32 v2, s4, v2\nv_mov_b32 v3, s8\ns_add_u32 s8, s8, 1\n%s\n"
                 "s_cbranch_execnz loop\ns_mov_b64 exec, s[2:3]",
                 tail);
  isa_reset(t, 0);
  set_lanes(t, 1, 7, modulo);
  gs_set_exec(&t->w, exec);
  assert_int_equal(isa_run(t, text), GS_WAVE_RUNNING);
  uint32_t seen = 0, order[GS_LANES], turns = 0;
  for (unsigned l = 0; l < GS_LANES; l++) {
    if (!(exec >> l & 1))
      continue;
    const uint32_t value = l * 7 % modulo;
    if (!(seen >> value & 1))
      order[value] = turns++;
    seen |= UINT32_C(1) << value;
    assert_int_equal(t->v[2].u32[l], t->before.v[2].u32[l] + value);
    assert_int_equal(t->v[3].u32[l], order[value]);
  }
  assert_int_equal(t->w.s.u32[8], turns);
  assert_true(gs_exec(&t->w) == exec);
  isa_assert_lanes_kept(t, 2, 2, exec);
}

static void test_waterfall(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  static const char *const tails[] = {"s_xor_b64 exec, exec, s[6:7]", "s_andn2_wrexec_b64 s[6:7], s[6:7]"};
  for (unsigned i = 0; i < 2; i++)
    for (uint32_t modulo = 1; modulo < 32; modulo += 5) {
      check_waterfall(t, tails[i], UINT64_MAX, modulo);
      check_waterfall(t, tails[i], UINT64_C(0x8000000000000001), modulo);
      check_waterfall(t, tails[i], UINT64_C(0x0f0f0f0f0000ffff), modulo);
    }
  isa_free(t);
}

/* With no lane active, vector instructions change nothing and memory is not touched, however bad the address.
 */
static void test_no_lanes(void **state) {
  static const char *const texts[] = {
      "v_add_u32 v1, v2, v3",
      "v_add_f64 v[2:3], v[4:5], v[6:7]",
      "v_mov_b32_dpp v1, v2 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf",
      "v_add_u32_sdwa v1, v2, v3 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1 src1_sel:DWORD",
      "global_load_dwordx4 v[4:7], v[0:1], off",
      "global_store_dword v[0:1], v2, off",
      "global_atomic_add v2, v[0:1], v3, off glc",
      "flat_load_dword v2, v[0:1]",
      "flat_atomic_swap v2, v[0:1], v3 glc",
      "ds_read_b64 v[2:3], v1",
      "ds_write_b32 v1, v2",
      "ds_add_rtn_u32 v3, v1, v2",
      "buffer_load_dword v2, v1, s[0:3], 0 offen",
      "buffer_store_dword v2, v1, s[0:3], 0 offen",
      "scratch_load_dword v2, v1, off",
  };
  enum { COUNT = sizeof texts / sizeof *texts };
  isa_prepare(state, ISA_PART, texts, sizeof *texts, COUNT);
  isa_wave_t *const t = isa_new(state, ISA_PART);
  gs_set_exec(&t->w, 0);
  for (size_t i = 0; i < COUNT; i++) {
    assert_int_equal(isa_run(t, texts[i]), GS_WAVE_RUNNING);
    isa_assert_only_changed(t, "");
  }
  /* Masks are written all the same: no lane, no bit. */
  (void)isa_run(t,
                "v_cmp_eq_u32 vcc, v1, v1\nv_add_co_u32 v1, s[10:11], v2, v3\nv_cmp_lg_f32 s[12:13], v1, v2");
  assert_true(gs_vcc(&t->w) == 0 && isa_s64(t, 10) == 0 && isa_s64(t, 12) == 0);
  isa_assert_only_changed(t, "vcc s[10:13]");
  isa_free(t);
}

/* Comparisons that write EXEC: a search in which lanes drop out one by one. */
static void test_cmpx_loop(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  set_lanes(t, 1, 1, GS_LANES);
  set_lanes(t, 2, 0, 1);
  assert_int_equal(isa_run(t, "s_mov_b64 s[2:3], exec\ns_mov_b32 s4, 0\n"
                              "loop: s_add_u32 s4, s4, 1\nv_add_u32 v2, v2, v1\n"
                              "v_cmpx_lt_u32 vcc, s4, v1\ns_cbranch_execnz loop\n"
                              "s_mov_b64 exec, s[2:3]"),
                   GS_WAVE_RUNNING);
  for (uint32_t l = 0; l < GS_LANES; l++)
    assert_int_equal(t->v[2].u32[l], l * (l ? l : 1));
  assert_int_equal(t->w.s.u32[4], GS_LANES - 1);
  assert_true(gs_exec(&t->w) == UINT64_MAX);
  isa_free(t);
}

/* Ballots and ranks: each active lane learns how many active lanes have a smaller number, and the total. */
static void test_ranks(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  static const uint64_t execs[] = {UINT64_MAX, 1, UINT64_C(0x8000000080000001), UINT64_C(0xfedcba9876543210)};
  for (size_t i = 0; i < sizeof execs / sizeof *execs; i++) {
    isa_reset(t, 0);
    gs_set_exec(&t->w, execs[i]);
    assert_int_equal(isa_run(t, "v_mbcnt_lo_u32_b32 v1, exec_lo, 0\nv_mbcnt_hi_u32_b32 v1, exec_hi, v1\n"
                                "s_bcnt1_i32_b64 s4, exec\ns_ff1_i32_b64 s5, exec\ns_flbit_i32_b64 s6, exec\n"
                                "v_readfirstlane_b32 s7, v1"),
                     GS_WAVE_RUNNING);
    uint32_t rank = 0, first = GS_LANES, last = 0;
    for (unsigned l = 0; l < GS_LANES; l++)
      if (execs[i] >> l & 1) {
        assert_int_equal(t->v[1].u32[l], rank++);
        first = l < first ? l : first;
        last = l;
      }
    assert_int_equal(t->w.s.u32[4], rank);
    assert_int_equal(t->w.s.u32[5], first);
    assert_int_equal(t->w.s.u32[6], GS_LANES - 1 - last);
    assert_int_equal(t->w.s.u32[7], 0);
    isa_assert_lanes_kept(t, 1, 1, execs[i]);
  }
  isa_free(t);
}

/* A loop over all lanes by number, active or not. */
static void test_readlane_loop(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  uint32_t sum = 0;
  for (unsigned l = 0; l < GS_LANES; l++)
    sum += t->v[1].u32[l];
  gs_set_exec(&t->w, 0);
  assert_int_equal(isa_run(t, "s_mov_b32 s2, 0\ns_mov_b32 s3, 0\n"
                              "loop: v_readlane_b32 s4, v1, s3\ns_add_u32 s2, s2, s4\n"
                              "v_writelane_b32 v2, s3, s3\ns_add_u32 s3, s3, 1\n"
                              "s_cmp_lt_u32 s3, 64\ns_cbranch_scc1 loop"),
                   GS_WAVE_RUNNING);
  assert_int_equal(t->w.s.u32[2], sum);
  for (unsigned l = 0; l < GS_LANES; l++)
    assert_int_equal(t->v[2].u32[l], l);
  isa_assert_only_changed(t, "s[2:4] v2 scc");
  isa_free(t);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      isa_part_test(test_random_programs), isa_part_test(test_waterfall),
      isa_part_test(test_no_lanes),        isa_part_test(test_cmpx_loop),
      isa_wide_part_test(test_ranks),      isa_wide_part_test(test_readlane_loop),
  };
  return isa_main(tests, sizeof tests / sizeof *tests);
}
