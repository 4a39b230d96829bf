/* Stores of two elements at once: the second is what the next work-item stores, too, with another value.
 * expect: Data race: write of 16 bytes in target region in main at line
 * more: yes
 * levels: O2 */
#include <stdio.h>

/* Stored by one instruction. */
typedef double pair __attribute__((vector_size(16), aligned(8)));

int main(void) {
  enum { N = 4096 };
  static double a[N + 1];
#pragma omp target teams distribute parallel for map(tofrom : a)
  for (int i = 0; i < N; i++)
    *(pair *)&a[i] = (pair){i, BUG ? i : i + 1};
  printf("%g\n", a[5]);
  return 0;
}
