/* A rectangle whose last row leaves the matrix.
 * expect: Invalid write of [0-9]+ bytes( of a row)? by a copy
 * expect: a block of 512 bytes
 * levels: O2
 */
#include <omp.h>

enum { ROWS = 8, COLUMNS = 16 };

int main(void) {
  static int numbers[ROWS][COLUMNS];
  const int device = omp_get_default_device(), host = omp_get_initial_device();
  int *matrix = omp_target_alloc(sizeof numbers, device);
  if (!matrix)
    return 2;
  const unsigned long volume[2] = {4, 8}, zero[2] = {0, 0}, sizes[2] = {ROWS, COLUMNS};
  const unsigned long to[2] = {BUG ? 5 : 4, 8}; /* BUG */
  const int failed =
      omp_target_memcpy_rect(matrix, numbers, sizeof(int), 2, volume, to, zero, sizes, sizes, device, host);
  omp_target_free(matrix, device);
  return failed;
}
