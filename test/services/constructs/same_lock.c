/* Threads of one wave that want the same lock would wait for ever: the program is told so. */
#include "check.h"

#include <omp.h>

int main(void) {
  omp_lock_t lock;
#pragma omp target data map(alloc : lock)
  {
#pragma omp target
    omp_init_lock(&lock);
#pragma omp target parallel num_threads(64)
    {
      omp_set_lock(&lock);
      omp_unset_lock(&lock);
    }
  }
  return 0;
}
