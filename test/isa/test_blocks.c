/* Two ways to execute the same code: blocks of random instructions with loops and branches, from random
 * registers, run instruction by instruction, each handler called from here, and on a device, as
 * GFXSIM_TRANSLATE says that it shall execute. Registers, memory, LDS, faults and the program counter must be
 * the same, bit by bit; of every second block, registers that code names only if it comes to its end, as
 * translated code leaves out what nobody would read otherwise (translate/live.h). And: whatever opcode goes
 * wrong on one side, the comparison notices.
 *
 * test_blocks [--blocks=N] [--seed=N] [--part=NAME] [--falsify=OPCODE]
 *   blocks of each part (default 5000), seed of the first block (1; the next has the next), one part only,
 * and an opcode that one side executes wrongly. A block that differs is printed with what repeats it, and
 * once more without the instructions that don't matter. A fourth as many blocks are for strips
 * (translate/strip.h), and half as many for addresses that are worked out (translate/rows_linear.c).
 *
 * Not here: what instructions should do (the other tests), and the random words (random_code.c). */
#include "harness.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "isa/dual.h"
#include "random_code.h"
#include "translate/live.h"

enum {
  DEFAULT_BLOCKS = 5000,
  MOST_INSTRUCTIONS = 24,
  MOST_WORDS = 160,
  MOST_TRIES = 200,
  TURN = 4096, /* instructions, as exec/run.c has it: turns end at the same ones, however they are executed */
  MOST_SKIPPED = 6,    /* words that a branch jumps over */
  MOST_STEPS = 200000, /* of a block; one that takes more jumped into a literal and is not compared */
  NAMED = 32, /* scalar registers, and half as many vector registers, that random code mostly names */
  COUNTER = 99,
  LINK = 96, /* where calls keep the address to return to */
};

static struct {
  unsigned long blocks;
  uint64_t seed;
  const char *part, *falsify;
} arguments = {.blocks = DEFAULT_BLOCKS, .seed = 1};

/* A block, as words. `start` is where each instruction begins. */
typedef struct block {
  uint32_t words[MOST_WORDS];
  size_t count;
  size_t start[MOST_WORDS];
  size_t instructions;
  bool loops;     /* and counts the turns in a scalar register */
  bool at_edge;   /* all lanes are active, and the first pair of addresses is near the memory's end */
  bool is_linear; /* all lanes are active, and rows have steps */
} block_t;

/* The two sides. */
typedef struct sides {
  isa_wave_t *steps, *device;
  gs_target_t target;
  const gs_opcode_t **plain, **memory; /* opcodes to choose from */
  size_t plain_count, memory_count;
  uint64_t steps_waited, device_waited; /* where the waves waited, as sums */
  gs_looks_t looks, looked;             /* at the device's registers: now, and when the code was translated */
} sides_t;

/* ---- Random blocks ---- */

/* Control flow is made below, so that every block ends. */
static bool is_left_out(const char *name) {
  static const char *const names[] = {"s_branch", "s_cbranch",   "s_setpc", "s_swappc",
                                      "s_call",   "s_subvector", "s_rfe",   "s_endpgm"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strncmp(name, names[i], strlen(names[i])) == 0)
      return true;
  return false;
}

static bool may_write(const gs_inst_t *in, unsigned reg) {
  const unsigned widest = 16;
  const uint8_t e = in->op->encoding;
  const bool scalar = e <= GS_ENC_SMEM || e == GS_ENC_VOPC || (in->op->flags & GS_OPF_SCALAR_DST);
  return (scalar && in->dst <= reg && reg < in->dst + widest) || (in->sdst <= reg && reg < in->sdst + 2U) ||
         strstr(in->op->name, "movrel");
}

static const gs_opcode_t *find_opcode(gs_target_t target, const char *name) {
  for (size_t i = 0; i < gs_opcode_count; i++)
    if ((gs_opcodes[i].targets & target) && strcmp(gs_opcodes[i].name, name) == 0)
      return &gs_opcodes[i];
  return NULL;
}

static void append(block_t *b, const uint32_t *words, size_t count) {
  b->start[b->instructions++] = b->count;
  memcpy(b->words + b->count, words, count * sizeof *words);
  b->count += count;
}

static void append_scalar(block_t *b, gs_target_t target, const char *name, uint32_t rest) {
  const gs_opcode_t *const op = find_opcode(target, name);
  if (!op)
    fail_msg("no %s on %s", name, gs_target_name(target));
  const uint32_t n = op->number;
  const uint32_t word = op->encoding == GS_ENC_SOP1   ? 0xbe800000 | n << 8
                        : op->encoding == GS_ENC_SOP2 ? 0x80000000 | n << 23
                        : op->encoding == GS_ENC_SOPK ? 0xb0000000 | n << 23
                        : op->encoding == GS_ENC_SOPC ? 0xbf000000 | n << 16
                                                      : 0xbf800000 | n << 16;
  append(b, (const uint32_t[]){word | rest}, 1);
}

/* One of `op`, or of any if NULL; nothing when chance finds none. */
static void append_random(const sides_t *s, random_t *r, const gs_opcode_t *op, block_t *b) {
  gs_inst_t in;
  uint32_t words[3];
  for (unsigned i = 0; i < MOST_TRIES; i++) {
    const bool memory = random_one_in(r, 6);
    const gs_opcode_t *const any = memory ? s->memory[random_below(r, (uint32_t)s->memory_count)]
                                          : s->plain[random_below(r, (uint32_t)s->plain_count)];
    random_encoding(r, s->target, op ? op : any, words);
    if (!gs_decode(s->target, words, 3, &in) || is_left_out(in.op->name) ||
        (b->loops && may_write(&in, COUNTER)) || (op && in.op != op) ||
        ((in.op->flags & GS_OPF_ILLEGAL) && !random_one_in(r, 32)))
      continue;
    append(b, words, in.size / 4);
    return;
  }
}

/* A branch over the next few words, to whatever they are. */
static void append_branch(const sides_t *s, random_t *r, block_t *b) {
  static const char *const names[] = {"s_branch",        "s_cbranch_scc0",  "s_cbranch_scc1",
                                      "s_cbranch_vccz",  "s_cbranch_vccnz", "s_cbranch_execz",
                                      "s_cbranch_execnz"};
  append_scalar(b, s->target, names[random_below(r, sizeof names / sizeof *names)],
                1 + random_below(r, MOST_SKIPPED));
}

/* Calls a function of one instruction, the return. */
static void append_call(const sides_t *s, block_t *b) {
  append_scalar(b, s->target, "s_call_b64", LINK << 16 | 1);
  append_scalar(b, s->target, "s_branch", 1);
  append_scalar(b, s->target, "s_setpc_b64", LINK);
}

static void append_run(const sides_t *s, random_t *r, unsigned count, block_t *b) {
  while (count--)
    switch (random_below(r, 20)) {
    case 0: append_branch(s, r, b); break;
    case 1:
      if (find_opcode(s->target, "s_call_b64"))
        append_call(s, b);
      break;
    default: append_random(s, r, NULL, b); break;
    }
}

static void append_nops(const sides_t *s, block_t *b, unsigned count) {
  while (count--)
    append_scalar(b, s->target, "s_nop", 0);
}

