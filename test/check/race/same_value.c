/* Work-items of several groups write the same value to one place, which is nobody's error; and another value.
 * expect: Data race: write of 4 bytes in target region in main at line [0-9]+ \(.*:@BUG@\)
 * more: yes */
#include <stdio.h>

int main(void) {
  enum { N = 1024 };
  int any = 0;
#pragma omp target teams distribute parallel for map(tofrom : any) num_teams(4) thread_limit(128)
  for (int i = 0; i < N; i++)
    if (i % 7 == 0)
      any = BUG ? 1 + i / 64 : 1; /* BUG */
  printf("%d\n", any);
  return 0;
}
