/* The list of queues, its lock, and the thread that helps packets which wait. */
#include "packet/synchronous.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/log.h"
#include "base/thread.h"

enum { SHORTEST_NAP_NS = 100 * 1000, LONGEST_NAP_NS = 10 * 1000 * 1000 };

struct gs_synchronous {
  pthread_mutex_t lock;
  pthread_cond_t changed; /* wakes the helper */
  gs_synchronous_member_t *members;
  bool waiting; /* a packet waits for memory */
  bool stop;
  bool helped; /* the helper's thread exists */
  _Atomic int no_helper_logged;
  pthread_t helper;
};

gs_synchronous_t *gs_synchronous_create(void) {
  gs_synchronous_t *set = calloc(1, sizeof *set);
  if (!set)
    return NULL;
  if (pthread_mutex_init(&set->lock, NULL))
    goto no_lock;
  if (pthread_cond_init(&set->changed, NULL))
    goto no_condition;
  return set;
no_condition:
  pthread_mutex_destroy(&set->lock);
no_lock:
  free(set);
  return NULL;
}

void gs_synchronous_destroy(gs_synchronous_t *set) {
  if (!set)
    return;
  pthread_mutex_lock(&set->lock);
  set->stop = true;
  pthread_cond_signal(&set->changed);
  pthread_mutex_unlock(&set->lock);
  if (set->helped)
    pthread_join(set->helper, NULL);
  pthread_cond_destroy(&set->changed);
  pthread_mutex_destroy(&set->lock);
  free(set);
}

/* One queue's work may be what another one waits for. With the lock held. */
static bool work_on_all(gs_synchronous_t *set) {
  bool progress = false;
  bool any;
  do {
    any = false;
    set->waiting = false;
    for (gs_synchronous_member_t *member = set->members; member; member = member->next) {
      bool waits = false;
      any |= member->work(member->owner, &waits);
      set->waiting |= waits;
    }
    progress |= any;
  } while (any);
  return progress;
}

static void *helper_main(void *argument) {
  gs_synchronous_t *set = argument;
  long nap = SHORTEST_NAP_NS;
  pthread_mutex_lock(&set->lock);
  while (!set->stop) {
    if (!set->waiting) {
      nap = SHORTEST_NAP_NS;
      pthread_cond_wait(&set->changed, &set->lock);
      continue;
    }
    pthread_mutex_unlock(&set->lock);
    const struct timespec pause = {.tv_nsec = nap};
    nanosleep(&pause, NULL);
    pthread_mutex_lock(&set->lock);
    if (work_on_all(set))
      nap = SHORTEST_NAP_NS;
    else if (nap < LONGEST_NAP_NS)
      nap *= 2;
  }
  pthread_mutex_unlock(&set->lock);
  return NULL;
}

/* With the lock held. */
static void call_helper(gs_synchronous_t *set) {
  if (!set->helped)
    set->helped = gs_thread_start(&set->helper, "gfxsim-sync", helper_main, set) == 0;
  if (!set->helped)
    gs_log_once(&set->no_helper_logged,
                "no thread for packets that wait: they go on when the next one is submitted");
  pthread_cond_signal(&set->changed);
}

void gs_synchronous_run(gs_synchronous_t *set) {
  if (!set)
    return;
  const int saved_errno = errno;
  pthread_mutex_lock(&set->lock);
  work_on_all(set);
  if (set->waiting)
    call_helper(set);
  pthread_mutex_unlock(&set->lock);
  errno = saved_errno;
}

void gs_synchronous_join(gs_synchronous_t *set, gs_synchronous_member_t *member) {
  member->next = NULL;
  pthread_mutex_lock(&set->lock);
  gs_synchronous_member_t **link = &set->members;
  while (*link)
    link = &(*link)->next;
  *link = member;
  pthread_mutex_unlock(&set->lock);
}

void gs_synchronous_leave(gs_synchronous_t *set, gs_synchronous_member_t *member) {
  pthread_mutex_lock(&set->lock);
  gs_synchronous_member_t **link = &set->members;
  while (*link && *link != member)
    link = &(*link)->next;
  if (*link)
    *link = member->next;
  pthread_mutex_unlock(&set->lock);
}
