/* Memory of one device: allocation table and cache of freed blocks. */
#include "memory/memory.h"

#include "base/hsa.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 64 };

/* The table of a device without blocks. */
static atmi_allocation_t *no_blocks[1];

void atmi_memory_init(const atmi_memory_site_t *site, uint64_t threshold, atmi_memory_t *memory) {
  const uint64_t most = UINT64_C(1) << (ATMI_MEMORY_PAGE_SHIFT + ATMI_MEMORY_CLASSES - 1);
  *memory =
      (atmi_memory_t){.site = *site, .threshold = threshold < most ? threshold : most, .table = no_blocks};
}

/* ---- the table ---- */

static void free_table(const atmi_memory_t *memory) {
  if (memory->mask)
    free(memory->table);
}

static bool grow(atmi_memory_t *memory) {
  size_t capacity = memory->mask ? 2 * (memory->mask + 1) : FIRST_CAPACITY;
  atmi_memory_t larger = {.mask = capacity - 1, .table = calloc(capacity, sizeof(atmi_allocation_t *))};
  if (!larger.table)
    return false;
  for (size_t i = 0; i <= memory->mask; i++)
    if (memory->table[i])
      larger.table[atmi_memory_find(&larger, memory->table[i]->pointer)] = memory->table[i];
  free_table(memory);
  memory->table = larger.table;
  memory->mask = larger.mask;
  return true;
}

static bool insert(atmi_memory_t *memory, atmi_allocation_t *allocation) {
  if (2 * (memory->count + 1) > memory->mask + 1 && !grow(memory))
    return false;
  memory->table[atmi_memory_find(memory, allocation->pointer)] = allocation;
  memory->count++;
  return true;
}

/* Empties a slot and moves later entries of its run up, so that probing never meets a hole too early. */
static void erase(atmi_memory_t *memory, size_t hole) {
  size_t mask = memory->mask, i = hole;
  for (;;) {
    i = (i + 1) & mask;
    if (!memory->table[i])
      break;
    size_t home = atmi_memory_home(memory, memory->table[i]->pointer);
    if (((i - home) & mask) < ((i - hole) & mask))
      continue;
    memory->table[hole] = memory->table[i];
    hole = i;
  }
  memory->table[hole] = NULL;
  memory->count--;
}

/* ---- the cache ---- */

static uint8_t class_of(const atmi_memory_t *memory, uint64_t bytes, atmi_memory_kind_t kind) {
  if (kind != ATMI_MEMORY_DEVICE || !memory->threshold || bytes > memory->threshold)
    return ATMI_MEMORY_CLASSES;
  return bytes ? (uint8_t)atmi_memory_class(bytes) : 0;
}

static void destroy_block(atmi_allocation_t *block) {
  hsa_amd_memory_pool_free(block->pointer);
  free(block);
}

/* Returns all cached blocks to HSA. False if there were none. */
static bool empty_cache(atmi_memory_t *memory) {
  bool any = false;
  for (uint8_t size_class = 0; size_class < ATMI_MEMORY_CLASSES; size_class++) {
    for (;;) {
      atmi_spin_lock(&memory->lock);
      atmi_allocation_t *block = memory->cache[size_class];
      if (block) {
        memory->cache[size_class] = block->next;
        erase(memory, atmi_memory_find(memory, block->pointer));
      }
      atmi_spin_unlock(&memory->lock);
      if (!block)
        break;
      destroy_block(block);
      any = true;
    }
  }
  return any;
}

/* ---- HSA ---- */

static hsa_status_t allocate_from_hsa(const atmi_memory_site_t *site, atmi_memory_kind_t kind, uint64_t bytes,
                                      void **pointer) {
  const atmi_host_locks_t *locks = site->host_locks;
  hsa_amd_memory_pool_t pool = kind == ATMI_MEMORY_DEVICE ? site->own : site->host;
  hsa_status_t status = hsa_amd_memory_pool_allocate(pool, bytes ? bytes : 1, 0, pointer);
  if (status != HSA_STATUS_SUCCESS)
    return status;
  /* A device reaches its own memory anyway. Host memory is for all; device memory for the peers that can. */
  if (kind == ATMI_MEMORY_HOST) {
    status = hsa_amd_agents_allow_access(locks->device_count, locks->devices, NULL, *pointer);
    if (status != HSA_STATUS_SUCCESS)
      hsa_amd_memory_pool_free(*pointer);
  }
  return status;
}

