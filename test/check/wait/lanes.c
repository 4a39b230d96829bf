/* Values of other lanes come by way of local memory's network.
 * expect: Missing wait: read of register v[0-9]+, into which a load is outstanding
 * expect: /lanes.c:@BUG@: v_add_(nc_)?u32
 * expect: c:[0-9]+: ds_bpermute_b32
 * expect: Hint: `s_waitcnt lgkmcnt\(0\)`
 * levels: O2 */
#include "machine.h"

int main(void) {
  uint32_t b[N];
#pragma omp target teams distribute parallel for map(from : b) num_teams(1) thread_limit(64)
  for (int i = 0; i < N; i++) {
    uint32_t x = 0;
    ASM("ds_bpermute_b32 %0, %1, %2" : "=&v"(x) : "v"(4 * (i ^ 1)), "v"(i));
    MEND("s_waitcnt lgkmcnt(0)" : "+v"(x));
    ASM(ADD " %0, %0, 1" : "+v"(x)); /* BUG */
    b[i] = x;
  }
  return b[4] != 6;
}
