/* What the files of exec share: the device, a dispatch in progress, and resident workgroups.
 * Not here: the interface to packet/ and machine/ (device.h). */
#ifndef GFXSIM_EXEC_INTERNAL_H
#define GFXSIM_EXEC_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/strict.h"
#include "exec/code.h"
#include "exec/deal.h"
#include "exec/device.h"
#include "exec/kernel.h"
#include "exec/observe.h"
#include "isa/watch.h"
#include "isa/wave.h"

enum { GS_GROUP_WAVES_MAX = 32 };
/* More waves than this never hold scratch memory at once (COMPUTE_TMPRING_SIZE has 12 bits for their number).
 */
enum { GS_SCRATCH_SLOTS = 4096 };

/* Of poison: what of a group's memory holds something of the groups before, and not the host's zeros. */
typedef struct gs_poisoned {
  gs_random_t random;
  size_t lds;                                                        /* bytes */
  uint32_t vgprs[GS_GROUP_WAVES_MAX], acc_vgprs[GS_GROUP_WAVES_MAX]; /* of each element of rows[] */
  bool scalars[GS_GROUP_WAVES_MAX];                                  /* of each wave */
  bool scratch_is_due;                                               /* before the first turn */
} gs_poisoned_t;

/* Beside GS_SCHEDULE_*: the driver stops waves now and then. */
enum { GS_EVICTS = 1 << 16 };

/* With which groups have short turns: by hundreds they may spin, waiting for one that had no turn yet. */
enum { GS_SHORT_TURNS = GS_SCHEDULE_GROUPS | GS_SCHEDULE_PREEMPT };

/* Passes over all waves before a group gives way to others: some 0.1 to 1 s of work at most, so that most
 * groups end in one turn, and at least 1 ms or so. Groups whose turns expire perhaps spin, waiting for one
 * that is behind hundreds of others: each such turn makes those that follow half as long, and each end of a
 * group twice. */
enum { GS_TURN_PASSES = 2048, GS_TURN_PASSES_LEAST = 16 };

/* Of a group that is scheduled by chance: see run.c. */
typedef struct gs_luck {
  gs_random_t random;
  uint32_t starved[GS_GROUP_WAVES_MAX]; /* passes without a turn that are left to a wave */
} gs_luck_t;

/* A workgroup that has started and not yet ended. Its memory is recycled through the device. */
typedef struct gs_group {
  struct gs_group *next;    /* in a list of suspended or of free groups */
  struct gs_group **home;   /* where it returns to instead, if it is an executor's own */
  const struct gs_run *run; /* the dispatch that it is of */
  uint32_t id[3];
  uint32_t wave_count;
  uint32_t live_waves;
  bool released; /* its waves were at a barrier, and have not run since */
  gs_wave_env_t env;
  gs_wave_t wave[GS_GROUP_WAVES_MAX];
  uint32_t scratch_slot[GS_GROUP_WAVES_MAX];
  uint8_t *lds;
  size_t lds_capacity;
  gs_row_t *rows[GS_GROUP_WAVES_MAX]; /* GS_ROWS rows each; mapped lazily, so unused registers cost nothing */
  void *kept[GS_KEEPS];               /* gs_begin_t.keep */
  gs_poisoned_t poisoned;
  gs_luck_t luck;
} gs_group_t;

