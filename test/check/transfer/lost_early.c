/* The copy at the end of a mapping comes before the kernel that writes, as nothing waits for its region.
 * expect: Never brought back: [0-9]+ bytes of `a\[0:N\]`, written in target region in main
 * expect: It was copied to the host before
 * expect: called at .*lost_early.c:@LINE@ \(main\)
 * expect: Hint: .* a region with nowait wants a taskwait in front of it
 */
#include <stdio.h>
#include <stdlib.h>

enum { N = 1000 };

int main(void) {
  int *a = calloc(N, sizeof *a);
  if (!a)
    return 1;
#pragma omp target enter data map(to : a [0:N])
#if BUG
#pragma omp target update from(a [0:N]) /* LINE */
#endif
#pragma omp target teams distribute parallel for
  for (int i = 0; i < N; i++)
    a[i] = i;
#if BUG
#pragma omp target exit data map(release : a [0:N])
#else
#pragma omp target exit data map(from : a [0:N])
#endif
  printf("%d\n", N);
  free(a);
  return 0;
}
