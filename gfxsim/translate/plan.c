/* See plan.h. */
#include "translate/plan.h"

#include <string.h>

/* ---- Sets ---- */

static bool has(const uint64_t *bits, unsigned size, unsigned first, unsigned count) {
  bool found = false;
  for (unsigned i = first; i < first + count && i < size; i++)
    found |= bits[i / 64] >> i % 64 & 1;
  return found;
}

static bool has_rows(const gs_row_set_t *set, unsigned first, unsigned count) {
  return has(set->bits, GS_VGPRS, first, count);
}
static bool has_scalars(const gs_scalar_set_t *set, unsigned first, unsigned count) {
  return has(set->bits, GS_SGPRS, first, count);
}

/* ---- Vector instructions ---- */

/* Registers that an operand has. */
static unsigned width_of(const gs_inst_t *in, unsigned i, unsigned lanes) {
  const gs_type_t type = (gs_type_t)in->op->src[i];
  const unsigned dwords = type == GS_T_MASK ? lanes / 32 : gs_type_dwords(type);
  return dwords ? dwords : 1;
}

static bool writes_mask(const gs_inst_t *in) {
  return in->op->encoding == GS_ENC_VOPC || (in->op->flags & GS_OPF_SDST);
}

/* Vector registers that are written. */
static unsigned results_of(const gs_inst_t *in) {
  return in->op->encoding == GS_ENC_VOPC || gs_strip_is_mask_op(in) ? 0
                                                                    : gs_type_dwords((gs_type_t)in->op->dst);
}

static bool add_mask_op(gs_plan_t *p, const gs_inst_t *in, unsigned lanes) {
  const unsigned mask = lanes / 32;
  bool is_loaded = false, is_late = has_scalars(&p->behind_reads, in->dst, mask) ||
                                    has_scalars(&p->behind_writes, in->dst, mask);
  for (unsigned i = 0; i < 2; i++) {
    const gs_src_t *const s = &in->src[i];
    if (s->kind != GS_SRC_SGPR)
      continue;
    is_loaded |= has_scalars(&p->loaded_masks, s->reg, mask);
    is_late |= has_scalars(&p->behind_writes, s->reg, mask);
  }
  if (is_late || !gs_strip_scalars_add(&p->scalars, in, lanes))
    return false;
  gs_scalar_set_put(&p->loaded_masks, in->dst, mask, is_loaded);
  return true;
}

/* VCC, though it is no operand. */
static bool reads_vcc(const gs_inst_t *in) {
  return strncmp(in->op->name, "v_div_fmas", 10) == 0;
}

static bool add_vector(gs_plan_t *p, const gs_inst_t *in, unsigned lanes) {
  const unsigned results = results_of(in), mask = lanes / 32;
  if (gs_strip_is_mask_op(in))
    return add_mask_op(p, in, lanes);
  bool is_loaded = (in->op->flags & GS_OPF_ACC_DST) && has_rows(&p->loaded, in->dst, results),
       is_late = false;
  bool is_uniform = !(in->op->flags & (GS_OPF_ACC_DST | GS_OPF_VCC_IN));
  if (reads_vcc(in)) {
    is_loaded |= has_scalars(&p->loaded_masks, GS_S_VCC, mask);
    is_late |= has_scalars(&p->behind_writes, GS_S_VCC, mask);
    is_uniform = false;
  }
  for (unsigned i = 0; i < 3; i++) {
    const gs_src_t *s = &in->src[i];
    const unsigned width = width_of(in, i, lanes);
    if (s->kind == GS_SRC_VGPR) {
      is_loaded |= has_rows(&p->loaded, s->reg, width);
      is_uniform = false;
    }
    if (s->kind == GS_SRC_SGPR) {
      is_loaded |= has_scalars(&p->loaded_masks, s->reg, width);
      is_late |= has_scalars(&p->behind_writes, s->reg, width);
    }
  }
  if (writes_mask(in))
    is_late |=
        has_scalars(&p->behind_reads, in->sdst, mask) || has_scalars(&p->behind_writes, in->sdst, mask);
  if (is_late || !gs_strip_scalars_add(&p->scalars, in, lanes))
    return false;
  if (writes_mask(in))
    gs_scalar_set_put(&p->loaded_masks, in->sdst, mask, is_loaded);
  gs_row_set_put(&p->uniform, in->dst, results, is_uniform);
  gs_row_set_put(&p->written, in->dst, results, true);
  gs_row_set_put(&p->loaded, in->dst, results, is_loaded);
  p->vector_count++;
  return true;
}

/* ---- Loads ---- */

