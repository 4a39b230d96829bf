/* What the host changed lies behind the section that the region names, in a large array, of which the kernel
 * reads all the same.
 * expect: Stale read of `b(\[0:N\])?` in target region in main at line
 * expect: The host has changed 4000 of its bytes since they were copied, the first at offset 3000000
 */
#include <stdio.h>

enum { N = 1000000, FIRST = 750000, COUNT = 1000 };

int main(void) {
  static int a[N];
  int *b = a, sum = 0;
#pragma omp target data map(to : b [0:N])
  {
    for (int i = FIRST; i < FIRST + COUNT; i++)
      a[i] = 0x01010101;
    if (!BUG) {
#pragma omp target update to(b [FIRST:COUNT])
    }
#pragma omp target teams distribute parallel for reduction(+ : sum) map(tofrom : sum) map(to : b [0:COUNT])
    for (int i = 0; i < N; i++)
      sum += b[i];
  }
  printf("%d\n", sum);
  return 0;
}
