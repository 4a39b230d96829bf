/* Memory of one device: a table of all live allocations, and a cache of freed blocks. Not here: copies
 * (stream/stream), because they are ordered with kernels. */
#ifndef ATMI_MEMORY_MEMORY_H
#define ATMI_MEMORY_MEMORY_H

#include "base/spin.h"
#include "base/timeline.h"
#include "memory/host_lock.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum atmi_memory_kind {
  ATMI_MEMORY_DEVICE, /* the device's own, coarse-grained */
  ATMI_MEMORY_HOST,   /* host memory that all devices can access coherently */
} atmi_memory_kind_t;

/* Blocks are kept by the power of two of their size, from one page up. */
enum { ATMI_MEMORY_PAGE_SHIFT = 12, ATMI_MEMORY_CLASSES = 20, ATMI_MEMORY_CACHED };

typedef struct atmi_allocation {
  void *pointer;
  const void *host;             /* what it is the device's copy of, or NULL; never read */
  uint64_t bytes;               /* as asked for */
  struct atmi_allocation *next; /* among cached blocks of the same size */
  uint8_t kind;                 /* atmi_memory_kind_t */
  /* Of a live block: the power of two of its size, or ATMI_MEMORY_CLASSES if it will not be cached.
   * ATMI_MEMORY_CACHED: it is. */
  uint8_t size_class;
  uint64_t pin; /* of `host`, see atmi_host_keep; 0: none */
} atmi_allocation_t;

/* A variable of a loaded image. */
typedef struct atmi_variable {
  struct atmi_variable *next;
  const void *owner;
  const char *name;
  uint64_t begin, bytes;
} atmi_variable_t;

/* Whose memory it is. What is pointed to must outlive it. */
typedef struct atmi_memory_site {
  const char *label; /* of the device, for messages */
  hsa_agent_t agent;
  hsa_amd_memory_pool_t own, host; /* the device's, and the host's nearest to it */
  uint64_t own_bytes;              /* how large its own is */
  atmi_host_locks_t *host_locks;   /* the machine's */
  atmi_timeline_t *timeline;       /* the machine's; NULL: none */
  const atomic_bool *lost;         /* the device's: it may be at work yet, whatever its signals say */
} atmi_memory_site_t;

typedef struct atmi_memory {
  atmi_memory_site_t site;
  uint64_t threshold; /* largest size that is cached */
  atmi_spin_t lock;   /* held for table and cache only, never across a call of HSA */
  /* Live and cached blocks, by pointer: open addressing with linear probing, at most half full. */
  atmi_allocation_t **table;
  size_t mask, count; /* mask: number of slots - 1, 0 while there are no blocks */
  atmi_allocation_t *cache[ATMI_MEMORY_CLASSES];
  atmi_variable_t *variables; /* guarded by the lock, too */
} atmi_memory_t;

void atmi_memory_init(const atmi_memory_site_t *site, uint64_t threshold, atmi_memory_t *memory);
/* Returns everything to HSA, also what nobody freed. Accepts a zeroed object. */
void atmi_memory_fini(atmi_memory_t *memory);

/* The class of a size that is not 0. */
static inline uint32_t atmi_memory_class(uint64_t bytes) {
  return 63 - (uint32_t)__builtin_clzll(2 * ((bytes - 1) >> ATMI_MEMORY_PAGE_SHIFT) + 1);
}

/* Where a pointer is looked for first. That blocks begin at pages, so that the low bits of the product are 0,
 * does not matter: those that are taken depend on all bits of the pointer up to them. */
static inline size_t atmi_memory_home(const atmi_memory_t *memory, const void *pointer) {
  return (size_t)((uintptr_t)pointer * UINT64_C(0x9e3779b97f4a7c15) >> 32) & memory->mask;
}

/* The slot of a pointer, or the empty one where it would be. */
static inline size_t atmi_memory_find(const atmi_memory_t *memory, const void *pointer) {
  size_t i = atmi_memory_home(memory, pointer);
  while (memory->table[i] && memory->table[i]->pointer != pointer)
    i = (i + 1) & memory->mask;
  return i;
}

/* Takes a block out of the cache, and puts one into it; under the lock. NULL: there is none. False: it is not
 * for the cache. */
static inline atmi_allocation_t *atmi_memory_pop(atmi_memory_t *memory, uint32_t size_class, uint64_t bytes,
                                                 const void *host) {
  atmi_allocation_t *block = memory->cache[size_class];
  if (!block)
    return NULL;
  memory->cache[size_class] = block->next;
  block->host = host;
  block->bytes = bytes;
  block->size_class = (uint8_t)size_class;
  return block;
}

