/* That blocks which pass the checker's tool "init" unseen (check/init_pass.c) leave it as it would be if it
 * had followed each of their instructions: random instructions on registers, a few at a time, from random
 * undefined bits. Not here: whether it follows one instruction rightly (test_init.c). */
#include "harness.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check/digest.h"
#include "check/init.h"
#include "random_code.h"

enum { BLOCKS = 2500, MOST = 6, NAMED = 32, MOST_OPCODES = 2048 };

typedef struct bench {
  isa_wave_t *t;
  gs_check_t *check;
  gs_wave_flow_t *f, *before_f, *followed; /* in hand, before the block, and behind its instructions */
  gs_row_t *before_v;
  gs_wave_t before;
  random_t random;
  const gs_opcode_t *opcode[MOST_OPCODES];
  unsigned opcodes, often; /* the first ones are chosen more often */
  gs_inst_t in[MOST];
  gs_digest_t digest[MOST];
  gs_passage_t passage[MOST];
  unsigned count;
} bench_t;

/* What tells blocks apart: EXEC, SCC and masks. */
static bool is_often(const gs_opcode_t *op) {
  static const char *const names[] = {
      "v_mov_b32",  "v_cndmask_b32", "v_cmpx_eq_u32", "v_cmp_eq_u32", "s_and_savee",  "s_mov_b",
      "s_cmp_eq_u", "s_cselect_b",   "s_addc_u32",    "s_cbranch_sc", "s_cbranch_vc", "v_readlane",
      "v_readfirs", "v_writelane",   "v_div_fmas_f3", "v_addc_co_u3", "v_swap_b32",   "v_add_co_ci"};
  bool found = false;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    found |= strncmp(op->name, names[i], strlen(names[i])) == 0;
  return found;
}

static void list_opcodes(bench_t *b, gs_target_t target, bool often) {
  for (size_t i = 0; i < gs_opcode_count; i++) {
    const gs_opcode_t *op = &gs_opcodes[i];
    if (op->targets & target && op->encoding <= GS_ENC_VINTERP && op->encoding != GS_ENC_SMEM &&
        is_often(op) == often && b->opcodes < MOST_OPCODES)
      b->opcode[b->opcodes++] = op;
  }
}
static void find_opcodes(bench_t *b, gs_target_t target) {
  list_opcodes(b, target, true);
  b->often = b->opcodes;
  list_opcodes(b, target, false);
}

static void *new_lines(size_t bytes) {
  void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
  assert_non_null(memory);
  memset(memory, 0, bytes);
  return memory;
}

static void begin(bench_t *b, void **state) {
  const gs_options_t options = {.check = GS_CHECK_INIT};
  memset(b, 0, sizeof *b);
  b->t = isa_new(state, ISA_PART);
  b->random = (random_t){.state = 1, .few = true};
  assert_int_equal(gs_check_create(&options, &b->check), 0);
  b->f = new_lines(sizeof *b->f);
  b->before_f = new_lines(sizeof *b->f);
  b->followed = new_lines(sizeof *b->f);
  b->before_v = new_lines(GS_VGPRS * sizeof *b->before_v);
  b->t->env.watch = &b->check->internal; /* which tells of nothing */
  b->t->w.flow = b->f;
  find_opcodes(b, b->t->env.target);
}

static void end(bench_t *b) {
  free(b->f);
  free(b->before_f);
  free(b->followed);
  free(b->before_v);
  b->t->env.watch = NULL;
  isa_free(b->t);
  gs_check_destroy(b->check);
}

/* ---- Blocks and what is before them ---- */

/* s_mov_b64 exec, -1: random instructions mostly take lanes away. */
static void set_all_lanes(const bench_t *b, uint32_t words[3]) {
  for (unsigned i = 0; i < b->often; i++)
    if (strcmp(b->opcode[i]->name, "s_mov_b64") == 0)
      words[0] = 0xbe8000c1 | GS_S_EXEC << 16 | (uint32_t)b->opcode[i]->number << 8;
}

