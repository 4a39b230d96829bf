/* The device: threads, and the dealing of workgroups to them. The thread that asks for a dispatch works on it
 * itself; workers join when there is more than one workgroup. Not here: what happens inside a workgroup
 * (run.c). */
#include "exec/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "exec/symbol.h"
#include "isa/lanes.h"
#include "isa/ops.h"

enum { LINE_BYTES = 64 };

/* ---- Workgroups: their memory is recycled, through the executor's hands as long as that has work, so that
 * nobody waits for a lock; and through the device ---- */

static void give_group(gs_device_t *device, gs_group_t *group) {
  group->next = device->free_groups;
  device->free_groups = group;
}

/* NULL when there is none. Pool lock held. */
static gs_group_t *free_group(gs_device_t *device) {
  gs_group_t *group = device->free_groups;
  if (group)
    device->free_groups = group->next;
  return group;
}

static gs_group_t *take_group(gs_executor_t *ex) {
  gs_device_t *device = ex->device;
  gs_group_t *group = ex->spare;
  ex->spare = NULL;
  if (group)
    return group;
  pthread_mutex_lock(&device->pool_lock);
  group = free_group(device);
  pthread_mutex_unlock(&device->pool_lock);
  return group ? group : gs_group_create();
}

static void return_group(gs_executor_t *ex, gs_group_t *group) {
  gs_device_t *device = ex->device;
  if (GS_UNLIKELY(group->env.watched != NULL))
    group->env.watch->group_ends(group->env.watch->context, group->env.watched);
  group->env.watched = NULL;
  if (group->home) {
    *group->home = group;
    return;
  }
  if (!ex->spare) {
    ex->spare = group;
    return;
  }
  pthread_mutex_lock(&device->pool_lock);
  give_group(device, group);
  pthread_mutex_unlock(&device->pool_lock);
}

/* Pool lock held. */
static void give_spare(gs_executor_t *ex) {
  if (ex->spare)
    give_group(ex->device, ex->spare);
  ex->spare = NULL;
}

/* ---- Executors: a thread's means to run waves, recycled ---- */

static void destroy_executor(gs_executor_t *ex) {
  if (!ex)
    return;
  for (unsigned width = 0; width < GS_WIDTHS; width++)
    gs_code_release(ex->code[width]);
  gs_vm_reader_unregister(&ex->vm);
  gs_group_destroy(ex->own_group);
  gs_group_destroy(ex->spare);
  free(ex->own_line);
  free(ex);
}

