/* Decoded code, cached by address: each line of device memory is decoded once, however many waves run through
 * it. Not here: decoding (isa/), and running (run.c). */
#ifndef GFXSIM_EXEC_CODE_H
#define GFXSIM_EXEC_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vm.h"
#include "isa/inst.h"
#include "translate/block.h"

enum { GS_LINE_BYTES = 512, GS_LINE_SLOTS = GS_LINE_BYTES / 4 };

/* Which handlers execute instructions. */
typedef struct gs_handlers {
  const gs_handler_t *usual;        /* in the order of gs_opcodes */
  gs_op_fn_t *(*watched)(size_t i); /* what executes row `i` instead, or NULL for the usual one; or NULL */
  const struct gs_watch *digests;   /* who wants a digest of each instruction, or NULL */
  gs_looks_t looks;                 /* at the registers of waves */
} gs_handlers_t;

/* Translated blocks that begin in a line. */
typedef struct gs_code_cells {
  gs_cell_t block[GS_LINE_SLOTS];      /* what the others are is only known once there is a block */
  uint16_t count[GS_LINE_SLOTS];       /* of the block's instructions */
  void **sums;                         /* what who watches has made of each; NULL = nobody has, of any */
  _Atomic uint8_t heat[GS_LINE_SLOTS]; /* how often the interpreter came here, at most GS_HEAT_NEVER - 1 */
} gs_code_cells_t;

enum { GS_HEAT_NEVER = 255 }; /* cannot be translated */

/* One decoded line. Every dword has a slot, whether or not an instruction starts there. Immutable once
 * published. */
typedef struct gs_code_line {
  uint64_t base; /* address of slot 0, a multiple of GS_LINE_BYTES */
  struct gs_code_line *next;
  gs_code_cells_t *cells; /* NULL where code is not translated */
  char *digests;          /* of `inst`, by whom the handlers name; NULL = there are none */
  /* The last instruction may end beyond the line, but no step leads out of here. */
  gs_inst_t inst[GS_LINE_SLOTS + 2];
} gs_code_line_t;

/* The decoded code of one device during one code epoch (see gs_vm_map_t). Reference-counted; any number of
 * threads look up in it without locks while others add lines. */
typedef struct gs_code gs_code_t;

/* Makes an empty cache with one reference. `handlers` is the table that binds opcodes to their execution;
 * translated code calls those that are not the usual ones. NULL when out of memory. */
gs_code_t *gs_code_create(gs_target_t target, const gs_handlers_t *handlers, uint64_t epoch, bool translates);
gs_code_t *gs_code_acquire(gs_code_t *code);
/* Drops a reference; the last one frees every line. Accepts NULL. */
void gs_code_release(gs_code_t *code);
uint64_t gs_code_epoch(const gs_code_t *code);

/* The line that contains `address`, decoding it if it is new. NULL when the GPU may not execute there, or out
 * of memory: gs_code_decode tells which. The line lives as long as the cache. */
const gs_code_line_t *gs_code_line(gs_code_t *code, const gs_vm_map_t *map, uint64_t address);
/* The block at slot `slot` of a line with cells, which is translated if it was not. NULL if it can't be.
 * Lives as long as the cache. */
gs_block_fn_t *gs_code_block(gs_code_t *code, const gs_vm_map_t *map, const gs_code_line_t *line,
                             size_t slot);
/* Decodes the line that contains `address` into `line`, which is the caller's. Returns false when the GPU may
 * not execute there. */
bool gs_code_decode(gs_target_t target, const gs_handlers_t *handlers, const gs_vm_map_t *map,
                    uint64_t address, gs_code_line_t *line);

#endif