/* What is the same for all lanes beyond doubt is loaded faster as whole rows than by strips. */
static bool add_load(gs_plan_t *p, const gs_inst_t *in) {
  const unsigned results = gs_type_dwords((gs_type_t)in->op->dst), row = in->src[0].reg;
  const bool has_base = in->src[2].kind == GS_SRC_SGPR;
  const unsigned rows = has_base ? 1 : 2;
  if (p->has_waited || p->load_count == GS_STRIP_LOADS || has_rows(&p->loaded, row, rows) ||
      has_rows(&p->uniform, row, rows) ||
      (has_base && (has_scalars(&p->scalars.written, in->src[2].reg, 2) ||
                    has_scalars(&p->behind_writes, in->src[2].reg, 2))))
    return false;
  p->load[p->load_count++] = (gs_plan_load_t){in, has_rows(&p->written, row, rows)};
  gs_row_set_put(&p->written, in->dst, results, true);
  gs_row_set_put(&p->loaded, in->dst, results, true);
  gs_row_set_put(&p->uniform, in->dst, results, false);
  return true;
}

/* ---- What is done behind the strips ---- */

static bool is_wait(const gs_inst_t *in) {
  return strncmp(in->op->name, "s_wait", 6) == 0;
}

/* A scalar instruction, if it has nothing to do with EXEC. It may read what it writes. */
static bool is_scalar(const gs_inst_t *in) {
  const unsigned encoding = in->op->encoding;
  return encoding == GS_ENC_SOP1 || encoding == GS_ENC_SOP2 || encoding == GS_ENC_SOPK ||
         encoding == GS_ENC_SOPC;
}
static bool add_behind(gs_plan_t *p, const gs_inst_t *in, const gs_choice_t *choice) {
  if (choice->kind != GS_STEP_STENCIL || !choice->any || choice->writes_exec || !is_scalar(in))
    return false;
  for (unsigned i = 0; i < 3; i++)
    if (in->src[i].kind == GS_SRC_SGPR)
      gs_scalar_set_put(&p->behind_reads, in->src[i].reg, width_of(in, i, GS_MAX_LANES), true);
  if (in->op->dst != GS_T_NONE)
    gs_scalar_set_put(&p->behind_writes, in->dst, gs_type_dwords((gs_type_t)in->op->dst), true);
  return true;
}

/* ---- Plans ---- */

void gs_plan_begin(gs_plan_t *plan, bool assumes) {
  memset(plan, 0, sizeof *plan);
  plan->assumes = assumes;
}

static bool add(gs_plan_t *p, const gs_inst_t *in, const gs_choice_t *choice, unsigned lanes, uint8_t *role) {
  *role = GS_PLAN_NOTHING;
  if (choice->kind == GS_STEP_NOTHING) {
    p->has_waited |= is_wait(in) && p->load_count;
    return true;
  }
  *role = GS_PLAN_BEHIND;
  if (choice->strip_load) {
    *role = GS_PLAN_LOAD;
    return add_load(p, in);
  }
  const bool is_for_strips = choice->strip_full || (p->assumes && choice->strip_assumed);
  if (!is_for_strips || (in->op->encoding == GS_ENC_SOP2 && !gs_strip_has_mask_of(&p->scalars, in)))
    return add_behind(p, in, choice);
  if (in->op->encoding == GS_ENC_VOPD) /* whose parts do not say what they read */
    return false;
  *role = GS_PLAN_VECTOR;
  return !choice->writes_exec && add_vector(p, in, lanes);
}

bool gs_plan_add(gs_plan_t *p, const gs_inst_t *in, const gs_choice_t *choice, unsigned lanes) {
  const gs_strip_scalars_t before =
      p->scalars; /* all else is as it was where an instruction can't be added */
  uint8_t role;
  if (p->steps < GS_PLAN_STEPS && add(p, in, choice, lanes, &role)) {
    p->in[p->steps] = in;
    p->choice[p->steps] = choice;
    p->role[p->steps++] = role;
    return true;
  }
  p->scalars = before;
  return false;
}

bool gs_plan_end(gs_plan_t *p) {
  bool has_behind = false;
  while (p->steps && p->role[p->steps - 1] != GS_PLAN_VECTOR && p->role[p->steps - 1] != GS_PLAN_LOAD)
    p->steps--;
  for (unsigned i = 0; i < p->steps; i++)
    has_behind |= p->role[i] == GS_PLAN_BEHIND;
  return (p->load_count || has_behind) && p->load_count + p->vector_count > 1 && p->role[0] != GS_PLAN_BEHIND;
}

unsigned gs_plan_address_steps(const gs_plan_t *p) {
  unsigned steps = 0, load = 0;
  for (unsigned i = 0; i < p->steps; i++)
    if (p->role[i] == GS_PLAN_LOAD && p->load[load++].is_computed)
      steps = i + 1;
  return steps;
}