/* The end of a loop that begins with the word `back`. */
static void append_turn(const sides_t *s, block_t *b, size_t back) {
  append_scalar(b, s->target, "s_sub_u32", COUNTER << 16 | (128 + 1) << 8 | COUNTER);
  append_scalar(b, s->target, "s_cmp_lg_u32", 128 << 8 | COUNTER);
  append_scalar(b, s->target, "s_cbranch_scc1", (uint32_t)(back - b->count - 1) & 0xffff);
}

/* What is in a loop may branch to its end and no further, where it counts. */
static void append_loop(const sides_t *s, random_t *r, const gs_opcode_t *first, block_t *b) {
  const uint32_t turns = random_one_in(r, 128) ? 1000 : random_one_in(r, 8) ? 64 : 1 + random_below(r, 4);
  b->loops = true;
  append_scalar(b, s->target, "s_movk_i32", COUNTER << 16 | turns);
  const size_t back = b->count;
  if (first)
    append_random(s, r, first, b);
  append_run(s, r, random_below(r, first ? 4 : MOST_INSTRUCTIONS), b);
  append_nops(s, b, MOST_SKIPPED);
  append_turn(s, b, back);
  b->loops = false;
}

/* Its first random instruction is of `first`, unless that is NULL. The last words are those that an
 * instruction would have which begins in the middle of the last one. */
static void make_block(const sides_t *s, random_t *r, const gs_opcode_t *first, block_t *b) {
  *b = (block_t){.loops = false};
  if (random_one_in(r, 3))
    append_loop(s, r, first, b);
  else if (first)
    append_random(s, r, first, b);
  append_run(s, r, random_below(r, first ? 4 : MOST_INSTRUCTIONS / 2), b);
  append_nops(s, b, 3);
}

/* ---- Blocks for strips ----
 *
 * Many vector instructions in a row that share few scalar registers, as values and as masks, and more vector
 * registers than a strip has room for. */

static const char *const strip_ops[] = {
    "v_add_co_u32",    "v_addc_co_u32",   "v_add_co_ci_u32", "v_subb_co_u32",  "v_cmp_lt_u32",
    "v_cmp_gt_f32",    "v_cmp_ne_u64",    "v_cndmask_b32",   "v_xor_b32",      "v_lshlrev_b64",
    "v_fma_f32",       "v_fma_f64",       "v_mad_u64_u32",   "v_lshl_add_u32", "v_add_f32",
    "v_mul_f64",       "v_fmac_f32",      "v_pk_fma_f32",    "v_pk_add_f32",   "v_pk_mov_b32",
    "v_div_scale_f32", "v_div_scale_f64", "v_div_fmas_f32",  "v_div_fmas_f64", "v_div_fixup_f32",
    "v_div_fixup_f64", "v_cmp_class_f32", "v_cmp_class_f64"};

/* Registers of masks; EXEC seldom, as code behind it looks at it anew. */
static uint32_t strip_mask(random_t *r, bool is_written) {
  static const uint8_t masks[] = {0, 1, 2, 4, GS_S_VCC};
  return is_written && random_one_in(r, 16) ? GS_S_EXEC : masks[random_below(r, sizeof masks)];
}

static uint32_t strip_operand(random_t *r, bool may_be_scalar) {
  enum { ROWS = 60, FIRST_ROW = 256, INLINE = 128 };
  if (may_be_scalar && random_one_in(r, 3))
    return random_one_in(r, 2) ? random_below(r, 6) : INLINE + random_below(r, 80);
  return FIRST_ROW + random_below(r, random_one_in(r, 2) ? 8 : ROWS);
}

/* In its VOP3 form, with the carry or mask that it writes, if any; nothing where the part has no such form.
 */
static void append_vop3(const sides_t *s, const gs_opcode_t *op, uint32_t dst, uint32_t sdst,
                        const uint32_t src[3], uint32_t more, block_t *b) {
  const uint32_t number = op->number + (op->encoding == GS_ENC_VOP2 ? 256U : 0U);
  const uint32_t base = op->encoding == GS_ENC_VOP3P ? 0xd3800000
                        : s->target & GS_GFX9        ? 0xd0000000
                                                     : 0xd4000000;
  const uint32_t words[3] = {base | number << 16 | (op->flags & GS_OPF_SDST ? sdst << 8 : 0) | dst,
                             src[0] | src[1] << 9 | src[2] << 18 | more, 0};
  gs_inst_t in;
  if (gs_decode(s->target, words, 3, &in))
    append(b, words, 2);
}

static void append_strip_op(const sides_t *s, random_t *r, block_t *b) {
  const gs_opcode_t *op =
      find_opcode(s->target, strip_ops[random_below(r, sizeof strip_ops / sizeof *strip_ops)]);
  if (!op)
    return;
  uint32_t dst = op->encoding == GS_ENC_VOPC ? strip_mask(r, true) : strip_operand(r, false) & 255, more = 0;
  const uint32_t sdst = strip_mask(r, true), first = strip_operand(r, true), second = strip_operand(r, false);
  const uint32_t third = op->flags & GS_OPF_VCC_IN ? strip_mask(r, false)
                         : op->src[2]              ? strip_operand(r, false)
                                                   : 0;
  if (op->encoding == GS_ENC_VOP3P) { /* with any halves and signs */
    dst |= random_below(r, 128) << 8;
    more = random_below(r, 32) << 27;
  }
  append_vop3(s, op, dst, sdst, (const uint32_t[]){first, second, third}, more, b);
}

/* Pairs of registers that have addresses at first, and that strips' instructions seldom write; and one that
 * has offsets. */
enum { FIRST_ADDRESS = 8, ADDRESSES = 4, OFFSETS = 7 };

/* The address may be made by instructions right before: v_add_co_u32 and v_addc_co_u32, with names that
 * differ. */
static void append_address(const sides_t *s, random_t *r, unsigned pair, block_t *b) {
  const bool is_gfx9 = s->target & GS_GFX9;
  const gs_opcode_t *const low = find_opcode(s->target, "v_add_co_u32"), *const high = find_opcode(
                                                                             s->target,
                                                                             is_gfx9 ? "v_addc_co_u32"
                                                                                     : "v_add_co_ci_u32");
  enum { ROW = 256, INLINE = 128, VCC = GS_S_VCC };
  if (!low || !high)
    return;
  const uint32_t base = is_gfx9 ? 0xd0000000 : 0xd4000000;
  const uint32_t first = low->number + (low->encoding == GS_ENC_VOP2 ? 256U : 0U);
  append(b,
         (const uint32_t[]){base | first << 16 | VCC << 8 | pair,
                            (INLINE + 4 * random_below(r, 16)) | (ROW + pair) << 9},
         2);
  append(b,
         (const uint32_t[]){base | (high->number + 256U) << 16 | VCC << 8 | (pair + 1),
                            INLINE | (ROW + pair + 1) << 9 | (uint32_t)VCC << 18},
         2);
}

static const char *const strip_accesses[][2] = {
    {"flat_load_dword", "flat_load_b32"},       {"flat_load_dwordx2", "flat_load_b64"},
    {"flat_load_dwordx4", "flat_load_b128"},    {"global_load_dword", "global_load_b32"},
    {"global_load_dwordx2", "global_load_b64"}, {"global_load_dwordx4", "global_load_b128"},
    {"global_store_dword", "global_store_b32"}, {"flat_store_dwordx2", "flat_store_b64"}};
enum { LOAD_PAIR = 1, STRIP_LOADS = 6, STORE_PAIR = 7, STRIP_ACCESSES = 8 };

