/* Two critical regions. */
#include "check.h"

enum { N = 3000 };

static long critical(void) {
  long sum = 0, other = 0;
#pragma omp target teams distribute parallel for map(tofrom : sum, other) num_teams(4)
  for (int i = 0; i < N; i++) {
#pragma omp critical
    sum += i;
#pragma omp critical(name)
    other += i % 2;
  }
  return sum * 10000 + other;
}

int main(void) {
  const long got = critical(), expected = N * (N - 1L) / 2 * 10000 + N / 2;
  return compare(&got, &expected, 1);
}