/* ---- What computes addresses ---- */

/* What is still to be found, from the plan's end to its begin. */
typedef struct wanted {
  gs_row_set_t rows;
  gs_scalar_set_t masks;
} wanted_t;

static void want_sources(wanted_t *wanted, const gs_inst_t *in, unsigned lanes) {
  for (unsigned i = 0; i < 3; i++) {
    if (in->src[i].kind == GS_SRC_VGPR)
      gs_row_set_put(&wanted->rows, in->src[i].reg, width_of(in, i, lanes), true);
    if (in->src[i].kind == GS_SRC_SGPR && in->op->src[i] == GS_T_MASK)
      gs_scalar_set_put(&wanted->masks, in->src[i].reg, lanes / 32, true);
  }
}

/* The same of a scalar instruction that moves a mask or combines two. */
static bool combines_wanted(wanted_t *wanted, const gs_inst_t *in, unsigned mask) {
  if (!has_scalars(&wanted->masks, in->dst, mask))
    return false;
  gs_scalar_set_put(&wanted->masks, in->dst, mask, false);
  for (unsigned i = 0; i < 2; i++)
    if (in->src[i].kind == GS_SRC_SGPR && in->src[i].reg <= GS_S_VCC)
      gs_scalar_set_put(&wanted->masks, in->src[i].reg, mask, true);
  return true;
}

/* Whether the vector instruction makes something that is wanted; its operands are, from now on. */
static bool makes_wanted(wanted_t *wanted, const gs_inst_t *in, unsigned lanes) {
  if (gs_strip_is_mask_op(in))
    return combines_wanted(wanted, in, lanes / 32);
  const unsigned results = results_of(in);
  const unsigned mask = writes_mask(in) ? lanes / 32 : 0;
  if (!has_rows(&wanted->rows, in->dst, results) && !has_scalars(&wanted->masks, in->sdst, mask))
    return false;
  gs_row_set_put(&wanted->rows, in->dst, results, false);
  gs_scalar_set_put(&wanted->masks, in->sdst, mask, false);
  want_sources(wanted, in, lanes);
  return true;
}

/* What is wanted from before the plan. */
static bool list_wanted(const wanted_t *wanted, gs_plan_slice_t *slice) {
  for (unsigned i = 0; i < GS_VGPRS; i++) {
    if (!has_rows(&wanted->rows, i, 1))
      continue;
    if (slice->row_count == GS_PLAN_ROWS || i >= GS_ARCH_VGPRS)
      return false;
    slice->row[slice->row_count++] = (uint16_t)i;
  }
  slice->masks = wanted->masks;
  return true;
}

/* Which stencil works out what the instruction makes, with so many operands that are ragged: that are known
 * in their first and their last lane, and in between not all. NULL = none does. */
static const gs_stencil_t *stencil_for(const gs_choice_t *choice, unsigned ragged) {
  if (choice->flat)
    return choice->flat;
  if (!ragged)
    return choice->linear ? choice->linear : choice->ragged;
  return ragged == 1 && choice->linear ? choice->ragged : NULL;
}

static bool choose_stencils(const gs_plan_t *p, unsigned lanes, gs_plan_slice_t *slice) {
  gs_row_set_t ragged = {{0}};
  for (unsigned i = 0; i < p->steps; i++) {
    const gs_inst_t *in = p->in[i];
    unsigned count = 0;
    if (!slice->has[i])
      continue;
    for (unsigned k = 0; k < 3; k++)
      count += in->src[k].kind == GS_SRC_VGPR && has_rows(&ragged, in->src[k].reg, width_of(in, k, lanes));
    slice->stencil[i] = stencil_for(p->choice[i], count);
    if (!slice->stencil[i])
      return false;
    gs_row_set_put(&ragged, in->dst, results_of(in), slice->stencil[i] == p->choice[i]->ragged);
  }
  return true;
}

bool gs_plan_slice(const gs_plan_t *p, unsigned lanes, gs_plan_slice_t *slice) {
  wanted_t wanted = {0};
  unsigned load = p->load_count;
  memset(slice, 0, sizeof *slice);
  for (unsigned i = p->steps; i-- > 0;) {
    const gs_inst_t *in = p->in[i];
    if (p->role[i] == GS_PLAN_VECTOR) {
      slice->has[i] = makes_wanted(&wanted, in, lanes);
    } else if (p->role[i] == GS_PLAN_LOAD && p->load[--load].is_computed) {
      slice->has[i] = true;
      gs_row_set_put(&wanted.rows, in->src[0].reg, in->src[2].kind == GS_SRC_SGPR ? 1 : 2, true);
    }
  }
  return list_wanted(&wanted, slice) && choose_stencils(p, lanes, slice);
}
