/* Several host threads offload at once: kernels, mappings of their own, and shared data that one of them mapped. */
#include "check.h"

enum { THREADS = 4, ROUNDS = 6, N = 300 };

int main(void) {
  static int shared[N], results[THREADS][ROUNDS][N], started;
  for (int i = 0; i < N; i++)
    shared[i] = i;
#pragma omp target data map(to : shared)
#pragma omp parallel num_threads(THREADS)
  {
    int me = omp_get_thread_num();
#pragma omp atomic
    started++;
    for (int r = 0; r < ROUNDS; r++) {
      int *out = results[me][r], local[N];
      for (int i = 0; i < N; i++)
        local[i] = me * 1000 + r;
#pragma omp target teams distribute parallel for map(to : local) map(from : out[0 : N]) firstprivate(me, r)
      for (int i = 0; i < N; i++)
        out[i] = shared[i] * (me + 1) + local[i] + r;
      long sum = 0;
#pragma omp target map(to : out[0 : N]) map(tofrom : sum)
#pragma omp parallel for reduction(+ : sum)
      for (int i = 0; i < N; i++)
        sum += out[i];
      long want = (long)(me + 1) * (N * (N - 1) / 2) + (long)N * (me * 1000 + 2 * r);
#pragma omp critical
      check_int("sum", me * ROUNDS + r, sum, want);
    }
  }
  check_true("some threads ran", started >= 1);
  for (int t = 0; t < started; t++)
    for (int r = 0; r < ROUNDS; r++)
      for (int i = 0; i < N; i++)
        check_int("results", (t * ROUNDS + r) * N + i, results[t][r][i], i * (t + 1) + t * 1000 + 2 * r);
  return check_done("host_threads");
}
