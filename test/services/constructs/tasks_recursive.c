/* Tasks in tasks. */
#include "check.h"

enum { N = 10 };

#pragma omp declare target
static long fibonacci(int n) {
  long x, y;
  if (n < 2)
    return n;
#pragma omp task shared(x)
  x = fibonacci(n - 1);
#pragma omp task shared(y)
  y = fibonacci(n - 2);
#pragma omp taskwait
  return x + y;
}
#pragma omp end declare target

int main(void) {
  static long device[N], host[N];
#pragma omp target map(tofrom : device)
  for (int i = 0; i < N; i++)
    device[i] = fibonacci(i);
  for (int i = 0; i < N; i++)
    host[i] = fibonacci(i);
  return compare(device, host, N);
}
