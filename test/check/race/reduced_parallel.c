/* A reduction of a parallel region in a generic one, which passes the barrier that the device runtime makes
 * of a counter: as it is not optimised, the loop that waits there changes its registers.
 * expect: Data race: (read|write) of 4 bytes in .*target region in main at line [0-9]+ \(.*:@BUG@\)
 * more: yes */
#include <stdio.h>

enum { N = 100 };

int main(void) {
  int sum = 0, last = 0;
#pragma omp target teams distribute num_teams(2) map(tofrom : sum, last) reduction(+ : sum)
  for (int i = 0; i < 4; i++) {
    int local = 0;
#pragma omp parallel for reduction(+ : local) schedule(static, 2)
    for (int j = 0; j < N; j++) {
      local += j;
      if (BUG)
        last = j; /* BUG */
    }
    sum += local;
  }
  printf("%d\n", last ? sum : sum);
}