static bool add_instruction(bench_t *b, void **state) {
  const gs_target_t target = b->t->env.target;
  uint32_t words[3] = {0};
  gs_inst_t *in = &b->in[b->count];
  gs_digest_t *digest = &b->digest[b->count];
  const unsigned choices = random_one_in(&b->random, 2) ? b->often : b->opcodes;
  random_encoding(&b->random, target, b->opcode[random_below(&b->random, choices)], words);
  if (random_one_in(&b->random, 8))
    set_all_lanes(b, words);
  if (!gs_decode(target, words, 3, in) || in->op->flags & GS_OPF_ILLEGAL)
    return false;
  in->fn = gs_handler_fn(&isa_handlers(state)[in->op - gs_opcodes]);
  b->check->watch.digest(b->check, target, in, digest);
  if (digest->passing == GS_PASSES_NOT)
    return false;
  b->passage[b->count++] = (gs_passage_t){ISA_CODE, digest, in};
  return true;
}

static void make_block(bench_t *b, void **state) {
  const unsigned wanted = 1 + random_below(&b->random, MOST);
  b->count = 0;
  do
    while (!add_instruction(b, state))
      continue;
  while (b->count < wanted && b->digest[b->count - 1].passing == GS_PASSES);
}

static void undefine_row(bench_t *b, unsigned reg, uint64_t exec) {
  gs_wave_flow_t *f = b->f;
  const uint64_t inactive = random_one_in(&b->random, 2) ? ~exec : UINT64_MAX;
  f->rows[reg / 64] |= UINT64_C(1) << reg % 64;
  if (random_one_in(&b->random, 3)) {
    f->fresh[reg / 64] |= UINT64_C(1) << reg % 64;
    return;
  }
  for (unsigned l = 0; l < GS_LANES; l++) {
    f->bits[reg].u32[l] = inactive >> l & 1 ? 1 + random_bits(&b->random) / 2 : 0;
    f->origin[reg].u32[l] = 1;
  }
  gs_flow_settle(f, reg);
}

static void set_up(bench_t *b) {
  gs_wave_t *w = &b->t->w;
  random_t *r = &b->random;
  memset(b->f, 0, sizeof *b->f);
  b->f->all = UINT64_MAX >> (64 - gs_wave_lanes(w));
  const uint64_t some = random_bits(r) | (uint64_t)random_bits(r) << 32;
  gs_set_exec(w, random_one_in(r, 3) ? some : random_one_in(r, 16) ? 0 : UINT64_MAX);
  for (unsigned reg = 0; reg < NAMED; reg++)
    for (unsigned l = 0; l < GS_LANES; l++)
      w->v[reg].u32[l] = random_bits(r);
  for (unsigned reg = 0; reg < NAMED; reg++)
    w->s.u32[reg] = random_bits(r);
  const unsigned rare = random_one_in(r, 2) ? 3 : 12;
  for (unsigned reg = 0; reg < NAMED; reg++) {
    if (random_one_in(r, rare))
      undefine_row(b, reg, gs_exec(w));
    if (random_one_in(r, 2 * rare))
      gs_flow_set_scalar(b->f, reg, random_bits(r), 1);
  }
  for (unsigned i = 0; i < 2; i++) {
    w->s.u32[GS_S_VCC + i] = random_one_in(r, 2) ? random_bits(r) : 0;
    if (random_one_in(r, rare))
      gs_flow_set_scalar(b->f, GS_S_VCC + i, random_bits(r), 1);
  }
  b->f->scc = random_one_in(r, 4);
  w->state = GS_WAVE_RUNNING;
  w->pc = ISA_CODE;
}

static void save(bench_t *b) {
  b->before = b->t->w;
  memcpy(b->before_v, b->t->w.v, GS_VGPRS * sizeof *b->before_v);
  memcpy(b->before_f, b->f, sizeof *b->f);
}
static void restore(bench_t *b) {
  b->t->w = b->before;
  memcpy(b->t->w.v, b->before_v, GS_VGPRS * sizeof *b->before_v);
  memcpy(b->f, b->before_f, sizeof *b->f);
}

/* ---- Both ways ---- */

/* Returns false when an instruction cannot be executed. */
static bool follow_each(bench_t *b) {
  gs_wave_t *w = &b->t->w;
  const bool digested = random_one_in(&b->random, 2);
  for (unsigned i = 0; i < b->count && w->state == GS_WAVE_RUNNING; i++) {
    w->pc = ISA_CODE + b->in[i].size;
    b->check->watch.execute(w, &b->in[i], digested ? &b->digest[i] : NULL);
  }
  return w->state == GS_WAVE_RUNNING;
}

