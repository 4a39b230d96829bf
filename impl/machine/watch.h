/* Whether devices still answer once nobody reports their memory faults: ROCr reports the first one of a
 * process and no other, and what waits for a device that faults later would wait for ever. Not here: faults
 * that are reported (machine/fault). */
#ifndef ATMI_MACHINE_WATCH_H
#define ATMI_MACHINE_WATCH_H

#include "device/device.h"

typedef struct atmi_watch atmi_watch_t;

/* Costs nothing until it begins. NULL without host memory. Nothing may be watched any more when it is
 * destroyed (atmi_watch_end); NULL is accepted there. */
atmi_watch_t *atmi_watch_create(void);
void atmi_watch_destroy(atmi_watch_t *watch);

/* From now on a thread puts a packet into a queue of its own on each device that has work, twice a second,
 * and gives up a device that does not take it for env->fault_patience_s seconds: the driver takes all queues
 * of a process off a device that faults, and a device that is only busy takes packets of another queue.
 * Idempotent; does nothing once it was ended, or with a patience of 0. `why` lives as long as the machine.
 * Any thread. */
void atmi_watch_begin(atmi_machine_t *machine, const char *why);

/* Ends it for good and waits for its thread, which may be reporting a fault: the caller must not hold the
 * machine's lock of faults. HSA must still be there. Idempotent; nothing on a machine
 * that has no watch. */
void atmi_watch_end(atmi_machine_t *machine);

/* Why faults are not seen: the `why` of atmi_watch_begin; NULL before. */
const char *atmi_watch_reason(const atmi_machine_t *machine);

#endif
