/* A block that is mapped is moved by realloc; copies from where it was go on. The twin maps it anew.
 *
 * expect: Invalid copy of 256 bytes from freed memory of the host, where `p(\[0:N\])?` is mapped
 * expect:    called at .*freed_to.c:@BUG@ \(main\)
 * expect:  It was freed, or moved, while it was mapped
 * expect:    called at .*freed_to.c:[0-9]+ \(main\)
 * runtime: ours
 */
#include <stdio.h>
#include <stdlib.h>

enum { N = 64 };

int main(void) {
  int *p = calloc(N, sizeof *p), *in_between = calloc(N, sizeof *in_between), *moved, *was = p, sum = 0;
  if (!p || !in_between)
    return 1;
#pragma omp target enter data map(to : p [0:N])
#if !BUG
#pragma omp target exit data map(release : p [0:N])
#endif
  moved = realloc(p, 100 * N * sizeof *p);
  if (!moved || moved == was)
    return 1;
#if !BUG
  p = moved;
#pragma omp target enter data map(to : p [0:N])
#endif
  moved[1] = 1;
#pragma omp target update to(p [0:N]) /* BUG */
#pragma omp target map(tofrom : sum)
  sum += p[2];
#pragma omp target exit data map(delete : p [0:N])
  printf("%d\n", sum);
  free(moved);
  free(in_between);
  return 0;
}
