/* clang-format off */
/* Half of it is brought back.
 * expect: Never brought back: (19[0-9][0-9]|2000) bytes of `a(\[0:N\])?`, written in target region in main at line
 */
/* clang-format on */
#include <stdio.h>

enum { N = 1000 };

int main(void) {
  static int a[N];
#pragma omp target data map(to : a)
  {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < N; i++)
      a[i] += 0x01010101;
#pragma omp target update from(a [0:BUG ? N / 2 : N])
  }
  printf("%d\n", a[N - 1]);
  return 0;
}
