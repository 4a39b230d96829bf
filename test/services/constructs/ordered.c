/* The iterations of an ordered loop. */
#include "check.h"

enum { N = 3000 };

static long ordered(long *a) {
  int place = 0;
#pragma omp target parallel for ordered schedule(dynamic) map(tofrom : a[:N], place)
  for (int i = 0; i < N; i++) {
#pragma omp ordered
    a[i] = ++place;
  }
  return place;
}

int main(void) {
  static long a[N + 1], expected[N + 1] = {[N] = N};
  for (int i = 0; i < N; i++)
    expected[i] = (i + 1L);
  a[N] = ordered(a);
  return compare(a, expected, N + 1);
}
