/* A histogram whose largest value has no bucket.
 * expect: Invalid atomic access to 4 bytes in target region in main at line [0-9]+ \(.*:@BUG@\)
 * expect: Address 0x[0-9a-f]+ is 0 bytes behind the end of .*a block of 256 bytes$ */
#include <stdio.h>

int main(void) {
  static int bucket[65];
  enum { N = 4096 };
#pragma omp target teams distribute parallel for map(tofrom : bucket [0:64])
  for (int i = 0; i < N; i++) {
    const int value = i % (64 + BUG);
#pragma omp atomic
    bucket[value]++; /* BUG */
  }
  printf("%d\n", bucket[0]);
  return 0;
}
