/* A thread's array is filled in part, and all of it is summed up.
 * expect: Uninitialised values copied to the host: 256 of 256 bytes
 * expect: The value was stored at .*stack.c:[0-9]+
 * expect: The value was read at .*:@BUG@, from `t`, declared in line 13, which nothing */
#include <stdio.h>

enum { N = 64 };

int main(void) {
  int result[N], filled = BUG ? 7 : 8;
#pragma omp target teams distribute parallel for map(from : result) firstprivate(filled)
  for (int k = 0; k < N; k++) {
    volatile int t[8];
    for (int i = 0; i < filled; i++)
      t[i] = i + k;
    int sum = 0;
    for (int i = 0; i < 8; i++)
      sum += t[i]; /* BUG */
    result[k] = sum;
  }
  printf("%d\n", result[3]);
  return 0;
}
