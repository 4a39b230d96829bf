/* The tables of stencils that this build has. Not here: what is in them. */
#ifndef GFXSIM_TRANSLATE_LEVEL_H
#define GFXSIM_TRANSLATE_LEVEL_H

#include "isa/inst.h"
#include "translate/table.h"

/* The table made from the same definitions, for the same level and width, as these handlers; NULL when the
 * build has none. */
const gs_stencil_table_t *gs_stencils_like(gs_op_fn_t *const *handlers);

#endif
