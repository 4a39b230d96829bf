/* One construct on its device: a stream and the work of the mapping engine, from the construct's beginning to
 * when the device is done. The caller waits, or libomp's task does (nowait), which asks now and then. Not
 * here: what is done between (region, data). */
#ifndef TGT_OPERATION_H
#define TGT_OPERATION_H

#include "ompt.h"
#include "runtime.h"

typedef struct tgt_operation {
  tgt_device_t *device;
  atmi_stream_t *stream;
  const tgt_ident_t *where; /* the construct; NULL: unknown */
  void **handle;            /* libomp's, where this is kept until it has ended; NULL: the caller waits */
  uint32_t queries;         /* how often it was asked for; this and the next only with a handle */
  tgt_told_t *told;         /* by whom it is ended; NULL: there is no tool */
  map_work_t work;
} tgt_operation_t;

/* Begins with an idle stream that the caller has taken. */
static inline void tgt_operation_begin_on(tgt_operation_t *operation, tgt_device_t *device,
                                          atmi_stream_t *stream, const tgt_ident_t *where) {
  operation->device = device;
  operation->stream = stream;
  operation->where = where;
  operation->handle = NULL;
  map_work_begin(&operation->work, device->maps, stream, tgt_runtime_map_options(tgt_runtime()));
}

/* The same with a stream of the thread. False after a failure, described. */
ATMI_MUST_CHECK static inline bool tgt_operation_begin(tgt_operation_t *operation, tgt_device_t *device,
                                                       const tgt_ident_t *where) {
  atmi_stream_t *stream;
  if (tgt_stream_take(device, &stream))
    return false;
  tgt_operation_begin_on(operation, device, stream, where);
  return true;
}

/* Waits for it, if there is anything to wait for, and ends it. `done`: what went before did not fail. */
ATMI_MUST_CHECK static inline bool tgt_operation_end(tgt_operation_t *operation, bool done) {
  atmi_status_t status = ATMI_OK, waited;
  map_status_t ended;
  do {
    waited = tgt_stream_wait(operation->stream);
    status = status ? status : waited;
    ended = map_work_end(&operation->work);
  } while (ended == MAP_AGAIN);
  atmi_stream_put(operation->stream); /* idle, unless the end has failed */
  return done && !status && !ended;
}

/* ---- nowait ---- */

/* Waits for what a construct depends on that was not made a task of its own: libomp knows how. */
void tgt_wait_for_dependences(const tgt_ident_t *where, int32_t count, void *list, int32_t other_count,
                              void *other_list);

/* An operation for a construct that need not wait: kept by the calling task, which will ask for it. NULL: the
 * task, or this libomp, cannot do that, and the caller waits. */
tgt_operation_t *tgt_operation_for_task(void);
/* As tgt_operation_begin. A failure frees it. */
ATMI_MUST_CHECK bool tgt_operation_begin_task(tgt_operation_t *operation, tgt_device_t *device,
                                              const tgt_ident_t *where);
/* Leaves a begun one to the task if all went well so far; else ends it at once, and false. */
ATMI_MUST_CHECK bool tgt_operation_leave_to_task(tgt_operation_t *operation, bool done);
/* When the program's end has been said, or a library goes: waits until nobody is inside of a region, and none
 * is left to a task, which libomp would lose. Not for long, since the thread may be one that waits for the
 * end. */
void tgt_operation_await_tasks(void);

#endif
