/* The end of the mapping brings what the host has changed since, and no kernel; in the twin a kernel has.
 * expect: Change by the host undone: 4 bytes of `a(\[0:N\])?`, the first at offset 0
 * expect: called at .*:14 \(main\)
 * expect: Hint: `target update to`
 */
#include <stdio.h>

enum { N = 1000 };

int main(void) {
  static int a[N];
  for (int i = 0; i < N; i++)
    a[i] = 0x01010101;
#pragma omp target data map(tofrom : a)
  {
#pragma omp target teams distribute parallel for
    for (int i = BUG; i < N; i++)
      a[i] += 0x01010101;
    a[0] = 0;
  }
  printf("%d %d\n", a[0], a[1]);
  return 0;
}
