/* Regions that may run at once: tasks LAUNCHES ROUNDS. Prints the median microseconds of that many regions
 * with nowait and the wait for all of them. The kernels of a simulated GPU take as long as GFXSIM_KERNEL_US
 * says. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static void launch_all(long launches) {
  for (long i = 0; i < launches; i++) {
#pragma omp target nowait
    {}
  }
#pragma omp taskwait
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(int argc, char **argv) {
  long launches = argc == 3 ? strtol(argv[1], NULL, 10) : 0,
       rounds = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
  double *taken = calloc((size_t)rounds + 1, sizeof *taken);
  if (launches < 1 || rounds < 1 || !taken || omp_get_num_devices() < 1) {
    fprintf(stderr, "usage, with a device: tasks LAUNCHES ROUNDS\n");
    return 2;
  }
  launch_all(launches);
  for (long i = 0; i < rounds; i++) {
    double begin = omp_get_wtime();
    launch_all(launches);
    taken[i] = 1e6 * (omp_get_wtime() - begin);
  }
  qsort(taken, (size_t)rounds, sizeof *taken, compare);
  printf("complete %.1f\n", taken[rounds / 2]);
  fflush(stdout);
  free(taken);
  return 0;
}
