/* Blocks that the tool "init" need not see: what their instructions on registers read and write is known when
 * they are translated. Where nothing is undefined of what a block reads, what it writes becomes defined, and
 * it is executed as without the tool. Only what tells so for certain passes; who is in doubt looks at each
 * instruction. Not here: following undefined bits (init_flow.c). */
#include <string.h>

#include "check/digest.h"
#include "check/init.h"
#include "isa/dual.h"

/* ---- Sums ---- */

/* A sum in the making. */
typedef struct summary {
  gs_init_sum_t *sum;
  unsigned mask_dwords;
  bool is_other_exec; /* EXEC is not what it was before the block */
  bool has_scc;       /* the block has written it */
} summary_t;

static bool is_in(const uint64_t *set, unsigned reg) {
  return set[reg / 64] >> reg % 64 & 1;
}
static void put(uint64_t *set, unsigned reg) {
  set[reg / 64] |= UINT64_C(1) << reg % 64;
}

/* A row has to be defined in the active lanes, or in all. What the block has defined is so in the lanes that
 * were active before it, and only they. */
static void need_row(summary_t *s, unsigned reg, bool all_lanes) {
  gs_init_sum_t *sum = s->sum;
  const bool all = all_lanes || s->is_other_exec;
  if (!is_in(sum->made, reg))
    put(all ? sum->all : sum->read, reg);
  else if (all)
    put(sum->late, reg);
}

/* The active lanes of a row are overwritten, as a whole or in part. A part defines nothing; and which lanes
 * are active behind a change of EXEC nobody knows. */
static void write_row(summary_t *s, unsigned reg, bool as_a_whole) {
  if (as_a_whole && !s->is_other_exec)
    put(s->sum->made, reg);
  else
    need_row(s, reg, true);
}

static void need_scalars(summary_t *s, unsigned first, unsigned count) {
  for (unsigned reg = first; reg < first + count && reg < GS_S_OPERANDS; reg++)
    if (!is_in(s->sum->made_scalars, reg))
      put(s->sum->read_scalars, reg);
}

static void write_scalars(summary_t *s, unsigned first, unsigned count) {
  for (unsigned reg = first; reg < first + count && reg < GS_S_OPERANDS; reg++)
    put(s->sum->made_scalars, reg);
  s->is_other_exec |= first + count > GS_S_EXEC;
}

/* Registers of an operand: at least one, as some rows do not tell. */
static unsigned dwords_of(const summary_t *s, const gs_inst_t *in, const gs_flow_rule_t *rule, unsigned i) {
  if (in->op->src[i] == GS_T_MASK)
    return s->mask_dwords;
  return rule->dwords[i] ? rule->dwords[i] : 1;
}

static void need_sources(summary_t *s, const gs_inst_t *in, const gs_flow_rule_t *rule, bool all_lanes) {
  for (unsigned i = 0; i < 3; i++) {
    const gs_src_t *src = &in->src[i];
    const unsigned dwords = dwords_of(s, in, rule, i);
    if (src->kind == GS_SRC_SGPR)
      need_scalars(s, src->reg, dwords);
    for (unsigned k = 0; k < dwords && src->kind == GS_SRC_VGPR; k++)
      need_row(s, src->reg + k, all_lanes);
  }
}

/* Whether SCC, or anything that is no register, is an operand. */
static bool has_special_operand(const gs_inst_t *in) {
  return in->src[0].kind == GS_SRC_SPECIAL || in->src[1].kind == GS_SRC_SPECIAL;
}

/* What of SCC an instruction needs and writes. Of most it is not told here whether they read it. */
static void add_scc(summary_t *s, const gs_inst_t *in, const gs_flow_rule_t *rule) {
  const bool special = has_special_operand(in);
  const bool compares = in->op->encoding == GS_ENC_SOPC && rule->special == GS_SPECIAL_NONE && !special;
  const bool moves = strncmp(in->op->name, "s_mov", 5) == 0 && !special;
  const bool branches = in->op->encoding == GS_ENC_SOPP && rule->condition != GS_CONDITION_SCC;
  if (s->has_scc || moves || branches)
    return;
  s->sum->reads_scc = !compares;
  s->sum->makes_scc = compares;
  s->has_scc = true;
}

static void add_scalar(summary_t *s, const gs_inst_t *in, const gs_flow_rule_t *rule) {
  add_scc(s, in, rule);
  if (in->op->encoding == GS_ENC_SOPP) {
    if (rule->condition == GS_CONDITION_VCC)
      need_scalars(s, GS_S_VCC, s->mask_dwords);
    return;
  }
  need_sources(s, in, rule, false);
  if (in->op->flags & GS_OPF_ACC_DST)
    need_scalars(s, in->dst, rule->dst);
  if (rule->dst)
    write_scalars(s, in->dst, rule->dst);
  s->is_other_exec |= strstr(in->op->name, "exec") != NULL;
}

