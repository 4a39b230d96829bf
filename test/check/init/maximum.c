/* The greatest of some numbers, of which one was never written. Integers.
 * expect: Uninitialised values copied to the host: 4 of 4 bytes
 * expect: The value was read at .*:@BUG@, from device memory that nothing was written to$
 * levels: O2 */
#include <stdio.h>

enum { N = 100 };

int main(void) {
  int a[N], most = 0;
  for (int i = 0; i < N; i++)
    a[i] = i;
#pragma omp target data map(alloc : a)
  {
#pragma omp target update to(a [0:N - BUG])
#pragma omp target map(tofrom : most)
    for (int i = 0; i < N; i++)
      most = a[i] > most ? a[i] : most; /* BUG */
  }
  printf("%d\n", most);
  return 0;
}
