/* `target update to` where `from` is meant: the kernel's results are replaced by what the host has, which it
 * reads then. The twin brings them back first, and sends them again; of b nobody reads what was replaced.
 * expect: Stale read of `a\[0:N\]` by the host, at offset 12
 * expect: A copy to the device, of what the host has, has replaced what was written
 * expect: Hint: `target update from` in place of that copy
 */
#include <stdio.h>
#include <stdlib.h>

enum { N = 100 };

int main(void) {
  int *a = calloc(N, sizeof *a), *b = calloc(N, sizeof *b), seen = 0;
  if (!a || !b)
    return 1;
#pragma omp target enter data map(to : a [0:N], b [0:N])
#pragma omp target
  for (int i = 0; i < N; i++) {
    a[i] = i + 1;
    b[i] = 2 * i;
  }
#if !BUG
#pragma omp target update from(a [0:N])
#endif
#pragma omp target update to(a [0:N], b [0:N])
  volatile int *now = a;
  seen = now[3];
#pragma omp target teams distribute parallel for
  for (int i = 0; i < N; i++)
    b[i] += a[i];
#pragma omp target exit data map(from : a [0:N], b [0:N])
  printf("%d %d\n", seen >= 0, b[N - 1] >= 0);
  /* What the host has changed is new, though some of its bytes are as before. */
#pragma omp target enter data map(to : a [0:N])
#pragma omp target
  for (int i = 0; i < N; i++)
    a[i] = 1 << 20;
  for (int i = 0; i < N; i++)
    a[i] = N - i;
#pragma omp target update to(a [0:N])
  seen = now[4];
#pragma omp target map(tofrom : seen)
  seen += a[5];
#pragma omp target exit data map(release : a [0:N])
  printf("%d\n", seen >= 0);
  free(a);
  free(b);
  return 0;
}
