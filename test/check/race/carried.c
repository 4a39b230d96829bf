/* Each iteration reads what the one before it wrote.
 * expect: Data race: (read|write) of 4 bytes in .*target region in main at line [0-9]+ \(.*:@BUG@\)
 * expect: Conflicts with an earlier (read|write)
 * more: yes */
#include <stdio.h>

enum { N = 2000 };

int main(void) {
  static int a[N];
#pragma omp target teams distribute parallel for map(tofrom : a)
  for (int i = 0; i < N; i++)
    a[i] = i ? a[i - BUG] + 1 : 0; /* BUG */
  printf("%d\n", a[3]);
  return 0;
}
