/* An array that is only mapped back is added to.
 * expect: Uninitialised values copied to the host: 800 of 800 bytes
 * expect: The value was stored at .*:@BUG@
 * expect: The value was read at .*:@BUG@, from device memory that nothing was written to$ */
#include <stdio.h>

enum { N = 100 };

int main(void) {
  double sum[N] = {0};
#if BUG
#pragma omp target teams distribute parallel for map(from : sum)
#else
#pragma omp target teams distribute parallel for map(tofrom : sum)
#endif
  for (int i = 0; i < N; i++)
    sum[i] += i; /* BUG */
  printf("%g\n", sum[5]);
  return 0;
}
