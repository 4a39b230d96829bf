/* The host reads its own copy while the kernel's results are on the device.
 * expect: Stale read of `a(\[0:N\])?` by the host, at offset 28
 * expect: at .*host_early.c:@LINE@ \(main\)
 * expect: Not yet brought back is the device's copy, written
 * expect: Hint: `target update from`
 */
#include <stdio.h>

enum { N = 1000 };

int main(void) {
  static int a[N];
  int seen = 0;
#pragma omp target data map(tofrom : a)
  {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < N; i++)
      a[i] += i;
#if !BUG
#pragma omp target update from(a)
#endif
    seen = a[7]; /* LINE */
  }
  printf("%d\n", seen);
  return 0;
}
