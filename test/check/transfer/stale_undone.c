/* The host changes an element that the first region does not read; the twin changes it back before the second
 * one, which does.
 * expect: Stale read of `a(\[0:N\])?` in target region in sum_from at line
 * expect: The host has changed 4 of its bytes since they were copied, the first at offset 40
 */
#include <stdio.h>

enum { N = 30000 };

static int sum_from(const int *a, int first) {
  int sum = 0;
#pragma omp target teams distribute parallel for reduction(+ : sum) map(tofrom : sum) map(to : a [0:N])
  for (int i = first; i < N; i++)
    sum += a[i];
  return sum;
}

int main(void) {
  static int a[N];
  int sum = 0;
#pragma omp target data map(to : a)
  {
    a[10] = 0x01010101;
    sum += sum_from(a, 11);
    if (!BUG)
      a[10] = 0;
    sum += sum_from(a, 0);
  }
  printf("%d\n", sum);
  return 0;
}
