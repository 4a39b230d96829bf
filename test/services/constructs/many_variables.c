/* A region that shares 40 variables; the device runtime knows functions of 32. */
#include "check.h"

#include <omp.h>

enum { N = 300 };

#define TEN(f, n)  f(n##0) f(n##1) f(n##2) f(n##3) f(n##4) f(n##5) f(n##6) f(n##7) f(n##8) f(n##9)
#define ALL(f)     TEN(f, 1) TEN(f, 2) TEN(f, 3) TEN(f, 4)
#define DECLARE(n) long v##n = n;
#define ADD(n)     v##n += omp_get_thread_num() == n - 10 ? n : 0;
#define SUM(n)     +v##n

static void region(long *a) {
#pragma omp target teams distribute parallel for map(tofrom : a[:N])
  for (int i = 0; i < N; i++) {
    ALL(DECLARE)
#pragma omp parallel
        {ALL(ADD)} a[i] = i ALL(SUM);
  }
}

int main(void) {
  static long a[N], expected[N];
  for (int i = 0; i < N; i++) {
    expected[i] = i + 10;
    for (int n = 10; n < 50; n++)
      expected[i] += n;
  }
  region(a);
  return compare(a, expected, N);
}
