/* Threads want more memory for their variables than the device has. */
#include "check.h"

enum { N = 64, HUGE = 16 << 20 };

#pragma omp declare target
__attribute__((noinline)) static void fill(char *to, long from) {
  for (int i = 0; i < HUGE; i += HUGE / 4)
    to[i] = (char)from;
}

/* Any thread may come here, or the main thread alone: the compiler takes the array from the team's stack. */
__attribute__((noinline)) static long sum_of(int i) {
  char values[HUGE];
  long sum = 0;
  fill(values, i);
#pragma omp parallel for reduction(+ : sum)
  for (int j = 0; j < HUGE; j += HUGE / 4)
    sum += values[j];
  return sum;
}
#pragma omp end declare target

int main(void) {
  static long a[N];
#pragma omp target teams distribute parallel for map(from : a) num_teams(1)
  for (int i = 0; i < N; i++)
    a[i] = sum_of(i);
  return 0;
}
