/* The host reads what is old several times in one line, which is one finding, and once in another.
 * expect: Stale read of `a\[0:N\]` by the host, at offset 12
 * expect: at .*host_line.c:25 \(main\)
 * expect: Stale read of `a\[0:N\]` by the host, at offset 32
 * expect: at .*host_line.c:@LINE@ \(main\)
 */
#include <stdio.h>
#include <stdlib.h>

enum { N = 100 };

int main(void) {
  int *a = calloc(N, sizeof *a), seen = 0;
#pragma omp target enter data map(to : a [0:N])
#pragma omp target
  for (int i = 0; i < N; i++)
    a[i] = i + 1;
#if !BUG
#pragma omp target update from(a [0:N])
#endif
  volatile int *b = a;

  if (!a)
    return 1;
  seen = b[3] + 2 * b[5] + 3 * b[70];
  seen += b[8]; /* LINE */
#pragma omp target exit data map(from : a [0:N])
  printf("%d\n", seen);
  free(a);
  return 0;
}
