/* What a region has written is read where it was not brought back, and freed. Without the read it is no more
 * than freed, which is what becomes of working memory: the C library keeps its own numbers in the block, and
 * another block may be there next.
 *
 * expect: Stale read of `work(\[0:N\])?` by the host, at offset 8
 * expect:    called at .*host_freed.c:@LINE@ \(main\)
 */
#include <stdio.h>
#include <stdlib.h>

enum { N = 64 };

int main(void) {
  int *work = calloc(N, sizeof *work), *next;
  long sum = 0;
  if (!work)
    return 1;
#pragma omp target enter data map(to : work [0:N])
#pragma omp target teams distribute parallel for
  for (int i = 0; i < N; i++)
    work[i] = i + 1;
#if BUG
  sum += work[2]; /* LINE */
#endif
  free(work);
  next = calloc(N, sizeof *next);
  for (int i = 0; next && i < N; i++)
    sum += next[i];
  printf("%ld\n", sum);
  free(next);
  return sum != 0;
}
