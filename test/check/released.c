/* The device's address of what is not mapped any more.
 * expect: Invalid read of 8 bytes in .*target region in main at line [0-9]+ \(.*:@BUG@\)
 * expect: block of 8000 bytes that was freed */
#include <stdio.h>
#include <stdlib.h>

enum { N = 1000 };

int main(void) {
  double *a = calloc(N, sizeof *a), *device, sum = 0;
#pragma omp target enter data map(to : a [0:N])
#pragma omp target data use_device_ptr(a)
  device = a;
  for (int last = BUG; last < 2; last++) {
    if (last == 1) {
#pragma omp target exit data map(release : a [0:N])
    }
    if (last == BUG)
#pragma omp target teams distribute parallel for reduction(+ : sum) is_device_ptr(device)
      for (int i = 0; i < N; i++)
        sum += device[i]; /* BUG */
  }
  printf("%g\n", sum);
  free(a);
  return 0;
}
