/* One GPU: discovery of its properties, creation of its queues, and what happens when it is lost. */
#include "device/device.h"

#include "base/hsa.h"
#include "memory/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  KERNARG_BLOCK_BYTES = 16 << 10,
  STAGING_BLOCK_BYTES = 64 << 10,
};

/* ---- properties ---- */

static atmi_status_t query_properties(atmi_device_t *device) {
  atmi_device_properties_t *p = &device->properties;
  uint16_t group_dim[3] = {0};
  hsa_dim3_t grid_dim = {0};
  hsa_isa_t isa = {0};
  const struct {
    int attribute;
    void *value;
    const char *what;
  } queries[] = {
      {HSA_AGENT_INFO_NAME, p->name, "name"},
      {HSA_AGENT_INFO_ISA, &isa, "instruction set"},
      {HSA_AMD_AGENT_INFO_PRODUCT_NAME, p->product_name, "product name"},
      {HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT, &p->compute_units, "number of compute units"},
      {HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU, &p->max_waves_per_cu, "waves per compute unit"},
      {HSA_AGENT_INFO_WAVEFRONT_SIZE, &p->wavefront, "wavefront size"},
      {HSA_AGENT_INFO_WORKGROUP_MAX_SIZE, &p->max_group, "workgroup size"},
      {HSA_AGENT_INFO_WORKGROUP_MAX_DIM, group_dim, "workgroup dimensions"},
      {HSA_AGENT_INFO_GRID_MAX_DIM, &grid_dim, "grid dimensions"},
      {HSA_AGENT_INFO_QUEUE_MAX_SIZE, &p->max_queue_packets, "queue size"},
      {HSA_AMD_AGENT_INFO_CHIP_ID, &p->chip_id, "chip"},
  };
  for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
    hsa_status_t status =
        hsa_agent_get_info(device->agent, (hsa_agent_info_t)queries[i].attribute, queries[i].value);
    if (status != HSA_STATUS_SUCCESS)
      return atmi_fail(ATMI_HSA_FAILED, device->label, "cannot use the device: HSA does not tell its %s: %s",
                       queries[i].what, atmi_hsa_reason(status));
  }
  /* Newer than the oldest ROCr that we build against; without it device clocks have no unit, and no more. */
  const int agent_timestamp_frequency = 0xA016;
  hsa_agent_get_info(device->agent, (hsa_agent_info_t)agent_timestamp_frequency, &p->timestamp_frequency);
  hsa_agent_get_info(device->agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_UUID, p->uuid);
  if (group_dim[0] && group_dim[0] < p->max_group)
    p->max_group = group_dim[0];
  p->max_grid_x = grid_dim.x;
  hsa_status_t status = hsa_isa_get_info_alt(isa, HSA_ISA_INFO_NAME, p->isa_name);
  if (status != HSA_STATUS_SUCCESS || atmi_target_id_parse(p->isa_name, &p->target))
    return atmi_fail(ATMI_UNSUPPORTED, device->label,
                     "cannot use the device: its instruction set \"%s\" is unknown", p->isa_name);
  p->is_apu = atmi_target_id_is_apu(&p->target, p->chip_id);
  return ATMI_OK;
}

/* Looks for the pools of the device's own memory: the coarse-grained global one, and the size of the LDS. */
static hsa_status_t visit_pool(hsa_amd_memory_pool_t pool, void *data) {
  atmi_device_t *device = data;
  hsa_amd_segment_t segment;
  uint32_t flags = 0;
  bool allocatable = false;
  size_t bytes = 0;
  hsa_status_t status = hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment);
  if (status == HSA_STATUS_SUCCESS)
    status = hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SIZE, &bytes);
  if (status != HSA_STATUS_SUCCESS)
    return status;
  if (segment == HSA_AMD_SEGMENT_GROUP)
    device->properties.lds_bytes = (uint32_t)bytes;
  if (segment != HSA_AMD_SEGMENT_GLOBAL || device->memory_pool.handle)
    return HSA_STATUS_SUCCESS;
  status = hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags);
  if (status == HSA_STATUS_SUCCESS)
    status = hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED, &allocatable);
  if (allocatable && flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED) {
    device->memory_pool = pool;
    device->properties.memory_bytes = bytes;
  }
  return status;
}

