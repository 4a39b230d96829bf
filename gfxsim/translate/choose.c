/* See choose.h. Names of stencils are made from the handler's name and the kinds of operands. */
#include "translate/choose.h"

#include <stdio.h>
#include <string.h>

#include "isa/dual.h"
#include "isa/wave.h"

enum { NAME_BYTES = 80, HANDLER_BYTES = 40 };

/* The handlers' names, in the order of gs_opcodes: no addresses, which would be filled in at every start. */
static const char handler_names[][HANDLER_BYTES] = {
#define GS_ROW(mnemonic, encoding, number, targets, dst, s0, s1, s2, flags, fn) #fn,
#include "isa/ops.def"
#undef GS_ROW
};

/* Likewise of the parts of pairs, by their numbers. */
#define PART_NAME(name) #name,
#define NO_PART         "",
static const char part_names[][HANDLER_BYTES] = {GS_DUAL_PARTS(PART_NAME, NO_PART)};

/* Instructions of programs' flow that need no handler. */
static const struct {
  const char *name;
  gs_step_kind_t kind;
} flow[] = {
    {"s_branch", GS_STEP_GO},
    {"s_setpc_b64", GS_STEP_JUMP},
    {"s_swappc_b64", GS_STEP_JUMP},
    {"s_call_b64", GS_STEP_JUMP},
    {"s_cbranch_scc0", GS_STEP_BRANCH},
    {"s_cbranch_scc1", GS_STEP_BRANCH},
    {"s_cbranch_vccz", GS_STEP_BRANCH},
    {"s_cbranch_vccnz", GS_STEP_BRANCH},
    {"s_cbranch_execz", GS_STEP_BRANCH},
    {"s_cbranch_execnz", GS_STEP_BRANCH},
    {"s_waitcnt", GS_STEP_NOTHING}, /* see is_ordered */
    {"s_waitcnt_vscnt", GS_STEP_NOTHING},
    {"s_waitcnt_vmcnt", GS_STEP_NOTHING},
    {"s_waitcnt_expcnt", GS_STEP_NOTHING},
    {"s_waitcnt_lgkmcnt", GS_STEP_NOTHING},
    {"s_barrier", GS_STEP_STOP}, /* after which a wave may go on */
    {"s_nop", GS_STEP_NOTHING},
    {"s_setprio", GS_STEP_NOTHING},
    {"s_wakeup", GS_STEP_NOTHING},
    {"s_inst_prefetch", GS_STEP_NOTHING},
    {"s_clause", GS_STEP_NOTHING},
    {"s_wait_idle", GS_STEP_NOTHING},
    {"s_waitcnt_depctr", GS_STEP_NOTHING},
};

static bool is_scalar(const gs_inst_t *in) {
  switch (in->op->encoding) {
  case GS_ENC_SOP1:
  case GS_ENC_SOP2:
  case GS_ENC_SOPK:
  case GS_ENC_SOPC:
  case GS_ENC_SOPP: return true;
  default: return false;
  }
}

/* Whether low results come from low halves and high ones from high halves, with their signs. */
static bool has_plain_halves(const gs_inst_t *in) {
  const unsigned operands = in->op->src[2] == GS_T_NONE ? 3 : 7; /* a bit for each */
  return !in->op_sel && in->op_sel_hi == operands && !in->neg_lo && !in->neg_hi;
}

/* Whether nothing but the kinds and numbers of operands, their modifiers, and the immediate, tells the
 * instruction from others of its name. */
static bool is_plain(const gs_inst_t *in) {
  if (in->lds || in->gds || in->tfe)
    return false;
  switch (in->op->encoding) {
  case GS_ENC_SOP1:
  case GS_ENC_SOP2:
  case GS_ENC_SOPK: return in->dst < GS_S_TTMP0 || in->dst >= GS_S_M0; /* others cannot be written */
  case GS_ENC_SMEM: return in->dst + gs_type_dwords(in->op->dst) <= GS_S_VCC + 2 && in->imm % 4 == 0;
  case GS_ENC_VOP1:
  case GS_ENC_VOP2:
  case GS_ENC_VOPC:
  case GS_ENC_VOP3: return in->plain_dst && in->form != GS_FORM_DPP && !in->op_sel;
  case GS_ENC_VOP3P: return in->plain_dst && in->form != GS_FORM_DPP && has_plain_halves(in);
  case GS_ENC_VINTERP:
  case GS_ENC_VOPD: return false;
  default: return true;
  }
}

