/* Tasks that are not deferred, that depend on each other, and that have a parallel region. */
#include "check.h"

#include <omp.h>

enum { N = 500 };

#pragma omp declare target
static void undeferred(long *a) {
  for (int i = 0; i < N; i++) {
#pragma omp task if (i % 2) depend(out : a[i])
    a[i] = i + 1;
#pragma omp task depend(inout : a[i])
    {
      a[i] *= 3;
      /* A region in a task is one thread. */
#pragma omp parallel num_threads(1)
      a[i] += omp_get_num_threads();
    }
  }
#pragma omp taskwait
}
#pragma omp end declare target

int main(void) {
  static long device[N], host[N];
#pragma omp target map(tofrom : device)
  undeferred(device);
#pragma omp parallel num_threads(1)
  undeferred(host);
  return compare(device, host, N);
}
