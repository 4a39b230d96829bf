/* Target regions: the entry points of all versions, and what they have in common. What was launched before
 * and takes only values by copy goes a short way of its own. All return 0 if the region ran on the device,
 * and else have the program run its own version of it. */
#include "entry.h"
#include "info.h"
#include "libomp.h"
#include "message.h"
#include "operation.h"

static const char launch_text[] = "launch a kernel";

enum { RAN_ON_DEVICE = 0, RUN_ON_HOST = ~0 };

/* A region as all versions state it. */
typedef struct region {
  const tgt_ident_t *where;
  int64_t device;          /* the default device's number, if that is meant: libomp is asked once */
  uint32_t teams, threads; /* clauses; 0: none */
  const void *id;
  const tgt_kernel_args_t *args;
} region_t;

/* ---- the short way ---- */

enum { MOST_VALUES = 64 };

/* The program's own arguments: where a kernel takes its environment, the program passes nothing. */
static inline uint32_t count_of(const tgt_kernel_args_t *args, const atmi_omp_kernel_t *kernel) {
  return args->count -
         (args->version >= TGT_ARGS_WITH_LAST && kernel->compiled.environment_is_last && args->count);
}

/* Whether the kernel's arguments are the words that the program passes: nothing is mapped. */
static inline bool takes_values_only(const tgt_kernel_args_t *args, uint32_t count) {
  if (count > MOST_VALUES || (count && (!args->types || !args->bases)))
    return false; /* damaged ones are for the mapping engine, too */
  for (uint32_t i = 0; i < count; i++)
    if ((args->types[i] & ~(int64_t)TGT_MAP_IMPLICIT) != (TGT_MAP_PARAM | TGT_MAP_LITERAL))
      return false;
  return true;
}

static inline bool is_known(const tgt_kernel_args_t *args) {
  return args && args->version - 1 < TGT_ARGS_NEWEST;
}

static inline bool is_nowait(const tgt_kernel_args_t *args) {
  return args->version >= TGT_ARGS_WITH_FLAGS && args->flags & TGT_ARGS_NOWAIT;
}

/* Launches again what was launched before, and waits. False: nothing has happened; the general way is to be
 * taken. */
static inline __attribute__((always_inline)) bool run_again(const tgt_device_t *device,
                                                            const region_t *region,
                                                            const atmi_omp_kernel_t *kernel, uint32_t count,
                                                            atmi_status_t *status) {
  atmi_stream_t *stream = atmi_stream_take_own(device->core);
  if (!stream)
    return false;
  bool begun =
      atmi_omp_launch_again(stream, kernel, region->args->bases, NULL,
                            tgt_launch_words(region->args, count, region->teams, region->threads), status);
  if (begun && !atmi_stream_settle_plain(stream)) {
    atmi_status_t ended = atmi_stream_synchronize(stream);
    *status = *status ? *status : ended;
  }
  atmi_stream_put_idle(stream);
  return begun;
}

/* ---- the general way ---- */

static const atmi_omp_kernel_t *find_kernel(const tgt_device_t *device, const region_t *region) {
  const atmi_omp_kernel_t *kernel = tgt_kernels_find(&device->kernels, region->id);
  if (!kernel)
    tgt_error("Host ptr %p does not have a matching target pointer: no image that was loaded on %s has this "
              "region",
              region->id, device->core->label);
  return kernel;
}

/* With what the mapping engine has made of the arguments. The stream mostly has nothing to do. */
static inline __attribute__((always_inline)) atmi_status_t
launch(const tgt_operation_t *operation, const region_t *region, const atmi_omp_kernel_t *kernel) {
  const map_work_t *work = &operation->work;
  atmi_omp_words_t words = tgt_launch_words(region->args, work->word_count, region->teams, region->threads);
  atmi_status_t status;
  if (tgt_is_plain(operation->device->number) &&
      atmi_omp_launch_again(operation->stream, kernel, work->words, NULL, words, &status))
    return status;
  return tgt_launch_any(operation->device, operation->stream, kernel, words, work->words);
}

