/* Blocks of a kernel's own malloc, small and large, which it frees while it runs.
 * expect: Invalid write of [0-9]+ bytes in target region in main at line [0-9]+ \(.*:@BUG@\)
 * expect: Address 0x[0-9a-f]+ is [0-9]+ bytes (behind|before) the end of a block of 40 bytes$
 * runtime: ours */
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  enum { N = 10, LARGE = 100000 };
  int sum = 0;
#pragma omp target map(tofrom : sum)
  for (int round = 0; round < 3; round++) {
    int *small = malloc(N * sizeof *small);
    int *large = malloc(LARGE);
    for (int i = 0; i < N + BUG; i++)
      small[i] = i; /* BUG */
    large[round] = small[round];
    sum += large[round];
    free(large);
    free(small);
  }
  printf("%d\n", sum);
  return sum != 3;
}
