/* Data constructs: target data, enter data, exit data and update, in the forms of all versions. What they
 * mean is the mapping engine's affair. */
#include "entry.h"
#include "info.h"
#include "libomp.h"
#include "mapping/one.h"
#include "message.h"
#include "operation.h"

typedef map_status_t step_t(map_work_t *work, const map_arguments_t *arguments);

/* A construct as all versions state it. */
typedef struct construct {
  const tgt_ident_t *where;
  int64_t device;
  map_arguments_t arguments;
  tgt_construct_t kind;
} construct_t;

/* As what a tool is told of them. */
static const tgt_ompt_target_t told_as[] = {
    [TGT_CONSTRUCT_REGION] = TGT_OMPT_TARGET,
    [TGT_CONSTRUCT_BEGIN] = TGT_OMPT_ENTER_DATA,
    [TGT_CONSTRUCT_END] = TGT_OMPT_EXIT_DATA,
    [TGT_CONSTRUCT_UPDATE] = TGT_OMPT_UPDATE,
};

static inline __attribute__((always_inline)) bool begin(tgt_operation_t *operation,
                                                        const construct_t *construct, step_t *step) {
  map_status_t status = step(&operation->work, &construct->arguments);
  if (__builtin_expect(status && step == map_begin, 0))
    tgt_error_of_begin(status, false);
  return !status;
}

static inline __attribute__((always_inline)) bool run_on(tgt_device_t *device, const construct_t *construct,
                                                         step_t *step) {
  tgt_operation_t operation;
  if (!tgt_operation_begin(&operation, device, construct->where))
    return false;
  return tgt_operation_end(&operation, begin(&operation, construct, step));
}

/* The same for an update that is one copy. False: nothing has happened, it is to go the way of others. */
static inline __attribute__((always_inline)) bool update_one(tgt_device_t *device,
                                                             const map_arguments_t *arguments, bool *done) {
  atmi_stream_t *stream = atmi_stream_take_own(device->core);
  if (!stream)
    return false;
  map_entry_t *entry = map_one_begin(device->maps, arguments);
  if (entry) {
    void *host = arguments->begins[0], *memory = (void *)map_entry_device(entry, (uintptr_t)host);
    uint64_t bytes = (uint64_t)arguments->sizes[0];
    bool begun = arguments->types[0] == MAP_TO
                     ? tgt_device_functions.submit(device, stream, memory, host, bytes)
                     : tgt_device_functions.retrieve(device, stream, host, memory, bytes);
    if (__builtin_expect(!begun, 0))
      map_one_fail(device->maps, arguments, entry);
    *done = !tgt_stream_wait(stream) && begun;
    *done = !map_one_end(device->maps, entry) && *done;
  }
  atmi_stream_put_idle(stream);
  return entry;
}

/* The first construct after a registration, those for the host, and those that somebody wants to see. */
static __attribute__((noinline, cold)) void run_generally(const construct_t *construct, step_t *step,
                                                          const char *operation, const void *code) {
  bool failed = false;
  tgt_device_t *device = tgt_runtime_use_ready(tgt_runtime(), construct->device);
  if (!device)
    device = tgt_runtime_use(tgt_runtime(), construct->device, operation, &failed);
  if (device) {
    tgt_told_t *told = tgt_ompt_begin(told_as[construct->kind], device, construct->where, code, false);
    tgt_info_begin(device, construct->where, construct->kind, &construct->arguments);
    failed = !run_on(device, construct, step);
    tgt_ompt_end(told);
  }
  if (!device)
    tgt_ompt_forget_caller();
  if (failed)
    tgt_runtime_construct_failed(tgt_runtime(), construct->where);
  else if (device)
    tgt_info_end(device, construct->where);
}

static inline __attribute__((always_inline)) void run(const construct_t *construct, step_t *step,
                                                      const char *operation) {
  bool done = false;
  tgt_device_t *device;
  tgt_runtime_t *runtime = tgt_runtime();
  if (!tgt_info_use_unseen(runtime, tgt_runtime_number(construct->device), &device) ||
      !tgt_runtime_is_loaded(runtime, device))
    run_generally(construct, step, operation, __builtin_return_address(0));
  else if (step == map_update && update_one(device, &construct->arguments, &done)) {
    if (!done)
      tgt_runtime_construct_failed(tgt_runtime(), construct->where);
  } else if (!run_on(device, construct, step))
    tgt_runtime_construct_failed(tgt_runtime(), construct->where);
}

