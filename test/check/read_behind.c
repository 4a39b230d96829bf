/* A loop reads one element too many of mapped memory.
 * expect: Invalid read of 8 bytes in target region in main at line [0-9]+ \(.*:@BUG@\)
 * expect: by work-item \([0-9]+, 0, 0\) of workgroup \([0-9]+, 0, 0\); GPU 0 \(gfx90a\)
 * expect: Address 0x[0-9a-f]+ is 0 bytes behind the end of .*a block of 8000 bytes$
 * named: behind the end of `a\[0:N\]`, a block of 8000 bytes$
 * named: the variable at read_behind.c:[0-9]+$ */
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  enum { N = 1000 };
  double *a = malloc((N + 1) * sizeof *a), sum = 0;
  for (int i = 0; i <= N; i++)
    a[i] = 1;
#pragma omp target teams distribute parallel for map(to : a [0:N]) reduction(+ : sum)
  for (int i = 0; i < N + BUG; i++)
    sum += a[i]; /* BUG */
  printf("%g\n", sum);
  free(a);
  return 0;
}
