/* The host changes an element that the first region does not read; the twin changes it back before the last
 * one, which does. Between them is one that names other elements.
 * expect: Stale read of `a(\[0:N\])?` in target region in sum_of at line
 * expect: The host has changed 4 of its bytes since they were copied, the first at offset 40
 */
#include <stdio.h>

enum { N = 30000 };

static int sum_of(const int *a, int count, int first) {
  int sum = 0;
#pragma omp target teams distribute parallel for reduction(+ : sum) map(tofrom : sum) map(to : a [0:count])
  for (int i = first; i < count; i++)
    sum += a[i];
  return sum;
}

int main(void) {
  static int a[N];
  int sum = 0;
#pragma omp target data map(to : a)
  {
    a[10] = 0x01010101;
    sum += sum_of(a, N, 11);
    sum += sum_of(a + 20, N / 2, 0);
    if (!BUG)
      a[10] = 0;
    sum += sum_of(a, N, 0);
  }
  printf("%d\n", sum);
  return 0;
}
