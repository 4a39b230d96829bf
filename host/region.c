/* Target regions: the entry points of all versions, and what they have in common. What was launched before
 * and takes only values by copy goes a short way of its own. All return 0 if the region ran on the device,
 * and else have the program run its own version of it. */
#include "entry.h"
#include "info.h"
#include "libomp.h"
#include "mapping/held.h"
#include "mapping/plan.h"
#include "message.h"
#include "operation.h"

static const char launch_text[] = "launch a kernel";

enum { RAN_ON_DEVICE = 0, RUN_ON_HOST = ~0, HAS_FAILED = 1 };

/* A region as all versions state it. */
typedef struct region {
  const tgt_ident_t *where;
  int64_t device;   /* the default device's number, if that is meant: libomp is asked once */
  uint64_t clauses; /* teams and, in the upper half, threads; 0: none, and of teams also TGT_NO_TEAMS */
  const void *id;
  const tgt_kernel_args_t *args;
} region_t;

static inline uint64_t clauses_of(uint32_t teams, uint32_t threads) {
  return teams | (uint64_t)threads << 32;
}

/* A region without teams is one team. */
static inline uint32_t teams_of(const region_t *region) {
  uint32_t teams = (uint32_t)region->clauses;
  return teams == (uint32_t)TGT_NO_TEAMS ? 1 : teams;
}

/* ---- its arguments ---- */

/* The program's own arguments: where a kernel takes its environment, the program passes nothing. */
static inline uint32_t count_of(const tgt_kernel_args_t *args, const atmi_omp_kernel_t *kernel) {
  return args->count -
         (args->version >= TGT_ARGS_WITH_LAST && kernel->compiled.environment_is_last && args->count);
}

/* Whether the word that the program passes is one of the kernel's arguments, and nothing is mapped. */
static inline bool is_value(int64_t type) {
  return (type & ~(int64_t)TGT_MAP_IMPLICIT) == (TGT_MAP_PARAM | TGT_MAP_LITERAL);
}

static bool are_values(const tgt_kernel_args_t *args, uint32_t count) {
  if (count && (!args->types || !args->bases))
    return false;
  for (uint32_t i = 0; i < count; i++)
    if (!is_value(args->types[i]))
      return false;
  return true;
}

/* Whether they are there, all of them, and known. */
static inline bool is_known(const tgt_kernel_args_t *args) {
  return args && args->version - TGT_ARGS_WITH_FLAGS <= TGT_ARGS_NEWEST - TGT_ARGS_WITH_FLAGS;
}

static inline bool is_nowait(const tgt_kernel_args_t *args) {
  return args->flags & TGT_ARGS_NOWAIT;
}

static inline bool is_oldest(const tgt_kernel_args_t *args) {
  return args && args->version == TGT_ARGS_OLDEST;
}

/* Arguments of the oldest version in the form of the next one, which has more behind them. */
static tgt_kernel_args_t complete(const tgt_kernel_args_t *oldest) {
  tgt_kernel_args_t args = {0};
  memcpy(&args, oldest, offsetof(tgt_kernel_args_t, flags));
  args.version = TGT_ARGS_WITH_FLAGS;
  return args;
}

/* ---- launches ---- */

/* What plans are remembered with: of which kind the arguments were. */
enum {
  TAG_VALUES,
  TAG_HELD,  /* mapped already, all of them */
  TAG_SLEPT, /* or all of them in a plan of the mapping engine's */
  TAG_MAPPED
};

static inline tgt_launch_t launch_of(const tgt_device_t *device, const region_t *region) {
  return (tgt_launch_t){device, region->id, region->args, region->clauses};
}

static const atmi_omp_kernel_t *find_kernel(const tgt_device_t *device, const region_t *region) {
  const atmi_omp_kernel_t *kernel = tgt_kernels_find(&device->kernels, region->id);
  /* At the end of the program others say why, and the device may be gone. */
  if (!kernel && !tgt_runtime_is_over(tgt_runtime()))
    tgt_error("Host ptr %p does not have a matching target pointer: no image that was loaded on %s has this "
              "region",
              region->id, device->core->label);
  return kernel;
}

