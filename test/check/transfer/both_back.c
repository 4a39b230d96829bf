/* A kernel changes the first half, the host the second, and all of it comes back: the host's change is
 * undone. The twin sends it to the device before.
 *
 * expect: Change by the host undone: (19[0-9]|200) bytes of `a(\[0:N\])?`, the first at offset 20[0-3]
 * expect:    called at .*both_back.c:@LINE@ \(main\)
 * expect:  A kernel has changed other bytes of it
 * expect:    at .*both_back.c:[0-9]+: .*_store_
 */
#include <stdio.h>
#include <stdlib.h>

enum { N = 100 };

int main(void) {
  int *a = calloc(N, sizeof *a);
  if (!a)
    return 1;
#pragma omp target enter data map(to : a [0:N])
#pragma omp target
  for (int i = 0; i < N / 2; i++)
    a[i] = i + 1;
  for (int i = N / 2; i < N; i++)
    a[i] = 0x01010101 + i;
#if !BUG
#pragma omp target update to(a [N / 2:N / 2])
#endif
#pragma omp target update from(a [0:N]) /* LINE */
  printf("%d %d\n", a[1], a[N - 1]);
#pragma omp target exit data map(delete : a [0:N])
  free(a);
  return 0;
}
