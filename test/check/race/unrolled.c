/* Teams store to the same four words: a loop that clang unrolls, and one finding.
 * expect: Data race: write of 4 bytes in target region in main at line [0-9]+ \(.*:@BUG@\)
 * expect: by work-item \([0-9]+, 0, 0\) of workgroup
 * expect: Conflicts with an earlier write
 * expect: 8 x Data race
 * expect: SUMMARY: 8 errors from 1 places
 */
#include <omp.h>
#include <stdio.h>

enum { N = 4, TEAMS = 3 };

int main(void) {
  int all[N * TEAMS] = {0};
  volatile int *a = all;
#pragma omp target teams map(tofrom : all) num_teams(TEAMS) thread_limit(64)
  {
    volatile int *mine = all;
    const int team = omp_get_team_num();
    for (int i = 0; i < N; i++)
#if BUG
      mine[i] = team; /* BUG */
#else
      mine[N * team + i] = team;
#endif
  }
  printf("%d\n", a[0]);
  return 0;
}