/* With what the mapping engine has made of the arguments. */
static __attribute__((noinline, cold)) atmi_status_t
launch_any(const tgt_operation_t *operation, const region_t *region, const atmi_omp_kernel_t *kernel) {
  const tgt_kernel_args_t *args = region->args;
  const map_work_t *work = &operation->work;
  uint32_t threads = (uint32_t)(region->clauses >> 32);
  const tgt_launch_t launch = launch_of(operation->device, region);
  uint32_t tag = are_values(args, count_of(args, kernel)) ? TAG_VALUES
                 : map_work_only_holds(work)              ? TAG_HELD
                 : work->plan                             ? TAG_SLEPT
                                                          : TAG_MAPPED;
  const atmi_plan_key_t key = tgt_launch_key(&launch, tag);
  return tgt_launch_any(operation->device, operation->stream, kernel,
                        tgt_launch_words(args, work->word_count, teams_of(region), threads), &key,
                        work->words);
}

/* The same by a plan, if there is one: also behind the copies of the region's data. */
static inline __attribute__((always_inline)) atmi_status_t launch(const tgt_operation_t *operation,
                                                                  const region_t *region,
                                                                  const atmi_omp_kernel_t *kernel,
                                                                  const atmi_plan_t *plan) {
  const map_work_t *work = &operation->work;
  atmi_stream_t *stream = operation->stream;
  atmi_status_t status = ATMI_PENDING;
  if (!plan || plan->argument_count != work->word_count)
    return launch_any(operation, region, kernel);
  if (stream->count)
    status = atmi_plan_launch_behind(stream, plan, work->words);
  else if (stream->ready_plans)
    (void)atmi_omp_launch_by(plan, stream, work->words, NULL, &status);
  if (__builtin_expect(status != ATMI_PENDING, 1))
    return status;
  return launch_any(operation, region, kernel);
}

static __attribute__((noinline, cold)) atmi_status_t
launch_and_tell(const tgt_operation_t *operation, const region_t *region, const atmi_omp_kernel_t *kernel) {
  uint64_t id = 0;
  tgt_ompt_submit(true, &id, teams_of(region));
  atmi_status_t status = launch_any(operation, region, kernel);
  tgt_ompt_submit(false, &id, teams_of(region));
  return status;
}

static inline map_arguments_t arguments_of(const tgt_kernel_args_t *args, const atmi_omp_kernel_t *kernel) {
  return (map_arguments_t){count_of(args, kernel),
                           args->bases,
                           args->begins,
                           args->sizes,
                           args->types,
                           (void *const *)args->names,
                           (void *const *)args->mappers};
}

/* Maps, launches, and begins to unmap. */
static __attribute__((noinline)) bool run(tgt_operation_t *operation, const region_t *region,
                                          const atmi_omp_kernel_t *kernel, const atmi_plan_t *plan,
                                          const map_arguments_t *arguments) {
  map_work_t *work = &operation->work;
  if (tgt_info_wants_constructs())
    tgt_info_begin(operation->device, region->where, TGT_CONSTRUCT_REGION, arguments);
  map_status_t entered = map_enter(work, arguments);
  if (__builtin_expect(entered, 0)) {
    tgt_error_of_begin(entered, true);
    return false;
  }
  atmi_status_t status =
      tgt_ompt_is_on() ? launch_and_tell(operation, region, kernel) : launch(operation, region, kernel, plan);
  return !status && !map_leave(work);
}

static bool check(const region_t *region) {
  if (is_known(region->args))
    return true;
  if (region->args)
    tgt_error("cannot %s: its arguments are of version %u, known are %d to %d; the program was built by a "
              "compiler that is newer than this library",
              launch_text, region->args->version, TGT_ARGS_OLDEST, TGT_ARGS_NEWEST);
  else
    tgt_error("cannot %s: the program passes no arguments", launch_text);
  return false;
}

static __attribute__((noinline, cold)) bool run_and_wait(tgt_device_t *device, const region_t *region,
                                                         const atmi_omp_kernel_t *kernel) {
  tgt_operation_t operation;
  const map_arguments_t arguments = arguments_of(region->args, kernel);
  if (!tgt_operation_begin(&operation, device, region->where))
    return false;
  bool done = tgt_operation_end(&operation, run(&operation, region, kernel, NULL, &arguments));
  if (done && tgt_info_wants_constructs())
    tgt_info_end(device, region->where);
  return done;
}

