/* Queues without threads of their own: whoever rings a doorbell processes what was submitted, before the
 * store to the doorbell returns. Nothing then depends on when which thread runs, so that instruction counts
 * of a program repeat. Not here: how the store is noticed (exec/guard.h), and the threads of other runs
 * (queue.h). */
#ifndef GFXSIM_PACKET_SYNCHRONOUS_H
#define GFXSIM_PACKET_SYNCHRONOUS_H

#include <stdbool.h>

/* The queues of all GPUs. */
typedef struct gs_synchronous gs_synchronous_t;

/* One queue among them. Embedded in its owner. */
typedef struct gs_synchronous_member {
  /* Processes what there is. Returns true if that was anything, and in *waits whether a packet now waits for
   * memory to change. One call at a time among all members. */
  bool (*work)(void *owner, bool *waits);
  void *owner;
  struct gs_synchronous_member *next;
} gs_synchronous_member_t;

/* NULL when out of memory. */
gs_synchronous_t *gs_synchronous_create(void);
/* There may be no members. Accepts NULL. */
void gs_synchronous_destroy(gs_synchronous_t *set);

/* Adds a queue, or takes it out; afterwards nobody works on it. Thread-safe. */
void gs_synchronous_join(gs_synchronous_t *set, gs_synchronous_member_t *member);
void gs_synchronous_leave(gs_synchronous_t *set, gs_synchronous_member_t *member);

/* Works on all queues, in the order in which they joined, until none has anything left to do. When packets
 * still wait for the program then, a thread looks after them from time to time: a program that never comes
 * back here (it spins on a signal) must not wait for ever. Thread-safe, also from the handler of a fault
 * outside of gfxsim; accepts NULL. */
void gs_synchronous_run(gs_synchronous_t *set);

#endif
