/* Condition variables that are waited for until a time of CLOCK_MONOTONIC, which nobody sets. */
#ifndef GFXSIM_BASE_CONDITION_H
#define GFXSIM_BASE_CONDITION_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

/* Returns 0, or -1 if the system has no memory for it. The owner ends it with pthread_cond_destroy. */
int gs_condition_init(pthread_cond_t *condition) __attribute__((warn_unused_result));

/* The time in `ns` nanoseconds, for pthread_cond_timedwait. */
struct timespec gs_condition_deadline(uint64_t ns);

#endif
