/* The result of a matrix instruction of two passes: five wait states on gfx90a.
 * expect: Missing wait states: 2 where 5 are needed
 * expect: /states_matrix.c:@BUG@: v_add_f32
 * expect: c:[0-9]+: v_mfma_f32_4x4x1f32
 * expect: They are needed between .*: v4[0-3]
 * expect: Hint: `s_nop 2`
 * levels: O2 */
#include "machine.h"

int main(void) {
  float b[N];
#pragma omp target teams distribute parallel for map(from : b) num_teams(1) thread_limit(64)
  for (int i = 0; i < N; i++) {
    float x = 1;
    ASM("v_mov_b32 v40, 0\nv_mov_b32 v41, 0\nv_mov_b32 v42, 0\nv_mov_b32 v43, 0\ns_nop 1"
        : "+v"(x)
        :
        : "v40", "v41", "v42", "v43");
    ASM("v_mfma_f32_4x4x1f32 v[40:43], %0, %0, v[40:43]" : : "v"(x) : "v40", "v41", "v42", "v43");
    ASM("s_nop 1");
    MEND("s_nop 2");
    ASM("v_add_f32 %0, v41, v41" : "=v"(x)); /* BUG */
    b[i] = x;
  }
  return b[5] != 2;
}
