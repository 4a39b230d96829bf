/* A stencil in place, of no more items than a wave has: each reads what its neighbour writes. In the twin
 * there is a barrier between.
 * expect: Data race: (read|write) of 4 bytes in target region in main at line [0-9]+ \(.*:@BUG@\)
 * expect: Conflicts with an earlier (read|write)
 * expect: Hint: only that these work-items are of one wave */
#include <omp.h>
#include <stdio.h>

int main(void) {
  enum { N = 128, ITEMS = 24 };
  int a[ITEMS + 1] = {3};
#pragma omp target parallel num_threads(N) map(tofrom : a)
  {
    const int i = omp_get_thread_num();
    const int next = i < ITEMS ? a[i + 1] : 0;
    if (!BUG) {
#pragma omp barrier
    }
    if (i < ITEMS)
      a[i] = next + 1; /* BUG */
  }
  printf("%d\n", a[5]);
  return 0;
}
