/* A kernel writes a part of what comes back, and the host reads the rest, too.
 * expect: Uninitialised value read by the host: [0-9]+ bytes of `a(\[0:N\])?`
 * expect: at .*half_written.c:@BUG@ \(main\)
 * expect: They are among 4000 bytes that were copied to the host
 * runtime: ours */
#include <stdio.h>

enum { N = 1000 };

int main(void) {
  static int a[N];
  int sum = 0;
#pragma omp target teams distribute parallel for map(from : a)
  for (int i = 0; i < N / 2; i++)
    a[i] = i;
  for (int i = N / 2 - 4; i < N / 2 + 4 * BUG; i++)
    sum += a[i]; /* BUG */
  printf("%d\n", sum);
  return 0;
}
