/* Undefined bits on their way through registers. What an instruction makes of them is not told a second time
 * here: its handler executes it with several choices of the undefined bits, and bits of the result that
 * differ are undefined; where that says too little, a rule (init_rules.c) adds some. Most instructions touch
 * no undefined bits, and only clear marks. Not here: memory (init_memory.c). */
#include "check/init.h"
#include "isa/dual.h"
#include "isa/scalar.h"

/* ---- Marks of rows and scalars ---- */

static bool is_marked(const uint64_t *marks, unsigned i) {
  return marks[i / 64] >> i % 64 & 1;
}
static void set_mark(uint64_t *marks, unsigned i, bool on) {
  const uint64_t bit = UINT64_C(1) << i % 64;
  marks[i / 64] = on ? marks[i / 64] | bit : marks[i / 64] & ~bit;
}

bool gs_flow_any_row(const gs_wave_flow_t *f, unsigned reg, unsigned count) {
  bool any = false;
  for (unsigned i = reg; i < reg + count && i < GS_VGPRS; i++)
    any |= is_marked(f->rows, i);
  return any;
}

bool gs_flow_any_scalar(const gs_wave_flow_t *f, unsigned reg, unsigned count) {
  bool any = false;
  for (unsigned i = reg; i < reg + count && i < GS_SGPRS; i++)
    any |= is_marked(f->scalars, i);
  return any;
}

void gs_flow_fill(gs_wave_flow_t *f, unsigned reg) {
  const bool marked = is_marked(f->rows, reg), fresh = is_marked(f->fresh, reg);
  if (marked && !fresh)
    return;
  memset(&f->bits[reg], marked ? 0xff : 0, sizeof f->bits[reg]);
  memset(&f->origin[reg], 0, sizeof f->origin[reg]);
  set_mark(f->fresh, reg, false);
}

/* The lanes of a row that are not 0. */
static uint64_t lanes_of(const gs_row_t *row) {
  gs_row_t some;
  GS_LANES_DO(l)
    some.i32[l] = -(row->u32[l] != 0);
  return gs_mask_from_row(&some);
}

uint64_t gs_flow_lanes(const gs_wave_flow_t *f, unsigned reg, uint64_t lanes) {
  if (!is_marked(f->rows, reg))
    return 0;
  return (is_marked(f->fresh, reg) ? lanes : lanes_of(&f->bits[reg]) & lanes) & f->all;
}

void gs_flow_settle(gs_wave_flow_t *f, unsigned reg) {
  set_mark(f->rows, reg, lanes_of(&f->bits[reg]) & f->all);
}

static void write_lanes(gs_row_t *to, const gs_row_t *from, uint64_t lanes) {
  gs_select_row(lanes, to, from, to);
}

void gs_flow_define(gs_wave_flow_t *f, unsigned reg, uint64_t lanes) {
  static const gs_row_t none;
  if (!is_marked(f->rows, reg))
    return;
  if ((lanes & f->all) == f->all) {
    set_mark(f->rows, reg, false);
    set_mark(f->fresh, reg, false);
    return;
  }
  gs_flow_fill(f, reg);
  write_lanes(&f->bits[reg], &none, lanes);
  gs_flow_settle(f, reg);
}

void gs_flow_set_scalar(gs_wave_flow_t *f, unsigned reg, uint32_t bits, uint32_t origin) {
  if (reg >= GS_SGPRS || gs_is_ttmp(reg))
    return;
  f->s[reg] = bits;
  f->s_origin[reg] = origin;
  set_mark(f->scalars, reg, bits != 0);
}

void gs_flow_define_scalars(gs_wave_flow_t *f, unsigned reg, unsigned count) {
  if (gs_flow_any_scalar(f, reg, count))
    for (unsigned i = reg; i < reg + count; i++)
      gs_flow_set_scalar(f, i, 0, 0);
}

uint32_t gs_flow_origin(gs_wave_t *w, unsigned reg, unsigned lane) {
  gs_wave_flow_t *f = gs_wave_flow(w);
  const bool fresh = is_marked(f->fresh, reg);
  const uint32_t known = fresh ? 0 : f->origin[reg].u32[lane];
  return known ? known : gs_origin_meet(w, GS_SOURCE_VECTOR, reg, reg);
}

uint32_t gs_flow_scalar_origin(gs_wave_t *w, unsigned reg) {
  gs_wave_flow_t *f = gs_wave_flow(w);
  return f->s_origin[reg] ? f->s_origin[reg] : gs_origin_meet(w, GS_SOURCE_SCALAR, reg, reg);
}

/* ---- Trials: an instruction executed with several choices of undefined bits ---- */

enum { MOST_ROWS = 12, MOST_SCALARS = 16, ROLES = 4, ROLE_OLD = 3 };

/* A register that an instruction reads or writes. */
typedef struct part {
  uint16_t reg;
  uint8_t role;  /* number of the operand, or ROLE_OLD: what it overwrites */
  uint8_t dword; /* of the operand, of so many: */
  uint8_t dwords;
} part_t;

typedef struct trial {
  gs_wave_t *w;
  const gs_inst_t *in;
  const gs_flow_rule_t *rule;
  unsigned rows, scalars, results;
  part_t row[MOST_ROWS], scalar[MOST_SCALARS];
  uint16_t result[MOST_ROWS]; /* rows that are written */
  unsigned roles;             /* with undefined bits, a bit each */
  gs_row_t saved[MOST_ROWS];
  gs_row_t first[MOST_ROWS], differ[MOST_ROWS]; /* by result */
  gs_scalars_t saved_s, first_s, differ_s;
  uint32_t first_scc, differ_scc;
} trial_t;

