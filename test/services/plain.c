/* Launches of an image that asks its host for nothing; with -DPRINTS, of one that does;
 * with -DPARALLEL, of a parallel region. For test/services/launch_cost.sh, which
 * looks at what the plugin executes while `measured` runs. */
#include <stdio.h>

static int sum;

static __attribute__((noinline)) void region(int step) {
#ifdef PARALLEL
#pragma omp target teams distribute parallel for map(tofrom : sum) reduction(+ : sum)
  for (int i = 0; i < 64; i++)
#else
#pragma omp target map(tofrom : sum)
#endif
  {
    sum += step;
#ifdef PRINTS
    printf("step %d\n", step);
#endif
  }
}

__attribute__((noinline)) void measured(void);
void measured(void) {
  for (int i = 0; i < 20; i++)
    region(i);
}

int main(void) {
  region(0); /* loads the image */
  measured();
  return 0;
}
