/* The thread that looks after parked queues. How often it looks depends on how long ago anything happened:
 * within a sixty-fourth of the time that the program has been quiet, between 100 us and 50 ms; and once per
 * millisecond while threads of other queues are awake. */
#include "packet/poller.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "base/condition.h"
#include "base/thread.h"

enum {
  SHORTEST_PERIOD_NS = 100 * 1000,
  LONGEST_PERIOD_NS = 50 * 1000 * 1000,
  HELPED_PERIOD_NS = 1000 * 1000,
  QUIET_PER_PERIOD = 64,
};

struct gs_poller {
  pthread_mutex_t lock;
  pthread_cond_t changed; /* wakes the poller's own thread */
  gs_parked_t *parked;
  unsigned awake; /* threads that would help */
  _Atomic(uint32_t) parked_count;
  _Atomic(uint64_t) last_activity; /* nanoseconds of CLOCK_MONOTONIC */
  pthread_t thread;
  bool started;
  bool stop;
  atomic_bool slow; /* the thread sleeps for a long period */
};

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

gs_poller_t *gs_poller_create(void) {
  gs_poller_t *poller = calloc(1, sizeof *poller);
  if (!poller)
    return NULL;
  if (pthread_mutex_init(&poller->lock, NULL))
    goto no_lock;
  if (gs_condition_init(&poller->changed))
    goto no_condition;
  return poller;
no_condition:
  pthread_mutex_destroy(&poller->lock);
no_lock:
  free(poller);
  return NULL;
}

void gs_poller_destroy(gs_poller_t *poller) {
  if (!poller)
    return;
  pthread_mutex_lock(&poller->lock);
  poller->stop = true;
  pthread_cond_signal(&poller->changed);
  pthread_mutex_unlock(&poller->lock);
  if (poller->started)
    pthread_join(poller->thread, NULL);
  pthread_cond_destroy(&poller->changed);
  pthread_mutex_destroy(&poller->lock);
  free(poller);
}

int gs_parked_init(gs_parked_t *parked, bool (*pending)(const void *owner), const void *owner) {
  *parked = (gs_parked_t){.pending = pending, .owner = owner};
  return gs_condition_init(&parked->wake);
}

void gs_parked_fini(gs_parked_t *parked) {
  pthread_cond_destroy(&parked->wake);
}

/* Wakes everyone who has something to do. With the lock held. */
static void look(gs_poller_t *poller) {
  for (gs_parked_t *parked = poller->parked; parked; parked = parked->next) {
    if (!parked->woken && parked->pending(parked->owner)) {
      parked->woken = true;
      pthread_cond_signal(&parked->wake);
    }
  }
}

static uint64_t period_ns(const gs_poller_t *poller, uint64_t now) {
  const uint64_t last = atomic_load_explicit(&poller->last_activity, memory_order_relaxed);
  const uint64_t period = now > last ? (now - last) / QUIET_PER_PERIOD : 0;
  if (period < SHORTEST_PERIOD_NS)
    return SHORTEST_PERIOD_NS;
  return period < LONGEST_PERIOD_NS ? period : LONGEST_PERIOD_NS;
}

static void *poller_main(void *argument) {
  gs_poller_t *poller = argument;
  pthread_mutex_lock(&poller->lock);
  while (!poller->stop) {
    if (!poller->parked) {
      pthread_cond_wait(&poller->changed, &poller->lock);
      continue;
    }
    look(poller);
    const uint64_t period = period_ns(poller, now_ns());
    const struct timespec deadline =
        gs_condition_deadline(poller->awake && period < HELPED_PERIOD_NS ? HELPED_PERIOD_NS : period);
    atomic_store_explicit(&poller->slow, period > 5 * SHORTEST_PERIOD_NS, memory_order_relaxed);
    pthread_cond_timedwait(&poller->changed, &poller->lock, &deadline);
  }
  pthread_mutex_unlock(&poller->lock);
  return NULL;
}

/* With the lock held. Returns false when the system has no thread for us. */
static bool ensure_thread(gs_poller_t *poller) {
  if (!poller->started && gs_thread_start(&poller->thread, "gfxsim-poller", poller_main, poller) == 0)
    poller->started = true;
  return poller->started;
}

void gs_poller_enter(gs_poller_t *poller) {
  pthread_mutex_lock(&poller->lock);
  poller->awake++;
  pthread_mutex_unlock(&poller->lock);
}

void gs_poller_leave(gs_poller_t *poller) {
  pthread_mutex_lock(&poller->lock);
  poller->awake--;
  pthread_mutex_unlock(&poller->lock);
}

void gs_poller_park(gs_poller_t *poller, gs_parked_t *parked) {
  pthread_mutex_lock(&poller->lock);
  if (ensure_thread(poller)) {
    poller->awake--;
    if (!poller->parked)
      pthread_cond_signal(&poller->changed);
    parked->next = poller->parked;
    poller->parked = parked;
    atomic_fetch_add_explicit(&poller->parked_count, 1, memory_order_relaxed);
    /* A submission between the caller's last look and now is found by the poller's next look. */
    while (!parked->woken)
      pthread_cond_wait(&parked->wake, &poller->lock);
    gs_parked_t **link = &poller->parked;
    while (*link != parked)
      link = &(*link)->next;
    *link = parked->next;
    poller->awake++;
    atomic_fetch_sub_explicit(&poller->parked_count, 1, memory_order_relaxed);
  }
  parked->woken = false;
  pthread_mutex_unlock(&poller->lock);
  gs_poller_note_activity(poller);
}

void gs_poller_wake(gs_poller_t *poller, gs_parked_t *parked) {
  pthread_mutex_lock(&poller->lock);
  parked->woken = true;
  pthread_cond_signal(&parked->wake);
  pthread_mutex_unlock(&poller->lock);
}

void gs_poller_kick(gs_poller_t *poller) {
  if (!atomic_load_explicit(&poller->parked_count, memory_order_relaxed))
    return;
  pthread_mutex_lock(&poller->lock);
  look(poller);
  pthread_mutex_unlock(&poller->lock);
}

void gs_poller_help(gs_poller_t *poller) {
  if (!atomic_load_explicit(&poller->parked_count, memory_order_relaxed) ||
      pthread_mutex_trylock(&poller->lock))
    return;
  look(poller);
  pthread_mutex_unlock(&poller->lock);
}

void gs_poller_note_activity(gs_poller_t *poller) {
  atomic_store_explicit(&poller->last_activity, now_ns(), memory_order_relaxed);
  /* A busy program after a long silence: the poller's long nap is over as well. */
  if (!atomic_load_explicit(&poller->slow, memory_order_relaxed))
    return;
  pthread_mutex_lock(&poller->lock);
  pthread_cond_signal(&poller->changed);
  pthread_mutex_unlock(&poller->lock);
}
