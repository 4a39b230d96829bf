/* The host copies what a kernel is about to change.
 * expect: Data race: a (read|write) by a copy of [0-9]+ bytes|Conflicts with a (read|write) by a copy
 * levels: O2
 * tries: 4
 * more: yes */
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

enum { N = 64, ROUNDS = 150000 };

int main(void) {
  static int b[N];
  const int device = omp_get_default_device(), host = omp_get_initial_device();
  int *a = omp_target_alloc(N * sizeof *a, device);
  omp_target_memcpy(a, b, sizeof b, 0, 0, device, host);
#pragma omp target teams num_teams(1) thread_limit(64) is_device_ptr(a) nowait
#pragma omp parallel for
  for (int i = 0; i < N; i++)
    for (int round = 0; round < ROUNDS; round++)
      *(volatile int *)&a[i] += 1;
#if !BUG
#pragma omp taskwait
#endif
  for (int i = 0; i < (BUG ? 50 : 1); i++) {
    omp_target_memcpy(b, a, sizeof b, 0, 0, host, device); /* BUG */
    usleep(10000);
  }
#pragma omp taskwait
  printf("%d\n", b[0] != 1);
  omp_target_free(a, device);
  return 0;
}
