/* Data of a long life ends with delete, not with from.
 * expect: Never brought back: [0-9]+ bytes of `a\[0:N\]`, written in target region in step at line
 */
#include <stdlib.h>
#include <stdio.h>

enum { N = 1000 };

static void step(int *a) {
#pragma omp target teams distribute parallel for
  for (int i = 0; i < N; i++)
    a[i] += 1 + i;
}

int main(void) {
  int *a = calloc(N, sizeof *a);
#pragma omp target enter data map(to : a [0:N])
  step(a);
  step(a);
#if BUG
#pragma omp target exit data map(delete : a [0:N])
#else
#pragma omp target exit data map(from : a [0:N])
#endif
  printf("%d\n", a[7]);
  free(a);
  return 0;
}
