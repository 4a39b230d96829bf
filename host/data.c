/* Data constructs: target data, enter data, exit data and update, in the forms of all versions. What they
 * mean is the mapping engine's affair. */
#include "entry.h"
#include "info.h"
#include "libomp.h"
#include "mapping/one.h"
#include "message.h"
#include "operation.h"

/* A construct as all versions state it. */
typedef struct construct {
  const tgt_ident_t *where;
  int64_t device;
  map_arguments_t arguments;
} construct_t;

typedef struct kind {
  tgt_construct_t construct;
  tgt_ompt_target_t told_as; /* to a tool */
  map_status_t (*step)(map_work_t *work, const map_arguments_t *arguments);
  const char *operation; /* in messages */
} kind_t;

static const kind_t data_begin = {TGT_CONSTRUCT_BEGIN, TGT_OMPT_ENTER_DATA, map_begin, "begin to map data"},
                    data_end = {TGT_CONSTRUCT_END, TGT_OMPT_EXIT_DATA, map_end, "end to map data"},
                    data_update = {TGT_CONSTRUCT_UPDATE, TGT_OMPT_UPDATE, map_update, "update data"};

static bool begin(tgt_operation_t *operation, const construct_t *construct, const kind_t *kind) {
  map_status_t status = kind->step(&operation->work, &construct->arguments);
  if (__builtin_expect(status && kind == &data_begin, 0))
    tgt_error_of_begin(status, false);
  return !status;
}

static bool run_on(tgt_device_t *device, const construct_t *construct, const kind_t *kind) {
  tgt_operation_t operation;
  if (!tgt_operation_begin(&operation, device, construct->where))
    return false;
  return tgt_operation_end(&operation, begin(&operation, construct, kind));
}

/* Nobody looks on, and there is nothing to be done before. */
static __attribute__((noinline)) void run_unseen(tgt_device_t *device, const construct_t *construct,
                                                 const kind_t *kind) {
  if (!run_on(device, construct, kind))
    tgt_runtime_construct_failed(tgt_runtime(), construct->where);
}

/* ---- an update that is one copy ---- */

/* Copies a few bytes by a stream that was idle, and waits. False: nothing has happened, it is to be done in
 * the general way. */
static inline __attribute__((always_inline)) bool
submit_few(atmi_stream_t *stream, void *memory, const void *host, uint64_t bytes, atmi_status_t *status) {
  if (bytes - 1 >= stream->slot_bytes || !atmi_transfer_knows(stream->readable, host, bytes))
    return false;
  atmi_move_few(stream->slot, host, bytes);
  *status = atmi_transfer_submit_slot(stream, memory, bytes);
  if (__builtin_expect(!*status && atmi_stream_has_one_done(stream), 1))
    stream->count = 0;
  else if (!*status)
    *status = atmi_stream_synchronize(stream);
  return true;
}

static inline __attribute__((always_inline)) bool
retrieve_few(atmi_stream_t *stream, void *host, const void *memory, uint64_t bytes, atmi_status_t *status) {
  if (bytes - 1 >= stream->slot_bytes || !atmi_transfer_knows(stream->writable, host, bytes))
    return false;
  *status = atmi_transfer_retrieve_slot(stream, host, memory, bytes);
  if (__builtin_expect(
          !*status && atmi_stream_has_first_ended(stream) && !atmi_device_is_lost(stream->device), 1)) {
    atmi_move_few(host, stream->slot, bytes);
    stream->count = stream->owes = 0;
  } else if (!*status)
    *status = atmi_stream_synchronize(stream);
  return true;
}

static __attribute__((noinline, cold)) atmi_status_t
copy_generally(atmi_stream_t *stream, bool submits, void *memory, void *host, uint64_t bytes) {
  atmi_status_t status = submits ? atmi_transfer_submit(stream, memory, host, bytes)
                                 : atmi_transfer_retrieve(stream, host, memory, bytes);
  atmi_status_t waited = tgt_stream_wait(stream);
  return status ? status : waited;
}

static inline __attribute__((always_inline)) atmi_status_t copy_one(tgt_device_t *device,
                                                                    atmi_stream_t *stream, bool submits,
                                                                    void *memory, void *host,
                                                                    uint64_t bytes) {
  atmi_status_t status;
  if (tgt_device_copies_simply(device, host) &&
      (submits ? submit_few(stream, memory, host, bytes, &status)
               : retrieve_few(stream, host, memory, bytes, &status)))
    return status;
  return copy_generally(stream, submits, memory, host, bytes);
}

static __attribute__((noinline, cold)) void update_other(tgt_device_t *device, atmi_stream_t *stream,
                                                         const construct_t *construct) {
  if (stream)
    atmi_stream_put_bare(stream);
  run_unseen(device, construct, &data_update);
}