static __attribute__((cold)) bool run_for_task(tgt_operation_t *operation, tgt_device_t *device,
                                               const region_t *region, const atmi_omp_kernel_t *kernel) {
  const map_arguments_t arguments = arguments_of(region->args, kernel);
  if (!tgt_operation_begin_task(operation, device, region->where))
    return false;
  bool done = run(operation, region, kernel, NULL, &arguments);
  bool is_left = tgt_operation_leave_to_task(operation, done);
  if (is_left && tgt_info_wants_constructs())
    tgt_info_end(device, region->where);
  return is_left;
}

/* The same for a tool. The construct ends with its task, if it is left to that. */
static __attribute__((noinline)) bool run_and_tell(tgt_device_t *device, const region_t *region,
                                                   const atmi_omp_kernel_t *kernel, const void *code) {
  bool may_leave = is_nowait(region->args);
  tgt_told_t *told = tgt_ompt_begin(TGT_OMPT_TARGET, device, region->where, code, may_leave);
  tgt_operation_t *task = may_leave ? tgt_operation_for_task() : NULL;
  if (task && run_for_task(task, device, region, kernel))
    return true;
  bool done = !task && run_and_wait(device, region, kernel);
  tgt_ompt_end(told);
  return done;
}

static int run_generally(tgt_runtime_t *runtime, const region_t *region, const void *code) {
  bool failed = false, done = false;
  tgt_kernel_args_t args;
  region_t newer = *region;
  if (is_oldest(region->args)) {
    newer.args = &args;
    args = complete(region->args);
    region = &newer;
  }
  tgt_device_t *device = tgt_runtime_use_ready(runtime, region->device);
  if (!device)
    device = tgt_runtime_use(runtime, region->device, launch_text, &failed);
  if (!device)
    tgt_ompt_forget_caller();
  if (!device && !failed)
    return RUN_ON_HOST;
  const atmi_omp_kernel_t *kernel = device && check(region) ? find_kernel(device, region) : NULL;
  if (kernel && tgt_ompt_is_on())
    done = run_and_tell(device, region, kernel, code);
  else if (kernel) {
    tgt_operation_t *task = is_nowait(region->args) ? tgt_operation_for_task() : NULL;
    done = task ? run_for_task(task, device, region, kernel) : run_and_wait(device, region, kernel);
  }
  return done ? RAN_ON_DEVICE : HAS_FAILED;
}

/* `code`: where the program called. The program's end waits, for a while, for who may have found a kernel. */
static __attribute__((noinline, cold)) int run_region(const region_t *region, const void *code) {
  tgt_runtime_t *runtime = tgt_runtime();
  atomic_fetch_add(&runtime->tasks, 1);
  int ended = run_generally(runtime, region, code);
  atomic_fetch_sub(&runtime->tasks, 1);
  if (ended != HAS_FAILED)
    return ended;
  tgt_runtime_construct_failed(runtime, region->where);
  return RUN_ON_HOST;
}

/* ---- what was launched before ---- */

/* Most regions come again and again, and nobody looks on. These are found among the plans of the thread's
 * stream, and what is to be done for them is short. */

static __attribute__((noinline, cold)) int fail(const tgt_ident_t *where) {
  tgt_runtime_construct_failed(tgt_runtime(), where);
  return RUN_ON_HOST;
}

/* In the general way, without the stream. */
static __attribute__((noinline, cold)) int run_without(atmi_stream_t *stream, const region_t *region,
                                                       const void *code) {
  atmi_stream_put_bare(stream);
  return run_region(region, code);
}

static __attribute__((noinline, cold)) atmi_status_t put_after(atmi_stream_t *stream, atmi_status_t status) {
  atmi_stream_put_bare(stream);
  return status;
}

/* A function of its own, so that its caller saves no registers. */
static __attribute__((noinline)) atmi_status_t run_planned(atmi_stream_t *stream, const atmi_plan_t *plan) {
  atmi_status_t status = atmi_plan_run(stream, plan);
  if (__builtin_expect(status, 0))
    return put_after(stream, status);
  atmi_stream_put_bare(stream);
  return ATMI_OK;
}

/* Writes the kernel's arguments, if they still are what the program passes. */
static inline bool write_values(const tgt_kernel_args_t *args, const atmi_plan_t *plan) {
  uint32_t count = plan->argument_count;
  if (count && (!args->types || !args->bases))
    return false;
  for (uint32_t i = 0; i < count; i++) {
    if (!is_value(args->types[i]))
      return false;
    plan->words[i] = (uintptr_t)args->bases[i];
  }
  return true;
}