/* With a workgroup of its own, it can run every kernel without any more host memory. */
static gs_executor_t *create_executor(gs_device_t *device, bool with_group) {
  /* On lines of its own: its thread writes it all the time. */
  gs_executor_t *ex = aligned_alloc(LINE_BYTES, (sizeof *ex + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES);
  if (!ex)
    return NULL;
  memset(ex, 0, sizeof *ex);
  ex->device = device;
  gs_vm_reader_register(device->vm, &ex->vm);
  ex->own_line = aligned_alloc(_Alignof(gs_code_line_t), sizeof *ex->own_line);
  ex->own_group = with_group ? gs_group_create() : NULL;
  if (!ex->own_line ||
      (with_group && (!ex->own_group || gs_group_reserve_lds(ex->own_group, device->profile->lds_bytes)))) {
    destroy_executor(ex);
    return NULL;
  }
  if (with_group)
    ex->own_group->home = &ex->own_group;
  return ex;
}

/* Makes one for a thread that asks for dispatches. Workers have executors of their own. */
static gs_executor_t *add_executor(gs_device_t *device) {
  gs_executor_t *ex = create_executor(device, true);
  if (!ex) {
    gs_log("GPU %u: no host memory to run kernels", device->ordinal);
    return NULL;
  }
  pthread_mutex_lock(&device->pool_lock);
  device->executors++;
  pthread_mutex_unlock(&device->pool_lock);
  return ex;
}

static gs_executor_t *take_executor(gs_device_t *device) {
  pthread_mutex_lock(&device->pool_lock);
  gs_executor_t *ex = device->idle_executors;
  if (ex) {
    device->idle_executors = ex->next;
    ex->spare = free_group(device);
  }
  pthread_mutex_unlock(&device->pool_lock);
  return ex ? ex : add_executor(device);
}

/* Lets go of the address space. The decoded code stays: it is reference-counted. */
static void rest_executor(gs_executor_t *ex) {
  gs_vm_reader_leave(&ex->vm);
  ex->map = NULL;
}

static void return_executor(gs_executor_t *ex) {
  gs_device_t *device = ex->device;
  rest_executor(ex);
  pthread_mutex_lock(&device->pool_lock);
  give_spare(ex);
  ex->next = device->idle_executors;
  device->idle_executors = ex;
  pthread_mutex_unlock(&device->pool_lock);
}

static void free_executors(gs_device_t *device) {
  while (device->idle_executors) {
    gs_executor_t *ex = device->idle_executors;
    device->idle_executors = ex->next;
    destroy_executor(ex);
  }
}

int gs_device_reserve(gs_device_t *device) {
  pthread_mutex_lock(&device->pool_lock);
  const bool enough = ++device->reserved <= device->executors;
  pthread_mutex_unlock(&device->pool_lock);
  gs_executor_t *ex = enough ? NULL : add_executor(device);
  if (ex)
    return_executor(ex);
  if (enough || ex)
    return 0;
  gs_device_unreserve(device);
  return -1;
}

void gs_device_unreserve(gs_device_t *device) {
  pthread_mutex_lock(&device->pool_lock);
  device->reserved--;
  pthread_mutex_unlock(&device->pool_lock);
}

/* ---- Scratch slots of a run: each wave of a resident group owns one ---- */

static bool needs_scratch(const gs_run_t *run) {
  return run->kernel.private_bytes != 0;
}

/* Takes slots for all waves of a group. The number of resident groups is limited so that they suffice. */
static void take_slots(gs_run_t *run, gs_group_t *group) {
  uint32_t slot = 0;
  for (unsigned i = 0; i < run->kernel.waves_per_group; i++) {
    while (run->slot_used[slot / 64] >> (slot % 64) & 1)
      slot++;
    run->slot_used[slot / 64] |= UINT64_C(1) << (slot % 64);
    group->scratch_slot[i] = slot;
  }
}

static void release_slots(gs_run_t *run, const gs_group_t *group) {
  for (unsigned i = 0; i < run->kernel.waves_per_group; i++)
    run->slot_used[group->scratch_slot[i] / 64] &= ~(UINT64_C(1) << (group->scratch_slot[i] % 64));
}

/* ---- A run: workgroups that wait to start, that are suspended, that run ---- */

static void fail(gs_run_t *run, gs_outcome_t outcome) {
  if (!run->outcome)
    run->outcome = outcome;
  atomic_store_explicit(&run->abandon, true, memory_order_relaxed);
}

static bool can_start(const gs_run_t *run) {
  return gs_deal_left(&run->deal) && run->resident < run->most_resident;
}

/* Whether another thread could help. Lock held. */
static bool has_work(const gs_run_t *run) {
  return !gs_run_is_over(run) && (run->suspended || can_start(run));
}

static bool by_chance(const gs_run_t *run) {
  return run->device->schedule & GS_SCHEDULE_GROUPS;
}

/* The group that was suspended first, or, by chance, one of those that came next. */
static gs_group_t *take_suspended(gs_run_t *run) {
  enum { CHOICE = 8 };
  gs_group_t **link = &run->suspended;
  for (uint32_t skip = by_chance(run) ? gs_random_below(&run->random, CHOICE) : 0; skip && (*link)->next;
       skip--)
    link = &(*link)->next;
  gs_group_t *group = *link;
  *link = group->next;
  if (!*link)
    run->suspended_tail = link;
  return group;
}

static void suspend(gs_run_t *run, gs_group_t *group) {
  group->next = NULL;
  *run->suspended_tail = group;
  run->suspended_tail = &group->next;
}

/* Memory for the next workgroup. Without host memory for more there is one at a time, in the executor's own;
 * NULL while that runs. Lock held. */
static gs_group_t *find_group(gs_executor_t *ex, gs_run_t *run) {
  gs_group_t *group = take_group(ex);
  if (group && gs_group_reserve_lds(group, run->kernel.lds_bytes) == 0)
    return group;
  if (group)
    return_group(ex, group);
  if (run->resident) {
    run->most_resident = run->resident;
    gs_log_once(&run->device->short_of_memory,
                "GPU %u: no host memory for another workgroup: fewer are in progress at once than a card has",
                run->device->ordinal);
    return NULL;
  }
  group = *run->own_group;
  *run->own_group = NULL;
  return group;
}

/* Which workgroup is the n-th to begin. By chance they change places with those that fit beside them; a group
 * may still count on those that a card began before it, and find them begun sooner or later. */
static uint64_t nth_group(const gs_run_t *run, uint64_t n) {
  static const uint32_t primes[] = {7919, 104729, 1299709, 15485863};
  if (!by_chance(run))
    return n;
  const uint64_t block = run->kernel.resident_groups, first = n - n % block;
  const uint64_t left = run->kernel.group_count - first, size = left < block ? left : block;
  gs_random_t random =
      gs_random_of(run->device->options.strict_seed, run->kernel.dispatch.dispatch_id, first);
  uint64_t factor = 1; /* of which and `size` only 1 is a common divisor: no group is met twice */
  for (unsigned i = gs_random_below(&random, 4), tries = 4; tries && factor == 1; i++, tries--)
    if (size % primes[i % 4])
      factor = primes[i % 4];
  return first + ((n - first) * factor + gs_random_next(&random) % size) % size;
}

/* Memory and a number for the next workgroup, which is to be started without the lock: it takes time. NULL
 * without host memory for it. Lock held. */
static gs_group_t *begin_group(gs_executor_t *ex, gs_run_t *run, uint64_t *index) {
  gs_group_t *group = find_group(ex, run);
  if (!group)
    return NULL;
  /* Where memory lacks, there is always room for one. */
  const uint64_t room = run->resident < run->most_resident ? run->most_resident - run->resident : 1;
  *index = nth_group(run, gs_deal_next(&run->deal, ex->number, room));
  run->resident++;
  if (needs_scratch(run))
    take_slots(run, group);
  return group;
}

static const uint64_t was_suspended = UINT64_MAX; /* no workgroup has this number */

/* The next workgroup to run: new ones first, as long as the GPU could hold them, with their number, then
 * those that had their turn, with was_suspended. But where these have what they waited for, and end one after
 * the other, they go first: new ones might wait in turn, each for a turn that leads to nothing (teams that
 * reduce, of which the device runtime lets some in at a time). Lock held. */
static gs_group_t *next_group(gs_executor_t *ex, gs_run_t *run, uint64_t *index) {
  if (!has_work(run))
    return NULL;
  const bool wait = run->suspended && (run->drains || (by_chance(run) && gs_random_once_in(&run->random, 8)));
  gs_group_t *group = can_start(run) && !wait ? begin_group(ex, run, index) : NULL;
  if (group)
    return group;
  *index = was_suspended;
  return run->suspended ? take_suspended(run) : NULL;
}

/* A kernel that takes very long perhaps never ends, and nobody else could say where it is. Only those are
 * timed that need more than a turn. Lock held. */
static void look_at_clock(const gs_executor_t *ex, gs_run_t *run, const gs_group_t *group) {
  gs_device_t *device = run->device;
  const uint64_t limit = device->options.stuck * UINT64_C(1000000000);
  if (!limit || !ex->map) /* where the group's waves only waited, there may be no map yet */
    return;
  const uint64_t now = gs_clock_nanoseconds();
  if (!run->first_expired)
    run->first_expired = now;
  if (now - run->first_expired >= limit && !atomic_exchange(&device->told_of_stuck, true))
    gs_report_stuck(ex, run, group, device->options.stuck);
}

/* See GS_TURN_PASSES. Lock held. */
static void set_turns(gs_run_t *run, bool expired) {
  const uint32_t passes = atomic_load_explicit(&run->turn_passes, memory_order_relaxed);
  const bool at_limit = passes == (expired ? GS_TURN_PASSES_LEAST : GS_TURN_PASSES);
  if (!at_limit)
    atomic_store_explicit(&run->turn_passes, expired ? passes / 2 : passes * 2, memory_order_relaxed);
}

/* Files a group, of this number or was_suspended, after its turn. Lock held. */
static void after_turn(gs_executor_t *ex, gs_run_t *run, gs_group_t *group, uint64_t index, gs_turn_t turn) {
  set_turns(run, turn == GS_TURN_EXPIRED);
  if (index == was_suspended)
    run->drains = turn == GS_TURN_ENDED;
  if (turn == GS_TURN_EXPIRED && !run->abandon) {
    look_at_clock(ex, run, group);
    suspend(run, group);
    run->most_resident = run->kernel.resident_groups; /* it may wait for one that found no host memory */
    pthread_cond_signal(&run->idle);
    return;
  }
  if (turn == GS_TURN_FAILED && !run->outcome) {
    const gs_wave_t *wave = group->wave;
    while (wave < group->wave + group->wave_count && wave->state != GS_WAVE_FAULTED)
      wave++;
    fail(run, wave < group->wave + group->wave_count ? gs_report_fault(ex, run, group, wave, &run->fault)
                                                     : GS_OUT_OF_HOST_MEMORY);
  }
  if (turn == GS_TURN_ABANDONED)
    fail(run, GS_STOPPED);
  if (needs_scratch(run))
    release_slots(run, group);
  run->resident--;
  return_group(ex, group);
}

/* A run that nobody hears of needs no lock. */
static void lock_run(gs_run_t *run) {
  if (run->is_shared)
    pthread_mutex_lock(&run->lock);
}
static void unlock_run(gs_run_t *run) {
  if (run->is_shared)
    pthread_mutex_unlock(&run->lock);
}

static void wake_workers(gs_device_t *device);

/* Runs workgroups until there is none left to take. Run lock held on entry and exit. */
static void work_on(gs_executor_t *ex, gs_run_t *run) {
  enum { YIELD_ONCE_IN = 256 }; /* short turns: on a busy machine it takes long */
  unsigned short_turns = 0;
  run->executors++;
  gs_group_t *group;
  uint64_t index;
  while ((group = next_group(ex, run, &index))) {
    const bool call_help = run->is_shared && !run->called_help && has_work(run);
    run->called_help |= call_help;
    unlock_run(run);
    if (call_help)
      wake_workers(run->device);
    if (index != was_suspended)
      gs_group_start(group, run, index);
    const gs_turn_t turn = gs_group_run(ex, run, group);
    if (turn == GS_TURN_EXPIRED &&
        (!(run->device->schedule & GS_SHORT_TURNS) || ++short_turns % YIELD_ONCE_IN == 0))
      sched_yield(); /* perhaps it waits for the host, which needs the processor to answer */
    lock_run(run);
    after_turn(ex, run, group, index, turn);
  }
  if (run->device->options.stats) {
    gs_counters_join(&run->counters, &ex->counters);
    ex->counters = (gs_counters_t){0};
  }
  run->executors--;
  if (run->executors == 0 && run->is_shared)
    pthread_cond_signal(&run->idle);
}

/* ---- Workers ---- */

/* A run that a worker could help with, or NULL. Device lock held; the run comes back locked, so that it can't
 * end before the worker counts as one of its executors. */
static gs_run_t *find_work(gs_device_t *device) {
  for (gs_run_t *run = device->runs; run; run = run->next) {
    pthread_mutex_lock(&run->lock);
    if (has_work(run))
      return run;
    pthread_mutex_unlock(&run->lock);
  }
  return NULL;
}

/* What it does not use others may have. Device lock held. */
static void rest_worker(gs_executor_t *ex) {
  rest_executor(ex);
  pthread_mutex_lock(&ex->device->pool_lock);
  give_spare(ex);
  pthread_mutex_unlock(&ex->device->pool_lock);
}

static void *worker_main(void *argument) {
  gs_device_t *device = argument;
  gs_executor_t *ex = create_executor(device, false); /* without it there is a worker less */
  pthread_mutex_lock(&device->lock);
  if (ex)
    ex->number = ++device->worker_numbers;
  while (ex && !device->quit) {
    gs_run_t *run = find_work(device);
    if (!run) {
      rest_worker(ex);
      pthread_cond_wait(&device->work, &device->lock);
      continue;
    }
    pthread_mutex_unlock(&device->lock);
    work_on(ex, run);
    pthread_mutex_unlock(&run->lock);
    pthread_mutex_lock(&device->lock);
  }
  pthread_mutex_unlock(&device->lock);
  destroy_executor(ex);
  return NULL;
}

/* Starts the workers that are missing; a thread that can't be had is done without. Device lock held. */
static void start_workers(gs_device_t *device) {
  while (device->worker_count < device->wanted_workers &&
         gs_thread_start(&device->worker[device->worker_count], "gfxsim-worker", worker_main, device) == 0)
    device->worker_count++;
}

static void wake_workers(gs_device_t *device) {
  pthread_mutex_lock(&device->lock);
  start_workers(device);
  pthread_cond_broadcast(&device->work);
  pthread_mutex_unlock(&device->lock);
}

static void stop_workers(gs_device_t *device) {
  pthread_mutex_lock(&device->lock);
  device->quit = true;
  pthread_cond_broadcast(&device->work);
  pthread_mutex_unlock(&device->lock);
  for (uint32_t i = 0; i < device->worker_count; i++)
    pthread_join(device->worker[i], NULL);
  device->worker_count = device->worker_numbers = 0;
}

/* ---- Dispatches ---- */

static void run_init(gs_run_t *run, gs_device_t *device) {
  memset(run, 0, offsetof(gs_run_t, deal));
  run->device = device;
  atomic_init(&run->turn_passes, GS_TURN_PASSES);
  run->suspended_tail = &run->suspended;
  pthread_mutex_init(&run->lock, NULL);
  pthread_cond_init(&run->idle, NULL);
}

static void run_fini(gs_executor_t *ex, gs_run_t *run) {
  while (run->suspended)
    return_group(ex, take_suspended(run));
  pthread_cond_destroy(&run->idle);
  pthread_mutex_destroy(&run->lock);
}

static void publish_run(gs_run_t *run) {
  gs_device_t *device = run->device;
  pthread_mutex_lock(&device->lock);
  run->next = device->runs;
  device->runs = run;
  pthread_mutex_unlock(&device->lock);
}

static void withdraw_run(gs_run_t *run) {
  gs_device_t *device = run->device;
  pthread_mutex_lock(&device->lock);
  gs_run_t **link = &device->runs;
  while (*link != run)
    link = &(*link)->next;
  *link = run->next;
  pthread_mutex_unlock(&device->lock);
}

/* Makes sure that no worker has the run in hand. Run lock held on entry and exit. */
static void part_from_workers(gs_run_t *run) {
  pthread_mutex_unlock(&run->lock);
  withdraw_run(run);
  /* A worker may have locked the run between the two lines above; it found nothing and will touch it no more
   * once the lock is free. */
  pthread_mutex_lock(&run->lock);
  while (run->executors)
    pthread_cond_wait(&run->idle, &run->lock);
}

/* Works until every workgroup has ended, or all executors have let go of an abandoned run. With a single
 * workgroup, or without workers, nobody can help, and nobody hears of it. */
static void run_to_end(gs_executor_t *ex, gs_run_t *run) {
  if (run->is_shared)
    publish_run(run);
  lock_run(run);
  do {
    work_on(ex, run);
    rest_executor(ex); /* waiting for others must not delay gs_vm_unmap */
    while (run->executors && !has_work(run))
      pthread_cond_wait(&run->idle, &run->lock);
  } while (has_work(run));
  if (run->is_shared)
    part_from_workers(run);
  /* The host may stop the run between two workgroups, of which none then says so. */
  if (!run->outcome && (run->suspended || gs_deal_left(&run->deal)))
    run->outcome = GS_STOPPED;
  unlock_run(run);
}

static void keep_statistics(gs_executor_t *ex, gs_run_t *run, uint64_t nanoseconds) {
  gs_device_t *device = run->device;
  char name[256];
  gs_kernel_name(gs_vm_reader_enter(&ex->vm), run->kernel.object, run->kernel.dispatch.shader != NULL, name,
                 sizeof name);
  run->counters.dispatches = 1;
  run->counters.groups = run->deal.begun;
  run->counters.waves = run->deal.begun * run->kernel.waves_per_group;
  run->counters.nanoseconds = nanoseconds;
  gs_cost_add(device->ops.costs, GS_COST_TRIP, run->counters.toll.longest);
  gs_cost_add(device->ops.costs, GS_COST_LINE, run->counters.toll.lines);
  pthread_mutex_lock(&device->lock);
  gs_stats_add(&device->stats, name, &run->counters);
  pthread_mutex_unlock(&device->lock);
}

void gs_device_print_stats(gs_device_t *device, FILE *out) {
  if (!device->options.stats)
    return;
  char title[64];
  snprintf(title, sizeof title, "GPU %u (%s)", device->ordinal, device->profile->name);
  pthread_mutex_lock(&device->lock);
  gs_stats_print(device->stats, title, device->profile->link, out);
  gs_stats_free(device->stats);
  device->stats = NULL;
  pthread_mutex_unlock(&device->lock);
}

enum { TRACE_PATH_BYTES = sizeof((gs_options_t *)NULL)->trace + 16 };

/* Each device after the first writes a file of its own. */
static void trace_path(const gs_device_t *device, char path[TRACE_PATH_BYTES]) {
  if (device->ordinal == 0)
    snprintf(path, TRACE_PATH_BYTES, "%s", device->options.trace);
  else
    snprintf(path, TRACE_PATH_BYTES, "%s.%u", device->options.trace, device->ordinal);
}

void gs_device_flush_trace(gs_device_t *device) {
  char path[TRACE_PATH_BYTES];
  if (!device->trace || (!fflush(device->trace) && !ferror(device->trace)))
    return;
  trace_path(device, path);
  gs_log_once(&device->trace_failed, "the trace %s is incomplete: it can't be written (is the disk full?)",
              path);
}

enum { ACQUIRE_SHIFT = 9, RELEASE_SHIFT = 11 }; /* of hsa_packet_header_t */

/* What the packet's header says of a fence. */
static gs_scope_t scope_of(const gs_dispatch_t *dispatch, unsigned shift) {
  uint16_t header;
  memcpy(&header, (const void *)(uintptr_t)dispatch->packet, sizeof header);
  const unsigned scope = (unsigned)header >> shift & 3;
  return scope > GS_SCOPE_SYSTEM ? GS_SCOPE_SYSTEM : (gs_scope_t)scope;
}

/* Tells who watches of the kernel, if anybody does. */
static void watch_run(gs_run_t *run, const gs_vm_map_t *map) {
  gs_device_t *device = run->device;
  const gs_kernel_t *kernel = &run->kernel;
  const gs_dispatch_t *dispatch = &kernel->dispatch;
  /* ROCr's: which sends no PM4 commands that start one. */
  const bool own = !dispatch->shader && !gs_symbol_in_code_object(map, kernel->object);
  const gs_scope_t acquire = scope_of(dispatch, ACQUIRE_SHIFT), release = scope_of(dispatch, RELEASE_SHIFT);
  run->watch = own ? device->ops.watch->internal : device->ops.watch;
  if (own && device->ops.watch->fence)
    device->ops.watch->fence(device->ops.watch->context, device->ordinal, acquire, release);
  if (own || run->outcome || !run->watch->kernel_begins)
    return;
  gs_launch_t launch = {.gpu = device->ordinal,
                        .profile = device->profile->name,
                        .target = kernel->target,
                        .object = kernel->object,
                        .acquire = acquire,
                        .release = release};
  memcpy(launch.grid, kernel->grid, sizeof launch.grid);
  memcpy(launch.group_size, kernel->group_size, sizeof launch.group_size);
  memcpy(launch.groups, kernel->groups, sizeof launch.groups);
  if (kernel->private_bytes) {
    launch.scratch_start = dispatch->scratch_base;
    launch.scratch_end =
        dispatch->scratch_base + (uint64_t)dispatch->scratch_waves * dispatch->scratch_wave_bytes;
  }
  run->watched = run->watch->kernel_begins(run->watch->context, &launch);
}

const struct gs_watch *gs_device_watch(const gs_device_t *device) {
  return device->ops.watch;
}

gs_outcome_t gs_device_run(gs_device_t *device, const gs_dispatch_t *dispatch, gs_fault_t *fault) {
  gs_executor_t *ex = take_executor(device);
  if (!ex)
    return GS_OUT_OF_HOST_MEMORY;
  const uint64_t start = device->options.stats ? gs_clock_nanoseconds() : 0;
  gs_run_t run;
  run_init(&run, device);
  const gs_vm_map_t *map = gs_vm_reader_enter(&ex->vm);
  run.outcome = gs_kernel_init(&run.kernel, device, map, dispatch);
  if (GS_UNLIKELY(device->ops.watch != NULL))
    watch_run(&run, map);
  run.is_shared = run.kernel.group_count > 1 && device->wanted_workers;
  gs_deal_init(&run.deal, run.outcome ? 0 : run.kernel.group_count,
               run.is_shared ? device->wanted_workers + 1 : 1);
  run.most_resident = run.kernel.resident_groups;
  run.own_group = &ex->own_group;
  run.random = gs_random_of(device->options.strict_seed, device->ordinal, dispatch->dispatch_id);
  if (!run.outcome)
    run_to_end(ex, &run);
  if (device->options.stats)
    keep_statistics(ex, &run, gs_clock_nanoseconds() - start);
  *fault = run.fault;
  const gs_outcome_t outcome = run.outcome;
  run_fini(ex, &run);
  if (GS_UNLIKELY(run.watched != NULL))
    run.watch->kernel_ends(run.watch->context, run.watched);
  return_executor(ex);
  return outcome;
}

/* ---- The device ---- */

/* A name that the user wrote may be a link: to /dev/stdout, to another disk. In the place of one that the
 * ordinal completed, as in a folder that others write to, nobody's link is followed. */
static FILE *open_trace(const gs_device_t *device) {
  char path[TRACE_PATH_BYTES];
  trace_path(device, path);
  const int follow = device->ordinal ? O_NOFOLLOW : 0;
  const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | follow, 0666);
  FILE *stream = file < 0 ? NULL : fdopen(file, "w");
  if (!stream)
    gs_log("can't write the trace %s: %s", path,
           errno == ELOOP ? "a symbolic link has this name" : strerror(errno));
  if (file >= 0 && !stream)
    close(file);
  return stream;
}

