/* See block.h. Code that needs to know whether every lane is active is there several times: a guard asks
 * once, and goes to a copy of the rest of the block for just one lane, or to one that makes do with any
 * lanes. Behind an instruction that writes EXEC copies join the main run again. */
#include "translate/block.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "isa/dual.h"
#include "isa/memory.h"
#include "translate/cache.h"
#include "translate/choose.h"
#include "translate/emit.h"
#include "translate/level.h"
#include "translate/live.h"
#include "translate/memory.h"
#include "translate/plan.h"
#include "translate/strip.h"

enum {
  MOST_STEPS = GS_BLOCK_MOST,
  /* Each step is in the main run, and in one copy of each kind at most; where there are loads, two of the
     main run and some without them; and the same again where nothing is assumed. */
  MOST_DETOURS = 6 * MOST_STEPS,
  MOST_STRIPS = 6 * MOST_STEPS, /* likewise, but not for one lane */
  /* Labels: the main run before each step and at its end, the beginnings of copies, detours, and where they
     come back; of strips, where their loops begin, where they go on to the next
     strip, and what they do where no lane is active; of plans, what is done without one, and where that comes
     back, and the same of their addresses; and what is behind strips. */
  MAIN = 0,
  COPY = MAIN + MOST_STEPS + 1,
  COPY_PART = COPY + MOST_STEPS, /* of those that do not begin with one lane, or of all */
  DETOUR = COPY_PART + MOST_STEPS,
  BACK = DETOUR + MOST_DETOURS,
  STRIP = BACK + MOST_DETOURS,
  STRIP_TAIL = STRIP + MOST_STRIPS,
  IDLE = STRIP_TAIL + MOST_STRIPS,
  PLAIN = IDLE + MOST_STRIPS,
  BEHIND = PLAIN + MOST_STEPS,
  ROWS = BEHIND + MOST_STEPS, /* addresses that are not linear */
  PLACED = ROWS + MOST_STEPS, /* all loads are where they were found */
  OVER = PLACED + MOST_STEPS, /* behind strips */
  WARY = OVER + MOST_STRIPS,  /* the same steps, but nothing is assumed */
  LABELS = WARY + MOST_STRIPS,
};
static_assert((int)MOST_STEPS <= (int)GS_PLAN_STEPS, "plans have room for all steps");
static_assert((int)LABELS <= (int)GS_EMIT_LABELS, "labels have room");

/* Stencils that every block needs. */
enum {
  ENTER,
  GO,
  GO_LAST,
  LEAVE,
  GUARD,
  JOIN,
  CALL,
  CALL_STORE,
  CALL_LAST,
  FENCE,
  AWAIT_STREAMS,
  ONE_FIRST,
  LINEAR_ROW,
  LINEAR_MASK,
  STRIP_FIRST,
  STRIP_IDLE,
  STRIP_NEXT,
  STRIP_NEXT_TWO,
  TRUST,
  NARROW,
  KEEP_MASK,
  RESTORE_MASK,
  WIDEN,
  CONTROLS
};
static const char *const control_names[CONTROLS] = {
    "enter",      "go",          "go_last",     "leave",        "guard",         "join",
    "call",       "call_store",  "call_last",   "fence",        "await_streams", "one_first",
    "linear_row", "linear_mask", "strip_first", "strip_idle",   "strip_next",    "strip_next_two",
    "trust",      "narrow",      "keep_mask",   "restore_mask", "widen"};

struct gs_translator {
  const gs_stencil_table_t *table;
  const gs_handler_t *handlers; /* that the stencils are made from */
  const gs_stencil_t *control[CONTROLS];
  gs_finder_t finder;
  struct block *block; /* the one in the making, and room for the next; it is large */
  gs_arena_t *arenas;  /* the newest first */
  gs_looks_t looks;
  gs_live_t live;
  const gs_jump_t *_Atomic jump[GS_JUMPS]; /* NULL = none, before `is_ready`; the newest of each place */
  struct jumps *jumps;                     /* that have been made */
  /* Of strips that assume something: how often, below zero, they are not to be trusted. In pieces, as code
   * has their addresses. */
  struct trust *trust;
  bool is_ready; /* `control` is filled */
  bool has_failed;
};

enum { JUMPS_PIECE = 255 };
typedef struct jumps {
  struct jumps *next;
  unsigned used;
  gs_jump_t jump[JUMPS_PIECE];
} jumps_t;
/* At no address where instructions are. */
static const gs_jump_t no_jump = {.pc = UINT64_MAX};

enum { TRUST_PIECE = 254 };
typedef struct trust {
  struct trust *next;
  unsigned used;
  int32_t cell[TRUST_PIECE];
} trust_t;

/* One instruction of a block, or a part of a pair. */
typedef struct step {
  const gs_inst_t *in;
  uint64_t next; /* address behind it */
  unsigned done; /* instructions of the block that are done then */
  gs_choice_t choice;
  const gs_inst_t *operands; /* of its stencil */
  bool is_done;              /* by the stencil of the step before */
} step_t;

/* A block in the making. */
typedef struct block {
  gs_translator_t *translator;
  gs_code_find_t *find;
  void *context;
  gs_cell_t *cell; /* its own */
  step_t step[MOST_STEPS];
  unsigned count;
  gs_inst_t part[MOST_STEPS]; /* of pairs, or two instructions that are done as one */
  unsigned part_count;
  gs_emitter_t e;
  gs_strip_t strip;
  gs_cache_t cache;
  bool wants_copy[MOST_STEPS];
  struct {
    unsigned step; /* whose stencil may leave it to the handler, or a branch */
    gs_cache_t before, behind;
  } detour[MOST_DETOURS];
  unsigned detour_count;
  struct {
    gs_strip_scalars_t scalars;
    bool may_idle;              /* perhaps no lane is active in one */
    unsigned first, end;        /* steps */
    bool is_behind[MOST_STEPS]; /* of those, which are done behind the strips */
    size_t guard;               /* gs_strip_t.guard; 0 = it assumes nothing */
    unsigned back;              /* label of where what is done otherwise comes back */
    int32_t *trust;             /* see gs_translator.trust */
  } strips[MOST_STRIPS];
  unsigned strip_count;
  struct {
    unsigned first, end; /* steps */
    bool has_loads;
  } plans[MOST_STEPS];
  unsigned plan_count;
  unsigned strip_limit; /* where strips end at the latest */
  bool may_assume;      /* strips may */
} block_t;

/* What is known of EXEC at a place of a run. */
typedef enum lanes { LANES_UNKNOWN, LANES_FULL, LANES_PART, LANES_ONE } lanes_t;

void gs_block_missing(gs_wave_t *w) {
  (void)w;
}