static int end(tgt_operation_t *operation, bool done) {
  return tgt_operation_end(operation, done) ? RAN_ON_DEVICE : fail(operation->where);
}

/* With a stream that the caller has taken. */
static __attribute__((noinline)) int run_with_work(tgt_device_t *device, atmi_stream_t *stream,
                                                   const region_t *region, const atmi_plan_t *plan) {
  tgt_operation_t operation;
  const atmi_omp_kernel_t *kernel = atmi_omp_kernel_of(plan->kernel);
  const map_arguments_t arguments = arguments_of(region->args, kernel);
  tgt_operation_begin_on(&operation, device, stream, region->where);
  return end(&operation, run(&operation, region, kernel, plan, &arguments));
}

/* The rest of a region that was entered by a plan of the mapping engine, and launched. */
static inline __attribute__((always_inline)) int end_asleep(tgt_operation_t *operation) {
  map_work_t *work = &operation->work;
  map_status_t left;
  bool done = map_plan_leave(work, &left) ? !left : !map_leave(work);
  done &= !tgt_stream_wait(operation->stream);
  if (__builtin_expect(done && work->plan && map_plan_end(work) && map_work_is_clean(work), 1)) {
    atmi_stream_put_idle(operation->stream);
    return RAN_ON_DEVICE;
  }
  return end(operation, done);
}

/* A region whose data slept when it ran last, and sleeps again now, as is mostly so: it is entered and left
 * without a look at each list item. */
static __attribute__((noinline)) int run_asleep(tgt_device_t *device, atmi_stream_t *stream,
                                                const region_t *region, const atmi_plan_t *plan) {
  tgt_operation_t operation;
  map_work_t *work = &operation.work;
  const atmi_omp_kernel_t *kernel = atmi_omp_kernel_of(plan->kernel);
  const map_arguments_t arguments = arguments_of(region->args, kernel);
  map_status_t entered;
  tgt_operation_begin_on(&operation, device, stream, region->where);
  if (__builtin_expect(!map_plan_enter(work, &arguments, &entered), 0))
    return end(&operation, run(&operation, region, kernel, plan, &arguments));
  if (__builtin_expect(entered, 0)) {
    tgt_error_of_begin(entered, true);
    return end(&operation, false);
  }
  if (__builtin_expect(launch(&operation, region, kernel, plan), 0))
    return end(&operation, false);
  return end_asleep(&operation);
}

/* Others use the queue. */
static __attribute__((noinline, cold)) atmi_status_t
launch_held(tgt_device_t *device, atmi_stream_t *stream, const region_t *region, const atmi_plan_t *plan) {
  const tgt_launch_t launch = launch_of(device, region);
  const atmi_plan_key_t key = tgt_launch_key(&launch, TAG_HELD);
  uint32_t threads = (uint32_t)(region->clauses >> 32), count = plan->argument_count;
  void *words[MAP_ITEMS_INLINE]; /* the plan's own are made anew if it is another queue's then */
  memcpy(words, plan->words, count * sizeof *words);
  atmi_status_t status =
      tgt_launch_any(device, stream, atmi_omp_kernel_of(plan->kernel),
                     tgt_launch_words(region->args, count, teams_of(region), threads), &key, words);
  atmi_status_t ended = tgt_stream_wait(stream);
  return status ? status : ended;
}

/* Others have given back what was held with them: what is left is the last. */
static __attribute__((noinline, cold)) int end_held(tgt_device_t *device, atmi_stream_t *stream,
                                                    const region_t *region, const atmi_plan_t *plan,
                                                    const map_held_t *held, uint32_t gone, bool done) {
  tgt_operation_t operation;
  const map_arguments_t arguments = arguments_of(region->args, atmi_omp_kernel_of(plan->kernel));
  tgt_operation_begin_on(&operation, device, stream, region->where);
  map_work_take_held(&operation.work, &arguments, held, gone, done);
  return end(&operation, done);
}

/* Not all can be held: what is held is given back, and all begins anew. If others have given it back
 * meanwhile, it is as if a region had been there that did nothing, and brings back what it says. */
