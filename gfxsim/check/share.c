/* How several tools watch the same accesses: one alone is called by the device itself, of more each in turn.
 */
#include <stdlib.h>

#include "check/check.h"
#include "isa/memory.h"

static void share_lanes(gs_wave_t *w, const gs_access_t *a) {
  const gs_check_t *check = gs_check_of(w);
  for (unsigned i = 0; i < check->tools; i++)
    if (check->tool[i]->lanes)
      check->tool[i]->lanes(w, a);
}

static void share_mixed(gs_wave_t *w, const gs_access_t *a) {
  const gs_check_t *check = gs_check_of(w);
  for (unsigned i = 0; i < check->tools; i++)
    if (check->tool[i]->mixed)
      check->tool[i]->mixed(w, a);
}

static void share_block(gs_wave_t *w, uint64_t address, uint64_t size, uint32_t stride, uint32_t rights,
                        bool scalar) {
  const gs_check_t *check = gs_check_of(w);
  for (unsigned i = 0; i < check->tools; i++)
    if (check->tool[i]->block)
      check->tool[i]->block(w, address, size, stride, rights, scalar);
}

static void share_lds(gs_wave_t *w, const gs_access_t *a) {
  const gs_check_t *check = gs_check_of(w);
  for (unsigned i = 0; i < check->tools; i++)
    if (check->tool[i]->lds)
      check->tool[i]->lds(w, a);
}

/* What each tool wants to be told at the end of a copy. */
typedef struct shared_copy {
  void *told[GS_CHECK_MOST_TOOLS];
} shared_copy_t;

static void *share_copy_begins(void *context, const gs_copy_t *copy) {
  const gs_check_t *check = context;
  shared_copy_t *shared = calloc(1, sizeof *shared); /* without memory for it, its end is not told */
  for (unsigned i = 0; i < check->tools; i++) {
    const gs_watch_t *tool = check->tool[i];
    void *told = tool->copy_begins && (shared || !tool->copy_ends) ? tool->copy_begins(context, copy) : NULL;
    if (shared)
      shared->told[i] = told;
  }
  return shared;
}

static void share_copy_ends(void *context, void *copy) {
  const gs_check_t *check = context;
  shared_copy_t *shared = copy;
  for (unsigned i = 0; i < check->tools; i++)
    if (shared->told[i])
      check->tool[i]->copy_ends(context, shared->told[i]);
  free(shared);
}

static void share_local(gs_wave_t *w, const gs_access_t *a) {
  const gs_check_t *check = gs_check_of(w);
  for (unsigned i = 0; i < check->tools; i++)
    if (check->tool[i]->local)
      check->tool[i]->local(w, a);
}

static void share_local_block(gs_wave_t *w, uint32_t offset, uint32_t size, uint32_t stride,
                              uint32_t rights) {
  const gs_check_t *check = gs_check_of(w);
  for (unsigned i = 0; i < check->tools; i++)
    if (check->tool[i]->local_block)
      check->tool[i]->local_block(w, offset, size, stride, rights);
}

/* What only one tool asks for. */
static void share_alone(gs_watch_t *watch, const gs_watch_t *tool) {
  watch->order = tool->order;
  watch->kernel_begins = tool->kernel_begins;
  watch->kernel_ends = tool->kernel_ends;
  watch->group_begins = tool->group_begins;
  watch->barrier = tool->barrier;
  watch->group_ends = tool->group_ends;
  watch->fence = tool->fence;
}

void gs_check_share(gs_check_t *check, const gs_watch_t *tool) {
  gs_watch_t *watch = &check->watch;
  check->tool[check->tools++] = tool;
  const bool alone = check->tools == 1;
  watch->lanes = alone && tool->lanes ? tool->lanes : share_lanes;
  watch->mixed = alone && tool->mixed ? tool->mixed : share_mixed;
  watch->block = alone && tool->block ? tool->block : share_block;
  watch->lds = alone && tool->lds ? tool->lds : share_lds;
  if (tool->local) { /* else nobody is asked */
    watch->local = watch->local ? share_local : tool->local;
    watch->local_block = watch->local_block ? share_local_block : tool->local_block;
  }
  if (tool->kernel_begins)
    share_alone(watch, tool);
  if (tool->copy_begins) {
    watch->copy_begins = share_copy_begins;
    watch->copy_ends = share_copy_ends;
  }
  if (tool->execute)
    watch->execute = tool->execute;
  if (tool->begin)
    watch->begin = tool->begin;
}
