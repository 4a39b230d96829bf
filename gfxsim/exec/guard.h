/* Catching of host faults: around guest accesses, and of stores that somebody wants to know of; see guard.c.
 */
#ifndef GFXSIM_EXEC_GUARD_H
#define GFXSIM_EXEC_GUARD_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A place to continue at after a host fault. Lives on the stack of the thread that runs waves. */
typedef struct gs_guard {
  sigjmp_buf resume;
  uint64_t address; /* host address that faulted */
} gs_guard_t;

/* The guard of this thread, or NULL where faults are not ours. Process-wide by nature: a signal handler has
 * no other way to find its context. */
extern _Thread_local gs_guard_t *volatile gs_guard_current;

/* Sets it; NULL: none. */
void gs_guard_set(gs_guard_t *guard);

/* Calls `stored` in each thread that stores into [start, start + size), instead of the store, which is
 * dropped when it returns true and else is a fault like any other. The pages must be ones that the host can't
 * write. `stored` runs in the handler of the fault, on the stack of the thread. One watch per process: it
 * replaces the one before. Returns false when stores of this host's processor are not known. */
bool gs_guard_watch(const void *start, size_t size, bool (*stored)(void));
/* Watches more pages, of the same kind, for whoever watches. One caller at a time. Returns false when there
 * is no room. */
bool gs_guard_watch_also(const void *start, size_t size);
/* Ends the watch of all pages. No thread may be storing. */
void gs_guard_unwatch(void);

/* From now on whoever stores into [start, start + size), device or program, waits until gs_guard_release: for
 * bytes that move elsewhere behind their addresses. The caller takes away the right to write after this, and
 * gives it back before the release. One caller at a time. Calls of the kernel that write there do not wait
 * but fail with EFAULT. */
void gs_guard_hold(const void *start, size_t size);
void gs_guard_release(void);

/* Has a fault that nobody handles explained, by its address, before the program ends by it. In the handler,
 * in the thread that is at fault; NULL: nobody does. */
void gs_guard_explain(void (*explain)(uintptr_t address));

/* Length in bytes of the instruction at `code` if it only stores a register or a constant into memory (plain
 * moves and exchanges, whose result nobody needs), else 0. Of x86-64; 0 on other processors. */
size_t gs_guard_store_length(const uint8_t *code);

#endif
