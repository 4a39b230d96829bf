/* What a thread of a region sets is its own. */
#include "check.h"

#include <omp.h>

enum { N = 64 };

static void own_icvs(long *a) {
#pragma omp target map(tofrom : a[:N])
#pragma omp parallel num_threads(64)
  {
    int thread = omp_get_thread_num();
    if (omp_get_num_threads() == 64) {
      omp_set_num_threads(thread + 1);
      a[thread] = omp_get_max_threads();
#pragma omp barrier
      a[thread] += 100 * omp_get_max_threads();
    }
  }
}

int main(void) {
  static long a[N], expected[N];
  for (int i = 0; i < N; i++)
    expected[i] = 101 * (i + 1);
  own_icvs(a);
  return compare(a, expected, N);
}
