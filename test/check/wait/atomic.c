/* What was in memory before an atomic operation comes as late as what is loaded.
 * expect: Missing wait: read of register v[0-9]+, into which a load is outstanding
 * expect: /atomic.c:@BUG@: v_add_(nc_)?u32
 * expect: c:[0-9]+: global_atomic_add
 * expect: Hint: `s_waitcnt vmcnt\(0\)`
 * levels: O2 */
#include "machine.h"

int main(void) {
  uint32_t a[N] = {0, 0, 0, 5}, b[N];
#pragma omp target teams distribute parallel for map(tofrom : a) map(from : b) num_teams(1) thread_limit(64)
  for (int i = 0; i < N; i++) {
    const uint32_t *p = &a[i];
    uint32_t x = 0;
    ASM("global_atomic_add %0, %1, %2, off " RETURNS : "=&v"(x) : "v"(p), "v"(i) : "memory");
    MEND("s_waitcnt vmcnt(0)" : "+v"(x));
    ASM(ADD " %0, %0, 1" : "+v"(x)); /* BUG */
    b[i] = x;
  }
  return b[3] != 6;
}
