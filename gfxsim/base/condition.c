/* See condition.h. */
#include "base/condition.h"

int gs_condition_init(pthread_cond_t *condition) {
  pthread_condattr_t attributes;
  if (pthread_condattr_init(&attributes))
    return -1;
  int status = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  if (!status)
    status = pthread_cond_init(condition, &attributes);
  pthread_condattr_destroy(&attributes);
  return status ? -1 : 0;
}

struct timespec gs_condition_deadline(uint64_t ns) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const uint64_t end = (uint64_t)now.tv_nsec + ns;
  return (struct timespec){.tv_sec = now.tv_sec + (time_t)(end / 1000000000),
                           .tv_nsec = (long)(end % 1000000000)};
}
