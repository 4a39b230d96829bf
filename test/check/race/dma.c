/* Memory that goes to local memory by itself is read by the other wave without a barrier.
 * expect: Data race: (read|write) of 4 bytes in .*target region in main at
 * expect: dma.c:@BUG@: buffer_load_dword .* lds
 * expect: Both are at offset [0-9]+ of the workgroup's local memory \(LDS\)
 * levels: O2
 * more: yes */
#include "../wait/machine.h"

#include <omp.h>

int main(void) {
  static uint32_t a[2 * N], b[2 * N];
#pragma omp target teams num_teams(1) thread_limit(2 * N) map(to : a) map(tofrom : b)
  {
    uint32_t t[2 * N];
#pragma omp parallel
    {
      const uint32_t i = (uint32_t)omp_get_thread_num(), at = (uint32_t)(uintptr_t)&t[i];
      LDS_DMA(at, a, i); /* BUG */
      ASM("s_waitcnt vmcnt(0)" : : : "memory");
#if !BUG
#pragma omp barrier
#endif
      b[i] = t[2 * N - 1 - i];
    }
  }
  return 0;
}
