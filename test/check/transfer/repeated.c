/* clang-format off */
/* Each region copies the same input.
 * expect: 12000 bytes \([0-9]+ %\) of `a(\[0:N\])?` \(.*repeated.c:[0-9]+\) in 3 copies to the device, which had them: target data
 */
/* clang-format on */
#include <stdio.h>

enum { N = 1000 };

int main(void) {
  static int a[N], c[N];
  for (int i = 0; i < N; i++)
    a[i] = i;
#if !BUG
#pragma omp target data map(to : a)
#endif
  for (int step = 0; step < 4; step++) {
#pragma omp target teams distribute parallel for map(to : a) map(from : c)
    for (int i = 0; i < N; i++)
      c[i] = a[i] + step;
  }
  printf("%d\n", c[7]);
  return 0;
}
