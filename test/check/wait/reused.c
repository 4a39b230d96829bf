/* A write to local memory that is long over is not taken for one of the last.
 * expect: Missing wait: access to local memory that a write is outstanding to
 * expect: /reused.c:@BUG@: (ds_read|flat_load)
 * expect: c:[0-9]+: ds_(write|store)
 * ends: 0
 * levels: O2 */
#include "machine.h"

#include <omp.h>

int main(void) {
  static uint32_t b[2 * N];
#pragma omp target teams num_teams(1) thread_limit(2 * N) map(tofrom : b)
  {
    volatile uint32_t t[6 * N];
#pragma omp parallel
    {
      const uint32_t i = (uint32_t)omp_get_thread_num(), other = 2 * N - 1 - i;
      /* The address of local memory is the low half of the flat one. */
      const uint32_t at = (uint32_t)(uintptr_t)&t[i];
      t[i] = t[i + 2 * N] = t[i + 4 * N] = 0;
#pragma omp barrier
      ASM("ds_write_b32 %0, %1\ns_barrier\ns_waitcnt lgkmcnt(0)\ns_barrier" : : "v"(at), "v"(i) : "memory");
      ASM(".rept 15\nds_write_b32 %0, %1 offset:512\n.endr\ns_waitcnt lgkmcnt(0)"
          :
          : "v"(at), "v"(i)
          : "memory");
      ASM("ds_write_b32 %0, %1 offset:1024\ns_barrier" : : "v"(at), "v"(i) : "memory");
      b[i] = t[other + (BUG ? 4 * N : 0)] + (at & 0); /* BUG */
    }
  }
  return b[5] != 2 * N - 6;
}
