/* Copies between the user's memory and devices. Small ones go through pinned staging memory of the stream;
 * for large ones the user's pages are locked, and mapped memory stays so for later copies. All are operations
 * of a stream, see stream/stream.h. */
#ifndef ATMI_STREAM_TRANSFER_H
#define ATMI_STREAM_TRANSFER_H

#include "stream/stream.h"

#include <string.h>

/* What copies are called in messages. */
extern const char atmi_transfer_submits[], atmi_transfer_retrieves[];

/* Host to device. The user's memory must stay as it is until the stream was synchronised. Waits for the
 * stream only if an earlier operation of it has yet to write that memory. What is given for the host's memory
 * may be a device's. */
ATMI_MUST_CHECK atmi_status_t atmi_transfer_submit(atmi_stream_t *stream, void *device_memory,
                                                   const void *host, size_t bytes);

/* Host to device, of a few bytes that are copied before this returns: at most ATMI_TRANSFER_VALUE_BYTES. */
enum { ATMI_TRANSFER_VALUE_BYTES = 256 };
ATMI_MUST_CHECK atmi_status_t atmi_transfer_submit_value(atmi_stream_t *stream, void *device_memory,
                                                         const void *value, size_t bytes);

/* Device to host. The user's memory has the bytes once the stream was synchronised. As above. */
ATMI_MUST_CHECK atmi_status_t atmi_transfer_retrieve(atmi_stream_t *stream, void *host,
                                                     const void *device_memory, size_t bytes);

/* ---- several by one copy ----
 * What a copy costs on a card is mostly its beginning. So who has several small ones, of memory that lies
 * together on the device, makes one of them. The host's ends are the host's own memory. */

enum { ATMI_TRANSFER_PIECES_BYTES = 48 << 10, ATMI_TRANSFER_PIECES = 256 }; /* the most of one copy */

/* Staging memory for `bytes`, to be filled and passed on by atmi_transfer_submit_staged before anything else
 * is done with the stream. Waits for the stream if that has yet to write to the host's memory, which the
 * caller is going to read. Fails, described, as copies do. */
ATMI_MUST_CHECK atmi_status_t atmi_transfer_stage(atmi_stream_t *stream, size_t bytes, void **staged);
ATMI_MUST_CHECK atmi_status_t atmi_transfer_submit_staged(atmi_stream_t *stream, void *device_memory,
                                                          const void *staged, size_t bytes);

/* Device to host: `bytes` in one copy, of which each piece, all of it within these, is where it belongs once
 * the stream was synchronised. The list is the caller's again when this returns. */
ATMI_MUST_CHECK atmi_status_t atmi_transfer_retrieve_pieces(atmi_stream_t *stream, const void *device_memory,
                                                            size_t bytes, const atmi_piece_t *pieces,
                                                            uint32_t count);

/* ---- first ways ---- */

/* Whether the page of the last of these bytes is one of those (`readable` or `writable`, of a stream) that
 * the kernel was asked for already. What is not there, or is constant, must not crash the program in this
 * library: each page is asked for once, in the general way, as long as it is among the last that were used.
 */
static inline bool atmi_transfer_knows(const uintptr_t pages[ATMI_STREAM_PAGES], const void *host,
                                       size_t bytes) {
  uintptr_t page = ((uintptr_t)host + bytes - 1) / ATMI_STREAM_PAGE_BYTES;
  return __builtin_expect(pages[page % ATMI_STREAM_PAGES] == page, 1);
}

/* Whether a copy can go through the stream's slot, once the stream is idle. */
static inline bool atmi_transfer_fits_slot(const atmi_stream_t *stream, const void *host, size_t bytes) {
  return host && bytes - 1 < stream->slot_bytes;
}

/* Says that HSA refused a copy by the slot, whose other end is `memory`, and takes back that it began. */
atmi_status_t atmi_transfer_slot_refused(atmi_stream_t *stream, hsa_status_t hsa, const void *memory,
                                         size_t bytes);

