/* Host threads launch on two devices at once, and each kernel prints and allocates. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, ROUNDS = 5, LANES = 100 };

int main(void) {
  int failed = 0;
#pragma omp parallel num_threads(THREADS) reduction(+ : failed)
  for (int round = 0; round < ROUNDS; round++) {
    int thread = omp_get_thread_num(), bad = 0;
#pragma omp target teams distribute parallel for device(thread % 2) map(tofrom : bad) reduction(+ : bad)
    for (int i = 0; i < LANES; i++) {
      int *block = malloc(64 + 16 * i);
      if (block) {
        block[0] = i;
        printf("thread %d round %d lane %d\n", thread, round, block[0]);
      }
      bad += !block;
      free(block);
    }
    failed += bad;
  }
  return failed != 0;
}
