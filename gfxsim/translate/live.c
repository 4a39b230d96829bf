/* See live.h. Code is looked at in parts: from where somebody asks, or branches go, to the next branch, jump
 * or end. What a part does to the sets is summed up once, and the sets at its beginning are worked out
 * from those behind it until nothing changes any more. */
#include "translate/live.h"

#include <stdlib.h>
#include <string.h>

#include "isa/dual.h"
#include "translate/choose.h"

enum {
  WORDS = GS_VGPRS / 64,
  SCALAR_WORDS = sizeof(gs_scalar_set_t) / sizeof(uint64_t),
  MOST_DWORDS = 4, /* of an operand that an access to memory has in scalar registers */
  FIRST_PARTS = 32,
  MOST_INSTRUCTIONS = 1 << 17, /* that are looked at, of one translator */
  MOST_OF_PART = 4096,
  NOWHERE = -1,
};

/* ---- Sets ---- */

static const gs_row_set_t no_rows;

static gs_row_set_t all_rows(void) {
  gs_row_set_t set;
  memset(&set, 0xff, sizeof set);
  return set;
}
static gs_scalar_set_t all_scalars(void) {
  gs_scalar_set_t set;
  memset(&set, 0xff, sizeof set);
  return set;
}
static void add(gs_row_set_t *set, const gs_row_set_t *other) {
  for (unsigned i = 0; i < WORDS; i++)
    set->bits[i] |= other->bits[i];
}
static void add_common(gs_row_set_t *set, const gs_row_set_t *one, const gs_row_set_t *other) {
  for (unsigned i = 0; i < WORDS; i++)
    set->bits[i] |= one->bits[i] & other->bits[i];
}

/* ---- What code does to them ---- */

/* One of the two sets in front of some code: registers that it has anyway, and of the sets behind the code
 * those that come through. */
typedef struct way {
  gs_row_set_t own, of_active, of_others;
} way_t;

/* The same of scalar registers, of which there is but one set. */
typedef struct scalar_way {
  gs_scalar_set_t own, of_behind;
} scalar_way_t;

typedef struct effect {
  way_t active, others;
  scalar_way_t scalars;
} effect_t;

static void add_way(way_t *way, const way_t *other) {
  add(&way->own, &other->own);
  add(&way->of_active, &other->of_active);
  add(&way->of_others, &other->of_others);
}
static gs_row_set_t set_before(const way_t *way, const gs_row_set_t *active, const gs_row_set_t *others) {
  gs_row_set_t set = way->own;
  add_common(&set, &way->of_active, active);
  add_common(&set, &way->of_others, others);
  return set;
}

static gs_scalar_set_t scalars_before(const scalar_way_t *way, const gs_scalar_set_t *behind) {
  gs_scalar_set_t set = way->own;
  for (unsigned i = 0; i < SCALAR_WORDS; i++)
    set.bits[i] |= way->of_behind.bits[i] & behind->bits[i];
  return set;
}

/* Registers that have a meaning beyond their number matter to more than the code that names them. */
static bool is_common(unsigned scalar) {
  return scalar < GS_S_FLAT_SCRATCH || scalar / 2 == GS_S_VCC / 2 || scalar == GS_S_NULL ||
         scalar == GS_SCALAR_SCC;
}

static effect_t nothing_done(void) {
  effect_t e = {
      .active.of_active = all_rows(), .others.of_others = all_rows(), .scalars.of_behind = all_scalars()};
  for (unsigned i = 0; i < GS_SCALARS; i++)
    gs_scalar_set_put(&e.scalars.own, i, 1, !is_common(i));
  return e;
}

/* ---- What an instruction does; code is gone through from its end ---- */

