/* Copies between the user's memory and devices: staging, pinning, and when which. */
#include "stream/transfer.h"

#include "base/hsa.h"
#include "base/process_memory.h"
#include "stream/exchange.h"

#include <string.h>

const char atmi_transfer_submits[] = "copy to the device", atmi_transfer_retrieves[] = "copy from the device";

static atmi_status_t copy_in(atmi_stream_t *stream, atmi_operation_t *operation, void *device_memory,
                             const void *source, size_t bytes) {
  const atmi_device_t *device = stream->device;
  return atmi_stream_copy(stream, operation, atmi_transfer_submits, device_memory, device->agent, source,
                          device->machine->cpu, bytes);
}

static atmi_status_t copy_out(atmi_stream_t *stream, atmi_operation_t *operation, void *destination,
                              const void *device_memory, size_t bytes) {
  const atmi_device_t *device = stream->device;
  return atmi_stream_copy(stream, operation, atmi_transfer_retrieves, destination, device->machine->cpu,
                          device_memory, device->agent, bytes);
}

/* ---- what is not there ---- */

/* What a program has freed, or never had, must not crash it where we read or write for it. The question
 * whether all of it is there costs as much as copying some KiB does, so it is only asked for large copies:
 * these are of memory that the kernel takes back when it is freed. Whether its ends may be read, or written,
 * is asked for once of each page, see atmi_transfer_knows. */
static __attribute__((noinline, cold)) atmi_status_t ask(atmi_stream_t *stream, const void *host,
                                                         size_t bytes, bool submits) {
  const atmi_process_access_t access = submits ? ATMI_PROCESS_READS : ATMI_PROCESS_WRITES;
  const char *remedy;
  const char *flaw = atmi_process_memory_flaw(host, bytes, access, &remedy);
  if (flaw)
    return atmi_fail(ATMI_INVALID, stream->device->label, "cannot %s: the host %s the %zu bytes at %p; %s",
                     submits ? atmi_transfer_submits : atmi_transfer_retrieves, flaw, bytes, host, remedy);
  uintptr_t *pages = submits ? stream->readable : stream->writable;
  uintptr_t page = ((uintptr_t)host + bytes - 1) / ATMI_STREAM_PAGE_BYTES;
  pages[page % ATMI_STREAM_PAGES] = page;
  return ATMI_OK;
}

static inline atmi_status_t check_there(atmi_stream_t *stream, const void *host, size_t bytes, bool submits) {
  const uintptr_t *pages = submits ? stream->readable : stream->writable;
  if (__builtin_expect(bytes > stream->staging.block_bytes, 0) || !atmi_transfer_knows(pages, host, bytes))
    return ask(stream, host, bytes, submits);
  return ATMI_OK;
}

/* ---- staging ---- */

/* Gives the stream its slot, if there is memory for it, and lets it be used if that is possible. */
static void prepare_slot(atmi_stream_t *stream) {
  size_t most = (size_t)stream->device->machine->env->max_staged_bytes;
  void *object;
  if (!stream->slot && !atmi_pool_take(&stream->device->staging_blocks, &object))
    stream->slot = ((atmi_block_t *)object)->memory;
  if (stream->slot && stream->prepared && !stream->timeline)
    stream->slot_bytes = most < stream->staging.block_bytes ? most : stream->staging.block_bytes;
}

/* The next operation with memory for its bytes: of the stream's arena, or a large block of its own, which it
 * gives back. */
static atmi_status_t take_staging(atmi_stream_t *stream, size_t bytes, atmi_operation_t **operation,
                                  void **memory) {
  void *object;
  bool is_large = bytes > stream->staging.block_bytes;
  atmi_stream_settle(stream);
  atmi_status_t status = is_large ? atmi_pool_take(&stream->device->large_staging_blocks, &object)
                                  : atmi_stream_allocate(stream, &stream->staging, bytes, memory);
  if (status)
    return status;
  if (!(*operation = atmi_stream_next(stream))) {
    if (is_large)
      atmi_pool_put(&stream->device->large_staging_blocks, object);
    return ATMI_NO_MEMORY;
  }
  (*operation)->owes = is_large ? ATMI_OWES_BLOCK : 0;
  if (is_large) {
    (*operation)->after.block = object;
    *memory = (*operation)->after.block->memory;
  }
  prepare_slot(stream);
  return ATMI_OK;
}

