/* A breakpoint in a program whose reads the checker looks at step by step, by the processor's trap flag:
 * without an argument behind the construct, where it does; with one it reads instead, which is told of only
 * if steps are taken there. */
#include <stdio.h>

int main(int argc, char **argv) {
  int sum = 0;
  (void)argv;
#pragma omp target data map(tofrom : sum)
  {
#pragma omp target map(tofrom : sum)
    sum = 5;
    if (argc == 1)
      __asm__ volatile("int3");
    printf("went on, %d\n", sum);
    fflush(stdout);
  }
  return 0;
}
