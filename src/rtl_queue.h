/* Queues of libomptarget: the core's streams. */
#ifndef RTL_QUEUE_H
#define RTL_QUEUE_H

#include "omptarget_amdgpu_plugin.h"

#include "openmp/context.h"
#include "stream/stream.h"

#include <hsa/amd_hsa_queue.h>

/* The stream of a queue object, or NULL. Queue of an object is NULL, or a stream, which ATMI_POOL_SKEW keeps
 * from being aligned, or in an interop object an HSA queue, which is the program's and aligned: it is the
 * beginning of an amd_queue_t. */
static inline atmi_stream_t *rtl_queue_held(const __tgt_async_info *queue) {
  _Static_assert(AMD_QUEUE_ALIGN_BYTES >= ATMI_POOL_ALIGNMENT, "told apart by their alignment");
  return (uintptr_t)queue->Queue % ATMI_POOL_ALIGNMENT ? queue->Queue : NULL;
}

/* Whether there is no queue object that can hold a stream: none at all, or one for interop. What comes with
 * it is to be done at once. */
static inline bool rtl_queue_is_missing(const __tgt_async_info *queue) {
  return !queue || (queue->Queue && !rtl_queue_held(queue));
}

/* Describes that a queue is of another device than the operation; returns ATMI_INVALID. */
atmi_status_t rtl_queue_refuse(const atmi_omp_device_t *device, const atmi_stream_t *stream,
                               const char *operation);

/* The stream of a queue object that can hold one, made on first use. Fails with ATMI_INVALID, described, if
 * it holds one of another device. */
ATMI_MUST_CHECK static inline atmi_status_t rtl_queue_stream(atmi_omp_device_t *device,
                                                             __tgt_async_info *queue, const char *operation,
                                                             atmi_stream_t **stream) {
  *stream = rtl_queue_held(queue);
  if (*stream)
    return (*stream)->device == device->core ? ATMI_OK : rtl_queue_refuse(device, *stream, operation);
  atmi_status_t status = atmi_stream_take(device->core, stream);
  if (!status)
    queue->Queue = *stream;
  return status;
}

/* Waits for the queue's operations and takes its stream back, whichever device it is of; Queue is NULL
 * afterwards whatever happened, but for an interop object, which has none. */
ATMI_MUST_CHECK atmi_status_t rtl_queue_synchronize_all(__tgt_async_info *queue);
ATMI_MUST_CHECK atmi_status_t rtl_queue_synchronize_stream(__tgt_async_info *queue, atmi_stream_t *stream);

ATMI_MUST_CHECK static inline __attribute__((always_inline)) atmi_status_t
rtl_queue_synchronize(__tgt_async_info *queue) {
  atmi_stream_t *stream = rtl_queue_held(queue);
  if (!stream)
    return rtl_queue_synchronize_all(queue);
  if (!atmi_stream_settle_plain(stream))
    return rtl_queue_synchronize_stream(queue, stream);
  atmi_stream_put_idle(stream);
  queue->Queue = NULL;
  return ATMI_OK;
}

/* The same without waiting: ATMI_PENDING leaves the queue as it is. */
ATMI_MUST_CHECK atmi_status_t rtl_queue_query(__tgt_async_info *queue);

/* The stream of a queue, taken from the thread's place if it has none yet. NULL: the general way will do, or
 * find out that it is another device's. */
static inline __attribute__((always_inline)) atmi_stream_t *
rtl_queue_begin(const atmi_context_t *context, int32_t number, __tgt_async_info *queue) {
  atmi_stream_t *stream = rtl_queue_held(queue);
  if (stream)
    return stream->device_number == (uint32_t)number ? stream : NULL;
  return queue->Queue ? NULL : (queue->Queue = atmi_stream_take_own(atmi_context_core(context, number)));
}

/* First half of launching again what was launched before: the stream of the queue, taken from the thread's
 * place if need be. NULL: the general way will do, or find out what is wrong. */
static inline __attribute__((always_inline)) atmi_stream_t *rtl_launch_stream(const atmi_context_t *context,
                                                                              int32_t number,
                                                                              const void *kernel,
                                                                              __tgt_async_info *queue) {
  if (!atmi_context_is_plain(context, number) || !kernel || !queue)
    return NULL;
  return rtl_queue_begin(context, number, queue);
}

/* The same for a copy, which is more often the second of its queue than a launch. What is given for the
 * host's memory may be a device's, or one was lost: the general way knows what to do. */
static inline __attribute__((always_inline)) atmi_stream_t *
rtl_copy_stream(const atmi_context_t *context, int32_t number, const void *host, __tgt_async_info *queue) {
  if (!atmi_context_is_sound(context, number) || !queue ||
      atmi_access_may_be_device(&context->machine.access, host))
    return NULL;
  return rtl_queue_begin(context, number, queue);
}

#endif