/* The letter of stencil.h for vector registers, which is the same for all operands of an instruction; 0 for
 * modifiers that no stencil has. */
static char letter_of_registers(const gs_inst_t *in) {
  unsigned mods = 0;
  bool is_part = true;
  for (unsigned i = 0; i < 3; i++) {
    mods |= in->src[i].mods;
    is_part &= in->src[i].mods == 0 || in->src[i].mods == GS_MOD_SDWA;
  }
  if (!mods)
    return 'V';
  if (!(mods & ~(unsigned)(GS_MOD_NEG | GS_MOD_ABS)))
    return 'M';
  return is_part ? 'X' : 0;
}

/* The letter of an operand; 0 for one that stencils do not have. In strips, scalar registers and constants
 * are rows. */
static char letter_of(const gs_inst_t *in, unsigned i, char registers, bool is_strip) {
  const gs_src_t *s = &in->src[i];
  const bool is_number = s->kind == GS_SRC_SGPR || s->kind == GS_SRC_CONST;
  if (s->kind == GS_SRC_VGPR || (is_strip && is_number && in->op->src[i] != GS_T_MASK))
    return registers;
  if (s->mods)
    return 0;
  switch (s->kind) {
  case GS_SRC_NONE: return 'N';
  case GS_SRC_SGPR: return 'S';
  case GS_SRC_CONST: return 'C';
  default: return 0;
  }
}

/* Returns false for operands that stencils do not have. */
static bool name_kinds(const gs_inst_t *in, bool is_strip, char kinds[4]) {
  const char registers = letter_of_registers(in);
  unsigned count = 0;
  for (unsigned i = 0; i < 3; i++) {
    kinds[i] = letter_of(in, i, registers, is_strip);
    if (!kinds[i])
      return false;
    if (kinds[i] != 'N')
      count = i + 1;
  }
  memset(kinds + (count ? count : 1), 0, 4 - (count ? count : 1));
  return true;
}

static const gs_stencil_t *find_by_name(const gs_stencil_table_t *table, const char *handler,
                                        const char *kinds, const char *lanes) {
  char name[NAME_BYTES];
  snprintf(name, sizeof name, "%s__%s_%s", handler, kinds, lanes);
  return gs_stencil_find(table, name);
}

/* `handler` and `lanes` do not change as long as there is this process. */
static const gs_stencil_t *find(gs_finder_t *finder, const char *handler, const char kinds[4],
                                const char *lanes) {
  uint32_t key;
  memcpy(&key, kinds, sizeof key);
  const uint64_t hash = ((uintptr_t)handler * 31 + (uintptr_t)lanes) * 31 + key;
  const size_t place = (size_t)(hash * UINT64_C(0x9e3779b97f4a7c15) >> 32) % GS_FINDER_PLACES;
  if (finder->found[place].handler != handler || finder->found[place].lanes != lanes ||
      memcmp(finder->found[place].kinds, kinds, sizeof key) != 0) {
    finder->found[place].handler = handler;
    finder->found[place].lanes = lanes;
    memcpy(finder->found[place].kinds, kinds, sizeof key);
    finder->found[place].stencil = find_by_name(finder->table, handler, kinds, lanes);
  }
  return finder->found[place].stencil;
}

static bool find_stencils(gs_finder_t *finder, const gs_inst_t *in, const char *handler,
                          gs_choice_t *choice) {
  char kinds[4];
  if (!name_kinds(in, false, kinds))
    return false;
  choice->any = find(finder, handler, kinds, "any");
  choice->full = find(finder, handler, kinds, "full");
  choice->part = find(finder, handler, kinds, "part");
  choice->one = find(finder, handler, kinds, "one");
  return choice->any || (choice->full && choice->part);
}

