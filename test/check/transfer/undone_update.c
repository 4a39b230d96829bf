/* An update in the wrong direction.
 * expect: Change by the host undone: (39[0-9][0-9]|4000) bytes of `a(\[0:N\])?`, the first at offset [0-4]
 * expect: called at .*:@LINE@ \(main\)
 */
#include <stdio.h>

enum { N = 1000 };

int main(void) {
  static int a[N], sum;
#pragma omp target data map(to : a)
  {
    for (int i = 0; i < N; i++)
      a[i] = 0x01010101 + i;
    if (BUG) {
#pragma omp target update from(a) /* LINE */
    } else {
#pragma omp target update to(a)
    }
#pragma omp target teams distribute parallel for reduction(+ : sum)
    for (int i = 0; i < N; i++)
      sum += a[i] % 7;
  }
  printf("%d\n", sum);
  return 0;
}
