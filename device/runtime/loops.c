/* Loops whose iterations are handed out while they run: schedule(dynamic), guided, runtime, auto, ordered. */
#include "state.h"

enum {
  MODIFIERS = 3 << 29,
  RUNTIME_SCHEDULE = 37, /* as the run-sched-var says */
  AUTO_SCHEDULE = 38,
  ORDERED_FIRST = 65,
  ORDERED_LAST = 70,
  ICV_STATIC = 1,
  ICV_AUTO = 4,
};

int omp_get_num_threads(void);

/* One loop at a time: threads that come early to the next one wait for the others. */
static LDS_VARIABLE loop_t team_loop;

/* A nested region is one thread, and its loops are the thread's. */
RUNTIME_FUNCTION static thread_state_t *nested(void) {
  return runtime_icvs()->level > 1 ? runtime_thread_state() : NULL;
}

/* A part for each thread, rounded up. */
static uint64_t even_chunk(uint64_t count, uint32_t threads) {
  return count / threads + (count % threads != 0);
}

static uint64_t chunk_of(int32_t schedule, int64_t wanted, uint64_t count, uint32_t threads) {
  uint64_t chunk = wanted > 0 ? (uint64_t)wanted : 1;
  if (schedule == RUNTIME_SCHEDULE) {
    const icvs_t *icvs = runtime_icvs();
    int32_t from_icv = (int32_t)icvs->schedule_chunk;
    chunk = from_icv > 0 ? (uint64_t)from_icv : 1;
    if (icvs->schedule == ICV_AUTO || (icvs->schedule == ICV_STATIC && from_icv <= 0))
      chunk = even_chunk(count, threads);
  } else if (schedule == AUTO_SCHEDULE) {
    chunk = even_chunk(count, threads);
  } else if (schedule >= ORDERED_FIRST && schedule <= ORDERED_LAST) {
    chunk = count; /* in their order if one thread has them all */
  }
  return chunk;
}

/* `count` is 0 for an empty loop. */
RUNTIME_FUNCTION static void begin(ident_t *location, int32_t schedule, uint64_t lower, uint64_t count,
                                   int64_t wanted) {
  thread_state_t *state = nested();
  uint32_t threads = state ? 1 : (uint32_t)omp_get_num_threads();
  loop_t loop = {.lower = lower, .count = count, .chunk = count};
  if (state) {
    state->loop = loop;
    return;
  }
  if (threads > 1) {
    loop.chunk = chunk_of(schedule & ~MODIFIERS, wanted, count, threads);
    __kmpc_barrier(location, 0);
  }
  if (threads == 1 || omp_get_thread_num() == 0) {
    team_loop.lower = loop.lower;
    team_loop.count = loop.count;
    team_loop.chunk = loop.chunk;
    team_loop.next = 0;
  }
  if (threads > 1)
    __kmpc_barrier(location, 0);
}

/* The next chunk's first and last iteration, from 0; false if there is none. */
RUNTIME_FUNCTION static bool next(uint64_t *lower, uint64_t *first, uint64_t *last, int32_t *is_last) {
  thread_state_t *state = nested();
  uint64_t number = state ? state->loop.next++ : __atomic_fetch_add(&team_loop.next, 1, __ATOMIC_RELAXED);
  uint64_t count = state ? state->loop.count : team_loop.count;
  uint64_t chunk = state ? state->loop.chunk : team_loop.chunk;
  if (!count || number > (count - 1) / chunk)
    return false;
  *lower = state ? state->loop.lower : team_loop.lower;
  *first = number * chunk;
  *last = count - *first > chunk ? *first + chunk - 1 : count - 1;
  *is_last = *last == count - 1;
  return true;
}

#define LOOPS_OF(suffix, type, unsigned_type, signed_type)                                                   \
  void __kmpc_dispatch_init_##suffix(ident_t *location, int32_t thread, int32_t schedule, type lower,        \
                                     type upper, signed_type stride, signed_type chunk);                     \
  RUNTIME_FUNCTION void __kmpc_dispatch_init_##suffix(ident_t *location, int32_t thread, int32_t schedule,   \
                                                      type lower, type upper, signed_type stride,            \
                                                      signed_type chunk) {                                   \
    (void)thread;                                                                                            \
    (void)stride;                                                                                            \
    begin(location, schedule, (uint64_t)lower,                                                               \
          upper < lower ? 0 : (uint64_t)((unsigned_type)upper - (unsigned_type)lower) + 1, chunk);           \
  }                                                                                                          \
  int __kmpc_dispatch_next_##suffix(ident_t *location, int32_t thread, int32_t *is_last, type *lower,        \
                                    type *upper, signed_type *stride);                                       \
  RUNTIME_FUNCTION int __kmpc_dispatch_next_##suffix(ident_t *location, int32_t thread, int32_t *is_last,    \
                                                     type *lower, type *upper, signed_type *stride) {        \
    uint64_t begin, first, last;                                                                             \
    (void)location;                                                                                          \
    (void)thread;                                                                                            \
    if (!next(&begin, &first, &last, is_last))                                                               \
      return 0;                                                                                              \
    *lower = (type)(begin + first);                                                                          \
    *upper = (type)(begin + last);                                                                           \
    *stride = 1;                                                                                             \
    return 1;                                                                                                \
  }                                                                                                          \
  void __kmpc_dispatch_fini_##suffix(ident_t *location, int32_t thread);                                     \
  RUNTIME_FUNCTION void __kmpc_dispatch_fini_##suffix(ident_t *location, int32_t thread) {                   \
    (void)location;                                                                                          \
    (void)thread;                                                                                            \
  }

void __kmpc_dispatch_deinit(ident_t *location, int32_t thread);
RUNTIME_FUNCTION void __kmpc_dispatch_deinit(ident_t *location, int32_t thread) {
  (void)location;
  (void)thread;
}

LOOPS_OF(4, int32_t, uint32_t, int32_t)
LOOPS_OF(4u, uint32_t, uint32_t, int32_t)
LOOPS_OF(8, int64_t, uint64_t, int64_t)
LOOPS_OF(8u, uint64_t, uint64_t, int64_t)
