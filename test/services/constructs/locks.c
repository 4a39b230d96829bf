/* Locks: of which the lanes of a wave want different ones, and one that they all try for. */
#include "check.h"

#include <omp.h>

enum { N = 2048 };

static long locks(void) {
  omp_lock_t lock, many[64];
  long sums[64] = {0}, all = 0;
#pragma omp target data map(tofrom : sums) map(alloc : lock, many)
  {
#pragma omp target
    {
      omp_init_lock(&lock);
      for (int i = 0; i < 64; i++)
        omp_init_lock(&many[i]);
    }
#pragma omp target teams distribute parallel for num_teams(4)
    for (int i = 0; i < N; i++) {
      /* The lanes of a wave want different ones. */
      int which = i % 64;
      omp_set_lock(&many[which]);
      sums[which] += i;
      omp_unset_lock(&many[which]);
    }
    /* One thread gets it. */
#pragma omp target teams distribute parallel for num_teams(4)
    for (int i = 0; i < N; i++)
      if (omp_test_lock(&lock))
        sums[1] += 1;
#pragma omp target
    {
      omp_destroy_lock(&lock);
      omp_set_lock(&many[3]);
      sums[0] += !omp_test_lock(&many[3]);
      omp_unset_lock(&many[3]);
    }
  }
  for (int i = 0; i < 64; i++)
    all += sums[i];
  return all;
}

int main(void) {
  const long got = locks(), expected = N * (N - 1L) / 2 + 2;
  return compare(&got, &expected, 1);
}
