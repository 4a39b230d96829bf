/* The host reads all of one array, which is one finding, and does not hide the next line's.
 * expect: Stale read of `first(\[0:N\])?` by the host, at offset 0
 * expect: Stale read of `second(\[0:N\])?` by the host, at offset 12
 */
#include <stdio.h>

enum { N = 300 };

int main(void) {
  static int first[N], second[N];
  const volatile int *f = first, *s = second;
  int sum = 0;
#pragma omp target data map(tofrom : first, second)
  {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < N; i++) {
      first[i] = i + 1;
      second[i] = i + 2;
    }
#if !BUG
#pragma omp target update from(first, second)
#endif
    for (int i = 0; i < N; i++)
      sum += f[i];
    sum += s[3];
  }
  printf("%d\n", sum);
  return 0;
}
