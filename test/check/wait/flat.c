/* A flat address may be local memory's: both counters have to be waited for.
 * expect: Missing wait: read of register v[0-9]+, into which a load is outstanding
 * expect: /flat.c:@BUG@: v_add_(nc_)?u32
 * expect: c:[0-9]+: flat_load_dword
 * expect: Hint: `s_waitcnt lgkmcnt\(0\)`
 * levels: O2 */
#include "machine.h"

int main(void) {
  uint32_t a[N] = {0, 0, 7}, b[N];
#pragma omp target teams distribute parallel for map(to : a) map(from : b) num_teams(1) thread_limit(64)
  for (int i = 0; i < N; i++) {
    const uint32_t *p = &a[i];
    uint32_t x = 0;
    ASM("s_waitcnt vmcnt(0) lgkmcnt(0)");
    ASM("flat_load_dword %0, %1" : "=&v"(x) : "v"(p) : "memory");
    ASM("s_waitcnt vmcnt(0)" : "+v"(x));
    MEND("s_waitcnt lgkmcnt(0)" : "+v"(x));
    ASM(ADD " %0, %0, 1" : "+v"(x)); /* BUG */
    b[i] = x;
  }
  return b[2] != 8;
}
