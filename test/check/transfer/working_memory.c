/* Memory that kernels work in is mapped to the device, and what is in it at the end was read by a kernel.
 * expect: Never brought back: [0-9]+ bytes of `b(\[0:N\])?`, written in target region in step at line
 */
#include <stdio.h>

enum { N = 1000 };

static void step(int *from, int *to) {
#pragma omp target teams distribute parallel for map(to : from [0:N], to [0:N])
  for (int i = 1; i < N - 1; i++)
    to[i] = from[i - 1] + from[i] + from[i + 1] + 1;
}

int main(void) {
  static int a[N], b[N];
#pragma omp target data map(tofrom : a) map(to : b)
  for (int i = 0; i < 3 + !BUG; i++)
    if (i % 2)
      step(b, a);
    else
      step(a, b);
  printf("%d\n", a[7]);
  return 0;
}
