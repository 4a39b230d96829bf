/* Counters of 16 bits that are raised atomically, by swaps of the dword that they are in; there is no fourth.
 *
 * expect: Invalid atomic access to 4 bytes in target region in main at line [0-9]+ \(.*:@BUG@\)
 * expect: Address 0x[0-9a-f]+ is 2 bytes before the end of .*a block of 6 bytes$ */
#include <stdio.h>

/* In local memory, of which the team has as many bytes as that takes at -O2. */
static int count_in_teams(void) {
  int sum = 0;
#pragma omp target teams num_teams(2) thread_limit(128) map(tofrom : sum)
  {
    short local = 0;
#pragma omp parallel for
    for (int i = 0; i < 500; i++) {
#pragma omp atomic
      local++;
    }
#pragma omp atomic
    sum += local;
  }
  return sum;
}

int main(void) {
  static short counter[4], last[1];
  enum { N = 4096 };
#pragma omp target teams distribute parallel for map(tofrom : counter [0:3], last)
  for (int i = 0; i < N; i++) {
#pragma omp atomic
    counter[i % (3 + BUG)]++; /* BUG */
#pragma omp atomic
    last[0]++;
  }
  printf("%d %d\n", counter[2], last[0]);
  return count_in_teams() != 1000;
}
