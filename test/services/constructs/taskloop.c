/* A taskloop. */
#include "check.h"

enum { N = 500 };

#pragma omp declare target
static void loop(long *a) {
  long offset = 7;
#pragma omp taskloop grainsize(8) firstprivate(offset)
  for (int i = -3; i < N - 3; i++)
    a[i + 3] = i * offset;
}
#pragma omp end declare target

int main(void) {
  static long device[N], host[N];
#pragma omp target map(tofrom : device)
  loop(device);
  loop(host);
  return compare(device, host, N);
}
