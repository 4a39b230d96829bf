/* Host threads that map and unmap the same data at the same time, so that one finds it present while the other's copy is
 * still under way. */
#include "check.h"

enum { THREADS = 4, ROUNDS = 40, N = 5000 };

static int data[N], wrong[THREADS];

static void use(int me, int round) {
  int local = 0, sum = 0;
#pragma omp target data map(to : data)
  {
#pragma omp target map(tofrom : local)
    for (int i = 0; i < N; i += 97)
      local += data[i] == i + 1;
#pragma omp target map(to : data) map(tofrom : sum)
    sum = data[N - 1] + data[me] + round;
  }
  wrong[me] += local != (N + 96) / 97;
  wrong[me] += sum != N + me + 1 + round;
}

int main(void) {
  for (int i = 0; i < N; i++)
    data[i] = i + 1;
#pragma omp parallel num_threads(THREADS)
  for (int round = 0; round < ROUNDS; round++)
    use(omp_get_thread_num(), round);
  for (int i = 0; i < THREADS; i++)
    check_int("wrong rounds of a thread", i, wrong[i], 0);
  /* With always, every thread's copy is a transfer of its own to the same place. */
#pragma omp target enter data map(to : data)
#pragma omp parallel num_threads(THREADS)
  for (int round = 0; round < ROUNDS; round++) {
#pragma omp target map(always, to : data)
    data[0] += 0;
  }
#pragma omp target exit data map(from : data)
  for (int i = 0; i < N; i++)
    check_int("data", i, data[i], i + 1);
  return check_done("same_data");
}