static void add_row_results(summary_t *s, const gs_inst_t *in, const gs_flow_rule_t *rule, bool all_lanes) {
  const bool reads = rule->special == GS_SPECIAL_SWAP || in->op->flags & GS_OPF_ACC_DST;
  for (unsigned k = 0; k < rule->dst; k++) {
    if (reads)
      need_row(s, in->dst + k, all_lanes);
    write_row(s, in->dst + k, in->plain_dst && !all_lanes);
  }
}

static void add_vector(summary_t *s, const gs_inst_t *in, const gs_flow_rule_t *rule) {
  const bool to_scalar = in->op->flags & GS_OPF_SCALAR_DST, compares = in->op->encoding == GS_ENC_VOPC;
  /* Lanes that are not active matter, or get something, too. */
  const bool all_lanes = rule->crosses || rule->special == GS_SPECIAL_READLANE ||
                         rule->special == GS_SPECIAL_WRITELANE ||
                         (in->form == GS_FORM_DPP && in->dpp.fetch_inactive);
  need_sources(s, in, rule, all_lanes);
  if (rule->reads_vcc)
    need_scalars(s, GS_S_VCC, s->mask_dwords);
  if (!to_scalar && !compares)
    add_row_results(s, in, rule, all_lanes);
  if (compares || in->op->flags & GS_OPF_SDST)
    write_scalars(s, in->sdst, s->mask_dwords);
  if (to_scalar)
    write_scalars(s, in->dst, rule->dst);
  s->is_other_exec |= in->cmpx;
}

void gs_init_sum(const gs_init_t *init, gs_target_t target, gs_init_sum_t *sum, const gs_passage_t *block,
                 unsigned count) {
  summary_t s = {.sum = sum, .mask_dwords = gs_target_lanes(target) / 32};
  memset(sum, 0, sizeof *sum);
  for (unsigned i = 0; i < count; i++) {
    const gs_inst_t *in = block[i].in;
    const gs_flow_rule_t *rule = &init->rules[in->op - gs_opcodes];
    if (in->op->encoding < GS_ENC_SMEM)
      add_scalar(&s, in, rule);
    else
      add_vector(&s, in, rule);
  }
  for (unsigned i = 0; i < GS_FLOW_WORDS; i++)
    sum->rows[i] = sum->read[i] | sum->all[i] | sum->late[i] | sum->made[i];
  for (unsigned i = 0; i < 2; i++)
    sum->scalars[i] = sum->read_scalars[i] | sum->made_scalars[i];
}

/* ---- Waves ---- */

static bool meets(const uint64_t *one, const uint64_t *other, unsigned words) {
  uint64_t met = 0;
  for (unsigned i = 0; i < words; i++)
    met |= one[i] & other[i];
  return met;
}

/* Whether the wave has nothing that is undefined to do with the block. */
static bool is_apart(const gs_wave_flow_t *f, const gs_init_sum_t *sum) {
  return !meets(sum->rows, f->rows, GS_FLOW_WORDS) && !meets(sum->scalars, f->scalars, 2) &&
         !(f->scc && (sum->reads_scc || sum->makes_scc));
}

static bool reads_active_lanes(const gs_wave_flow_t *f, const gs_init_sum_t *sum, uint64_t exec) {
  for (unsigned i = 0; i < GS_FLOW_WORDS; i++)
    for (uint64_t left = sum->read[i] & f->rows[i]; left; left &= left - 1)
      if (gs_flow_lanes(f, 64 * i + (unsigned)__builtin_ctzll(left), exec))
        return true;
  return false;
}

bool gs_init_may_pass(const gs_wave_t *w, const gs_init_sum_t *sum) {
  const gs_wave_flow_t *f = gs_wave_flow(w);
  if (!f || is_apart(f, sum))
    return true;
  const uint64_t exec = gs_exec(w);
  return !meets(sum->read_scalars, f->scalars, 2) && !(f->scc && sum->reads_scc) &&
         !meets(sum->all, f->rows, GS_FLOW_WORDS) &&
         ((exec & f->all) == f->all || !meets(sum->late, f->rows, GS_FLOW_WORDS)) &&
         !reads_active_lanes(f, sum, exec);
}

void gs_init_pass(gs_wave_t *w, const gs_init_sum_t *sum) {
  gs_wave_flow_t *f = gs_wave_flow(w);
  if (!f || is_apart(f, sum))
    return;
  for (unsigned i = 0; i < GS_FLOW_WORDS; i++)
    for (uint64_t left = sum->made[i] & f->rows[i]; left; left &= left - 1)
      gs_flow_define(f, 64 * i + (unsigned)__builtin_ctzll(left), gs_exec(w));
  for (unsigned i = 0; i < 2; i++)
    for (uint64_t left = sum->made_scalars[i] & f->scalars[i]; left; left &= left - 1)
      gs_flow_set_scalar(f, 64 * i + (unsigned)__builtin_ctzll(left), 0, 0);
  if (sum->makes_scc)
    f->scc = 0;
}
