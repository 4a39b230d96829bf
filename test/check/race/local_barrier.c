/* Local memory of a team, without a barrier between writing and reading.
 * expect: Data race: (read|write) of 4 bytes in .*target region in main at line [0-9]+ \(.*:@BUG@\)
 * expect: Both are at offset [0-9]+ of the workgroup's local memory \(LDS\)
 * levels: O2
 * more: yes */
#include <omp.h>
#include <stdio.h>

int main(void) {
  enum { N = 256 };
  static int b[N];
#pragma omp target teams num_teams(2) thread_limit(N) map(tofrom : b)
  {
    int t[N];
#pragma omp parallel
    {
      const int i = omp_get_thread_num(), n = omp_get_num_threads();
      t[i] = i;
#if !BUG
#pragma omp barrier
#endif
      if (omp_get_team_num() == 0)
        b[i] = t[n - 1 - i]; /* BUG */
    }
  }
  printf("%d\n", b[3]);
  return 0;
}
