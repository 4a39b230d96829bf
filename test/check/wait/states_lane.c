/* The number of a lane that a vector instruction has just written: four wait states.
 * expect: Missing wait states: 3 where 4 are needed
 * expect: /states_lane.c:@BUG@: v_readlane_b32 s41
 * expect: c:[0-9]+: v_readfirstlane_b32 s40
 * expect: one that takes a lane's number from it: s40
 * expect: Hint: `s_nop 0`
 * levels: O2 */
#include "machine.h"

int main(void) {
  uint32_t b[N];
#pragma omp target teams distribute parallel for map(from : b) num_teams(1) thread_limit(64)
  for (int i = 0; i < N; i++) {
    uint32_t x = 0;
    ASM("v_readfirstlane_b32 s40, %0" : : "v"(i + 5) : "s40");
    ASM("s_nop 2");
    MEND("s_nop 0");
    ASM("v_readlane_b32 s41, %0, s40" : : "v"(i) : "s41"); /* BUG */
    ASM("v_mov_b32 %0, s41" : "=v"(x));
    b[i] = x;
  }
  return b[9] != 5;
}
