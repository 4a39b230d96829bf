/* A sum on the stack, printed in front of the end of its mapping.
 * expect: Stale read of `sum` by the host, at offset 0
 * expect: at .*host_scalar.c:@LINE@ \(main\)
 */
#include <stdio.h>

enum { N = 1000 };

int main(void) {
  double a[N], sum = 0;
  for (int i = 0; i < N; i++)
    a[i] = i;
#pragma omp target data map(to : a) map(tofrom : sum)
  {
#pragma omp target teams distribute parallel for reduction(+ : sum)
    for (int i = 0; i < N; i++)
      sum += a[i];
#if !BUG
#pragma omp target update from(sum)
#endif
    printf("%g\n", sum); /* LINE */
  }
  return 0;
}
