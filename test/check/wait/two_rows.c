/* One instruction writes two rows of local memory, of which others read the second.
 * expect: Missing wait: access to local memory that a write is outstanding to
 * expect: /two_rows.c:@BUG@: (ds_read|flat_load)
 * expect: c:[0-9]+: ds_(write|store)
 * ends: 0
 * levels: O2 */
#include "machine.h"

#include <omp.h>

int main(void) {
  static uint32_t b[2 * N];
#pragma omp target teams num_teams(1) thread_limit(2 * N) map(tofrom : b)
  {
    volatile uint32_t t[4 * N];
#pragma omp parallel
    {
      const uint32_t i = (uint32_t)omp_get_thread_num(), other = 2 * N - 1 - i;
      /* The address of local memory is the low half of the flat one. */
      const uint32_t at = (uint32_t)(uintptr_t)&t[i];
      t[i] = t[i + 2 * N] = 0;
#pragma omp barrier
      ASM("ds_write2_b32 %0, %1, %1 offset1:128" : : "v"(at), "v"(i) : "memory");
      MEND("s_waitcnt lgkmcnt(0)" : : : "memory");
      ASM("s_barrier" : : : "memory");
      b[i] = t[other + 2 * N] + (at & 0); /* BUG */
    }
  }
  return b[5] != 2 * N - 6;
}