/* Who executes instructions: where there are some, handlers with calls of the watcher, and of who counts. */
static void choose_handlers(gs_device_t *device) {
  static const unsigned lanes[GS_WIDTHS] = {[GS_WIDE] = 64, [GS_NARROW] = 32};
  const gs_level_t *const level = gs_level_for_processor();
  const gs_handler_t *const usual[GS_WIDTHS] = {level->handlers, level->wave32_handlers};
  const bool are_watched = device->ops.watch || device->options.stats;
  for (unsigned width = 0; width < GS_WIDTHS; width++)
    device->handlers[width] = (gs_handlers_t){
        .usual = usual[width],
        .watched = are_watched ? gs_level_watched((size_t)(level - gs_levels), lanes[width]) : NULL,
        .digests = device->ops.watch && device->ops.watch->digest ? device->ops.watch : NULL,
        .looks = device->ops.watch ? GS_LOOKS_ALWAYS : GS_LOOKS_NEVER};
}

/* Whoever wants to see each instruction has it interpreted, but for blocks that may pass. Who wants to see
 * accesses alone is called by their handlers, which translated code calls. */
static uint32_t heat_of(const gs_device_t *device) {
  static _Atomic int said;
  enum { OFTEN = 32 };
  const uint32_t wanted = device->options.translate;
  const gs_watch_t *watch = device->ops.watch;
  if (wanted == GS_TRANSLATE_NEVER || device->trace || device->options.stats ||
      (watch && watch->execute && !watch->sum))
    return 0;
  if (gs_translator_is_available(device->handlers[GS_WIDE].usual))
    return wanted == GS_TRANSLATE_ALWAYS ? 1 : OFTEN;
  if (wanted == GS_TRANSLATE_ALWAYS)
    gs_log_once(&said, "GFXSIM_TRANSLATE=always: this build, or this processor, has no translator: kernels "
                       "are interpreted");
  return 0;
}

