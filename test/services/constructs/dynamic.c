/* Loops whose iterations are handed out while they run. */
#include "check.h"

enum { N = 3000 };

static void dynamic(long *a) {
#pragma omp target teams distribute parallel for schedule(dynamic) map(tofrom : a[:N]) num_teams(3)
  for (int i = 0; i < N; i++)
    a[i] += i + 1;
#pragma omp target parallel for schedule(dynamic, 7) map(tofrom : a[:N])
  for (unsigned i = 0; i < N; i++)
    a[i] += i + 1;
#pragma omp target parallel for schedule(guided) map(tofrom : a[:N])
  for (long i = N - 1; i >= 0; i--)
    a[i] += i + 1;
}

int main(void) {
  static long a[N], expected[N];
  for (int i = 0; i < N; i++)
    expected[i] = 3 * (i + 1L);
  dynamic(a);
  return compare(a, expected, N);
}
