/* The update is of another part than what was changed.
 * expect: Stale read of `a(\[0:N\])?` in target region in main at line
 * expect: The host has changed 2000 of its bytes since they were copied, the first at offset 2000
 */
#include <stdio.h>

enum { N = 1000 };

int main(void) {
  static int a[N];
  int sum = 0;
#pragma omp target data map(to : a)
  {
    for (int i = N / 2; i < N; i++)
      a[i] = 0x01010101;
#pragma omp target update to(a [BUG ? 0 : N / 2:N / 2])
#pragma omp target teams distribute parallel for reduction(+ : sum) map(tofrom : sum)
    for (int i = 0; i < N; i++)
      sum += a[i];
  }
  printf("%d\n", sum);
  return 0;
}
