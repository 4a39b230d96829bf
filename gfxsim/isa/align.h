/* Vector registers with odd numbers: why words that look like an instruction are none. Not here: what is one
 * (inst.h). */
#ifndef GFXSIM_ISA_ALIGN_H
#define GFXSIM_ISA_ALIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/target.h"

/* Whether words[0..count) would be an instruction of the target but for a vector register with an odd number.
 * gfx90a and gfx942 want even ones for operands of 64 bits and more and for the data of GWS, as LLVM's
 * assembler does. Pure; thread-safe. */
bool gs_is_misaligned(gs_target_t target, const uint32_t *words, size_t count);

#endif
