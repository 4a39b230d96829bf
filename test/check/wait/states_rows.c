/* DPP reads other lanes' values, which were just written: two wait states.
 * expect: Missing wait states: 0 where 2 are needed
 * expect: /states_rows.c:@BUG@: v_mov_b32_dpp
 * expect: c:[0-9]+: v_add_u32
 * expect: Hint: `s_nop 1`
 * levels: O2 */
#include "machine.h"

#define CODE                                                                                                 \
  "v_add_u32 %1, 1, %2\n" MEND_TEXT("s_nop 1") "v_mov_b32_dpp %0, %1 row_shr:1 row_mask:0xf bank_mask:0xf"

int main(void) {
  uint32_t b[N];
#pragma omp target teams distribute parallel for map(from : b) num_teams(1) thread_limit(64)
  for (int i = 0; i < N; i++) {
    uint32_t x = 0, y = 0;
    ASM(CODE : "+v"(x), "=&v"(y) : "v"(i)); /* BUG */
    b[i] = x;
  }
  return b[5] != 5;
}
