/* The host changes what it has just brought back.
 * expect: Stale read of `a(\[0:N\])?` in target region in main at line
 * expect: The host has changed [0-9]+ of its bytes since they were copied, the first at offset 0
 */
#include <stdio.h>

enum { N = 1000 };

int main(void) {
  static int a[N];
#pragma omp target data map(alloc : a)
  {
    for (int step = 0; step < 2; step++) {
#pragma omp target teams distribute parallel for
      for (int i = 0; i < N; i++)
        a[i] = step ? a[i] + i : i + 1;
#pragma omp target update from(a)
      a[0] = 0x07070707;
#if !BUG
#pragma omp target update to(a [0:1])
#endif
    }
  }
  printf("%d\n", a[7]);
  return 0;
}
