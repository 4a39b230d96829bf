/* Threads of the simulator inside somebody else's program.
 * Not here: what they run. */
#ifndef GFXSIM_BASE_THREAD_H
#define GFXSIM_BASE_THREAD_H

#include <pthread.h>

/* Starts a thread that the host program's signals never interrupt (only faults of its own reach it), named
 * `name` (15 characters at most) for debuggers and top. Returns 0, or -1 when the system has no thread for
 * us. */
int gs_thread_start(pthread_t *thread, const char *name, void *(*run)(void *argument), void *argument)
    __attribute__((warn_unused_result));

#endif
