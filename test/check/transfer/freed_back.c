/* The host's block is freed while it is mapped, and the end of the mapping copies there all the same. The
 * twin ends the mapping first. Of another block the device's copy is used behind the host's free, by the
 * pointer as it was, and the mapping ends without a copy, which harms nobody: not even where a block of the
 * host alone, which is like the freed one, lies there by then.
 *
 * expect: Invalid copy of 256 bytes to freed memory of the host, where `p(\[0:N\])?` is mapped
 * expect:    called at .*freed_back.c:@BUG@ \(main\)
 * expect:  It was freed, or moved, while it was mapped
 * expect:    called at .*freed_back.c:[0-9]+ \(main\)
 * expect:  It was mapped at .*freed_back.c:[0-9]+ \(main\)
 * expect:  The variable is at .*freed_back.c:[0-9]+
 * expect:  Hint: end the mapping in front of the free
 * runtime: ours
 */
#include <stdio.h>
#include <stdlib.h>

enum { N = 64 };

int main(void) {
  int *p = calloc(N, sizeof *p);
  int *kept = calloc(N, sizeof *kept), *other, sum = 0;
  if (!p || !kept)
    return 1;
#pragma omp target enter data map(to : p [0:N], kept [0:N])
#pragma omp target teams distribute parallel for
  for (int i = 0; i < N; i++)
    p[i] = i;
#if BUG
  free(p);
#endif
#pragma omp target exit data map(from : p [0:N]) /* BUG */
#if !BUG
  sum = p[3];
  free(p);
#endif
  free(kept);
  other = malloc(N * sizeof *other);
  if (!other)
    return 1;
  for (int i = 0; i < N; i++)
    other[i] = 5;
#pragma omp target teams distribute parallel for reduction(+ : sum)
  for (int i = 0; i < N; i++)
    sum += kept[i];
#pragma omp target exit data map(delete : kept [0:N])
#pragma omp target map(tofrom : other [0:N])
  other[1]++;
  printf("%d %d\n", sum, other[1]);
  free(other);
  return 0;
}
