/* A loop with <= writes an element behind the memory that omp_target_alloc gave.
 * expect: Invalid write of 4 bytes in target region in main at line [0-9]+ \(.*:@BUG@\)
 * expect: Address 0x[0-9a-f]+ is 0 bytes behind the end of .*a block of 400 bytes$ */
#include <omp.h>

int main(void) {
  enum { N = 100 };
  const int device = omp_get_default_device();
  int *p = omp_target_alloc(N * sizeof *p, device);
#pragma omp target teams distribute parallel for is_device_ptr(p)
  for (int i = 0; i <= N - 1 + BUG; i++)
    p[i] = i; /* BUG */
  omp_target_free(p, device);
  return 0;
}