static void read_rows(effect_t *e, unsigned first, unsigned count, bool any_lane) {
  gs_row_set_put(&e->active.own, first, count, true);
  if (any_lane)
    gs_row_set_put(&e->others.own, first, count, true);
}
static void write_rows(effect_t *e, unsigned first, unsigned count) {
  gs_row_set_put(&e->active.own, first, count, false);
  gs_row_set_put(&e->active.of_active, first, count, false);
  gs_row_set_put(&e->active.of_others, first, count, false);
}
static void read_everything(effect_t *e) {
  e->active.own = e->others.own = all_rows();
  e->scalars.own = all_scalars();
}

static void read_scalars(effect_t *e, unsigned first, unsigned count) {
  gs_scalar_set_put(&e->scalars.own, first, count, true);
}
static void write_scalars(effect_t *e, unsigned first, unsigned count) {
  for (unsigned i = first; i < first + count; i++)
    if (is_common(i)) {
      gs_scalar_set_put(&e->scalars.own, i, 1, false);
      gs_scalar_set_put(&e->scalars.of_behind, i, 1, false);
    }
}

static bool begins(const char *name, const char *prefix) {
  return strncmp(name, prefix, strlen(prefix)) == 0;
}

static bool is_vector_op(const gs_inst_t *in) {
  switch (in->op->encoding) {
  case GS_ENC_VOP1:
  case GS_ENC_VOP2:
  case GS_ENC_VOPC:
  case GS_ENC_VOP3:
  case GS_ENC_VOP3P: return true;
  default: return false;
  }
}

/* Vector instructions that have to do with registers that their operands do not name. */
static bool is_obscure(const char *name) {
  return begins(name, "v_movrel") || begins(name, "v_swaprel") || begins(name, "v_interp") ||
         begins(name, "v_screen");
}
/* Vector instructions that change a part of their destination, or some of its lanes, or that read it. */
static bool is_partial(const gs_inst_t *in) {
  return in->form == GS_FORM_SDWA || in->form == GS_FORM_DPP || in->dst_hi ||
         (in->op->flags & (GS_OPF_PRESERVE_HI | GS_OPF_SCALAR_DST)) || begins(in->op->name, "v_permlane") ||
         begins(in->op->name, "v_cvt_pkaccum");
}
/* Those whose operand is a result, too. */
static bool swaps_registers(const char *name) {
  return begins(name, "v_swap") || (begins(name, "v_permlane") && strstr(name, "_swap"));
}
static bool is_matrix(const gs_inst_t *in) {
  return in->op->encoding == GS_ENC_VOP3P && (in->op->flags & (GS_OPF_MFMA | GS_OPF_WMMA));
}
static bool reads_other_lanes(const gs_inst_t *in) {
  return in->form == GS_FORM_DPP || (in->op->flags & GS_OPF_SCALAR_DST) ||
         begins(in->op->name, "v_permlane") || is_matrix(in);
}

static unsigned width_of(unsigned type) {
  const unsigned dwords = gs_type_dwords((gs_type_t)type);
  return dwords ? dwords : 1;
}

static void read_sources(effect_t *e, const gs_inst_t *in, bool any_lane) {
  for (unsigned i = 0; i < 3; i++)
    if (in->src[i].kind == GS_SRC_VGPR)
      read_rows(e, in->src[i].reg, width_of(in->op->src[i]), any_lane);
}

static void do_vector_op(effect_t *e, const gs_inst_t *in) {
  const bool any_lane = reads_other_lanes(in), swaps = swaps_registers(in->op->name);
  const unsigned results = in->op->encoding == GS_ENC_VOPC || (in->op->flags & GS_OPF_SCALAR_DST)
                               ? 0
                               : gs_type_dwords((gs_type_t)in->op->dst);
  if (!is_partial(in) && !is_matrix(in) && !swaps)
    write_rows(e, in->dst, results);
  if (swaps || (in->op->flags & (GS_OPF_ACC_DST | GS_OPF_SPARSE)))
    read_rows(e, in->dst, results, any_lane);
  read_sources(e, in, any_lane);
}

