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

/* The first way of both, tried before the general one: a stream at rest with nothing left to do copies by its
 * own signal through its slot, which is free then. False, and nothing has happened, if it is not, `bytes` is
 * 0, or they do not fit. */
static inline __attribute__((always_inline)) bool atmi_transfer_submit_at_rest(atmi_stream_t *stream,
                                                                               void *device_memory,
                                                                               const void *host, size_t bytes,
                                                                               atmi_status_t *status) {
  if (bytes - 1 >= stream->slot_bytes || !atmi_stream_is_done(stream))
    return false;
  memcpy(stream->slot, host, bytes);
  const atmi_device_t *device = stream->device;
  atmi_signal_begin_again(stream->own);
  *status = atmi_stream_copy_by_own(stream, device_memory, device->agent, stream->slot, device->machine->cpu,
                                    bytes, atmi_transfer_submits);
  return true;
}

/* If the copy is not complete at once, moving the bytes to their place is left as a duty. */
static inline __attribute__((always_inline)) bool
atmi_transfer_retrieve_at_rest(atmi_stream_t *stream, void *host, const void *device_memory, size_t bytes,
                               atmi_status_t *status) {
  if (bytes - 1 >= stream->slot_bytes || !atmi_stream_is_done(stream))
    return false;
  const atmi_device_t *device = stream->device;
  atmi_signal_begin_again(stream->own);
  *status = atmi_stream_copy_by_own(stream, stream->slot, device->machine->cpu, device_memory, device->agent,
                                    bytes, atmi_transfer_retrieves);
  if (*status)
    return true;
  if (atmi_stream_is_done(stream))
    memcpy(host, stream->slot, bytes);
  else
    /* Where there is a slot, there is room for a duty. */
    atmi_stream_add_duty(stream, &(atmi_stream_duty_t){.kind = ATMI_DUTY_COPY_OUT,
                                                       .writes_host = true,
                                                       .host = host,
                                                       .bytes = bytes,
                                                       .resource = stream->slot});
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
