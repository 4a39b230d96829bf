/* Atomics of 16 bits beside an item that nobody sets: what counts is their own.
 * expect: Branch depends on an uninitialised value in target region in main
 * expect: The value was read at .*narrow_atomic.c:@BUG@, from offset [0-9]+ of the workgroup's local memory
 * more: yes */
#include <stdio.h>

int main(void) {
  int sum = 0;
#pragma omp target teams num_teams(1) thread_limit(64) map(tofrom : sum)
  {
    unsigned short count[3];
    count[BUG ? 0 : 1] = 0;
#pragma omp parallel num_threads(64)
    {
#pragma omp atomic
      count[1]++; /* BUG */
    }
    sum = count[1];
  }
  printf("%d\n", sum);
  return 0;
}
