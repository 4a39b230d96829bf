/* Hostcall on a device: a buffer for each queue whose kernels ask for one, and the memory that they allocate
 * through it. */
#ifndef ATMI_HOSTCALL_QUEUE_H
#define ATMI_HOSTCALL_QUEUE_H

#include "atmi_code_object.h"
#include "atmi_queue.h"

/* Whether kernels of the image that have the hidden argument really call: compilers list it for kernels that
 * only might. */
bool atmi_hostcall_is_used(const atmi_code_object_t *object);

/* Gives the queue a buffer unless it has one. Thread-safe. Fails, described, with ATMI_NO_MEMORY. */
ATMI_MUST_CHECK atmi_status_t atmi_hostcall_prepare(atmi_queue_t *queue);

/* Releases all buffers of a device. Its queues are gone. */
void atmi_hostcall_release(atmi_device_t *device);

#endif
