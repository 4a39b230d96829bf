/* The queue that "omp interop" gives to programs. Not here: anything else that has a queue, and the objects
 * that programs see. */
#ifndef ATMI_OPENMP_INTEROP_H
#define ATMI_OPENMP_INTEROP_H

#include "openmp/context.h"

/* The device's queue for interop, made on first use: an hsa_queue_t, which OpenMP's additional definitions
 * want for the foreign runtime "hsa". The program may put packets of its own into it. All interop objects of
 * a device share it, since some callers give none back. It lives until the context stops. Thread-safe. Fails,
 * described, with ATMI_NO_MEMORY or ATMI_LOST. */
ATMI_MUST_CHECK atmi_status_t atmi_interop_queue(atmi_context_t *context, atmi_omp_device_t *device,
                                                 hsa_queue_t **queue);

/* Waits until all packets that were put into the queue before are complete. The queue must have been asked
 * for, and the context not stop meanwhile. Thread-safe, without a lock. Fails, described, with ATMI_NO_MEMORY
 * or ATMI_LOST. */
ATMI_MUST_CHECK atmi_status_t atmi_interop_wait(atmi_omp_device_t *device);

/* Releases it, if there is one. The caller holds the context's lock. */
void atmi_interop_release(atmi_omp_device_t *device);

#endif
