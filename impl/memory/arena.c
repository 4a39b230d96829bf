/* Arenas of pinned host memory over recycled blocks. */
#include "memory/arena.h"

#include "base/hsa.h"

static atmi_status_t make_block(void *object, void *context) {
  const atmi_block_backing_t *backing = context;
  atmi_block_t *block = object;
  void *memory = NULL;
  hsa_status_t status = hsa_amd_memory_pool_allocate(backing->pool, backing->block_bytes, 0, &memory);
  if (status == HSA_STATUS_SUCCESS) {
    status = hsa_amd_agents_allow_access(1, &backing->agent, NULL, memory);
    if (status != HSA_STATUS_SUCCESS)
      hsa_amd_memory_pool_free(memory);
  }
  if (status != HSA_STATUS_SUCCESS)
    return atmi_fail(atmi_status_from_hsa(status), backing->where,
                     "cannot allocate %zu bytes of %s memory: %s", backing->block_bytes, backing->what,
                     atmi_hsa_reason(status));
  block->memory = memory;
  return ATMI_OK;
}

static void destroy_block(void *object, void *context) {
  (void)context;
  hsa_amd_memory_pool_free(((atmi_block_t *)object)->memory);
}

void atmi_block_pool_init(atmi_pool_t *pool, const atmi_block_backing_t *backing) {
  atmi_pool_init(pool, sizeof(atmi_block_t), make_block, destroy_block, (void *)(uintptr_t)backing);
}

static void enter_block(atmi_arena_t *arena, atmi_block_t *block) {
  arena->current = block;
  arena->next = block->memory;
  arena->end = block->memory + arena->block_bytes;
}

atmi_status_t atmi_arena_allocate_more(atmi_arena_t *arena, size_t bytes, void **memory) {
  void *object;
  if (bytes > arena->block_bytes)
    return ATMI_INVALID;
  atmi_status_t status = atmi_pool_take(arena->pool, &object);
  if (status)
    return status;
  atmi_block_t *block = object;
  block->older = arena->current;
  enter_block(arena, block);
  return atmi_arena_allocate(arena, bytes, memory);
}

void atmi_arena_shrink(atmi_arena_t *arena) {
  atmi_block_t *block = arena->current;
  while (block->older) {
    atmi_block_t *older = block->older;
    atmi_pool_put(arena->pool, block);
    block = older;
  }
  enter_block(arena, block);
}