/* Nobody looks on, and there is nothing to be done before, as above. */
static __attribute__((noinline)) void update_unseen(tgt_device_t *device, const construct_t *construct) {
  map_one_t one;
  map_entry_t *entry = NULL;
  atmi_stream_t *stream = map_one_is(&construct->arguments, &one) ? atmi_stream_take_own(device->core) : NULL;
  if (__builtin_expect(!stream || !(entry = map_one_begin(device->maps, &one)), 0)) {
    update_other(device, stream, construct);
    return;
  }
  void *memory = (void *)map_entry_device(entry, (uintptr_t)one.host);
  atmi_status_t status = copy_one(device, stream, one.type == MAP_TO, memory, one.host, one.bytes);
  if (__builtin_expect(status, 0))
    map_one_fail(device->maps, &construct->arguments, entry);
  map_status_t ended = map_one_end(device->maps, entry);
  atmi_stream_put_bare(stream);
  if (__builtin_expect(status || ended, 0))
    tgt_runtime_construct_failed(tgt_runtime(), construct->where);
}

/* The first construct after a registration, those for the host, and those that somebody wants to see. */
static __attribute__((noinline, cold)) void run_generally(const construct_t *construct, const kind_t *kind,
                                                          const void *code) {
  bool failed = false;
  tgt_device_t *device = tgt_runtime_use_ready(tgt_runtime(), construct->device);
  if (!device)
    device = tgt_runtime_use(tgt_runtime(), construct->device, kind->operation, &failed);
  if (device) {
    tgt_told_t *told = tgt_ompt_begin(kind->told_as, device, construct->where, code, false);
    tgt_info_begin(device, construct->where, kind->construct, &construct->arguments);
    failed = !run_on(device, construct, kind);
    tgt_ompt_end(told);
  }
  if (!device)
    tgt_ompt_forget_caller();
  if (failed)
    tgt_runtime_construct_failed(tgt_runtime(), construct->where);
  else if (device)
    tgt_info_end(device, construct->where);
}

static inline __attribute__((always_inline)) void run(const construct_t *construct, const kind_t *kind) {
  tgt_device_t *device;
  tgt_runtime_t *runtime = tgt_runtime();
  if (!tgt_info_use_unseen(runtime, construct->device, &device) || !tgt_runtime_is_loaded(runtime, device))
    run_generally(construct, kind, __builtin_return_address(0));
  else if (kind == &data_update)
    update_unseen(device, construct);
  else
    run_unseen(device, construct, kind);
}

/* In a task, which may ask for its end later. */
static __attribute__((noinline, cold)) void run_nowait(const construct_t *construct, const kind_t *kind,
                                                       const void *code) {
  bool failed = false, is_left = false;
  tgt_device_t *device = tgt_runtime_use_ready(tgt_runtime(), construct->device);
  if (!device)
    device = tgt_runtime_use(tgt_runtime(), construct->device, kind->operation, &failed);
  tgt_told_t *told = device ? tgt_ompt_begin(kind->told_as, device, construct->where, code, true) : NULL;
  bool is_shown = device && tgt_info_wants_constructs();
  if (is_shown)
    tgt_info_begin(device, construct->where, kind->construct, &construct->arguments);
  tgt_operation_t *task = device ? tgt_operation_for_task() : NULL;
  if (task && tgt_operation_begin_task(task, device, construct->where)) {
    bool done = begin(task, construct, kind);
    is_left = tgt_operation_leave_to_task(task, done);
    failed = !is_left;
  } else if (device)
    failed = task || !run_on(device, construct, kind);
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
#define CONSTRUCT(name, kind)                                                                                \
  TGT_EXPORT void name##_mapper(const tgt_ident_t *where, int64_t device, TGT_MAPS) {                        \
    construct_t construct = {where, device, {count_of(count), bases, begins, sizes, types, names, mappers}}; \
    TGT_KEEP_IN_MEMORY(construct);                                                                           \
    construct.device = tgt_runtime_number(device);                                                           \
    run(&construct, &kind);                                                                                  \
  }                                                                                                          \
                                                                                                             \
  TGT_EXPORT void name##_nowait_mapper(const tgt_ident_t *where, int64_t device, TGT_MAPS, TGT_DEPEND) {     \
    construct_t construct = {where, device, {count_of(count), bases, begins, sizes, types, names, mappers}}; \
    tgt_wait_for_dependences(where, depend_count, depend_list, other_count, other_list);                     \
    run_nowait(&construct, &kind, __builtin_return_address(0));                                              \
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

CONSTRUCT(__tgt_target_data_begin, data_begin)
CONSTRUCT(__tgt_target_data_end, data_end)
CONSTRUCT(__tgt_target_data_update, data_update)

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
