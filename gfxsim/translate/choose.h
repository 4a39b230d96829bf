/* What becomes of an instruction in translated code: a stencil, a call of its handler, or nothing.
 * Not here: the order of these in a block (block.c), and the stencils (rows_*.c). */
#ifndef GFXSIM_TRANSLATE_CHOOSE_H
#define GFXSIM_TRANSLATE_CHOOSE_H

#include <stdbool.h>

#include "isa/inst.h"
#include "translate/table.h"

enum { GS_FINDER_PLACES = 1024 };

typedef enum gs_step_kind {
  GS_STEP_NOTHING, /* a hint, or a wait */
  GS_STEP_STENCIL, /* any, or full and part */
  GS_STEP_BRANCH,  /* likewise, and goes on at the target or behind it */
  GS_STEP_SHORT,   /* a stencil that leaves to the handler what does not go the short way */
  GS_STEP_SHORT_STORE,
  GS_STEP_STOP,       /* a stencil behind which the wave may have stopped */
  GS_STEP_CALL,       /* its handler, which may stop the wave */
  GS_STEP_CALL_STORE, /* the same, and it may store */
  GS_STEP_GO,         /* goes on at the target; ends a block, as do the next */
  GS_STEP_JUMP,       /* a stencil that goes on anywhere */
  GS_STEP_LAST,       /* its handler, which may change modes or the program counter */
} gs_step_kind_t;

typedef struct gs_choice {
  gs_step_kind_t kind;
  /* Of a stencil: one for every EXEC, or one for all lanes and one for any. */
  const gs_stencil_t *any, *full, *part;
  const gs_stencil_t *one;                     /* where one lane is active; NULL = it can't be done so */
  const gs_stencil_t *strip_full, *strip_part; /* the same in strips; NULL = it can't be in one */
  const gs_stencil_t *strip_assumed;           /* likewise, of what strips may assume something for */
  const gs_stencil_t *check, *strip_load;      /* of a load that can be in strips (plan.h), or NULL */
  /* Of what makes addresses, or of such a load: rows_linear.c has what they are. Each may be NULL. */
  const gs_stencil_t *linear, *ragged, *flat;
  bool awaits_stores; /* a wait for some of the wave's stores, at least */
  bool is_ordered;    /* a load that must not be older than the wave's stores before it */
  bool writes_exec;
  bool has_halves;    /* those for strips are for one half, and then for the other (gs_choose_half) */
  uint8_t first_half; /* the one that is done first */
} gs_choice_t;

/* Stencils that were found in a table by their names' parts, or not: code has the same ones all the time. All
 * zeroes but for the table at first. */
typedef struct gs_finder {
  const gs_stencil_table_t *table;
  struct {
    const char *handler, *lanes; /* by their addresses */
    char kinds[4];
    const gs_stencil_t *stencil;
  } found[GS_FINDER_PLACES];
} gs_finder_t;

gs_choice_t gs_choose(gs_finder_t *finder, const gs_inst_t *in);
/* The same of an instruction that has another handler than stencils are made from: that is called. */
gs_choice_t gs_choose_call(const gs_inst_t *in);
/* For a part of a pair (isa/dual.h): a stencil, or a call, which the part has no handler for. */
gs_choice_t gs_choose_part(gs_finder_t *finder, const gs_inst_t *part);
/* The instruction on one register that does a half of `in`, 0 or 1, of a choice that has halves. */
void gs_choose_half(const gs_inst_t *in, unsigned which, gs_inst_t *half);

/* The stencil of a scalar instruction if nobody reads SCC behind it, or NULL. */
const gs_stencil_t *gs_choose_dead(gs_finder_t *finder, const gs_inst_t *in);
/* For two instructions, one behind the other, that are a sum or difference of pairs of scalar registers: the
 * stencil that does both, and an instruction that has its operands. NULL for all others. `is_dead`: nobody
 * reads SCC behind them. */
const gs_stencil_t *gs_choose_sum(gs_finder_t *finder, const gs_inst_t *low, const gs_inst_t *high,
                                  bool is_dead, gs_inst_t *pair);

/* What instructions that do not end a block have to do with SCC: whether one may read it, or go on elsewhere,
 * where somebody may; and whether it writes it in any case. */
bool gs_reads_scc(const gs_inst_t *in);
bool gs_writes_scc(const gs_inst_t *in);

#endif
