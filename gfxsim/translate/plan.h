/* Which instructions can be done strip by strip together with loads among them, or with others that are done
 * behind them. A plan's loads are checked for all lanes before its first strip: where one of them would not
 * go the short way, nothing has happened yet, and the instructions are done one by one. Loads may find their
 * addresses in registers that the plan's own instructions write, if these need nothing that is loaded: the
 * addresses are made first, aside.
 *
 * What order others could see, waits make, and so a load behind a wait ends a plan if that has loads before
 * it. Stores are never in one, nor loads that may need a fence: a later strip's load must not see what an
 * earlier strip stored.
 *
 * Scalar instructions that do not mind are done behind the strips. Not here: code (block.c). */
#ifndef GFXSIM_TRANSLATE_PLAN_H
#define GFXSIM_TRANSLATE_PLAN_H

#include "isa/strip_rows.h"
#include "translate/choose.h"
#include "translate/live.h"
#include "translate/strip.h"

enum { GS_PLAN_STEPS = 128 };

typedef enum gs_plan_role {
  GS_PLAN_NOTHING, /* a hint */
  GS_PLAN_VECTOR,
  GS_PLAN_LOAD,
  GS_PLAN_BEHIND, /* done behind the strips */
} gs_plan_role_t;

typedef struct gs_plan_load {
  const gs_inst_t *in;
  bool is_computed; /* its address is made by instructions of the plan */
} gs_plan_load_t;

typedef struct gs_plan {
  uint8_t role[GS_PLAN_STEPS]; /* gs_plan_role_t */
  const gs_inst_t *in[GS_PLAN_STEPS];
  const gs_choice_t *choice[GS_PLAN_STEPS];
  unsigned steps;
  gs_plan_load_t load[GS_STRIP_LOADS];
  unsigned load_count, vector_count;
  gs_strip_scalars_t scalars;
  gs_row_set_t written;         /* by the plan */
  gs_row_set_t loaded;          /* of those: what depends on loads */
  gs_scalar_set_t loaded_masks; /* likewise */
  gs_row_set_t uniform;         /* of those written: what comes from scalar registers and constants alone */
  gs_scalar_set_t behind_reads, behind_writes;
  bool has_waited; /* no more loads */
  bool assumes;
} gs_plan_t;

/* Begins a plan for waves of all their lanes, whose strips may assume something or not. */
void gs_plan_begin(gs_plan_t *plan, bool assumes);
/* Adds the next instruction, or returns false: the plan ends before it. */
bool gs_plan_add(gs_plan_t *plan, const gs_inst_t *in, const gs_choice_t *choice, unsigned lanes);
/* Leaves out what is behind the last vector instruction. Returns whether there is something that strips alone
 * do not have: loads, or instructions in between that are done behind them. */
bool gs_plan_end(gs_plan_t *plan);
/* How many steps there are up to the last whose address is computed. */
unsigned gs_plan_address_steps(const gs_plan_t *plan);

enum { GS_PLAN_ROWS = 16 };

/* What computes the addresses of a plan's loads, and nothing else. */
typedef struct gs_plan_slice {
  bool has[GS_PLAN_STEPS];                    /* vector instructions, and loads with computed addresses */
  const gs_stencil_t *stencil[GS_PLAN_STEPS]; /* for those */
  uint16_t row[GS_PLAN_ROWS];                 /* the registers that these read as they are before the plan */
  unsigned row_count;
  gs_scalar_set_t masks; /* likewise */
} gs_plan_slice_t;

/* Finds that. False where there is no stencil that works out what an instruction makes (rows_linear.c). */
bool gs_plan_slice(const gs_plan_t *plan, unsigned lanes, gs_plan_slice_t *slice);

#endif
