/* See memory.h. */
#include "translate/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE_BYTES = 4096, LINE_BYTES = 64 };

/* jmp *0(%rip), and the address behind it. */
static void write_jump(uint8_t *at, gs_extern_t *target) {
  static const uint8_t jump[] = {0xff, 0x25, 0, 0, 0, 0};
  memcpy(at, jump, sizeof jump);
  memcpy(at + sizeof jump, &target, sizeof target);
}

/* Writes what stencils refer to. Returns where it ends. */
static size_t fill(gs_arena_t *arena, const gs_stencil_table_t *table) {
  memcpy(arena->base, table->pool, table->pool_bytes);
  arena->jumps = (table->pool_bytes + GS_POOL_ALIGNMENT - 1) / GS_POOL_ALIGNMENT * GS_POOL_ALIGNMENT;
  for (size_t i = 0; i < table->extern_count; i++)
    write_jump(arena->base + arena->jumps + GS_ARENA_JUMP_BYTES * i, table->externs[i]);
  return arena->jumps + GS_ARENA_JUMP_BYTES * table->extern_count;
}

gs_arena_t *gs_arena_create(const gs_stencil_table_t *table) {
  gs_arena_t *arena = calloc(1, sizeof *arena);
  if (!arena)
    return NULL;
  void *base = mmap(NULL, GS_ARENA_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) {
    free(arena);
    return NULL;
  }
  arena->base = base;
  arena->size = GS_ARENA_BYTES;
  if (gs_arena_add(arena, fill(arena, table)))
    return arena;
  const int error = errno;
  gs_arena_destroy(arena);
  errno = error;
  return NULL;
}

void gs_arena_destroy(gs_arena_t *arena) {
  munmap(arena->base, arena->size);
  free(arena);
}

/* Blocks begin at different offsets in their pages: caches find room by those. */
size_t gs_arena_next(const gs_arena_t *arena) {
  enum { OFFSETS = 24, STEP = 7 };
  return arena->used + arena->blocks * STEP % OFFSETS * LINE_BYTES;
}

bool gs_arena_add(gs_arena_t *arena, size_t end) {
  const size_t rounded = (end + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
  if (mprotect(arena->base + arena->used, rounded - arena->used, PROT_READ | PROT_EXEC))
    return false;
  arena->used = rounded;
  arena->blocks++;
  return true;
}
