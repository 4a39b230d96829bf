/* Sums of the items of an array, by many waves: correct, and what clang 16 makes of it has two errors that
 * gfxsim knows of (gfxsim/check/openmp.supp). */
#include <stdio.h>

int main(void) {
  enum { N = 20, ITEMS = 8 };
  int sum[ITEMS] = {0};
#pragma omp target map(tofrom : sum)
#pragma omp teams num_teams(1) thread_limit(1024)
#pragma omp distribute parallel for reduction(+ : sum)
  for (int i = 0; i < N; i++)
    for (int j = 0; j < ITEMS; j++)
      sum[j]++;
  for (int j = 0; j < ITEMS; j++)
    printf("%d\n", sum[j]);
  return 0;
}