/* Blocks have registers that functions must not change; to a caller of this, it is the function that changes
 * them. And other code of the host wants the upper halves of vector registers to be clear. */
__attribute__((noinline)) void gs_block_run(gs_block_fn_t *block, gs_wave_t *w) {
  block(w);
#if defined(__x86_64__)
  __asm__ volatile("vzeroupper" ::: "rbx", "r12", "r13", "r14", "r15");
#endif
}

const gs_stencil_t *gs_stencil_find(const gs_stencil_table_t *table, const char *name) {
  size_t low = 0, high = table->stencil_count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const int order = strcmp(name, table->names + table->stencils[middle].name);
    if (order == 0)
      return &table->stencils[middle];
    if (order < 0)
      high = middle;
    else
      low = middle + 1;
  }
  return NULL;
}

bool gs_translator_is_available(const gs_handler_t *handlers) {
  return gs_stencils_like(handlers) != NULL;
}

gs_translator_t *gs_translator_create(const gs_handler_t *handlers, gs_looks_t looks) {
  const gs_stencil_table_t *table = gs_stencils_like(handlers);
  gs_translator_t *t = table ? calloc(1, sizeof *t) : NULL;
  if (!t)
    return NULL;
  t->table = t->finder.table = table;
  t->handlers = handlers;
  t->looks = looks;
  t->live.lanes = table->lanes;
  return t;
}

/* Not before there is something to translate: programs whose kernels are short never look at the table, and
 * it takes no memory of theirs. */
static void prepare(gs_translator_t *t) {
  if (t->is_ready)
    return;
  t->is_ready = true;
  for (unsigned i = 0; i < GS_JUMPS; i++)
    atomic_store_explicit(&t->jump[i], &no_jump, memory_order_relaxed);
  for (unsigned i = 0; i < CONTROLS; i++) {
    t->control[i] = gs_stencil_find(t->table, control_names[i]);
    if (!t->control[i] && i < ONE_FIRST) /* not every build has these */
      t->has_failed = true;
  }
}

void gs_translator_destroy(gs_translator_t *translator) {
  if (!translator)
    return;
  while (translator->arenas) {
    gs_arena_t *arena = translator->arenas;
    translator->arenas = arena->next;
    gs_arena_destroy(arena);
  }
  while (translator->trust) {
    trust_t *trust = translator->trust;
    translator->trust = trust->next;
    free(trust);
  }
  while (translator->jumps) {
    jumps_t *jumps = translator->jumps;
    translator->jumps = jumps->next;
    free(jumps);
  }
  gs_live_clear(&translator->live);
  free(translator->block);
  free(translator);
}

/* ---- Copying stencils ---- */

static uint64_t row_of(unsigned reg) {
  return (uint64_t)reg * sizeof(gs_row_t);
}
static uint64_t scalar_of(unsigned reg) {
  return offsetof(gs_wave_t, s) + 4 * (uint64_t)reg;
}

/* What holes get that say where the instruction is. */
static void place_values(const block_t *b, unsigned index, uint64_t *values) {
  const bool is_step = index < b->count;
  const step_t *step = &b->step[is_step ? index : b->count - 1];
  values[GS_HOLE_PC] = step->next;
  values[GS_HOLE_NOTE] = gs_range_note(step->next);
  values[GS_HOLE_COUNT] = b->step[b->count - 1].done;
  values[GS_HOLE_REST] = is_step ? b->step[b->count - 1].done - step->done : 0;
  values[GS_HOLE_IN] = (uint64_t)(uintptr_t)step->in;
  values[GS_HOLE_FN] = (uint64_t)(uintptr_t)step->in->fn;
}

/* What modifiers do to an operand: see gs_change_t. */
static void change_values(const gs_inst_t *in, unsigned i, uint64_t *values) {
  const uint32_t sign = 1u << 31;
  const unsigned mods = in->src[i].mods;
  values[GS_HOLE_KEEP_SRC0 + i] = mods & GS_MOD_ABS ? ~sign : UINT32_MAX;
  values[GS_HOLE_FLIP_SRC0 + i] = mods & GS_MOD_NEG ? sign : 0;
  if (!(mods & GS_MOD_SDWA))
    return;
  const gs_field_t part = gs_sdwa_field(in->sdwa.src_sel[i & 1]);
  values[GS_HOLE_KEEP_SRC0 + i] = UINT32_MAX >> (32 - part.bits);
  values[GS_HOLE_SHIFT_SRC0 + i] = part.shift;
}

static void operand_values(const gs_inst_t *in, uint64_t *values) {
  for (unsigned i = 0; i < 3; i++) {
    values[GS_HOLE_ROW_SRC0 + i] = row_of(in->src[i].reg);
    values[GS_HOLE_SGPR_SRC0 + i] = scalar_of(in->src[i].reg);
    values[GS_HOLE_VALUE_SRC0 + i] = in->src[i].value;
    change_values(in, i, values);
  }
  values[GS_HOLE_ROW_DST] = row_of(in->dst);
  values[GS_HOLE_ROW_SDST] = row_of(in->sdst);
  values[GS_HOLE_SGPR_DST] = scalar_of(in->dst);
  values[GS_HOLE_SGPR_SDST] = scalar_of(in->sdst);
  values[GS_HOLE_SCC] = offsetof(gs_wave_t, scc);
  values[GS_HOLE_IMM] = (uint32_t)in->imm;
  values[GS_HOLE_IMM1] = in->imm1;
}

static void put_control(block_t *b, unsigned control, unsigned index, unsigned label) {
  uint64_t values[GS_HOLE_VALUES] = {0};
  place_values(b, index, values);
  gs_emit_stencil(&b->e, b->translator->control[control], values, label);
}

/* What may matter before the instruction at an address. */
static gs_live_set_t live_at(const block_t *b, uint64_t address) {
  gs_translator_t *const t = b->translator;
  return gs_live_at(&t->live, address, t->looks == GS_LOOKS_AT_END, b->find, b->context);
}

/* Goes on at `target`, behind step `index`. */
static void put_go(block_t *b, uint64_t target, unsigned index) {
  uint64_t values[GS_HOLE_VALUES] = {0};
  gs_code_place_t place;
  place_values(b, index, values);
  values[GS_HOLE_TARGET] = target;
  const bool is_place = b->find(b->context, target, &place);
  if (is_place)
    values[GS_HOLE_CELL] = (uint64_t)(uintptr_t)place.cell;
  const unsigned go = values[GS_HOLE_REST] ? GO : GO_LAST;
  gs_emit_stencil(&b->e, b->translator->control[is_place ? go : LEAVE], values, 0);
}

/* ---- Runs ---- */

