/* LDS-DMA to far behind the team's local memory.
 * expect: Invalid write of 4 bytes in .*target region in main at line [0-9]+ \(.*:@BUG@\)
 * expect: Offset [0-9]+ is beyond the workgroup's local memory \(LDS\), which has [0-9]+ bytes
 * levels: O2 */
#include "wait/machine.h"

#include <omp.h>

int main(void) {
  static uint32_t a[N], b[N];
#pragma omp target teams num_teams(1) thread_limit(N) map(to : a) map(tofrom : b)
  {
    volatile uint32_t t[N];
#pragma omp parallel
    {
      const uint32_t i = (uint32_t)omp_get_thread_num();
      const uint32_t at = (uint32_t)(uintptr_t)&t[i] + BUG * 60000;
      t[i] = 0;
      LDS_DMA(at, a, i); /* BUG */
      ASM("s_waitcnt vmcnt(0)" : : : "memory");
      b[i] = t[i];
    }
  }
  return 0;
}
