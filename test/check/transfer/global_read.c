/* A kernel changes a variable of `declare target`, and the host reads its own.
 * expect: Stale read of `count` by the host, at offset 0
 * expect: at .*global_read.c:@LINE@ \(read_it\)
 */
#include <stdio.h>

#pragma omp declare target
int count = 5;
#pragma omp end declare target

static __attribute__((noinline)) int read_it(void) {
  return count; /* LINE */
}

int main(void) {
#pragma omp target
  count += 1;
#if !BUG
#pragma omp target update from(count)
#endif
  printf("%d\n", read_it());
  return 0;
}
