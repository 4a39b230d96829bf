/* Chooses the loops of sweep.h by the level of instructions that this processor has. Not here: the loops
 * (sweep.c), and which level that is (isa/level.c). */
#include "check/sweep.h"
#include "isa/ops.h"

/* The build defines GS_HAVE_V3 and GS_HAVE_V4 when it has these levels. */
extern const gs_sweep_t gs_base_sweep;
#if defined(GS_HAVE_V3)
extern const gs_sweep_t gs_v3_sweep;
#endif
#if defined(GS_HAVE_V4)
extern const gs_sweep_t gs_v4_sweep;
#endif

const gs_sweep_t *gs_sweep_of_level(size_t level) {
  static const gs_sweep_t *const sweeps[] = {
    &gs_base_sweep,
#if defined(GS_HAVE_V3)
    &gs_v3_sweep,
#endif
#if defined(GS_HAVE_V4)
    &gs_v4_sweep,
#endif
  };
  return sweeps[level];
}

const gs_sweep_t *gs_sweep_for_processor(void) {
  return gs_sweep_of_level((size_t)(gs_level_for_processor() - gs_levels));
}