/* An access at the address in `pair`, to or from `row`. */
static void append_access(const sides_t *s, random_t *r, unsigned n, unsigned pair, unsigned row,
                          block_t *b) {
  const gs_opcode_t *const op = find_opcode(s->target, strip_accesses[n][(s->target & GS_GFX11) != 0]);
  gs_inst_t in;
  uint32_t words[3];
  if (!op)
    return;
  random_encoding(r, s->target, op, words);
  if (!random_one_in(r, 4))
    words[0] &= ~0x1fffU; /* no offset */
  words[1] = (words[1] & 0x00ff0000) | pair | row << 8 | row << 24;
  if (op->encoding == GS_ENC_GLOBAL && random_one_in(r, 2)) /* a base and offsets */
    words[1] = 2 * random_below(r, 8) << 16 | OFFSETS | row << 8 | row << 24;
  if (gs_decode(s->target, words, 3, &in) && in.op == op)
    append(b, words, in.size / 4);
}

static unsigned random_pair(random_t *r) {
  return FIRST_ADDRESS + 2 * random_below(r, ADDRESSES);
}

/* Loads, and now and then a store to where others load, or an address that is stored, loaded, and loaded
 * from. */
static void append_strip_access(const sides_t *s, random_t *r, block_t *b) {
  enum { ROWS = 40, FIRST_ROW = 16 };
  const unsigned pair = random_pair(r), row = random_one_in(r, 16)
                                                  ? random_below(r, FIRST_ROW)
                                                  : FIRST_ROW + 2 * random_below(r, ROWS / 2);
  if (random_one_in(r, 2))
    append_address(s, r, pair, b);
  if (random_one_in(r, 4)) {
    const unsigned to = random_pair(r);
    append_access(s, r, STORE_PAIR, pair, random_pair(r), b);
    append_access(s, r, LOAD_PAIR, pair, to, b);
    if (random_one_in(r, 2))
      append_address(s, r, to, b);
    append_access(s, r, random_below(r, STRIP_LOADS), to, row, b);
  } else {
    append_access(s, r, random_below(r, random_one_in(r, 4) ? STRIP_ACCESSES : STRIP_LOADS), pair, row, b);
  }
}

/* A mask that a scalar instruction reads. */
static uint32_t strip_source(random_t *r) {
  return random_one_in(r, 4) ? GS_S_EXEC : strip_mask(r, false);
}

/* What may be moved behind a strip, or not: scalar registers that are masks there, too, and waits. */
static void append_strip_scalar(const sides_t *s, random_t *r, block_t *b) {
  static const char *const names[] = {"s_add_u32",   "s_or_b64",       "s_and_b32",     "s_xor_b64",
                                      "s_and_b64",   "s_andn2_b64",    "s_or_b32",      "s_xor_b32",
                                      "s_andn2_b32", "s_and_not1_b64", "s_and_not1_b32"};
  const unsigned n = random_below(r, sizeof names / sizeof *names + 1);
  if (n == sizeof names / sizeof *names)
    append_scalar(b, s->target, "s_waitcnt", random_one_in(r, 2) ? 0 : random_below(r, 0x10000));
  else if (find_opcode(s->target, names[n]))
    append_scalar(b, s->target, names[n],
                  strip_mask(r, false) << 16 | strip_source(r) << 8 | strip_source(r));
  if (random_one_in(r, 4)) /* with a look at SCC */
    append_scalar(b, s->target, "s_cselect_b32", 5 << 16 | strip_source(r) << 8 | strip_source(r));
}

/* In a loop, as ranges of memory are known to translated code from the second time on. */
static void make_strips(const sides_t *s, random_t *r, block_t *b) {
  enum { MOST = 48, WORDS = 16 };
  const bool has_loads = !random_one_in(r, 4);
  *b = (block_t){.loops = false};
  append_scalar(b, s->target, "s_movk_i32", COUNTER << 16 | (1 + random_below(r, 4)));
  const size_t back = b->count;
  for (unsigned count = 8 + random_below(r, MOST); count && b->count + WORDS < MOST_WORDS - 6; count--)
    if (has_loads && random_one_in(r, 6))
      append_strip_access(s, r, b);
    else if (random_one_in(r, 8))
      append_strip_scalar(s, r, b);
    else
      append_strip_op(s, r, b);
  append_turn(s, b, back);
  append_nops(s, b, 3);
}

/* A load that comes to the memory's end in a loop, when ranges are known. */
static void make_edge(const sides_t *s, random_t *r, block_t *b) {
  enum { TURNS = 4, ROW = 16 };
  *b = (block_t){.at_edge = true};
  append_scalar(b, s->target, "s_movk_i32", COUNTER << 16 | TURNS);
  const size_t back = b->count;
  append_access(s, r, random_below(r, STRIP_LOADS), FIRST_ADDRESS, ROW, b);
  append_address(s, r, FIRST_ADDRESS, b);
  append_turn(s, b, back);
  append_nops(s, b, 3);
}

/* ---- Addresses that are worked out ----
 *
 * Rows of which each lane has a step more than the one before, what compilers make addresses of, and a load
 * from there (translate/rows_linear.c). */

enum { FIRST_LINEAR = 16, LINEAR_ROWS = 8, LAST_LINEAR = FIRST_LINEAR + LINEAR_ROWS - 1, LOADED = 32 };
/* Scalar registers: numbers, one of which brings the last lane back to the first; a mask, and the memory. */
enum { FACTORS = 4, BACK = 9, MASK = 10, BASE = 12, INLINE = 128, ROW = 256 };

static const char *const linear_ops[] = {
    "v_add_u32",        "v_add_nc_u32",    "v_sub_u32",      "v_sub_nc_u32",  "v_add3_u32",
    "v_mul_lo_u32",     "v_mul_u32_u24",   "v_mad_u32_u24",  "v_mad_u64_u32", "v_add_co_u32",
    "v_addc_co_u32",    "v_add_co_ci_u32", "v_sub_co_u32",   "v_subb_co_u32", "v_sub_co_ci_u32",
    "v_lshl_add_u64",   "v_lshlrev_b32",   "v_lshl_add_u32", "v_ashrrev_i32", "v_lshrrev_b32",
    "v_lshlrev_b64",    "v_ashrrev_i64",   "v_add_lshl_u32", "v_and_b32",     "v_or_b32",
    "v_lshl_or_b32",    "v_and_or_b32",    "v_cndmask_b32",  "v_min_u32",     "v_max_i32",
    "v_cmp_lt_u32",     "v_cmp_ne_u32",    "v_cmp_eq_i32",   "v_cmp_gt_i32",  "v_cmp_ge_u32",
    "v_cmp_le_i32",     "v_mul_hi_u32",    "v_mul_hi_i32",   "v_subrev_u32",  "v_subrev_co_u32",
    "v_subbrev_co_u32", "v_min_i32"};

static uint32_t linear_mask(random_t *r) {
  return random_one_in(r, 2) ? GS_S_VCC : 2 * random_below(r, 2);
}
/* Rows, scalar registers that have anything, and small numbers, which shift by a little. */
static uint32_t linear_operand(random_t *r, bool may_be_row) {
  if (may_be_row && !random_one_in(r, 3))
    return ROW + FIRST_LINEAR + random_below(r, LINEAR_ROWS);
  return random_one_in(r, 4) ? 4 + random_below(r, 6)
                             : INLINE + random_below(r, random_one_in(r, 3) ? 65 : 5);
}

