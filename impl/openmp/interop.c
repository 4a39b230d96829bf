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

/* A packet that completes when those before it have. */
static atmi_status_t put_barrier(atmi_queue_t *queue, atmi_signal_t *done) {
  uint64_t index;
  atmi_status_t status = atmi_queue_claim(queue, &index);
  if (status)
    return status;
  hsa_barrier_and_packet_t *packet = atmi_queue_slot(queue, index);
  atmi_packet_fill_barrier(NULL, 0, done->hsa, packet);
  atmi_queue_note(queue, index, NULL, done);
  atmi_queue_publish(queue, index, packet, atmi_packet_header(HSA_PACKET_TYPE_BARRIER_AND, true, 0));
  return ATMI_OK;
}

atmi_status_t atmi_interop_wait(atmi_omp_device_t *device) {
  static const char operation[] = "wait for an interop queue";
  atmi_device_t *core = device->core;
  atmi_signal_t *done;
  if (atmi_device_is_lost(core))
    return atmi_device_refuse(core, operation);
  atmi_status_t status = atmi_signal_take(&core->signals, &done);
  if (status)
    return status;
  atmi_signal_begin(done);
  status = put_barrier(&device->interop->queue, done);
  if (status)
    atmi_signal_cancel(done);
  else
    status = atmi_signal_wait(done, 0);
  if (status != ATMI_LOST) /* else the device may still count it down */
    atmi_signal_unref(done);
  return status ? atmi_device_refuse(core, operation) : ATMI_OK;
}

void atmi_interop_release(atmi_omp_device_t *device) {
  if (!device->interop)
    return;
  atmi_queue_fini(&device->interop->queue);
  free(device->interop);
  device->interop = NULL;
}
