/* A variable of `declare target link` is mapped as any other.
 * expect: Stale read of `big` by the host, at offset 12
 * expect: at .*global_link.c:@LINE@ \(main\)
 */
#include <stdio.h>

enum { N = 100 };
int big[N];
#pragma omp declare target link(big)

int main(void) {
  int seen = 0;
#pragma omp target enter data map(to : big)
#pragma omp target
  for (int i = 0; i < N; i++)
    big[i] = i + 1;
#if !BUG
#pragma omp target update from(big)
#endif
  seen = big[3]; /* LINE */
#pragma omp target exit data map(from : big)
  printf("%d\n", seen);
  return 0;
}
