/* Whether devices still answer once nobody reports their memory faults: ROCr reports the first one of a
 * process and no other, and what waits for a device that faults later would wait for ever. Not here: faults
 * that are reported (atmi_fault). */
#ifndef ATMI_WATCH_H
#define ATMI_WATCH_H

#include <pthread.h>
#include <stdbool.h>

typedef struct atmi_machine atmi_machine_t;

/* Costs nothing until it begins. */
typedef struct atmi_watch {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  pthread_t thread;
  bool running; /* there is a thread to join; guarded by lock, as is the next */
  bool ending;
  const char *why; /* faults are not seen; for the message about a device that does not answer */
} atmi_watch_t;

void atmi_watch_init(atmi_watch_t *watch);
/* Nothing may be watched any more (atmi_watch_end). */
void atmi_watch_fini(atmi_watch_t *watch);

/* From now on a thread puts a packet into a queue of its own on each device that has work, twice a second,
 * and gives up a device that does not take it for env->fault_patience_s seconds: the driver takes all queues
 * of a process off a device that faults, and a device that is only busy takes packets of another queue.
 * Idempotent; does nothing once it was ended, or with a patience of 0. `why` lives as long as the machine.
 * Any thread. */
void atmi_watch_begin(atmi_machine_t *machine, const char *why);

/* Ends it for good and waits for its thread, which may be reporting a fault: the caller must not hold the
 * machine's lock of faults. HSA must still be there. Idempotent. */
void atmi_watch_end(atmi_machine_t *machine);

#endif
