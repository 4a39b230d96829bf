/* A stencil in place: each item reads what its neighbour writes.
 * expect: Data race: (read|write) of 4 bytes in target region in main at line [0-9]+ \(.*:@BUG@\)
 * expect: Conflicts with an earlier (read|write)
 * more: yes */
#include <stdio.h>

int main(void) {
  enum { N = 4096 };
  static int a[N + 1], b[N + 1];
#pragma omp target teams distribute parallel for map(tofrom : a, b)
  for (int i = 0; i < N; i++)
    (BUG ? a : b)[i] = a[i + 1] + 1; /* BUG */
  printf("%d %d\n", a[5], b[5]);
  return 0;
}
