/* Locks, and `critical`. The lanes of a wave run together: a lane that has a lock cannot go on, and give it
 * back, while another lane of its wave waits. So a wave takes the locks of all its lanes or none, and lanes
 * that want the same lock cannot be served. The compiler sends the threads of a `critical` region into it one
 * at a time. */
#include "state.h"

#include "../rpc_client.h"

enum { FREE, TAKEN };

typedef uint32_t lock_t;

/* As the compiler has them. */
typedef struct omp_lock {
  void *state;
} omp_lock_t;
typedef int32_t critical_name_t[8];

static lock_t *lock_of(void *lock) {
  return lock;
}

RUNTIME_FUNCTION static bool try_lock(lock_t *lock) {
  lock_t expected = FREE;
  return __atomic_compare_exchange_n(lock, &expected, TAKEN, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

RUNTIME_FUNCTION static void give_back(lock_t *lock) {
  __atomic_store_n(lock, FREE, __ATOMIC_RELAXED);
}

/* Whether two lanes want the same lock. */
RUNTIME_FUNCTION static bool collide(const lock_t *lock) {
  uint64_t address = (uint64_t)(uintptr_t)lock;
  uint32_t low = (uint32_t)address, high = (uint32_t)(address >> 32);
  uint64_t left = rpc_ballot(true), same = 0;
  for (; left; left &= left - 1) {
    int lane = __builtin_ctzll(left) * 4;
    same += (uint32_t)__builtin_amdgcn_ds_bpermute(lane, (int)low) == low &&
            (uint32_t)__builtin_amdgcn_ds_bpermute(lane, (int)high) == high;
  }
  return rpc_ballot(same > 1);
}

RUNTIME_FUNCTION static void take(lock_t *lock) {
  for (;;) {
    bool mine = try_lock(lock);
    if (!rpc_ballot(!mine))
      break;
    if (mine)
      give_back(lock);
    __builtin_amdgcn_s_sleep(8);
  }
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
}

void omp_init_lock(omp_lock_t *lock);
RUNTIME_FUNCTION void omp_init_lock(omp_lock_t *lock) {
  give_back(lock_of(lock));
}

void omp_destroy_lock(omp_lock_t *lock);
RUNTIME_FUNCTION void omp_destroy_lock(omp_lock_t *lock) {
  give_back(lock_of(lock));
}

void omp_set_lock(omp_lock_t *lock);
RUNTIME_FUNCTION void omp_set_lock(omp_lock_t *lock) {
  if (collide(lock_of(lock))) {
    static const char text[] =
        "omp_set_lock: two threads of a wave want the same lock, and would wait for each "
        "other for ever; use critical or atomic\n";
    runtime_fail(text);
  }
  take(lock_of(lock));
}

int omp_test_lock(omp_lock_t *lock);
RUNTIME_FUNCTION int omp_test_lock(omp_lock_t *lock) {
  bool mine = try_lock(lock_of(lock));
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
  return mine;
}

void omp_unset_lock(omp_lock_t *lock);
RUNTIME_FUNCTION void omp_unset_lock(omp_lock_t *lock) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
  give_back(lock_of(lock));
}

void __kmpc_critical(ident_t *location, int32_t thread, critical_name_t *name);
#if RUNTIME < 19 /* whose own works */
RUNTIME_FUNCTION void __kmpc_critical(ident_t *location, int32_t thread, critical_name_t *name) {
  (void)location;
  (void)thread;
  take(lock_of(name));
}

void __kmpc_end_critical(ident_t *location, int32_t thread, critical_name_t *name);
RUNTIME_FUNCTION void __kmpc_end_critical(ident_t *location, int32_t thread, critical_name_t *name) {
  (void)location;
  (void)thread;
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
  give_back(lock_of(name));
}
#endif

void __kmpc_critical_with_hint(ident_t *location, int32_t thread, critical_name_t *name, uint32_t hint);
RUNTIME_FUNCTION void __kmpc_critical_with_hint(ident_t *location, int32_t thread, critical_name_t *name,
                                                uint32_t hint) {
  (void)hint;
  __kmpc_critical(location, thread, name);
}
