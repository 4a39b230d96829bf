/* Scalar loads end in any order: only a wait for all of them tells.
 * expect: Missing wait: read of register s[0-9]+, into which a load is outstanding
 * expect: /scalar_order.c:@BUG@: s_add_u32
 * expect: c:[0-9]+: s_load_(dword|b32) s[0-9]+, s\[[0-9:]+\], (0x0|null)
 * expect: Hint: `s_waitcnt lgkmcnt\(0\)`
 * levels: O2 */
#include "machine.h"

int main(void) {
  uint32_t a[N] = {41, 2}, b[N];
#pragma omp target teams distribute parallel for map(to : a) map(from : b) num_teams(1) thread_limit(64)
  for (int i = 0; i < N; i++) {
    uint32_t x = 0, y = 0;
    const uint32_t *p = a;
    ASM("s_load_dword %0, %1, 0x0" : "=&s"(x) : "s"(p) : "memory");
    ASM("s_load_dword %0, %1, 0x4" : "=&s"(y) : "s"(p) : "memory");
    ASM("s_waitcnt lgkmcnt(1)" : "+s"(x), "+s"(y));
    MEND("s_waitcnt lgkmcnt(0)" : "+s"(x), "+s"(y));
    ASM("s_add_u32 %0, %0, 1" : "+s"(x) : : "scc"); /* BUG */
    ASM("s_waitcnt lgkmcnt(0)" : "+s"(y));
    b[i] = x + y;
  }
  return b[5] != 44;
}
