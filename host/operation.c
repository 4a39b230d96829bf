/* Constructs that libomp's tasks wait for. A task whose handle is set is put back into its queue, and asks
 * again when it is taken from there; it goes on when the handle is NULL. */
#include "operation.h"

#include "entry.h"
#include "libomp.h"

#include <stdlib.h>
#include <time.h>

enum { QUERIES_BEFORE_WAITING = 5 };

void tgt_wait_for_dependences(const tgt_ident_t *where, int32_t count, void *list, int32_t other_count,
                              void *other_list) {
  if ((count > 0 || other_count > 0) && __kmpc_omp_wait_deps && __kmpc_global_thread_num)
    __kmpc_omp_wait_deps((void *)(uintptr_t)where, __kmpc_global_thread_num(NULL), count, list, other_count,
                         other_list);
}

/* Libomp, which ends itself then, may lose a task that is put back. */
static bool is_exiting(void) {
  return atomic_load(&tgt_runtime()->is_exiting);
}

static void **handle_of_task(void) {
  if (!__kmpc_omp_get_target_async_handle_ptr || !__kmpc_omp_has_task_team || !__kmpc_global_thread_num)
    return NULL;
  int32_t thread = __kmpc_global_thread_num(NULL);
  void **handle = __kmpc_omp_has_task_team(thread) ? __kmpc_omp_get_target_async_handle_ptr(thread) : NULL;
  return handle && !*handle ? handle : NULL;
}

static void free_task(tgt_operation_t *operation) {
  free(operation);
  atomic_fetch_sub(&tgt_runtime()->tasks, 1);
}

tgt_operation_t *tgt_operation_for_task(void) {
  void **handle = handle_of_task();
  tgt_operation_t *operation = handle ? malloc(sizeof *operation) : NULL;
  if (!operation)
    return NULL; /* the caller waits */
  operation->handle = handle;
  operation->queries = 0;
  /* Counted before it asks: the end of the program is said before it counts. */
  atomic_fetch_add(&tgt_runtime()->tasks, 1);
  if (!is_exiting())
    return operation;
  free_task(operation);
  return NULL;
}

void tgt_operation_await_tasks(void) {
  enum { MOST_MS = 1000 };
  for (int waited = 0; waited < MOST_MS && (atomic_load(&tgt_runtime()->tasks) || tgt_machine_is_busy());
       waited++)
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

bool tgt_operation_begin_task(tgt_operation_t *operation, tgt_device_t *device, const tgt_ident_t *where) {
  void **handle = operation->handle;
  if (!tgt_operation_begin(operation, device, where)) {
    free_task(operation);
    return false;
  }
  operation->handle = handle;
  return true;
}

/* To whichever thread asks for it next. libomp orders that; it is said here too, for ThreadSanitizer, which
 * does not see into libomp. */
static void pass_on(tgt_operation_t *operation) {
  __atomic_store_n(operation->handle, (void *)operation, __ATOMIC_RELEASE);
}

bool tgt_operation_leave_to_task(tgt_operation_t *operation, bool done) {
  if (done) {
    map_work_keep(&operation->work);
    operation->told = tgt_ompt_is_on() ? tgt_ompt_leave() : NULL;
    pass_on(operation);
    return true;
  }
  done = tgt_operation_end(operation, done);
  free_task(operation);
  return done;
}

TGT_EXPORT void __tgt_target_nowait_query(void **handle) {
  tgt_operation_t *operation = handle ? __atomic_load_n(handle, __ATOMIC_ACQUIRE) : NULL;
  if (!operation) /* a task that has no handle is not asked about */
    return;
  /* A task that asks again and again is better served by waiting. Who asks is told of a failure, and nobody
   * after that. */
  atmi_status_t status = ATMI_OK;
  if (operation->queries++ < QUERIES_BEFORE_WAITING && !is_exiting())
    status = atmi_stream_query(operation->stream);
  if (status == ATMI_PENDING) {
    pass_on(operation);
    return;
  }
  __atomic_store_n(handle, NULL, __ATOMIC_RELAXED);
  const tgt_ident_t *where = operation->where;
  tgt_told_t *told = operation->told;
  if (told)
    tgt_ompt_take_over(told);
  bool done = tgt_operation_end(operation, true);
  tgt_ompt_end(told);
  free_task(operation);
  if (!done || status)
    tgt_runtime_construct_failed(tgt_runtime(), where);
}