static uint64_t target_of(const step_t *step) {
  return step->next + (uint64_t)(int64_t)(int16_t)step->in->imm * 4;
}

/* Scalar registers that a load of many fills in memory. */
static void forget_loaded(block_t *b, const step_t *step, const gs_stencil_t *stencil) {
  const gs_inst_t *const in = step->in;
  if (in->op->encoding == GS_ENC_SMEM && step->choice.kind == GS_STEP_SHORT &&
      !gs_cache_writes(stencil, b->translator->table))
    gs_cache_forget(&b->cache, in->dst, gs_type_dwords((gs_type_t)in->op->dst));
}

/* Whether registers are to be in memory where the step begins. Of an access they are what is seen if it
 * faults, which may be in the middle of the stencil: where it leaves the way of the host's memory. */
static bool wants_memory(const block_t *b, gs_step_kind_t kind) {
  const bool is_access = kind == GS_STEP_SHORT || kind == GS_STEP_SHORT_STORE;
  return kind == GS_STEP_STOP || (is_access && b->translator->looks == GS_LOOKS_ALWAYS);
}

/* An instruction's stencil, by way of the cache if that is not flushed. Where it is a short way, the handler
 * is called in a detour, and finds everything in memory. */
static void put_stencil(block_t *b, unsigned i, const gs_stencil_t *stencil, bool is_cached) {
  const step_t *step = &b->step[i];
  const gs_step_kind_t kind = step->choice.kind;
  const bool is_detour = kind == GS_STEP_SHORT || kind == GS_STEP_SHORT_STORE || kind == GS_STEP_BRANCH;
  const unsigned detour = b->detour_count;
  uint64_t values[GS_HOLE_VALUES] = {0};
  place_values(b, i, values);
  operand_values(step->operands, values);
  if (!is_cached)
    gs_cache_flush(&b->cache, &b->e);
  else if (wants_memory(b, kind))
    gs_cache_clean(&b->cache, &b->e);
  gs_cache_t before = b->cache;
  if (is_cached)
    before = gs_cache_stencil(&b->cache, &b->e, stencil, values, DETOUR + detour);
  else
    gs_emit_stencil(&b->e, stencil, values, DETOUR + detour);
  if (!is_detour)
    return;
  forget_loaded(b, step, stencil);
  b->detour[detour].step = i;
  b->detour[detour].before = before;
  b->detour[detour].behind = b->cache;
  b->e.label[BACK + detour] = b->e.end;
  b->detour_count++;
}

/* Leaves the block, behind step `index`. */
static void put_leave(block_t *b, gs_cache_t *cache, uint64_t target, unsigned index) {
  if (b->translator->looks != GS_LOOKS_ALWAYS) {
    const gs_live_set_t live = live_at(b, target);
    gs_cache_drop_dead(cache, &live.scalars);
  }
  gs_cache_flush(cache, &b->e);
  put_go(b, target, index);
}

static void put_detours(block_t *b) {
  for (unsigned i = 0; i < b->detour_count; i++) {
    const unsigned step = b->detour[i].step;
    const gs_step_kind_t kind = b->step[step].choice.kind;
    b->e.label[DETOUR + i] = b->e.end;
    if (kind == GS_STEP_BRANCH) {
      put_leave(b, &b->detour[i].before, target_of(&b->step[step]), step);
      continue;
    }
    gs_cache_clean(&b->detour[i].before, &b->e);
    put_control(b, kind == GS_STEP_SHORT_STORE ? CALL_STORE : CALL, step, 0);
    gs_cache_reload(&b->detour[i].behind, &b->e);
    put_control(b, JOIN, step, BACK + i);
  }
}

/* ---- Strips ---- */

static const gs_stencil_t *strip_stencil(const step_t *step, lanes_t lanes, bool assumes) {
  const gs_choice_t *choice = &step->choice;
  if (lanes != LANES_FULL)
    return choice->strip_part;
  return assumes && choice->strip_assumed ? choice->strip_assumed : choice->strip_full;
}

/* The end of the steps from `first` to `last` that can be done strip by strip, or `first` if these are too
 * few. */
static unsigned strip_end(const block_t *b, unsigned first, unsigned last, lanes_t lanes, bool assumes,
                          gs_strip_scalars_t *scalars) {
  if (lanes == LANES_ONE)
    return first;
  const unsigned fewest = lanes == LANES_FULL ? 2 : 1; /* a strip without active lanes costs nothing */
  unsigned count = 0, end = first;
  memset(scalars, 0, sizeof *scalars);
  for (unsigned i = first; i < last; i++) {
    const step_t *step = &b->step[i];
    if (step->choice.kind == GS_STEP_NOTHING)
      continue;
    const gs_strip_scalars_t before = *scalars;
    if (step->choice.writes_exec || !strip_stencil(step, lanes, assumes) ||
        !gs_strip_scalars_add(scalars, step->in, b->translator->table->lanes)) {
      *scalars = before;
      break;
    }
    count++;
    end = i + 1;
  }
  return count < fewest ? first : end;
}

/* Adds a step to the strip in hand. */
static void add_strip_step(block_t *b, const step_t *step, lanes_t lanes) {
  uint64_t values[GS_HOLE_VALUES] = {0};
  const gs_choice_t *choice = &step->choice;
  for (unsigned i = 0; i < (choice->has_halves ? 2 : 1); i++) {
    gs_inst_t half;
    if (choice->has_halves)
      gs_choose_half(step->in, choice->first_half ^ i, &half);
    const gs_inst_t *in = choice->has_halves ? &half : step->in;
    operand_values(in, values);
    gs_strip_stencil(&b->strip, &b->e, strip_stencil(step, lanes, b->strip.assumes), in, values);
  }
}

/* Leaves out what the strip in hand would store for nobody. Steps that are done behind it may read what is in
 * `also`. */
static void drop_dead(block_t *b, unsigned end, const gs_scalar_set_t *also, gs_strip_scalars_t *scalars) {
  const bool is_in_pair = end < b->count && b->step[end].next == b->step[end - 1].next;
  if (b->translator->looks == GS_LOOKS_ALWAYS || is_in_pair)
    return;
  gs_live_set_t live = live_at(b, b->step[end - 1].next);
  if (also)
    gs_scalar_set_add(&live.scalars, also);
  gs_strip_live_only(&b->strip, &live, b->translator->table->lanes, scalars);
}

/* Whether a step that reads EXEC as an operand is among those: it would see that it is another one for a
 * while, where something is not as it is assumed. (What combines masks does the same for each lane.) */
