/* A pointer of the host's is no device pointer. No block is told of that may be near it.
 * expect: Invalid read of 4 bytes in target region in main at line [0-9]+ \(.*:@BUG@\)
 * expect: Address 0x[0-9a-f]+ is of the host's memory, which is not mapped for this GPU$
 * ends: 134 */
#include <omp.h>
#include <stdlib.h>

int main(void) {
  int *on_host = calloc(64, sizeof *on_host), *on_device = omp_target_alloc(64 * sizeof *on_host, 0), got = 0;
  const int *list = BUG ? on_host : on_device;
#pragma omp target is_device_ptr(list) map(from : got)
  got = list[5]; /* BUG */
  omp_target_free(on_device, 0);
  free(on_host);
  return got && !BUG;
}