static void find_strips(gs_finder_t *finder, const gs_inst_t *in, const char *handler, gs_choice_t *choice) {
  char kinds[4];
  if (is_scalar(in) || !name_kinds(in, true, kinds))
    return;
  choice->strip_full = find(finder, handler, kinds, "stripfull");
  choice->strip_part = find(finder, handler, kinds, "strippart");
  choice->strip_assumed = find(finder, handler, kinds, "stripassumed");
}

/* ---- Masks that scalar instructions move and combine ---- */

static const gs_stencil_t *find_mask_op(const gs_finder_t *finder, const char *name, const char *kind) {
  char full[NAME_BYTES];
  snprintf(full, sizeof full, "mask_%s_%s", name, kind);
  return gs_stencil_find(finder->table, full);
}

/* As code does for the second of two divisions. */
static void find_mask_move(gs_finder_t *finder, const gs_inst_t *in, const char *handler,
                           gs_choice_t *choice) {
  const bool is_move = strcmp(handler, finder->table->lanes == 32 ? "s_mov_b32" : "s_mov_b64") == 0;
  if (is_move && in->dst == GS_S_VCC && in->src[0].kind == GS_SRC_SGPR && in->src[0].reg < GS_S_VCC)
    choice->strip_assumed = find_mask_op(finder, "move", "stripfull");
}

/* Names of stencils by their operands: two masks, or EXEC, which is all lanes there, and one; NULL = none. */
static const struct {
  const char *wide, *narrow; /* handlers, by the lanes of waves */
  const char *both, *exec_first, *exec_second;
} mask_logic[] = {
    {"s_and_b64", "s_and_b32", "and", "move_second", "move"},
    {"s_or_b64", "s_or_b32", "or", NULL, NULL},
    {"s_xor_b64", "s_xor_b32", "xor", "not_second", "not"},
    {"s_andn2_b64", "s_andn2_b32", "andn2", "not_second", NULL},
};

static bool is_mask(const gs_src_t *s) {
  return s->kind == GS_SRC_SGPR && s->reg <= GS_S_VCC;
}
static bool is_exec(const gs_src_t *s) {
  return s->kind == GS_SRC_SGPR && s->reg == GS_S_EXEC;
}

static void find_mask_logic(gs_finder_t *finder, const gs_inst_t *in, const char *handler,
                            gs_choice_t *choice) {
  const gs_src_t *const first = &in->src[0], *const second = &in->src[1];
  if (in->op->encoding != GS_ENC_SOP2 || in->dst > GS_S_VCC)
    return;
  for (size_t i = 0; i < sizeof mask_logic / sizeof *mask_logic; i++) {
    if (strcmp(handler, finder->table->lanes == 32 ? mask_logic[i].narrow : mask_logic[i].wide) != 0)
      continue;
    const char *const name = is_mask(first) && is_mask(second)   ? mask_logic[i].both
                             : is_exec(first) && is_mask(second) ? mask_logic[i].exec_first
                             : is_mask(first) && is_exec(second) ? mask_logic[i].exec_second
                                                                 : NULL;
    choice->strip_full = name ? find_mask_op(finder, name, "stripfull") : NULL;
    choice->linear = choice->strip_full ? find_mask_op(finder, name, "linear") : NULL;
  }
}

static void find_linear(gs_finder_t *finder, const gs_inst_t *in, const char *handler, gs_choice_t *choice) {
  char kinds[4];
  if (!choice->strip_full || !name_kinds(in, false, kinds))
    return;
  choice->linear = find(finder, handler, kinds, "linear");
  choice->ragged = find(finder, handler, kinds, "ragged");
  choice->flat = find(finder, handler, kinds, "flat");
}

