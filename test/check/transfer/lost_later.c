/* A kernel writes again what was brought back before, and that is not.
 * expect: Never brought back: [0-9]+ bytes of `b(\[0:N\])?`, written in target region in step at line
 */
#include <stdio.h>

enum { N = 1000 };

static void step(int *b, int by) {
#pragma omp target teams distribute parallel for map(to : b [0:N])
  for (int i = 0; i < N; i++)
    b[i] = by * i;
}

int main(void) {
  static int b[N];
#pragma omp target data map(to : b)
  for (int by = 1; by < 4; by++) {
    step(b, by);
    if (!BUG || by < 3) {
#pragma omp target update from(b)
    }
  }
  printf("%d\n", b[7]);
  return 0;
}