static void add_row(trial_t *t, unsigned reg, unsigned role, unsigned dword, unsigned dwords) {
  for (unsigned i = 0; i < t->rows; i++)
    if (t->row[i].reg == reg)
      return;
  if (t->rows == MOST_ROWS || reg >= GS_VGPRS)
    return;
  t->row[t->rows++] = (part_t){(uint16_t)reg, (uint8_t)role, (uint8_t)dword, (uint8_t)dwords};
  gs_wave_flow_t *f = gs_wave_flow(t->w);
  if (is_marked(f->rows, reg))
    t->roles |= 1u << role;
  gs_flow_fill(f, reg);
}

static void add_scalar(trial_t *t, unsigned reg, unsigned role, unsigned dword, unsigned dwords) {
  const gs_wave_flow_t *f = gs_wave_flow(t->w);
  for (unsigned i = 0; i < t->scalars; i++)
    if (t->scalar[i].reg == reg)
      return;
  if (t->scalars == MOST_SCALARS || reg >= GS_SGPRS || !is_marked(f->scalars, reg))
    return;
  t->scalar[t->scalars++] = (part_t){(uint16_t)reg, (uint8_t)role, (uint8_t)dword, (uint8_t)dwords};
  t->roles |= 1u << role;
}

static void add_result(trial_t *t, unsigned reg) {
  if (t->results < MOST_ROWS && reg < GS_VGPRS)
    t->result[t->results++] = (uint16_t)reg;
}

/* The dwords of an operand in registers. */
static unsigned dwords_of(const gs_wave_t *w, const gs_inst_t *in, const gs_flow_rule_t *rule, unsigned i) {
  return in->op->src[i] == GS_T_MASK ? gs_mask_dwords(w) : rule->dwords[i];
}

static void add_sources(trial_t *t) {
  for (unsigned i = 0; i < 3; i++) {
    const gs_src_t *s = &t->in->src[i];
    const unsigned n = dwords_of(t->w, t->in, t->rule, i);
    for (unsigned k = 0; k < n; k++) {
      if (s->kind == GS_SRC_VGPR)
        add_row(t, s->reg + k, i, k, n);
      if (s->kind == GS_SRC_SGPR)
        add_scalar(t, s->reg + k, i, k, n);
    }
  }
  for (unsigned k = 0; k < gs_mask_dwords(t->w) && t->rule->reads_vcc; k++)
    add_scalar(t, GS_S_VCC + k, 2, k, 2);
}

/* What the undefined bits are in the different tries: all 0, all 1, and for comparisons the least and the
 * greatest number with a sign. */
typedef enum choice { ZEROS, ONES, LEAST, MOST } choice_t;
enum { ONE_TRIES = 2, TWO_TRIES = 4, THREE_TRIES = 8, ALL_TRIES = 11, TRY_EQUAL = 10 };
static const uint8_t choices[ALL_TRIES][ROLES] = {
    {ZEROS, ZEROS, ZEROS, ZEROS},                              /* of one operand, these two tell all */
    {ONES, ONES, ONES, ONES},     {ZEROS, ONES, ZEROS, ZEROS}, /* of the first two, these four */
    {ONES, ZEROS, ONES, ONES},    {ZEROS, ZEROS, ONES, ZEROS},  {ONES, ONES, ZEROS, ONES},
    {ZEROS, ONES, ONES, ZEROS},   {ONES, ZEROS, ZEROS, ONES},   {LEAST, MOST, LEAST, ZEROS},
    {MOST, LEAST, MOST, ONES},    {ZEROS, ZEROS, ZEROS, ZEROS}, /* as much like the other operand as can be */
};
enum { ROLE_SCC = 2 };

static unsigned count_tries(const trial_t *t) {
  const unsigned roles = t->roles & ~(1u << ROLE_OLD);
  if (t->rule->flow == GS_FLOW_COMPARE || t->rule->flow == GS_FLOW_DOWN || t->rule->flow == GS_FLOW_SUM)
    return ALL_TRIES;
  if (!(roles & (roles - 1)))
    return ONE_TRIES;
  return roles >> 2 ? THREE_TRIES : TWO_TRIES;
}

static uint32_t choose(const trial_t *t, unsigned try, const part_t *part) {
  const unsigned type = part->role < 3 ? t->in->op->src[part->role] : GS_T_B32;
  const bool top = part->dword + 1u == part->dwords;
  const uint32_t sign = !top ? 0 : type == GS_T_I16 || type == GS_T_V2B16 ? 0x80008000 : 0x80000000;
  switch ((choice_t)choices[try][part->role]) {
  case ZEROS: return 0;
  case ONES: return UINT32_MAX;
  case LEAST: return sign;
  default: return ~sign;
  }
}

/* Dword `part` of operand `i` in a lane, without modifiers. */
static uint32_t value_of(const trial_t *t, unsigned i, unsigned part, unsigned lane) {
  const gs_src_t *s = &t->in->src[i];
  switch (s->kind) {
  case GS_SRC_VGPR: return t->w->v[s->reg + part].u32[lane];
  case GS_SRC_SGPR: return t->w->s.u32[s->reg + part];
  case GS_SRC_CONST: return (uint32_t)(s->value >> 32 * part);
  default: break;
  }
  const uint32_t immediate = (uint32_t)(int16_t)t->in->imm;
  return t->in->op->src[0] == GS_T_U32 ? immediate & 0xffff : immediate;
}

/* Puts into undefined bits of the first two operands what the other has there. */
static void make_equal(trial_t *t) {
  const gs_wave_flow_t *f = gs_wave_flow(t->w);
  for (unsigned i = 0; i < t->rows; i++) {
    const part_t *p = &t->row[i];
    for (unsigned l = 0; l < GS_LANES && p->role < 2; l++) {
      const uint32_t undefined = is_marked(f->rows, p->reg) ? f->bits[p->reg].u32[l] : 0;
      uint32_t *value = &t->w->v[p->reg].u32[l];
      *value = (*value & ~undefined) | (value_of(t, 1u - p->role, p->dword, l) & undefined);
    }
  }
  for (unsigned i = 0; i < t->scalars; i++) {
    const part_t *p = &t->scalar[i];
    uint32_t *value = &t->w->s.u32[p->reg];
    const uint32_t undefined = p->role < 2 ? f->s[p->reg] : 0;
    *value = (*value & ~undefined) | (value_of(t, p->role == 0, p->dword, 0) & undefined);
  }
}

