/* A team tells another by a flag that its data are there; without release and acquire they may come later.
 *
 * expect: Data race: read of 4 bytes in target region in main at line [0-9]+ \(.*:@BUG@\)
 * expect: Conflicts with an earlier write
 * levels: O2 */
#include <omp.h>
#include <stdio.h>

int main(void) {
  int data = 0, flag = 0, out = 0;
#pragma omp target teams num_teams(2) thread_limit(64) map(tofrom : data, flag, out)
  {
    if (omp_get_team_num() == 0) {
      data = 42;
#if BUG
#pragma omp atomic write
#else
#pragma omp atomic write release
#endif
      flag = 1;
    } else {
      int seen = 0;
      while (!seen) {
#if BUG
#pragma omp atomic read
#else
#pragma omp atomic read acquire
#endif
        seen = flag;
      }
      out = data; /* BUG */
    }
  }
  printf("%d\n", out);
  return 0;
}
