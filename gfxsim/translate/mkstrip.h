/* A part of mkstencils: what a stencil must be so that it can be in a strip (strip.h), and where it has
 * registers of the wave. Reads the host's instructions with Zydis. Not here: object files and tables
 * (mkstencils.c). */
#ifndef GFXSIM_TRANSLATE_MKSTRIP_H
#define GFXSIM_TRANSLATE_MKSTRIP_H

#include <stddef.h>
#include <stdint.h>

/* Whether the patch at `at` is the displacement of an access to a wave's register. */
typedef int mkstrip_is_row_t(void *context, size_t at);

/* An access to a register of the wave: an instruction whose form for registers differs from it by nothing but
 * its operand. */
typedef struct mkstrip_access {
  size_t instruction, displacement; /* where they begin, in bytes from the stencil's begin */
  const char *form;                 /* what patches of this kind have as form: GS_PATCH_ROW_... */
} mkstrip_access_t;

/* Reads a stencil of `size` bytes, whose last jump may be left out, and writes its accesses, at most `most`,
 * to `accesses`. `rows` tells the accesses from others. Returns why the stencil can't be in a strip, or NULL.
 */
const char *mkstrip_read(const uint8_t *code, size_t size, mkstrip_is_row_t *is_row, void *context,
                         mkstrip_access_t *accesses, size_t most, size_t *count);

#endif
