/* Each team writes its result to the same place.
 * expect: Data race: write of 8 bytes in target region in main at line [0-9]+ \(.*:@BUG@\)
 * expect: Conflicts with an earlier write
 * expect: Hint: nothing orders the two workgroups, and no barrier can
 * more: yes */
#include <omp.h>
#include <stdio.h>

int main(void) {
  static double out[16];
#pragma omp target teams num_teams(16) thread_limit(64) map(tofrom : out)
  {
    const int team = omp_get_team_num();
    out[BUG ? 0 : team] = team + 0.5; /* BUG */
  }
  printf("%g\n", out[0]);
  return 0;
}
