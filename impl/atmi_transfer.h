/* Copies between the user's memory and devices. Small ones go through pinned staging memory of the stream;
 * for large ones the user's pages are locked, and mapped memory stays so for later copies. All are operations
 * of a stream, see atmi_stream.h. */
#ifndef ATMI_TRANSFER_H
#define ATMI_TRANSFER_H

#include "atmi_stream.h"

#include <string.h>

/* What copies are called in messages. */
extern const char atmi_transfer_submits[], atmi_transfer_retrieves[];

/* atmi_transfer_submit and atmi_transfer_retrieve, whatever is copied: what is given for the host's memory
 * may be a device's. */
ATMI_MUST_CHECK atmi_status_t atmi_transfer_submit_any(atmi_stream_t *stream, void *device_memory,
                                                       const void *host, size_t bytes);
ATMI_MUST_CHECK atmi_status_t atmi_transfer_retrieve_any(atmi_stream_t *stream, void *host,
                                                         const void *device_memory, size_t bytes);

/* Whether a copy can go through the stream's slot, once the stream is idle. */
static inline bool atmi_transfer_fits_slot(const atmi_stream_t *stream, const void *host, size_t bytes) {
  return host && bytes - 1 < stream->slot_bytes && !atmi_device_is_lost(stream->device);
}

/* Host to device. The user's memory must stay as it is until the stream was synchronised. Waits for the
 * stream only if an earlier operation of it has yet to write that memory. */
ATMI_MUST_CHECK static inline __attribute__((always_inline)) atmi_status_t
atmi_transfer_submit(atmi_stream_t *stream, void *device_memory, const void *host, size_t bytes) {
  if (!atmi_transfer_fits_slot(stream, host, bytes) || !atmi_stream_settle_plain(stream))
    return atmi_transfer_submit_any(stream, device_memory, host, bytes);
  const atmi_device_t *device = stream->device;
  memcpy(stream->slot, host, bytes);
  return atmi_stream_copy_by_slot(stream, 0, atmi_transfer_submits, device_memory, device->agent,
                                  stream->slot, device->machine->cpu, bytes);
}

/* Device to host. The user's memory has the bytes once the stream was synchronised. */
ATMI_MUST_CHECK static inline __attribute__((always_inline)) atmi_status_t
atmi_transfer_retrieve(atmi_stream_t *stream, void *host, const void *device_memory, size_t bytes) {
  if (!atmi_transfer_fits_slot(stream, host, bytes) ||
      !(atmi_stream_settle_plain(stream) || atmi_stream_settle_copy(stream)))
    return atmi_transfer_retrieve_any(stream, host, device_memory, bytes);
  const atmi_device_t *device = stream->device;
  stream->operations->after.host = host;
  stream->operations->after.bytes = bytes;
  stream->operations->after.staged = stream->slot;
  return atmi_stream_copy_by_slot(stream, ATMI_OWES_BYTES | ATMI_OWES_RESULT, atmi_transfer_retrieves,
                                  stream->slot, device->machine->cpu, device_memory, device->agent, bytes);
}

/* Writes a few bytes of host memory to the device at once, whatever its streams are doing: for memory that
 * none of their operations uses. */
ATMI_MUST_CHECK atmi_status_t atmi_transfer_write_now(const atmi_device_t *device, void *device_memory,
                                                      const void *host, size_t bytes);

#endif
