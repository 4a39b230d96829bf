/* Objects for "omp interop". */
#include "rtl_interop.h"

#include <stdlib.h>

/* Libomptarget 18 thinks that the object is 56 bytes long and may read them. */
typedef struct rtl_interop_queue {
  union {
    __tgt_async_info info;
    char room[64];
  } object;
  struct rtl_interop_queue *next;
} rtl_interop_queue_t;

atmi_status_t rtl_interop_make_queue(rtl_plugin_t *plugin, rtl_device_t *device, __tgt_async_info **queue) {
  rtl_interop_queue_t *made = calloc(1, sizeof *made);
  if (!made)
    return atmi_fail(ATMI_NO_MEMORY, device->core->label, "cannot make an interop queue: out of host memory");
  atmi_stream_t *stream;
  atmi_status_t status = atmi_stream_take(device->core, &stream);
  if (status) {
    free(made);
    return status;
  }
  made->object.info.Queue = stream;
  pthread_mutex_lock(&plugin->lock);
  made->next = device->interop_queues;
  device->interop_queues = made;
  pthread_mutex_unlock(&plugin->lock);
  *queue = &made->object.info;
  return ATMI_OK;
}

void rtl_interop_release(rtl_device_t *device) {
  while (device->interop_queues) {
    rtl_interop_queue_t *queue = device->interop_queues;
    device->interop_queues = queue->next;
    if (queue->object.info.Queue)
      atmi_stream_put(queue->object.info.Queue);
    free(queue);
  }
}
