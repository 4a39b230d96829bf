/* All teams read a table, by one instruction, and one team writes it.
 * expect: Data race: write of 4 bytes in target region in main at line [0-9]+ \(.*:@BUG@\)
 * expect: Conflicts with an earlier read
 * more: yes */
#include <omp.h>
#include <stdio.h>

int main(void) {
  enum { TEAMS = 8, ITEMS = 256, WRITER = 5 };
  static int table[ITEMS], other[ITEMS], sum[TEAMS * ITEMS];
#pragma omp target teams distribute parallel for num_teams(TEAMS) thread_limit(ITEMS) map(to                 \
                                                                                          : table)           \
    map(tofrom                                                                                               \
        : other, sum)
  for (int i = 0; i < TEAMS * ITEMS; i++) {
    sum[i] += table[i % ITEMS];
    if (i / ITEMS == WRITER)
      (BUG ? table : other)[i % ITEMS] = i; /* BUG */
  }
  printf("%d %d\n", sum[5], other[5]);
  return 0;
}
