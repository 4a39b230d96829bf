/* Critical regions of two names change one variable. The lanes of a wave come into one of a name one by one,
 * and what orders them is its lock.
 * expect: Data race: (read|write) of 4 bytes in target region in main at line [0-9]+ \(.*:@BUG@\)
 * levels: O0
 * more: yes */
#include <stdio.h>

int main(void) {
  enum { N = 100 };
  int count = 0;
#pragma omp target teams distribute parallel for map(tofrom : count) num_teams(1) thread_limit(128)
  for (int i = 0; i < N; i++) {
#pragma omp critical(one)
    count++; /* BUG */
#if BUG
#pragma omp critical(another)
    count--;
#endif
  }
  printf("%d\n", count);
  return 0;
}
