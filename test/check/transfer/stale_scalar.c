/* A scalar that target data maps is no private copy of each region.
 * expect: Stale read of `factor` in target region in main at line
 */
#include <stdio.h>

enum { N = 1000 };

int main(void) {
  static int a[N];
  int factor = 2;
#pragma omp target data map(tofrom : a) map(to : factor)
  {
    for (int step = 0; step < 3; step++) {
#pragma omp target teams distribute parallel for map(to : factor)
      for (int i = 0; i < N; i++)
        a[i] += factor;
      factor += BUG * 256;
    }
  }
  printf("%d\n", a[7]);
  return 0;
}
