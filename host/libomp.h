/* What we call of libomp, as far as the process has one: programs of other compilers may have none. Not here:
 * what libomp calls of us (it looks that up by name). */
#ifndef TGT_LIBOMP_H
#define TGT_LIBOMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TGT_WEAK __attribute__((weak))

typedef struct tgt_depend {
  int64_t address;
  uint64_t bytes;
  uint8_t flags;
} tgt_depend_t;

TGT_WEAK int omp_get_default_device(void);
/* 0 disabled, 1 default, 2 mandatory. */
TGT_WEAK int __kmpc_get_target_offload(void);
TGT_WEAK int __kmpc_global_thread_num(void *ident);
TGT_WEAK void __kmpc_omp_wait_deps(void *ident, int32_t thread, int32_t count, tgt_depend_t *list,
                                   int32_t other_count, tgt_depend_t *other_list);
/* The place in the calling task for the handle of what it waits for; NULL: it has none. [16-] */
TGT_WEAK void **__kmpc_omp_get_target_async_handle_ptr(int32_t thread);
TGT_WEAK bool __kmpc_omp_has_task_team(int32_t thread);

/* Calls back if it has a tool that wants to know of devices. [16-] */
struct tgt_ompt_start;
TGT_WEAK void ompt_libomp_connect(struct tgt_ompt_start *start);

/* Tasks, for the copies that return at once. [17-] */
typedef struct tgt_task {
  void *shared;
  /* more, of libomp's */
} tgt_task_t;
TGT_WEAK tgt_task_t *__kmpc_omp_target_task_alloc(void *ident, int32_t thread, int32_t flags,
                                                  size_t task_bytes, size_t shared_bytes,
                                                  int32_t (*entry)(int32_t thread, tgt_task_t *task),
                                                  int64_t device);
TGT_WEAK int32_t __kmpc_omp_task_with_deps(void *ident, int32_t thread, tgt_task_t *task, int32_t count,
                                           tgt_depend_t *list, int32_t other_count, tgt_depend_t *other_list);

#endif