/* The system is asked once: it opens a file each time. */
static uint32_t count_workers(const gs_device_t *device) {
  if (device->options.deterministic)
    return 0;
  long threads = device->options.workers ? (long)device->options.workers : sysconf(_SC_NPROCESSORS_ONLN);
  const long most = sizeof device->worker / sizeof device->worker[0];
  if (threads > most)
    threads = most;
  return threads > 1 ? (uint32_t)threads - 1 : 0; /* the thread that asks for a dispatch works too */
}

gs_device_t *gs_device_create(const gs_profile_t *profile, uint32_t ordinal, const gs_options_t *options,
                              const gs_device_ops_t *ops) {
  gs_device_t *device = calloc(1, sizeof *device);
  if (!device)
    return NULL;
  device->vm = gs_vm_create();
  if (!device->vm) {
    free(device);
    return NULL;
  }
  device->profile = profile;
  device->ordinal = ordinal;
  device->options = *options;
  device->ops = *ops;
  device->cus = options->cus ? options->cus : profile->cus;
  choose_handlers(device);
  pthread_mutex_init(&device->lock, NULL);
  pthread_mutex_init(&device->pool_lock, NULL);
  pthread_cond_init(&device->work, NULL);
  if (options->trace[0])
    device->trace = open_trace(device);
  device->observed = device->trace || options->stats || (ops->watch && ops->watch->execute);
  device->hot = heat_of(device);
  device->wanted_workers = count_workers(device);
  device->poison = options->strict.kinds[GS_STRICT_POISON];
  device->schedule = options->strict.kinds[GS_STRICT_SCHEDULE];
  if (options->strict.kinds[GS_STRICT_DRIVER] & GS_DRIVER_EVICT)
    device->schedule |= GS_EVICTS;
  device->exact_turns = options->deterministic || device->schedule;
  gs_guard_install();
  return device;
}

