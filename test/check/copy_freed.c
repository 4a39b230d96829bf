/* A copy to a block that was freed.
 * expect: Invalid write of 400 bytes by a copy
 * expect: Address 0x[0-9a-f]+ is 0 bytes into a block of 400 bytes that was freed
 */
#include <omp.h>

enum { COUNT = 100 };

int main(void) {
  static int numbers[COUNT];
  const int device = omp_get_default_device(), host = omp_get_initial_device();
  int *block = omp_target_alloc(sizeof numbers, device);
  if (!block)
    return 2;
  if (BUG)
    omp_target_free(block, device);
  const int failed = omp_target_memcpy(block, numbers, sizeof numbers, 0, 0, device, host); /* BUG */
  if (!BUG)
    omp_target_free(block, device);
  return failed;
}
