/* Registers of the host for the values of a strip, and the strip's code. What is known of the host's
 * instructions is where the EVEX and VEX prefixes have the numbers of registers. Not here: which values there
 * are (strip.c). */
#ifndef GFXSIM_TRANSLATE_STRIP_EMIT_H
#define GFXSIM_TRANSLATE_STRIP_EMIT_H

#include "translate/strip.h"

/* Makes an access to a row one to a register. */
void gs_strip_row_to_register(gs_strip_value_t *value);
/* Gives an instruction the register `number` in this place. */
void gs_strip_set_register(gs_strip_value_t *value, unsigned field, unsigned number);
/* Whether an EVEX instruction on floats is one on doubles. */
bool gs_strip_is_of_doubles(const gs_strip_value_t *value);

#endif
