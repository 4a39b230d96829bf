/* Memory of one device: allocation table and cache of freed blocks. */
#include "atmi_memory.h"

#include "atmi_device.h"
#include "atmi_stream_trace.h"

#include <stdlib.h>
#include <string.h>

/* A cached block is described on the host: device memory may not be accessible from here. */
struct atmi_free_block {
  struct atmi_free_block *next;
  void *pointer;
};

enum { FIRST_CAPACITY = 64 };

void atmi_memory_init(atmi_device_t *device, uint64_t threshold, atmi_memory_t *memory) {
  *memory = (atmi_memory_t){.device = device, .threshold = threshold};
  pthread_mutex_init(&memory->lock, NULL);
}

/* ---- the table: open addressing with linear probing, at most half full ---- */

static size_t hash(const atmi_memory_t *memory, const void *pointer) {
  return (size_t)(((uintptr_t)pointer >> ATMI_MEMORY_PAGE_SHIFT) * UINT64_C(0x9e3779b97f4a7c15) >> 20) &
         (memory->capacity - 1);
}

static atmi_allocation_t *find_slot(const atmi_memory_t *memory, const void *pointer) {
  size_t i = hash(memory, pointer);
  while (memory->table[i].pointer && memory->table[i].pointer != pointer)
    i = (i + 1) & (memory->capacity - 1);
  return &memory->table[i];
}

static bool grow(atmi_memory_t *memory) {
  atmi_memory_t larger = *memory;
  larger.capacity = memory->capacity ? 2 * memory->capacity : FIRST_CAPACITY;
  larger.table = calloc(larger.capacity, sizeof *larger.table);
  if (!larger.table)
    return false;
  for (size_t i = 0; i < memory->capacity; i++)
    if (memory->table[i].pointer)
      *find_slot(&larger, memory->table[i].pointer) = memory->table[i];
  free(memory->table);
  memory->table = larger.table;
  memory->capacity = larger.capacity;
  return true;
}

static bool insert(atmi_memory_t *memory, const atmi_allocation_t *allocation) {
  if (2 * (memory->count + 1) > memory->capacity && !grow(memory))
    return false;
  *find_slot(memory, allocation->pointer) = *allocation;
  memory->count++;
  return true;
}

/* Empties a slot and moves later entries of its run up, so that probing never meets a hole too early. */
static void erase(atmi_memory_t *memory, atmi_allocation_t *slot) {
  size_t mask = memory->capacity - 1, hole = (size_t)(slot - memory->table), i = hole;
  for (;;) {
    i = (i + 1) & mask;
    if (!memory->table[i].pointer)
      break;
    size_t home = hash(memory, memory->table[i].pointer);
    if (((i - home) & mask) < ((i - hole) & mask))
      continue;
    memory->table[hole] = memory->table[i];
    hole = i;
  }
  memory->table[hole].pointer = NULL;
  memory->count--;
}

/* ---- the cache ---- */

static uint8_t class_of(const atmi_memory_t *memory, uint64_t bytes, atmi_memory_kind_t kind) {
  if (kind != ATMI_MEMORY_DEVICE || !memory->threshold || bytes > memory->threshold)
    return ATMI_MEMORY_CLASSES;
  uint8_t size_class = 0;
  while (size_class < ATMI_MEMORY_CLASSES && UINT64_C(1) << (size_class + ATMI_MEMORY_PAGE_SHIFT) < bytes)
    size_class++;
  return size_class;
}

static void *pop_cached(atmi_memory_t *memory, uint8_t size_class) {
  if (size_class == ATMI_MEMORY_CLASSES || !memory->cache[size_class])
    return NULL;
  struct atmi_free_block *block = memory->cache[size_class];
  void *pointer = block->pointer;
  memory->cache[size_class] = block->next;
  free(block);
  return pointer;
}

static bool push_cached(atmi_memory_t *memory, uint8_t size_class, void *pointer) {
  struct atmi_free_block *block = malloc(sizeof *block);
  if (!block)
    return false;
  *block = (struct atmi_free_block){.next = memory->cache[size_class], .pointer = pointer};
  memory->cache[size_class] = block;
  return true;
}