/* A dispatch in progress. Lives on the stack of gs_device_run. */
typedef struct gs_run {
  struct gs_run *next; /* in device->runs */
  gs_device_t *device;
  gs_kernel_t kernel;
  const gs_watch_t *watch; /* who looks at accesses, or NULL */
  void *watched;           /* what that one knows of the kernel, or NULL */
  bool is_shared;          /* workers may know of it */
  pthread_mutex_t lock;    /* guards all below but what is atomic */
  uint32_t resident;       /* groups started and not ended */
  uint32_t most_resident;
  gs_group_t **own_group; /* of the executor that asked for the run */
  uint32_t executors;     /* threads working on this run */
  bool called_help;       /* workers were woken */
  gs_group_t *suspended, **suspended_tail;
  bool drains;                               /* the last turn of one that was suspended has ended it */
  gs_random_t random;                        /* with GS_SCHEDULE_GROUPS */
  uint64_t slot_used[GS_SCRATCH_SLOTS / 64]; /* one bit per scratch wave slot */
  pthread_cond_t idle;                       /* executors became 0, or a suspended group is there to take */
  uint64_t first_expired; /* when a workgroup first used up its turn, as gs_clock_nanoseconds; 0 = never */
  gs_counters_t counters;
  gs_outcome_t outcome;
  gs_fault_t fault;
  atomic_bool abandon;          /* a wave failed or the host stopped the run: end soon */
  _Atomic uint32_t turn_passes; /* GS_TURN_PASSES to GS_TURN_PASSES_LEAST; changed under the lock */
  _Atomic uint32_t short_turns; /* turns to come that are short: a workgroup waits for another one */
  gs_deal_t deal;               /* the last member: it is large, and set up as far as it is used */
} gs_run_t;

/* Whether the run is to end before its workgroups have: one failed, or the host gave it up. */
static inline bool gs_run_is_over(const gs_run_t *run) {
  const atomic_bool *stop = run->kernel.dispatch.stop;
  return atomic_load_explicit(&run->abandon, memory_order_relaxed) ||
         (stop && atomic_load_explicit(stop, memory_order_relaxed));
}

/* Code is decoded for waves of each width by itself. */
enum { GS_WIDE, GS_NARROW, GS_WIDTHS };
static inline unsigned gs_width_of(gs_target_t target) {
  return gs_target_lanes(target) == GS_MAX_LANES ? GS_WIDE : GS_NARROW;
}

enum { GS_RECENT_LINES = 16 };

/* A thread's means to run waves on a device. Recycled through the device. */
typedef struct gs_executor {
  struct gs_executor *next;
  uint32_t number; /* among those that may work on a dispatch: 0 for its own thread, then the workers */
  gs_device_t *device;
  gs_vm_reader_t vm;
  const gs_vm_map_t *map; /* the snapshot in use while a group runs */
  gs_code_t *code[GS_WIDTHS];
  gs_target_t target;         /* of the waves in hand */
  const gs_code_line_t *line; /* where the last instruction was found, or NULL */
  /* Lines with cells that have been `line`, at places by their addresses; NULL = none. */
  const gs_code_line_t *recent[GS_RECENT_LINES];
  /* What it goes on with when there is no host memory for more. */
  gs_code_line_t *own_line;
  gs_group_t *own_group;  /* NULL while in use, and for workers */
  gs_group_t *spare;      /* for its next workgroup, or NULL; returned to the device when it rests */
  gs_turns_t turns;       /* `current` is the wave in hand */
  gs_counters_t counters; /* of the run in hand, when statistics are on */
  char place[64];         /* names the wave in hand, when there is a trace */
} gs_executor_t;

struct gs_device {
  const gs_profile_t *profile;
  gs_options_t options;
  gs_device_ops_t ops;
  uint32_t ordinal;
  uint32_t cus;
  gs_vm_t *vm;
  gs_gws_t gws;
  gs_handlers_t handlers[GS_WIDTHS];
  bool observed;               /* statistics or a trace are wanted, or each instruction is watched */
  uint32_t hot;                /* that often code is interpreted before it is translated; 0: always */
  bool exact_turns;            /* of waves have as many instructions as they should, translated or not */
  uint32_t poison;             /* kind of what nobody wrote, or 0 for zeros */
  uint32_t schedule;           /* GS_SCHEDULE_*: what of it chance decides; or GS_EVICTS */
  FILE *trace;                 /* NULL = none */
  _Atomic int trace_failed;    /* the person knows that it is incomplete */
  _Atomic int short_of_memory; /* the person knows */
  atomic_bool told_of_stuck;   /* likewise, where a kernel is that does not end */

