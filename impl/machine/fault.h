/* Faults of a device: what is said about them, and what becomes of the device. Called from HSA's callback
 * threads. */
#ifndef ATMI_MACHINE_FAULT_H
#define ATMI_MACHINE_FAULT_H

#include "device/machine.h"
#include "device/queue.h"

/* A queue went into error. Names the kernel and the reason in one line and gives the device up. */
void atmi_fault_report_queue_error(atmi_queue_t *queue, hsa_status_t status);

/* A device does not answer, and nobody reports its faults (see machine/watch.h): says so and gives it up. */
void atmi_fault_report_silence(atmi_device_t *device);

/* For hsa_amd_register_system_event_handler, with the machine as data. Memory faults and resets of one of our
 * devices: names kernel, address and nearest allocation, as far as they are known, and gives the device up.
 * Memory that cannot be freed: says so. Answers HSA_STATUS_SUCCESS for our devices, which keeps ROCr from
 * aborting the process, and an error for others and for events it does not know. */
hsa_status_t atmi_fault_on_system_event(const hsa_amd_event_t *event, void *machine);

#endif
