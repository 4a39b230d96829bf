/* The tables of stencils that this build has. Not here: what is in them. */
#ifndef GFXSIM_TRANSLATE_LEVEL_H
#define GFXSIM_TRANSLATE_LEVEL_H

#include "isa/ops.h"
#include "translate/table.h"

/* The table made from the same definitions, for the same level and width, as these handlers; NULL when the
 * build has none. */
const gs_stencil_table_t *gs_stencils_like(const gs_handler_t *handlers);

#endif
