/* An atomic operation that PCIe does not have, on memory of the host.
 *
 * expect: Invalid atomic operation of 4 bytes on the host's memory in target region .* \(.*:@BUG@\)
 * expect: Hint: PCIe knows fetch-and-add, swap and compare-and-swap */
#include <omp.h>
#include <stdio.h>

void *llvm_omp_target_alloc_host(size_t, int);
void llvm_omp_target_free_host(void *, int);

int main(void) {
  enum { N = 256 };
  int *bits = llvm_omp_target_alloc_host(sizeof *bits, omp_get_default_device());
  *bits = 0;
#pragma omp target teams distribute parallel for is_device_ptr(bits)
  for (int i = 0; i < N; i++) {
#if BUG
#pragma omp atomic
    *bits |= 1 << i % 31; /* BUG */
#else
#pragma omp atomic
    *bits += i;
#endif
  }
  printf("%d\n", *bits != 0);
  llvm_omp_target_free_host(bits, omp_get_default_device());
  return 0;
}
