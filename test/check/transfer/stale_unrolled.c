/* One line, of which the compiler makes many instructions.
 * expect: Stale read of `values` in .* \(.*stale_unrolled.c:@LINE@\)
 * expect: The host has changed 1740 of its bytes since they were copied, the first at offset 4
 */
#include <stdio.h>

enum { N = 1000 };

#pragma omp declare target
int values[N];
#pragma omp end declare target

int main(void) {
  int sum = 0;
  for (int i = 0; i < N; i++)
    values[i] = i;
#if !BUG
#pragma omp target update to(values)
#endif
#pragma omp target map(tofrom : sum)
  for (int i = 0; i < N; i++)
    sum += values[i]; /* LINE */
  printf("%d\n", sum);
  return 0;
}
