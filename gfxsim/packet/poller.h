/* Watches the queues that have been idle for a while, so that any number of them costs one thread that sleeps
 * nearly always. Doorbells are plain memory: nothing tells the simulator about a submission, so somebody must
 * look. Not here: queues that are busy; their own threads look. */
#ifndef GFXSIM_PACKET_POLLER_H
#define GFXSIM_PACKET_POLLER_H

#include <pthread.h>
#include <stdbool.h>

typedef struct gs_poller gs_poller_t;

/* One parked thread. Embedded in its owner. */
typedef struct gs_parked {
  bool (*pending)(const void *owner); /* has the owner something to do? Called from any thread */
  const void *owner;
  pthread_cond_t wake;
  bool woken;
  struct gs_parked *next;
} gs_parked_t;

/* Makes a poller; its thread starts when something parks. NULL when out of memory. */
gs_poller_t *gs_poller_create(void);
/* Joins the thread. Nothing may be parked. Accepts NULL. */
void gs_poller_destroy(gs_poller_t *poller);

/* Returns 0, or -1 when out of resources. */
int gs_parked_init(gs_parked_t *parked, bool (*pending)(const void *owner), const void *owner)
    __attribute__((warn_unused_result));
void gs_parked_fini(gs_parked_t *parked);

/* A thread that parks now and then enters before, and leaves behind it. As long as one of them is not parked,
 * the poller's own thread seldom wakes: a kernel is running, or the thread helps, and where a thread takes
 * long to wake, it would be in the way of those that work. */
void gs_poller_enter(gs_poller_t *poller);
void gs_poller_leave(gs_poller_t *poller);
/* Puts the calling thread to sleep until parked->pending answers true or gs_poller_wake is called. */
void gs_poller_park(gs_poller_t *poller, gs_parked_t *parked);
/* Wakes it, or makes its next park return at once. */
void gs_poller_wake(gs_poller_t *poller, gs_parked_t *parked);

/* Looks at all parked queues now: for moments when the host has probably submitted something. Cheap when none
 * is. */
void gs_poller_kick(gs_poller_t *poller);
/* The same for a thread that is awake anyway and comes by often, unless somebody is at it. */
void gs_poller_help(gs_poller_t *poller);
/* Notes that the program is active: the poller looks often for a while. Takes no lock unless it was quiet
 * before. */
void gs_poller_note_activity(gs_poller_t *poller);

#endif