/* Registers as they were, but for their undefined bits. */
static void set_up(trial_t *t, unsigned try) {
  gs_wave_t *w = t->w;
  const gs_wave_flow_t *f = gs_wave_flow(w);
  w->s = t->saved_s;
  for (unsigned i = 0; i < t->rows; i++) {
    const part_t *p = &t->row[i];
    const uint32_t chosen = choose(t, try, p);
    const gs_row_t *undefined = &f->bits[p->reg], *saved = &t->saved[i];
    gs_row_t *row = &w->v[p->reg];
    GS_LANES_DO(l)
      row->u32[l] = (saved->u32[l] & ~undefined->u32[l]) | (chosen & undefined->u32[l]);
  }
  for (unsigned i = 0; i < t->scalars; i++) {
    const part_t *p = &t->scalar[i];
    uint32_t *value = &w->s.u32[p->reg];
    *value = (*value & ~f->s[p->reg]) | (choose(t, try, p) & f->s[p->reg]);
  }
  if (f->scc)
    w->scc = choices[try][ROLE_SCC] == ONES || choices[try][ROLE_SCC] == MOST;
  if (try == TRY_EQUAL)
    make_equal(t);
}

static void keep_first(trial_t *t) {
  for (unsigned i = 0; i < t->results; i++) {
    t->first[i] = t->w->v[t->result[i]];
    memset(&t->differ[i], 0, sizeof t->differ[i]);
  }
  t->first_s = t->w->s;
  t->first_scc = t->w->scc;
}

static void compare(trial_t *t) {
  for (unsigned i = 0; i < t->results; i++) {
    const gs_row_t *now = &t->w->v[t->result[i]], *first = &t->first[i];
    gs_row_t *differ = &t->differ[i];
    GS_LANES_DO(l)
      differ->u32[l] |= now->u32[l] ^ first->u32[l];
  }
  for (unsigned i = 0; i < GS_SGPRS; i++)
    t->differ_s.u32[i] |= t->w->s.u32[i] ^ t->first_s.u32[i];
  t->differ_scc |= t->w->scc ^ t->first_scc;
}

/* Executes the instruction with the different choices; the wave is what it was afterwards. */
static void try_all(trial_t *t) {
  gs_wave_t *w = t->w;
  const gs_wave_flow_t *f = gs_wave_flow(w);
  const uint64_t pc = w->pc;
  const uint32_t scc = w->scc, mode = w->mode, trapsts = w->trapsts;
  const uint8_t state = w->state;
  t->saved_s = w->s;
  for (unsigned i = 0; i < t->rows; i++)
    t->saved[i] = w->v[t->row[i].reg];
  if (f->scc && t->in->op->encoding < GS_ENC_SMEM)
    t->roles |= 1u << ROLE_SCC;
  for (unsigned try = 0; try < count_tries(t); try++) {
    w->scc = scc;
    set_up(t, try);
    t->in->fn(w, t->in);
    if (try == 0)
      keep_first(t);
    else
      compare(t);
  }
  for (unsigned i = 0; i < t->rows; i++)
    w->v[t->row[i].reg] = t->saved[i];
  w->s = t->saved_s;
  w->pc = pc;
  w->scc = scc;
  gs_wave_set_mode(w, mode);
  w->trapsts = trapsts;
  w->state = state;
}

/* Where the operands' undefined bits came from, in the first lane of `lanes` that has some. */
static uint32_t any_origin(const trial_t *t, uint64_t lanes) {
  gs_wave_flow_t *f = gs_wave_flow(t->w);
  for (unsigned i = 0; i < t->scalars; i++)
    return gs_flow_scalar_origin(t->w, t->scalar[i].reg);
  for (unsigned i = 0; i < t->rows; i++) {
    const uint64_t some = t->row[i].role == ROLE_OLD ? 0 : gs_flow_lanes(f, t->row[i].reg, lanes);
    if (some)
      return gs_flow_origin(t->w, t->row[i].reg, (unsigned)__builtin_ctzll(some));
  }
  return f->scc ? f->scc_origin : 0;
}

/* ---- EXEC is never undefined: who makes it so is told of ---- */

static void check_exec(gs_wave_t *w, const gs_inst_t *in, uint64_t lanes, uint32_t origin) {
  if (lanes)
    gs_init_report(w, in, GS_USE_MASK, lanes, origin);
}

/* ---- Scalar instructions ---- */

static bool reads_undefined_scalars(const gs_wave_flow_t *f, const gs_inst_t *in,
                                    const gs_flow_rule_t *rule) {
  bool any = f->scc;
  for (unsigned i = 0; i < 3; i++)
    if (in->src[i].kind == GS_SRC_SGPR)
      any = any || gs_flow_any_scalar(f, in->src[i].reg, rule->dwords[i]);
  return any || (in->op->flags & GS_OPF_ACC_DST && gs_flow_any_scalar(f, in->dst, rule->dst));
}

static void add_indexed(trial_t *t) {
  for (unsigned reg = 0; reg < GS_S_FLAT_SCRATCH; reg++)
    add_scalar(t, reg, ROLE_OLD, 0, 1);
}

static uint32_t smear_up(uint32_t x) {
  return x | (0 - x);
}
static uint32_t smear_down(uint32_t x) {
  return x ? UINT32_MAX >> __builtin_clz(x) : 0;
}

/* What a rule adds to bits that differ. `either`: those undefined in an operand. */
static uint32_t widen(gs_flow_t flow, uint32_t differ, uint32_t either, bool amounts) {
  if (amounts)
    return UINT32_MAX;
  switch (flow) {
  case GS_FLOW_COARSE: return either ? UINT32_MAX : differ;
  case GS_FLOW_SUM: return differ | either;
  case GS_FLOW_UP: return smear_up(differ);
  case GS_FLOW_DOWN: return smear_down(differ);
  case GS_FLOW_ALL: return differ ? UINT32_MAX : 0;
  default: return differ;
  }
}

