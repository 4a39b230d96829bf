/* Pinned host memory that a stream hands out front to back and takes back all at once when it is idle:
 * argument blocks of launches, and staging buffers of copies. The blocks behind it are recycled through pools
 * of the device. Belongs to one stream, so it needs no lock. */
#ifndef ATMI_MEMORY_ARENA_H
#define ATMI_MEMORY_ARENA_H

#include "base/pool.h"

#include <hsa/hsa_ext_amd.h>

/* Where blocks of one kind come from: memory of `pool` that `agent` can access. */
typedef struct atmi_block_backing {
  hsa_amd_memory_pool_t pool;
  hsa_agent_t agent;
  size_t block_bytes;
  const char *where; /* the device's label */
  const char *what;  /* "kernel argument", for messages */
} atmi_block_backing_t;

typedef struct atmi_block {
  atmi_pool_link_t link;
  struct atmi_block *older; /* in an arena: the block that was filled before this one */
  char *memory;
} atmi_block_t;

/* A pool of blocks; `backing` must outlive it. */
void atmi_block_pool_init(atmi_pool_t *pool, const atmi_block_backing_t *backing);

/* Zeroed, with `pool` and `block_bytes` set, is an empty arena. */
typedef struct atmi_arena {
  atmi_pool_t *pool;
  size_t block_bytes;
  atmi_block_t *current;
  char *next, *end; /* what is left of the current block; both NULL without one */
} atmi_arena_t;

enum { ATMI_ARENA_ALIGNMENT = 64 };

/* As atmi_arena_allocate, when the current block has no room. */
ATMI_MUST_CHECK atmi_status_t atmi_arena_allocate_more(atmi_arena_t *arena, size_t bytes, void **memory);

/* Memory for `bytes` (at most the block size), aligned to 64, alive until the reset. Fails as the pool does,
 * or with ATMI_INVALID, not described, if no block is large enough. */
ATMI_MUST_CHECK static inline atmi_status_t atmi_arena_allocate(atmi_arena_t *arena, size_t bytes,
                                                                void **memory) {
  size_t rounded = (bytes + ATMI_ARENA_ALIGNMENT - 1) & ~(size_t)(ATMI_ARENA_ALIGNMENT - 1);
  /* A size close to SIZE_MAX rounds to 0: the second comparison catches it. */
  if (rounded > (size_t)(arena->end - arena->next) || bytes > rounded)
    return atmi_arena_allocate_more(arena, bytes, memory);
  *memory = arena->next;
  arena->next += rounded;
  return ATMI_OK;
}

/* Gives all blocks but the first back to their pool. */
void atmi_arena_shrink(atmi_arena_t *arena);

/* Takes back everything handed out; one block stays with the arena. */
static inline void atmi_arena_reset(atmi_arena_t *arena) {
  if (!arena->current)
    return;
  if (arena->current->older)
    atmi_arena_shrink(arena);
  arena->next = arena->current->memory;
}

/* Forgets the blocks without giving them back: the device may still touch them. */
static inline void atmi_arena_abandon(atmi_arena_t *arena) {
  arena->current = NULL;
  arena->next = arena->end = NULL;
}

#endif
