/* A flat address is local memory's: both counters have to be waited for.
 * expect: Missing wait: read of register v[0-9]+, into which a load is outstanding
 * expect: /flat.c:@BUG@: v_add_(nc_)?u32
 * expect: c:[0-9]+: flat_load_(dword|b32)
 * expect: Hint: `s_waitcnt lgkmcnt\(0\)`
 * levels: O2 */
#include "machine.h"

#include <omp.h>

int main(void) {
  static uint32_t b[N];
#pragma omp target teams num_teams(1) thread_limit(N) map(tofrom : b)
  {
    volatile uint32_t t[N];
#pragma omp parallel
    {
      const uint32_t i = (uint32_t)omp_get_thread_num();
      uint32_t x = 0, *to = &b[i];
      t[i] = i + 5;
      ASM("" : "+v"(to)); /* or the compiler waits for this address later on, which mends it */
      ASM("s_waitcnt vmcnt(0) lgkmcnt(0)" : : : "memory");
      ASM("flat_load_dword %0, %1" : "=&v"(x) : "v"(&t[i]) : "memory");
      ASM("s_waitcnt vmcnt(0)" : "+v"(x));
      MEND("s_waitcnt lgkmcnt(0)" : "+v"(x));
      ASM(ADD " %0, %0, 1" : "+v"(x)); /* BUG */
      *to = x;
    }
  }
  return b[2] != 8;
}
