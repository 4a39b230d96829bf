/* What the settings of a region's threads take serves the next region again. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { REGIONS = 50, FEW = 64 << 10 };

/* The compiler is not told how many regions: clang 16 does not come to an end when it unrolls the loop. */
int main(int count, char **words) {
  int regions = count * REGIONS;
  (void)words;
  long before = 0, after = 0;
#pragma omp target map(tofrom : before, after)
  {
    before = (long)malloc(64);
    for (int i = 0; i < regions; i++) {
#pragma omp parallel num_threads(64)
      omp_set_num_threads(omp_get_thread_num() + 1);
    }
    after = (long)malloc(64);
  }
  /* As much of the device's heap as lies between two blocks. */
  long bytes = labs(after - before);
  if (bytes > FEW)
    printf("%d regions took %ld bytes\n", regions, bytes);
  return bytes > FEW;
}