/* Returns all cached blocks to HSA. False if there were none. */
static bool empty_cache(atmi_memory_t *memory) {
  bool any = false;
  for (uint8_t size_class = 0; size_class < ATMI_MEMORY_CLASSES; size_class++) {
    for (;;) {
      pthread_mutex_lock(&memory->lock);
      void *pointer = pop_cached(memory, size_class);
      pthread_mutex_unlock(&memory->lock);
      if (!pointer)
        break;
      hsa_amd_memory_pool_free(pointer);
      any = true;
    }
  }
  return any;
}

/* ---- HSA ---- */

static hsa_status_t allocate_from_hsa(atmi_device_t *device, atmi_memory_kind_t kind, uint64_t bytes,
                                      void **pointer) {
  atmi_machine_t *machine = device->machine;
  hsa_amd_memory_pool_t pool = kind == ATMI_MEMORY_DEVICE ? device->memory_pool : machine->host_fine;
  hsa_status_t status = hsa_amd_memory_pool_allocate(pool, bytes ? bytes : 1, 0, pointer);
  if (status != HSA_STATUS_SUCCESS)
    return status;
  /* A device reaches its own memory anyway. Host memory is for all; device memory for the peers that can. */
  if (kind == ATMI_MEMORY_HOST) {
    status = hsa_amd_agents_allow_access(machine->device_count, machine->gpus, NULL, *pointer);
    if (status != HSA_STATUS_SUCCESS)
      hsa_amd_memory_pool_free(*pointer);
  }
  return status;
}

static atmi_status_t describe_failure(atmi_device_t *device, hsa_status_t status, atmi_memory_kind_t kind,
                                      uint64_t bytes) {
  const char *what = kind == ATMI_MEMORY_DEVICE ? "device" : "host";
  return atmi_fail(
      atmi_status_from_hsa(status), device->label,
      "cannot allocate %llu bytes of %s memory: %s; map less data at a time, or use a device with more "
      "memory",
      (unsigned long long)bytes, what, atmi_hsa_reason(status));
}

static atmi_status_t allocate(atmi_memory_t *memory, uint64_t bytes, atmi_memory_kind_t kind,
                              const void *host, void **pointer) {
  atmi_device_t *device = memory->device;
  atmi_allocation_t allocation = {
      .host = host, .bytes = bytes, .kind = (uint8_t)kind, .size_class = class_of(memory, bytes, kind)};
  pthread_mutex_lock(&memory->lock);
  allocation.pointer = pop_cached(memory, allocation.size_class);
  bool recorded = allocation.pointer && insert(memory, &allocation);
  pthread_mutex_unlock(&memory->lock);

  if (!allocation.pointer) {
    bool cached = allocation.size_class < ATMI_MEMORY_CLASSES;
    uint64_t size = cached ? UINT64_C(1) << (allocation.size_class + ATMI_MEMORY_PAGE_SHIFT) : bytes;
    hsa_status_t status = allocate_from_hsa(device, kind, size, &allocation.pointer);
    if (status != HSA_STATUS_SUCCESS && empty_cache(memory))
      status = allocate_from_hsa(device, kind, size, &allocation.pointer);
    if (status != HSA_STATUS_SUCCESS)
      return describe_failure(device, status, kind, bytes);
    pthread_mutex_lock(&memory->lock);
    recorded = insert(memory, &allocation);
    pthread_mutex_unlock(&memory->lock);
  }
  if (!recorded) {
    hsa_amd_memory_pool_free(allocation.pointer);
    return atmi_fail(ATMI_NO_MEMORY, device->label, "cannot allocate %llu bytes: out of host memory",
                     (unsigned long long)bytes);
  }
  *pointer = allocation.pointer;
  return ATMI_OK;
}

static atmi_status_t release(atmi_memory_t *memory, void *pointer) {
  if (!pointer)
    return ATMI_OK;
  bool found = false, kept = false;
  pthread_mutex_lock(&memory->lock);
  if (memory->capacity) {
    atmi_allocation_t *slot = find_slot(memory, pointer);
    found = slot->pointer != NULL;
    if (found) {
      kept = slot->size_class < ATMI_MEMORY_CLASSES && push_cached(memory, slot->size_class, pointer);
      erase(memory, slot);
    }
  }
  pthread_mutex_unlock(&memory->lock);
  if (!found)
    return atmi_fail(ATMI_INVALID, memory->device->label,
                     "cannot free %p: it is not allocated on this device (freed twice?)", pointer);
  if (kept)
    return ATMI_OK;
  hsa_status_t status = hsa_amd_memory_pool_free(pointer);
  if (status != HSA_STATUS_SUCCESS)
    return atmi_fail(ATMI_HSA_FAILED, memory->device->label, "cannot free %p: %s", pointer,
                     atmi_hsa_reason(status));
  return ATMI_OK;
}

