/* Copies between the user's memory and devices. Small ones go through pinned staging memory of the stream;
 * for large ones the user's pages are locked, and mapped memory stays so for later copies. All are operations
 * of a stream, see atmi_stream.h. */
#ifndef ATMI_TRANSFER_H
#define ATMI_TRANSFER_H

#include "atmi_stream.h"

#include <string.h>

/* Host to device. The user's memory must stay as it is until the stream was synchronised. Waits for the
 * stream only if an earlier operation of it has yet to write that memory. */
ATMI_MUST_CHECK atmi_status_t atmi_transfer_submit(atmi_stream_t *stream, void *device_memory,
                                                   const void *host, size_t bytes);

/* Device to host. The user's memory has the bytes once the stream was synchronised. */
ATMI_MUST_CHECK atmi_status_t atmi_transfer_retrieve(atmi_stream_t *stream, void *host,
                                                     const void *device_memory, size_t bytes);

/* What copies are called in messages. */
extern const char atmi_transfer_submits[], atmi_transfer_retrieves[];

/* The first way of both, tried before the general one: a stream that is done copies by its own signal through
 * its slot, which is free then. False, and nothing has happened, if it is not, `bytes` is 0, or they do not
 * fit, or `host` is NULL. A device that is lost shows by the slot, or else when the stream is synchronised. */
static inline bool atmi_transfer_is_slot_free(const atmi_stream_t *stream, const void *host, size_t bytes) {
  /* Acquire as in atmi_stream_own_is_complete. */
  return host && bytes - 1 < atomic_load_explicit(&stream->slot_bytes, memory_order_relaxed) &&
         stream->phase < ATMI_STREAM_OWING && !__atomic_load_n(stream->own_value, __ATOMIC_ACQUIRE);
}

static inline __attribute__((always_inline)) bool atmi_transfer_submit_by_slot(atmi_stream_t *stream,
                                                                               void *device_memory,
                                                                               const void *host, size_t bytes,
                                                                               atmi_status_t *status) {
  if (!atmi_transfer_is_slot_free(stream, host, bytes))
    return false;
  memcpy(stream->slot, host, bytes);
  const atmi_device_t *device = stream->device;
  atmi_signal_begin_copy(stream->own);
  hsa_status_t hsa = atmi_stream_copy_by_own(stream, device_memory, device->agent, stream->slot,
                                             device->machine->cpu, bytes);
  *status = ATMI_OK;
  if (hsa == HSA_STATUS_SUCCESS)
    stream->phase |= ATMI_STREAM_COPIED;
  else
    *status =
        atmi_stream_copy_refused(stream, hsa, atmi_transfer_submits, bytes, stream->slot, device_memory);
  return true;
}

/* What is left of a retrieve that is not complete, or was refused: the bytes are moved from the slot as a
 * duty.
 */
ATMI_MUST_CHECK atmi_status_t atmi_transfer_retrieve_later(atmi_stream_t *stream, void *host,
                                                           const void *device_memory, size_t bytes,
                                                           hsa_status_t begun);

/* ATMI_OK if the bytes are in their place already, ATMI_PENDING if they will be once the stream was
 * synchronised. */
static inline __attribute__((always_inline)) bool
atmi_transfer_retrieve_by_slot(atmi_stream_t *stream, void *host, const void *device_memory, size_t bytes,
                               atmi_status_t *status) {
  if (!atmi_transfer_is_slot_free(stream, host, bytes))
    return false;
  const atmi_device_t *device = stream->device;
  atmi_signal_begin_copy(stream->own);
  hsa_status_t hsa = atmi_stream_copy_by_own(stream, stream->slot, device->machine->cpu, device_memory,
                                             device->agent, bytes);
  stream->phase |= ATMI_STREAM_COPIED;
  /* Only a device that copies at once, as a simulated one may, is that quick. */
  if (hsa == HSA_STATUS_SUCCESS && atmi_stream_own_is_complete(stream)) {
    memcpy(host, stream->slot, bytes);
    *status = ATMI_OK;
  } else {
    *status = atmi_transfer_retrieve_later(stream, host, device_memory, bytes, hsa);
  }
  return true;
}

/* Writes a few bytes of host memory to the device at once, whatever its streams are doing: for memory that
 * none of their operations uses. */
ATMI_MUST_CHECK atmi_status_t atmi_transfer_write_now(const atmi_device_t *device, void *device_memory,
                                                      const void *host, size_t bytes);

/* The devices' address of host memory that HSA knows already, because it was allocated or locked through it.
 */
bool atmi_transfer_find_pinned(const void *host, size_t bytes, void **address);

/* Whether two devices, or one with itself, can copy without the host. */
bool atmi_transfer_can_exchange(const atmi_device_t *source, const atmi_device_t *destination);

/* From the stream's device to another one, or within it: directly where they can, else through the host. */
ATMI_MUST_CHECK atmi_status_t atmi_transfer_exchange(atmi_stream_t *stream, const void *source,
                                                     atmi_device_t *destination_device, void *destination,
                                                     size_t bytes);

#endif
