/* A stencil in place whose loads are of two elements at once, so that each dword is loaded by two work-items.
 * expect: Data race: (read|write) of [0-9]+ bytes in target region in main at line [0-9]+
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
#pragma omp target teams distribute parallel for map(tofrom : a, b)
  for (int i = 0; i < N; i++) {
    const pair both = *(const pair *)&a[i];
    (BUG ? a : b)[i] = both[0] + both[1]; /* BUG */
  }
  printf("%g %g\n", a[5], b[5]);
  return 0;
}
