/* Reads instructions where they lie in device memory, for those who look at code. Not here: what executes
 * them (code.h), and what is near them (place.h). */
#ifndef GFXSIM_EXEC_INSTRUCTION_H
#define GFXSIM_EXEC_INSTRUCTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vm.h"
#include "isa/wave.h"

/* The instruction at `pc`, which may be the last in its memory. False where no code is. Pure. */
bool gs_instruction_at(const gs_vm_map_t *map, gs_target_t target, uint64_t pc, gs_inst_t *in);

/* The same by the memory that the wave sees. On the thread that runs the wave. */
bool gs_instruction_seen(const gs_wave_t *w, uint64_t pc, gs_inst_t *in);

/* The one that the wave is executing, which accesses memory (its program counter is behind it). On the thread
 * that runs the wave. */
bool gs_instruction_in_hand(const gs_wave_t *w, gs_inst_t *in);

#endif