static atmi_status_t submit_staged(atmi_stream_t *stream, void *device_memory, const void *host,
                                   size_t bytes) {
  atmi_operation_t *operation;
  void *staged;
  atmi_status_t status = check_there(stream, host, bytes, true);
  if (!status)
    status = take_staging(stream, bytes, &operation, &staged);
  if (status)
    return status;
  memcpy(staged, host, bytes);
  return copy_in(stream, operation, device_memory, staged, bytes);
}

static atmi_status_t retrieve_staged(atmi_stream_t *stream, void *host, const void *device_memory,
                                     size_t bytes) {
  atmi_operation_t *operation;
  void *staged;
  atmi_status_t status = check_there(stream, host, bytes, false);
  if (!status)
    status = take_staging(stream, bytes, &operation, &staged);
  if (status)
    return status;
  operation->owes |= ATMI_OWES_RESULT | ATMI_OWES_BYTES;
  operation->after.host = host;
  operation->after.bytes = bytes;
  operation->after.staged = staged;
  return copy_out(stream, operation, staged, device_memory, bytes);
}

/* ---- several by one copy ---- */

_Static_assert(ATMI_TRANSFER_PIECES_BYTES + ATMI_TRANSFER_PIECES * sizeof(atmi_piece_t) <= 64 << 10,
               "fits a block of staging memory");

atmi_status_t atmi_transfer_stage(atmi_stream_t *stream, size_t bytes, void **staged) {
  if (atmi_device_is_lost(stream->device))
    return atmi_device_refuse(stream->device, atmi_transfer_submits);
  if (!atmi_stream_settle(stream) && stream->owes & ATMI_OWES_RESULT) {
    atmi_status_t status = atmi_stream_synchronize(stream);
    if (status)
      return status;
  }
  return atmi_stream_allocate(stream, &stream->staging, bytes, staged);
}

atmi_status_t atmi_transfer_submit_staged(atmi_stream_t *stream, void *device_memory, const void *staged,
                                          size_t bytes) {
  atmi_operation_t *operation = atmi_stream_next(stream);
  if (!operation)
    return ATMI_NO_MEMORY;
  operation->owes = 0;
  return copy_in(stream, operation, device_memory, staged, bytes);
}

atmi_status_t atmi_transfer_retrieve_pieces(atmi_stream_t *stream, const void *device_memory, size_t bytes,
                                            const atmi_piece_t *pieces, uint32_t count) {
  void *list;
  size_t list_bytes = count * sizeof *pieces;
  if (atmi_device_is_lost(stream->device))
    return atmi_device_refuse(stream->device, atmi_transfer_retrieves);
  /* Nothing is settled: this is the last that a region does, which is going to be waited for. */
  atmi_status_t status = atmi_stream_allocate(stream, &stream->staging, list_bytes + bytes, &list);
  if (status)
    return status;
  atmi_operation_t *operation = atmi_stream_next(stream);
  if (!operation)
    return ATMI_NO_MEMORY;
  memcpy(list, pieces, list_bytes);
  operation->owes = ATMI_OWES_RESULT | ATMI_OWES_BYTES | ATMI_OWES_PIECES;
  operation->after.pieces = list;
  operation->after.bytes = count;
  operation->after.staged = (char *)list + list_bytes;
  return copy_out(stream, operation, (char *)list + list_bytes, device_memory, bytes);
}

/* ---- pinning ---- */

