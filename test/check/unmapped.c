/* A device pointer outlives the data region that it is from.
 * expect: Invalid read of 4 bytes in target region in main at line [0-9]+ \(.*:@BUG@\)
 * expect: Address 0x[0-9a-f]+ is 20 bytes into .*a block of 256 bytes that was freed$
 * named: freed by .*unmapped.c:14 \(main\)$
 * named: made by .*unmapped.c:10 \(main\)$ */
#include <stdlib.h>

int main(void) {
  int *a = calloc(64, sizeof *a), *kept = NULL, got = 0;
#pragma omp target enter data map(to : a [0:64])
#pragma omp target data use_device_ptr(a)
  kept = a;
  if (BUG) {
#pragma omp target exit data map(release : a [0:64])
  }
#pragma omp target is_device_ptr(kept) map(from : got)
  got = kept[5]; /* BUG */
  if (!BUG) {
#pragma omp target exit data map(release : a [0:64])
  }
  free(a);
  return got;
}
