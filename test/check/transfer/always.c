/* clang-format off */
/* Each region updates what nobody has changed.
 * expect: 12000 bytes \([0-9]+ %\) of `a(\[0:N\])?` \(.*always.c:[0-9]+\) in 3 copies to the device, which had them: target data
 */
/* clang-format on */
#include <stdio.h>

enum { N = 1000 };

int main(void) {
  static int a[N], c[N];
#pragma omp target data map(alloc : a)
  for (int step = 0; step < 4; step++) {
    for (int i = 0; i < N; i++)
      a[i] = BUG ? i : i + step;
#pragma omp target teams distribute parallel for map(always, to : a) map(from : c)
    for (int i = 0; i < N; i++)
      c[i] = a[i] + step;
  }
  printf("%d\n", c[7]);
  return 0;
}
