/* A taskloop, and what its last iteration leaves behind; one without iterations leaves nothing. */
#include "check.h"

enum { N = 500 };

#pragma omp declare target
static void loop(long *a) {
  long offset = 7, last = -1, none = -1;
#pragma omp taskloop grainsize(8) firstprivate(offset) lastprivate(last)
  for (int i = -3; i < N - 3; i++) {
    last = i * offset;
    a[i + 3] = last;
  }
#pragma omp taskloop lastprivate(none)
  for (int i = 0; i < a[3]; i++)
    none = i;
  a[N] = last;
  a[N + 1] = none;
}
#pragma omp end declare target

int main(void) {
  static long device[N + 2], host[N + 2];
#pragma omp target map(tofrom : device)
  loop(device);
  loop(host);
  return compare(device, host, N + 2);
}