static __attribute__((noinline, cold)) int run_unheld(tgt_device_t *device, atmi_stream_t *stream,
                                                      const region_t *region, const atmi_plan_t *plan,
                                                      const map_held_t *held, const void *code) {
  uint32_t gone = map_drop_held(held->entries, held->count);
  if (gone == held->count)
    return run_with_work(device, stream, region, plan);
  int ended = end_held(device, stream, region, plan, held, gone, true);
  return ended == RAN_ON_DEVICE ? run_region(region, code) : ended;
}

/* A region whose arguments were all mapped when it was first launched. */
static __attribute__((noinline)) int run_held(tgt_device_t *device, atmi_stream_t *stream,
                                              const region_t *region, const atmi_plan_t *plan,
                                              const void *code) {
  map_held_t held;
  const map_arguments_t arguments = arguments_of(region->args, atmi_omp_kernel_of(plan->kernel));
  if (arguments.count != plan->argument_count || !map_held_may(&arguments))
    return run_with_work(device, stream, region, plan);
  if (__builtin_expect(map_held_begin(device->maps, &arguments, plan->words, &held) != arguments.count, 0))
    return run_unheld(device, stream, region, plan, &held, code);
  atmi_status_t status = atmi_plan_run(stream, plan);
  if (__builtin_expect(status == ATMI_PENDING, 0))
    status = launch_held(device, stream, region, plan);
  uint32_t gone = map_drop_held(held.entries, held.count);
  if (__builtin_expect(gone != held.count, 0))
    return end_held(device, stream, region, plan, &held, gone, !status);
  atmi_stream_put_idle(stream);
  return __builtin_expect(!status, 1) ? RAN_ON_DEVICE : fail(region->where);
}

static __attribute__((noinline)) int run_mapped(tgt_device_t *device, atmi_stream_t *stream,
                                                const region_t *region, const atmi_plan_t *plan,
                                                const void *code) {
  if (!tgt_runtime_is_loaded(tgt_runtime(), device))
    return run_without(stream, region, code);
  switch (plan->tag) {
  case TAG_HELD: return run_held(device, stream, region, plan, code);
  case TAG_SLEPT: return run_asleep(device, stream, region, plan);
  default: return run_with_work(device, stream, region, plan);
  }
}

/* Where the program called. */
#define CODE __builtin_return_address(0)

static inline __attribute__((always_inline)) int run_by_plan(tgt_device_t *device, atmi_stream_t *stream,
                                                             const region_t *region,
                                                             const tgt_kernel_args_t *args,
                                                             const atmi_plan_t *plan) {
  _Static_assert(TAG_VALUES == 0, "with no arguments nothing is left to be done");
  if (is_nowait(args))
    return run_without(stream, region, CODE);
  if (tgt_word_at(&plan->tag)) { /* tag and number of arguments */
    if (plan->tag != TAG_VALUES)
      return run_mapped(device, stream, region, plan, CODE);
    if (!write_values(args, plan))
      return run_without(stream, region, CODE);
  }
  atmi_status_t status = run_planned(stream, plan);
  if (__builtin_expect(!status, 1))
    return RAN_ON_DEVICE;
  return status == ATMI_PENDING ? run_region(region, CODE) : fail(region->where);
}

/* There is no plan of a region with these arguments: but maybe with those of another version. */
static __attribute__((noinline)) int run_unplanned(tgt_device_t *device, atmi_stream_t *stream,
                                                   const region_t *region, const void *code) {
  if (!is_oldest(region->args))
    return run_without(stream, region, code);
  const tgt_kernel_args_t args = complete(region->args);
  const region_t newer = {region->where, region->device, region->clauses, region->id, &args};
  const tgt_launch_t launch = launch_of(device, &newer);
  const atmi_plan_t *plan = tgt_launch_find(stream, &launch);
  return plan ? run_by_plan(device, stream, &newer, &args, plan) : run_without(stream, &newer, code);
}

static inline __attribute__((always_inline)) int run_region_quickly(const region_t *region) {
  tgt_device_t *device;
  const tgt_kernel_args_t *args = region->args;
  if (!args || !tgt_info_use_unseen(tgt_runtime(), region->device, &device))
    return run_region(region, CODE);
  const tgt_launch_t launch = {device, region->id, args, region->clauses};
  atmi_stream_t *stream = tgt_stream_take_own(device);
  if (!stream)
    return run_region(region, CODE);
  const atmi_plan_t *plan = tgt_launch_find(stream, &launch);
  return __builtin_expect(plan != NULL, 1) ? run_by_plan(device, stream, region, args, plan)
                                           : run_unplanned(device, stream, region, CODE);
}

