/* Counters of 16 bits that are raised atomically, by swaps of the dword that they are in, beside bytes of the
 * same dword that others store and read; and one that is stored as if nobody raised it.
 *
 * expect: Data race: (write of 2|atomic access to 4) bytes in target region in main at line [0-9]+ \(.*
 * expect: Conflicts with an earlier (write|atomic access)
 * more: yes */
#include <stdint.h>
#include <stdio.h>

typedef struct {
  uint16_t count;
  uint8_t kind, mark;
} cell_t;

int main(void) {
  enum { CELLS = 64, N = 1024 };
  static cell_t cell[CELLS];
  int right = 0, kinds = 0;
  for (int i = 0; i < CELLS; i++)
    cell[i].kind = 3;
#pragma omp target teams distribute parallel for num_teams(8) map(tofrom : cell, kinds)
  for (int i = 0; i < N; i++) {
#pragma omp atomic
    cell[i % CELLS].count++;
    if (i >= N / 2 && i < N / 2 + CELLS)
      cell[i % CELLS].mark = (uint8_t)i;
    if (cell[i % CELLS].kind != 3) {
#pragma omp atomic
      kinds++;
    }
    if (BUG && i % 65 == 5)
      cell[i % CELLS].count = 7; /* BUG */
  }
  for (int i = 0; i < CELLS; i++)
    right += cell[i].count == N / CELLS && cell[i].mark == i;
  return !BUG && (right != CELLS || kinds);
}