static void find_loads(gs_finder_t *finder, const gs_inst_t *in, const char *handler, gs_choice_t *choice) {
  char kinds[4], load[HANDLER_BYTES];
  if ((in->op->encoding != GS_ENC_FLAT && in->op->encoding != GS_ENC_GLOBAL) || !name_kinds(in, false, kinds))
    return;
  snprintf(load, sizeof load, "load_%u_stripfull", gs_type_dwords((gs_type_t)in->op->dst));
  choice->check = find(finder, handler, kinds, "check");
  choice->strip_load = choice->check ? gs_stencil_find(finder->table, load) : NULL;
  choice->linear = find(finder, handler, kinds, "checklinear");
}

/* ---- Instructions on pairs of registers, whose halves are instructions of their own in strips ---- */

static const struct {
  const char *pair, *half;
} pairs[] = {
    {"v_pk_fma_f32", "v_fma_f32"},
    {"v_pk_mul_f32", "v_mul_f32"},
    {"v_pk_add_f32", "v_add_f32"},
    {"v_pk_mov_b32", "v_mov_b32"},
};

/* Operand `i` of a pair as a half has it: one of its registers, and its sign. */
static gs_src_t half_of_source(const gs_inst_t *in, unsigned i, unsigned part, unsigned negate) {
  gs_src_t s = in->src[i];
  if (s.kind == GS_SRC_CONST)
    s.value = (uint32_t)(s.value >> 32 * (part >> i & 1));
  else if (s.kind != GS_SRC_NONE)
    s.reg = (uint16_t)(s.reg + (part >> i & 1));
  if (negate >> i & 1)
    s.mods = GS_MOD_NEG;
  return s;
}

void gs_choose_half(const gs_inst_t *in, unsigned which, gs_inst_t *half) {
  *half = *in;
  half->dst = (uint16_t)(in->dst + which);
  if (strcmp(in->op->name, "v_pk_mov_b32") == 0) { /* each has an operand of its own */
    half->src[0] = half_of_source(in, which, in->op_sel, 0);
    half->src[1].kind = GS_SRC_NONE;
    return;
  }
  for (unsigned i = 0; i < 3; i++)
    half->src[i] = half_of_source(in, i, which ? in->op_sel_hi : in->op_sel, which ? in->neg_hi : in->neg_lo);
}

/* Halves are done one after the other, so what the first writes the second must not read. */
static void find_halves(gs_finder_t *finder, const gs_inst_t *in, const char *handler, gs_choice_t *choice) {
  size_t pair = 0;
  while (pair < sizeof pairs / sizeof *pairs && strcmp(pairs[pair].pair, handler) != 0)
    pair++;
  if (pair == sizeof pairs / sizeof *pairs || !in->plain_dst || in->form == GS_FORM_DPP ||
      in->src[0].mods | in->src[1].mods | in->src[2].mods)
    return;
  gs_inst_t half[2];
  char kinds[4], other[4];
  for (unsigned i = 0; i < 2; i++)
    gs_choose_half(in, i, &half[i]);
  choice->first_half = gs_dual_reads(&half[1], half[0].dst);
  if (gs_dual_reads(&half[!choice->first_half], half[choice->first_half].dst) ||
      !name_kinds(&half[0], true, kinds) || !name_kinds(&half[1], true, other))
    return;
  if (other[0] == 'M') /* which does for operands without signs, too */
    memcpy(kinds, other, sizeof kinds);
  choice->strip_full = find(finder, pairs[pair].half, kinds, "stripfull");
  choice->strip_part = find(finder, pairs[pair].half, kinds, "strippart");
  choice->has_halves = true;
  if (name_kinds(&half[0], false, kinds) && name_kinds(&half[1], false, other) && strcmp(kinds, other) == 0)
    choice->linear = find(finder, pairs[pair].half, kinds, "linear");
}

/* Whether EXEC may be another one behind the instruction. Its registers are the last of the operands, so a
 * range of registers reaches it by its end. */
static bool writes_exec(const gs_inst_t *in, const char *handler) {
  const gs_opcode_t *op = in->op;
  const bool to_scalar = is_scalar(in) || (op->flags & GS_OPF_SCALAR_DST);
  const bool has_sdst = op->encoding == GS_ENC_VOPC || (op->flags & GS_OPF_SDST) || in->sdst;
  return in->cmpx || (to_scalar && in->dst + gs_type_dwords(op->dst) > GS_S_EXEC) ||
         (has_sdst && in->sdst + 2 > GS_S_EXEC) || strstr(handler, "exec") != NULL;
}