/* ---- entry points of clang 15 and later ---- */

TGT_EXPORT int __tgt_target_kernel(const tgt_ident_t *where, int64_t device, int32_t teams, int32_t threads,
                                   const void *id, const tgt_kernel_args_t *args) {
  region_t region = {where, device, clauses_of((uint32_t)teams, (uint32_t)threads), id, args};
  TGT_KEEP_IN_MEMORY(region);
  region.device = tgt_runtime_number(device);
  return run_region_quickly(&region);
}

TGT_EXPORT int __tgt_target_kernel_nowait(const tgt_ident_t *where, int64_t device, int32_t teams,
                                          int32_t threads, const void *id, const tgt_kernel_args_t *args,
                                          TGT_DEPEND) {
  tgt_ompt_is_called(true);
  tgt_wait_for_dependences(where, depend_count, depend_list, other_count, other_list);
  return __tgt_target_kernel(where, device, teams, threads, id, args);
}

/* ---- entry points of clang 13 and 14, and of older ones ---- */

/* Iterations of the loop of the thread's next region. Not looked up by a call: the library is there from the
 * program's start, or takes the little room that is kept for such. */
static __thread uint64_t next_tripcount __attribute__((tls_model("initial-exec")));

TGT_EXPORT void __kmpc_push_target_tripcount_mapper(const tgt_ident_t *where, int64_t device,
                                                    uint64_t tripcount) {
  (void)where, (void)device;
  next_tripcount = tripcount;
}

TGT_EXPORT void __kmpc_push_target_tripcount(int64_t device, uint64_t tripcount) {
  (void)device;
  next_tripcount = tripcount;
}

static uint64_t take_tripcount(void) {
  uint64_t tripcount = next_tripcount;
  next_tripcount = 0;
  return tripcount;
}

static uint32_t clause(int32_t value) {
  return value > 0 ? (uint32_t)value : 0;
}

/* What was found of a region that has other arguments, too. */
typedef struct met {
  tgt_device_t *device;
  atmi_stream_t *stream;
  const atmi_plan_t *plan; /* NULL: nothing */
} met_t;

static __attribute__((noinline)) int run_old(const tgt_ident_t *where, int64_t device, const void *id,
                                             TGT_MAPS, int32_t teams, int32_t threads, met_t met,
                                             const void *code) {
  const tgt_kernel_args_t args = {.version = TGT_ARGS_WITH_FLAGS,
                                  .count = clause(count),
                                  .bases = bases,
                                  .begins = begins,
                                  .sizes = sizes,
                                  .types = types,
                                  .names = names,
                                  .mappers = mappers,
                                  .tripcount = take_tripcount()};
  region_t region = {where, tgt_runtime_number(device), clauses_of(clause(teams), clause(threads)), id,
                     &args};
  if (met.plan)
    return run_mapped(met.device, met.stream, &region, met.plan, code);
  return run_region(&region, code);
}

/* What these need of their arguments to be found and launched with values alone, and to go another way. */
typedef struct old {
  const tgt_ident_t *where;
  const void *id;
  int32_t count;
  void **bases, **begins;
} old_t;

/* If the region takes only values and was launched before: whether it ran, or failed, on its device. Nothing
 * has happened otherwise. Of its arguments only those are made that are looked at, and none in memory. */
