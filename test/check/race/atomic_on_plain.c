/* One team sets counters as if they were its own, which the others raise atomically.
 * expect: Data race: (atomic access to|write of) 4 bytes in target region in main at line [0-9]+ \(.*
 * expect: Conflicts with an earlier (write|atomic access)
 * more: yes */
#include <omp.h>
#include <stdio.h>

int main(void) {
  enum { TEAMS = 4, ITEMS = 64 };
  static int counter[ITEMS];
#pragma omp target teams distribute parallel for num_teams(TEAMS) thread_limit(ITEMS) map(tofrom : counter)
  for (int i = 0; i < TEAMS * ITEMS; i++) {
#if BUG
    if (i < ITEMS)
      counter[i] = 7; /* BUG */
    else
#endif
#pragma omp atomic
      counter[i % ITEMS] += i;
  }
  printf("%d\n", counter[5]);
  return 0;
}