static void init_pools(atmi_device_t *device) {
  const atmi_machine_t *machine = device->machine;
  size_t largest = (size_t)machine->env->max_staged_bytes;
  const struct {
    atmi_pool_t *pool;
    atmi_block_backing_t *backing;
    hsa_amd_memory_pool_t memory;
    size_t bytes;
    const char *what, *objects;
  } blocks[] = {
      {&device->kernarg_blocks, &device->kernarg_backing, device->host->kernarg, KERNARG_BLOCK_BYTES,
       "kernel argument", "blocks of kernel arguments"},
      {&device->staging_blocks, &device->staging_backing, device->host->fine, STAGING_BLOCK_BYTES, "staging",
       "staging buffers"},
      {&device->large_staging_blocks, &device->large_staging_backing, device->host->fine, largest, "staging",
       "large staging buffers"},
  };
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
    *blocks[i].backing = (atmi_block_backing_t){.pool = blocks[i].memory,
                                                .agent = device->agent,
                                                .block_bytes = blocks[i].bytes,
                                                .where = device->label,
                                                .what = blocks[i].what};
    atmi_block_pool_init(blocks[i].pool, blocks[i].backing);
    atmi_pool_name(blocks[i].pool, device->label, blocks[i].objects);
  }
  atmi_signal_pool_init(&device->signals, device->label, &device->lost);
  atmi_pool_name(&device->signals.pool, device->label, "signals");
}

void atmi_device_set_number(atmi_device_t *device, uint32_t number) {
  device->number = number;
  snprintf(device->label, sizeof device->label, "device %u (%s)", number, device->properties.name);
}

atmi_status_t atmi_device_init(atmi_machine_t *machine, hsa_agent_t agent, uint32_t number,
                               atmi_device_t *device) {
  *device = (atmi_device_t){.machine = machine, .number = number, .agent = agent};
  snprintf(device->label, sizeof device->label, "device %u", number);
  atmi_status_t status = query_properties(device);
  if (status)
    return status;
  atmi_device_set_number(device, number);
  hsa_status_t hsa = hsa_amd_agent_iterate_memory_pools(agent, visit_pool, device);
  if (hsa != HSA_STATUS_SUCCESS)
    return atmi_fail(atmi_status_from_hsa(hsa), device->label,
                     "cannot use the device: HSA does not describe its memory: %s", atmi_hsa_reason(hsa));
  if (!device->memory_pool.handle)
    return atmi_fail(ATMI_UNSUPPORTED, device->label, "cannot use the device: HSA shows no memory of it");
  device->host = atmi_host_node_nearest(machine->host_nodes, machine->host_node_count, agent);
  pthread_mutex_init(&device->queue_creation, NULL);
  const atmi_memory_site_t site = {.label = device->label,
                                   .agent = agent,
                                   .own = device->memory_pool,
                                   .host = device->host->fine,
                                   .own_bytes = device->properties.memory_bytes,
                                   .host_locks = &machine->host_locks,
                                   .timeline = machine->timeline,
                                   .lost = &device->lost};
  atmi_memory_init(&site, (uint64_t)machine->env->memory_manager_threshold, &device->memory);
  device->queue_owner = (atmi_queue_owner_t){.device = device,
                                             .label = device->label,
                                             .agent = agent,
                                             .lost = &device->lost,
                                             .timed = machine->timeline != NULL,
                                             .on_error = machine->on_queue_error};
  atomic_store_explicit(&device->queue_limit, (uint32_t)machine->env->queue_count, memory_order_relaxed);
  init_pools(device);
  device->ready = true;
  return ATMI_OK;
}

bool atmi_device_is_shared(atmi_device_t *device) {
  return atmi_pool_count(&device->streams) > 1; /* each thread keeps one for its next use */
}

void atmi_device_stop(atmi_device_t *device) {
  uint32_t count = atomic_exchange_explicit(&device->queue_count, 0, memory_order_acq_rel);
  for (uint32_t i = 0; i < count; i++) {
    atmi_queue_t *queue = atomic_load_explicit(&device->queues[i], memory_order_relaxed);
    atmi_queue_fini(queue);
    free(queue);
  }
}

void atmi_device_fini(atmi_device_t *device) {
  if (!device->ready)
    return;
  /* Queues first: once they are destroyed, no packet can touch the memory that goes next. */
  atmi_device_stop(device);
  atmi_pool_fini(&device->streams);
  atmi_pool_fini(&device->events);
  atmi_signal_pool_fini(&device->signals);
  atmi_pool_fini(&device->kernarg_blocks);
  atmi_pool_fini(&device->staging_blocks);
  atmi_pool_fini(&device->large_staging_blocks);
  atmi_memory_fini(&device->memory);
  pthread_mutex_destroy(&device->queue_creation);
  device->ready = false;
}

/* ---- queues ---- */

