/* The last team adds up what all have left, and has looked at the place before: without a flush behind its
 * count its compute unit may still have zeros.
 * levels: O0
 * expect: Possibly stale read of 4 bytes in target region in main at line [0-9]+ \(.*last_team.c:@BUG@\)
 * expect: May miss an earlier write
 * expect: Hint: an acquire fence
 */
#include <omp.h>

enum { TEAMS = 8 };

#pragma omp begin declare target
static void flush(void) {
#pragma omp flush
}

/* Stores are in memory behind it; what the compute unit has read stays. */
static void release(void) {
#ifdef __AMDGCN__
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
#endif
}
#pragma omp end declare target

int main(void) {
  int part[TEAMS] = {0}, empty = 0, count = 0, sum = 0;
#pragma omp target teams num_teams(TEAMS) thread_limit(64) map(tofrom : part, empty, count, sum)
  {
    const int me = omp_get_team_num();
    int mine = part[(me + 1) % TEAMS] == 0, seen = 0;
#pragma omp atomic capture
    seen = empty += mine;
    while (seen < TEAMS) { /* all have looked */
#pragma omp atomic read
      seen = empty;
    }
    part[me] = me + 1;
    release();
#pragma omp atomic capture
    seen = ++count;
    if (seen == TEAMS) {
#if !BUG
      flush();
#endif
      for (int i = 0; i < TEAMS; i++)
        sum += part[i]; /* BUG */
    }
  }
  return sum == TEAMS * (TEAMS + 1) / 2 ? 0 : 1;
}
