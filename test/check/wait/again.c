/* A row of local memory is written twice, and only the first write is waited for.
 * expect: Missing wait: access to local memory that a write is outstanding to
 * expect: /again.c:@BUG@: (ds_read|flat_load)
 * expect: c:[0-9]+: ds_(write|store)
 * expect: 2 x Missing wait
 * ends: 0
 * levels: O2 */
#include "machine.h"

#include <omp.h>

int main(void) {
  static uint32_t b[2 * N];
#pragma omp target teams num_teams(1) thread_limit(2 * N) map(tofrom : b)
  {
    volatile uint32_t t[2 * N];
#pragma omp parallel
    {
      const uint32_t i = (uint32_t)omp_get_thread_num(), other = 2 * N - 1 - i;
      /* The address of local memory is the low half of the flat one. */
      const uint32_t at = (uint32_t)(uintptr_t)&t[i];
      t[i] = 0;
#pragma omp barrier
      ASM("ds_write_b32 %0, %1\ns_barrier\ns_waitcnt lgkmcnt(0)" : : "v"(at), "v"(i) : "memory");
      ASM("ds_write_b32 %0, %1" : : "v"(at), "v"(i) : "memory");
      MEND("s_waitcnt lgkmcnt(0)" : : : "memory");
      ASM("s_barrier" : : : "memory");
      b[i] = t[other] + (at & 0); /* BUG */
    }
  }
  return b[N] != N - 1;
}