/* A pair reads for both of its parts before it writes. */
static void do_pair(effect_t *e, const gs_inst_t *in) {
  const gs_inst_t part[2] = {gs_dual_part(in, 0), gs_dual_part(in, 1)};
  for (unsigned i = 0; i < 2; i++)
    write_rows(e, part[i].dst, 1);
  for (unsigned i = 0; i < 2; i++) {
    read_sources(e, &part[i], false);
    if (strstr(part[i].op->name, "fmac") || strstr(part[i].op->name, "acc_"))
      read_rows(e, part[i].dst, 1, false);
  }
}

/* A load that does nothing but fill its registers. */
static bool is_plain_load(const gs_inst_t *in) {
  enum {
    OTHERS =
        GS_OPF_STORE | GS_OPF_ATOMIC | GS_OPF_RTN | GS_OPF_D16_LO | GS_OPF_D16_HI | GS_OPF_D16 | GS_OPF_TO_LDS
  };
  const char *const name = in->op->name;
  return !(in->op->flags & OTHERS) && !in->lds && !in->tfe &&
         (begins(name, "flat_load_") || begins(name, "global_load_") || begins(name, "scratch_load_") ||
          begins(name, "ds_load_") || begins(name, "ds_read"));
}
static void do_memory(effect_t *e, const gs_inst_t *in) {
  const bool any_lane = strstr(in->op->name, "permute") || strstr(in->op->name, "swizzle");
  if (is_plain_load(in))
    write_rows(e, in->dst, gs_type_dwords((gs_type_t)in->op->dst));
  read_sources(e, in, any_lane);
}

/* Addresses have two registers at most; data are where results are, and may come with a word of status. */
static void do_buffer(effect_t *e, const gs_inst_t *in) {
  if (in->src[0].kind == GS_SRC_VGPR)
    read_rows(e, in->src[0].reg, 2, false);
  if (in->op->flags & GS_OPF_ATOMIC)
    read_everything(e);
  else if (in->op->flags & GS_OPF_STORE)
    read_rows(e, in->dst, width_of(in->op->dst) + 1, false);
}

/* ---- Scalar registers ---- */

/* Scalar instructions that read their destination, or for which it is something else. */
static bool keeps_scalar(const gs_inst_t *in) {
  return (in->op->flags & (GS_OPF_ACC_DST | GS_OPF_STORE | GS_OPF_ATOMIC)) ||
         begins(in->op->name, "s_atc_probe");
}

static void do_scalar_results(effect_t *e, const gs_inst_t *in, unsigned lanes) {
  const gs_opcode_t *const op = in->op;
  const bool is_scalar = op->encoding <= GS_ENC_SMEM && op->dst != GS_T_NONE;
  const bool has_mask = op->encoding == GS_ENC_VOPC || (op->flags & GS_OPF_SDST);
  if (has_mask && !in->cmpx && in->form != GS_FORM_DPP) /* whose masks may leave lanes as they are */
    write_scalars(e, in->sdst, lanes / 32);
  if ((is_scalar && !keeps_scalar(in)) || (op->flags & GS_OPF_SCALAR_DST))
    write_scalars(e, in->dst, width_of(op->dst));
  if (is_scalar && keeps_scalar(in))
    read_scalars(e, in->dst, op->encoding == GS_ENC_SMEM ? MOST_DWORDS : width_of(op->dst));
  if (gs_writes_scc(in))
    write_scalars(e, GS_SCALAR_SCC, 1);
}

