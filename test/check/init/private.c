/* A private copy of a variable has not the value of the variable. 0 times anything is 0.
 * expect: Uninitialised values copied to the host: 396 of 400 bytes
 * expect: The value was read at .*:@BUG@, from `scale`(, declared in line [0-9]+)?, which nothing
 * levels: O0 */
#include <stdio.h>

enum { N = 100 };

int main(void) {
  int scale = 3, result[N];
#if BUG
#pragma omp target teams distribute parallel for map(from : result) private(scale)
#else
#pragma omp target teams distribute parallel for map(from : result) firstprivate(scale)
#endif
  for (int i = 0; i < N; i++)
    result[i] = i * scale; /* BUG */
  printf("%d\n", result[3]);
  return 0;
}