static void finish_scalar(trial_t *t, uint32_t origin) {
  gs_wave_flow_t *f = gs_wave_flow(t->w);
  const gs_inst_t *in = t->in;
  const gs_flow_t flow = (gs_flow_t)t->rule->flow;
  bool amounts = false;
  uint32_t either = 0;
  for (unsigned i = 0; i < t->scalars; i++) {
    if (t->scalar[i].role < 3 && t->rule->amounts >> t->scalar[i].role & 1)
      amounts = amounts || f->s[t->scalar[i].reg] & t->rule->amount_bits;
    if (t->scalar[i].role != ROLE_OLD || in->op->flags & GS_OPF_ACC_DST)
      either |= f->s[t->scalar[i].reg];
  }
  const uint64_t exec = t->differ_s.u64[GS_S_EXEC / 2] & f->all;
  for (unsigned reg = 0; reg < GS_S_EXEC; reg++) {
    const bool is_dst = reg >= in->dst && reg < in->dst + (unsigned)t->rule->dst;
    const uint32_t differ = t->differ_s.u32[reg];
    const uint32_t bits = is_dst ? widen(flow, differ, either, amounts) : differ;
    if (t->rule->special == GS_SPECIAL_INDEXED ? bits != f->s[reg]
                                               : is_dst || (bits && !is_marked(f->scalars, reg)))
      gs_flow_set_scalar(f, reg, bits, origin);
  }
  f->scc = t->differ_scc;
  f->scc_origin = origin;
  check_exec(t->w, in, exec, origin);
}

static void follow_scalar(gs_wave_t *w, const gs_inst_t *in, const gs_flow_rule_t *rule) {
  trial_t t = {.w = w, .in = in, .rule = rule};
  add_sources(&t);
  const unsigned role = in->op->flags & GS_OPF_ACC_DST ? 1 : ROLE_OLD;
  for (unsigned k = 0; k < rule->dst; k++)
    add_scalar(&t, in->dst + k, role, k, rule->dst);
  if (rule->special == GS_SPECIAL_INDEXED)
    add_indexed(&t);
  try_all(&t);
  const uint32_t origin = any_origin(&t, UINT64_MAX);
  finish_scalar(&t, origin);
  in->fn(w, in);
}

/* The operand says where to go, or which register is meant. */
static void check_operand(gs_wave_t *w, const gs_inst_t *in, const gs_flow_rule_t *rule, gs_use_t use) {
  gs_wave_flow_t *f = gs_wave_flow(w);
  const gs_src_t *s = &in->src[0];
  if (s->kind != GS_SRC_SGPR || !gs_flow_any_scalar(f, s->reg, rule->dwords[0]))
    return;
  const unsigned reg = gs_flow_any_scalar(f, s->reg, 1) ? s->reg : s->reg + 1u;
  gs_init_report(w, in, use, gs_exec(w), gs_flow_scalar_origin(w, reg));
  gs_flow_define_scalars(f, s->reg, rule->dwords[0]);
}

static void check_branch(gs_wave_t *w, const gs_inst_t *in, const gs_flow_rule_t *rule) {
  gs_wave_flow_t *f = gs_wave_flow(w);
  if (rule->condition == GS_CONDITION_SCC) {
    if (f->scc)
      gs_init_report(w, in, GS_USE_CONDITION, gs_exec(w), f->scc_origin);
    f->scc = 0;
    return;
  }
  if (!gs_flow_any_scalar(f, GS_S_VCC, gs_mask_dwords(w)))
    return;
  const uint64_t undefined = (f->s[GS_S_VCC] | (uint64_t)f->s[GS_S_VCC + 1] << 32) & f->all;
  if (gs_vcc(w) & ~undefined) /* is not zero, whatever the others are */
    return;
  gs_init_report(w, in, GS_USE_CONDITION, undefined,
                 gs_flow_scalar_origin(w, f->s[GS_S_VCC] ? GS_S_VCC : GS_S_VCC + 1));
  gs_flow_define_scalars(f, GS_S_VCC, gs_mask_dwords(w));
}

void gs_flow_scalar(gs_wave_t *w, const gs_inst_t *in, const gs_flow_rule_t *rule) {
  gs_wave_flow_t *f = gs_wave_flow(w);
  switch ((gs_special_t)rule->special) {
  case GS_SPECIAL_BRANCH: check_branch(w, in, rule); break;
  case GS_SPECIAL_JUMP: check_operand(w, in, rule, GS_USE_JUMP); break;
  case GS_SPECIAL_INDEX: check_operand(w, in, rule, GS_USE_INDEX); break;
  case GS_SPECIAL_INDEXED:
    if (gs_flow_any_scalar(f, GS_S_M0, 1))
      gs_init_report(w, in, GS_USE_INDEX, gs_exec(w), gs_flow_scalar_origin(w, GS_S_M0));
    gs_flow_define_scalars(f, GS_S_M0, 1);
    follow_scalar(w, in, rule);
    return;
  case GS_SPECIAL_NOTHING: break;
  default:
    if (reads_undefined_scalars(f, in, rule)) {
      follow_scalar(w, in, rule);
      return;
    }
  }
  in->fn(w, in);
  gs_flow_define_scalars(f, in->dst, rule->dst);
}

/* ---- Vector instructions ---- */

/* The lanes in which an operand has undefined bits, as far as they are looked at: of all lanes or of those
 * that are active. */
