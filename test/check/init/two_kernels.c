/* A kernel computes with what nobody filled, and another one branches on the result.
 * expect: Branch depends on an uninitialised value in target region in use at line [0-9]+ \(.*:@BUG@\)
 * expect: The value was stored at .*two_kernels.c:[0-9]+
 * expect: The value was read at .*, from device memory that nothing was written to$ */
#include <stdio.h>

enum { N = 100 };

static void make(const float *a, float *b) {
#pragma omp target teams distribute parallel for map(alloc : a [0:N], b [0:N])
  for (int i = 0; i < N; i++)
    b[i] = a[i] * 2 + 1;
}

static int use(const float *b) {
  int count[N];
#pragma omp target teams distribute parallel for map(alloc : b [0:N]) map(from : count)
  for (int i = 0; i < N; i++) {
    volatile int one = 0;
    if (b[i] > 3) /* BUG */
      one = 1;
    count[i] = i;
  }
  return count[7];
}

int main(void) {
  float a[N] = {0}, b[N];
#pragma omp target data map(alloc : a, b)
  {
#if !BUG
#pragma omp target update to(a)
#endif
    make(a, b);
    printf("%d\n", use(b));
  }
  return 0;
}
