/* Parallel regions of one thread, because a condition says so, and of some of the waves. */
#include "check.h"

#include <omp.h>

enum { N = 300 };

static void conditional(long *a, int condition) {
#pragma omp target teams distribute map(tofrom : a[:N]) num_teams(3)
  for (int i = 0; i < N; i++) {
#pragma omp parallel num_threads(64) if (condition)
    {
#pragma omp single
      a[i] += i;
#pragma omp for
      for (int j = 0; j < 100; j++)
#pragma omp atomic
        a[i] += j;
    }
  }
}

int main(void) {
  static long a[N], expected[N];
  for (int i = 0; i < N; i++)
    expected[i] = 2 * (i + 4950L);
  conditional(a, 0);
  conditional(a, 1);
  return compare(a, expected, N);
}
