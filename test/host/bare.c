/* A program of which all kernels are bare: from clang 22 on nothing of a device runtime is in such an image.
 */
#include <stdio.h>

int main(void) {
  int count[1] = {0};
#pragma omp target teams ompx_bare num_teams(3) thread_limit(20) map(tofrom : count)
#pragma omp atomic
  count[0]++;
  printf("threads: %d\n", count[0]);
  return 0;
}
