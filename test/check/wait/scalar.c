/* A load into a scalar register.
 * expect: Missing wait: read of register s[0-9]+, into which a load is outstanding
 * expect: /scalar.c:@BUG@: s_add_u32
 * expect: c:[0-9]+: s_load_(dword|b32)
 * expect: Hint: `s_waitcnt lgkmcnt\(0\)`
 * levels: O2 */
#include "machine.h"

int main(void) {
  uint32_t a[N] = {41}, b[N];
#pragma omp target teams distribute parallel for map(to : a) map(from : b) num_teams(1) thread_limit(64)
  for (int i = 0; i < N; i++) {
    uint32_t x = 0;
    const uint32_t *p = a;
    ASM("s_load_dword %0, %1, 0x0" : "=s"(x) : "s"(p) : "memory");
    MEND("s_waitcnt lgkmcnt(0)" : "+s"(x));
    ASM("s_add_u32 %0, %0, 1" : "+s"(x) : : "scc"); /* BUG */
    b[i] = x;
  }
  return b[5] != 42;
}
