/* A team's variable that two waves write. Where it is, teams with tasks have a state of the device runtime,
 * of which races are suppressed (openmp.supp): in a kernel without one the program's own begin there.
 * expect: Data race: write of 4 bytes in .*target region in main at line [0-9]+ \(.*:@BUG@\)
 * expect: Both are at offset 32 of the workgroup's local memory \(LDS\)
 * levels: O2 */
#include <omp.h>
#include <stdio.h>

enum { N = 128, TEAMS = 2, PLACE = 8 };

int main(void) {
  int results[TEAMS] = {0};
#pragma omp target teams num_teams(TEAMS) thread_limit(N) map(tofrom : results)
  {
    int t[16];
    const int team = omp_get_team_num();
#pragma omp parallel num_threads(N)
    {
      const int i = omp_get_thread_num();
      if (i < 16)
        t[i] = 0;
#pragma omp barrier
#if BUG
      if (i % 64 == 5)
#else
      if (i == 5)
#endif
        t[PLACE] = i; /* BUG */
#pragma omp barrier
      if (i == 0)
        results[team] = t[PLACE];
    }
  }
  printf("%d\n", results[0] % 64 + results[1] % 64);
}
