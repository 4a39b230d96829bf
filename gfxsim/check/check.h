/* The checker (GFXSIM_CHECK): what is wrong with the accesses of the program's kernels. One for the process;
 * all GPUs and all runtimes share it. Not here: how accesses are seen (isa/watch.h). */
#ifndef GFXSIM_CHECK_CHECK_H
#define GFXSIM_CHECK_CHECK_H

#include "base/options.h"
#include "check/blocks.h"
#include "check/findings.h"
#include "check/hold.h"
#include "check/notes.h"
#include "check/transfer.h"
#include "check/race.h"
#include "isa/watch.h"

enum { GS_CHECK_MOST_TOOLS = 8, GS_CHECK_TOLD = 64 };

/* Copies that an engine is making, see copies.c. */
typedef struct gs_copies {
  pthread_mutex_t lock; /* of the list */
  struct gs_running_copy *first;
} gs_copies_t;

/* A kernel that runs, see kernels.c. */
enum { GS_KERNEL_BLOCKS = 64 };
typedef struct gs_block_use {
  uint64_t block, pc, group; /* the block's id, who has accessed it first */
  unsigned wave, lane;
} gs_block_use_t;
/* Of OpenMP's device runtime, see team_stack.c: none, or not known; else where they are, which is behind
 * these. */
enum { GS_COUNTERS_UNKNOWN, GS_COUNTERS_NONE };
typedef struct gs_running_kernel {
  struct gs_running_kernel *next;
  uint64_t number; /* of kernels, from 1 */
  gs_launch_t launch;
  void *told;                /* what the tool that asks for kernels wants to be told again, or NULL */
  _Atomic uint32_t counters; /* GS_COUNTERS_ */
  uint32_t used_count;
  gs_block_use_t used[GS_KERNEL_BLOCKS]; /* of blocks, the last ones */
} gs_running_kernel_t;

typedef struct gs_kernels {
  pthread_mutex_t lock; /* of all but `asks` */
  gs_running_kernel_t *first;
  uint64_t made;
  gs_watch_t asks; /* the tool that asks for kernels: its functions are NULL if none does */
} gs_kernels_t;

typedef struct gs_host_read gs_host_read_t; /* host_read.h */

typedef struct gs_check {
  gs_blocks_t blocks;
  gs_findings_t findings;
  gs_transfer_t *transfer; /* of that tool, or NULL */
  gs_race_t *race;         /* likewise */
  gs_sites_t sites;        /* without `race`, for "bounds" */
  gs_watch_t watch;        /* for devices: gs_device_ops_t.watch. Its context is this object, for all tools */
  /* Freed blocks of which copies were told of when they were asked for: ids, the last ones. */
  _Atomic uint64_t told[GS_CHECK_TOLD];
  _Atomic unsigned next_told;
  const gs_watch_t *tool[GS_CHECK_MOST_TOOLS]; /* who shares it, in this order */
  unsigned tools;
  gs_copies_t copies;        /* that run */
  gs_kernels_t kernels;      /* likewise, for the tools "bounds" and "race" */
  gs_hold_t hold;            /* of kernels that are over */
  gs_watch_t internal;       /* for ROCr's own kernels, if a tool wants to see them */
  struct gs_init *init;      /* what the tool of this name keeps, or NULL */
  struct gs_wait *wait;      /* likewise */
  gs_host_read_t *host_read; /* with "init" or "transfer", or NULL */
} gs_check_t;

/* The checker whose tools watch the wave. */
static inline gs_check_t *gs_check_of(const gs_wave_t *w) {
  return w->env->watch->context;
}

/* Registers that hold a mask of lanes. */
static inline unsigned gs_mask_dwords(const gs_wave_t *w) {
  return gs_wave_lanes(w) / 32;
}

/* Makes the checker that the options ask for; *check is NULL when they ask for none. Returns 0, or -1 after a
 * message when out of memory. */
int gs_check_create(const gs_options_t *options, gs_check_t **check) __attribute__((warn_unused_result));
/* Asks the dynamic linker for what names need (source lines are prepared for all). By the thread that opens
 * a machine, each time. */
void gs_check_prepare(void);
/* Accepts NULL. Nothing may be watched any more. */
void gs_check_destroy(gs_check_t *check);

/* Other memory has come to [start, end), of which nobody gives a note. Thread-safe. */
void gs_check_forget(gs_check_t *check, uint64_t start, uint64_t end);
/* Prints the summary. Returns the exit status that the process should have, or 0 for its own. */
int gs_check_finish(gs_check_t *check);

/* share.c: calls one tool's watcher more for each access, after those that are there. Any of its functions
 * may be NULL; its context is not used. While the checker is made. */
void gs_check_share(gs_check_t *check, const gs_watch_t *tool);

/* bounds.c: the watcher that compares accesses with the blocks. */
extern const gs_watch_t gs_bounds_watch;

/* copies.c: compares both ends of a copy with the blocks, when it is asked for, and when a copy engine begins
 * it: the program may have freed one in between. The latter is a watcher's copy_begins. */
void *gs_copies_begin(void *context, const gs_copy_t *copy);
void gs_copies_end(void *context, void *running);
/* The block at `address` is about to be freed, or from now on only the GPUs with their bits (1 << number) in
 * `gpus` may access it: copies that run on it are told of. */
void gs_copies_freed(gs_check_t *check, uint64_t address, const gfxsim_stack_t *stack);
void gs_copies_share(gs_check_t *check, uint64_t address, uint32_t gpus, const gfxsim_stack_t *stack);
void gs_copies_look(gs_check_t *check, const gfxsim_copy_t *copy, const char *call,
                    const gfxsim_stack_t *stack);

/* frees.c: tells that the program wanted to free what is at `address`, and may not. Thread-safe. */
void gs_frees_tell(gs_check_t *check, uint64_t address, const gfxsim_stack_t *stack);

/* kernels.c: keeps a list of the kernels that run; when all tools are there. */
void gs_kernels_watch(gs_check_t *check);
/* The wave's kernel, if that is known, accesses the block. On the thread that runs the wave. */
void gs_kernel_used(const gs_wave_t *w, uint64_t block);
/* From now on only the GPUs with their bits in `gpus` may access the block: kernels of others that have, and
 * still run, are told of. */
void gs_kernels_share(gs_check_t *check, const gs_block_note_t *block, uint32_t gpus,
                      const gfxsim_stack_t *stack);
/* Whether a kernel of that GPU runs. */
bool gs_kernels_run(gs_check_t *check, uint32_t gpu);
/* The block at `address` is about to be freed: a kernel of the GPU, whose memory is `map`, that has accessed
 * it and still runs, is told of. */
void gs_kernels_freed(gs_check_t *check, uint32_t gpu, const gs_vm_map_t *map, uint64_t address,
                      const gfxsim_stack_t *stack);
extern const char gs_kernels_hint[];

/* team_stack.c: looks at an access to bytes of local memory that is about to happen. On the thread that runs
 * the wave. Then, whether what is at `offset` there was given to this lane though the device runtime has no
 * memory for it. */
struct gs_access;
void gs_team_stack_watch(gs_wave_t *w, const struct gs_access *a);
bool gs_team_stack_is_full(const gs_wave_t *w, unsigned lane, uint64_t offset);
extern const char gs_team_stack_hint[];

#endif
