/* A pointer that was loaded is followed too early.
 * expect: Missing wait: read of registers s\[[0-9]+:[0-9]+\], into which a load is outstanding
 * expect: /pointer.c:@BUG@: s_load_(dword|b32) s
 * expect: c:[0-9]+: s_load_(dwordx2|b64)
 * expect: Hint: `s_waitcnt lgkmcnt\(0\)`
 * levels: O2 */
#include "machine.h"

int main(void) {
  uint32_t a[N] = {13}, b[N];
#pragma omp target data map(to : a) map(alloc : b)
  {
    const uint32_t *p[1];
#pragma omp target map(from : p)
    p[0] = a;
#pragma omp target teams distribute parallel for map(to : p) map(from : b) num_teams(1) thread_limit(64)
    for (int i = 0; i < N; i++) {
      const uint32_t *q = p[0];
      uint32_t x = 0;
      ASM("s_load_dwordx2 %0, %1, 0x0" : "=&s"(q) : "s"(p) : "memory");
      MEND("s_waitcnt lgkmcnt(0)" : "+s"(q));
      ASM("s_load_dword %0, %1, 0x0" : "=&s"(x) : "s"(q) : "memory"); /* BUG */
      ASM("s_waitcnt lgkmcnt(0)" : "+s"(x));
      b[i] = x;
    }
#pragma omp target update from(b)
  }
  return b[2] != 13;
}
