/* Creation and destruction of queues, and how their GPUs report back. */
#include "machine/queues.h"

#include <hsa/amd_hsa_queue.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "packet/queue.h"
#include "isa/wave.h"
#include "machine/machine.h"

/* What the driver lets one engine of these parts serve. */
enum { SDMA_QUEUES_PER_ENGINE = 8, PERCENT = 100 };

int gs_queues_init(gs_queues_t *queues, gs_machine_t *machine, uint32_t capacity) {
  memset(queues, 0, sizeof *queues);
  queues->slot = calloc(capacity, sizeof *queues->slot);
  if (!queues->slot)
    return -1;
  if (pthread_mutex_init(&queues->lock, NULL)) {
    free(queues->slot);
    return -1;
  }
  queues->machine = machine;
  queues->capacity = capacity;
  queues->initialized = true;
  return 0;
}

void gs_queues_fini(gs_queues_t *queues) {
  if (!queues->initialized)
    return;
  for (uint32_t i = 0; i < queues->capacity; i++)
    gs_queue_destroy(queues->slot[i].queue);
  free(queues->slot);
  pthread_mutex_destroy(&queues->lock);
  queues->initialized = false;
}

void gs_queues_evict(gs_queues_t *queues, gs_gpu_t *gpu) {
  pthread_mutex_lock(&queues->lock);
  gpu->evicted = true;
  for (uint32_t i = 0; i < queues->capacity; i++) {
    gs_queue_slot_t *slot = &queues->slot[i];
    if (slot->queue && !slot->ending && slot->gpu == gpu)
      gs_queue_set_running(slot->queue, false);
  }
  pthread_mutex_unlock(&queues->lock);
}

static bool is_dma(HSA_QUEUE_TYPE type) {
  return type == HSA_QUEUE_SDMA || type == HSA_QUEUE_SDMA_XGMI;
}

static bool is_compute(HSA_QUEUE_TYPE type) {
  return type == HSA_QUEUE_COMPUTE_AQL || type == HSA_QUEUE_COMPUTE;
}

/* A free slot that the limits of the GPU allow, or NULL. With the lock held. */
static gs_queue_slot_t *find_slot(gs_queues_t *queues, const gs_gpu_t *gpu, HSA_QUEUE_TYPE type) {
  gs_queue_slot_t *found = NULL;
  uint32_t dma_queues = 0;
  for (uint32_t i = 0; i < queues->capacity; i++) {
    gs_queue_slot_t *slot = &queues->slot[i];
    if (!slot->queue && !found)
      found = slot;
    dma_queues += slot->queue && slot->gpu == gpu && is_dma(slot->type);
  }
  if (is_dma(type) && dma_queues >= gpu->profile->sdma_engines * SDMA_QUEUES_PER_ENGINE)
    return NULL;
  return found;
}

/* The slot of a queue id, which is its place in the table plus one. With the lock held. */
static gs_queue_slot_t *slot_of(gs_queues_t *queues, HSA_QUEUEID id) {
  gs_queue_slot_t *slot = id >= 1 && id <= queues->capacity ? &queues->slot[id - 1] : NULL;
  return slot && slot->queue && !slot->ending ? slot : NULL;
}

static gs_queue_t *create_aql(const gs_queue_config_t *config, const gs_queue_request_t *request) {
  /* ROCr hands over pointers into its amd_queue_t. */
  const size_t offset = offsetof(amd_queue_t, read_dispatch_id);
  amd_queue_t *amd_queue = (amd_queue_t *)(void *)((char *)request->read - offset);
  return gs_queue_create_aql(config, amd_queue);
}

/* Of commands that are bytes or dwords of a stream. */
static gs_queue_t *create_stream(const gs_queue_config_t *config, gs_queue_request_t *request,
                                 gs_shared_pages_t *shared, uint32_t i) {
  if (!request->read) {
    request->read = &shared->stream_index[i].read;
    request->write = &shared->stream_index[i].write;
  }
  *request->read = 0;
  *request->write = 0;
  return request->type == HSA_QUEUE_COMPUTE ? gs_queue_create_pm4(config, request->read, request->write)
                                            : gs_queue_create_sdma(config, request->read, request->write);
}

/* Makes the queue of `slot`. With the lock held. */
static HSAKMT_STATUS create_in(gs_queues_t *queues, gs_queue_slot_t *slot, gs_gpu_t *gpu,
                               gs_queue_request_t *request) {
  gs_machine_t *machine = queues->machine;
  const uint32_t i = (uint32_t)(slot - queues->slot);
  const gs_queue_config_t config = {
      .device = gpu->device,
      .ordinal = gpu->ordinal,
      .id = i + 1,
      .execute = machine->options.execute,
      .kernel_us = machine->options.kernel_us,
      .copy_us = machine->options.copy_us,
      .no_atomics = !machine->options.pcie_atomics,
      .order = machine->options.strict.kinds[GS_STRICT_ORDER],
      .seed = machine->options.strict_seed,
      .deterministic = machine->options.deterministic,
      .gate = &gpu->gate,
      .told_not_executed = &machine->told_not_executed,
      .ops = &gpu->packet_ops,
      .costs = gpu->costs,
      .poller = machine->poller,
      .synchronous = machine->synchronous,
      .ring = request->ring,
      .ring_bytes = request->ring_bytes,
      .exceptions = request->exceptions,
  };
  slot->queue = request->type == HSA_QUEUE_COMPUTE_AQL ? create_aql(&config, request)
                                                       : create_stream(&config, request, machine->shared, i);
  if (!slot->queue)
    return HSAKMT_STATUS_NO_MEMORY;
  gs_cost_add(machine->costs, GS_COST_QUEUE, 1);
  slot->gpu = gpu;
  slot->type = request->type;
  return HSAKMT_STATUS_SUCCESS;
}