static void append_linear_op(const sides_t *s, random_t *r, block_t *b) {
  const gs_opcode_t *op =
      find_opcode(s->target, linear_ops[random_below(r, sizeof linear_ops / sizeof *linear_ops)]);
  if (!op)
    return;
  const bool is_masked = op->flags & GS_OPF_VCC_IN;
  const uint32_t dst =
      op->encoding == GS_ENC_VOPC ? linear_mask(r) : FIRST_LINEAR + random_below(r, LINEAR_ROWS);
  const uint32_t first = linear_operand(r, true),
                 second = linear_operand(r, first < ROW || random_one_in(r, 2));
  const uint32_t third = is_masked ? linear_mask(r) : op->src[2] ? linear_operand(r, true) : 0;
  append_vop3(s, op, dst, linear_mask(r), (const uint32_t[]){first, second, third}, 0, b);
}

/* A mask of others, or of all lanes and another one. Mostly those are the same in all lanes, and the last row
 * depends on the result. */
static void append_linear_mask(const sides_t *s, random_t *r, block_t *b) {
  static const char *const names[] = {"s_and", "s_or", "s_xor", "s_andn2", "s_and_not1"};
  const gs_opcode_t *const product = find_opcode(s->target, "v_mul_lo_u32"),
                           *const compare = find_opcode(s->target, "v_cmp_ne_u32"),
                           *const choose = find_opcode(s->target, "v_cndmask_b32");
  const uint32_t first = random_one_in(r, 3) ? GS_S_EXEC : linear_mask(r), second = linear_mask(r),
                 dst = linear_mask(r);
  char name[16];
  (void)snprintf(name, sizeof name, "%s_b%u", names[random_below(r, sizeof names / sizeof *names)],
                 gs_target_lanes(s->target));
  if (!find_opcode(s->target, name) || !product || !compare || !choose)
    return;
  append_vop3(s, product, LAST_LINEAR, 0, (const uint32_t[]){INLINE, ROW + LAST_LINEAR, 0}, 0, b);
  if (first != GS_S_EXEC)
    append_vop3(s, compare, first, 0, (const uint32_t[]){INLINE + random_below(r, 2), ROW + LAST_LINEAR, 0},
                0, b);
  append_vop3(s, compare, second, 0, (const uint32_t[]){INLINE + random_below(r, 2), ROW + LAST_LINEAR, 0}, 0,
              b);
  append_scalar(b, s->target, name,
                dst << 16 | (random_one_in(r, 3) ? second | first << 8 : first | second << 8));
  if (!random_one_in(r, 3))
    append_vop3(
        s, choose, LAST_LINEAR, 0,
        (const uint32_t[]){ROW + FIRST_LINEAR + random_below(r, LINEAR_ROWS), linear_operand(r, true), dst},
        0, b);
}

/* The quotient of a row by a constant, as compilers have it, or nearly, in the last row. */
static void append_quotient(const sides_t *s, random_t *r, block_t *b) {
  static const char *const products[] = {"v_mul_hi_u32", "v_mul_hi_i32", "v_mul_lo_u32"};
  const gs_opcode_t *product = find_opcode(s->target, products[random_below(r, 3)]);
  const gs_opcode_t *sum = find_opcode(s->target, s->target & GS_GFX9 ? "v_add_u32" : "v_add_nc_u32");
  const gs_opcode_t *shift = find_opcode(s->target, random_one_in(r, 2) ? "v_ashrrev_i32" : "v_lshrrev_b32");
  const uint32_t from = ROW + FIRST_LINEAR + random_below(r, LINEAR_ROWS - 1), to = LAST_LINEAR;
  const uint32_t factor = random_one_in(r, 3) ? BACK : FACTORS + random_below(r, 5);
  if (!product || !sum || !shift)
    return;
  append_vop3(s, product, to, 0, (const uint32_t[]){from, factor, 0}, 0, b);
  if (random_one_in(r, 2))
    append_vop3(s, sum, to, 0, (const uint32_t[]){ROW + to, from, 0}, 0, b);
  append_vop3(s, shift, to, 0, (const uint32_t[]){INLINE + random_below(r, 12), ROW + to, 0}, 0, b);
}

/* Loads from where a row says, behind the base in scalar registers. */
static void append_linear_load(const sides_t *s, random_t *r, block_t *b) {
  const bool is_gfx9 = s->target & GS_GFX9;
  const unsigned row = random_one_in(r, 3) ? LAST_LINEAR : FIRST_LINEAR + random_below(r, LINEAR_ROWS);
  const unsigned low = FIRST_ADDRESS, high = low + 1;
  const gs_opcode_t *bits = find_opcode(s->target, "v_and_b32"),
                    *shift = find_opcode(s->target, "v_lshlrev_b32"),
                    *sum = find_opcode(s->target, "v_add_co_u32"),
                    *carry = find_opcode(s->target, is_gfx9 ? "v_addc_co_u32" : "v_add_co_ci_u32");
  if (!bits || !shift || !sum || !carry)
    return;
  append_vop3(s, bits, OFFSETS, 0, (const uint32_t[]){MASK, ROW + row, 0}, 0, b);
  append_vop3(s, shift, OFFSETS, 0, (const uint32_t[]){INLINE + random_below(r, 5), ROW + OFFSETS, 0}, 0, b);
  append_vop3(s, bits, high, 0, (const uint32_t[]){BASE + 1, BASE + 1, 0}, 0, b);
  append_vop3(s, sum, low, GS_S_VCC, (const uint32_t[]){BASE, ROW + OFFSETS, 0}, 0, b);
  append_vop3(s, carry, high, GS_S_VCC, (const uint32_t[]){INLINE, ROW + high, GS_S_VCC}, 0, b);
  append_access(s, r, random_below(r, STRIP_LOADS), FIRST_ADDRESS, LOADED + 4 * random_below(r, 4), b);
}

static void make_linear(const sides_t *s, random_t *r, block_t *b) {
  enum { TURNS = 3, MOST = 6 };
  *b = (block_t){.is_linear = true};
  append_scalar(b, s->target, "s_movk_i32", COUNTER << 16 | TURNS);
  const size_t back = b->count;
  for (unsigned loads = 1 + random_below(r, 3); loads; loads--) {
    for (unsigned count = random_below(r, MOST); count; count--)
      if (random_one_in(r, 6))
        append_linear_mask(s, r, b);
      else
        append_linear_op(s, r, b);
    if (random_one_in(r, 3))
      append_quotient(s, r, b);
    append_linear_load(s, r, b);
  }
  append_turn(s, b, back);
  append_nops(s, b, 3);
}

/* ---- Registers to begin with ---- */

/* A row of one kind of values. */
static void fill_row(isa_wave_t *t, random_t *r, unsigned v) {
  const size_t at = random_bits(r) % 64;
  switch (random_below(r, 6)) {
  case 0: isa_fill32(&t->v[v], isa_u32_edges, isa_u32_edge_count, 1, at); break;
  case 1: isa_fill32(&t->v[v], isa_f32_edges, isa_f32_edge_count, 1, at); break;
  case 2: isa_fill32(&t->v[v], isa_f16_edges, isa_f16_edge_count, 1, at); break;
  case 3: isa_fill64(&t->v[v & ~1U], isa_f64_edges, isa_f64_edge_count, 1, at); break;
  case 4:
    for (unsigned l = 0; l < GS_LANES; l++)
      t->v[v].u32[l] = random_below(r, 1U << (4 + at % 12)); /* offsets */
    break;
  default: break; /* as isa_reset has it */
  }
}

