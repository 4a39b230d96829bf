/* Explicit tasks: the thread that meets one runs it at once. */
#include "state.h"

typedef int32_t (*task_function_t)(int32_t thread, void *task);

/* What the compiler knows of a task; its private variables follow. In interfaces it is a void pointer. */
typedef struct task {
  void *shared;
  task_function_t function;
} task_t;

/* In front of it. */
typedef struct task_block {
  uint64_t bytes;
  thread_state_t state;
} task_block_t;

enum { BLOCK_BYTES = (sizeof(task_block_t) + 15) & ~15u };

static task_block_t *block_of(task_t *task) {
  return (task_block_t *)(void *)((char *)task - BLOCK_BYTES);
}

/* Tasks end in the reverse order of their allocation, as the stack wants it. */
void *__kmpc_omp_task_alloc(ident_t *location, int32_t thread, int32_t flags, uint64_t task_bytes,
                            uint64_t shared_bytes, task_function_t function);
RUNTIME_FUNCTION void *__kmpc_omp_task_alloc(ident_t *location, int32_t thread, int32_t flags,
                                             uint64_t task_bytes, uint64_t shared_bytes,
                                             task_function_t function) {
  uint64_t padded = (task_bytes + 7) & ~(uint64_t)7, bytes = BLOCK_BYTES + padded + shared_bytes;
  task_block_t *block = __kmpc_alloc_shared(bytes);
  task_t *task = (task_t *)(void *)((char *)block + BLOCK_BYTES);
  (void)location;
  (void)thread;
  (void)flags;
  block->bytes = bytes;
  task->shared = (char *)task + padded;
  task->function = function;
  return task;
}

static void release(task_t *task) {
  task_block_t *block = block_of(task);
  __kmpc_free_shared(block, block->bytes);
}

RUNTIME_FUNCTION static void run(task_t *task) {
  runtime_enter(&block_of(task)->state);
  task->function(0, task);
  runtime_leave();
  release(task);
}

int32_t __kmpc_omp_task(ident_t *location, uint32_t thread, void *task);
RUNTIME_FUNCTION int32_t __kmpc_omp_task(ident_t *location, uint32_t thread, void *task) {
  (void)location;
  (void)thread;
  run(task);
  return 0;
}

int32_t __kmpc_omp_task_with_deps(ident_t *location, uint32_t thread, void *task, int32_t count, void *list,
                                  int32_t other_count, void *other_list);
RUNTIME_FUNCTION int32_t __kmpc_omp_task_with_deps(ident_t *location, uint32_t thread, void *task,
                                                   int32_t count, void *list, int32_t other_count,
                                                   void *other_list) {
  (void)location;
  (void)thread;
  (void)count;
  (void)list;
  (void)other_count;
  (void)other_list;
  run(task);
  return 0;
}

/* With if(0) the compiler calls the task's function itself. */
void __kmpc_omp_task_begin_if0(ident_t *location, uint32_t thread, void *task);
RUNTIME_FUNCTION void __kmpc_omp_task_begin_if0(ident_t *location, uint32_t thread, void *task) {
  (void)location;
  (void)thread;
  runtime_enter(&block_of(task)->state);
}

void __kmpc_omp_task_complete_if0(ident_t *location, uint32_t thread, void *task);
RUNTIME_FUNCTION void __kmpc_omp_task_complete_if0(ident_t *location, uint32_t thread, void *task) {
  (void)location;
  (void)thread;
  runtime_leave();
  release(task);
}

/* What the compiler has in a task for a loop, from the bounds on. */
typedef struct task_loop {
  int64_t lower, upper, stride;
  int32_t is_last; /* the task that has this gives lastprivate variables their values */
} task_loop_t;

/* One task runs the whole loop: its bounds are in the task. */
void __kmpc_taskloop(ident_t *location, uint32_t thread, void *task, int condition, const int64_t *lower,
                     const int64_t *upper, int64_t stride, int no_group, int32_t schedule, uint64_t grain,
                     void *duplicate);
RUNTIME_FUNCTION void __kmpc_taskloop(ident_t *location, uint32_t thread, void *task, int condition,
                                      const int64_t *lower, const int64_t *upper, int64_t stride,
                                      int no_group, int32_t schedule, uint64_t grain, void *duplicate) {
  (void)location;
  (void)thread;
  (void)condition;
  (void)stride;
  (void)no_group;
  (void)schedule;
  (void)grain;
  (void)duplicate;
  if (*lower > *upper) {
    release(task);
    return;
  }
  task_loop_t *loop = hide(lower);
  loop->is_last = true;
  run(task);
}

/* The tasks to be waited for have run. */
void __kmpc_omp_taskwait_deps_51(ident_t *location, int32_t thread, int32_t count, void *list,
                                 int32_t other_count, void *other_list, int32_t no_wait);
RUNTIME_FUNCTION void __kmpc_omp_taskwait_deps_51(ident_t *location, int32_t thread, int32_t count,
                                                  void *list, int32_t other_count, void *other_list,
                                                  int32_t no_wait) {
  (void)location;
  (void)thread;
  (void)count;
  (void)list;
  (void)other_count;
  (void)other_list;
  (void)no_wait;
}