static bool reads_exec(const block_t *b, unsigned first, unsigned end) {
  for (unsigned i = first; i < end; i++)
    for (unsigned k = 0; k < 3; k++) {
      const gs_src_t *s = &b->step[i].in->src[k];
      if (b->step[i].in->op->encoding == GS_ENC_SOP2 && b->step[i].choice.strip_full)
        continue;
      if (s->kind == GS_SRC_SPECIAL || (s->kind == GS_SRC_SGPR && s->reg + 1u >= GS_S_EXEC))
        return true;
    }
  return false;
}

/* A new cell, or NULL without memory: then nothing is to be assumed. */
static int32_t *new_trust(gs_translator_t *t) {
  if (!t->trust || t->trust->used == TRUST_PIECE) {
    trust_t *const trust = calloc(1, sizeof *trust);
    if (!trust)
      return NULL;
    trust->next = t->trust;
    t->trust = trust;
  }
  return &t->trust->cell[t->trust->used++];
}

unsigned gs_translator_wary(const gs_translator_t *t) {
  unsigned count = 0;
  for (const trust_t *trust = t->trust; trust; trust = trust->next)
    for (unsigned i = 0; i < trust->used; i++)
      count += __atomic_load_n(&trust->cell[i], __ATOMIC_RELAXED) < 0;
  return count;
}

/* Control that has to do with a strip's trust. */
static void put_trust(block_t *b, unsigned control, unsigned strip) {
  uint64_t values[GS_HOLE_VALUES] = {0};
  place_values(b, b->strips[strip].first, values);
  values[GS_HOLE_CELL] = (uint64_t)(uintptr_t)b->strips[strip].trust;
  gs_emit_stencil(&b->e, b->translator->control[control], values, WARY + strip);
}

/* Begins the code of a strip whose values are there. Returns false without memory for its trust. */
static bool put_strip_begin(block_t *b, unsigned strip, unsigned back) {
  b->strips[strip].back = back;
  b->strips[strip].trust = NULL;
  if (b->strip.assumes) {
    b->strips[strip].trust = new_trust(b->translator);
    if (!b->strips[strip].trust)
      return false;
    put_trust(b, TRUST, strip);
  }
  put_control(b, STRIP_FIRST, b->strips[strip].first, 0);
  return true;
}

/* What the steps from `first` to `end`, none of which stores, have of waits for stores: once, before them. */
static void put_waits(block_t *b, unsigned first, unsigned end) {
  unsigned i = first;
  while (i < end && !b->step[i].choice.awaits_stores)
    i++;
  if (i < end)
    put_control(b, AWAIT_STREAMS, i, 0);
}

/* Returns false when there was no room for all of its values. */
static bool put_strip(block_t *b, unsigned first, unsigned end, lanes_t lanes, bool assumes,
                      const gs_strip_scalars_t *scalars) {
  const unsigned strip = b->strip_count++;
  b->strips[strip].scalars = *scalars;
  b->strips[strip].may_idle = lanes != LANES_FULL;
  b->strips[strip].first = first;
  b->strips[strip].end = end;
  memset(b->strips[strip].is_behind, 0, sizeof b->strips[strip].is_behind);
  put_waits(b, first, end);
  gs_cache_flush(&b->cache, &b->e);
  gs_strip_begin(&b->strip, b->translator->table, assumes);
  for (unsigned i = first; i < end; i++) {
    if (b->step[i].choice.kind != GS_STEP_NOTHING)
      add_strip_step(b, &b->step[i], lanes);
  }
  drop_dead(b, end, NULL, &b->strips[strip].scalars);
  if ((assumes && !gs_strip_assume(&b->strip)) || !put_strip_begin(b, strip, OVER + strip))
    return false;
  const bool is_double = lanes == LANES_FULL && gs_strip_double(&b->strip, &b->e);
  gs_strip_hoist(&b->strip, &b->e);
  b->e.label[STRIP + strip] = b->e.end;
  if (b->strips[strip].may_idle)
    put_control(b, STRIP_IDLE, first, IDLE + strip);
  if (!gs_strip_end(&b->strip, &b->e))
    return false;
  b->strips[strip].guard = b->strip.guard;
  b->e.label[STRIP_TAIL + strip] = b->e.end;
  put_control(b, is_double ? STRIP_NEXT_TWO : STRIP_NEXT, end - 1, STRIP + strip);
  b->e.label[OVER + strip] = b->e.end;
  gs_strip_join_masks(&b->strips[strip].scalars, &b->e, b->translator->table->lanes);
  return true;
}

/* How far code is, to go back there. */
typedef struct place {
  size_t end;
  unsigned fixups, strips, plans;
  gs_cache_t cache;
} place_t;

static place_t place_of(const block_t *b) {
  return (place_t){b->e.end, b->e.fixup_count, b->strip_count, b->plan_count, b->cache};
}
static void go_back(block_t *b, const place_t *place) {
  b->e.end = place->end;
  b->e.fixup_count = place->fixups;
  b->strip_count = place->strips;
  b->plan_count = place->plans;
  b->cache = place->cache;
}

/* The steps from `first` to `last` that can be strips, if there is room for all of their values. Returns
 * where they end, and `can_be`: whether any can. */
static unsigned put_strips_so(block_t *b, unsigned first, unsigned last, lanes_t lanes, bool assumes,
                              bool *can_be) {
  gs_strip_scalars_t scalars;
  const unsigned end = strip_end(b, first, last, lanes, assumes, &scalars);
  *can_be = end != first;
  if (end == first || (assumes && reads_exec(b, first, end)))
    return first;
  const place_t start = place_of(b);
  if (put_strip(b, first, end, lanes, assumes, &scalars))
    return end;
  go_back(b, &start);
  return first;
}

/* As many steps from `first` on as can be done strip by strip. Returns where they end. */
static unsigned put_strips(block_t *b, unsigned first, lanes_t lanes) {
  unsigned end = first;
  bool can_be = true;
  for (unsigned last = b->strip_limit; last > first && end == first && can_be;
       last = first + (last - first) / 2) {
    if (lanes == LANES_FULL && b->may_assume)
      end = put_strips_so(b, first, last, lanes, true, &can_be);
    if (end == first && can_be)
      end = put_strips_so(b, first, last, lanes, false, &can_be);
  }
  return end;
}

static void put_idle_strips(block_t *b) {
  for (unsigned i = 0; i < b->strip_count; i++) {
    if (!b->strips[i].may_idle)
      continue;
    b->e.label[IDLE + i] = b->e.end;
    gs_strip_idle(&b->strips[i].scalars, &b->e);
    put_control(b, JOIN, 0, STRIP_TAIL + i);
  }
}

