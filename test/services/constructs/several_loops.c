/* Several such loops in a region, one without a barrier at its end. */
#include "check.h"

#include <omp.h>

enum { N = 3000 };

static void several(long *a, long *last) {
  long value = -1;
#pragma omp target map(tofrom : a[:N], value)
  {
#if __clang_major__ >= 16 /* 15 makes a region of it that never ends, with any device runtime */
    omp_set_schedule(omp_sched_dynamic, 3);
#endif
#pragma omp parallel
    {
#pragma omp for schedule(dynamic, 5) nowait
      for (int i = 0; i < N; i++)
        a[i] += i + 1;
#pragma omp for schedule(auto)
      for (unsigned long i = 0; i < N; i++)
        a[i] += i + 1;
#pragma omp for schedule(runtime)
      for (int i = 0; i < N; i += 3)
        for (int j = i; j < i + 3; j++)
          a[j] += j + 1;
#pragma omp for schedule(dynamic) lastprivate(value)
      for (int i = 0; i < N; i++)
        value = i;
    }
  }
  *last = value;
}

int main(void) {
  static long a[N + 1], expected[N + 1] = {[N] = N - 1};
  for (int i = 0; i < N; i++)
    expected[i] = 3 * (i + 1L);
  several(a, &a[N]);
  return compare(a, expected, N + 1);
}