  pthread_mutex_t pool_lock; /* guards the two lists of recycled things; taken last of all locks */
  gs_executor_t *idle_executors;
  uint32_t executors; /* made for threads that ask for dispatches */
  uint32_t reserved;  /* queues that count on having one each */
  gs_group_t *free_groups;

  pthread_mutex_t lock; /* guards all below; taken before a run's lock */
  gs_code_t *code[GS_WIDTHS];
  gs_run_t *runs;
  gs_kernel_stats_t *stats;
  pthread_cond_t work; /* runs may have something to do for a worker */
  bool quit;
  uint32_t wanted_workers;
  uint32_t worker_count;   /* started so far */
  uint32_t worker_numbers; /* of executors that they have taken */
  pthread_t worker[GS_EXECUTORS_MAX - 1];
};

/* How a turn of a workgroup ended. */
typedef enum gs_turn {
  GS_TURN_ENDED,   /* all waves ended */
  GS_TURN_EXPIRED, /* used its time, or only spins: let another group run */
  GS_TURN_FAILED,  /* a wave faulted: see the wave */
  GS_TURN_ABANDONED,
} gs_turn_t;

/* group.c: makes and frees the memory of a group; NULL when out of memory. */
gs_group_t *gs_group_create(void);
void gs_group_destroy(gs_group_t *group);
/* Makes sure that it has so much LDS. Returns 0, or -1 when out of memory. */
int gs_group_reserve_lds(gs_group_t *group, uint32_t bytes) __attribute__((warn_unused_result));
/* Sets all waves to their initial state for workgroup number `index` of the run. scratch_slot[] is filled
 * already, and LDS is reserved. */
void gs_group_start(gs_group_t *group, const gs_run_t *run, uint64_t index);
/* Work-items of the group, which the grid's edge may cut off. */
void gs_group_size(const gs_group_t *group, const gs_kernel_t *kernel, uint32_t size[3]);

/* run.c: the decoded line that contains `address`, valid until the next call; NULL when the GPU may not
 * execute there. */
const gs_code_line_t *gs_executor_line(const gs_executor_t *executor, uint64_t address);
/* run.c: runs the group's waves until they end or the turn is over. */
gs_turn_t gs_group_run(gs_executor_t *executor, gs_run_t *run, gs_group_t *group);

/* poison.c: what registers and LDS hold before anything is set in them. `index` is that of the wave in the
 * group; the wave's rows are chosen here. */
void gs_poison_lds(gs_group_t *group, const gs_run_t *run, uint64_t index);
void gs_poison_scalars(gs_group_t *group, unsigned index, const gs_device_t *device);
void gs_poison_rows(gs_group_t *group, unsigned index, const gs_run_t *run);
/* Fills the scratch memory of all waves of the group, of which the first turn is about to begin. */
void gs_poison_scratch(const gs_executor_t *executor, const gs_run_t *run, gs_group_t *group);

/* report.c: says on stderr where the waves of a workgroup are whose kernel has not ended for so long. */
void gs_report_stuck(const gs_executor_t *executor, const gs_run_t *run, const gs_group_t *group,
                     uint32_t seconds);
/* report.c: describes the failed wave of `group` on stderr and fills `fault`. Returns the run's outcome. */
gs_outcome_t gs_report_fault(const gs_executor_t *executor, const gs_run_t *run, const gs_group_t *group,
                             const gs_wave_t *wave, gs_fault_t *fault);

/* report.c: name of the function that has the code at `pc`, "?" if unknown. Returns its address, or 0. */
uint64_t gs_function_name(const gs_vm_map_t *map, uint64_t pc, char *name, size_t size);

/* report.c: name of the kernel whose descriptor is at `object`, "?" if unknown; or, `by_registers`, of which
 * that is the first instruction. */
void gs_kernel_name(const gs_vm_map_t *map, uint64_t object, bool by_registers, char *name, size_t size);

/* guard.c: host faults inside guest accesses. */
/* Installs the handler (once per process, thread-safe), or explains on stderr why faults can't be caught. */
void gs_guard_install(void);

#endif
