/* A pointer of the host's to what is mapped, as is_device_ptr.
 * expect: Invalid read of 4 bytes in target region in main at line [0-9]+ \(.*:@BUG@\)
 * expect: Address 0x[0-9a-f]+ is of the host's memory, which is not mapped for this GPU$
 * expect: There the host has `list\[0:N\]` \(mapped_address.c:11\), of which this process has a copy on a GPU
 * runtime: ours
 * ends: 134 */
#include <stdlib.h>

enum { N = 64 };
int main(void) {
  int *list = calloc(N, sizeof *list), got = 0;
#pragma omp target data map(to : list [0:N])
#if BUG
#pragma omp target is_device_ptr(list) map(from : got)
#else
#pragma omp target map(from : got)
#endif
  got = list[5]; /* BUG */
  free(list);
  return got;
}
