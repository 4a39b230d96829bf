/* The left neighbour of the first element.
 * expect: Invalid read of 4 bytes in target region in main at line [0-9]+ \(.*:@BUG@\)
 * expect: Address 0x[0-9a-f]+ is 4 bytes before .*a block of 1024 bytes, where nothing is mapped$
 * ends: 134 */
#include <stdlib.h>

int main(void) {
  enum { N = 256 };
  float *a = calloc(N, sizeof *a), *b = calloc(N, sizeof *b);
#pragma omp target teams distribute parallel for map(to : a [0:N]) map(from : b [0:N])
  for (int i = !BUG; i < N; i++)
    b[i] = a[i - 1] + a[i]; /* BUG */
  free(a);
  free(b);
  return 0;
}
