/* Condition variables that are waited for until a time of CLOCK_MONOTONIC, which nobody sets. */
#ifndef ATMI_BASE_CONDITION_H
#define ATMI_BASE_CONDITION_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* False if the system has no memory for it. The owner ends it with pthread_cond_destroy. */
bool atmi_condition_init(pthread_cond_t *condition);

/* The time in `ms` milliseconds, for pthread_cond_timedwait. */
struct timespec atmi_condition_deadline(uint32_t ms);

#endif
