/* clang-format off */
/* Kernels read what is copied to the device again and again; in the faulty program the last copy comes in vain.
 * expect: Copies that nobody needed, of [0-9]+ bytes that were copied:
 * expect: 4000 bytes \([0-9]+ %\) of `a(\[0:N\])?` \(.*read_again.c:[0-9]+\) in 1 copies to the device, where no kernel read them
 */
/* clang-format on */
#include <stdio.h>

enum { N = 1000, STEPS = 3 };

int main(void) {
  static int a[N], b[N];
#pragma omp target data map(alloc : a) map(from : b)
  for (int step = 0; step < STEPS; step++) {
    for (int i = 0; i < N; i++)
      a[i] += i + 1;
#pragma omp target update to(a)
    if (BUG && step == STEPS - 1)
      continue;
#pragma omp target teams distribute parallel for
    for (int i = 0; i < N; i++)
      b[i] = a[i] + step;
  }
  printf("%d\n", b[7]);
  return 0;
}
