/* clang-format off */
/* An input is copied back, too.
 * expect: 4000 bytes \([0-9]+ %\) of `a(\[0:N\])?` \(.*unchanged.c:[0-9]+\) in 1 copies to the host, which had them: map\(to:\)
 */
/* clang-format on */
#include <stdio.h>

enum { N = 1000 };

int main(void) {
  static int a[N], c[N];
#if BUG
#pragma omp target teams distribute parallel for map(tofrom : a) map(from : c)
#else
#pragma omp target teams distribute parallel for map(to : a) map(from : c)
#endif
  for (int i = 0; i < N; i++)
    c[i] = a[i] + 1;
  printf("%d\n", c[7]);
  return 0;
}