/* Rather more than it reads. */
static void do_scalar_sources(effect_t *e, const gs_inst_t *in) {
  const gs_opcode_t *const op = in->op;
  const bool is_access = op->encoding == GS_ENC_SMEM || op->encoding >= GS_ENC_DS;
  for (unsigned i = 0; i < 3; i++) {
    const bool is_mask = op->src[i] == GS_T_MASK;
    if (in->src[i].kind == GS_SRC_SGPR)
      read_scalars(e, in->src[i].reg, is_access ? MOST_DWORDS : is_mask ? 2 : width_of(op->src[i]));
    if (in->src[i].kind == GS_SRC_SPECIAL)
      read_scalars(e, GS_S_VCC, 2);
  }
  if (op->encoding == GS_ENC_VOPD || begins(op->name, "v_div_fmas") || begins(op->name, "s_cbranch_vcc") ||
      begins(op->name, "s_getreg"))
    read_scalars(e, GS_S_VCC, 2);
  if (gs_reads_scc(in) && (!begins(op->name, "s_cbranch") || begins(op->name, "s_cbranch_scc")))
    read_scalars(e, GS_SCALAR_SCC, 1);
  if (begins(op->name, "s_movrels"))
    e->scalars.own = all_scalars();
}

/* ---- EXEC ---- */

typedef enum change { EXEC_SAME, EXEC_LESS, EXEC_MORE, EXEC_OTHER } change_t;

static bool is_exec(const gs_src_t *src) {
  return src->kind == GS_SRC_SGPR && src->reg == GS_S_EXEC;
}

/* Of instructions that calculate EXEC from what it was. */
static change_t change_by(const gs_inst_t *in) {
  const char *const name = in->op->name;
  const bool first = is_exec(&in->src[0]), second = is_exec(&in->src[1]);
  if (begins(name, "s_and_saveexec") || begins(name, "s_andn1_saveexec") ||
      begins(name, "s_and_not0_saveexec") || ((begins(name, "s_and_b")) && (first || second)) ||
      ((begins(name, "s_andn2_b") || begins(name, "s_and_not1_b")) && first))
    return EXEC_LESS;
  if (begins(name, "s_or_saveexec") || (begins(name, "s_or_b") && (first || second)))
    return EXEC_MORE;
  return EXEC_OTHER;
}

static change_t exec_change(const gs_inst_t *in) {
  const gs_opcode_t *const op = in->op;
  const bool is_scalar = op->encoding <= GS_ENC_SMEM;
  const bool has_mask = op->encoding == GS_ENC_VOPC || (op->flags & GS_OPF_SDST);
  const bool to_exec = op->dst != GS_T_NONE && in->dst + width_of(op->dst) > GS_S_EXEC;
  if (in->cmpx)
    return EXEC_LESS;
  if (is_scalar && begins(op->name, "s_sendmsg")) /* one of the messages is answered there */
    return EXEC_OTHER;
  if ((is_scalar || (op->flags & GS_OPF_SCALAR_DST)) && to_exec)
    return in->dst == GS_S_EXEC && op->encoding == GS_ENC_SOP2 ? change_by(in) : EXEC_OTHER;
  if (is_scalar && strstr(op->name, "exec"))
    return change_by(in);
  return has_mask && in->sdst + 2 > GS_S_EXEC ? EXEC_OTHER : EXEC_SAME;
}

/* Lanes that go were active, those that come were others. */
static void change_exec(effect_t *e, change_t change) {
  const way_t active = e->active;
  if (change == EXEC_LESS || change == EXEC_OTHER)
    add_way(&e->active, &e->others);
  if (change == EXEC_MORE || change == EXEC_OTHER)
    add_way(&e->others, &active);
}

/* ---- How code goes on ---- */

typedef enum flow { FLOW_ON, FLOW_BRANCH, FLOW_JUMP, FLOW_END, FLOW_UNKNOWN } flow_t;

/* Scalar instructions that modes, or the program counter, depend on, or that may write any register, and so
 * EXEC. */