/* Makes the user's pages accessible to the device for as long as the stream needs. Memory that is mapped is
 * pinned as a whole by the first large copy, and stays so for later ones: the program may not take it away
 * before its block on the device is freed (see atmi_memory_pin). Other memory is pinned for each copy,
 * because nobody tells when the program unmaps it and puts something else in its place. False if the pages
 * cannot be pinned, for example because they are read-only, or must not be, see atmi_host_pin. */
static bool pin(const atmi_stream_t *stream, const void *device_memory, void *host, size_t bytes,
                struct atmi_host_range **range, void **address) {
  atmi_device_t *device = stream->device;
  atmi_host_locks_t *locks = &device->machine->host_locks;
  if (atmi_host_pin(locks, device->agent, host, bytes, true, range, address))
    return true;
  atmi_memory_pin(&device->memory, device_memory, host, bytes);
  return atmi_host_pin(locks, device->agent, host, bytes, false, range, address);
}

/* The next operation, which gives the pin back; without memory for it that is done at once. */
static atmi_operation_t *next_pinned(atmi_stream_t *stream, struct atmi_host_range *range) {
  atmi_stream_settle(stream);
  atmi_operation_t *operation = atmi_stream_next(stream);
  if (operation) {
    operation->owes = range ? ATMI_OWES_PIN : 0;
    operation->after.pin = range;
  } else if (range) {
    atmi_host_unpin(&stream->device->machine->host_locks, range);
  }
  return operation;
}

/* ---- operations ---- */

/* Waits if the stream has yet to write any of this host memory: what is read here must be its result, and
 * what the device writes there itself must come after it. */
static atmi_status_t settle(atmi_stream_t *stream, const void *host, size_t bytes) {
  return atmi_stream_will_write(stream, host, bytes) ? atmi_stream_synchronize(stream) : ATMI_OK;
}

/* What must hold for any copy of at least one byte. Maps of NULL pointers come as far as this. */
static atmi_status_t check_copy(atmi_device_t *device, const void *host, size_t bytes, const char *what) {
  if (!host)
    return atmi_fail(ATMI_INVALID, device->label,
                     "cannot %s (%zu bytes): the host memory is NULL; does the program map a null pointer?",
                     what, bytes);
  /* A size that went wrong where it was computed. Programs have the lower half of the addresses. */
  if (bytes > (size_t)INTPTR_MAX - (uintptr_t)host)
    return atmi_fail(ATMI_INVALID, device->label,
                     "cannot %s: %zu bytes at %p are more than there are addresses; is the size right?", what,
                     bytes, host);
  return atmi_device_is_lost(device) ? atmi_device_refuse(device, what) : ATMI_OK;
}

static size_t largest_staged(const atmi_stream_t *stream) {
  size_t most = (size_t)stream->device->machine->env->max_staged_bytes;
  return most > stream->staging.block_bytes ? most : stream->staging.block_bytes;
}

static __attribute__((noinline, cold)) atmi_status_t submit_large(atmi_stream_t *stream, void *device_memory,
                                                                  const void *host, size_t bytes) {
  struct atmi_host_range *range;
  void *address;
  atmi_status_t status = ask(stream, host, bytes, true);
  if (status)
    return status;
  if (pin(stream, device_memory, (void *)(uintptr_t)host, bytes, &range, &address)) {
    atmi_operation_t *operation = next_pinned(stream, range);
    return operation ? copy_in(stream, operation, device_memory, address, bytes) : ATMI_NO_MEMORY;
  }
  if (atmi_exchange_submit(stream, device_memory, host, bytes, &status))
    return status;
  /* Piece by piece; waiting in between keeps the pinned memory in use small. */
  for (size_t at = 0, piece = largest_staged(stream); !status && at < bytes; at += piece) {
    size_t here = bytes - at < piece ? bytes - at : piece;
    status = submit_staged(stream, (char *)device_memory + at, (const char *)host + at, here);
    if (!status)
      status = atmi_stream_synchronize(stream);
  }
  return status;
}

