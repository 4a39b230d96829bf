/* Parallel regions of the threads of a loop that all teams share. */
#include "check.h"

#include <omp.h>

enum { N = 300 };

#pragma omp declare target
static long inner(int i) {
  long sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int j = 0; j <= i; j++)
    sum += j;
  return sum;
}
#pragma omp end declare target

static void in_spmd(long *a) {
#pragma omp target teams distribute parallel for map(from : a[:N]) num_teams(2)
  for (int i = 0; i < N; i++) {
    long s = 0;
#pragma omp parallel for reduction(+ : s)
    for (int j = 0; j <= i; j++)
      s += j;
    a[i] = s + 1000000 * (omp_get_level() == 1) + 10000000 * inner(2);
  }
}

int main(void) {
  static long a[N], expected[N];
  for (int i = 0; i < N; i++)
    expected[i] = i * (i + 1L) / 2 + 1000000 + 10000000 * 3;
  in_spmd(a);
  return compare(a, expected, N);
}
