/* Memory reads a scalar register that a vector instruction has just written: five wait states.
 * expect: Missing wait states: 1 where 5 are needed in target region in main
 * expect: /states_memory.c:@BUG@: global_load_dword v[0-9]+, v[0-9]+, s\[40:41\]
 * expect: The instruction that it comes too early behind
 * expect: c:[0-9]+: v_readfirstlane_b32 s41
 * expect: between a VALU instruction that writes a scalar register and memory
 * expect: Hint: `s_nop 3`
 * levels: O2 */
#include "machine.h"

int main(void) {
  uint32_t a[N] = {0, 0, 9}, b[N];
#pragma omp target teams distribute parallel for map(to : a) map(from : b) num_teams(1) thread_limit(64)
  for (int i = 0; i < N; i++) {
    uint32_t x = 0;
    const uintptr_t p = (uintptr_t)a;
    const uint32_t low = (uint32_t)p, high = (uint32_t)(p >> 32);
    ASM("v_readfirstlane_b32 s40, %0\nv_readfirstlane_b32 s41, %1" : : "v"(low), "v"(high) : "s40", "s41");
    ASM("s_nop 0");
    MEND("s_nop 3");
    ASM("global_load_dword %0, %1, s[40:41]\n" : "=&v"(x) : "v"(4 * i) : "memory"); /* BUG */
    ASM("s_waitcnt vmcnt(0)" : "+v"(x));
    b[i] = x;
  }
  return b[2] != 9;
}
