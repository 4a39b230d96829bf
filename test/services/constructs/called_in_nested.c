/* Functions that a nested region calls: with a loop that hands out iterations, with variables to share. */
#include "check.h"

enum { N = 300, FEW = 6 };

#pragma omp declare target
__attribute__((noinline)) static void fill(long *to, int count, long from) {
#pragma omp for schedule(dynamic, 2)
  for (int i = 0; i < count; i++)
    to[i] = from + i;
}

__attribute__((noinline)) static long sum_of(long from) {
  long values[FEW], sum = 0;
  fill(values, FEW, from);
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < FEW; i++)
    sum += values[i];
  return sum;
}
#pragma omp end declare target

static void region(long *a) {
#pragma omp target teams distribute parallel for map(tofrom : a[:N]) num_teams(2)
  for (int i = 0; i < N; i++) {
    long sum = a[i];
#pragma omp parallel
    {
      long more = sum_of(i);
#pragma omp atomic
      sum += more;
    }
    a[i] = sum;
  }
}

int main(void) {
  static long a[N], expected[N];
  for (int i = 0; i < N; i++)
    expected[i] = FEW * i + FEW * (FEW - 1L) / 2;
  region(a);
  return compare(a, expected, N);
}