/* In a task, which may ask for its end later. */
static __attribute__((cold)) void run_nowait(const construct_t *construct, step_t *step,
                                             const char *operation, const void *code) {
  bool failed = false, is_left = false;
  tgt_device_t *device = tgt_runtime_use_ready(tgt_runtime(), construct->device);
  if (!device)
    device = tgt_runtime_use(tgt_runtime(), construct->device, operation, &failed);
  tgt_told_t *told =
      device ? tgt_ompt_begin(told_as[construct->kind], device, construct->where, code, true) : NULL;
  bool is_shown = device && tgt_info_wants_constructs();
  if (is_shown)
    tgt_info_begin(device, construct->where, construct->kind, &construct->arguments);
  tgt_operation_t *task = device ? tgt_operation_for_task() : NULL;
  if (task && tgt_operation_begin_task(task, device, construct->where)) {
    bool done = begin(task, construct, step);
    is_left = tgt_operation_leave_to_task(task, done);
    failed = !is_left;
  } else if (device)
    failed = task || !run_on(device, construct, step);
  if (!is_left)
    tgt_ompt_end(told);
  if (!device)
    tgt_ompt_forget_caller();
  if (failed)
    tgt_runtime_construct_failed(tgt_runtime(), construct->where);
  else if (is_shown)
    tgt_info_end(device, construct->where);
}

static inline uint32_t count_of(int32_t count) {
  return count > 0 ? (uint32_t)count : 0;
}

/* The four forms of each construct. */
#define CONSTRUCT(name, kind, step, operation)                                                               \
  TGT_EXPORT void name##_mapper(const tgt_ident_t *where, int64_t device, TGT_MAPS) {                        \
    construct_t construct = {                                                                                \
        where, device, {count_of(count), bases, begins, sizes, types, names, mappers}, kind};                \
    run(&construct, step, operation);                                                                        \
  }                                                                                                          \
                                                                                                             \
  TGT_EXPORT void name##_nowait_mapper(const tgt_ident_t *where, int64_t device, TGT_MAPS, TGT_DEPEND) {     \
    construct_t construct = {                                                                                \
        where, device, {count_of(count), bases, begins, sizes, types, names, mappers}, kind};                \
    tgt_wait_for_dependences(where, depend_count, depend_list, other_count, other_list);                     \
    run_nowait(&construct, step, operation, __builtin_return_address(0));                                    \
  }                                                                                                          \
                                                                                                             \
  TGT_EXPORT void name(int64_t device, TGT_OLD_MAPS) {                                                       \
    tgt_ompt_is_called(false);                                                                               \
    name##_mapper(NULL, device, count, bases, begins, sizes, types, NULL, NULL);                             \
  }                                                                                                          \
                                                                                                             \
  TGT_EXPORT void name##_nowait(int64_t device, TGT_OLD_MAPS, TGT_DEPEND) {                                  \
    tgt_ompt_is_called(true);                                                                                \
    name##_nowait_mapper(NULL, device, count, bases, begins, sizes, types, NULL, NULL, depend_count,         \
                         depend_list, other_count, other_list);                                              \
  }

CONSTRUCT(__tgt_target_data_begin, TGT_CONSTRUCT_BEGIN, map_begin, "begin to map data")
CONSTRUCT(__tgt_target_data_end, TGT_CONSTRUCT_END, map_end, "end to map data")
CONSTRUCT(__tgt_target_data_update, TGT_CONSTRUCT_UPDATE, map_update, "update data")

/* ---- declare mapper ---- */

static __attribute__((noinline, cold)) void refuse_handle(void) {
  tgt_error("a mapper was called without what it is to add its components to: its arguments are damaged");
}

TGT_EXPORT int64_t __tgt_mapper_num_components(void *handle) {
  if (handle)
    return map_mapper_count(handle);
  refuse_handle();
  return 0;
}

TGT_EXPORT void __tgt_push_mapper_component(void *handle, void *base, void *begin, int64_t size, int64_t type,
                                            void *name) {
  if (handle)
    map_mapper_push(handle, base, begin, size, type, name);
  else
    refuse_handle();
}
