/* Parallel regions in those of a main thread. */
#include "check.h"

#include <omp.h>

enum { N = 300 };

static void in_generic(long *a) {
#pragma omp target map(tofrom : a[:N])
  {
    for (int round = 0; round < 3; round++) {
#pragma omp parallel for
      for (int i = 0; i < N; i++) {
        a[i] += i;
#pragma omp parallel
        {
#pragma omp barrier
          a[i] += omp_get_level() + 10 * omp_get_num_threads() + 100 * omp_get_thread_num();
        }
      }
    }
  }
}

int main(void) {
  static long a[N], expected[N];
  for (int i = 0; i < N; i++)
    expected[i] = 3 * (i + 12L);
  in_generic(a);
  return compare(a, expected, N);
}
