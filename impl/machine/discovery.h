/* The beginning and the end of the machine: HSA, its GPUs, and the parts that each device is joined of. Not
 * here: what happens in between. */
#ifndef ATMI_MACHINE_DISCOVERY_H
#define ATMI_MACHINE_DISCOVERY_H

#include "device/device.h"

/* Initialises HSA and finds its GPUs. `env` must outlive the machine. With no usable GPU or no working HSA
 * the result is ATMI_OK and a machine without devices: that is no error of the program. It is said on stderr
 * only if the driver is there, or when env->debug is set. Fails with ATMI_NO_MEMORY. */
ATMI_MUST_CHECK atmi_status_t atmi_machine_init(const atmi_env_t *env, atmi_machine_t *machine);
/* Whether a set of devices has this one, by its number. The numbers from 64 on are in none. */
static inline bool atmi_machine_in_set(uint64_t devices, uint32_t number) {
  return number < 64 && devices >> number & 1;
}
/* Releases the devices of a set, as if they had not been found; the others get new numbers in the same order.
 * Before anything is asked of any of them. */
void atmi_machine_leave_out(atmi_machine_t *machine, uint64_t devices);
/* Before the first use of a device: listens for faults, and names the rows of the timeline. Once. */
void atmi_machine_begin(atmi_machine_t *machine);
/* Releases all devices with all their resources, then HSA. Accepts a half-made or zeroed machine. */
void atmi_machine_fini(atmi_machine_t *machine);

/* Before anything of the machine is released: waits until a fault that is being reported is done, and lets no
 * other begin; ends the watch. */
void atmi_machine_stop(atmi_machine_t *machine);

#endif
