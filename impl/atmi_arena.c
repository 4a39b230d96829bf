/* Arenas of pinned host memory over recycled blocks. */
#include "atmi_arena.h"

enum { ALIGNMENT = 64 };

static atmi_status_t make_block(void *object, void *context) {
  const atmi_block_source_t *source = context;
  atmi_block_t *block = object;
  void *memory = NULL;
  hsa_status_t status = hsa_amd_memory_pool_allocate(source->pool, source->block_bytes, 0, &memory);
  if (status == HSA_STATUS_SUCCESS) {
    status = hsa_amd_agents_allow_access(1, &source->agent, NULL, memory);
    if (status != HSA_STATUS_SUCCESS)
      hsa_amd_memory_pool_free(memory);
  }
  if (status != HSA_STATUS_SUCCESS)
    return atmi_fail(atmi_status_from_hsa(status), source->where,
                     "cannot allocate %zu bytes of %s memory: %s", source->block_bytes, source->what,
                     atmi_hsa_reason(status));
  block->memory = memory;
  return ATMI_OK;
}

static void destroy_block(void *object, void *context) {
  (void)context;
  hsa_amd_memory_pool_free(((atmi_block_t *)object)->memory);
}

void atmi_block_pool_init(atmi_pool_t *pool, const atmi_block_source_t *source) {
  atmi_pool_init(pool, sizeof(atmi_block_t), make_block, destroy_block, (void *)(uintptr_t)source);
}

static atmi_status_t add_block(atmi_arena_t *arena) {
  void *object;
  atmi_status_t status = atmi_pool_take(arena->pool, &object);
  if (status)
    return status;
  atmi_block_t *block = object;
  block->older = arena->current;
  arena->current = block;
  arena->used = 0;
  return ATMI_OK;
}

atmi_status_t atmi_arena_allocate(atmi_arena_t *arena, size_t bytes, void **memory) {
  if (!arena->current || bytes > arena->block_bytes - arena->used) {
    atmi_status_t status = bytes > arena->block_bytes ? ATMI_INVALID : add_block(arena);
    if (status)
      return status;
  }
  *memory = arena->current->memory + arena->used;
  size_t rounded = (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
  arena->used = rounded < arena->block_bytes - arena->used ? arena->used + rounded : arena->block_bytes;
  return ATMI_OK;
}

void atmi_arena_reset(atmi_arena_t *arena) {
  arena->used = 0;
  while (arena->current && arena->current->older) {
    atmi_block_t *block = arena->current;
    arena->current = block->older;
    atmi_pool_put(arena->pool, block);
  }
}
