/* Two items of a wave add to one variable. In the twin just one does, that is not the wave's first, and clang
 * may have the scalar unit load what it adds to.
 * expect: Data race: (read|write) of 4 bytes in target region in main at line [0-9]+ \(.*:@BUG@\)
 * expect: Conflicts with an earlier (read|write)
 * more: yes */
#include <omp.h>
#include <stdio.h>

int main(void) {
  int sum = 1, step = 2;
#pragma omp target parallel num_threads(128) map(tofrom : sum) map(to : step)
  {
    const int i = omp_get_thread_num();
    if (i == 5 || (BUG && i == 6))
      sum += step; /* BUG */
  }
  printf("%d\n", sum);
  return 0;
}
