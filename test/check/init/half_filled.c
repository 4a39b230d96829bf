/* A kernel fills a part of what another one computes with. Floating point.
 * expect: Branch depends on an uninitialised value in target region in count at line [0-9]+ \(.*:@BUG@\)
 * expect: The value was read at .*:@BUG@, from device memory that nothing was written to$ */
#include <omp.h>
#include <stdio.h>

enum { N = 1000 };
static volatile int many;

static void count(const double *a) {
#pragma omp target teams distribute parallel for is_device_ptr(a) map(tofrom : many)
  for (int i = 0; i < N; i++)
    if (a[i] * 2 > 999) /* BUG */
      many = 1;
}

int main(void) {
  double *a = omp_target_alloc(N * sizeof *a, 0);
#pragma omp target teams distribute parallel for is_device_ptr(a)
  for (int i = 0; i < N - 2 * BUG; i++)
    a[i] = i;
  count(a);
  omp_target_free(a, 0);
  printf("%d\n", many);
  return 0;
}
