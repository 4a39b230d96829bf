/* Two errors of one region, each of several work-items: each is told once, and both are counted.
 * expect: Invalid read of 4 bytes in target region in main at line [0-9]+ \(.*:@BUG@\)
 * expect: Address 0x[0-9a-f]+ is [0-9]+ bytes behind the end of .*a block of 256 bytes$
 * expect: Invalid write of 4 bytes in target region in main at line [0-9]+ \(.*:@BUG@\)
 * expect: ERROR SUMMARY: 8 errors from 2 places \(bounds\)$ */
#include <stdlib.h>

int main(void) {
  enum { N = 64 };
  int *a = calloc(2 * N, sizeof *a), *b = calloc(2 * N, sizeof *b), n = N + 4 * BUG;
#pragma omp target teams distribute parallel for num_teams(1) map(to : a [0:N]) map(from : b [0:N])
  for (int i = 0; i < n; i++)
    b[i] = a[i]; /* BUG */
  free(a);
  free(b);
  return 0;
}