bool gs_reads_scc(const gs_inst_t *in) {
  static const char *const readers[] = {"s_cselect", "s_cmov", "s_addc", "s_subb", "s_getreg", "s_cbranch"};
  for (unsigned i = 0; i < 3; i++)
    if (in->src[i].kind == GS_SRC_SPECIAL)
      return true;
  for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
    if (strncmp(in->op->name, readers[i], strlen(readers[i])) == 0)
      return true;
  return false;
}
bool gs_writes_scc(const gs_inst_t *in) {
  static const char *const writers[] = {"s_and",   "s_or",    "s_xor",   "s_nand",  "s_nor",    "s_xnor",
                                        "s_add_u", "s_add_i", "s_sub_u", "s_sub_i", "s_lshl_b", "s_lshr_b"};
  if (in->op->encoding == GS_ENC_SOPC) /* comparisons, and two that change modes */
    return strncmp(in->op->name, "s_set", 5) != 0;
  for (size_t i = 0; i < sizeof writers / sizeof *writers && is_scalar(in); i++)
    if (strncmp(in->op->name, writers[i], strlen(writers[i])) == 0)
      return true;
  return false;
}

static bool may_store(const gs_inst_t *in) {
  return in->op->flags & (GS_OPF_STORE | GS_OPF_ATOMIC);
}

/* Memory but LDS. */
static bool accesses_memory(const gs_inst_t *in) {
  switch (in->op->encoding) {
  case GS_ENC_SMEM:
  case GS_ENC_FLAT:
  case GS_ENC_GLOBAL:
  case GS_ENC_SCRATCH:
  case GS_ENC_MUBUF:
  case GS_ENC_MTBUF: return true;
  default: return false;
  }
}

/* On x86-64 a load may be older than a store before it, and nothing else has another order than in the code,
 * but for rows that are stored past the caches (isa/stream.h). So there is a fence between a store and such a
 * load, but only if the load looks past the GPU's caches: what others load may be old on a card, whatever the
 * wave waits for, until it invalidates the caches, which is a fence by itself. Caches that a workgroup
 * shares, and its memory, are one thread's here. */
static bool is_ordered(const gs_inst_t *in) {
  return accesses_memory(in) && !may_store(in) && (in->glc || in->dlc || in->scc);
}

/* Before gfx10 loads and stores have one counter. */
static bool awaits_stores(const gs_inst_t *in, const char *handler) {
  enum { NOT_WAITED = 63 };
  return strcmp(handler, "s_waitcnt_vscnt") == 0 ||
         (strcmp(handler, "s_waitcnt") == 0 && in->imm1 != NOT_WAITED);
}

static gs_step_kind_t kind_of_call(const gs_inst_t *in) {
  if (accesses_memory(in))
    return may_store(in) ? GS_STEP_CALL_STORE : GS_STEP_CALL;
  return is_scalar(in) ? GS_STEP_LAST : GS_STEP_CALL;
}

static gs_step_kind_t kind_of_stencil(const gs_inst_t *in) {
  switch (in->op->encoding) {
  case GS_ENC_SMEM:
  case GS_ENC_FLAT:
  case GS_ENC_GLOBAL:
  case GS_ENC_DS: return may_store(in) ? GS_STEP_SHORT_STORE : GS_STEP_SHORT;
  default: return GS_STEP_STENCIL;
  }
}

