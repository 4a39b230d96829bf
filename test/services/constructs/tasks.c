/* A task per iteration, by the main thread. */
#include "check.h"

enum { N = 500 };

#pragma omp declare target
static void tasks(long *a) {
  for (int i = 0; i < N; i++) {
    long twice = 2L * i;
#pragma omp task firstprivate(i, twice)
    a[i] = twice + i * i;
  }
#pragma omp taskwait
}
#pragma omp end declare target

int main(void) {
  static long device[N], host[N];
#pragma omp target map(tofrom : device)
  tasks(device);
  tasks(host);
  return compare(device, host, N);
}
