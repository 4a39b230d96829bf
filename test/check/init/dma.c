/* The team's memory is filled by LDS-DMA of some lanes, and read by all of them.
 * expect: Uninitialised values copied to the host: 4 of 256 bytes
 * expect: The value was stored at .*dma.c:@BUG@
 * expect: The value was read at .*dma.c:@BUG@, from offset [0-9]+ of the workgroup's local memory
 * levels: O2 */
#include "../wait/machine.h"

#include <omp.h>

int main(void) {
  static uint32_t a[N], b[N];
#pragma omp target teams num_teams(1) thread_limit(N) map(to : a) map(from : b)
  {
    volatile uint32_t t[N];
#pragma omp parallel
    {
      const uint32_t i = (uint32_t)omp_get_thread_num(), at = (uint32_t)(uintptr_t)&t[i];
      if (i < N - BUG)
        LDS_DMA(at, a, i);
      ASM("s_waitcnt vmcnt(0)" : : : "memory");
      b[i] = t[i]; /* BUG */
    }
  }
  return 0;
}
