/* Words of local memory that have values are exchanged for what has none.
 * expect: Uninitialised values copied to the host: 256 of 256 bytes
 * expect: The value was stored at .*exchanged.c:@BUG@
 * expect: from device memory that nothing was written to$
 * levels: O2 */
#include "../wait/machine.h"

#include <omp.h>

int main(void) {
  static uint32_t a[N], b[N];
#if BUG
#pragma omp target teams num_teams(1) thread_limit(N) map(alloc : a) map(from : b)
#else
#pragma omp target teams num_teams(1) thread_limit(N) map(to : a) map(from : b)
#endif
  {
    volatile uint32_t word[N];
#pragma omp parallel
    {
      const uint32_t i = (uint32_t)omp_get_thread_num(), at = (uint32_t)(uintptr_t)&word[i];
      const uint32_t none = 0, value = a[i]; /* the host's compiler sees `a` used, too */
      word[i] = none;
      ASM("ds_cmpst_b32 %0, %1, %2\n\ts_waitcnt lgkmcnt(0)" : : "v"(at), "v"(none), "v"(value) : "memory");
      (void)at, (void)value;
      b[i] = word[i]; /* BUG */
    }
  }
  return 0;
}
