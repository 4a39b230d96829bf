/* A copy back that begins within the block and ends behind it.
 * expect: Invalid read of 400 bytes by a copy
 * named: called at .*copy_back.c:[0-9]+ \(main\)
 * expect: Address 0x[0-9a-f]+ is 392 bytes before the end of a block of 400 bytes
 * expect: 8 of the 400 bytes are behind it
 */
#include <omp.h>

enum { COUNT = 100 };

int main(void) {
  static int numbers[COUNT];
  const int device = omp_get_default_device(), host = omp_get_initial_device();
  int *block = omp_target_alloc(sizeof numbers, device);
  if (!block)
    return 2;
  const int *from = BUG ? block + 2 : block; /* BUG */
  const int failed = omp_target_memcpy(numbers, from, sizeof numbers, 0, 0, host, device);
  omp_target_free(block, device);
  return failed;
}