static bool is_unknown(const char *name) {
  static const char *const prefixes[] = {
      "s_setpc",        "s_swappc",  "s_call",     "s_rfe",     "s_cbranch_g_fork", "s_cbranch_i_fork",
      "s_cbranch_join", "s_set_gpr", "s_setvskip", "s_setreg",  "s_subvector",      "s_round_mode",
      "s_denorm_mode",  "s_trap",    "s_sethalt",  "s_setkill", "s_movreld",        "s_movrelsd"};
  for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
    if (begins(name, prefixes[i]))
      return true;
  return false;
}
static flow_t flow_of(const gs_inst_t *in) {
  if (!in->op || (in->op->flags & GS_OPF_ILLEGAL))
    return FLOW_UNKNOWN;
  if (in->op->encoding > GS_ENC_SOPP)
    return FLOW_ON;
  const char *const name = in->op->name;
  return is_unknown(name)            ? FLOW_UNKNOWN
         : begins(name, "s_endpgm")  ? FLOW_END
         : begins(name, "s_branch")  ? FLOW_JUMP
         : begins(name, "s_cbranch") ? FLOW_BRANCH
                                     : FLOW_ON;
}

static void do_instruction(effect_t *e, const gs_inst_t *in, unsigned lanes) {
  change_exec(e, exec_change(in));
  do_scalar_results(e, in, lanes);
  do_scalar_sources(e, in);
  switch (in->op->encoding) {
  case GS_ENC_SOP1:
  case GS_ENC_SOP2:
  case GS_ENC_SOPK:
  case GS_ENC_SOPC:
  case GS_ENC_SOPP:
  case GS_ENC_SMEM: return;
  case GS_ENC_VOPD: do_pair(e, in); return;
  case GS_ENC_DS:
  case GS_ENC_FLAT:
  case GS_ENC_GLOBAL:
  case GS_ENC_SCRATCH: do_memory(e, in); return;
  case GS_ENC_MUBUF:
  case GS_ENC_MTBUF: do_buffer(e, in); return;
  default: break;
  }
  if (is_vector_op(in) && !is_obscure(in->op->name))
    do_vector_op(e, in);
  else
    read_everything(e);
}

/* ---- Parts ---- */

typedef struct gs_live_part {
  uint64_t address;
  int next[2]; /* parts, NOWHERE */
  effect_t effect;
  gs_row_set_t active, others; /* in front of it */
  gs_scalar_set_t scalars;
} part_t;

/* Who asks. */
typedef struct asker {
  gs_live_t *live;
  gs_code_find_t *find;
  void *context;
  bool looks_at_end;
} asker_t;

static unsigned *place_of(const gs_live_t *live, uint64_t address) {
  const unsigned places = 2 * live->capacity;
  unsigned i = (unsigned)(address / 4 * 2654435761u % places);
  while (live->place[i] && live->part[live->place[i] - 1].address != address)
    i = (i + 1) % places;
  return &live->place[i];
}

static bool grow(gs_live_t *live) {
  const unsigned capacity = live->capacity ? 2 * live->capacity : FIRST_PARTS;
  part_t *const part = realloc(live->part, capacity * sizeof *part);
  if (part)
    live->part = part;
  unsigned *const place = part ? calloc(2 * (size_t)capacity, sizeof *place) : NULL;
  if (!place)
    return false;
  free(live->place);
  live->place = place;
  live->capacity = capacity;
  for (unsigned i = 0; i < live->count; i++)
    *place_of(live, live->part[i].address) = i + 1;
  return true;
}

/* The part at an address, which is still to be looked at if it is new; NOWHERE without memory. */
static int part_at(gs_live_t *live, uint64_t address) {
  if (live->count == live->capacity && !grow(live))
    return NOWHERE;
  unsigned *const place = place_of(live, address);
  if (!*place) {
    live->part[live->count] = (part_t){.address = address, .next = {NOWHERE, NOWHERE}};
    *place = ++live->count;
  }
  return (int)*place - 1;
}

/* The instructions of a part, from its beginning. */
typedef struct line {
  const gs_inst_t *in[MOST_OF_PART];
  unsigned count;
  flow_t flow;           /* behind them */
  const gs_inst_t *last; /* by which it is so; NULL where the code is not known */
  uint64_t next, target;
} line_t;

