/* A token goes round teams, which poll for it: without release and acquire what it stands for may come later.
 * The load that sees a token may be told of before that is stored.
 *
 * expect: Data race: (read|write) of 4 bytes in target region in main at line [0-9]+ \(.*
 * expect: Conflicts with an earlier (read|write)
 * repeats: 20
 * levels: O2
 * runtime: ours
 * more: yes */
#include <omp.h>
#include <stdio.h>

#if BUG
#define WAY  relaxed
#define GIVE relaxed
#else
#define WAY  acquire
#define GIVE release
#endif
#define PRAGMA(x)           _Pragma(#x)
#define ATOMIC(what, order) PRAGMA(omp atomic what order)

int main(void) {
  enum { TEAMS = 4, ROUNDS = 25 };
  int data = 0, turn = 0, bad = 0;
#pragma omp target teams num_teams(TEAMS) thread_limit(1) map(tofrom : data, turn, bad)
  for (int round = 0; round < ROUNDS; round++) {
    const int mine = round * TEAMS + omp_get_team_num();
    int now;
    do {
      ATOMIC(read, WAY)
      now = turn;
    } while (now != mine);
    bad |= data != now;
    data = now + 1;
    ATOMIC(write, GIVE)
    turn = now + 1;
  }
  printf("%d %d\n", data, bad);
  return bad;
}