static uint64_t undefined_rows(const gs_wave_flow_t *f, const gs_inst_t *in, const gs_flow_rule_t *rule,
                               uint64_t lanes) {
  uint64_t some = 0;
  for (unsigned i = 0; i < 3; i++)
    for (unsigned k = 0; k < rule->dwords[i] && in->src[i].kind == GS_SRC_VGPR; k++)
      some |= gs_flow_lanes(f, in->src[i].reg + k, lanes);
  if (in->op->flags & GS_OPF_ACC_DST || rule->special == GS_SPECIAL_SWAP)
    for (unsigned k = 0; k < rule->dst; k++)
      some |= gs_flow_lanes(f, in->dst + k, lanes);
  return some;
}

static bool has_row_result(const gs_inst_t *in) {
  return in->op->encoding != GS_ENC_VOPC && !(in->op->flags & GS_OPF_SCALAR_DST);
}

static void define_results(gs_wave_t *w, const gs_inst_t *in, const gs_flow_rule_t *rule, uint64_t lanes) {
  gs_wave_flow_t *f = gs_wave_flow(w);
  if (in->op->encoding == GS_ENC_VOPC || in->op->flags & GS_OPF_SDST)
    gs_flow_define_scalars(f, in->sdst, gs_mask_dwords(w));
  if (in->op->flags & GS_OPF_SCALAR_DST)
    gs_flow_define_scalars(f, in->dst, rule->dst);
  if (!has_row_result(in))
    return;
  for (unsigned k = 0; k < rule->dst; k++)
    gs_flow_define(f, in->dst + k, lanes);
  if (rule->special == GS_SPECIAL_SWAP)
    gs_flow_define(f, in->src[0].reg, lanes);
}

/* A mask that the instruction writes, of which these lanes became undefined. */
static void set_mask(gs_wave_t *w, const gs_inst_t *in, uint64_t lanes, uint32_t origin) {
  gs_wave_flow_t *f = gs_wave_flow(w);
  gs_flow_set_scalar(f, in->sdst, (uint32_t)lanes, origin);
  if (gs_mask_dwords(w) == 2)
    gs_flow_set_scalar(f, in->sdst + 1u, (uint32_t)(lanes >> 32), origin);
  if (in->cmpx || in->sdst == GS_S_EXEC)
    check_exec(w, in, lanes, origin);
  if (in->sdst == GS_S_EXEC)
    gs_flow_define_scalars(f, GS_S_EXEC, 2);
}

/* Whether what the result has in a lane is what an operand has in another. */
static bool is_exchange(const gs_flow_rule_t *rule) {
  return rule->special == GS_SPECIAL_EXCHANGE || (rule->crosses && rule->flow == GS_FLOW_BITS);
}

static bool chooses(const trial_t *t, const part_t *p) {
  return p->role < 3 && t->rule->amounts >> p->role & 1;
}

/* Origins go the way of the values: they are exchanged instead of them, by the lanes that are chosen. */
static void exchange_origins(const trial_t *t, gs_row_t *origin) {
  gs_wave_t *w = t->w;
  const gs_wave_flow_t *f = gs_wave_flow(w);
  gs_row_t saved[MOST_ROWS];
  for (unsigned i = 0; i < t->rows; i++) {
    const unsigned reg = t->row[i].reg;
    gs_copy_row(&w->v[reg], &saved[i]);
    if (!chooses(t, &t->row[i]))
      gs_copy_row(&f->origin[reg], &w->v[reg]);
  }
  t->in->fn(w, t->in);
  const gs_row_t *found = &w->v[t->in->dst];
  GS_LANES_DO(l)
    origin->u32[l] = found->u32[l] ? found->u32[l] : origin->u32[l];
  for (unsigned i = 0; i < t->rows; i++)
    gs_copy_row(&saved[i], &w->v[t->row[i].reg]);
}

/* What the result's lanes see of a register, of which `file` has something else than values. */
static void see_row(const trial_t *t, const part_t *p, gs_row_t *file, gs_row_t *seen) {
  if (p->role > 2 || !(t->in->src[p->role].mods & GS_MOD_DPP)) {
    gs_copy_row(&file[p->reg], seen);
    return;
  }
  gs_wave_t shadow = *t->w;
  shadow.v = file;
  gs_fetch_slow64(&shadow, t->in, p->role, p->dword, false, seen);
}

/* Origins for results, lane by lane: of the last operand with undefined bits there, else any. To be found
 * before a result is written, which may be an operand. */
static void find_origins(const trial_t *t, uint64_t lanes, gs_row_t *origin) {
  gs_wave_flow_t *f = gs_wave_flow(t->w);
  const uint32_t active = any_origin(t, lanes);
  const bool exchange = is_exchange(t->rule);
  gs_broadcast(active ? active : any_origin(t, UINT64_MAX), origin);
  if (exchange)
    exchange_origins(t, origin);
  for (unsigned i = 0; i < t->rows; i++) {
    const part_t *p = &t->row[i];
    if (p->role == ROLE_OLD || !is_marked(f->rows, p->reg) || (exchange && !chooses(t, p)))
      continue;
    gs_row_t bits, from;
    see_row(t, p, f->bits, &bits);
    see_row(t, p, f->origin, &from);
    for (uint64_t left = lanes_of(&bits) & lanes; left; left &= left - 1) {
      const unsigned l = (unsigned)__builtin_ctzll(left);
      if (from.u32[l])
        origin->u32[l] = from.u32[l];
    }
  }
}

/* Of a result whose undefined bits are there. */
static void set_origins(gs_wave_flow_t *f, unsigned reg, const gs_row_t *origin, uint64_t lanes) {
  write_lanes(&f->origin[reg], origin, lanes & lanes_of(&f->bits[reg]));
  gs_flow_settle(f, reg);
}