/* How far from the memory's end addresses begin: anywhere near, or so that the last of 32 or 64 lanes has its
 * first bytes there, or comes there in a loop that goes on from address to address. */
static uint64_t from_end(random_t *r, uint32_t stride) {
  return random_one_in(r, 2) ? random_below(r, 2048)
                             : (random_one_in(r, 2) ? 63 : 31) * stride + 4 * random_below(r, 24);
}

/* Addresses in reach, mostly, one after the other or anywhere, or the same; now and then at the memory's end.
 */
static void fill_addresses(isa_wave_t *t, random_t *r, unsigned v) {
  const uint32_t stride = random_one_in(r, 4)   ? random_below(r, 64)
                          : random_one_in(r, 4) ? 0
                                                : 4U << random_below(r, 3);
  const uint64_t base = ISA_MEMORY + (random_one_in(r, 8) ? ISA_MEMORY_BYTES - from_end(r, stride)
                                                          : random_below(r, ISA_MEMORY_BYTES - 4096));
  for (unsigned l = 0; l < GS_LANES; l++)
    isa_set_u64(&t->v[v], l, (base & (random_one_in(r, 64) ? UINT64_MAX : ~UINT64_C(3))) + l * stride);
}

static void fill_scalars(isa_wave_t *t, random_t *r) {
  for (unsigned s = 0; s < NAMED; s += 2)
    if (random_one_in(r, 2))
      isa_set_s64(t, s, ISA_MEMORY + 4 * random_below(r, ISA_MEMORY_BYTES / 8));
    else if (random_one_in(r, 2))
      isa_set_s64(t, s, isa_u64_edges[random_below(r, (uint32_t)isa_u64_edge_count)]);
  const unsigned buffer = 4 * random_below(r, NAMED / 4);
  isa_set_s64(t, buffer, ISA_MEMORY | (uint64_t)random_below(r, 32) << 48);
  t->w.s.u32[buffer + 2] = ISA_MEMORY_BYTES / 2;
  isa_set_s64(t, GS_S_FLAT_SCRATCH, ISA_MEMORY + ISA_MEMORY_BYTES / 2);
  isa_set_s64(t, GS_S_SCRATCH_BASE, ISA_MEMORY + ISA_MEMORY_BYTES / 2);
  t->w.s.u32[GS_S_M0] = random_one_in(r, 2) ? random_below(r, 8) : random_bits(r);
  t->w.scc = random_below(r, 2);
}

static uint64_t random_mask(random_t *r) {
  const uint64_t any = (uint64_t)random_bits(r) << 32 | random_bits(r);
  switch (random_below(r, 8)) {
  case 0: return any;
  case 1: return any & UINT32_MAX;
  case 2: return UINT64_C(1) << any % 64;
  case 3: return random_one_in(r, 4) ? 0 : any | any << 1;
  default: return UINT64_MAX;
  }
}

/* The same for both sides. */
static void fill(const sides_t *s, random_t *r) {
  isa_wave_t *const a = s->steps, *const b = s->device;
  isa_reset(a, random_bits(r) % 4096);
  for (unsigned v = 0; v < NAMED / 2; v++)
    fill_row(a, r, v);
  for (unsigned i = 0; i < 4; i++)
    fill_addresses(a, r, 2 * random_below(r, NAMED / 4));
  const uint32_t stride = random_one_in(r, 2) ? 0 : 4U << random_below(r, 3);
  for (unsigned l = 0; l < GS_LANES && stride; l++)
    a->v[OFFSETS].u32[l] = l * stride;
  for (unsigned i = 0; i < ADDRESSES; i++)
    if (!random_one_in(r, 8))
      fill_addresses(a, r, FIRST_ADDRESS + 2 * i);
  fill_scalars(a, r);
  gs_set_exec(&a->w, random_mask(r));
  if (gs_target_lanes(s->target) < GS_LANES)
    a->w.s.u32[GS_S_EXEC + 1] = 0;
  if (random_one_in(r, 3))
    gs_wave_set_mode(&a->w, random_bits(r) & (GS_MODE_FP_MASK | GS_MODE_DX10_CLAMP | GS_MODE_IEEE));
  a->env.lds_bytes = b->env.lds_bytes = random_one_in(r, 4) ? random_below(r, ISA_LDS_BYTES) : ISA_LDS_BYTES;
  b->w = a->w;
  b->w.v = b->v;
  b->w.env = &b->env;
  b->interrupts = a->interrupts;
  b->interrupt_id = a->interrupt_id;
  memcpy(b->v, a->v, sizeof a->v);
  memcpy(b->lds, a->lds, sizeof a->lds);
  memcpy(b->memory, a->memory, sizeof a->memory);
  memcpy(b->readonly, a->readonly, sizeof a->readonly);
}

/* ---- Running and comparing ---- */

static bool may_go_on(const isa_wave_t *t) {
  return t->w.state != GS_WAVE_ENDED && t->w.state != GS_WAVE_FAULTED && t->w.pc >= ISA_CODE &&
         t->w.pc < ISA_CODE + t->code_bytes;
}

/* Where it waits joins the sum. Alone it goes on. */
static bool add_wait(uint64_t *sum, const isa_wave_t *t) {
  const bool waits = t->w.state == GS_WAVE_YIELDED || t->w.state == GS_WAVE_BARRIER;
  if (waits)
    isa_add_place(sum, &t->w);
  return waits;
}

/* Returns false when the block takes too long; the other side has not run it then. */
static bool run_both(sides_t *s, const block_t *b) {
  s->steps_waited = s->device_waited = 0;
  s->steps->turns = s->device->turns = 0;
  isa_load(s->steps, b->words, b->count);
  isa_load(s->device, b->words, b->count);
  memcpy(s->steps->code, s->device->code, sizeof s->steps->code); /* what is behind can be read */
  for (unsigned steps = 0, turn = 0; may_go_on(s->steps); steps++) {
    if (steps == MOST_STEPS)
      return false;
    (void)gs_vm_reader_enter(&s->steps->reader); /* s_icache_inv makes a new snapshot */
    isa_step(s->steps);
    turn = add_wait(&s->steps_waited, s->steps) ? 0 : turn + 1;
    if (turn % TURN == 0 && s->steps->w.state == GS_WAVE_RUNNING && may_go_on(s->steps))
      isa_add_place(&s->steps->turns, &s->steps->w);
  }
  while (may_go_on(s->device)) {
    (void)isa_resume(s->device);
    (void)add_wait(&s->device_waited, s->device);
  }
  return true;
}

typedef struct difference {
  char text[128];
} difference_t;

static bool word_differs(difference_t *d, const char *name, uint64_t a, uint64_t b) {
  if (a != b && !d->text[0])
    (void)snprintf(d->text, sizeof d->text, "%s: 0x%" PRIx64 " by steps, 0x%" PRIx64 " on the device", name,
                   a, b);
  return a != b;
}

static bool bytes_differ(difference_t *d, const char *name, const uint8_t *a, const uint8_t *b, size_t size) {
  if (d->text[0] || memcmp(a, b, size) == 0)
    return false;
  size_t at = 0;
  while (a[at] == b[at])
    at++;
  char what[64];
  (void)snprintf(what, sizeof what, "%s byte 0x%zx", name, at);
  return word_differs(d, what, a[at], b[at]);
}

