/* Reads the code of stencils for strips when gfxsim is built: what each instruction of the host reads and
 * writes. Not here: what becomes of that (strip.c). */
#ifndef GFXSIM_TRANSLATE_MKSTRIP_H
#define GFXSIM_TRANSLATE_MKSTRIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "translate/table.h"

/* The hole at `at`: its number among the stencil's patches, GS_NO_PATCH where there is none, and whether it
 * is a row's. */
typedef struct mkstrip_hole {
  uint8_t patch;
  bool is_row;
} mkstrip_hole_t;
typedef mkstrip_hole_t mkstrip_find_t(void *context, size_t at);

/* Reads a stencil's instructions, for strips of `lanes` lanes. Returns why it cannot be in a strip, or NULL.
 */
const char *mkstrip_read(const uint8_t *code, size_t size, unsigned lanes, mkstrip_find_t *find,
                         void *context, gs_op_t *ops, size_t most, size_t *count);

/* Copies code to `wide`, which has room for 3/2 of its size, with the long prefix in place of the short one
 * of VEX instructions: that one can have all registers. `to` has room for one more than `size`: where each
 * byte is then, and where the code ends. Returns false where Zydis does not know an instruction. */
bool mkstrip_widen(const uint8_t *code, size_t size, uint8_t *wide, uint16_t *to);

/* Whether an instruction of the code begins at `at`. */
bool mkstrip_begins_at(const uint8_t *code, size_t size, size_t at);

#endif
