/* Catching of host faults around guest accesses; see guard.c. */
#ifndef GFXSIM_EXEC_GUARD_H
#define GFXSIM_EXEC_GUARD_H

#include <setjmp.h>
#include <stdint.h>

/* A place to continue at after a host fault. Lives on the stack of the thread that runs waves. */
typedef struct gs_guard {
  sigjmp_buf resume;
  uint64_t address; /* host address that faulted */
} gs_guard_t;

/* The guard of this thread, or NULL where faults are not ours. Process-wide by nature: a signal handler has no other
 * way to find its context. */
extern _Thread_local gs_guard_t *volatile gs_guard_current;

#endif