/* Operand `i` as its undefined bits: `shadow` is a wave whose registers hold them. */
static void fetch_bits(gs_wave_t *shadow, const gs_inst_t *in, const gs_flow_rule_t *rule, unsigned i,
                       gs_row_t *some) {
  const gs_wave_flow_t *f = gs_wave_flow(shadow);
  const gs_src_t *s = &in->src[i];
  const unsigned type = in->op->src[i];
  const bool half =
      type == GS_T_B16 || type == GS_T_I16 || type == GS_T_U16 || type == GS_T_F16 || type == GS_T_BF16;
  gs_row_t tmp;
  for (unsigned k = 0; k < dwords_of(shadow, in, rule, i); k++) {
    if (s->kind == GS_SRC_SGPR ? !f->s[s->reg + k] : s->kind != GS_SRC_VGPR)
      continue;
    const gs_row_t *row = rule->dwords[i] == 1 ? gs_fetch_slow(shadow, in, i, half ? 16 : 32, &tmp)
                                               : gs_fetch_slow64(shadow, in, i, k, false, &tmp);
    if (s->kind == GS_SRC_VGPR && k > 1) /* wider operands have no modifiers */
      row = &shadow->v[s->reg + k];
    if (s->kind == GS_SRC_SGPR)
      gs_broadcast(f->s[s->reg + k], &tmp);
    GS_LANES_DO(l)
      some->u32[l] |= half ? row->u32[l] & 0xffff : row->u32[l];
  }
}

/* The wave with undefined bits for values; EXEC is the wave's. */
static void make_shadow(const gs_wave_t *w, gs_wave_t *shadow) {
  gs_wave_flow_t *f = gs_wave_flow(w);
  *shadow = *w;
  shadow->v = f->bits;
  memcpy(shadow->s.u32, f->s, GS_S_EXEC * sizeof *f->s);
}

/* Signs are not values here. */
static gs_inst_t without_signs(const gs_inst_t *in) {
  gs_inst_t plain = *in;
  for (unsigned i = 0; i < 3; i++)
    plain.src[i].mods &= (uint8_t) ~(GS_MOD_NEG | GS_MOD_ABS);
  return plain;
}

/* The undefined bits of all operands, put together. */
static void fetch_either(const trial_t *t, const gs_wave_t *w, gs_row_t *either) {
  const gs_inst_t plain = without_signs(t->in);
  gs_wave_t shadow;
  make_shadow(w, &shadow);
  memset(either, 0, sizeof *either);
  for (unsigned i = 0; i < 3; i++)
    fetch_bits(&shadow, &plain, t->rule, i, either);
  if (t->in->op->flags & GS_OPF_ACC_DST)
    for (unsigned k = 0; k < t->rule->dst; k++)
      GS_LANES_DO(l)
        either->u32[l] |= shadow.v[t->in->dst + k].u32[l];
  const uint64_t vcc = gs_vcc(&shadow);
  for (uint64_t left = t->rule->reads_vcc ? vcc : 0; left; left &= left - 1)
    either->u32[__builtin_ctzll(left)] = UINT32_MAX;
}

/* Everything of a lane that has an undefined bit in some operand. */
static void follow_coarsely(trial_t *t) {
  gs_wave_t *w = t->w;
  gs_wave_flow_t *f = gs_wave_flow(w);
  const gs_inst_t *in = t->in;
  const uint64_t lanes = gs_vexec(w, in);
  gs_row_t either, result, origin;
  fetch_either(t, w, &either);
  find_origins(t, lanes, &origin);
  const uint64_t some = lanes_of(&either) & lanes;
  if (in->op->encoding == GS_ENC_VOPC || in->op->flags & GS_OPF_SDST)
    set_mask(w, in, some, any_origin(t, lanes));
  if (has_row_result(in)) {
    gs_wave_t shadow;
    make_shadow(w, &shadow);
    gs_row_from_mask(some, &result);
    if (t->rule->half)
      GS_LANES_DO(l)
        result.u32[l] &= 0xffff;
    if (t->rule->dst == 1)
      gs_commit32(&shadow, in, &result);
    else
      for (unsigned k = 0; k < t->rule->dst; k++)
        gs_write_row(&shadow, in->dst + k, &result, lanes);
  }
  for (unsigned k = 0; k < t->rule->dst && has_row_result(in); k++)
    set_origins(f, in->dst + k, &origin, lanes);
}

/* Whether the results of an instruction come in two parts, each of parts of the operands that op_sel and
 * op_sel_hi choose: compilers leave those undefined that are not used. */
static bool has_parts(const gs_inst_t *in) {
  return in->op->encoding == GS_ENC_VOP3P && (in->op->dst == GS_T_V2F32 || in->op->dst == GS_T_V2F16);
}

/* The undefined bits of part `i` of an operand: a dword, or one half of it. */
static uint32_t part_bits(const gs_wave_flow_t *f, const gs_src_t *s, unsigned i, unsigned lane, bool wide) {
  const unsigned reg = s->reg + (wide ? i : 0);
  const uint32_t bits = s->kind == GS_SRC_VGPR   ? f->bits[reg].u32[lane]
                        : s->kind == GS_SRC_SGPR ? f->s[reg]
                                                 : 0;
  return wide ? bits : bits >> 16 * i & 0xffff;
}

/* Everything of a part of a lane's result that has an undefined bit in some part of an operand. */
static void follow_parts(trial_t *t) {
  gs_wave_flow_t *f = gs_wave_flow(t->w);
  const gs_inst_t *in = t->in;
  const bool wide = in->op->dst == GS_T_V2F32;
  const uint64_t lanes = gs_vexec(t->w, in);
  gs_row_t result[2], origin;
  find_origins(t, lanes, &origin);
  memset(result, 0, sizeof result);
  for (unsigned i = 0; i < 3; i++)
    for (unsigned h = 0; h < 2 && t->rule->dwords[i]; h++)
      for (unsigned l = 0; l < GS_LANES; l++)
        if (part_bits(f, &in->src[i], (h ? in->op_sel_hi : in->op_sel) >> i & 1, l, wide))
          result[wide ? h : 0].u32[l] |= wide ? UINT32_MAX : 0xffffU << 16 * h;
  for (unsigned k = 0; k < t->rule->dst; k++) {
    write_lanes(&f->bits[in->dst + k], &result[k], lanes);
    set_origins(f, in->dst + k, &origin, lanes);
  }
}

