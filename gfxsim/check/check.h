/* The checker (GFXSIM_CHECK): what is wrong with the accesses of the program's kernels. One for the process;
 * all GPUs and all runtimes share it. Not here: how accesses are seen (isa/watch.h). */
#ifndef GFXSIM_CHECK_CHECK_H
#define GFXSIM_CHECK_CHECK_H

#include "base/options.h"
#include "check/blocks.h"
#include "check/findings.h"
#include "isa/watch.h"

typedef struct gs_check {
  gs_blocks_t blocks;
  gs_findings_t findings;
  gs_watch_t watch; /* for devices: gs_device_ops_t.watch */
} gs_check_t;

/* Makes the checker that the options ask for; *check is NULL when they ask for none. Returns 0, or -1 after a
 * message when out of memory. */
int gs_check_create(const gs_options_t *options, gs_check_t **check) __attribute__((warn_unused_result));
/* Accepts NULL. Nothing may be watched any more. */
void gs_check_destroy(gs_check_t *check);

/* Prints the summary. Returns the exit status that the process should have, or 0 for its own. */
int gs_check_finish(gs_check_t *check);

/* bounds.c: the watcher that compares accesses with the blocks. */
void gs_bounds_watch(gs_check_t *check);

#endif
