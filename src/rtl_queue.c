/* Queues of libomptarget as streams. */
#include "rtl_queue.h"

atmi_status_t rtl_queue_refuse(const atmi_omp_device_t *device, const atmi_stream_t *stream,
                               const char *operation) {
  return atmi_fail(ATMI_INVALID, device->core->label, "cannot %s: the queue is of %s", operation,
                   stream->device->label);
}

static __attribute__((noinline)) atmi_status_t wait_for(__tgt_async_info *queue, atmi_stream_t *stream) {
  atmi_status_t status = atmi_stream_synchronize(stream);
  atmi_stream_put_idle(stream);
  queue->Queue = NULL;
  return status;
}

/* Mostly what it has done is a retrieve of a few bytes. */
atmi_status_t rtl_queue_synchronize_stream(__tgt_async_info *queue, atmi_stream_t *stream) {
  if (!atmi_stream_settle_copy(stream))
    return wait_for(queue, stream);
  atmi_stream_put_idle(stream);
  queue->Queue = NULL;
  return ATMI_OK;
}

atmi_status_t rtl_queue_synchronize_all(__tgt_async_info *queue) {
  atmi_stream_t *stream = rtl_queue_held(queue);
  return stream ? wait_for(queue, stream) : ATMI_OK;
}

atmi_status_t rtl_queue_query(__tgt_async_info *queue) {
  atmi_stream_t *stream = rtl_queue_held(queue);
  if (!stream)
    return ATMI_OK;
  atmi_status_t status = atmi_stream_query(stream);
  if (status == ATMI_PENDING)
    return status;
  atmi_stream_put(stream);
  queue->Queue = NULL;
  return status;
}
