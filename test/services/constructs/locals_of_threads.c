/* Variables of functions that any thread may call: the compiler takes them from the team's stack. */
#include "check.h"

enum { N = 1000 };

#pragma omp declare target
__attribute__((noinline)) static void fill(long *to, int count, long from) {
  for (int i = 0; i < count; i++)
    to[i] = from + i;
}

/* Any thread may come here, or the main thread alone: the compiler takes the array from the team's stack. */
__attribute__((noinline)) static long sum_of(int i) {
  long values[20], one;
  fill(values, 20, i);
  fill(&one, 1, i);
  long sum = one;
#pragma omp parallel for reduction(+ : sum)
  for (int j = 0; j < 20; j++)
    sum += values[j];
  return sum;
}
#pragma omp end declare target

static void of_threads(long *a) {
#pragma omp target teams distribute parallel for map(from : a[:N]) num_teams(2)
  for (int i = 0; i < N; i++)
    a[i] = sum_of(i);
}

int main(void) {
  static long a[N], expected[N];
  for (int i = 0; i < N; i++)
    expected[i] = 21L * i + 190;
  of_threads(a);
  return compare(a, expected, N);
}
