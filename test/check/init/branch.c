/* A kernel branches on memory that is mapped, and that nobody filled.
 * expect: Branch depends on an uninitialised value in target region in main at line [0-9]+ \(.*:@BUG@\)
 * expect: by work-item .* of workgroup .*, and [0-9]+ more of its wave; GPU 0 \(gfx90a\)
 * expect: Address 0x[0-9a-f]+ is [0-9]+ bytes into .*a block of 800 bytes$
 * expect: The value was read at .*:@BUG@, from device memory that nothing was written to$
 * named: bytes into `a\[0:N\]`, a block of 800 bytes$ */
#include <stdio.h>

enum { N = 100 };
static volatile int seen[N];

int main(void) {
  double a[N];
  for (int i = 0; i < N; i++)
    a[i] = i;
#pragma omp target enter data map(alloc : a [0:N])
#if !BUG
#pragma omp target update to(a [0:N])
#endif
#pragma omp target teams distribute parallel for map(tofrom : seen)
  for (int i = 0; i < N; i++)
    if (a[i] > 3) /* BUG */
      seen[i] = 1;
#pragma omp target exit data map(delete : a [0:N])
  printf("%d\n", seen[5]);
  return 0;
}