/* Lanes in which an operand that chooses bits is undefined. */
static uint64_t undefined_amounts(const trial_t *t) {
  const gs_wave_flow_t *f = gs_wave_flow(t->w);
  const uint32_t used = t->rule->amount_bits;
  uint64_t lanes = 0;
  for (unsigned i = 0; i < t->rows; i++) {
    const part_t *p = &t->row[i];
    gs_row_t bits;
    if (p->role == ROLE_OLD || !(t->rule->amounts >> p->role & 1) || !is_marked(f->rows, p->reg))
      continue;
    GS_LANES_DO(l)
      bits.u32[l] = f->bits[p->reg].u32[l] & used;
    lanes |= lanes_of(&bits);
  }
  for (unsigned i = 0; i < t->scalars; i++)
    if (t->scalar[i].role != ROLE_OLD && t->rule->amounts >> t->scalar[i].role & 1 &&
        f->s[t->scalar[i].reg] & used)
      lanes = UINT64_MAX;
  return lanes;
}

static void finish_row(trial_t *t, unsigned i, const gs_row_t *either, uint64_t amounts, uint64_t lanes) {
  gs_wave_flow_t *f = gs_wave_flow(t->w);
  const unsigned reg = t->result[i];
  gs_row_t *differ = &t->differ[i];
  const gs_flow_t flow = (gs_flow_t)t->rule->flow;
  const uint32_t most = t->rule->half ? 0xffff : UINT32_MAX;
  for (unsigned l = 0; l < GS_LANES && (flow != GS_FLOW_BITS || amounts); l++)
    differ->u32[l] = widen(flow, differ->u32[l], either->u32[l], amounts >> l & 1) & most;
  /* A product goes on in the next dword. */
  for (unsigned l = 0; l < GS_LANES && flow == GS_FLOW_UP && i; l++)
    if (t->differ[i - 1].u32[l])
      differ->u32[l] = UINT32_MAX;
  set_mark(f->rows, reg, true);
  write_lanes(&f->bits[reg], differ, lanes);
}

/* By trials. */
static void follow_finely(trial_t *t) {
  gs_wave_t *w = t->w;
  const gs_inst_t *in = t->in;
  const uint64_t amounts = undefined_amounts(t);
  const uint64_t lanes = gs_vexec(w, in);
  gs_row_t either, origins;
  try_all(t);
  fetch_either(t, w, &either);
  find_origins(t, lanes, &origins);
  const uint32_t origin = any_origin(t, lanes);
  gs_wave_flow_t *f = gs_wave_flow(w);
  if (in->op->encoding == GS_ENC_VOPC || in->op->flags & GS_OPF_SDST)
    set_mask(w, in, (t->differ_s.u32[in->sdst] | (uint64_t)t->differ_s.u32[in->sdst + 1] << 32) & f->all,
             origin);
  if (in->op->flags & GS_OPF_SCALAR_DST)
    gs_flow_set_scalar(f, in->dst, t->differ_s.u32[in->dst], origin);
  for (unsigned i = 0; i < t->results; i++)
    finish_row(t, i, &either, amounts, lanes);
  for (unsigned i = 0; i < t->results; i++)
    set_origins(f, t->result[i], &origins, lanes);
}

/* The results of matrix instructions are taken as a whole, whatever EXEC says. */
static void follow_matrix(gs_wave_t *w, const gs_inst_t *in, const gs_flow_rule_t *rule) {
  gs_wave_flow_t *f = gs_wave_flow(w);
  uint32_t origin = 0;
  for (unsigned i = 0; i < 3; i++)
    for (unsigned k = 0; k < rule->dwords[i] && in->src[i].kind == GS_SRC_VGPR; k++) {
      const uint64_t some = gs_flow_lanes(f, in->src[i].reg + k, UINT64_MAX);
      if (some && !origin)
        origin = gs_flow_origin(w, in->src[i].reg + k, (unsigned)__builtin_ctzll(some));
    }
  for (unsigned k = 0; k < rule->dst; k++) {
    set_mark(f->rows, in->dst + k, true);
    set_mark(f->fresh, in->dst + k, false);
    memset(&f->bits[in->dst + k], 0xff, sizeof(gs_row_t));
    gs_broadcast(origin, &f->origin[in->dst + k]);
  }
}

static void follow_vector(gs_wave_t *w, const gs_inst_t *in, const gs_flow_rule_t *rule) {
  trial_t t = {.w = w, .in = in, .rule = rule};
  add_sources(&t);
  const bool reads = in->op->flags & GS_OPF_ACC_DST;
  for (unsigned k = 0; k < rule->dst && has_row_result(in); k++) {
    add_row(&t, in->dst + k, reads ? 2 : rule->special == GS_SPECIAL_SWAP ? 1 : ROLE_OLD, k, rule->dst);
    add_result(&t, in->dst + k);
  }
  if (rule->special == GS_SPECIAL_SWAP)
    add_result(&t, in->src[0].reg);
  /* A scalar can be made equal to one lane only; and what spreads must not leave a part of a register. */
  const bool partial = has_row_result(in) && !in->plain_dst && rule->flow != GS_FLOW_BITS;
  if (rule->flow == GS_FLOW_COARSE || partial || (rule->flow == GS_FLOW_COMPARE && t.scalars))
    has_parts(in) ? follow_parts(&t) : follow_coarsely(&t);
  else
    follow_finely(&t);
}

