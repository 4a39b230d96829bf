/* Parallel regions: of a team, of one thread, nested. */
#include "state.h"

/* As much as possible for the compiler to see, as in LLVM's own runtime of these versions; 17's crashes then.
 */
#if RUNTIME >= 18
#define INLINE __attribute__((always_inline))
#else
#define INLINE
#endif

/* The functions of regions take the number of their thread in two ways, and each variable by its address. */
__attribute__((noinline)) RUNTIME_FUNCTION static void invoke_many(void *function, void **args, int64_t count,
                                                                   int32_t thread) {
  int32_t zero = 0;
  switch (count) {
#include "calls_many.h" /* made by device/build */
  default: __builtin_trap();
  }
}

/* Inlined where the number is known. */
INLINE RUNTIME_FUNCTION static void invoke(void *function, void **args, int64_t count,
                                           uint32_t thread_number) {
  int32_t thread = (int32_t)thread_number, zero = 0;
  switch (count) {
#include "calls_few.h"
  default: invoke_many(function, args, count, thread);
  }
}

/* Whether the kernel has nested regions, as far as the compiler knows: without the question it would have
 * what they need in every kernel. */
#if RUNTIME >= 17
bool may_nest(void) __asm__("_ZN4ompx6config23mayUseNestedParallelismEv");
#else
static bool may_nest(void) {
  return true;
}
#endif

static uint32_t team_threads(int32_t clause, bool spmd) {
  uint32_t wanted = clause != -1 ? (uint32_t)clause : runtime_icvs()->threads;
  uint32_t threads = spmd ? block_size() : block_size() - WAVE;
  if (wanted && wanted < threads)
    threads = wanted;
#if RUNTIME >= 17
  if (spmd)
    return threads;
#endif
  /* Whole waves, or one thread. */
  return threads < WAVE ? 1 : threads & ~(uint32_t)(WAVE - 1);
}

/* The thread is its team. Inlined, clang 15 cannot compile the state as a variable of a loop; not inlined,
 * clang 16 crashes over loops in nested regions; for 17 to 19 once is enough. */
#if RUNTIME != 16
__attribute__((noinline))
#endif
RUNTIME_FUNCTION static void
run_alone(void *function, void **args, int64_t count) {
  thread_state_t memory, *state = hide(&memory);
  runtime_enter(state);
  state->icvs.level++;
  invoke(function, args, count, thread_id());
  runtime_leave();
}

static inline void begin_region(uint32_t threads, void *region) {
  runtime_team.team_size = threads;
  runtime_team.region = region;
  runtime_team.icvs.active_level = threads > 1;
  runtime_team.icvs.level = 1;
}

static inline void end_region(void) {
  runtime_team.icvs.level = 0;
  runtime_team.icvs.active_level = 0;
  runtime_team.region = NULL;
  runtime_team.team_size = 1;
#if RUNTIME >= 15
  if (runtime_team.has_thread_state)
    runtime_team.has_thread_state = false;
#endif
}

/* All threads of the team are here. */
INLINE RUNTIME_FUNCTION static void run_in_spmd_mode(void *function, void **args, int64_t count,
                                                     uint32_t threads) {
  uint32_t thread = thread_id();
  /* Until here others may still read what thread 0 is about to change. */
  runtime_block_barrier();
  if (thread == 0) {
    if (threads != block_size())
      runtime_barrier_init();
    begin_region(threads, NULL);
  }
  runtime_block_barrier();
  __builtin_assume(runtime_team.team_size == threads);
  __builtin_assume(runtime_team.icvs.active_level == (threads > 1));
  __builtin_assume(runtime_team.icvs.level == 1);
  if (thread < threads)
    invoke(function, args, count, thread);
  runtime_drop_changes();
  runtime_block_barrier();
  if (thread == 0)
    end_region();
  runtime_block_barrier();
}

/* The main thread is here; the others wait. */
INLINE RUNTIME_FUNCTION static void run_in_generic_mode(void *wrapper, void **args, int64_t count,
                                                        uint32_t threads) {
  void **variables = runtime_share_variables((uint64_t)count);
  for (int64_t i = 0; i < count; i++)
    variables[i] = args[i];
  begin_region(threads, wrapper);
  runtime_block_barrier(); /* they begin */
  runtime_block_barrier(); /* they have ended */
  end_region();
  runtime_end_sharing((uint64_t)count);
}

/* A region of the main thread alone needs no state of its own. */
INLINE RUNTIME_FUNCTION static void run_in_main_thread(void *function, void **args, int64_t count) {
  runtime_team.icvs.level = 1;
  invoke(function, args, count, thread_id());
  runtime_drop_changes();
  end_region();
}

void __kmpc_parallel_51(ident_t *location, int32_t thread, int32_t condition, int32_t num_threads, int bind,
                        void *function, void *wrapper, void **args, int64_t count);
INLINE RUNTIME_FUNCTION void __kmpc_parallel_51(ident_t *location, int32_t thread, int32_t condition,
                                                int32_t num_threads, int bind, void *function, void *wrapper,
                                                void **args, int64_t count) {
  bool spmd = __kmpc_is_spmd_exec_mode();
  (void)location;
  (void)thread;
  (void)bind;
  if (runtime_thread_state() || (may_nest() && runtime_icvs()->level)) {
    run_alone(function, args, count);
    return;
  }
  uint32_t threads = condition ? team_threads(num_threads, spmd) : 1;
  if (spmd)
    run_in_spmd_mode(function, args, count, threads);
  else if (threads > 1)
    run_in_generic_mode(wrapper, args, count, threads);
  else
    run_in_main_thread(function, args, count);
}

/* Each worker, at the end of a region in generic mode. */
void __kmpc_kernel_end_parallel(void);
__attribute__((noinline)) RUNTIME_FUNCTION void __kmpc_kernel_end_parallel(void) {
  runtime_drop_changes();
}

#if RUNTIME < 18
/* At the end of a kernel, of the threads that ran its code. The runtime's own takes it that all ICVs are what
 * they were at the beginning, and the compiler draws conclusions from that. */
#if RUNTIME >= 16
#define LAST_PARAMETER
#else
#define LAST_PARAMETER , _Bool full
#endif
void __kmpc_target_deinit(ident_t *location, int8_t mode LAST_PARAMETER);
RUNTIME_FUNCTION void __kmpc_target_deinit(ident_t *location, int8_t mode LAST_PARAMETER) {
  enum { SPMD = 2 };
  (void)location;
#if RUNTIME < 16
  (void)full;
#endif
  if (!(mode & SPMD))
    runtime_team.region = NULL; /* which tells the workers to end */
}
#endif