/* Whether it passes; `apart` says that it has nothing at all to do with what is undefined. */
static bool pass(bench_t *b, bool *apart) {
  gs_wave_t *w = &b->t->w;
  const gs_watch_t *watch = &b->check->watch;
  void *sum = watch->sum(watch->context, b->t->env.target, b->passage, b->count);
  assert_non_null(sum);
  const bool passes = b->check->internal.pass(w, sum);
  free(sum);
  *apart = !memcmp(b->f, b->before_f, sizeof *b->f);
  for (unsigned i = 0; i < b->count && passes; i++) {
    w->pc = ISA_CODE + b->in[i].size;
    b->in[i].fn(w, &b->in[i]);
  }
  return passes;
}

/* ---- Comparing ---- */

static uint32_t bits_of(const gs_wave_flow_t *f, unsigned reg, unsigned lane) {
  const bool marked = f->rows[reg / 64] >> reg % 64 & 1, fresh = f->fresh[reg / 64] >> reg % 64 & 1;
  return !marked || !(f->all >> lane & 1) ? 0 : fresh ? UINT32_MAX : f->bits[reg].u32[lane];
}
static uint32_t scalar_bits_of(const gs_wave_flow_t *f, unsigned reg) {
  return f->scalars[reg / 64] >> reg % 64 & 1 ? f->s[reg] : 0;
}

static void differ(const bench_t *b, const char *what, unsigned reg, unsigned lane, uint32_t passed,
                   uint32_t followed) {
  char text[128 * MOST] = "";
  for (unsigned i = 0; i < b->count; i++)
    snprintf(text + strlen(text), sizeof text - strlen(text),
             "  %s (form %u) dst %u sdst %u src %u, %u, %u\n", b->in[i].op->name, b->in[i].form, b->in[i].dst,
             b->in[i].sdst, b->in[i].src[0].reg, b->in[i].src[1].reg, b->in[i].src[2].reg);
  fail_msg("%s%u, lane %u: undefined are %08" PRIx32 " where the block passes, %08" PRIx32
           " where its instructions are followed; EXEC %016" PRIx64 "\n%s",
           what, reg, lane, passed, followed, b->before.s.u64[GS_S_EXEC / 2], text);
}

static void compare(const bench_t *b) {
  for (unsigned reg = 0; reg < GS_VGPRS; reg++)
    for (unsigned l = 0; l < GS_LANES; l++) {
      const uint32_t passed = bits_of(b->f, reg, l), followed = bits_of(b->followed, reg, l);
      if (passed != followed)
        differ(b, "v", reg, l, passed, followed);
    }
  for (unsigned reg = 0; reg < GS_SGPRS; reg++)
    if (scalar_bits_of(b->f, reg) != scalar_bits_of(b->followed, reg))
      differ(b, "s", reg, 0, scalar_bits_of(b->f, reg), scalar_bits_of(b->followed, reg));
  if (!b->f->scc != !b->followed->scc)
    differ(b, "scc", 0, 0, b->f->scc, b->followed->scc);
}

static void test_blocks_that_pass(void **state) {
  static bench_t b;
  unsigned passed = 0, defining = 0;
  begin(&b, state);
  for (unsigned block = 0; block < BLOCKS; block++) {
    bool apart;
    make_block(&b, state);
    set_up(&b);
    save(&b);
    if (!follow_each(&b)) {
      restore(&b);
      continue;
    }
    memcpy(b.followed, b.f, sizeof *b.f);
    restore(&b);
    if (pass(&b, &apart)) {
      compare(&b);
      passed++;
      defining += !apart;
    }
    restore(&b);
  }
  if (passed < BLOCKS / 4 || defining < BLOCKS / 20)
    fail_msg("of %d blocks %u passed, and %u defined something", BLOCKS, passed, defining);
  end(&b);
}

int main(void) {
  static const struct CMUnitTest tests[] = {isa_part_test_on(test_blocks_that_pass, GS_GFX9_11)};
  return isa_main(tests, sizeof tests / sizeof *tests);
}
