/* The clock is read as memory is.
 * expect: Missing wait: read of registers s\[[0-9]+:[0-9]+\], into which a load is outstanding
 * expect: /clock.c:@BUG@: s_lshr_b64
 * expect: c:[0-9]+: s_memtime
 * expect: Hint: `s_waitcnt lgkmcnt\(0\)`
 * levels: O2 */
#include "machine.h"

int main(void) {
  uint64_t b[N];
#pragma omp target teams distribute parallel for map(from : b) num_teams(1) thread_limit(64)
  for (int i = 0; i < N; i++) {
    uint64_t x = 0;
    ASM("s_memtime %0" : "=s"(x) : : "memory");
    MEND("s_waitcnt lgkmcnt(0)" : "+s"(x));
    ASM("s_lshr_b64 %0, %0, 63" : "+s"(x) : : "scc"); /* BUG */
    b[i] = x;
  }
  return b[2] != 0;
}
