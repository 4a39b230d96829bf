/* A loop of a thread that is its team. */
#include "check.h"

enum { N = 3000 };

static void inner(long *a) {
#pragma omp target teams distribute parallel for map(tofrom : a[:N])
  for (int i = 0; i < N; i++) {
#pragma omp parallel for schedule(dynamic, 2)
    for (int j = 0; j <= i; j += 100)
      a[i] += j > i - 100 ? i + 1 : 0;
  }
}

int main(void) {
  static long a[N], expected[N];
  for (int i = 0; i < N; i++)
    expected[i] = (i + 1L);
  inner(a);
  return compare(a, expected, N);
}
