/* Barriers of a team: of all threads, of some waves, of one thread. */
#include "state.h"

/* Waves that have come in the lower half, how often the barrier was passed in the upper. */
extern LDS uint32_t tracker __asm__("_ZN4impl19namedBarrierTrackerE");

RUNTIME_FUNCTION void runtime_barrier_init(void) {
  tracker = 0;
}

RUNTIME_FUNCTION void runtime_block_barrier(void) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

/* For a region that not all waves of the block are in: those wait at the block's barrier. */
RUNTIME_FUNCTION static void barrier_of(uint32_t waves) {
  enum { COUNT = 0xffff, PASSED = 1 << 16 };
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  if (is_first_lane()) {
    uint32_t before = __atomic_fetch_add(&tracker, 1, __ATOMIC_RELAXED), passed = before & ~(uint32_t)COUNT;
    if ((before & COUNT) == waves - 1)
      __atomic_store_n(&tracker, passed + PASSED, __ATOMIC_RELAXED);
    else
      while ((__atomic_load_n(&tracker, __ATOMIC_RELAXED) & ~(uint32_t)COUNT) == passed)
        __builtin_amdgcn_s_sleep(1);
  }
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

RUNTIME_FUNCTION void __kmpc_barrier(ident_t *location, int32_t thread) {
  uint32_t level = runtime_icvs()->level, threads = runtime_team.team_size;
  bool spmd = __kmpc_is_spmd_exec_mode();
  (void)location;
  (void)thread;
  if (level ? level > 1 || threads == 1 : !spmd)
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
  else if (!level || (spmd && threads == block_size()))
    runtime_block_barrier();
  else
    barrier_of((threads + WAVE - 1) / WAVE);
}

int32_t __kmpc_cancel_barrier(ident_t *location, int32_t thread);
RUNTIME_FUNCTION int32_t __kmpc_cancel_barrier(ident_t *location, int32_t thread) {
  __kmpc_barrier(location, thread);
  return 0;
}

/* The runtime of LLVM 14 asks for the number of the team. */
int32_t __kmpc_master(ident_t *location, int32_t thread);
RUNTIME_FUNCTION int32_t __kmpc_master(ident_t *location, int32_t thread) {
  (void)location;
  (void)thread;
  return omp_get_thread_num() == 0;
}

int32_t __kmpc_single(ident_t *location, int32_t thread);
RUNTIME_FUNCTION int32_t __kmpc_single(ident_t *location, int32_t thread) {
  return __kmpc_master(location, thread);
}

int32_t __kmpc_masked(ident_t *location, int32_t thread, int32_t filter);
RUNTIME_FUNCTION int32_t __kmpc_masked(ident_t *location, int32_t thread, int32_t filter) {
  (void)location;
  (void)thread;
  return omp_get_thread_num() == filter;
}

void __kmpc_end_masked(ident_t *location, int32_t thread);
RUNTIME_FUNCTION void __kmpc_end_masked(ident_t *location, int32_t thread) {
  (void)location;
  (void)thread;
}
