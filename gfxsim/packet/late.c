/* The sleeping of processors that are late. */
#include "packet/late.h"

#include <time.h>

static void sleep_ns(uint64_t ns) {
  const struct timespec pause = {.tv_nsec = (long)ns};
  if (ns)
    nanosleep(&pause, NULL);
}

void gs_late_sleep(gs_late_t *late, uint32_t kind) {
  if (late->order & kind)
    sleep_ns(gs_random_delay_ns(&late->random));
}

void gs_late_sleep_surely(gs_late_t *late, uint32_t kind) {
  if (late->order & kind)
    sleep_ns(1000 + gs_random_delay_ns(&late->random));
}
