/* Chooses the handlers that this processor runs fastest.
 * Not here: the tables (handlers.c). */
#include "isa/ops.h"

#if defined(__x86_64__)
#include <cpuid.h>

/* The features of x86-64-v3 and v4. __builtin_cpu_supports also asks whether the operating system saves the
 * registers; the last three of v3 are instructions on general registers and halves, which it does not know
 * with every compiler. */
static bool has_v3(void) {
  unsigned eax, ebx, ecx1, ecx, edx;
  if (!__get_cpuid(1, &eax, &ebx, &ecx1, &edx) || !__get_cpuid(0x80000001, &eax, &ebx, &ecx, &edx))
    return false;
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
         __builtin_cpu_supports("fma") && (ecx1 & bit_F16C) && (ecx1 & bit_MOVBE) && (ecx & bit_LZCNT);
}

static bool has_v4(void) {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}

gs_op_fn_t *const *gs_handlers_for_host(void) {
  __builtin_cpu_init();
  if (!has_v3())
    return gs_base_handlers;
  return has_v4() ? gs_v4_handlers : gs_v3_handlers;
}
#else
gs_op_fn_t *const *gs_handlers_for_host(void) {
  return gs_base_handlers;
}
#endif