static inline __attribute__((always_inline)) bool
run_old_values(const old_t *old, int64_t number, int64_t *types, uint64_t clauses, int *ended, met_t *met) {
  tgt_device_t *device;
  atmi_stream_t *stream;
  const tgt_kernel_args_t args = {.version = TGT_ARGS_WITH_FLAGS,
                                  .count = (uint32_t)old->count, /* no plan has a negative one */
                                  .bases = old->bases,
                                  .types = types,
                                  .tripcount = next_tripcount};
  if (!tgt_info_use_unseen(tgt_runtime(), number, &device) || !(stream = tgt_stream_take_own(device)))
    return false;
  const tgt_launch_t launch = {device, old->id, &args, clauses};
  const atmi_plan_t *plan = tgt_launch_find(stream, &launch);
  if (plan && tgt_word_at(&plan->tag) && plan->tag != TAG_VALUES) {
    *met = (met_t){device, stream, plan};
    return false;
  }
  if (!plan || (tgt_word_at(&plan->tag) && !write_values(&args, plan))) {
    atmi_stream_put_bare(stream);
    return false;
  }
  atmi_status_t status = run_planned(stream, plan);
  if (__builtin_expect(status == ATMI_PENDING, 0))
    return false;
  next_tripcount = 0;
  *ended = __builtin_expect(!status, 1) ? RAN_ON_DEVICE : fail(old->where);
  return true;
}

TGT_EXPORT int __tgt_target_teams_mapper(const tgt_ident_t *where, int64_t device, const void *id, TGT_MAPS,
                                         int32_t teams, int32_t threads) {
  old_t old = {where, id, count, bases, begins};
  int ended;
  TGT_KEEP_IN_MEMORY(old);
  int64_t number = tgt_runtime_number(device);
  met_t met;
  met.plan = NULL;
  if (run_old_values(&old, number, types, clauses_of(clause(teams), clause(threads)), &ended, &met))
    return ended;
  return run_old(old.where, number, old.id, old.count, old.bases, old.begins, sizes, types, names, mappers,
                 teams, threads, met, CODE);
}

TGT_EXPORT int __tgt_target_mapper(const tgt_ident_t *where, int64_t device, const void *id, TGT_MAPS) {
  old_t old = {where, id, count, bases, begins};
  int ended;
  TGT_KEEP_IN_MEMORY(old);
  int64_t number = tgt_runtime_number(device);
  met_t met;
  met.plan = NULL;
  if (run_old_values(&old, number, types, clauses_of(1, 0), &ended, &met))
    return ended;
  return run_old(old.where, number, old.id, old.count, old.bases, old.begins, sizes, types, names, mappers, 1,
                 0, met, CODE);
}

TGT_EXPORT int __tgt_target_teams_nowait_mapper(const tgt_ident_t *where, int64_t device, const void *id,
                                                TGT_MAPS, int32_t teams, int32_t threads, TGT_DEPEND) {
  tgt_ompt_is_called(true);
  tgt_wait_for_dependences(where, depend_count, depend_list, other_count, other_list);
  return __tgt_target_teams_mapper(where, device, id, count, bases, begins, sizes, types, names, mappers,
                                   teams, threads);
}

TGT_EXPORT int __tgt_target_nowait_mapper(const tgt_ident_t *where, int64_t device, const void *id, TGT_MAPS,
                                          TGT_DEPEND) {
  tgt_ompt_is_called(true);
  tgt_wait_for_dependences(where, depend_count, depend_list, other_count, other_list);
  return __tgt_target_mapper(where, device, id, count, bases, begins, sizes, types, names, mappers);
}

TGT_EXPORT int __tgt_target(int64_t device, const void *id, TGT_OLD_MAPS) {
  tgt_ompt_is_called(false);
  return __tgt_target_mapper(NULL, device, id, count, bases, begins, sizes, types, NULL, NULL);
}

TGT_EXPORT int __tgt_target_nowait(int64_t device, const void *id, TGT_OLD_MAPS, TGT_DEPEND) {
  tgt_ompt_is_called(true);
  tgt_wait_for_dependences(NULL, depend_count, depend_list, other_count, other_list);
  return __tgt_target(device, id, count, bases, begins, sizes, types);
}

TGT_EXPORT int __tgt_target_teams(int64_t device, const void *id, TGT_OLD_MAPS, int32_t teams,
                                  int32_t threads) {
  tgt_ompt_is_called(false);
  return __tgt_target_teams_mapper(NULL, device, id, count, bases, begins, sizes, types, NULL, NULL, teams,
                                   threads);
}

TGT_EXPORT int __tgt_target_teams_nowait(int64_t device, const void *id, TGT_OLD_MAPS, int32_t teams,
                                         int32_t threads, TGT_DEPEND) {
  tgt_ompt_is_called(true);
  tgt_wait_for_dependences(NULL, depend_count, depend_list, other_count, other_list);
  return __tgt_target_teams(device, id, count, bases, begins, sizes, types, teams, threads);
}
