/* Forks. A child has nothing of what its parent holds of a GPU, and ROCr does not work in it. So a context
 * that has found devices and not used any releases them, and ROCr, when the process forks, and both sides
 * find them again at their first use. Not here: when a use begins (use). */
#ifndef ATMI_OPENMP_FORK_H
#define ATMI_OPENMP_FORK_H

#include "openmp/context.h"

/* From now on forks are noticed. Once, after ROCr was initialised: the driver's library has its own handlers
 * of forks then, and ours, which calls it, has to come before them. False: out of host memory. */
ATMI_MUST_CHECK bool atmi_fork_watch(void);

/* Finds the devices of a sleeping context again: ATMI_CONTEXT_IDLE or, if they are not what they were,
 * ATMI_CONTEXT_CHANGED. The caller holds the lock. */
void atmi_fork_wake(atmi_context_t *context);

/* Describes why a child, or who has slept, has no device. */
void atmi_fork_refuse(const atmi_context_t *context, const char *operation);

#endif