/* One lane, whether it is active or not. */
static void follow_lane(gs_wave_t *w, const gs_inst_t *in, const gs_flow_rule_t *rule) {
  gs_wave_flow_t *f = gs_wave_flow(w);
  const unsigned lane = gs_ssrc32(w, in, 1) % gs_wave_lanes(w);
  const uint64_t bit = UINT64_C(1) << lane;
  if (rule->special == GS_SPECIAL_READLANE) {
    const bool some = in->src[0].kind == GS_SRC_VGPR && gs_flow_lanes(f, in->src[0].reg, bit);
    const uint32_t origin = some ? gs_flow_origin(w, in->src[0].reg, lane) : 0;
    if (some)
      gs_flow_fill(f, in->src[0].reg);
    gs_flow_set_scalar(f, in->dst, some ? f->bits[in->src[0].reg].u32[lane] : 0, origin);
    return;
  }
  const unsigned reg = in->src[0].reg;
  const bool some = in->src[0].kind == GS_SRC_SGPR && gs_flow_any_scalar(f, reg, 1);
  if (!some && !is_marked(f->rows, in->dst))
    return;
  const uint32_t origin = some ? gs_flow_scalar_origin(w, reg) : 0;
  gs_flow_fill(f, in->dst);
  f->bits[in->dst].u32[lane] = some ? f->s[reg] : 0;
  f->origin[in->dst].u32[lane] = origin;
  gs_flow_settle(f, in->dst);
}

/* A move between registers of which M0 says how far they are from those that are named. */
static void follow_relative(gs_wave_t *w, const gs_inst_t *in) {
  gs_wave_flow_t *f = gs_wave_flow(w);
  const uint32_t m0 = w->s.u32[GS_S_M0], far = m0 < GS_ARCH_VGPRS ? m0 : GS_ARCH_VGPRS;
  const char *name = in->op->name;
  const bool both = strstr(name, "_2_");
  const uint32_t meant = in->src[0].reg + (both ? m0 & 0x3ff : strstr(name, "rels") ? far : 0);
  const uint32_t from = meant < GS_ARCH_VGPRS ? meant : 0;
  const uint32_t to = in->dst + (both ? m0 >> 16 & 0x3ff : strstr(name, "d_") ? far : 0);
  if (gs_flow_any_scalar(f, GS_S_M0, 1))
    gs_init_report(w, in, GS_USE_INDEX, gs_exec(w), gs_flow_scalar_origin(w, GS_S_M0));
  gs_flow_define_scalars(f, GS_S_M0, 1);
  if (to >= GS_ARCH_VGPRS)
    return;
  if (in->src[0].kind != GS_SRC_VGPR || !gs_flow_any_row(f, from, 1)) {
    gs_flow_define(f, to, gs_exec(w));
    return;
  }
  gs_flow_fill(f, from);
  gs_flow_fill(f, to);
  write_lanes(&f->bits[to], &f->bits[from], gs_exec(w));
  write_lanes(&f->origin[to], &f->origin[from], gs_exec(w));
  gs_flow_settle(f, to);
}

/* Whether following takes more than to mark the results as defined: an operand has undefined bits in active
 * lanes, or what is overwritten has and is not overwritten as a whole. */
static bool is_affected(const gs_wave_t *w, const gs_inst_t *in, const gs_flow_rule_t *rule) {
  const gs_wave_flow_t *f = gs_wave_flow(w);
  for (unsigned i = 0; i < 3; i++)
    if (in->src[i].kind == GS_SRC_SGPR && gs_flow_any_scalar(f, in->src[i].reg, dwords_of(w, in, rule, i)))
      return true;
  if (rule->reads_vcc && gs_flow_any_scalar(f, GS_S_VCC, gs_mask_dwords(w)))
    return true;
  if (!in->plain_dst && has_row_result(in) && gs_flow_any_row(f, in->dst, rule->dst))
    return true;
  const bool all = rule->crosses || (in->form == GS_FORM_DPP && in->dpp.fetch_inactive);
  return undefined_rows(f, in, rule, all ? UINT64_MAX : gs_exec(w)) != 0;
}

void gs_flow_vector(gs_wave_t *w, const gs_inst_t *in, const gs_flow_rule_t *rule) {
  if (rule->special == GS_SPECIAL_READLANE || rule->special == GS_SPECIAL_WRITELANE) {
    follow_lane(w, in, rule);
    in->fn(w, in);
    return;
  }
  if (rule->special == GS_SPECIAL_RELATIVE) {
    follow_relative(w, in);
    in->fn(w, in);
    return;
  }
  if (rule->special == GS_SPECIAL_DEFINED) {
    define_results(w, in, rule, gs_exec(w));
    in->fn(w, in);
    return;
  }
  const bool matrix = rule->flow == GS_FLOW_MATRIX;
  if (GS_LIKELY(!is_affected(w, in, rule)))
    define_results(w, in, rule, matrix ? UINT64_MAX : gs_exec(w));
  else if (matrix)
    follow_matrix(w, in, rule);
  else
    follow_vector(w, in, rule);
  in->fn(w, in);
}

/* A pair is followed, and executed, as two instructions, of which the second finds what was there before. */
void gs_flow_dual(gs_wave_t *w, const gs_inst_t *in) {
  gs_wave_flow_t *f = gs_wave_flow(w);
  const gs_flow_rule_t *rule[2];
  gs_inst_t part[2];
  for (unsigned i = 0; i < 2; i++) {
    part[i] = gs_dual_part(in, i);
    const gs_flow_rule_t *dual = &gs_init_of(w)->rules[part[i].op - gs_opcodes];
    part[i].op = &gs_opcodes[dual->part];
    part[i].fn = dual->part_fn;
    rule[i] = &gs_init_of(w)->rules[dual->part];
  }
  if (gs_dual_replace(&part[1], part[0].dst)) {
    gs_flow_fill(f, part[0].dst);
    gs_copy_row(&w->v[part[0].dst], &w->v[GS_DUAL_ROW]);
    gs_copy_row(&f->bits[part[0].dst], &f->bits[GS_DUAL_ROW]);
    gs_copy_row(&f->origin[part[0].dst], &f->origin[GS_DUAL_ROW]);
    set_mark(f->rows, GS_DUAL_ROW, is_marked(f->rows, part[0].dst));
    set_mark(f->fresh, GS_DUAL_ROW, false);
  }
  for (unsigned i = 0; i < 2; i++)
    gs_flow_vector(w, &part[i], rule[i]);
}
