/* Copies between devices: directly, or through the host. */
#include "stream/exchange.h"

#include "base/hsa.h"
#include "stream/transfer.h"

#include <stdlib.h>

static const char exchange_text[] = "copy between devices";

bool atmi_exchange_is_direct(const atmi_device_t *source, const atmi_device_t *destination) {
  if (source == destination)
    return true;
  hsa_amd_memory_pool_access_t access = HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED;
  return hsa_amd_agent_memory_pool_get_info(source->agent, destination->memory_pool,
                                            HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS,
                                            &access) == HSA_STATUS_SUCCESS &&
         access != HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED;
}

/* Whether a device's engine can copy to and from memory of another one, after access was given. */
static bool reaches(const atmi_device_t *device, const atmi_device_t *owner, const void *memory,
                    size_t bytes) {
  void *address;
  return device == owner || (atmi_exchange_is_direct(device, owner) &&
                             atmi_access_give(&device->machine->access, &device->agent, 1, memory, bytes,
                                              &address) == ATMI_ACCESS_GIVEN);
}

static atmi_status_t copy_directly(atmi_stream_t *stream, void *destination, hsa_agent_t destination_agent,
                                   const void *source, size_t bytes) {
  atmi_stream_settle(stream);
  atmi_operation_t *operation = atmi_stream_next(stream);
  if (!operation)
    return ATMI_NO_MEMORY;
  operation->owes = 0;
  return atmi_stream_copy(stream, operation, exchange_text, destination, destination_agent, source,
                          stream->device->agent, bytes);
}

/* Through the host's memory, for devices that cannot see each other. Complete when it returns. */
static atmi_status_t exchange_through_host(atmi_stream_t *stream, const void *source,
                                           atmi_device_t *destination_device, void *destination,
                                           size_t bytes) {
  void *bounce = malloc(bytes);
  if (!bounce)
    return atmi_fail(ATMI_NO_MEMORY, stream->device->label, "cannot %s: out of host memory for %zu bytes",
                     exchange_text, bytes);
  atmi_stream_t *second = NULL;
  atmi_status_t status = atmi_transfer_retrieve(stream, bounce, source, bytes), ended;
  if ((ended = atmi_stream_synchronize(stream)) && !status)
    status = ended;
  if (!status)
    status = atmi_stream_take(destination_device, &second);
  if (!status)
    status = atmi_transfer_submit(second, destination, bounce, bytes);
  if (second) {
    if ((ended = atmi_stream_synchronize(second)) && !status)
      status = ended;
    atmi_stream_put(second);
  }
  free(bounce);
  return status;
}

atmi_status_t atmi_exchange(atmi_stream_t *stream, const void *source, atmi_device_t *destination_device,
                            void *destination, size_t bytes) {
  atmi_device_t *device = stream->device;
  if (!bytes)
    return ATMI_OK;
  if (atmi_device_is_lost(device))
    return atmi_device_refuse(device, exchange_text);
  if (atmi_device_is_lost(destination_device))
    return atmi_device_refuse(destination_device, exchange_text);
  if (!reaches(device, destination_device, destination, bytes))
    return exchange_through_host(stream, source, destination_device, destination, bytes);
  return copy_directly(stream, destination, destination_device->agent, source, bytes);
}

/* ---- device memory for the host's ---- */

/* The device whose memory is given for the host's, or NULL. `*status` tells if the copy cannot be: then it is
 * described. */
static atmi_device_t *find_owner(const atmi_device_t *device, const void *host, size_t bytes,
                                 atmi_status_t *status) {
  atmi_machine_t *machine = device->machine;
  hsa_agent_t agent;
  size_t left;
  *status = ATMI_OK;
  if (!atmi_access_is_device(&machine->access, host, &agent, &left))
    return NULL;
  for (uint32_t i = 0; i < machine->device_count; i++) {
    atmi_device_t *owner = machine->devices[i];
    if (owner->agent.handle != agent.handle)
      continue;
    if (bytes > left)
      *status = atmi_fail(ATMI_INVALID, device->label,
                          "cannot %s (%zu bytes): what is given as host memory, %p, is memory of %s, which "
                          "ends after %zu bytes",
                          exchange_text, bytes, host, owner->label, left);
    else if (atmi_device_is_lost(owner))
      *status = atmi_device_refuse(owner, exchange_text);
    return owner;
  }
  return NULL;
}

/* From another device that this one cannot see, after what the stream has begun. */
static atmi_status_t fetch_through_host(atmi_stream_t *stream, void *device_memory, atmi_device_t *owner,
                                        const void *source, size_t bytes) {
  atmi_stream_t *other;
  atmi_status_t status = atmi_stream_synchronize(stream);
  if (status || (status = atmi_stream_take(owner, &other)))
    return status;
  status = exchange_through_host(other, source, stream->device, device_memory, bytes);
  atmi_stream_put(other);
  return status;
}

bool atmi_exchange_submit(atmi_stream_t *stream, void *device_memory, const void *host, size_t bytes,
                          atmi_status_t *status) {
  atmi_device_t *device = stream->device, *owner = find_owner(device, host, bytes, status);
  if (!owner || *status)
    return owner;
  if (reaches(device, owner, host, bytes))
    *status = copy_directly(stream, device_memory, device->agent, host, bytes);
  else
    *status = fetch_through_host(stream, device_memory, owner, host, bytes);
  return true;
}

bool atmi_exchange_retrieve(atmi_stream_t *stream, void *host, const void *device_memory, size_t bytes,
                            atmi_status_t *status) {
  atmi_device_t *device = stream->device, *owner = find_owner(device, host, bytes, status);
  if (!owner || *status)
    return owner;
  if (reaches(device, owner, host, bytes))
    *status = copy_directly(stream, host, device->agent, device_memory, bytes);
  else
    *status = exchange_through_host(stream, device_memory, owner, host, bytes);
  return true;
}
