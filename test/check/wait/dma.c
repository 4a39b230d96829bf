/* Memory that goes to local memory by itself, and is read there before it has come.
 * expect: Missing wait: access to local memory that a write is outstanding to
 * expect: /dma.c:@BUG@: ds_read_b32
 * expect: The write is
 * expect: c:[0-9]+: buffer_load_dword .* lds
 * expect: Hint: `s_waitcnt vmcnt\(0\)` behind the write
 * levels: O2 */
#include "machine.h"

#include <omp.h>

int main(void) {
  static uint32_t a[N], b[N];
  for (uint32_t i = 0; i < N; i++)
    a[i] = i + 1;
#pragma omp target teams num_teams(1) thread_limit(N) map(to : a) map(tofrom : b)
  {
    volatile uint32_t t[N];
#pragma omp parallel
    {
      const uint32_t i = (uint32_t)omp_get_thread_num(), at = (uint32_t)(uintptr_t)&t[0];
      uint32_t x = 0;
      t[i] = 0;
#pragma omp barrier
      LDS_DMA(at, a, i);
      MEND("s_waitcnt vmcnt(0)" : : : "memory");
      ASM("ds_read_b32 %0, %1" : "=&v"(x) : "v"(at + 4 * i) : "memory"); /* BUG */
      ASM("s_waitcnt lgkmcnt(0)" : "+v"(x));
      b[i] = x + t[i];
    }
  }
  return b[5] != 12;
}
