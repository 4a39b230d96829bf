/* A kernel of the second GPU writes to what was allocated for the first: see other_family.sh. */
#include <omp.h>

int main(void) {
  enum { N = 1000 };
  float *memory[2];
  for (int gpu = 0; gpu < 2; gpu++)
    memory[gpu] = omp_target_alloc(N * sizeof(float), gpu);
  float *mine = memory[BUG ? 0 : 1];
#pragma omp target teams distribute parallel for device(1) is_device_ptr(mine)
  for (int i = 0; i < N; i++)
    mine[i] = 1;
  for (int gpu = 0; gpu < 2; gpu++)
    omp_target_free(memory[gpu], gpu);
  return 0;
}
