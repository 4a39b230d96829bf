/* What was brought back is changed once more.
 * expect: Never brought back: [0-9]+ bytes of `a(\[0:N\])?`, written in target region in main at line
 */
#include <stdio.h>

enum { N = 1000 };

int main(void) {
  static int a[N];
#pragma omp target data map(to : a)
  {
    for (int step = 0; step < 2; step++) {
#pragma omp target teams distribute parallel for
      for (int i = 0; i < N; i++)
        a[i] += i + 1;
      if (step == 0 || !BUG) {
#pragma omp target update from(a [0:N / 2])
#pragma omp target update from(a [N / 2:N / 2])
      }
    }
    a[0] = -1; /* the host's own */
  }
  printf("%d\n", a[7]);
  return 0;
}
