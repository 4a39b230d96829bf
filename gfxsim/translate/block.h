/* Translates blocks of decoded instructions to host code, by joining copies of stencils. A block begins
 * anywhere, goes on past branches that are not taken, and ends at a jump or at an instruction that may change
 * modes. Blocks go on to each other through cells, one for each address, which calls and returns find in a
 * table: where there is no block (yet), the cell's function returns to the caller, who interprets.
 * Not here: decoding, and who decides that a block is worth it (exec/). */
#ifndef GFXSIM_TRANSLATE_BLOCK_H
#define GFXSIM_TRANSLATE_BLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "isa/ops.h"
#include "isa/wave.h"

/* A block has no more instructions than this. */
enum { GS_BLOCK_MOST = 128 };

/* The code of a block, which is no function of the host's: gs_block_run calls it. */
typedef void gs_block_fn_t(gs_wave_t *w);
typedef _Atomic(gs_block_fn_t *) gs_cell_t;

/* What cells hold where there is no block. */
void gs_block_missing(gs_wave_t *w);

/* A block that jumps to computed addresses find, in a table by the lowest bits of their own. */
enum { GS_JUMPS = 1024 };
typedef struct gs_jump {
  uint64_t pc;
  gs_cell_t *cell;
} gs_jump_t;

/* Runs a wave from a block's first instruction, which is at its program counter, until it has stopped, used
 * up its turn (gs_wave_t.left), or come to an address without a block or to a block that is longer than what
 * is left of its turn. MODE is as gs_block_can_run wants it. */
void gs_block_run(gs_block_fn_t *block, gs_wave_t *w);

/* Whether the wave's modes are those that translated code is made for. */
static inline bool gs_block_can_run(const gs_wave_t *w) {
  return !w->fp_custom && !(w->mode & GS_MODE_CHANGES);
}

/* An address of code. */
typedef struct gs_code_place {
  const gs_inst_t *in; /* as long as the translator */
  gs_cell_t *cell;     /* likewise */
} gs_code_place_t;

/* Finds the instruction at `address`; false where there is none. */
typedef bool gs_code_find_t(void *context, uint64_t address, gs_code_place_t *place);

/* The translated code of one kind of wave. Not thread-safe, but for running the code. */
typedef struct gs_translator gs_translator_t;

/* Whether instructions that have these handlers can be translated: the build has stencils like them. */
bool gs_translator_is_available(const gs_handler_t *handlers);
/* Who looks at the registers of a wave but its own code. */
typedef enum gs_looks {
  GS_LOOKS_NEVER,
  GS_LOOKS_AT_END, /* when the wave has ended */
  GS_LOOKS_ALWAYS, /* between any two blocks, and when it faults */
} gs_looks_t;
/* Makes one for them. NULL without memory, or if it is not available. */
gs_translator_t *gs_translator_create(const gs_handler_t *handlers, gs_looks_t looks);
/* Frees all blocks, which nobody may run any more. Accepts NULL. */
void gs_translator_destroy(gs_translator_t *translator);

/* Translates the block at `address`, to which the caller then sets the cell. `count` is the number of its
 * instructions. NULL without memory for code. */
gs_block_fn_t *gs_translate(gs_translator_t *translator, uint64_t address, gs_code_find_t *find,
                            void *context, unsigned *count);
/* How many strips of its code have lately met what they had assumed not to be so. */
unsigned gs_translator_wary(const gs_translator_t *translator);

#endif
