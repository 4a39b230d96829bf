/* Unified shared memory on a device without XNACK, which is what most are: maps copy nothing, and kernels work on memory
 * that host and device share because it was allocated for both. Variables of the program are reached on the device
 * through pointers to the host's, so they may be addressed there, but not accessed. */
#include "check.h"

#pragma omp requires unified_shared_memory

extern void *llvm_omp_target_alloc_host(size_t size, int device);
extern void llvm_omp_target_free_host(void *memory, int device);

int linked = 11;
#pragma omp declare target link(linked)
#pragma omp declare target
int exported = 12;
#pragma omp end declare target

enum { N = 1000 };

static void share(int device) {
  int *data = llvm_omp_target_alloc_host(N * sizeof *data, device);
  check_true("shared memory", data != NULL);
  for (int i = 0; i < N; i++)
    data[i] = i;
  unsigned long seen = 0;
  unsigned long *where = llvm_omp_target_alloc_host(sizeof *where, device);
  /* map(to) would not bring the results back if there were a copy. */
#pragma omp target teams distribute parallel for map(to : data[0 : N])
  for (int i = 0; i < N; i++)
    data[i] += 2 * i;
  for (int i = 0; i < N; i++)
    check_int("written through map(to)", i, data[i], 3 * i);
#pragma omp target map(to : data[0 : N], where[0 : 1])
  *where = (unsigned long)&data[5];
  seen = *where;
  check_true("the same address on both sides", seen == (unsigned long)&data[5]);
  /* No map at all. */
#pragma omp target is_device_ptr(data)
  data[7] = -1;
  check_int("unmapped", 0, data[7], -1);
  llvm_omp_target_free_host(where, device);
  llvm_omp_target_free_host(data, device);
}

static void find_variables(int device) {
  unsigned long *where = llvm_omp_target_alloc_host(2 * sizeof *where, device);
#pragma omp target map(to : where[0 : 2])
  {
    where[0] = (unsigned long)&linked;
    where[1] = (unsigned long)&exported;
  }
  check_true("a linked variable is the host's", where[0] == (unsigned long)&linked);
  check_true("a declared variable is the host's", where[1] == (unsigned long)&exported);
  llvm_omp_target_free_host(where, device);
}

int main(void) {
  int device = omp_get_default_device();
  share(device);
  find_variables(device);
  return check_done("unified");
}
