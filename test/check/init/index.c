/* Memory of omp_target_alloc that nobody filled has indices into an array.
 * expect: Uninitialised value used as an address in target region in main at line [0-9]+ \(.*:@BUG@\)
 * expect: at .*:@BUG@: (flat|global)_load_(dword|b32)
 * expect: a block of 256 bytes$
 * expect: The value was read at .*:@BUG@, from device memory that nothing was written to$ */
#include <omp.h>
#include <stdio.h>

enum { N = 64 };

int main(void) {
  int a[N], b[N];
  for (int i = 0; i < N; i++)
    a[i] = i;
  int *index = omp_target_alloc(sizeof a, 0);
  if (!BUG)
    omp_target_memcpy(index, a, sizeof a, 0, 0, 0, omp_get_initial_device());
#pragma omp target teams distribute parallel for map(to : a) map(from : b) is_device_ptr(index)
  for (int i = 0; i < N; i++)
    b[i] = a[index[i] & 63] > 7; /* BUG */
  omp_target_free(index, 0);
  printf("%d\n", b[9]);
  return 0;
}