/* The processors read the ring in place: the GPU and the host must both have access at this address. */
static bool is_ring(const gs_gpu_t *gpu, const void *ring, uint64_t bytes) {
  enum { LEAST_BYTES = 4096 };
  if (!ring || bytes < LEAST_BYTES || bytes & (bytes - 1))
    return false;
  gs_bus_t bus;
  gs_bus_init(&bus, gs_device_vm(gpu->device));
  gs_bus_enter(&bus);
  const void *host = gs_bus_at(&bus, (uintptr_t)ring, bytes, GS_VM_READ | GS_VM_WRITE);
  gs_bus_leave(&bus);
  gs_bus_fini(&bus);
  return host == ring;
}

HSAKMT_STATUS gs_queues_create(gs_queues_t *queues, gs_gpu_t *gpu, gs_queue_request_t *request,
                               uint32_t *id) {
  if (!is_compute(request->type) && !is_dma(request->type))
    return HSAKMT_STATUS_NOT_SUPPORTED;
  if (request->percentage > PERCENT || !is_ring(gpu, request->ring, request->ring_bytes) ||
      (request->type == HSA_QUEUE_COMPUTE_AQL && !request->read))
    return HSAKMT_STATUS_INVALID_PARAMETER;
  /* ROCr clears a whole MiB for a DMA engine, of which most programs never use more than a page. */
  gs_memory_forget_zeros(&queues->machine->memory, request->ring, request->ring_bytes);
  HSAKMT_STATUS status = HSAKMT_STATUS_NO_MEMORY;
  pthread_mutex_lock(&queues->lock);
  gs_queue_slot_t *slot = find_slot(queues, gpu, request->type);
  if (slot)
    status = create_in(queues, slot, gpu, request);
  if (status == HSAKMT_STATUS_SUCCESS) {
    *id = (uint32_t)(slot - queues->slot) + 1;
    if (!request->percentage || gpu->evicted)
      gs_queue_set_running(slot->queue, false);
  }
  pthread_mutex_unlock(&queues->lock);
  return status;
}

HSAKMT_STATUS gs_queues_update(gs_queues_t *queues, uint32_t id, uint32_t percentage) {
  if (percentage > PERCENT)
    return HSAKMT_STATUS_INVALID_PARAMETER;
  pthread_mutex_lock(&queues->lock);
  gs_queue_slot_t *slot = slot_of(queues, id);
  if (slot)
    gs_queue_set_running(slot->queue, percentage > 0 && !slot->gpu->evicted);
  pthread_mutex_unlock(&queues->lock);
  return slot ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_INVALID_PARAMETER;
}

HSAKMT_STATUS gs_queues_destroy(gs_queues_t *queues, uint32_t id) {
  pthread_mutex_lock(&queues->lock);
  gs_queue_slot_t *slot = slot_of(queues, id);
  gs_queue_t *queue = slot ? slot->queue : NULL;
  if (slot)
    slot->ending = true;
  /* Other queues can come and go while this one's thread ends; its slot stays taken until then. */
  pthread_mutex_unlock(&queues->lock);
  if (!queue)
    return HSAKMT_STATUS_INVALID_PARAMETER;
  gs_queue_destroy(queue);
  pthread_mutex_lock(&queues->lock);
  slot->queue = NULL;
  slot->ending = false;
  slot->has_gws = false;
  pthread_mutex_unlock(&queues->lock);
  return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS gs_queues_set_cu_mask(gs_queues_t *queues, uint32_t id, uint32_t count, const uint32_t *mask) {
  enum { WORD_BITS = 32 };
  if (count == 0 || count % WORD_BITS || !mask)
    return HSAKMT_STATUS_INVALID_PARAMETER;
  gs_cu_mask_t limit = {.words = count / WORD_BITS};
  if (limit.words > GS_CU_MASK_WORDS) /* no device has more units */
    limit.words = GS_CU_MASK_WORDS;
  memcpy(limit.bits, mask, limit.words * sizeof *mask);
  pthread_mutex_lock(&queues->lock);
  gs_queue_slot_t *slot = slot_of(queues, id);
  const bool done = slot && gs_queue_set_cu_mask(slot->queue, &limit);
  pthread_mutex_unlock(&queues->lock);
  return done ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_INVALID_PARAMETER;
}

HSAKMT_STATUS gs_queues_give_gws(gs_queues_t *queues, uint32_t id, uint32_t count) {
  HSAKMT_STATUS status = HSAKMT_STATUS_INVALID_PARAMETER;
  pthread_mutex_lock(&queues->lock);
  gs_queue_slot_t *slot = slot_of(queues, id);
  if (slot && is_compute(slot->type) && count <= GS_GWS_COUNT) {
    status = HSAKMT_STATUS_SUCCESS;
    for (uint32_t i = 0; count && i < queues->capacity; i++)
      if (queues->slot[i].has_gws && queues->slot[i].gpu == slot->gpu && &queues->slot[i] != slot)
        status = HSAKMT_STATUS_OUT_OF_RESOURCES;
    if (status == HSAKMT_STATUS_SUCCESS)
      slot->has_gws = count > 0;
  }
  pthread_mutex_unlock(&queues->lock);
  return status;
}

bool gs_queues_any(gs_queues_t *queues) {
  bool any = false;
  pthread_mutex_lock(&queues->lock);
  for (uint32_t i = 0; i < queues->capacity; i++)
    any |= queues->slot[i].queue != NULL;
  pthread_mutex_unlock(&queues->lock);
  return any;
}
