/* The team's memory is filled by some threads and read by more.
 * expect: Uninitialised values copied to the host: 4 of 256 bytes
 * expect: The value was stored at .*local.c:@BUG@
 * expect: The value was read at .*local.c:@BUG@, from offset [0-9]+ of the workgroup's local memory
 * levels: O2 */
#include <stdio.h>

enum { N = 64 };

int main(void) {
  int result[N];
#pragma omp target teams num_teams(1) thread_limit(N) map(from : result)
  {
    int shared[N]; /* in local memory */
#pragma omp parallel for
    for (int i = 0; i < N - BUG; i++)
      shared[i] = i;
#pragma omp parallel for
    for (int i = 0; i < N; i++)
      result[N - 1 - i] = shared[i]; /* BUG */
  }
  printf("%d\n", result[3]);
  return 0;
}
