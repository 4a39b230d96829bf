/* A copy to the device of one element too many.
 * expect: Invalid write of 404 bytes by a copy
 * expect:    by the host's call of hsa_(amd_memory_async_copy|memory_copy)
 * expect: Address 0x[0-9a-f]+ is 400 bytes before the end of a block of 400 bytes
 * expect: 4 of the 404 bytes are behind it
 */
#include <omp.h>

enum { COUNT = 100 };

int main(void) {
  static int numbers[COUNT + 1];
  const int device = omp_get_default_device(), host = omp_get_initial_device();
  int *copy = omp_target_alloc(COUNT * sizeof *copy, device);
  if (!copy)
    return 2;
  const unsigned long bytes = sizeof *copy * (BUG ? COUNT + 1 : COUNT); /* BUG */
  const int failed = omp_target_memcpy(copy, numbers, bytes, 0, 0, device, host);
  omp_target_free(copy, device);
  return failed;
}