static void put_jump(block_t *b, unsigned i) {
  uint64_t values[GS_HOLE_VALUES] = {0};
  place_values(b, i, values);
  operand_values(b->step[i].operands, values);
  values[GS_HOLE_CELL] = (uint64_t)(uintptr_t)b->translator->jump;
  gs_emit_stencil(&b->e, b->step[i].choice.any, values, 0);
}

static void put_step(block_t *b, unsigned i, lanes_t lanes) {
  const step_t *step = &b->step[i];
  const gs_choice_t *choice = &step->choice;
  if (choice->kind >= GS_STEP_CALL && choice->kind != GS_STEP_GO)
    gs_cache_flush(&b->cache, &b->e);
  if (choice->is_ordered)
    put_control(b, FENCE, i, 0);
  switch (choice->kind) {
  case GS_STEP_NOTHING: put_waits(b, i, i + 1); break;
  case GS_STEP_BRANCH:
  case GS_STEP_STENCIL:
  case GS_STEP_SHORT:
  case GS_STEP_SHORT_STORE:
  case GS_STEP_STOP:
    if (step->is_done)
      break;
    if (choice->any)
      put_stencil(b, i, choice->any, true);
    else if (lanes == LANES_ONE && choice->one)
      put_stencil(b, i, choice->one, true);
    else
      put_stencil(b, i, lanes == LANES_FULL ? choice->full : choice->part, false);
    break;
  case GS_STEP_CALL: put_control(b, CALL, i, 0); break;
  case GS_STEP_CALL_STORE: put_control(b, CALL_STORE, i, 0); break;
  case GS_STEP_LAST: put_control(b, CALL_LAST, i, 0); break;
  case GS_STEP_GO: put_leave(b, &b->cache, target_of(step), i); break;
  case GS_STEP_JUMP: put_jump(b, i); break;
  }
}

static bool is_end(const step_t *step) {
  return step->choice.kind >= GS_STEP_GO;
}

/* ---- Strips with loads (plan.h) ---- */

/* Makes the addresses that the plan's own instructions make, in rows behind the wave's, and changes nothing
 * else. */
static bool put_addresses(block_t *b, unsigned first, const gs_plan_t *plan, const gs_plan_slice_t *slice) {
  const unsigned strip = b->strip_count++, steps = gs_plan_address_steps(plan);
  unsigned load = 0;
  b->strips[strip].guard = 0;
  b->strips[strip].may_idle = false;
  put_control(b, STRIP_FIRST, first, 0);
  gs_strip_begin(&b->strip, b->translator->table, false);
  for (unsigned i = 0; i < steps; i++) {
    const bool is_vector = plan->role[i] == GS_PLAN_VECTOR,
               is_assumed = !b->step[first + i].choice.strip_full;
    if (is_vector && is_assumed && slice->has[i])
      return false; /* addresses are made without assumptions */
    if (is_vector && !is_assumed)
      add_strip_step(b, &b->step[first + i], LANES_FULL);
    if (plan->role[i] != GS_PLAN_LOAD)
      continue;
    const gs_inst_t *in = plan->load[load].in;
    for (unsigned half = 0; half < 2 && plan->load[load].is_computed; half++)
      gs_strip_copy_row(&b->strip, in->src[0].reg + half, GS_STRIP_ADDRESSES + 2 * load + half);
    load++;
  }
  gs_strip_copies_only(&b->strip);
  gs_strip_hoist(&b->strip, &b->e);
  b->e.label[STRIP + strip] = b->e.end;
  if (!gs_strip_end(&b->strip, &b->e))
    return false;
  put_control(b, STRIP_NEXT, first, STRIP + strip);
  return true;
}

/* Checks a load for all lanes, and finds out where it is. */
static void put_check(block_t *b, unsigned step, const gs_plan_load_t *load, unsigned number,
                      unsigned label) {
  uint64_t values[GS_HOLE_VALUES] = {0};
  place_values(b, step, values);
  operand_values(load->in, values);
  if (load->is_computed)
    values[GS_HOLE_ROW_SRC0] = row_of(GS_STRIP_ADDRESSES + 2 * number);
  values[GS_HOLE_ROW_DST] = row_of(GS_STRIP_COPIES + GS_STRIP_COPY_ROWS * number);
  values[GS_HOLE_SGPR_DST] = gs_strip_place(number);
  gs_emit_stencil(&b->e, b->step[step].choice.check, values, label);
}
static void put_checks(block_t *b, unsigned first, const gs_plan_t *plan, bool wants_computed,
                       unsigned label) {
  unsigned load = 0;
  for (unsigned i = 0; i < plan->steps; i++)
    if (plan->role[i] == GS_PLAN_LOAD) {
      if (wants_computed || !plan->load[load].is_computed)
        put_check(b, first + i, &plan->load[load], load, label);
      load++;
    }
}

/* One of the instructions that work out addresses. Of a load, `load` is the number. */
static void put_linear_step(block_t *b, const step_t *step, const gs_inst_t *in, const gs_stencil_t *stencil,
                            unsigned load, unsigned label) {
  uint64_t values[GS_HOLE_VALUES] = {0};
  place_values(b, (unsigned)(step - b->step), values);
  operand_values(in, values);
  const bool is_mask_op = gs_strip_is_mask_op(in);
  for (unsigned i = 0; i < 3; i++)
    if (in->src[i].kind == GS_SRC_VGPR)
      values[GS_HOLE_SGPR_SRC0 + i] = gs_linear_row(in->src[i].reg);
    else if (in->op->src[i] == GS_T_MASK || (is_mask_op && in->src[i].kind == GS_SRC_SGPR))
      values[GS_HOLE_SGPR_SRC0 + i] = gs_linear_carry(in->src[i].reg);
  values[GS_HOLE_ROW_DST] = row_of(GS_STRIP_COPIES + GS_STRIP_COPY_ROWS * load);
  values[GS_HOLE_SGPR_DST] = step->choice.strip_load ? gs_strip_place(load) : gs_linear_row(in->dst);
  values[GS_HOLE_SGPR_SDST] = gs_linear_carry(is_mask_op ? in->dst : in->sdst);
  gs_emit_stencil(&b->e, stencil, values, label);
}
static void put_linear_steps(block_t *b, const step_t *step, const gs_stencil_t *stencil, unsigned load,
                             unsigned label) {
  const gs_choice_t *choice = &step->choice;
  for (unsigned i = 0; i < 2 && choice->has_halves; i++) {
    gs_inst_t half;
    gs_choose_half(step->in, choice->first_half ^ i, &half);
    put_linear_step(b, step, &half, stencil, load, label);
  }
  if (!choice->has_halves)
    put_linear_step(b, step, step->in, stencil, load, label);
}

