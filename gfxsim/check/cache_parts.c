/* See cache_parts.h. */
#include "check/cache_parts.h"

#include <stddef.h>

/* What belongs together stays on one line. */
/* clang-format off */
static const gs_caches_t parts[] = {
    {GS_GFX900 | GS_GFX906 | GS_GFX908, GS_BIT_GLC, 0, 0, .has_array = false, .local_is_probed = false},
    {GS_GFX90A, GS_BIT_GLC, 0, 0, .local_is_probed = true},
    {GS_GFX9_4, GS_BIT_SC1, 0, GS_BIT_SC1, .local_is_probed = true},
    {GS_GFX10, GS_BIT_GLC, GS_BIT_DLC, 0, .has_array = true, .local_is_probed = true, .copies_fence = true},
    /* Here dlc is about the last cache in front of memory, which all share. */
    {GS_GFX11, GS_BIT_GLC, GS_BIT_GLC, 0, .has_array = true, .local_is_probed = true, .copies_fence = true},
};
/* clang-format on */

const gs_caches_t *gs_caches_of(gs_target_t target) {
  enum { LAST = sizeof parts / sizeof *parts - 1 };
  size_t i = 0;
  while (i < LAST && !(parts[i].targets & target))
    i++;
  return &parts[i];
}

unsigned gs_caches_bits(gs_target_t target, const gs_inst_t *in) {
  return (in->glc ? GS_BIT_GLC : 0u) | (in->dlc ? GS_BIT_DLC : 0u) |
         (target & GS_GFX9_4 && in->scc ? GS_BIT_SC1 : 0u);
}
