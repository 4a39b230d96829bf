/* The host copies to what a kernel reads. What is there already may be copied: nothing comes of it.
 * expect: Data race: a write by a copy of [0-9]+ bytes|Conflicts with a write by a copy
 * levels: O2
 * runtime: ours
 * tries: 8
 * repeats: 3
 * more: yes */
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

enum { N = 64 * 3000, ROUNDS = 4 };

int main(void) {
  static int b[N];
  int sum = 0;
  const int device = omp_get_default_device(), host = omp_get_initial_device();
  int *a = omp_target_alloc(N * sizeof *a, device);
  omp_target_memcpy(a, b, sizeof b, 0, 0, device, host);
  for (int round = 0; round < ROUNDS; round++) {
#pragma omp target teams num_teams(1) thread_limit(64) is_device_ptr(a) map(tofrom : sum) nowait
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < N; i++)
      sum += a[i];
    for (int time = 0; time < 20; time++) {
      b[1] += BUG;
      omp_target_memcpy(a, b, sizeof b, 0, 0, device, host); /* BUG */
      usleep(1000);
    }
#pragma omp taskwait
  }
  printf("%d\n", sum != 0);
  omp_target_free(a, device);
  return 0;
}
