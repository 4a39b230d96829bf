/* Items of one wave that lie apart: each reads what its neighbour writes later, and then what its neighbour
 * has written. In the twin there are barriers between.
 * expect: Data race: (read|write) of 4 bytes in target region in main at line [0-9]+
 * expect: Conflicts with an earlier (read|write)
 * expect: Data race: (read|write) of 4 bytes in target region in main at line [0-9]+
 * expect: Conflicts with an earlier (read|write) */
#include <omp.h>
#include <stdio.h>

int main(void) {
  enum { N = 128, ITEMS = 24 };
  int a[2 * ITEMS + 2] = {3}, b[2 * ITEMS + 2] = {4}, c[ITEMS], at[ITEMS + 1];
  for (int i = 0; i <= ITEMS; i++)
    at[i] = 2 * i;
#pragma omp target parallel num_threads(N) map(tofrom : a, b) map(to : at) map(from : c)
  {
    const int i = omp_get_thread_num();
    const int next = i < ITEMS ? a[2 * i + 2] : 0;
    if (!BUG) {
#pragma omp barrier
    }
    if (i < ITEMS) {
      a[2 * i] = next + 1;
      b[at[i]] = i;
    }
    if (!BUG) {
#pragma omp barrier
    }
    if (i < ITEMS)
      c[i] = b[at[i + 1]];
  }
  printf("%d %d\n", a[5], c[5]);
  return 0;
}
