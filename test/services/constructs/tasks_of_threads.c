/* Tasks of all threads, with variables that they share. */
#include "check.h"

enum { N = 500 };

#pragma omp declare target
static long parts(int i) {
  long part[4];
  for (int j = 0; j < 4; j++)
#pragma omp task shared(part) firstprivate(i, j)
    part[j] = i * (j + 1);
#pragma omp taskwait
  return part[0] + part[1] + part[2] + part[3];
}
#pragma omp end declare target

int main(void) {
  static long device[N], host[N];
#pragma omp target teams distribute parallel for map(tofrom : device)
  for (int i = 0; i < N; i++)
    device[i] = parts(i);
  for (int i = 0; i < N; i++)
    host[i] = parts(i);
  return compare(device, host, N);
}