void gs_device_destroy(gs_device_t *device) {
  if (!device)
    return;
  stop_workers(device);
  gs_device_print_stats(device, stderr);
  gs_device_flush_trace(device);
  if (device->trace)
    fclose(device->trace);
  free_executors(device);
  while (device->free_groups) {
    gs_group_t *group = device->free_groups;
    device->free_groups = group->next;
    gs_group_destroy(group);
  }
  for (unsigned width = 0; width < GS_WIDTHS; width++)
    gs_code_release(device->code[width]);
  gs_vm_destroy(device->vm);
  pthread_cond_destroy(&device->work);
  pthread_mutex_destroy(&device->pool_lock);
  pthread_mutex_destroy(&device->lock);
  free(device);
}

gs_vm_t *gs_device_vm(gs_device_t *device) {
  return device->vm;
}
const gs_profile_t *gs_device_profile(const gs_device_t *device) {
  return device->profile;
}
uint32_t gs_device_cus(const gs_device_t *device) {
  return device->cus;
}

uint32_t gs_device_masked_cus(const gs_device_t *device, const gs_cu_mask_t *mask) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < mask->words && 32 * i < device->cus; i++) {
    const uint32_t left = device->cus - 32 * i;
    const uint32_t existing = left < 32 ? (UINT32_C(1) << left) - 1 : UINT32_MAX;
    count += (uint32_t)__builtin_popcount(mask->bits[i] & existing);
  }
  return mask->words ? count : device->cus;
}
