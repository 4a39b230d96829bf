/* The twin has copied the device's memory elsewhere when the host's differed, and then put back all.
 *
 * expect: Change by the host undone: 4 bytes of `a(\[0:N\])?`, the first at offset 8
 */
#include <omp.h>
#include <stdio.h>

enum { N = 64 };

int main(void) {
  static int array[N], other[N];
  int *a = array;
  const int device = omp_get_default_device();
  for (int i = 0; i < N; i++)
    a[i] = 0x01010101;
#pragma omp target data map(tofrom : a [0:N])
  {
    a[2] = 0;
    if (!BUG) {
#pragma omp target data use_device_ptr(a)
      omp_target_memcpy(other, a, sizeof other, 0, 0, omp_get_initial_device(), device);
      a[2] = 0x01010101;
    }
  }
  printf("%d %d\n", a[2], other[2]);
  return 0;
}