atmi_status_t atmi_memory_allocate_for(atmi_memory_t *memory, uint64_t bytes, atmi_memory_kind_t kind,
                                       const void *host, void **pointer) {
  atmi_timeline_t *timeline = memory->device->machine->timeline;
  uint64_t begin = timeline ? atmi_trace_now() : 0;
  atmi_status_t status = allocate(memory, bytes, kind, host, pointer);
  atmi_trace_host_bytes(timeline, "memory",
                        kind == ATMI_MEMORY_DEVICE ? "allocate device memory" : "allocate host memory", begin,
                        bytes);
  return status;
}

atmi_status_t atmi_memory_free(atmi_memory_t *memory, void *pointer) {
  atmi_timeline_t *timeline = memory->device->machine->timeline;
  uint64_t begin = timeline ? atmi_trace_now() : 0;
  atmi_status_t status = release(memory, pointer);
  atmi_trace_host(timeline, "memory", "free memory", begin);
  return status;
}

bool atmi_memory_nearest(atmi_memory_t *memory, uint64_t address, atmi_allocation_t *allocation) {
  bool found = false;
  pthread_mutex_lock(&memory->lock);
  for (size_t i = 0; i < memory->capacity; i++) {
    const atmi_allocation_t *candidate = &memory->table[i];
    uint64_t begin = (uint64_t)(uintptr_t)candidate->pointer;
    if (!begin || begin > address || (found && begin < (uint64_t)(uintptr_t)allocation->pointer))
      continue;
    *allocation = *candidate;
    found = true;
  }
  pthread_mutex_unlock(&memory->lock);
  return found;
}

/* ---- variables of images ---- */

void atmi_memory_add_variable(atmi_memory_t *memory, const void *owner, const char *name, uint64_t begin,
                              uint64_t bytes) {
  atmi_variable_t *variable = malloc(sizeof *variable);
  if (!variable)
    return;
  *variable = (atmi_variable_t){.owner = owner, .name = name, .begin = begin, .bytes = bytes};
  pthread_mutex_lock(&memory->lock);
  variable->next = memory->variables;
  memory->variables = variable;
  pthread_mutex_unlock(&memory->lock);
}

void atmi_memory_remove_variables(atmi_memory_t *memory, const void *owner) {
  pthread_mutex_lock(&memory->lock);
  for (atmi_variable_t **at = &memory->variables; *at;) {
    atmi_variable_t *variable = *at;
    if (variable->owner != owner) {
      at = &variable->next;
      continue;
    }
    *at = variable->next;
    free(variable);
  }
  pthread_mutex_unlock(&memory->lock);
}

bool atmi_memory_nearest_variable(atmi_memory_t *memory, uint64_t address, atmi_variable_t *variable) {
  bool found = false;
  pthread_mutex_lock(&memory->lock);
  for (const atmi_variable_t *candidate = memory->variables; candidate; candidate = candidate->next) {
    if (candidate->begin > address || (found && candidate->begin < variable->begin))
      continue;
    *variable = *candidate;
    found = true;
  }
  pthread_mutex_unlock(&memory->lock);
  return found;
}

void atmi_memory_fini(atmi_memory_t *memory) {
  if (!memory->device)
    return;
  empty_cache(memory);
  while (memory->variables) {
    atmi_variable_t *variable = memory->variables;
    memory->variables = variable->next;
    free(variable);
  }
  for (size_t i = 0; i < memory->capacity; i++)
    if (memory->table[i].pointer)
      hsa_amd_memory_pool_free(memory->table[i].pointer);
  free(memory->table);
  pthread_mutex_destroy(&memory->lock);
  *memory = (atmi_memory_t){0};
}
