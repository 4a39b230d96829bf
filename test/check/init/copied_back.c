/* omp_target_memcpy brings what a kernel has written in part, and the host reads the rest, too.
 * expect: Uninitialised value read by the host: [0-9]+ bytes of mapped data
 * expect: at .*copied_back.c:@BUG@ \(main\)
 * expect: They are among 4000 bytes that were copied to the host
 * runtime: ours */
#include <omp.h>
#include <stdio.h>

enum { N = 1000 };

int main(void) {
  static int a[N];
  const int host = omp_get_initial_device(), device = omp_get_default_device();
  int sum = 0, *b = omp_target_alloc(sizeof a, device);
#pragma omp target teams distribute parallel for is_device_ptr(b)
  for (int i = 0; i < N / 2; i++)
    b[i] = i;
  if (omp_target_memcpy(a, b, sizeof a, 0, 0, host, device))
    return 1;
  for (int i = N / 2 - 4; i < N / 2 + 4 * BUG; i++)
    sum += a[i]; /* BUG */
  omp_target_free(b, device);
  printf("%d\n", sum);
  return 0;
}
