/* See hold.h. A program with one thread that launches pays for it and gains nothing, so that has a limit. */
#include "check/hold.h"

#include "base/condition.h"

/* A thread that is about to launch does so within the first time, unless the machine is busy. In vain a
 * program loses two thirds of a second, and then 20 us for each kernel. */
enum { LONG_NS = 20000000, MOST_LONG = 16, SHORT_NS = 5000000, MOST_VAIN = 80, THEN_EACH = 256 };

void gs_hold_init(gs_hold_t *hold, bool wanted) {
  hold->wanted = wanted && gs_condition_init(&hold->came) == 0;
  if (hold->wanted)
    pthread_mutex_init(&hold->lock, NULL);
}

void gs_hold_fini(gs_hold_t *hold) {
  if (!hold->wanted)
    return;
  pthread_cond_destroy(&hold->came);
  pthread_mutex_destroy(&hold->lock);
}

void gs_hold_begins(gs_hold_t *hold) {
  if (!hold->wanted)
    return;
  pthread_mutex_lock(&hold->lock);
  hold->begun++;
  pthread_cond_broadcast(&hold->came);
  pthread_mutex_unlock(&hold->lock);
}

void gs_hold_back(gs_hold_t *hold) {
  if (!hold->wanted)
    return;
  pthread_mutex_lock(&hold->lock);
  const uint64_t begun = hold->begun;
  const struct timespec until = gs_condition_deadline(hold->vain < MOST_LONG ? LONG_NS : SHORT_NS);
  if (hold->vain < MOST_VAIN || ++hold->turn % THEN_EACH == 0) {
    while (hold->begun == begun && pthread_cond_timedwait(&hold->came, &hold->lock, &until) == 0)
      ;
    hold->vain = hold->begun == begun ? hold->vain + 1 : 0;
  }
  pthread_mutex_unlock(&hold->lock);
}
