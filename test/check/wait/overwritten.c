/* A register is given a value while a load into it is on its way, which comes later.
 * expect: Missing wait: write to register v40, into which a load is outstanding
 * expect: /overwritten.c:@BUG@: v_mov_b32_e32 v40, 7
 * expect: c:[0-9]+: global_load_(dword|b32) v40
 * expect: Hint: `s_waitcnt vmcnt\(0\)`
 * levels: O2 */
#include "machine.h"

int main(void) {
  uint32_t a[N] = {0}, b[N];
#pragma omp target teams distribute parallel for map(to : a) map(from : b) num_teams(1) thread_limit(64)
  for (int i = 0; i < N; i++) {
    const uint32_t *p = &a[i];
    uint32_t x = 0;
    /* A prefetch. */
    ASM("global_load_dword v40, %0, off" : : "v"(p) : "v40", "memory");
    MEND("s_waitcnt vmcnt(0)" : : : "v40");
    ASM("v_mov_b32 v40, 7" : : : "v40"); /* BUG */
    ASM("v_mov_b32 %0, v40" : "=v"(x) : : "v40");
    b[i] = x;
  }
  return b[2] != 7;
}
