/* All work-items write what they found into one variable.
 * expect: Data race: write of 4 bytes in target region in main at line [0-9]+ \(.*:@BUG@\)
 * more: yes */
#include <stdio.h>

int main(void) {
  enum { N = 256 };
  int found = -1;
#pragma omp target teams distribute parallel for map(tofrom : found)
  for (int i = 0; i < N; i++)
    if (BUG ? i % 3 == 1 : i == 100)
      found = i; /* BUG */
  printf("%d\n", found);
  return 0;
}
