/* Memory for translated code. A page is written first and executed then, never both; each block has pages of
 * its own. The memory is private, so that a process and its forks do not write each other's code. Not here:
 * what the code is (block.c). */
#ifndef GFXSIM_TRANSLATE_MEMORY_H
#define GFXSIM_TRANSLATE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "translate/table.h"

/* A piece of code memory. It begins with what stencils refer to: constants, and jumps to functions. */
typedef struct gs_arena {
  struct gs_arena *next;
  uint8_t *base;
  size_t size;
  size_t used;     /* bytes that can be executed; whole pages */
  size_t jumps;    /* offset of the first jump; each has GS_ARENA_JUMP_BYTES */
  unsigned blocks; /* that were added */
} gs_arena_t;

enum { GS_ARENA_BYTES = 1 << 20, GS_ARENA_JUMP_BYTES = 16 };

/* Makes one with what the table's stencils refer to. NULL, with errno, where the system gives no memory that
 * can be executed. */
gs_arena_t *gs_arena_create(const gs_stencil_table_t *table);
void gs_arena_destroy(gs_arena_t *arena);

/* Where the next block may be written, as an offset; at the arena's end or behind it when there is no room.
 */
size_t gs_arena_next(const gs_arena_t *arena);
/* Makes what was written up to `end` executable. Returns false, with errno, when the system refuses. */
bool gs_arena_add(gs_arena_t *arena, size_t end);

#endif