/* Where pairs may put what one part overwrites before the other has read it: no register of the part. */
static bool is_spare(const sides_t *s, unsigned row) {
  return (s->target & GS_GFX11) && row == GS_DUAL_ROW;
}

/* Whether somebody can see what no code would have read: of a wave that has faulted only who looks always. */
static bool shows_everything(const sides_t *s) {
  return s->looks == GS_LOOKS_ALWAYS || s->steps->w.state == GS_WAVE_ENDED;
}

/* Scalar registers that nothing but code that names them has to do with. */
static bool is_common(unsigned scalar) {
  return scalar < GS_S_FLAT_SCRATCH || scalar / 2 == GS_S_VCC / 2;
}

static void compare_registers(const sides_t *s, difference_t *d) {
  const isa_wave_t *const a = s->steps, *const b = s->device;
  char name[64];
  for (unsigned r = 0; r < GS_S_NULL && !d->text[0]; r++) {
    if (is_common(r) && !shows_everything(s))
      continue;
    (void)snprintf(name, sizeof name, "scalar register %u", r);
    (void)word_differs(d, name, a->w.s.u32[r], b->w.s.u32[r]);
  }
  for (unsigned r = 0; r < GS_VGPRS && shows_everything(s) && !d->text[0]; r++) {
    unsigned l = 0;
    if (is_spare(s, r) || memcmp(&a->v[r], &b->v[r], sizeof a->v[r]) == 0)
      continue;
    while (a->v[r].u32[l] == b->v[r].u32[l])
      l++;
    (void)snprintf(name, sizeof name, "%c%u lane %u", r < GS_ARCH_VGPRS ? 'v' : 'a', r % GS_ARCH_VGPRS, l);
    (void)word_differs(d, name, a->v[r].u32[l], b->v[r].u32[l]);
  }
}

/* Empty if nothing differs. */
static difference_t compare(const sides_t *s) {
  const isa_wave_t *const a = s->steps, *const b = s->device;
  difference_t d = {""};
  (void)word_differs(&d, "PC", a->w.pc, b->w.pc);
  (void)word_differs(&d, "state", a->w.state, b->w.state);
  (void)word_differs(&d, "kind of fault", a->w.fault.kind, b->w.fault.kind);
  (void)word_differs(&d, "address of fault", a->w.fault.address, b->w.fault.address);
  (void)word_differs(&d, "access of fault", a->w.fault.access, b->w.fault.access);
  (void)word_differs(&d, "lane of fault", a->w.fault.lane, b->w.fault.lane);
  if (shows_everything(s))
    (void)word_differs(&d, "SCC", a->w.scc, b->w.scc);
  (void)word_differs(&d, "MODE", a->w.mode, b->w.mode);
  (void)word_differs(&d, "TRAPSTS", a->w.trapsts, b->w.trapsts);
  (void)word_differs(&d, "interrupts", a->interrupts, b->interrupts);
  (void)word_differs(&d, "ends of turns", a->turns, b->turns);
  (void)word_differs(&d, "waits", s->steps_waited, s->device_waited);
  compare_registers(s, &d);
  (void)bytes_differ(&d, "LDS", a->lds, b->lds, sizeof a->lds);
  (void)bytes_differ(&d, "memory", a->memory, b->memory, sizeof a->memory);
  return d;
}

/* ---- Blocks that differ ---- */

typedef struct trial {
  difference_t difference;
  bool too_long;
} trial_t;

/* Both sides from the beginning; chance is where it was when the block had been made. */
static void fill_edge(const sides_t *s, random_t *r) {
  const uint32_t stride = 4U << random_below(r, 3), lanes = gs_target_lanes(s->target);
  const uint64_t base = ISA_MEMORY + ISA_MEMORY_BYTES - (lanes - 1) * stride - 4 * random_below(r, 24);
  for (unsigned l = 0; l < lanes; l++)
    isa_set_u64(&s->steps->v[FIRST_ADDRESS], l, base + l * stride);
  memcpy(s->device->v, s->steps->v, sizeof s->steps->v);
  gs_set_exec(&s->steps->w, lanes == GS_LANES ? UINT64_MAX : UINT32_MAX);
  gs_set_exec(&s->device->w, gs_exec(&s->steps->w));
}

/* A step by which the last lane has 3 more than the first, though those between are anywhere. */
static uint32_t step_back(unsigned lanes) {
  const uint64_t turns = lanes == 32 ? 7 : 15;
  return (uint32_t)(((turns << 32) + 3) / (lanes - 1));
}

/* Rows with steps, near 2^31 and 2^32, too. One in some is not quite what it seems to be. */
static void fill_linear_rows(const sides_t *s, random_t *r) {
  static const uint32_t near[] = {0, 0, 0, 1U << 31, UINT32_MAX - 200};
  const unsigned lanes = gs_target_lanes(s->target);
  for (unsigned v = FIRST_LINEAR; v <= LAST_LINEAR; v++) {
    const uint32_t first = near[random_below(r, 5)] + random_below(r, random_one_in(r, 2) ? 256 : 1U << 20);
    const uint32_t step = random_one_in(r, 3)    ? 0
                          : random_one_in(r, 16) ? step_back(lanes)
                          : random_one_in(r, 16) ? random_bits(r)
                                                 : 1U << random_below(r, 4);
    for (unsigned l = 0; l < lanes; l++)
      s->steps->v[v].u32[l] = first + l * step;
    if (random_one_in(r, 8))
      s->steps->v[v].u32[random_below(r, lanes)] += 1 + random_below(r, 4);
  }
}

static void fill_linear(const sides_t *s, random_t *r) {
  isa_wave_t *const t = s->steps;
  fill_linear_rows(s, r);
  for (unsigned i = 0; i < FACTORS; i++)
    isa_set_s64(t, i, random_one_in(r, 3) ? random_bits(r) : random_one_in(r, 2) ? 0 : UINT64_MAX);
  for (unsigned i = FACTORS; i < BACK; i++)
    t->w.s.u32[i] = random_one_in(r, 2) ? random_bits(r) : random_below(r, 2000);
  t->w.s.u32[BACK] = step_back(gs_target_lanes(s->target));
  t->w.s.u32[MASK] = UINT32_MAX >> (32 - 2 - random_below(r, 10));
  isa_set_s64(t, BASE,
              ISA_MEMORY + (random_one_in(r, 4) ? random_below(r, 4096) : 4 * random_below(r, 1024)));
  gs_set_exec(&t->w, gs_target_lanes(s->target) == GS_LANES ? UINT64_MAX : UINT32_MAX);
  gs_wave_set_mode(&t->w, GS_MODE_FP_DEFAULT | GS_MODE_IEEE); /* or nothing is translated */
  memcpy(s->device->v, t->v, sizeof t->v);
  s->device->w = t->w;
  s->device->w.v = s->device->v;
  s->device->w.env = &s->device->env;
}

/* What was translated for others to look at is translated anew, though it may be the same code. */
static void look(sides_t *s) {
  if (s->looks != s->looked)
    s->device->code_bytes = 0;
  s->looked = s->looks;
  isa_device_look(s->device->device, s->looks);
}

static trial_t try_block(sides_t *s, const block_t *b, random_t r) {
  trial_t trial = {.too_long = false};
  look(s);
  fill(s, &r);
  if (b->at_edge)
    fill_edge(s, &r);
  if (b->is_linear)
    fill_linear(s, &r);
  trial.too_long = !run_both(s, b);
  if (!trial.too_long)
    trial.difference = compare(s);
  return trial;
}

