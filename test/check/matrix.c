/* Rows and columns are exchanged in one of two accesses of a transposition.
 * expect: Invalid read of 8 bytes in target region in main at line [0-9]+ \(.*:@BUG@\)
 * expect: Address 0x[0-9a-f]+ is [0-9]+ bytes behind the end of .*a block of 1120 bytes$ */
#include <stdlib.h>

int main(void) {
  enum { W = 14, H = 10 };
  double *a = calloc(W * H, sizeof *a), *b = calloc(W * H, sizeof *b);
  const int pitch = BUG ? W + 1 : W;
#pragma omp target teams distribute parallel for collapse(2) map(to : a [0:W * H]) map(from : b [0:W * H])
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++)
      b[x * H + y] = a[y * pitch + x]; /* BUG */
  free(a);
  free(b);
  return 0;
}