static void read_line(const asker_t *a, uint64_t address, line_t *line) {
  gs_code_place_t place;
  line->count = 0;
  line->flow = FLOW_ON;
  line->last = NULL;
  while (line->flow == FLOW_ON) {
    if (line->count == MOST_OF_PART || a->live->instructions == MOST_INSTRUCTIONS ||
        !a->find(a->context, address, &place)) {
      line->flow = FLOW_UNKNOWN;
      return;
    }
    a->live->instructions++;
    line->flow = flow_of(place.in);
    address += place.in->size;
    if (line->flow == FLOW_ON) {
      line->in[line->count++] = place.in;
    } else {
      line->last = place.in;
      line->target = address + (uint64_t)(int64_t)(int16_t)place.in->imm * 4;
    }
  }
  line->next = address;
}

/* Sums up what the part does. Returns false without memory. */
static bool look_at(const asker_t *a, unsigned index, line_t *line) {
  gs_live_t *const live = a->live;
  int next[2] = {NOWHERE, NOWHERE};
  effect_t effect = nothing_done();
  read_line(a, live->part[index].address, line);
  const bool goes_on = line->flow == FLOW_BRANCH, jumps = goes_on || line->flow == FLOW_JUMP;
  if ((goes_on && (next[0] = part_at(live, line->next)) == NOWHERE) ||
      (jumps && (next[1] = part_at(live, line->target)) == NOWHERE))
    return false;
  if (line->flow == FLOW_UNKNOWN || (line->flow == FLOW_END && a->looks_at_end))
    read_everything(&effect);
  if (line->flow == FLOW_BRANCH)
    do_scalar_sources(&effect, line->last);
  for (unsigned i = line->count; i-- > 0;)
    do_instruction(&effect, line->in[i], live->lanes);
  memcpy(live->part[index].next, next, sizeof next);
  live->part[index].effect = effect;
  return true;
}

static bool update(gs_live_t *live, part_t *part) {
  gs_row_set_t active = no_rows, others = no_rows;
  gs_scalar_set_t scalars = {{0}};
  for (unsigned i = 0; i < 2; i++)
    if (part->next[i] != NOWHERE) {
      add(&active, &live->part[part->next[i]].active);
      add(&others, &live->part[part->next[i]].others);
      gs_scalar_set_add(&scalars, &live->part[part->next[i]].scalars);
    }
  const gs_row_set_t new_active = set_before(&part->effect.active, &active, &others);
  const gs_row_set_t new_others = set_before(&part->effect.others, &active, &others);
  const gs_scalar_set_t new_scalars = scalars_before(&part->effect.scalars, &scalars);
  if (memcmp(&new_active, &part->active, sizeof new_active) == 0 &&
      memcmp(&new_others, &part->others, sizeof new_others) == 0 &&
      memcmp(&new_scalars, &part->scalars, sizeof new_scalars) == 0)
    return false;
  part->active = new_active;
  part->others = new_others;
  part->scalars = new_scalars;
  return true;
}

gs_live_set_t gs_live_at(gs_live_t *live, uint64_t address, bool looks_at_end, gs_code_find_t *find,
                         void *context) {
  const asker_t asker = {live, find, context, looks_at_end};
  const unsigned first = live->count;
  line_t *const line = malloc(sizeof *line);
  const int asked = line ? part_at(live, address) : NOWHERE;
  bool is_known = asked != NOWHERE;
  for (unsigned i = first; i < live->count && is_known; i++)
    is_known = look_at(&asker, i, line);
  free(line);
  if (!is_known) { /* no memory */
    gs_live_clear(live);
    return (gs_live_set_t){all_rows(), all_scalars()};
  }
  for (bool changes = true; changes;) {
    changes = false;
    for (unsigned i = live->count; i-- > first;)
      changes |= update(live, &live->part[i]);
  }
  return (gs_live_set_t){live->part[asked].active, live->part[asked].scalars};
}

void gs_live_clear(gs_live_t *live) {
  free(live->part);
  free(live->place);
  *live = (gs_live_t){.lanes = live->lanes};
}
