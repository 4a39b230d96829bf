/* Memory that goes to local memory by itself, and is read there before it has come.
 * expect: Missing wait: access to local memory that a write is outstanding to
 * expect: /dma.c:@BUG@: ds_read_b32
 * expect: The write is
 * expect: c:[0-9]+: buffer_load_dword .* lds
 * expect: Hint: `s_waitcnt vmcnt\(0\)` behind the write
 * levels: O2 */
#include "machine.h"

#include <omp.h>

#define LOAD                                                                                                 \
  "s_mov_b32 s42, -1\ns_mov_b32 s43, 0x27000\nv_readfirstlane_b32 s40, %0\nv_readfirstlane_b32 s41, %1\n"    \
  "v_readfirstlane_b32 s44, %2\ns_mov_b32 m0, s44\ns_nop 4\nbuffer_load_dword %3, s[40:43], 0 offen lds"

int main(void) {
  static uint32_t a[N], b[N];
  for (uint32_t i = 0; i < N; i++)
    a[i] = i + 1;
#pragma omp target teams num_teams(1) thread_limit(N) map(to : a) map(tofrom : b)
  {
    volatile uint32_t t[N];
#pragma omp parallel
    {
      const uint32_t i = (uint32_t)omp_get_thread_num(), at = (uint32_t)(uintptr_t)&t[0];
      const uint32_t low = (uint32_t)(uintptr_t)a, high = (uint32_t)((uintptr_t)a >> 32);
      uint32_t x = 0;
      t[i] = 0;
#pragma omp barrier
      ASM(LOAD : : "v"(low), "v"(high), "v"(at), "v"(4 * i) : "s40", "s41", "s42", "s43", "s44", "memory");
      MEND("s_waitcnt vmcnt(0)" : : : "memory");
      ASM("ds_read_b32 %0, %1" : "=&v"(x) : "v"(at + 4 * i) : "memory"); /* BUG */
      ASM("s_waitcnt lgkmcnt(0)" : "+v"(x));
      b[i] = x + t[i] + (low & high & 0);
    }
  }
  return b[5] != 12;
}
