/* What the host program does with its memory, seen for a while: a thread that comes back from the runtime
 * executes its next instructions one by one (the processor's trap flag, SIGTRAP), and each of their accesses
 * is told of. Slow, so each place to which a runtime returns has a share of steps and no more. On x86-64; on
 * others nothing is seen. Not here: what instructions access (x86.h), and what is made of it (host_read.h).
 */
#ifndef GFXSIM_CHECK_STEP_H
#define GFXSIM_CHECK_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include "check/x86.h"

enum { GS_STEP_CALLS = 16 };

/* Where an access was. */
typedef struct gs_step_place {
  uint64_t pc;     /* the instruction of the program's own code, or that which called the C library, */
  bool by_library; /* which accesses */
  unsigned calls; /* under way since the runtime returned, the innermost last; no more than these, from the */
  uint64_t call[GS_STEP_CALLS]; /* outermost on */
} gs_step_place_t;

/* Of the program's thread. In a signal handler, anywhere: takes no lock that anybody waits with, allocates
 * nothing. */
typedef void gs_step_see_t(void *context, const gs_host_access_t *access, const gs_step_place_t *place);
/* Likewise: it frees the block of the heap at `address`, or has realloc move it. What the C library does with
 * the block itself is not told of. */
typedef void gs_step_freed_t(void *context, uint64_t address);

/* Who is told, with `context`. */
typedef struct gs_step_eyes {
  gs_step_see_t *see;
  gs_step_freed_t *freed;
  void *context;
} gs_step_eyes_t;

/* The calling thread begins; `runtime` is any address in the code of the runtime that is about to return, to
 * `place` of the program (0: not known), unless the share of that is used up. It
 * ends when the thread comes to the runtime again, or to a system call that changes signals or threads, or
 * when the place's share is used up. The eyes, which are copied, are told until then, or until gs_step_end.
 */
void gs_step_begin(uint64_t runtime, uint64_t place, const gs_step_eyes_t *eyes);
/* The thread is seen no longer. */
void gs_step_end(void);

#endif
