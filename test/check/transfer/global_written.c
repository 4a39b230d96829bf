/* The host changes a variable of `declare target`, and a kernel reads the device's.
 * expect: Stale read of `table` in target region in main .*global_written.c:@LINE@\)
 * expect: The host has changed 40 of its bytes since they were copied, the first at offset 0
 * expect: Hint: `target update to`
 */
#include <stdio.h>

enum { N = 10 };
#pragma omp declare target
int table[N];
#pragma omp end declare target

int main(void) {
  int sum = 0;
  for (int i = 0; i < N; i++)
    table[i] = 0x01010101 * (i + 1);
#if !BUG
#pragma omp target update to(table)
#endif
#pragma omp target map(tofrom : sum)
  sum += table[7]; /* LINE */
  printf("%d\n", sum);
  return 0;
}
