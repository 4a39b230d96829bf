/* Of a word of flags, only some are set. It takes bits to tell the error from its twin.
 * expect: Branch depends on an uninitialised value in target region in main at line [0-9]+ \(.*:@BUG@\)
 * expect: from device memory that nothing was written to$ */
#include <stdio.h>

enum { N = 100, KNOWN = 4, UNKNOWN = 8 };
static volatile int seen[N];

int main(void) {
  unsigned flags[N];
#pragma omp target data map(alloc : flags)
  {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < N; i++)
      flags[i] = (flags[i] << 4 >> 1 | (i & 1 ? KNOWN : 0)) & ~(i & 1 ? 0u : (unsigned)KNOWN);
#pragma omp target teams distribute parallel for map(tofrom : seen)
    for (int i = 0; i < N; i++)
      if (flags[i] & (BUG ? UNKNOWN : KNOWN)) /* BUG */
        seen[i] = 1;
  }
  printf("%d\n", seen[5]);
  return 0;
}
