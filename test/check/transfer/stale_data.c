/* The host changes what a surrounding target data has copied.
 * expect: Stale read of `a(\[0:N\])?` in .* \(.*stale_data.c:@LINE@\)
 * expect: by work-item
 * expect: The host has changed 400 of its bytes since they were copied, the first at offset 40
 * expect: Hint: `target update to`
 */
#include <stdio.h>

enum { N = 1000 };

int main(void) {
  static int a[N];
  int sum = 0;
#pragma omp target data map(to : a)
  {
    for (int i = 10; i < 110; i++)
      a[i] = 0x01010101;
#pragma omp target map(tofrom : sum)
    sum += a[0]; /* which has not changed */
#if !BUG
#pragma omp target update to(a)
#endif
#pragma omp target teams distribute parallel for reduction(+ : sum) map(tofrom : sum)
    for (int i = 0; i < N; i++)
      sum += a[i]; /* LINE */
  }
  printf("%d\n", sum);
  return 0;
}
