/* What is added atomically to a sum that has a value has none.
 * expect: Uninitialised values copied to the host: 4 of 4 bytes
 * expect: The value was stored at .*added.c:@BUG@
 * expect: from device memory that nothing was written to$ */
#include <stdio.h>

enum { N = 100 };

int main(void) {
  int a[N] = {0}, sum = 0;
#if BUG
#pragma omp target teams distribute parallel for map(alloc : a) map(tofrom : sum)
#else
#pragma omp target teams distribute parallel for map(to : a) map(tofrom : sum)
#endif
  for (int i = 0; i < N; i++)
#pragma omp atomic
    sum += a[i]; /* BUG */
  printf("%d\n", sum);
  return 0;
}
