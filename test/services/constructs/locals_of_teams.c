/* Large variables of teams, which their threads share. */
#include "check.h"

enum { N = 1000 };

#pragma omp declare target
__attribute__((noinline)) static void fill(long *to, int count, long from) {
  for (int i = 0; i < count; i++)
    to[i] = from + i;
}
#pragma omp end declare target

static void of_teams(long *a) {
#pragma omp target teams distribute map(tofrom : a[:N]) num_teams(5)
  for (int i = 0; i < N; i += 100) {
    long values[100], more[100];
    fill(more, 100, i);
#pragma omp parallel for num_threads(64)
    for (int j = 0; j < 100; j++)
      values[j] = more[j] * 2 + j;
#pragma omp parallel for num_threads(64)
    for (int j = 0; j < 100; j++)
      a[i + j] = values[99 - j] + more[j];
  }
}

int main(void) {
  static long a[N], expected[N];
  for (int i = 0; i < N; i++)
    expected[i] = (i / 100 * 100 + 99 - i % 100) * 2 + 99 - i % 100 + i;
  of_teams(a);
  return compare(a, expected, N);
}