static inline bool atmi_memory_push(atmi_memory_t *memory, atmi_allocation_t *block) {
  if (block->size_class >= ATMI_MEMORY_CLASSES)
    return false;
  block->next = memory->cache[block->size_class];
  memory->cache[block->size_class] = block;
  block->size_class = ATMI_MEMORY_CACHED;
  return true;
}

/* Tells the timeline, which there is, what began at `begin` (0: just now) and has ended. */
void atmi_memory_note_allocation(const atmi_memory_t *memory, atmi_memory_kind_t kind, uint64_t begin,
                                 uint64_t bytes);
void atmi_memory_note_release(const atmi_memory_t *memory, uint64_t begin);

/* The first way of allocating device memory, tried before the general one: from the cache. False if that has
 * none, or is in use. */
static inline bool atmi_memory_take_cached(atmi_memory_t *memory, uint64_t bytes, const void *host,
                                           void **pointer) {
  if (bytes - 1 >= memory->threshold || !atmi_spin_try(&memory->lock))
    return false;
  uint32_t size_class = atmi_memory_class(bytes);
  const atmi_allocation_t *block = atmi_memory_pop(memory, size_class, bytes, host);
  if (block)
    *pointer = block->pointer;
  atmi_spin_unlock(&memory->lock);
  if (memory->site.timeline && block)
    atmi_memory_note_allocation(memory, ATMI_MEMORY_DEVICE, 0, bytes);
  return block;
}

/* The first way of freeing: into the cache. False, and nothing has happened, if it is no live block for the
 * cache, or the cache is in use. */
static inline bool atmi_memory_put_cached(atmi_memory_t *memory, const void *pointer) {
  if (!atmi_spin_try(&memory->lock))
    return false;
  atmi_allocation_t *block = memory->table[atmi_memory_find(memory, pointer)];
  bool done = block && atmi_memory_push(memory, block);
  atmi_spin_unlock(&memory->lock);
  if (memory->site.timeline && done)
    atmi_memory_note_release(memory, 0);
  return done;
}

/* Allocates; the content is undefined. `bytes` may be 0: the result is a valid pointer then too. When the
 * device is out of memory, the cache is emptied before the allocation fails. `host` is what the memory will
 * be a copy of, to be named in reports; may be NULL. Thread-safe. Fails with ATMI_NO_MEMORY or
 * ATMI_HSA_FAILED, described. */
ATMI_MUST_CHECK atmi_status_t atmi_memory_allocate_for(atmi_memory_t *memory, uint64_t bytes,
                                                       atmi_memory_kind_t kind, const void *host,
                                                       void **pointer);

/* Pins the host memory that a large block is the copy of, if `pointer` lies in such a block and `host` at the
 * same place of that memory, both for `bytes`. It stays pinned until the block is freed, as the program must
 * keep memory that it has mapped, or until no copy has used it for long (atmi_host_keep). Nothing if the user
 * wants each copy to pin. Thread-safe. */
void atmi_memory_pin(atmi_memory_t *memory, const void *pointer, const void *host, uint64_t bytes);

/* The same for nothing of the host's. */
static inline ATMI_MUST_CHECK atmi_status_t atmi_memory_allocate(atmi_memory_t *memory, uint64_t bytes,
                                                                 atmi_memory_kind_t kind, void **pointer) {
  return atmi_memory_allocate_for(memory, bytes, kind, NULL, pointer);
}

/* Frees what atmi_memory_allocate gave; NULL is accepted. No operation may still use the block. Memory of a
 * lost device is kept until atmi_memory_fini: of its operations nobody knows the end. Thread-safe. Fails with
 * ATMI_INVALID, described, for any other pointer. */
ATMI_MUST_CHECK atmi_status_t atmi_memory_free(atmi_memory_t *memory, void *pointer);

/* The live allocation that contains the address, or else the nearest one below it. False if there is none.
 * For messages about faults. */
bool atmi_memory_nearest(atmi_memory_t *memory, uint64_t address, atmi_allocation_t *allocation);

/* Makes a variable of an image known for reports, until its owner (the code object) takes its variables back.
 * The name must live so long. Without host memory for it, reports go without. */
void atmi_memory_add_variable(atmi_memory_t *memory, const void *owner, const char *name, uint64_t begin,
                              uint64_t bytes);
void atmi_memory_remove_variables(atmi_memory_t *memory, const void *owner);

/* As atmi_memory_nearest, among variables; `*variable` is a copy. */
bool atmi_memory_nearest_variable(atmi_memory_t *memory, uint64_t address, atmi_variable_t *variable);

#endif
