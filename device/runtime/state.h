/* What our parts of LLVM's OpenMP device runtime share with the rest of it: its state of a team and of a
 * thread, laid out as in the version RUNTIME (14 to 19). The variables are the runtime's own;
 * device/build makes them visible. */
#ifndef STATE_H
#define STATE_H

#include "../services.h"

#include <stdbool.h>

/* The runtime promises the compiler that no assembly in it calls anything; without the promise the compiler
 * takes every region that uses one of these functions for code that it does not know. */
#if RUNTIME >= 15 && RUNTIME < 19
#define RUNTIME_FUNCTION __attribute__((assume("ompx_no_call_asm")))
#else
#define RUNTIME_FUNCTION /* 14 does not look; for 19 device/build says it */
#endif
#define LDS __attribute__((address_space(3)))
/* LDS has no initial values. */
#define LDS_VARIABLE LDS __attribute__((loader_uninitialized))

/* The names of the runtime's variables. */
#if RUNTIME >= 16
#define TEAM_STATE    "_ZN4ompx5state9TeamStateE"
#define THREAD_STATES "_ZN4ompx5state12ThreadStatesE"
#elif RUNTIME == 15
#define TEAM_STATE    "_ZN4_OMP5state9TeamStateE"
#define THREAD_STATES "_ZN4_OMP5state12ThreadStatesE"
#else
#define TEAM_STATE    "_ZN12_GLOBAL__N_19TeamStateE"
#define THREAD_STATES "_ZN12_GLOBAL__N_112ThreadStatesE"
#endif

enum { WAVE = __AMDGCN_WAVEFRONT_SIZE, MOST_THREADS = 1024 };

typedef struct icvs {
  uint32_t threads, level, active_level;
#if RUNTIME >= 17
  uint32_t unused;
#endif
  uint32_t most_active_levels, schedule, schedule_chunk;
} icvs_t;

typedef struct team_state {
  icvs_t icvs;
  uint32_t team_size; /* of the parallel region */
#if RUNTIME >= 15
  uint32_t has_thread_state; /* some thread of the team has one */
#endif
  void *region; /* what the threads that wait in generic mode are to run */
} team_state_t;

/* A loop that hands out chunks: of a team, or of a thread in a nested region. */
typedef struct loop {
  uint64_t lower, count, chunk, next; /* `next` counts chunks */
} loop_t;

/* A thread that is in a task or in a nested parallel region, or has changed an ICV in a region, has ICVs of
 * its own. The runtime knows the first two members. */
typedef struct thread_state {
  icvs_t icvs;
  struct thread_state *previous;
  loop_t loop;
} thread_state_t;

typedef thread_state_t *thread_state_ref_t; /* for variables in LDS, which the type alone does not make */

/* A place in the source. The compiler's type has the same members; clang 14 takes a call with other types for
 * one of an unknown function. */
typedef struct ident {
  int32_t reserved1, flags, reserved2, reserved3;
  const char *source;
} ident_t;

static inline uint32_t thread_id(void) {
  return __builtin_amdgcn_workitem_id_x();
}

static inline uint32_t block_size(void) {
  return __builtin_amdgcn_workgroup_size_x();
}

/* Lanes of a wave cannot wait for each other: where one must wait, or tell others, it is this one. */
static inline bool is_first_lane(void) {
  uint64_t active = __builtin_amdgcn_read_exec();
  return !__builtin_amdgcn_mbcnt_hi((uint32_t)(active >> 32), __builtin_amdgcn_mbcnt_lo((uint32_t)active, 0));
}

/* Of the runtime: whether all threads of the team run the region's code from its beginning. OpenMPOpt knows
 * the name. */
signed char __kmpc_is_spmd_exec_mode(void);

/* fail.c: ends the region, after a line on stderr, which each wave that comes here prints. */
_Noreturn void runtime_fail(const char *line);

/* state.c */
extern LDS team_state_t runtime_team __asm__(TEAM_STATE);
thread_state_t *runtime_thread_state(void);
const icvs_t *runtime_icvs(void);
void runtime_enter(thread_state_t *state);
void runtime_leave(void);
void runtime_drop_changes(void);
/* Of the host. Ends the region when there is none, after a message. */
void *runtime_memory(uint64_t bytes);
/* Room for the addresses of the variables of a generic region, and its end. */
void **runtime_share_variables(uint64_t count);
void runtime_end_sharing(uint64_t count);

void *__kmpc_alloc_shared(uint64_t bytes);
void __kmpc_free_shared(void *memory, uint64_t bytes);

/* barrier.c */
void runtime_barrier_init(void);
void runtime_block_barrier(void);
void __kmpc_barrier(ident_t *location, int32_t thread);

/* The rest of the runtime. */
int omp_get_thread_num(void);

#endif
