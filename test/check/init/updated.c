/* An update brings what a kernel has not filled. Sections in pieces bring no more than these.
 * runtime: ours
 * expect: Uninitialised value read by the host: [0-9]+ bytes of `a`
 * expect: called at .*:@BUG@ \(main\)
 * expect: They are among 3200 bytes that were copied to the host, and no kernel has written them */
#include <stdio.h>

enum { ROWS = 100, COLUMNS = 8, FILLED = 4 };

int main(void) {
  static int a[ROWS][COLUMNS];
  int sum = 0;
#pragma omp target enter data map(alloc : a)
#pragma omp target
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < FILLED; j++)
      a[i][j] = i + j;
#if BUG
#pragma omp target update from(a)
#else
#pragma omp target update from(a [0:ROWS] [0:FILLED])
#endif
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++)
      sum += a[i][j]; /* BUG */
#pragma omp target exit data map(delete : a)
  printf("%d\n", sum);
  return 0;
}
