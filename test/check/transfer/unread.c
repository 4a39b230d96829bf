/* clang-format off */
/* An output is copied to the device, too.
 * expect: Copies that nobody needed, of [0-9]+ bytes that were copied:
 * expect: 4000 bytes \([0-9]+ %\) of `c(\[0:N\])?` \(.*unread.c:[0-9]+\) in 1 copies to the device, where no kernel read them: map\(from:\)
 */
/* clang-format on */
#include <stdio.h>

enum { N = 1000 };

int main(void) {
  static int c[N];
#if BUG
#pragma omp target teams distribute parallel for map(tofrom : c)
#else
#pragma omp target teams distribute parallel for map(from : c)
#endif
  for (int i = 0; i < N; i++)
    c[i] = i;
  printf("%d\n", c[7]);
  return 0;
}
