/* Chooses the handlers that this processor runs fastest.
 * Not here: the tables (handlers.c). */
#include "isa/ops.h"
#include "isa/watch.h"

/* The build defines GS_HAVE_V3 and GS_HAVE_V4 when it has these levels. */

extern const gs_handler_t gs_base_handlers[], gs_base_wave32_handlers[];

static bool always(void) {
  return true;
}

#if defined(GS_HAVE_V3) || defined(GS_HAVE_V4) /* v4 asks for what v3 has */
#include <cpuid.h>

extern const gs_handler_t gs_v3_handlers[], gs_v3_wave32_handlers[];

/* The features of x86-64-v3 and v4. __builtin_cpu_supports also asks whether the operating system saves the
 * registers; the last three of v3 are instructions on general registers and halves, which it does not know
 * with every compiler. */
static bool has_v3(void) {
  unsigned eax, ebx, ecx1, ecx, edx;
  __builtin_cpu_init();
  if (!__get_cpuid(1, &eax, &ebx, &ecx1, &edx) || !__get_cpuid(0x80000001, &eax, &ebx, &ecx, &edx))
    return false;
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
         __builtin_cpu_supports("fma") && (ecx1 & bit_F16C) && (ecx1 & bit_MOVBE) && (ecx & bit_LZCNT);
}
#endif

#if defined(GS_HAVE_V4)
extern const gs_handler_t gs_v4_handlers[], gs_v4_wave32_handlers[];

static bool has_v4(void) {
  return has_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}
#endif

const gs_level_t gs_levels[] = {
    {"base", gs_base_handlers, gs_base_wave32_handlers, always},
#if defined(GS_HAVE_V3)
    {"v3", gs_v3_handlers, gs_v3_wave32_handlers, has_v3},
#endif
#if defined(GS_HAVE_V4)
    {"v4", gs_v4_handlers, gs_v4_wave32_handlers, has_v4},
#endif
};
const size_t gs_level_count = sizeof gs_levels / sizeof *gs_levels;

#define GS_WATCHED_LEVEL(level)                                                                              \
  { gs_watched_##level##_handler, gs_watched_##level##_wave32_handler }
gs_watched_fn_t gs_watched_base_handler, gs_watched_base_wave32_handler;
#if defined(GS_HAVE_V3)
gs_watched_fn_t gs_watched_v3_handler, gs_watched_v3_wave32_handler;
#endif
#if defined(GS_HAVE_V4)
gs_watched_fn_t gs_watched_v4_handler, gs_watched_v4_wave32_handler;
#endif

gs_watched_fn_t *gs_level_watched(size_t level, unsigned lanes) {
  static gs_watched_fn_t *const watched[][2] = {
    GS_WATCHED_LEVEL(base),
#if defined(GS_HAVE_V3)
    GS_WATCHED_LEVEL(v3),
#endif
#if defined(GS_HAVE_V4)
    GS_WATCHED_LEVEL(v4),
#endif
  };
  return watched[level][lanes == 32];
}

const gs_level_t *gs_level_for_processor(void) {
  size_t best = gs_level_count - 1;
  while (!gs_levels[best].runs_here())
    best--;
  return &gs_levels[best];
}
