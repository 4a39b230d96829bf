/* A load into a vector register, of which the compiler knows nothing.
 * expect: Missing wait: read of register v[0-9]+, .* in target region in main at
 * expect: /vector.c:@BUG@: v_add_(nc_)?u32
 * expect: by work-item
 * expect: The load is$
 * expect: c:[0-9]+: global_load_(dword|b32)
 * expect: Hint: `s_waitcnt vmcnt\(0\)`
 * levels: O2 */
#include "machine.h"

int main(void) {
  uint32_t a[N], b[N];
  for (int i = 0; i < N; i++)
    a[i] = (uint32_t)i;
#pragma omp target teams distribute parallel for map(to : a) map(from : b) num_teams(1) thread_limit(64)
  for (int i = 0; i < N; i++) {
    const uint32_t *p = &a[i];
    uint32_t x = 0;
    ASM("global_load_dword %0, %1, off" : "=v"(x) : "v"(p) : "memory");
    MEND("s_waitcnt vmcnt(0)" : "+v"(x));
    ASM(ADD " %0, %0, 1" : "+v"(x)); /* BUG */
    b[i] = x;
  }
  return b[5] != 6;
}