static void print_block(const sides_t *s, const block_t *b) {
  for (size_t i = 0; i < b->instructions; i++) {
    gs_inst_t in;
    char text[256];
    const size_t at = b->start[i];
    (void)gs_decode(s->target, b->words + at, b->count - at, &in);
    (void)gs_disassemble(s->target, &in, text, sizeof text);
    print_error("  %3zx:", 4 * at);
    for (unsigned word = 0; word < in.size / 4U; word++)
      print_error(" %08" PRIx32, b->words[at + word]);
    print_error("%*s%s\n", 30 - 9 * in.size / 4, "", text);
  }
}

/* Makes s_nop of the instructions that the difference does not need. */
static void reduce(sides_t *s, block_t *b, random_t r) {
  for (size_t i = 0; i < b->instructions; i++) {
    block_t fewer = *b;
    const size_t end = i + 1 < b->instructions ? b->start[i + 1] : b->count;
    for (size_t at = b->start[i]; at < end; at++)
      fewer.words[at] = 0xbf800000;
    if (try_block(s, &fewer, r).difference.text[0])
      *b = fewer;
  }
}

/* `seen` may not come again. */
static void report(sides_t *s, block_t *b, random_t r, uint64_t seed, const difference_t *seen) {
  print_error("--part=%s --seed=%" PRIu64 " --blocks=1 (%u lanes)\n", gs_target_name(s->target), seed,
              gs_target_lanes(s->target));
  print_block(s, b);
  print_error("%s\n", seen->text);
  reduce(s, b, r);
  const trial_t reduced = try_block(s, b, r);
  print_error("Reduced, with EXEC 0x%" PRIx64 " and MODE 0x%x at the end:\n", gs_exec(&s->steps->w),
              s->steps->w.mode);
  print_block(s, b);
  print_error("%s\n", reduced.difference.text);
}

/* ---- The tests ---- */

static void list_opcodes(sides_t *s) {
  s->plain = calloc(gs_opcode_count, sizeof *s->plain);
  s->memory = calloc(gs_opcode_count, sizeof *s->memory);
  assert_non_null(s->plain);
  assert_non_null(s->memory);
  for (size_t i = 0; i < gs_opcode_count; i++) {
    const gs_opcode_t *const op = &gs_opcodes[i];
    const bool memory = op->encoding == GS_ENC_SMEM || op->encoding >= GS_ENC_DS;
    if (!(op->targets & s->target) || op->encoding >= GS_ENC_VINTRP || is_left_out(op->name))
      continue;
    if (memory)
      s->memory[s->memory_count++] = op;
    else
      s->plain[s->plain_count++] = op;
  }
}

static void sides_init(sides_t *s, void *const *state) {
  *s = (sides_t){.target = isa_part(state)};
  if (arguments.part && strcmp(arguments.part, gs_target_name(s->target)) != 0)
    skip();
  list_opcodes(s);
  s->looks = GS_LOOKS_ALWAYS;
  s->steps = isa_new_on(state, ISA_PART, NULL);
  s->device = isa_new(state, ISA_PART);
  s->steps->executed = calloc(gs_opcode_count, sizeof *s->steps->executed);
  assert_non_null(s->steps->executed);
}

static void sides_fini(sides_t *s) {
  free(s->steps->executed);
  isa_free(s->steps);
  isa_free(s->device);
  free(s->plain);
  free(s->memory);
}

static random_t chance_of(uint64_t seed) {
  return (random_t){.state = isa_random(&seed), .few = true};
}

static unsigned count_executed(const sides_t *s) {
  unsigned seen = 0;
  for (size_t i = 0; i < gs_opcode_count; i++)
    seen += s->steps->executed[i] != 0;
  return seen;
}

typedef void make_t(const sides_t *s, random_t *r, block_t *b);

static void make_any_block(const sides_t *s, random_t *r, block_t *b) {
  make_block(s, r, NULL, b);
}

/* Runs blocks and returns how many differ; reports the first of them. */
static unsigned try_blocks(sides_t *s, unsigned long blocks, make_t *make, unsigned long *too_long) {
  enum { MOST_REPORTED = 10 };
  unsigned differ = 0;
  for (unsigned long i = 0; i < blocks && differ < MOST_REPORTED; i++) {
    random_t r = chance_of(arguments.seed + i);
    block_t b;
    make(s, &r, &b);
    s->looks = (arguments.seed + i) % 2 ? GS_LOOKS_AT_END : GS_LOOKS_ALWAYS;
    const trial_t trial = try_block(s, &b, r);
    *too_long += trial.too_long;
    if (trial.difference.text[0]) {
      report(s, &b, r, arguments.seed + i, &trial.difference);
      differ++;
    }
  }
  return differ;
}

static void test_strips(void **state) {
  sides_t s;
  unsigned long too_long = 0;
  sides_init(&s, state);
  const unsigned differ = try_blocks(&s, arguments.blocks / 4, make_strips, &too_long);
  const unsigned at_edge = try_blocks(&s, arguments.blocks / 8, make_edge, &too_long);
  const unsigned linear = try_blocks(&s, arguments.blocks / 2, make_linear, &too_long);
  sides_fini(&s);
  assert_int_equal(differ, 0);
  assert_int_equal(at_edge, 0);
  assert_int_equal(linear, 0);
}

static void test_random_blocks(void **state) {
  sides_t s;
  unsigned long too_long = 0;
  sides_init(&s, state);
  if (arguments.falsify)
    s.steps->falsified = find_opcode(s.target, arguments.falsify);
  const unsigned differ = try_blocks(&s, arguments.blocks, make_any_block, &too_long);
  const unsigned seen = count_executed(&s);
  const size_t all = s.plain_count + s.memory_count;
  print_message("%lu blocks, %lu too long, %u of %zu opcodes\n", arguments.blocks, too_long, seen, all);
  sides_fini(&s);
  assert_int_equal(differ, 0);
  assert_in_range(too_long, 0, arguments.blocks / 100);
  if (arguments.blocks >= DEFAULT_BLOCKS)
    assert_in_range(seen, all * 8 / 10, gs_opcode_count);
}

/* Blocks that begin with the opcode: false if its errors make a difference that the comparison does not see.
 */
static bool is_noticed(sides_t *s, const gs_opcode_t *op, unsigned long *noticed) {
  enum { BLOCKS = 100 };
  s->steps->falsified = op;
  s->steps->falsifications = 0;
  for (uint64_t i = 0; i < BLOCKS; i++) {
    random_t r = chance_of(arguments.seed + i);
    block_t b;
    make_block(s, &r, op, &b);
    if (try_block(s, &b, r).difference.text[0]) {
      ++*noticed;
      return s->steps->falsifications != 0;
    }
  }
  return s->steps->falsifications == 0;
}

static void test_notices(void **state) {
  sides_t s;
  unsigned long noticed = 0;
  unsigned missed = 0;
  sides_init(&s, state);
  const size_t all = s.plain_count + s.memory_count;
  for (size_t i = 0; i < all; i++) {
    const gs_opcode_t *const op = i < s.plain_count ? s.plain[i] : s.memory[i - s.plain_count];
    if (!is_noticed(&s, op, &noticed)) {
      print_error("%s goes wrong, and nobody notices\n", op->name);
      missed++;
    }
  }
  print_message("%lu of %zu opcodes went wrong and were noticed\n", noticed, all);
  sides_fini(&s);
  assert_int_equal(missed, 0);
  assert_in_range(noticed, all * 8 / 10, all);
}

