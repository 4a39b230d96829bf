/* Teams wait for flags that another team sets behind its data. Two have read the line of flags by the same
 * instruction before it changes, again and again.
 * expect: Data race: read of 4 bytes in target region in main at line [0-9]+ \(.*:@BUG@\)
 * expect: Conflicts with an earlier write
 * levels: O2
 * more: yes */
#include <stdio.h>

enum { TEAMS = 4, WRITER = 2, ITEMS = 64, FEW = 8, MANY = 100000 };

int main(void) {
  static int data[ITEMS], flag[ITEMS] __attribute__((aligned(256))), out[TEAMS * ITEMS];
#pragma omp target teams distribute parallel for num_teams(TEAMS) thread_limit(ITEMS) map(tofrom             \
                                                                                          : data, flag, out)
  for (int i = 0; i < TEAMS * ITEMS; i++) {
    const int item = i % ITEMS, team = i / ITEMS;
    if (team == WRITER) {
      data[item] = i;
#if BUG
#pragma omp atomic write
#else
#pragma omp atomic write release
#endif
      flag[item] = 1;
    } else {
      const int patience = team < WRITER ? FEW : MANY;
      int seen = 0;
      for (int k = 0; k < patience && !seen; k++) {
#if BUG
#pragma omp atomic read
#else
#pragma omp atomic read acquire
#endif
        seen = flag[item];
      }
      if (seen)
        out[i] = data[item]; /* BUG */
    }
  }
  printf("%d\n", out[TEAMS * ITEMS - 1]);
  return 0;
}