static __attribute__((noinline, cold)) atmi_status_t
launch_and_tell(const tgt_operation_t *operation, const region_t *region, const atmi_omp_kernel_t *kernel) {
  uint64_t id = 0;
  tgt_ompt_submit(true, &id, region->teams);
  atmi_status_t status = launch(operation, region, kernel);
  tgt_ompt_submit(false, &id, region->teams);
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
static inline __attribute__((always_inline)) bool run(tgt_operation_t *operation, const region_t *region,
                                                      const atmi_omp_kernel_t *kernel,
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
      tgt_ompt_is_on() ? launch_and_tell(operation, region, kernel) : launch(operation, region, kernel);
  return !status && !map_leave(work);
}

static bool check(const region_t *region) {
  if (is_known(region->args))
    return true;
  if (region->args)
    tgt_error("cannot %s: its arguments are of version %u, known are 1 to %d; the program was built by a "
              "compiler that is newer than this library",
              launch_text, region->args->version, TGT_ARGS_NEWEST);
  else
    tgt_error("cannot %s: the program passes no arguments", launch_text);
  return false;
}

static __attribute__((noinline)) bool run_and_wait(tgt_device_t *device, const region_t *region,
                                                   const atmi_omp_kernel_t *kernel) {
  tgt_operation_t operation;
  const map_arguments_t arguments = arguments_of(region->args, kernel);
  if (!tgt_operation_begin(&operation, device, region->where))
    return false;
  bool done = tgt_operation_end(&operation, run(&operation, region, kernel, &arguments));
  if (done && tgt_info_wants_constructs())
    tgt_info_end(device, region->where);
  return done;
}

static __attribute__((cold)) bool run_for_task(tgt_operation_t *operation, tgt_device_t *device,
                                               const region_t *region, const atmi_omp_kernel_t *kernel) {
  const map_arguments_t arguments = arguments_of(region->args, kernel);
  if (!tgt_operation_begin_task(operation, device, region->where))
    return false;
  bool done = run(operation, region, kernel, &arguments);
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

/* `code`: where the program called. */
static __attribute__((noinline, cold)) int run_region(const region_t *region, const void *code) {
  tgt_runtime_t *runtime = tgt_runtime();
  bool failed = false, done = false;
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
  if (done)
    return RAN_ON_DEVICE;
  tgt_runtime_construct_failed(runtime, region->where);
  return RUN_ON_HOST;
}

static __attribute__((noinline)) int fail(const tgt_ident_t *where) {
  tgt_runtime_construct_failed(tgt_runtime(), where);
  return RUN_ON_HOST;
}

/* Most regions come again and again, and nobody looks on: what is to be done for these is found without a
 * call. `code` is only there for the others. */
static inline __attribute__((always_inline)) int run_region_quickly(const region_t *region,
                                                                    const void *code) {
  tgt_device_t *device;
  if (!tgt_info_use_unseen(tgt_runtime(), region->device, &device) || !is_known(region->args) ||
      is_nowait(region->args))
    return run_region(region, code);
  const atmi_omp_kernel_t *kernel = tgt_kernels_find(&device->kernels, region->id);
  if (!kernel)
    return run_region(region, code);
  atmi_status_t status;
  uint32_t count = count_of(region->args, kernel);
  if (!takes_values_only(region->args, count)) {
    if (!tgt_runtime_is_loaded(tgt_runtime(), device))
      return run_region(region, code);
    return run_and_wait(device, region, kernel) ? RAN_ON_DEVICE : fail(region->where);
  }
  if (!run_again(device, region, kernel, count, &status))
    return run_region(region, code);
  return status ? fail(region->where) : RAN_ON_DEVICE;
}

/* ---- entry points of clang 15 and later ---- */

TGT_EXPORT int __tgt_target_kernel(const tgt_ident_t *where, int64_t device, int32_t teams, int32_t threads,
                                   const void *id, const tgt_kernel_args_t *args) {
  region_t region = {
      where, tgt_runtime_number(device), teams == TGT_NO_TEAMS ? 1 : (uint32_t)teams, (uint32_t)threads, id,
      args};
  return run_region_quickly(&region, __builtin_return_address(0));
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

TGT_EXPORT int __tgt_target_teams_mapper(const tgt_ident_t *where, int64_t device, const void *id, TGT_MAPS,
                                         int32_t teams, int32_t threads) {
  tgt_kernel_args_t args; /* the second half of which does not exist in this version */
  args.version = TGT_ARGS_OLDEST;
  args.count = clause(count);
  args.bases = bases;
  args.begins = begins;
  args.sizes = sizes;
  args.types = types;
  args.names = names;
  args.mappers = mappers;
  args.tripcount = take_tripcount();
  region_t region = {where, tgt_runtime_number(device), clause(teams), clause(threads), id, &args};
  return run_region_quickly(&region, __builtin_return_address(0));
}

TGT_EXPORT int __tgt_target_mapper(const tgt_ident_t *where, int64_t device, const void *id, TGT_MAPS) {
  tgt_ompt_is_called(false);
  return __tgt_target_teams_mapper(where, device, id, count, bases, begins, sizes, types, names, mappers, 1,
                                   0);
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