static uint32_t queue_packets(const atmi_device_t *device) {
  const atmi_env_t *env = device->machine->env;
  int64_t wanted = env->queue_packets;
  if (env->max_queue_packets != ATMI_ENV_UNSET && wanted > env->max_queue_packets)
    wanted = env->max_queue_packets;
  if (wanted > device->properties.max_queue_packets)
    wanted = device->properties.max_queue_packets;
  uint32_t packets = 64;
  while (packets < wanted && 2 * packets <= device->properties.max_queue_packets)
    packets *= 2;
  return packets;
}

static atmi_status_t add_queue(atmi_device_t *device, uint32_t index) {
  atmi_queue_t *queue = malloc(sizeof *queue);
  if (!queue)
    return atmi_fail(ATMI_NO_MEMORY, device->label, "cannot create an HSA queue: out of host memory");
  atmi_status_t status = atmi_queue_init(&device->queue_owner, queue_packets(device), queue);
  if (status) {
    free(queue);
    return status;
  }
  atomic_store_explicit(&device->queues[index], queue, memory_order_relaxed);
  /* Release: who sees the count sees the queue, and what is in it. */
  atomic_store_explicit(&device->queue_count, index + 1, memory_order_release);
  return ATMI_OK;
}

static atmi_queue_t *least_used(atmi_device_t *device, uint32_t count, uint32_t *users) {
  atmi_queue_t *best = NULL;
  *users = UINT32_MAX;
  for (uint32_t i = 0; i < count && *users; i++) {
    atmi_queue_t *queue = atomic_load_explicit(&device->queues[i], memory_order_relaxed);
    uint32_t here = atomic_load_explicit(&queue->users, memory_order_relaxed);
    if (here >= *users)
      continue;
    best = queue;
    *users = here;
  }
  return best;
}

/* Creates one more queue unless another thread just did or no more may be. With a queue in hand, a device
 * that has no more to give is only a device with fewer queues. */
static atmi_status_t create_queue(atmi_device_t *device, atmi_queue_t **best) {
  atmi_status_t status = ATMI_OK;
  pthread_mutex_lock(&device->queue_creation);
  uint32_t users, count = atomic_load_explicit(&device->queue_count, memory_order_acquire);
  *best = least_used(device, count, &users);
  if (atomic_load_explicit(&device->machine->ending, memory_order_relaxed))
    status =
        *best ? ATMI_OK
              : atmi_fail(ATMI_UNSUPPORTED, device->label,
                          "cannot create an HSA queue: the program is ending, and ROCr has ended before it");
  else if (users && count < atomic_load_explicit(&device->queue_limit, memory_order_relaxed)) {
    status = add_queue(device, count);
    if (!status)
      *best = atomic_load_explicit(&device->queues[count], memory_order_relaxed);
    else if (*best)
      atomic_store_explicit(&device->queue_limit, count, memory_order_relaxed);
  }
  pthread_mutex_unlock(&device->queue_creation);
  return *best ? ATMI_OK : status;
}

atmi_status_t atmi_device_acquire_queue(atmi_device_t *device, atmi_queue_t *previous, atmi_queue_t **queue) {
  if (previous && atmi_queue_take_idle(previous)) {
    *queue = previous;
    return ATMI_OK;
  }
  uint32_t count = atomic_load_explicit(&device->queue_count, memory_order_acquire), users;
  atmi_queue_t *best = least_used(device, count, &users);
  if (users && count < atomic_load_explicit(&device->queue_limit, memory_order_relaxed)) {
    atmi_status_t status = create_queue(device, &best);
    if (status)
      return status;
  }
  atomic_fetch_add_explicit(&best->users, 1, memory_order_relaxed);
  *queue = best;
  return ATMI_OK;
}

atmi_status_t atmi_device_acquire_first_queue(atmi_device_t *device, atmi_queue_t **queue) {
  if (!atomic_load_explicit(&device->queue_count, memory_order_acquire)) {
    atmi_queue_t *created;
    atmi_status_t status = create_queue(device, &created);
    if (status)
      return status;
  }
  *queue = atomic_load_explicit(&device->queues[0], memory_order_relaxed);
  atomic_fetch_add_explicit(&(*queue)->users, 1, memory_order_relaxed);
  return ATMI_OK;
}

/* ---- faults ---- */

void atmi_device_abandon(atmi_device_t *device) {
  atomic_store(&device->lost, true);
  atomic_store(&device->machine->has_lost, true);
  atomic_store(&device->machine->sound_count, 0);
  atmi_signal_pool_abandon(&device->signals);
}

atmi_status_t atmi_device_refuse(atmi_device_t *device, const char *operation) {
  return atmi_fail(ATMI_LOST, device->label, "cannot %s: %s was given up after an earlier fault", operation,
                   atmi_device_is_lost(device) ? "the device" : "another device, whose work it waits for,");
}
