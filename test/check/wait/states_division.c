/* v_div_fmas reads VCC, which was just written: four wait states.
 * expect: Missing wait states: 0 where 4 are needed
 * expect: /states_division.c:@BUG@: v_div_fmas_f32
 * expect: c:[0-9]+: v_cmp_eq_u32
 * expect: Hint: `s_nop 3`
 * levels: O2 */
#include "machine.h"

#define CODE "v_cmp_eq_u32 vcc, 99, %1\n" MEND_TEXT("s_nop 3") "v_div_fmas_f32 %0, %0, 2.0, 1.0"

int main(void) {
  float b[N];
#pragma omp target teams distribute parallel for map(from : b) num_teams(1) thread_limit(64)
  for (int i = 0; i < N; i++) {
    float x = 3;
    ASM(CODE : "+v"(x) : "v"(i) : "vcc"); /* BUG */
    b[i] = x;
  }
  return b[5] != 7;
}
