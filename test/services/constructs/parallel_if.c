/* Parallel regions of one thread, because a condition says so, of some waves, and of part of a wave. */
#include "check.h"

#include <omp.h>

enum { N = 300 };

static void conditional(long *a, int condition, int threads) {
#pragma omp target teams distribute map(tofrom : a[:N]) num_teams(3)
  for (int i = 0; i < N; i++) {
    long came = 0;
#pragma omp parallel num_threads(threads) if (condition)
    {
#pragma omp atomic
      came++;
#pragma omp barrier
      /* Neither the first wave nor the last goes on before the others have come. */
      int thread = omp_get_thread_num(), last = omp_get_num_threads() - 1, all = came == last + 1;
      if (thread == last && !all)
        a[i] = -1;
#pragma omp barrier
#pragma omp single
      a[i] += all ? i : -1;
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
    expected[i] = 3 * (i + 4950L);
  conditional(a, 0, 64);
  conditional(a, 1, 64);
  conditional(a, 1, 90);
  return compare(a, expected, N);
}