atmi_status_t atmi_transfer_submit(atmi_stream_t *stream, void *device_memory, const void *host,
                                   size_t bytes) {
  atmi_device_t *device = stream->device;
  if (!bytes)
    return ATMI_OK;
  atmi_status_t status = check_copy(device, host, bytes, atmi_transfer_submits);
  if (!status && stream->owes & ATMI_OWES_RESULT)
    status = settle(stream, host, bytes);
  if (status)
    return status;
  if (atmi_access_may_be_device(&device->machine->access, host) &&
      atmi_exchange_submit(stream, device_memory, host, bytes, &status))
    return status;
  if (bytes < (uint64_t)device->machine->env->max_staged_bytes)
    return submit_staged(stream, device_memory, host, bytes);
  return submit_large(stream, device_memory, host, bytes);
}

atmi_status_t atmi_transfer_submit_value(atmi_stream_t *stream, void *device_memory, const void *value,
                                         size_t bytes) {
  atmi_status_t status = check_copy(stream->device, value, bytes, atmi_transfer_submits);
  return status ? status : submit_staged(stream, device_memory, value, bytes);
}

static __attribute__((noinline, cold)) atmi_status_t retrieve_large(atmi_stream_t *stream, void *host,
                                                                    const void *device_memory, size_t bytes) {
  struct atmi_host_range *range;
  void *address;
  atmi_status_t status = ask(stream, host, bytes, false);
  if (!status && stream->owes & ATMI_OWES_RESULT)
    status = settle(stream, host, bytes);
  if (status)
    return status;
  if (pin(stream, device_memory, host, bytes, &range, &address)) {
    atmi_operation_t *operation = next_pinned(stream, range);
    if (!operation)
      return ATMI_NO_MEMORY;
    operation->owes |= ATMI_OWES_RESULT;
    operation->after.host = host;
    operation->after.bytes = bytes;
    return copy_out(stream, operation, address, device_memory, bytes);
  }
  if (atmi_exchange_retrieve(stream, host, device_memory, bytes, &status))
    return status;
  for (size_t at = 0, piece = largest_staged(stream); !status && at < bytes; at += piece) {
    size_t here = bytes - at < piece ? bytes - at : piece;
    status = retrieve_staged(stream, (char *)host + at, (const char *)device_memory + at, here);
    if (!status)
      status = atmi_stream_synchronize(stream);
  }
  return status;
}

atmi_status_t atmi_transfer_retrieve(atmi_stream_t *stream, void *host, const void *device_memory,
                                     size_t bytes) {
  atmi_device_t *device = stream->device;
  if (!bytes)
    return ATMI_OK;
  atmi_status_t status = check_copy(device, host, bytes, atmi_transfer_retrieves);
  if (status)
    return status;
  if (atmi_access_may_be_device(&device->machine->access, host) &&
      atmi_exchange_retrieve(stream, host, device_memory, bytes, &status))
    return status;
  if (bytes < (uint64_t)device->machine->env->max_staged_bytes)
    return retrieve_staged(stream, host, device_memory, bytes);
  return retrieve_large(stream, host, device_memory, bytes);
}

atmi_status_t atmi_transfer_slot_refused(atmi_stream_t *stream, hsa_status_t hsa, const void *memory,
                                         size_t bytes) {
  bool retrieves = stream->owes;
  stream->count = stream->owes = 0;
  return atmi_stream_copy_refused(
      stream, stream->operations, hsa, retrieves ? atmi_transfer_retrieves : atmi_transfer_submits,
      retrieves ? stream->slot : memory, retrieves ? memory : stream->slot, bytes);
}

atmi_status_t atmi_transfer_write_now(const atmi_device_t *device, void *device_memory, const void *host,
                                      size_t bytes) {
  hsa_status_t hsa = hsa_memory_copy(device_memory, host, bytes);
  if (hsa == HSA_STATUS_SUCCESS)
    return ATMI_OK;
  return atmi_fail(atmi_status_from_hsa(hsa), device->label, "cannot write %zu bytes at %p: %s", bytes,
                   device_memory, atmi_hsa_reason(hsa));
}
