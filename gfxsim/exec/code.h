/* Decoded code, cached by address: each line of device memory is decoded once, however many waves run through
 * it. Not here: decoding (isa/), and running (run.c). */
#ifndef GFXSIM_EXEC_CODE_H
#define GFXSIM_EXEC_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vm.h"
#include "isa/inst.h"

enum { GS_LINE_BYTES = 512, GS_LINE_SLOTS = GS_LINE_BYTES / 4 };

/* One decoded line. Every dword has a slot, whether or not an instruction starts there. Immutable once
 * published. */
typedef struct gs_code_line {
  uint64_t base; /* address of slot 0, a multiple of GS_LINE_BYTES */
  struct gs_code_line *next;
  /* The last instruction may end beyond the line, but no step leads out of here. */
  gs_inst_t inst[GS_LINE_SLOTS + 2];
} gs_code_line_t;

/* The decoded code of one device during one code epoch (see gs_vm_map_t). Reference-counted; any number of
 * threads look up in it without locks while others add lines. */
typedef struct gs_code gs_code_t;

/* Makes an empty cache with one reference. `handlers` is the table that binds opcodes to their execution.
 * NULL when out of memory. */
gs_code_t *gs_code_create(gs_target_t target, gs_op_fn_t *const *handlers, uint64_t epoch);
gs_code_t *gs_code_acquire(gs_code_t *code);
/* Drops a reference; the last one frees every line. Accepts NULL. */
void gs_code_release(gs_code_t *code);
uint64_t gs_code_epoch(const gs_code_t *code);

/* The line that contains `address`, decoding it if it is new. NULL when the GPU may not execute there, or out
 * of memory: gs_code_decode tells which. The line lives as long as the cache. */
const gs_code_line_t *gs_code_line(gs_code_t *code, const gs_vm_map_t *map, uint64_t address);
/* Decodes the line that contains `address` into `line`, which is the caller's. Returns false when the GPU may
 * not execute there. */
bool gs_code_decode(gs_target_t target, gs_op_fn_t *const *handlers, const gs_vm_map_t *map, uint64_t address,
                    gs_code_line_t *line);

#endif
