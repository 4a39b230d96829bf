/* Variables of a team of one thread: more than 256 bytes, which a byte cannot count. */
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

static void of_one_thread(long *a) {
#pragma omp target teams distribute parallel for map(tofrom : a[:N]) num_teams(1) thread_limit(1)
  for (int i = 0; i < N; i++) {
    long x[40], y[10];
    fill(x, 40, i);
    fill(y, 10, 2 * i);
    a[i] = sum_of(i);
    for (int j = 0; j < 40; j++)
      a[i] += x[j];
    for (int j = 0; j < 10; j++)
      a[i] += y[j];
  }
}

int main(void) {
  static long a[N], expected[N];
  for (int i = 0; i < N; i++)
    expected[i] = 21L * i + 190 + 40L * i + 780 + 20L * i + 45;
  of_one_thread(a);
  return compare(a, expected, N);
}