/* What addresses are made of that is there before the plan. */
static void put_linear_inputs(block_t *b, const gs_plan_slice_t *slice, unsigned label) {
  const unsigned dwords = b->translator->table->lanes / 32;
  uint64_t values[GS_HOLE_VALUES] = {0};
  for (unsigned i = 0; i < slice->row_count; i++) {
    values[GS_HOLE_ROW_SRC0] = row_of(slice->row[i]);
    values[GS_HOLE_SGPR_DST] = gs_linear_row(slice->row[i]);
    gs_emit_stencil(&b->e, b->translator->control[LINEAR_ROW], values, label);
  }
  for (unsigned i = 0; i < GS_SGPRS; i += dwords) {
    if (!(slice->masks.bits[i / 64] >> i % 64 & 1))
      continue;
    values[GS_HOLE_SGPR_SRC0] = scalar_of(i);
    values[GS_HOLE_SGPR_DST] = gs_linear_carry(i);
    gs_emit_stencil(&b->e, b->translator->control[LINEAR_MASK], values, label);
  }
}

/* Finds the loads whose addresses are computed from linear rows; else goes on at `label`. */
static void put_linear(block_t *b, unsigned first, const gs_plan_t *plan, const gs_plan_slice_t *slice,
                       unsigned label) {
  unsigned load = 0;
  put_linear_inputs(b, slice, label);
  for (unsigned i = 0; i < plan->steps; i++) {
    if (slice->has[i])
      put_linear_steps(b, &b->step[first + i], slice->stencil[i], load, label);
    load += plan->role[i] == GS_PLAN_LOAD;
  }
}

/* Finds out where all loads are. Returns false when there was no room for all values. */
static bool put_places(block_t *b, unsigned first, const gs_plan_t *plan, unsigned number) {
  gs_plan_slice_t slice;
  const bool is_computed = gs_plan_address_steps(plan);
  const bool is_linear = gs_plan_slice(plan, b->translator->table->lanes, &slice);
  if (is_computed && is_linear) {
    put_checks(b, first, plan, false, PLAIN + number);
    put_linear(b, first, plan, &slice, ROWS + number);
    put_control(b, JOIN, first, PLACED + number);
    b->e.label[ROWS + number] = b->e.end;
  }
  if (is_computed && !put_addresses(b, first, plan, &slice))
    return false;
  put_checks(b, first, plan, true, PLAIN + number);
  b->e.label[PLACED + number] = b->e.end;
  return true;
}

static bool put_planned_strip(block_t *b, unsigned first, const gs_plan_t *plan, unsigned number) {
  const unsigned strip = b->strip_count++;
  unsigned load = 0;
  b->strips[strip].scalars = plan->scalars;
  b->strips[strip].may_idle = false;
  b->strips[strip].first = first;
  b->strips[strip].end = first + plan->steps;
  for (unsigned i = 0; i < plan->steps; i++)
    b->strips[strip].is_behind[first + i] = plan->role[i] == GS_PLAN_BEHIND;
  gs_strip_begin(&b->strip, b->translator->table, plan->assumes);
  for (unsigned i = 0; i < plan->steps; i++) {
    const step_t *step = &b->step[first + i];
    uint64_t values[GS_HOLE_VALUES] = {0};
    if (plan->role[i] == GS_PLAN_VECTOR)
      add_strip_step(b, step, LANES_FULL);
    if (plan->role[i] != GS_PLAN_LOAD)
      continue;
    operand_values(step->in, values);
    gs_strip_load(&b->strip, &b->e, step->choice.strip_load, step->in, values, load++);
  }
  drop_dead(b, first + plan->steps, &plan->behind_reads, &b->strips[strip].scalars);
  if ((plan->assumes && !gs_strip_assume(&b->strip)) || !put_strip_begin(b, strip, BEHIND + number))
    return false;
  const bool is_double = gs_strip_double(&b->strip, &b->e);
  gs_strip_hoist(&b->strip, &b->e);
  b->e.label[STRIP + strip] = b->e.end;
  if (!gs_strip_end(&b->strip, &b->e))
    return false;
  b->strips[strip].guard = b->strip.guard;
  gs_strip_next_loads(&b->e, plan->load_count);
  put_control(b, is_double ? STRIP_NEXT_TWO : STRIP_NEXT, first, STRIP + strip);
  b->e.label[OVER + strip] = b->e.end;
  gs_strip_join_masks(&b->strips[strip].scalars, &b->e, b->translator->table->lanes);
  return true;
}

/* Returns false when there was no room for all values. */
static bool put_plan(block_t *b, unsigned first, const gs_plan_t *plan) {
  const unsigned number = b->plan_count++;
  b->plans[number].first = first;
  b->plans[number].end = first + plan->steps;
  b->plans[number].has_loads = plan->load_count != 0;
  put_waits(b, first, first + plan->steps);
  gs_cache_flush(&b->cache, &b->e);
  if (!put_places(b, first, plan, number) || !put_planned_strip(b, first, plan, number))
    return false;
  for (unsigned i = 0; i < plan->steps; i++)
    if (plan->role[i] == GS_PLAN_BEHIND)
      put_step(b, first + i, LANES_FULL);
  gs_cache_flush(&b->cache, &b->e);
  b->e.label[BEHIND + number] = b->e.end;
  return true;
}

/* Whether a plan is worth looking for. */
static bool may_begin_plan(const block_t *b, unsigned first) {
  const gs_choice_t *choice = &b->step[first].choice;
  return choice->strip_full || choice->strip_load || choice->kind == GS_STEP_NOTHING;
}

/* A plan of at most so many steps from `first` on, if there is room for all values. Returns where it ends,
 * and `can_be`: whether there is one. */
static unsigned put_plan_so(block_t *b, unsigned first, unsigned most, bool assumes, bool *can_be) {
  gs_plan_t plan;
  gs_plan_begin(&plan, assumes);
  while (plan.steps < most && gs_plan_add(&plan, b->step[first + plan.steps].in,
                                          &b->step[first + plan.steps].choice, b->translator->table->lanes))
    continue;
  *can_be = gs_plan_end(&plan);
  if (!*can_be || (assumes && reads_exec(b, first, first + plan.steps)))
    return first;
  const place_t start = place_of(b);
  if (put_plan(b, first, &plan))
    return first + plan.steps;
  go_back(b, &start);
  return first;
}

/* As many steps from `first` on as can be done strip by strip with loads among them. Returns where they end.
 */
static unsigned put_plans(block_t *b, unsigned first, lanes_t lanes) {
  unsigned end = first;
  bool can_be = lanes == LANES_FULL && may_begin_plan(b, first);
  for (unsigned most = b->strip_limit - first; most && end == first && can_be; most /= 2) {
    if (b->may_assume)
      end = put_plan_so(b, first, most, true, &can_be);
    if (end == first && can_be)
      end = put_plan_so(b, first, most, false, &can_be);
  }
  return end;
}