/* What the program has of this kind, in bytes as asked for. */
static uint64_t count_live(atmi_memory_t *memory, atmi_memory_kind_t kind) {
  uint64_t bytes = 0;
  atmi_spin_lock(&memory->lock);
  for (size_t i = 0; i <= memory->mask; i++)
    if (memory->table[i] && memory->table[i]->size_class != ATMI_MEMORY_CACHED &&
        memory->table[i]->kind == (uint8_t)kind)
      bytes += memory->table[i]->bytes;
  atmi_spin_unlock(&memory->lock);
  return bytes;
}

/* HSA's reasons do not tell a full device from a limit of the process; the numbers do. */
static atmi_status_t describe_failure(atmi_memory_t *memory, hsa_status_t status, atmi_memory_kind_t kind,
                                      uint64_t bytes) {
  const char *label = memory->site.label;
  unsigned long long live = count_live(memory, kind);
  if (kind == ATMI_MEMORY_HOST)
    return atmi_fail(atmi_status_from_hsa(status), label,
                     "cannot allocate %llu bytes of host memory, besides %llu that the program has there for "
                     "devices: %s; allocate less at a time",
                     (unsigned long long)bytes, live, atmi_hsa_reason(status));
  return atmi_fail(
      atmi_status_from_hsa(status), label,
      "cannot allocate %llu bytes of device memory: the device has %llu, of which the program holds %llu; "
      "%s; map less data at a time, or use a device with more memory",
      (unsigned long long)bytes, (unsigned long long)memory->site.own_bytes, live, atmi_hsa_reason(status));
}

/* A block of HSA's, known to the table. */
static __attribute__((noinline)) atmi_status_t make_block(atmi_memory_t *memory,
                                                          const atmi_allocation_t *wanted, void **pointer) {
  const atmi_memory_site_t *site = &memory->site;
  atmi_memory_kind_t kind = (atmi_memory_kind_t)wanted->kind;
  bool cached = wanted->size_class < ATMI_MEMORY_CLASSES;
  uint64_t size = cached ? UINT64_C(1) << (wanted->size_class + ATMI_MEMORY_PAGE_SHIFT) : wanted->bytes;
  atmi_allocation_t *block = malloc(sizeof *block);
  bool recorded = false;
  if (block) {
    *block = *wanted;
    hsa_status_t status = allocate_from_hsa(site, kind, size, &block->pointer);
    if (status != HSA_STATUS_SUCCESS && empty_cache(memory))
      status = allocate_from_hsa(site, kind, size, &block->pointer);
    if (status != HSA_STATUS_SUCCESS) {
      free(block);
      return describe_failure(memory, status, kind, wanted->bytes);
    }
    if (kind == ATMI_MEMORY_DEVICE)
      atmi_access_mark_device(site->host_locks->access, block->pointer, size);
    atmi_spin_lock(&memory->lock);
    recorded = insert(memory, block);
    atmi_spin_unlock(&memory->lock);
  }
  if (!recorded) {
    if (block)
      destroy_block(block);
    return atmi_fail(ATMI_NO_MEMORY, site->label, "cannot allocate %llu bytes: out of host memory",
                     (unsigned long long)wanted->bytes);
  }
  *pointer = block->pointer;
  return ATMI_OK;
}

static void *take_cached(atmi_memory_t *memory, const atmi_allocation_t *wanted) {
  if (wanted->size_class == ATMI_MEMORY_CLASSES)
    return NULL;
  atmi_spin_lock(&memory->lock);
  const atmi_allocation_t *block = atmi_memory_pop(memory, wanted->size_class, wanted->bytes, wanted->host);
  void *pointer = block ? block->pointer : NULL;
  atmi_spin_unlock(&memory->lock);
  return pointer;
}

