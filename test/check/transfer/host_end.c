/* clang-format off */
/* The host reads its old copy, and no construct comes behind that. The twin's kernel has written what the host has.
 * expect: Stale read of `a(\[0:N\])?` by the host, at offset (16|20)
 * expect: called at .*:@LINE@
 */
/* clang-format on */
#include <stdio.h>
#include <stdlib.h>

enum { N = 1000 };

int main(void) {
  int *a = malloc(N * sizeof *a);
  for (int i = 0; i < N; i++)
    a[i] = i;
#pragma omp target enter data map(to : a [0:N])
#pragma omp target teams distribute parallel for
  for (int i = 0; i < N; i++)
    a[i] = i + BUG;
  printf("%d\n", a[5]); /* LINE */
  return 0;
}
