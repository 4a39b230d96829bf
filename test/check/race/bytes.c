/* Neighbouring bytes are nobody's race; the same byte is one.
 * expect: Data race: write of 1 bytes in target region in main at line [0-9]+ \(.*:@BUG@\)
 * more: yes */
#include <stdio.h>

int main(void) {
  enum { N = 999 };
  static char a[N + 1];
#pragma omp target teams distribute parallel for map(tofrom : a) num_teams(4) thread_limit(64)
  for (int i = 0; i < N; i++)
    a[BUG ? i % 101 : i + 1] = (char)(i % 100); /* BUG */
  printf("%d\n", a[7]);
  return 0;
}
