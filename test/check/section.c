/* Only the first half is mapped, and all of it is used.
 * expect: Invalid write of 4 bytes in target region in scale at line [0-9]+ \(.*:@BUG@\)
 * expect: Address 0x[0-9a-f]+ is [0-9]+ bytes behind the end of .*a block of 400 bytes$
 * more: yes */
#include <stdlib.h>

static void scale(int *a, int mapped, int used) {
#pragma omp target teams distribute parallel for map(from : a [0:mapped])
  for (int i = 0; i < used; i++)
    a[i] = 3; /* BUG */
}

int main(void) {
  int *a = calloc(200, sizeof *a);
  scale(a, BUG ? 100 : 200, 200);
  const int last = a[99];
  free(a);
  return last != 3;
}
