/* One element of what is summed up is not there.
 * expect: Uninitialised values copied to the host: 8 of 8 bytes
 * expect: The value was read at .*:@BUG@, from device memory that nothing was written to$ */
#include <omp.h>
#include <stdio.h>

enum { N = 1000 };

int main(void) {
  double a[N], sum = 0;
  for (int i = 0; i < N; i++)
    a[i] = i;
  double *b = omp_target_alloc(sizeof a, 0);
  omp_target_memcpy(b, a, sizeof a - BUG * sizeof *a, 0, 0, 0, omp_get_initial_device());
#pragma omp target teams distribute parallel for is_device_ptr(b) reduction(+ : sum) map(tofrom : sum)
  for (int i = 0; i < N; i++)
    sum += b[i]; /* BUG */
  omp_target_free(b, 0);
  printf("%g\n", sum);
  return 0;
}
