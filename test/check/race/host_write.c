/* The host changes its memory when a kernel is done with it, and nobody has waited for the kernel.
 * expect: Data race: write of 4 bytes in target region in main at line [0-9]+ \(.*:@BUG@\)
 * expect: Conflicts with a later write of the host: [0-9]+ dwords? ha
 * expect: Hint: the host has to wait for the kernel before that */
#include <omp.h>
#include <stdio.h>

void *llvm_omp_target_alloc_host(size_t, int);
void llvm_omp_target_free_host(void *, int);

int main(void) {
  enum { N = 100, TIMES = 6 }; /* once, it may come too late */
  const int device = omp_get_default_device();
  int *p = llvm_omp_target_alloc_host(N * sizeof *p, device);
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int time = 1; time <= TIMES; time++) {
    for (int i = 0; i < N; i++)
      p[i] = 0;
#pragma omp target is_device_ptr(p) firstprivate(time) nowait
    for (int i = 0; i < N; i++)
      p[i] = time + i; /* BUG */
#if !BUG
#pragma omp taskwait
#endif
    while (*(volatile int *)&p[N - 1] != time + N - 1)
      ;
    for (int i = 0; i < N; i++)
      p[i] = -1;
#pragma omp taskwait
  }
  printf("%d\n", p[3]);
  llvm_omp_target_free_host(p, device);
  return 0;
}
