/* Hostcall on a device: a buffer for each queue whose kernels ask for one, and the memory that they allocate
 * through it. */
#ifndef ATMI_SERVICES_HOSTCALL_QUEUE_H
#define ATMI_SERVICES_HOSTCALL_QUEUE_H

#include "device/queue.h"

/* Gives the queue a buffer unless it has one. Thread-safe. Fails, described, with ATMI_NO_MEMORY. */
ATMI_MUST_CHECK atmi_status_t atmi_hostcall_prepare(atmi_queue_t *queue);

/* Releases all buffers of a device. Its queues are gone. */
void atmi_hostcall_release(atmi_device_t *device);

#endif
