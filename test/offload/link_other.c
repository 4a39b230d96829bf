/* The second translation unit of link_main.c. */
#include "link_other.h"

#pragma omp declare target
const short other_table[5] = {-1, 10, -100, 1000, -10000};
other_state_t other_state = {'x', 7, 1.5};
static int private_same_name = 22;

int other_mix(int x) {
  return twice(x) * shared_table[x % 8] + private_same_name;
}

static int work(void) {
  int sum = shared_counter + (int)(shared_scale * 8);
  for (int i = 0; i < 8; i++)
    sum += other_mix(i) * shared_table[i];
  return sum + private_same_name;
}
#pragma omp end declare target

int other_linked[64];

void other_device_work(int *out) {
  int result = 0;
#pragma omp target map(from : result)
  result = work();
  *out = result;
}

void other_host_work(int *out) {
  *out = work();
}
