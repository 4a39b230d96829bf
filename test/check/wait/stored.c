/* What was loaded is stored elsewhere without being waited for.
 * expect: Missing wait: read of register v[0-9]+, into which a load is outstanding
 * expect: /stored.c:@BUG@: global_store_(dword|b32)
 * expect: c:[0-9]+: global_load_(dword|b32)
 * expect: Hint: `s_waitcnt vmcnt\(0\)`
 * levels: O2 */
#include "machine.h"

int main(void) {
  uint32_t a[N] = {0, 0, 9}, b[N];
#pragma omp target teams distribute parallel for map(to : a) map(from : b) num_teams(1) thread_limit(64)
  for (int i = 0; i < N; i++) {
    const uint32_t *p = &a[i];
    uint32_t x = 0, *q = &b[i];
    ASM("global_load_dword %0, %1, off" : "=&v"(x) : "v"(p) : "memory");
    MEND("s_waitcnt vmcnt(0)" : "+v"(x));
    ASM("global_store_dword %0, %1, off" : : "v"(q), "v"(x) : "memory"); /* BUG */
  }
  return b[2] != 9;
}
