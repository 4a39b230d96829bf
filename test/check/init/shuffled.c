/* What has no value comes through the exchanges between lanes by which a wave reduces, in place.
 *
 * expect: Uninitialised values copied to the host: 4 of 4 bytes
 * expect: 2396 bytes into (a block of 4000 bytes|`a`, a block of 4000 bytes)
 * expect: The value was read at .*:@BUG@, from device memory that nothing was written to$
 * named: 2396 bytes into `a`, a block of 4000 bytes
 * levels: O2 */
#include <stdio.h>

enum { N = 1000, USED = 600 };

int main(void) {
  float a[N], most = -1;
#pragma omp target data map(alloc : a)
  {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < USED - BUG; i++)
      a[i] = (float)(i % 101);
#pragma omp target teams distribute parallel for reduction(max : most) map(tofrom : most)
    for (int i = 0; i < USED; i++)
      if (a[i] > most) /* BUG */
        most = a[i];
  }
  printf("%g\n", most);
  return 0;
}
