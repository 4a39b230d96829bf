/* A counter that threads count up atomically is not set to 0.
 * expect: Uninitialised values copied to the host: 4 of 4 bytes
 * expect: The value was stored at .*counter.c:@BUG@
 * expect: from device memory that nothing was written to$ */
#include <stdio.h>

int main(void) {
  int count = 0;
#if BUG
#pragma omp target teams distribute parallel for map(from : count)
#else
#pragma omp target teams distribute parallel for map(tofrom : count)
#endif
  for (int i = 0; i < 100; i++)
#pragma omp atomic
    count++; /* BUG */
  printf("%d\n", count);
  return 0;
}
