/* A sum of so few items that one wave has them all: its work-items run in step here, and all additions but
 * one are lost.
 * expect: Data race: write of 4 bytes in target region in main at line [0-9]+ \(.*:@BUG@\)
 * expect: Conflicts with an earlier read
 * expect: Hint: only that these work-items are of one wave */
#include <stdio.h>

int main(void) {
  enum { N = 20 };
  int count = 0;
#pragma omp target teams distribute parallel for map(tofrom : count) thread_limit(256)
  for (int i = 0; i < N; i++)
#if BUG
    count++; /* BUG */
#else
#pragma omp atomic
    count++;
#endif
  printf("%d\n", count);
  return 0;
}