/* Copies by the slot of an idle stream. The caller knows that it fits, that `host` is the host's memory
 * (atmi_access_may_be_device), and that the device was not lost a moment ago; what is submitted he has put
 * into the slot. */
ATMI_MUST_CHECK static inline __attribute__((always_inline)) atmi_status_t
atmi_transfer_submit_slot(atmi_stream_t *stream, void *device_memory, size_t bytes) {
  atmi_signal_t *signal = atmi_stream_begin_slot(stream->operations, 0);
  stream->count = 1;
  hsa_status_t hsa = hsa_amd_memory_async_copy(device_memory, stream->agent, stream->slot, stream->cpu, bytes,
                                               0, NULL, signal->hsa);
  return hsa == HSA_STATUS_SUCCESS ? ATMI_OK : atmi_transfer_slot_refused(stream, hsa, device_memory, bytes);
}

ATMI_MUST_CHECK static inline __attribute__((always_inline)) atmi_status_t
atmi_transfer_retrieve_slot(atmi_stream_t *stream, void *host, const void *device_memory, size_t bytes) {
  atmi_operation_t *operation = stream->operations;
  void *slot = stream->slot;
  operation->after.host = host;
  operation->after.bytes = bytes;
  operation->after.staged = slot;
  atmi_signal_t *signal = atmi_stream_begin_slot(operation, ATMI_OWES_BYTES | ATMI_OWES_RESULT);
  stream->count = 1;
  stream->owes = ATMI_OWES_BYTES | ATMI_OWES_RESULT;
  hsa_status_t hsa =
      hsa_amd_memory_async_copy(slot, stream->cpu, device_memory, stream->agent, bytes, 0, NULL, signal->hsa);
  return hsa == HSA_STATUS_SUCCESS ? ATMI_OK : atmi_transfer_slot_refused(stream, hsa, device_memory, bytes);
}

/* The first way of copying from the host to the device, tried before the general one: a few bytes, by the
 * slot, if the stream is idle or what it did last is complete and simple. False, and nothing has happened, if
 * not. The caller knows that `host` is the host's memory (atmi_access_may_be_device), and that the device was
 * not lost a moment ago. */
static inline __attribute__((always_inline)) bool atmi_transfer_submit_small(atmi_stream_t *stream,
                                                                             void *device_memory,
                                                                             const void *host, size_t bytes,
                                                                             atmi_status_t *status) {
  if (!atmi_transfer_fits_slot(stream, host, bytes) || !atmi_transfer_knows(stream->readable, host, bytes) ||
      !atmi_stream_has_ended_plainly(stream))
    return false;
  memcpy(stream->slot, host, bytes);
  *status = atmi_transfer_submit_slot(stream, device_memory, bytes);
  return true;
}

/* The same from the device to the host. */
static inline __attribute__((always_inline)) bool
atmi_transfer_retrieve_small(atmi_stream_t *stream, void *host, const void *device_memory, size_t bytes,
                             atmi_status_t *status) {
  if (!atmi_transfer_fits_slot(stream, host, bytes) || !atmi_transfer_knows(stream->writable, host, bytes) ||
      !(atmi_stream_settle_plain(stream) || atmi_stream_settle_copy(stream)))
    return false;
  *status = atmi_transfer_retrieve_slot(stream, host, device_memory, bytes);
  return true;
}

/* Ends such a retrieve, which has just begun, if its signal is complete (atmi_stream_has_first_ended) and the
 * device is not lost. */
static inline void atmi_transfer_end_small(atmi_stream_t *stream, void *host, size_t bytes) {
  memcpy(host, stream->slot, bytes);
  stream->count = stream->owes = 0;
}

/* ---- */

/* Writes a few bytes of host memory to the device at once, whatever its streams are doing: for memory that
 * none of their operations uses. */
ATMI_MUST_CHECK atmi_status_t atmi_transfer_write_now(const atmi_device_t *device, void *device_memory,
                                                      const void *host, size_t bytes);

#endif
