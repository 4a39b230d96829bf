/* The queue for "omp interop". */
#include "openmp/interop.h"

#include <stdlib.h>

enum { INTEROP_PACKETS = 256 };

typedef struct atmi_interop {
  atmi_queue_t queue; /* apart from those of streams, which the program's packets would hold up */
} atmi_interop_t;

static atmi_status_t make(atmi_omp_device_t *device) {
  atmi_device_t *core = device->core;
  if (atmi_device_is_lost(core))
    return atmi_device_refuse(core, "make an interop queue");
  atmi_interop_t *made = calloc(1, sizeof *made);
  if (!made)
    return atmi_fail(ATMI_NO_MEMORY, core->label, "cannot make an interop queue: out of host memory");
  atmi_status_t status = atmi_queue_init(&core->queue_owner, INTEROP_PACKETS, &made->queue);
  if (status) {
    free(made);
    return status;
  }
  device->interop = made;
  return ATMI_OK;
}

atmi_status_t atmi_interop_queue(atmi_context_t *context, atmi_omp_device_t *device, hsa_queue_t **queue) {
  pthread_mutex_lock(&context->lock);
  atmi_status_t status = device->interop ? ATMI_OK : make(device);
  if (device->interop)
    *queue = device->interop->queue.hsa;
  pthread_mutex_unlock(&context->lock);
  return status;
}

void atmi_interop_release(atmi_omp_device_t *device) {
  if (!device->interop)
    return;
  atmi_queue_fini(&device->interop->queue);
  free(device->interop);
  device->interop = NULL;
}
