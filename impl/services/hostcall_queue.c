/* Hostcall buffers of queues: memory, doorbell, and registration with the service thread. */
#include "services/hostcall_queue.h"

#include "base/heap.h"
#include "base/hsa.h"
#include "device/device.h"
#include "services/hostcall.h"

#include <stdlib.h>
#include <string.h>

/* All of a device, since one queue's kernels free what another's have allocated. */
typedef struct atmi_hostcall_queue {
  struct atmi_hostcall_queue *next;
  atmi_device_t *device;
  void *memory;
  hsa_signal_t doorbell;
  atmi_hostcall_t hostcall;
  atmi_service_client_t client;
} hostcall_queue_t;

static uint64_t allocate_piece(void *context, uint64_t bytes) {
  const atmi_device_t *device = context;
  void *memory;
  hsa_status_t status = hsa_amd_memory_pool_allocate(device->memory_pool, bytes, 0, &memory);
  return status == HSA_STATUS_SUCCESS ? (uint64_t)(uintptr_t)memory : 0;
}

static void release_piece(void *context, uint64_t address) {
  (void)context;
  hsa_amd_memory_pool_free((void *)(uintptr_t)address);
}

static uint64_t allocate(void *context, uint64_t bytes) {
  atmi_device_t *device = context;
  return atmi_heap_allocate(&device->hostcall_heap, bytes);
}

static bool release(void *context, uint64_t address) {
  atmi_device_t *device = context;
  return atmi_heap_release(&device->hostcall_heap, address);
}

static bool poll_queue(void *object) {
  return atmi_hostcall_poll(object);
}

static void settle_queue(void *object) {
  atmi_hostcall_flush(object);
}

static void destroy(hostcall_queue_t *made) {
  if (made->client.poll)
    atmi_service_remove(&made->device->machine->service, &made->client);
  atmi_hostcall_fini(&made->hostcall);
  if (made->doorbell.handle)
    hsa_signal_destroy(made->doorbell);
  if (made->memory)
    hsa_amd_memory_pool_free(made->memory);
  free(made);
}

static hsa_status_t acquire(hostcall_queue_t *made, size_t bytes) {
  atmi_device_t *device = made->device;
  /* Nobody sleeps on it: the service thread looks at the stack of packets. With the device as its only
   * consumer it is a signal that raises no interrupt. */
  hsa_status_t status = hsa_signal_create(1, 1, &device->agent, &made->doorbell);
  if (status == HSA_STATUS_SUCCESS)
    status = hsa_amd_memory_pool_allocate(device->host->fine, bytes, 0, &made->memory);
  if (status == HSA_STATUS_SUCCESS)
    status = hsa_amd_agents_allow_access(1, &device->agent, NULL, made->memory);
  return status;
}

/* What the device's queues share: the heap that device memory is cut from, and the state of ockl's allocator,
 * which kernels of code object 5 are given by a hidden argument. That state begins as zeros, as the variable
 * does that takes its place in version 4; it has 100872 bytes in ROCm 5.2, and HIP's runtime gives it 128
 * KiB. */
static hsa_status_t share(atmi_device_t *device) {
  enum { ALLOCATOR_BYTES = 128 << 10 };
  const atmi_heap_backing_t memory = {device, allocate_piece, release_piece,
                                      !device->machine->env->memory_manager_threshold};
  if (device->allocator)
    return HSA_STATUS_SUCCESS;
  void *state, *zeros = calloc(1, ALLOCATOR_BYTES);
  if (!zeros)
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  hsa_status_t status = hsa_amd_memory_pool_allocate(device->memory_pool, ALLOCATOR_BYTES, 0, &state);
  if (status == HSA_STATUS_SUCCESS && (status = hsa_memory_copy(state, zeros, ALLOCATOR_BYTES)))
    hsa_amd_memory_pool_free(state);
  free(zeros);
  if (status != HSA_STATUS_SUCCESS)
    return status;
  atmi_heap_init(&memory, &device->hostcall_heap);
  device->allocator = state;
  return HSA_STATUS_SUCCESS;
}

static atmi_status_t make(atmi_queue_t *queue) {
  atmi_device_t *device = queue->owner->device;
  const atmi_rpc_host_t host = {
      .context = device, .allocate = allocate, .release = release, .allow_host_calls = true};
  /* A wave has one packet, so as many as the device can hold are enough. */
  uint32_t packets = device->properties.compute_units * device->properties.max_waves_per_cu;
  packets = packets < 2 ? 2 : packets;
  size_t bytes = atmi_hostcall_bytes(packets);
  hostcall_queue_t *made = calloc(1, sizeof *made);
  if (!made)
    return atmi_fail(ATMI_NO_MEMORY, device->label, "cannot make a hostcall buffer: out of host memory");
  made->device = device;
  hsa_status_t status = share(device);
  if (status == HSA_STATUS_SUCCESS)
    status = acquire(made, bytes);
  if (status != HSA_STATUS_SUCCESS) {
    destroy(made);
    return atmi_fail(ATMI_NO_MEMORY, device->label, "cannot make a hostcall buffer of %zu bytes: %s", bytes,
                     atmi_hsa_reason(status));
  }
  memset(made->memory, 0, bytes);
  atmi_hostcall_init(device->label, made->memory, packets, made->doorbell.handle, &host, &made->hostcall);
  made->client =
      (atmi_service_client_t){.poll = poll_queue, .settle = settle_queue, .object = &made->hostcall};
  atmi_service_add(&device->machine->service, &made->client);
  made->next = device->hostcall_queues;
  device->hostcall_queues = made;
  atomic_store_explicit(&queue->hostcall_buffer, made->memory, memory_order_release);
  return ATMI_OK;
}

atmi_status_t atmi_hostcall_prepare(atmi_queue_t *queue) {
  if (atomic_load_explicit(&queue->hostcall_buffer, memory_order_acquire))
    return ATMI_OK;
  atmi_device_t *device = queue->owner->device;
  pthread_mutex_lock(&device->queue_creation);
  atmi_status_t status = ATMI_OK;
  if (!atomic_load_explicit(&queue->hostcall_buffer, memory_order_relaxed))
    status = make(queue);
  pthread_mutex_unlock(&device->queue_creation);
  return status;
}

void atmi_hostcall_release(atmi_device_t *device) {
  while (device->hostcall_queues) {
    hostcall_queue_t *made = device->hostcall_queues;
    device->hostcall_queues = made->next;
    destroy(made);
  }
  atmi_heap_fini(&device->hostcall_heap);
  if (device->allocator)
    hsa_amd_memory_pool_free(device->allocator);
  device->allocator = NULL;
}
