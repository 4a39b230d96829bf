/* See level.h. The build defines GS_STENCILS_V3 and GS_STENCILS_V4 when it has tables for these levels. */
#include "translate/level.h"

#include <string.h>

#if defined(GS_STENCILS_V3)
extern const gs_stencil_table_t gs_stencils_v3_64, gs_stencils_v3_32;
#endif
#if defined(GS_STENCILS_V4)
extern const gs_stencil_table_t gs_stencils_v4_64, gs_stencils_v4_32;
#endif

static const struct {
  const char *level;
  const gs_stencil_table_t *wide, *narrow;
} tables[] = {
#if defined(GS_STENCILS_V3)
    {"v3", &gs_stencils_v3_64, &gs_stencils_v3_32},
#endif
#if defined(GS_STENCILS_V4)
    {"v4", &gs_stencils_v4_64, &gs_stencils_v4_32},
#endif
    {NULL, NULL, NULL},
};

static const gs_stencil_table_t *find(const char *level, bool is_narrow) {
  for (size_t i = 0; tables[i].level; i++)
    if (strcmp(tables[i].level, level) == 0)
      return is_narrow ? tables[i].narrow : tables[i].wide;
  return NULL;
}

const gs_stencil_table_t *gs_stencils_like(const gs_handler_t *handlers) {
  for (size_t i = 0; i < gs_level_count; i++)
    if (handlers == gs_levels[i].handlers || handlers == gs_levels[i].wave32_handlers)
      return find(gs_levels[i].name, handlers == gs_levels[i].wave32_handlers);
  return NULL;
}