/* What plans go to where a load does not go the short way. */
static void put_plain_steps(block_t *b) {
  for (unsigned i = 0; i < b->plan_count; i++) {
    if (!b->plans[i].has_loads)
      continue;
    b->e.label[PLAIN + i] = b->e.end;
    b->strip_limit = b->plans[i].end;
    b->may_assume = false;
    gs_cache_begin(&b->cache);
    for (unsigned step = b->plans[i].first; step < b->plans[i].end;) {
      const unsigned end = put_strips(b, step, LANES_FULL);
      if (end == step)
        put_step(b, step, LANES_FULL);
      step = end == step ? step + 1 : end;
    }
    gs_cache_flush(&b->cache, &b->e);
    put_control(b, JOIN, b->plans[i].end - 1, BEHIND + i);
  }
}

/* A mask that strips write, by a stencil that knows where it is. */
static void put_masks(block_t *b, unsigned control, unsigned strip) {
  unsigned count = 0;
  for (unsigned reg = 0; reg < GS_SGPRS; reg++) {
    uint64_t values[GS_HOLE_VALUES] = {0};
    if (!(b->strips[strip].scalars.masks.bits[reg / 64] >> reg % 64 & 1))
      continue;
    values[GS_HOLE_SGPR_SRC0] = scalar_of(reg);
    values[GS_HOLE_SGPR_DST] = offsetof(gs_wave_t, strip_kept) + sizeof(uint64_t) * count++;
    gs_emit_stencil(&b->e, b->translator->control[control], values, 0);
  }
}

/* What strips go to where something is not as they assume: the lanes from there on are done step by step. */
static void put_narrow_steps(block_t *b) {
  for (unsigned i = 0; i < b->strip_count; i++) {
    const unsigned first = b->strips[i].first, end = b->strips[i].end;
    if (!b->strips[i].guard)
      continue;
    gs_strip_land(&b->e, b->strips[i].guard);
    put_trust(b, NARROW, i);
    put_masks(b, KEEP_MASK, i);
    gs_cache_begin(&b->cache);
    for (unsigned step = first; step < end; step++)
      if (!b->strips[i].is_behind[step])
        put_step(b, step, LANES_PART);
    gs_cache_flush(&b->cache, &b->e);
    put_masks(b, RESTORE_MASK, i);
    put_control(b, WIDEN, first, 0);
    put_control(b, JOIN, first, OVER + i);
  }
}

/* What is done in place of strips that assumed too much lately. */
static void put_wary_steps(block_t *b) {
  b->may_assume = false;
  for (unsigned i = 0; i < b->strip_count; i++) {
    if (!b->strips[i].guard)
      continue;
    b->e.label[WARY + i] = b->e.end;
    b->strip_limit = b->strips[i].end;
    gs_cache_begin(&b->cache);
    for (unsigned step = b->strips[i].first; step < b->strips[i].end;) {
      unsigned end = put_plans(b, step, LANES_FULL);
      if (end == step)
        end = put_strips(b, step, LANES_FULL);
      if (end == step)
        put_step(b, end++, LANES_FULL);
      step = end;
    }
    gs_cache_flush(&b->cache, &b->e);
    put_control(b, JOIN, b->strips[i].end - 1, b->strips[i].back);
  }
}

/* The steps from `i` on. The main run begins with unknown lanes, a copy with part of them, or one. */
static void put_run(block_t *b, unsigned i, lanes_t lanes) {
  const bool is_main = lanes == LANES_UNKNOWN;
  gs_cache_begin(&b->cache);
  for (; i < b->count; i++) {
    const gs_choice_t *choice = &b->step[i].choice;
    if (is_main)
      b->e.label[MAIN + i] = b->e.end;
    if (lanes == LANES_UNKNOWN && choice->full && !choice->any) {
      gs_cache_flush(&b->cache, &b->e);
      put_control(b, GUARD, i, COPY + i);
      b->wants_copy[i] = true;
      lanes = LANES_FULL;
    }
    /* None begin with what does not want to know: they would have to do with any lanes. */
    unsigned end = lanes == LANES_UNKNOWN ? i : put_plans(b, i, lanes);
    if (end == i && lanes != LANES_UNKNOWN)
      end = put_strips(b, i, lanes);
    if (end != i) {
      i = end - 1;
      continue;
    }
    put_step(b, i, lanes);
    if (!choice->writes_exec)
      continue;
    gs_cache_flush(&b->cache, &b->e);
    if (!is_main) {
      put_control(b, JOIN, i, MAIN + i + 1);
      return;
    }
    lanes = LANES_UNKNOWN;
  }
  if (is_main)
    b->e.label[MAIN + i] = b->e.end;
  if (!is_end(&b->step[b->count - 1]))
    put_leave(b, &b->cache, b->step[b->count - 1].next, b->count);
}

/* What the guard before step `i` goes to. */
static void put_copies(block_t *b, unsigned i) {
  b->e.label[COPY + i] = b->e.end;
  if (b->translator->control[ONE_FIRST]) {
    put_control(b, ONE_FIRST, i, COPY_PART + i);
    put_run(b, i, LANES_ONE);
    b->e.label[COPY_PART + i] = b->e.end;
  }
  put_run(b, i, LANES_PART);
}

static void put_block(block_t *b) {
  put_control(b, ENTER, b->count, 0);
  put_run(b, 0, LANES_UNKNOWN);
  for (unsigned i = 0; i < b->count; i++)
    if (b->wants_copy[i])
      put_copies(b, i);
  put_wary_steps(b);
  put_plain_steps(b);
  put_narrow_steps(b);
  put_detours(b);
  put_idle_strips(b);
}

/* ---- Blocks ---- */

/* A pair as two instructions. Both of its parts read before either writes; so the one comes first that the
 * other one does not overwrite anything for. Returns false where both do, or one has no stencil: then the
 * pair's handler is called. */
static bool add_pair(block_t *b, const gs_inst_t *in, uint64_t next, unsigned done) {
  gs_finder_t *const finder = &b->translator->finder;
  gs_inst_t *const part = &b->part[b->part_count];
  part[0] = gs_dual_part(in, 0);
  part[1] = gs_dual_part(in, 1);
  const unsigned first = gs_dual_reads(&part[1], part[0].dst);
  if (first && gs_dual_reads(&part[0], part[1].dst))
    return false;
  const gs_choice_t choice[2] = {gs_choose_part(finder, &part[0]), gs_choose_part(finder, &part[1])};
  if (choice[0].kind != GS_STEP_STENCIL || choice[1].kind != GS_STEP_STENCIL)
    return false;
  b->part_count += 2;
  b->step[b->count++] = (step_t){&part[first], next, done, choice[first], &part[first], false};
  b->step[b->count++] = (step_t){&part[!first], next, done, choice[!first], &part[!first], false};
  return true;
}

