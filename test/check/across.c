/* A double is read from the last four bytes of a block.
 * expect: Invalid read of 8 bytes in target region in main at line [0-9]+ \(.*:@BUG@\)
 * expect: Address 0x[0-9a-f]+ is 4 bytes before the end of .*a block of 20 bytes$ */
#include <omp.h>

int main(void) {
  const int device = omp_get_default_device();
  char *p = omp_target_alloc(20, device);
  double first = 0, *out = omp_target_alloc(sizeof *out, device);
  const long at = BUG ? 16 : 8;
  omp_target_memcpy(p, &first, sizeof first, at - (BUG ? 8 : 0), 0, device, omp_get_initial_device());
#pragma omp target is_device_ptr(p, out) firstprivate(at)
  *out = *(volatile double *)(p + at); /* BUG */
  omp_target_free(p, device);
  omp_target_free(out, device);
  return 0;
}
