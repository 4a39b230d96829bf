/* A barrier of a parallel region in generic mode. At -O0 that of clang 16's runtime counts in local memory,
 * and loads the count until it has changed, into the register behind the address.
 *
 * expect: Data race: (read|write) of 4 bytes in target region in main at line [0-9]+ \(.*:(@BUG@|21)\)
 * more: yes
 * levels: O0 */
#include <omp.h>
#include <stdio.h>

int main(void) {
  enum { N = 128 };
  int a[N], b[N];
  for (int i = 0; i < N; i++)
    a[i] = i;
#pragma omp target teams num_teams(1) thread_limit(N) map(tofrom : a) map(from : b)
  {
    int twice = 2;
#pragma omp parallel num_threads(N)
    {
      const int t = omp_get_thread_num();
      a[t] *= twice;
#if !BUG
#pragma omp barrier
#endif
      b[t] = a[N - 1 - t]; /* BUG */
    }
  }
  printf("%d\n", b[0]);
  return 0;
}
