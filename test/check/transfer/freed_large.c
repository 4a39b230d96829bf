/* As freed_back, of a block so large that its memory goes when it is freed: the copy cannot be made, and the
 * program ends. It is told of all the same.
 *
 * expect: Invalid copy of 4194304 bytes to freed memory of the host, where `p(\[0:N\])?` is mapped
 * expect:    called at .*freed_large.c:@BUG@ \(main\)
 * expect:  It was freed, or moved, while it was mapped
 * expect:    called at .*freed_large.c:[0-9]+ \(main\)
 * ends: 134
 * runtime: ours
 */
#include <stdio.h>
#include <stdlib.h>

enum { N = 1 << 20 };

int main(void) {
  int *p = calloc(N, sizeof *p);
  if (!p)
    return 1;
#pragma omp target enter data map(to : p [0:N])
#pragma omp target teams distribute parallel for
  for (int i = 0; i < N; i++)
    p[i] = i;
#if BUG
  free(p);
#endif
#pragma omp target exit data map(from : p [0:N]) /* BUG */
#if !BUG
  printf("%d\n", p[N - 1]);
  free(p);
#endif
  return 0;
}
