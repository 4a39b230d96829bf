/* Frees what an update that nobody has waited for copies from: large, so that its memory is given back at
 * once, and so that a checker looks at it for longer than it is there. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { N = 16 << 20 };

int main(void) {
  float *a = calloc(N, sizeof *a);
#pragma omp target enter data map(to : a [0:N])
#pragma omp parallel
#pragma omp single
  {
#pragma omp target update to(a [0:N]) nowait
    usleep(20000);
    free(a);
#pragma omp taskwait
  }
  printf("end\n");
  return 0;
}
