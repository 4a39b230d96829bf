/* The last work-item of a wave loads, beside its own element, what the next wave stores.
 * expect: Data race: (read|write) of [0-9]+ bytes in target region in main at line
 * expect: Conflicts with an earlier (read|write)
 * more: yes */
#include <stdio.h>

/* Loaded by one instruction. */
typedef double pair __attribute__((vector_size(16), aligned(8)));

int main(void) {
  enum { N = 4096 };
  static double a[N + 1], b[N + 1];
  for (int i = 0; i <= N; i++)
    a[i] = i;
#pragma omp target teams distribute parallel for map(tofrom : a, b) thread_limit(64)
  for (int i = 0; i < N; i++) {
    const pair both = *(const pair *)&a[i];
    b[i] = both[0] + both[1];
    if (i % 64 == 0)
      (BUG ? a : b)[i] = b[i] + 1; /* BUG */
  }
  printf("%g %g\n", a[64], b[5]);
  return 0;
}