static atmi_status_t allocate(atmi_memory_t *memory, uint64_t bytes, atmi_memory_kind_t kind,
                              const void *host, void **pointer) {
  const atmi_allocation_t wanted = {
      .host = host, .bytes = bytes, .kind = (uint8_t)kind, .size_class = class_of(memory, bytes, kind)};
  *pointer = take_cached(memory, &wanted);
  return *pointer ? ATMI_OK : make_block(memory, &wanted, pointer);
}

static __attribute__((noinline)) atmi_status_t describe_stranger(const atmi_memory_t *memory,
                                                                 const void *pointer) {
  return atmi_fail(ATMI_INVALID, memory->site.label,
                   "cannot free %p: it is not allocated on this device (freed twice?)", pointer);
}

/* Kernels and copies of a lost device may use the block yet: letting go of its signals ends none, and begins
 * copies that waited for them. Nobody gets it again. */
static bool keep_for_lost(const atmi_memory_t *memory, atmi_allocation_t *block) {
  if (!atomic_load_explicit(memory->site.lost, memory_order_acquire))
    return false;
  block->size_class = ATMI_MEMORY_CACHED;
  return true;
}

static atmi_status_t release(atmi_memory_t *memory, void *pointer) {
  if (!pointer)
    return ATMI_OK;
  atmi_spin_lock(&memory->lock);
  size_t slot = atmi_memory_find(memory, pointer);
  atmi_allocation_t *block = memory->table[slot];
  bool live = block && block->size_class != ATMI_MEMORY_CACHED;
  bool kept = live && (keep_for_lost(memory, block) || atmi_memory_push(memory, block));
  if (live && !kept)
    erase(memory, slot);
  atmi_spin_unlock(&memory->lock);
  if (!live)
    return describe_stranger(memory, pointer);
  if (kept)
    return ATMI_OK;
  if (block->pin)
    atmi_host_unkeep(memory->site.host_locks, block->pin);
  free(block);
  hsa_status_t status = hsa_amd_memory_pool_free(pointer);
  if (status != HSA_STATUS_SUCCESS)
    return atmi_fail(ATMI_HSA_FAILED, memory->site.label, "cannot free %p: %s", pointer,
                     atmi_hsa_reason(status));
  return ATMI_OK;
}

void atmi_memory_note_allocation(const atmi_memory_t *memory, atmi_memory_kind_t kind, uint64_t begin,
                                 uint64_t bytes) {
  atmi_timeline_host_bytes(memory->site.timeline, "memory",
                           kind == ATMI_MEMORY_DEVICE ? "allocate device memory" : "allocate host memory",
                           begin ? begin : atmi_timeline_now(), bytes);
}

void atmi_memory_note_release(const atmi_memory_t *memory, uint64_t begin) {
  atmi_timeline_host(memory->site.timeline, "memory", "free memory", begin ? begin : atmi_timeline_now());
}

atmi_status_t atmi_memory_allocate_for(atmi_memory_t *memory, uint64_t bytes, atmi_memory_kind_t kind,
                                       const void *host, void **pointer) {
  uint64_t begin = memory->site.timeline ? atmi_timeline_now() : 0;
  atmi_status_t status = allocate(memory, bytes, kind, host, pointer);
  if (begin)
    atmi_memory_note_allocation(memory, kind, begin, bytes);
  return status;
}

atmi_status_t atmi_memory_free(atmi_memory_t *memory, void *pointer) {
  uint64_t begin = memory->site.timeline ? atmi_timeline_now() : 0;
  atmi_status_t status = release(memory, pointer);
  if (begin)
    atmi_memory_note_release(memory, begin);
  return status;
}

bool atmi_memory_nearest(atmi_memory_t *memory, uint64_t address, atmi_allocation_t *allocation) {
  bool found = false;
  atmi_spin_lock(&memory->lock);
  for (size_t i = 0; i <= memory->mask; i++) {
    const atmi_allocation_t *candidate = memory->table[i];
    uint64_t begin = candidate && candidate->size_class != ATMI_MEMORY_CACHED
                         ? (uint64_t)(uintptr_t)candidate->pointer
                         : 0;
    if (!begin || begin > address || (found && begin < (uint64_t)(uintptr_t)allocation->pointer))
      continue;
    *allocation = *candidate;
    found = true;
  }
  atmi_spin_unlock(&memory->lock);
  return found;
}

/* ---- host memory of large blocks ---- */

