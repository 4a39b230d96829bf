/* How often a loop runs is read from memory that is only allocated.
 * expect: Branch depends on an uninitialised value in target region in main at line [0-9]+ \(.*:@BUG@\)
 * expect: from device memory that nothing was written to$ */
#include <stdio.h>

enum { N = 64 };
static volatile int runs[N];

int main(void) {
  int n[N];
  for (int i = 0; i < N; i++)
    n[i] = i % 3;
#pragma omp target data map(alloc : n)
  {
#if !BUG
#pragma omp target update to(n)
#endif
#pragma omp target teams distribute parallel for map(tofrom : runs)
    for (int i = 0; i < N; i++)
      for (int k = 0; k < n[i]; k++) /* BUG */
        runs[i] = k;
  }
  printf("%d\n", runs[5]);
  return 0;
}
