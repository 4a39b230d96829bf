/* Device memory that is mapped as if it were the host's, as LLVM's library lets programs do where the host
 * can access it: small, and large enough to be pinned if it were; of the same device and of another. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

/* Several times, as what is mapped alike again may take another way. */
static int map_device_memory(int device, int from, int n) {
  int wrong = 0, host = omp_get_initial_device(), *back = malloc(sizeof *back * (size_t)n),
      *d = omp_target_alloc(sizeof *d * (size_t)n, from);
  for (int i = 0; i < n; i++)
    back[i] = i;
  wrong += omp_target_memcpy(d, back, sizeof *back * (size_t)n, 0, 0, from, host);
  for (int round = 0; round < 4; round++) {
#pragma omp target teams distribute parallel for map(tofrom : d [0:n]) device(device)
    for (int i = 0; i < n; i++)
      d[i] += 2;
  }
#pragma omp target enter data map(to : d [0:n]) device(device)
#pragma omp target teams distribute parallel for device(device)
  for (int i = 0; i < n; i++)
    d[i] -= 3;
#pragma omp target exit data map(from : d [0:n]) device(device)
  wrong += omp_target_memcpy(back, d, sizeof *back * (size_t)n, 0, 0, host, from);
  for (int i = 0; i < n; i++)
    wrong += back[i] != i + 5;
  omp_target_free(d, from);
  free(back);
  return wrong;
}

int main(void) {
  int wrong = 0, last = omp_get_num_devices() - 1;
  for (int device = 0; device <= last; device++)
    wrong += map_device_memory(device, last, 1000) + map_device_memory(device, last, 2000000);
  printf("%d devices, %s\n", last + 1, wrong ? "wrong" : "right");
  return 0;
}