/* The block of a mapping that holds all of these bytes. Under the lock. Copies mostly begin where the block
 * does. */
static atmi_allocation_t *find_mapping(const atmi_memory_t *memory, const void *pointer, const void *host,
                                       uint64_t bytes) {
  uintptr_t at = (uintptr_t)pointer, host_at = (uintptr_t)host;
  atmi_allocation_t *exact = memory->table[atmi_memory_find(memory, pointer)];
  for (size_t i = 0; i <= memory->mask; i++) {
    atmi_allocation_t *block = exact ? exact : memory->table[i];
    uint64_t into = block ? at - (uintptr_t)block->pointer : 0;
    /* Blocks for the cache change hands too fast to have their memory pinned. */
    if (block && block->host && block->size_class == ATMI_MEMORY_CLASSES && into < block->bytes &&
        bytes <= block->bytes - into && host_at - (uintptr_t)block->host == into)
      return block;
    if (exact)
      return NULL;
  }
  return NULL;
}

void atmi_memory_pin(atmi_memory_t *memory, const void *pointer, const void *host, uint64_t bytes) {
  atmi_host_locks_t *locks = memory->site.host_locks;
  if (!locks->keep_ms)
    return;
  atmi_spin_lock(&memory->lock);
  const atmi_allocation_t *found = find_mapping(memory, pointer, host, bytes);
  atmi_allocation_t mapping = found ? *found : (atmi_allocation_t){0};
  atmi_spin_unlock(&memory->lock);
  uint64_t pin = found ? atmi_host_keep(locks, memory->site.agent, mapping.host, mapping.bytes) : 0;
  if (!pin)
    return;
  /* Without the lock the block may have gone, or another thread may have done the same. An older pin is over,
   * or it would have been used. */
  atmi_spin_lock(&memory->lock);
  atmi_allocation_t *block = find_mapping(memory, pointer, host, bytes);
  uint64_t spare = pin;
  if (block && block->host == mapping.host) {
    spare = block->pin;
    block->pin = pin;
  }
  atmi_spin_unlock(&memory->lock);
  if (spare)
    atmi_host_unkeep(locks, spare);
}

/* ---- variables of images ---- */

void atmi_memory_add_variable(atmi_memory_t *memory, const void *owner, const char *name, uint64_t begin,
                              uint64_t bytes) {
  atmi_variable_t *variable = malloc(sizeof *variable);
  if (!variable)
    return;
  *variable = (atmi_variable_t){.owner = owner, .name = name, .begin = begin, .bytes = bytes};
  atmi_access_mark_device(memory->site.host_locks->access, (const void *)(uintptr_t)begin, bytes);
  atmi_spin_lock(&memory->lock);
  variable->next = memory->variables;
  memory->variables = variable;
  atmi_spin_unlock(&memory->lock);
}

void atmi_memory_remove_variables(atmi_memory_t *memory, const void *owner) {
  atmi_spin_lock(&memory->lock);
  for (atmi_variable_t **at = &memory->variables; *at;) {
    atmi_variable_t *variable = *at;
    if (variable->owner != owner) {
      at = &variable->next;
      continue;
    }
    *at = variable->next;
    free(variable);
  }
  atmi_spin_unlock(&memory->lock);
}

bool atmi_memory_nearest_variable(atmi_memory_t *memory, uint64_t address, atmi_variable_t *variable) {
  bool found = false;
  atmi_spin_lock(&memory->lock);
  for (const atmi_variable_t *candidate = memory->variables; candidate; candidate = candidate->next) {
    if (candidate->begin > address || (found && candidate->begin < variable->begin))
      continue;
    *variable = *candidate;
    found = true;
  }
  atmi_spin_unlock(&memory->lock);
  return found;
}

void atmi_memory_fini(atmi_memory_t *memory) {
  if (!memory->site.host_locks)
    return;
  empty_cache(memory);
  while (memory->variables) {
    atmi_variable_t *variable = memory->variables;
    memory->variables = variable->next;
    free(variable);
  }
  for (size_t i = 0; i <= memory->mask; i++)
    if (memory->table[i])
      destroy_block(memory->table[i]);
  free_table(memory);
  *memory = (atmi_memory_t){0};
}