/* ---- Registers that do not matter (translate/live.h) ---- */

enum { MOST_DECODED = 4096 };

/* Decodes on demand; behind the program waves end. */
typedef struct decoder {
  const isa_wave_t *t;
  gs_inst_t inst[MOST_DECODED];
  size_t count;
} decoder_t;

static bool decode_at(void *context, uint64_t address, gs_code_place_t *place) {
  decoder_t *const d = context;
  const uint32_t end = d->t->env.target & GS_GFX11 ? 0xbfb00000 : 0xbf810000;
  const size_t at = (size_t)(address - ISA_CODE);
  uint32_t words[3] = {end, end, end};
  if (address < ISA_CODE || at >= ISA_CODE_BYTES || d->count == MOST_DECODED)
    return false;
  for (size_t i = 0; i < 3 && at + 4 * i < d->t->code_bytes; i++)
    memcpy(&words[i], d->t->code + at + 4 * i, sizeof *words);
  (void)gs_decode(d->t->env.target, words, 3, &d->inst[d->count]);
  *place = (gs_code_place_t){&d->inst[d->count++], NULL};
  return true;
}

static unsigned scramble_scalars(isa_wave_t *t, const gs_scalar_set_t *live, random_t *r) {
  unsigned scrambled = 0;
  for (unsigned i = 0; i < GS_SGPRS; i++)
    if (!gs_scalar_set_has(live, i)) {
      t->w.s.u32[i] = random_bits(r);
      scrambled++;
    }
  if (!gs_scalar_set_has(live, GS_SCALAR_SCC)) {
    t->w.scc = random_below(r, 2);
    scrambled++;
  }
  return scrambled;
}

/* Writes anything to what does not matter, of vector registers in active lanes. */
static unsigned scramble(isa_wave_t *t, bool looks_at_end, decoder_t *decoder, random_t *r) {
  gs_live_t live = {.lanes = gs_target_lanes(t->env.target)};
  decoder->t = t;
  decoder->count = 0;
  if (t->w.mode & GS_MODE_CHANGES) /* nothing is translated there */
    return 0;
  const gs_live_set_t set = gs_live_at(&live, t->w.pc, looks_at_end, decode_at, decoder);
  gs_live_clear(&live);
  unsigned scrambled = scramble_scalars(t, &set.scalars, r);
  for (unsigned v = 0; v < GS_VGPRS; v++)
    for (unsigned l = 0; l < GS_LANES; l++)
      if (!gs_row_set_has(&set.rows, v) && gs_exec(&t->w) >> l & 1) {
        t->v[v].u32[l] = random_bits(r);
        scrambled++;
      }
  return scrambled;
}

/* As the other side, which has run `steps` steps, but with registers scrambled once. */
static unsigned run_scrambled(isa_wave_t *t, unsigned steps, bool looks_at_end, random_t *r) {
  static decoder_t decoder;
  const unsigned when = random_below(r, steps ? steps : 1);
  unsigned scrambled = 0;
  for (unsigned step = 0; step < steps; step++) {
    if (step == when)
      scrambled = scramble(t, looks_at_end, &decoder, r);
    (void)gs_vm_reader_enter(&t->reader);
    isa_step(t);
  }
  return scrambled;
}

static unsigned run_steps(isa_wave_t *t) {
  unsigned steps = 0;
  for (; may_go_on(t) && steps < MOST_STEPS; steps++) {
    (void)gs_vm_reader_enter(&t->reader);
    isa_step(t);
  }
  return steps;
}

/* The device gets registers that nobody looks at from the other side. */
static void take_common(sides_t *s) {
  memcpy(s->device->v, s->steps->v, sizeof s->steps->v);
  s->device->w.scc = s->steps->w.scc;
  for (unsigned i = 0; i < GS_S_NULL; i++)
    if (is_common(i))
      s->device->w.s.u32[i] = s->steps->w.s.u32[i];
}

/* Whether what was said not to matter did; registers are looked at only where somebody was to look. */
static difference_t try_scrambled(sides_t *s, const block_t *b, random_t r, bool looks_at_end,
                                  unsigned long *scrambled) {
  fill(s, &r);
  isa_load(s->steps, b->words, b->count);
  isa_load(s->device, b->words, b->count);
  const unsigned steps = run_steps(s->steps);
  *scrambled += run_scrambled(s->device, steps, looks_at_end, &r);
  s->looks = GS_LOOKS_AT_END;
  if (may_go_on(s->steps) || s->steps->w.state == GS_WAVE_FAULTED || !looks_at_end)
    take_common(s);
  else
    s->looks = GS_LOOKS_ALWAYS;
  return compare(s);
}

static void test_scrambled(void **state) {
  sides_t s;
  unsigned long scrambled = 0;
  unsigned differ = 0;
  sides_init(&s, state);
  isa_free(s.device);
  s.device = isa_new_on(state, ISA_PART, NULL);
  s.steps_waited = s.device_waited = 0;
  for (unsigned long i = 0; i < arguments.blocks; i++) {
    random_t r = chance_of(arguments.seed + i);
    block_t b;
    make_any_block(&s, &r, &b);
    const difference_t d = try_scrambled(&s, &b, r, (arguments.seed + i) % 2, &scrambled);
    if (!d.text[0])
      continue;
    print_error("--part=%s --seed=%" PRIu64 " --blocks=1: %s\n", gs_target_name(s.target), arguments.seed + i,
                d.text);
    print_block(&s, &b);
    if (++differ == 3)
      break;
  }
  print_message("%lu blocks, %lu values scrambled\n", arguments.blocks, scrambled);
  sides_fini(&s);
  assert_int_equal(differ, 0);
  assert_in_range(scrambled, arguments.blocks, UINT64_MAX);
}

static int usage(void) {
  (void)fprintf(stderr, "usage: test_blocks [--blocks=N] [--seed=N] [--part=NAME] [--falsify=OPCODE]\n");
  return EXIT_FAILURE;
}

int main(int argc, char **argv) {
  static const struct CMUnitTest all[] = {
      isa_part_test_on(test_random_blocks, GS_GFX9_11), isa_part_test_on(test_strips, GS_GFX9_11),
      isa_part_test_on(test_scrambled, GS_GFX9_11), isa_part_test_on(test_notices, GS_GFX9_11)};
  for (int i = 1; i < argc; i++)
    if (strncmp(argv[i], "--blocks=", 9) == 0)
      arguments.blocks = strtoul(argv[i] + 9, NULL, 0);
    else if (strncmp(argv[i], "--seed=", 7) == 0)
      arguments.seed = strtoull(argv[i] + 7, NULL, 0);
    else if (strncmp(argv[i], "--part=", 7) == 0)
      arguments.part = argv[i] + 7;
    else if (strncmp(argv[i], "--falsify=", 10) == 0)
      arguments.falsify = argv[i] + 10;
    else
      return usage();
  if (setenv("GFXSIM_TRANSLATE", "always", 0))
    return EXIT_FAILURE;
  if (!isa_device_translates())
    (void)fprintf(stderr, "test_blocks: gfxsim has no translator: its interpreter is compared\n");
  return isa_main(all, argc > 1 ? 3 : 4);
}