/* A watched access is one that its handler tells of, and no stencil. */
static gs_choice_t choose(gs_translator_t *t, const gs_inst_t *in) {
  const bool is_watched = in->op && !(in->op->flags & GS_OPF_ILLEGAL) &&
                          in->fn != gs_handler_fn(&t->handlers[in->op - gs_opcodes]);
  return is_watched ? gs_choose_call(in) : gs_choose(&t->finder, in);
}

/* Whether SCC that step `i` writes is overwritten before anybody may read it. */
static bool is_scc_dead(const block_t *b, unsigned i) {
  while (++i < b->count) {
    const step_t *const step = &b->step[i];
    if (is_end(step) || gs_reads_scc(step->in))
      return false;
    if (gs_writes_scc(step->in))
      return true;
  }
  return false;
}
/* Strips combine masks without a look at whether there is a lane in the result. */
static void choose_mask_ops(block_t *b) {
  for (unsigned i = 0; i < b->count; i++)
    if (b->step[i].choice.strip_full && b->step[i].in->op->encoding == GS_ENC_SOP2 &&
        (b->translator->looks == GS_LOOKS_ALWAYS || !is_scc_dead(b, i)))
      b->step[i].choice.strip_full = NULL;
}

static bool has_scalar_stencil(const step_t *step) {
  return step->choice.kind == GS_STEP_STENCIL && step->choice.any;
}

/* Two steps as one, if they are a sum of pairs: the stencil is the first one's, which has nothing but waits
 * behind it until the second. Returns whether they are. */
static bool join_sum(block_t *b, unsigned i) {
  unsigned next = i + 1;
  while (next < b->count && b->step[next].choice.kind == GS_STEP_NOTHING)
    next++;
  if (next == b->count || !has_scalar_stencil(&b->step[next]))
    return false;
  gs_inst_t *const pair = &b->part[b->part_count];
  const gs_stencil_t *const stencil =
      gs_choose_sum(&b->translator->finder, b->step[i].in, b->step[next].in, is_scc_dead(b, next), pair);
  if (!stencil)
    return false;
  b->part_count++;
  b->step[i].choice.any = stencil;
  b->step[i].operands = pair;
  b->step[next].is_done = true;
  return true;
}

/* Scalar instructions whose SCC nobody reads, and sums of pairs, have stencils that do less. */
static void choose_scalar_ops(block_t *b) {
  for (unsigned i = 0; i < b->count && b->translator->looks != GS_LOOKS_ALWAYS; i++) {
    step_t *const step = &b->step[i];
    if (!has_scalar_stencil(step) || step->is_done || join_sum(b, i) || !is_scc_dead(b, i))
      continue;
    const gs_stencil_t *const dead = gs_choose_dead(&b->translator->finder, step->in);
    if (dead)
      step->choice.any = dead;
  }
}

/* Finds out what the block consists of. Returns false when there is no instruction. */
static bool collect(block_t *b, uint64_t address) {
  gs_code_place_t place;
  for (unsigned done = 1; b->count < MOST_STEPS && b->find(b->context, address, &place); done++) {
    const gs_inst_t *const in = place.in;
    if (b->count == 0)
      b->cell = place.cell;
    const bool is_pair = in->op && in->op->encoding == GS_ENC_VOPD;
    if (is_pair && b->count + 2 > MOST_STEPS)
      break;
    address += in->size;
    if (is_pair && add_pair(b, in, address, done))
      continue;
    b->step[b->count] = (step_t){in, address, done, choose(b->translator, in), in, false};
    if (is_end(&b->step[b->count++]))
      break;
  }
  choose_mask_ops(b);
  choose_scalar_ops(b);
  return b->count != 0;
}

static void fail(gs_translator_t *t) {
  static _Atomic int said;
  gs_log_once(&said,
              "no executable memory for translated code (%s): kernels are interpreted, which is slower",
              strerror(errno));
  t->has_failed = true;
}

static bool add_arena(gs_translator_t *t) {
  gs_arena_t *arena = gs_arena_create(t->table);
  if (!arena) {
    fail(t);
    return false;
  }
  arena->next = t->arenas;
  t->arenas = arena;
  return true;
}

/* Writes the block to the newest arena. Returns false when that has no room for it. */
static bool write_block(gs_translator_t *t, block_t *b) {
  gs_emit_begin(&b->e, t->table, t->arenas);
  gs_cache_begin(&b->cache);
  b->detour_count = 0;
  b->strip_count = 0;
  b->plan_count = 0;
  b->strip_limit = b->count;
  b->may_assume = true;
  memset(b->wants_copy, 0, sizeof b->wants_copy);
  put_block(b);
  return gs_emit_end(&b->e);
}

/* Has jumps find the block. Without memory they do not. */
static void add_jump(gs_translator_t *t, uint64_t address, gs_cell_t *cell) {
  if (!t->jumps || t->jumps->used == JUMPS_PIECE) {
    jumps_t *const jumps = calloc(1, sizeof *jumps);
    if (!jumps)
      return;
    jumps->next = t->jumps;
    t->jumps = jumps;
  }
  gs_jump_t *const jump = &t->jumps->jump[t->jumps->used++];
  *jump = (gs_jump_t){address, cell};
  atomic_store_explicit(&t->jump[address / 4 % GS_JUMPS], jump, memory_order_release);
}

gs_block_fn_t *gs_translate(gs_translator_t *translator, uint64_t address, gs_code_find_t *find,
                            void *context, unsigned *count) {
  prepare(translator);
  if (!translator->block)
    translator->block = malloc(sizeof *translator->block);
  block_t *const b = translator->has_failed ? NULL : translator->block;
  gs_block_fn_t *fn = NULL;
  if (!b)
    return NULL;
  b->translator = translator;
  b->find = find;
  b->context = context;
  b->count = 0;
  b->part_count = 0;
  if (collect(b, address) && (translator->arenas || add_arena(translator)) &&
      (write_block(translator, b) || (add_arena(translator) && write_block(translator, b)))) {
    if (gs_arena_add(b->e.arena, b->e.end))
      fn = (gs_block_fn_t *)(uintptr_t)(b->e.arena->base + b->e.start);
    else
      fail(translator);
    *count = b->step[b->count - 1].done;
    if (fn)
      add_jump(translator, address, b->cell);
  }
  return fn;
}
