/* Two loads, and a wait for the first of them.
 * expect: Missing wait: read of register v[0-9]+, into which a load is outstanding
 * expect: /second.c:@BUG@: v_add_(nc_)?u32
 * expect: c:[0-9]+: global_load_(dword|b32) .* offset:64
 * expect: Hint: `s_waitcnt vmcnt\(0\)`
 * levels: O2 */
#include "machine.h"

int main(void) {
  uint32_t a[2 * N] = {0}, b[N];
  a[16] = 7;
#pragma omp target teams distribute parallel for map(to : a) map(from : b) num_teams(1) thread_limit(64)
  for (int i = 0; i < N; i++) {
    const uint32_t *p = &a[i];
    uint32_t x = 0, y = 0;
    ASM("global_load_dword %0, %1, off" : "=&v"(x) : "v"(p) : "memory");
    ASM("global_load_dword %0, %1, off offset:64" : "=&v"(y) : "v"(p) : "memory");
    ASM("s_waitcnt vmcnt(1)" : "+v"(x), "+v"(y));
    ASM(ADD " %0, 1, %0" : "+v"(x));
    MEND("s_waitcnt vmcnt(0)" : "+v"(y));
    ASM(ADD " %0, %0, %1" : "+v"(x) : "v"(y)); /* BUG */
    b[i] = x;
  }
  return b[0] != 8;
}
