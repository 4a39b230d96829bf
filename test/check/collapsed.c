/* The neighbour below the last row, in a loop over both dimensions.
 * expect: Invalid read of 4 bytes in .*target region in main at line [0-9]+ \(.*:@BUG@\)
 * expect: Address 0x[0-9a-f]+ is 0 bytes behind the end of .*block of 4800 bytes */
#include <stdio.h>

enum { ROWS = 30, COLUMNS = 40 };

int main(void) {
  static int grid[ROWS][COLUMNS], next[ROWS][COLUMNS];
#pragma omp target teams distribute parallel for collapse(2) map(to : grid) map(tofrom : next)
  for (int i = 0; i < ROWS - 1 + BUG; i++)
    for (int j = 0; j < COLUMNS; j++)
      next[i][j] = grid[i + 1][j] + 1; /* BUG */
  printf("%d\n", next[2][2]);
  return 0;
}
