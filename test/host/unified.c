/* Unified shared memory: what is not mapped close is the host's memory, and not present on the device. */
#include <omp.h>
#include <stdio.h>
#pragma omp requires unified_shared_memory

static int a[64];

int main(void) {
  int device = omp_get_default_device(), wrong = 0, *on_device = NULL;
  wrong += omp_target_is_present(a, device);
#pragma omp target enter data map(close, to : a)
  wrong += !omp_target_is_present(a, device);
#pragma omp target map(from : on_device)
  {
    on_device = a;
    a[1] = 7;
  }
  wrong += on_device == a;
#pragma omp target exit data map(from : a)
  wrong += omp_target_is_present(a, device) || a[1] != 7;
#pragma omp target map(from : on_device)
  {
    on_device = a;
    a[2] = 8;
  }
  wrong += on_device != a || a[2] != 8;
  printf("%s\n", wrong ? "wrong" : "right");
  return 0;
}
