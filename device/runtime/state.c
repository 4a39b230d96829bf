/* The state of teams and threads: ICVs, and the stack for variables that threads share. */
#include "state.h"

/* ---- which thread has a state of its own ---- */

#if RUNTIME >= 16
/* The runtime has a pointer, null until somebody needs the table. */
enum { NOBODY = 0, IN_PREPARATION = 1 };
extern LDS uint64_t runtime_table __asm__(THREAD_STATES);
static LDS_VARIABLE thread_state_ref_t slots[MOST_THREADS];

/* One lane of the first wave that comes clears the table; lanes of a wave cannot wait for each other. */
RUNTIME_FUNCTION static void prepare_slots(void) {
  if (is_first_lane()) {
    uint64_t expected = NOBODY;
    if (__atomic_compare_exchange_n(&runtime_table, &expected, IN_PREPARATION, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED)) {
      for (uint32_t i = 0; i < block_size(); i++)
        slots[i] = NULL;
      __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
      __atomic_store_n(&runtime_table, (uint64_t)(uintptr_t)(thread_state_ref_t *)slots, __ATOMIC_RELAXED);
    }
    while (__atomic_load_n(&runtime_table, __ATOMIC_RELAXED) == IN_PREPARATION)
      __builtin_amdgcn_s_sleep(1);
  }
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
#else
extern LDS thread_state_ref_t slots[MOST_THREADS] __asm__(THREAD_STATES);

static void prepare_slots(void) {}
#endif

static inline bool somebody_has_state(void) {
#if RUNTIME >= 15
  return runtime_team.has_thread_state;
#else
  return true;
#endif
}

static inline void set_somebody_has_state(bool value) {
#if RUNTIME >= 15
  runtime_team.has_thread_state = value;
#else
  (void)value;
#endif
}

RUNTIME_FUNCTION thread_state_t *runtime_thread_state(void) {
  return somebody_has_state() ? slots[thread_id()] : NULL;
}

RUNTIME_FUNCTION const icvs_t *runtime_icvs(void) {
  thread_state_t *state = runtime_thread_state();
  return state ? &state->icvs : (const icvs_t *)&runtime_team.icvs;
}

RUNTIME_FUNCTION void runtime_enter(thread_state_t *state) {
  state = hide(state);
  state->icvs = *runtime_icvs();
  state->previous = runtime_thread_state();
  prepare_slots();
  set_somebody_has_state(true);
  slots[thread_id()] = state;
}

RUNTIME_FUNCTION void runtime_leave(void) {
  thread_state_t *previous = slots[thread_id()]->previous;
  slots[thread_id()] = previous;
  /* Outside of parallel regions one thread is alone. */
  if (!previous && !runtime_team.icvs.level)
    set_somebody_has_state(false);
}

/* States that are not in use, as a stack. They are kept and not freed: freeing asks the host, and would make
 * every image with a parallel region one that does. The word has the address of the first in its low bits
 * and, in the others, a count of those that were taken: who read the word before somebody else took that
 * state and gave it back notices. All lanes of a wave come at once; each round serves one. */
static uint64_t spare_states;
static const uint64_t spare_address = (UINT64_C(1) << 48) - 1;

static void put_spare(thread_state_t *state) {
  uint64_t word = __atomic_load_n(&spare_states, __ATOMIC_RELAXED), changed;
  do {
    state->previous = (thread_state_t *)(uintptr_t)(word & spare_address);
    changed = (word & ~spare_address) | (uint64_t)(uintptr_t)state;
  } while (
      !__atomic_compare_exchange_n(&spare_states, &word, changed, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

static thread_state_t *get_spare(void) {
  uint64_t word = __atomic_load_n(&spare_states, __ATOMIC_ACQUIRE), changed;
  thread_state_t *state;
  do {
    state = (thread_state_t *)(uintptr_t)(word & spare_address);
    if (!state)
      return runtime_memory(sizeof *state);
    changed = (word & ~spare_address) + spare_address + 1;
    changed |= (uint64_t)(uintptr_t)__atomic_load_n(&state->previous, __ATOMIC_RELAXED);
  } while (
      !__atomic_compare_exchange_n(&spare_states, &word, changed, true, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE));
  return state;
}

/* At the end of a parallel region: what its threads changed ends with it. */
RUNTIME_FUNCTION void runtime_drop_changes(void) {
  thread_state_t *state = runtime_thread_state();
  if (!state)
    return;
  slots[thread_id()] = state->previous;
  put_spare(state);
}

/* ---- ICVs that a program can set ---- */

/* A thread of a parallel region changes its own. */
RUNTIME_FUNCTION static icvs_t *own_icvs(void) {
  thread_state_t *state = runtime_thread_state();
  if (!state && !runtime_team.icvs.level)
    return (icvs_t *)&runtime_team.icvs;
  if (!state) {
    state = get_spare();
    runtime_enter(state);
  }
  return &state->icvs;
}

RUNTIME_FUNCTION void omp_set_num_threads(int threads);
void omp_set_num_threads(int threads) {
  own_icvs()->threads = (uint32_t)threads;
}

RUNTIME_FUNCTION void omp_set_schedule(int schedule, int chunk);
void omp_set_schedule(int schedule, int chunk) {
  icvs_t *icvs = own_icvs();
  icvs->schedule = (uint32_t)schedule;
  icvs->schedule_chunk = (uint32_t)chunk;
}

RUNTIME_FUNCTION void omp_set_max_active_levels(int levels);
void omp_set_max_active_levels(int levels) {
  own_icvs()->most_active_levels = levels > 0;
}

/* ---- memory ---- */

__attribute__((noinline, cold)) RUNTIME_FUNCTION void *runtime_memory(uint64_t bytes) {
  static const char text[] = "OpenMP: no device memory is left for variables that threads share, tasks or "
                             "threads' settings\n";
  void *memory = malloc(bytes);
  if (!memory)
    runtime_fail(text);
  return memory;
}

/* The stack that threads push shared variables on. The runtime counts in bytes, of which 256 make none; here
 * `used` counts units. The runtime clears it at the start of a kernel. */
enum { STACK_BYTES = 512, UNIT = 16, STACK_UNITS = STACK_BYTES / UNIT };

typedef struct stack {
  unsigned char data[STACK_BYTES] __attribute__((aligned(16)));
  unsigned char used[MOST_THREADS];
} stack_t;

extern LDS stack_t stack __asm__("_ZN12_GLOBAL__N_122SharedMemorySmartStackE");

/* The part of the stack that is this thread's. Outside of parallel regions one thread is all there is: in
 * generic mode it is alone, in SPMD mode all threads play it, and take the same steps. In a region the
 * threads share what there is. */
RUNTIME_FUNCTION static void find_part(uint32_t *begin, uint32_t *end) {
  uint32_t thread = thread_id(), size = block_size(), share = STACK_UNITS / size;
  bool spmd = __kmpc_is_spmd_exec_mode();
  bool all = spmd ? !runtime_icvs()->level : thread == ((size - 1) & ~(uint32_t)(WAVE - 1));
  *begin = all ? 0 : share * thread;
  *end = all ? STACK_UNITS : *begin + share;
}

__attribute__((noinline)) RUNTIME_FUNCTION void *__kmpc_alloc_shared(uint64_t bytes) {
  uint32_t begin, end, used = stack.used[thread_id()];
  uint64_t units = (bytes + UNIT - 1) / UNIT;
  find_part(&begin, &end);
  if (begin + used + units > end)
    return runtime_memory(bytes);
  stack.used[thread_id()] = (unsigned char)(used + units);
  return (void *)&stack.data[(begin + used) * UNIT];
}

__attribute__((noinline)) RUNTIME_FUNCTION void __kmpc_free_shared(void *memory, uint64_t bytes) {
  if (__builtin_amdgcn_is_shared((const __attribute__((address_space(0))) void *)memory))
    stack.used[thread_id()] = (unsigned char)(stack.used[thread_id()] - (bytes + UNIT - 1) / UNIT);
  else
    free(memory);
}

/* ---- the variables of a generic region that its workers are told of ---- */

enum { FEW = 64 };
typedef void *variable_t;
typedef variable_t *variables_t;
extern LDS variable_t few_variables[FEW] __asm__("_ZL29SharedMemVariableSharingSpace");
extern LDS variables_t shared_variables __asm__("_ZL32SharedMemVariableSharingSpacePtr");

RUNTIME_FUNCTION void **runtime_share_variables(uint64_t count) {
  shared_variables = count <= FEW ? (variables_t)few_variables : runtime_memory(count * sizeof(void *));
  return shared_variables;
}

RUNTIME_FUNCTION void runtime_end_sharing(uint64_t count) {
  if (count > FEW)
    free(shared_variables);
}
