/* See condition.h. */
#include "base/condition.h"

bool atmi_condition_init(pthread_cond_t *condition) {
  pthread_condattr_t attributes;
  if (pthread_condattr_init(&attributes))
    return false;
  bool done =
      !pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) && !pthread_cond_init(condition, &attributes);
  pthread_condattr_destroy(&attributes);
  return done;
}

struct timespec atmi_condition_deadline(uint32_t ms) {
  struct timespec then;
  clock_gettime(CLOCK_MONOTONIC, &then);
  then.tv_sec += ms / 1000;
  then.tv_nsec += ms % 1000 * 1000000L;
  then.tv_sec += then.tv_nsec / 1000000000;
  then.tv_nsec %= 1000000000;
  return then;
}
