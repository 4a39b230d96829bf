/* The object for "omp interop". */
#include "rtl_interop.h"

#include <stdlib.h>

enum { INTEROP_PACKETS = 256 };

/* Libomptarget 18 thinks that the object is 56 bytes long and may read them. */
typedef struct rtl_interop {
  union {
    __tgt_async_info info;
    char room[64];
  } object;
  atmi_queue_t queue; /* apart from those of streams, which the program's packets would hold up */
} rtl_interop_t;

static atmi_status_t make(rtl_device_t *device, rtl_interop_t **result) {
  atmi_device_t *core = device->core;
  if (atmi_device_is_lost(core))
    return atmi_device_refuse(core, "make an interop queue");
  rtl_interop_t *made = calloc(1, sizeof *made);
  if (!made)
    return atmi_fail(ATMI_NO_MEMORY, core->label, "cannot make an interop queue: out of host memory");
  atmi_status_t status = atmi_queue_init(core, INTEROP_PACKETS, &made->queue);
  if (status) {
    free(made);
    return status;
  }
  made->object.info.Queue = made->queue.hsa;
  *result = made;
  return ATMI_OK;
}

atmi_status_t rtl_interop_queue(rtl_plugin_t *plugin, rtl_device_t *device, __tgt_async_info **queue) {
  pthread_mutex_lock(&plugin->lock);
  atmi_status_t status = device->interop ? ATMI_OK : make(device, &device->interop);
  if (!status)
    *queue = &device->interop->object.info;
  pthread_mutex_unlock(&plugin->lock);
  return status;
}

void rtl_interop_release(rtl_device_t *device) {
  if (!device->interop)
    return;
  atmi_queue_fini(&device->interop->queue);
  free(device->interop);
  device->interop = NULL;
}