gs_choice_t gs_choose(gs_finder_t *finder, const gs_inst_t *in) {
  gs_choice_t choice = {.kind = GS_STEP_LAST, .writes_exec = true};
  if (!in->op || (in->op->flags & GS_OPF_ILLEGAL))
    return choice;
  const char *const handler = handler_names[in->op - gs_opcodes];
  choice.writes_exec = writes_exec(in, handler);
  choice.is_ordered = is_ordered(in);
  choice.awaits_stores = awaits_stores(in, handler);
  for (size_t i = 0; i < sizeof flow / sizeof *flow; i++)
    if (strcmp(flow[i].name, handler) == 0)
      choice.kind = flow[i].kind;
  const bool is_flow =
      choice.kind == GS_STEP_BRANCH || choice.kind == GS_STEP_STOP || choice.kind == GS_STEP_JUMP;
  if (choice.kind != GS_STEP_LAST && !is_flow)
    return choice;
  const bool plain = is_plain(in);
  if (plain) {
    find_strips(finder, in, handler, &choice);
    find_linear(finder, in, handler, &choice);
    if (!choice.is_ordered)
      find_loads(finder, in, handler, &choice);
    find_mask_move(finder, in, handler, &choice);
    find_mask_logic(finder, in, handler, &choice);
  }
  if (in->op->encoding == GS_ENC_VOP3P && !choice.strip_full)
    find_halves(finder, in, handler, &choice);
  if (!plain || !find_stencils(finder, in, handler, &choice))
    choice.kind = kind_of_call(in);
  else if (!is_flow)
    choice.kind = kind_of_stencil(in);
  return choice;
}

/* No such handler changes modes or the program counter. */
gs_choice_t gs_choose_call(const gs_inst_t *in) {
  const gs_step_kind_t kind = is_scalar(in) ? GS_STEP_CALL : kind_of_call(in);
  return (gs_choice_t){.kind = kind,
                       .is_ordered = is_ordered(in),
                       .writes_exec = writes_exec(in, handler_names[in->op - gs_opcodes])};
}

const gs_stencil_t *gs_choose_dead(gs_finder_t *finder, const gs_inst_t *in) {
  char kinds[4];
  if (!is_scalar(in) || !is_plain(in) || !name_kinds(in, false, kinds))
    return NULL;
  return find(finder, handler_names[in->op - gs_opcodes], kinds, "dead");
}

/* ---- Sums of pairs of scalar registers ---- */

static const struct {
  const char *low, *high, *pair;
} sums[] = {
    {"s_add_u32", "s_addc_u32", "add_pair"},
    {"s_sub_u32", "s_subb_u32", "subtract_pair"},
};

/* Returns false where they are no halves of one operand. (As pairs are aligned, the second instruction reads
 * nothing that the first one writes.) */
static bool join_operands(const gs_src_t *low, const gs_src_t *high, gs_src_t *pair) {
  *pair = *low;
  if (low->kind != high->kind || low->mods || high->mods)
    return false;
  if (low->kind == GS_SRC_SGPR)
    return low->reg % 2 == 0 && high->reg == low->reg + 1 && low->reg <= GS_S_VCC;
  pair->value = (uint32_t)low->value | high->value << 32;
  return low->kind == GS_SRC_CONST;
}

const gs_stencil_t *gs_choose_sum(gs_finder_t *finder, const gs_inst_t *low, const gs_inst_t *high,
                                  bool is_dead, gs_inst_t *pair) {
  char kinds[4];
  size_t i = 0;
  while (i < sizeof sums / sizeof *sums && (strcmp(handler_names[low->op - gs_opcodes], sums[i].low) != 0 ||
                                            strcmp(handler_names[high->op - gs_opcodes], sums[i].high) != 0))
    i++;
  *pair = *low;
  if (i == sizeof sums / sizeof *sums || low->dst % 2 || high->dst != low->dst + 1 || low->dst > GS_S_VCC ||
      !join_operands(&low->src[0], &high->src[0], &pair->src[0]) ||
      !join_operands(&low->src[1], &high->src[1], &pair->src[1]) || !name_kinds(pair, false, kinds))
    return NULL;
  return find(finder, sums[i].pair, kinds, is_dead ? "dead" : "any");
}

gs_choice_t gs_choose_part(gs_finder_t *finder, const gs_inst_t *part) {
  gs_choice_t choice = {.kind = GS_STEP_CALL};
  const char *const handler = part_names[part->op->number];
  find_strips(finder, part, handler, &choice);
  if (find_stencils(finder, part, handler, &choice))
    choice.kind = GS_STEP_STENCIL;
  return choice;
}
