/* Memory is freed when a kernel is done with it, and nobody has waited. More than once: it may be too late.
 * expect: Invalid free of memory under target region in main at line
 * expect: Address 0x[0-9a-f]+ is 0 bytes into a block of 2000 bytes
 * expect: The kernel has accessed it, and is not over
 * expect: at .*freed_under.c:@BUG@: .*store
 * expect: Hint: wait for the kernel before that */
#include <omp.h>
#include <stdio.h>

void *llvm_omp_target_alloc_host(size_t, int);
void llvm_omp_target_free_host(void *, int);

int main(void) {
  enum { N = 500, TIMES = 6 };
  const int device = omp_get_default_device();
  int *done = llvm_omp_target_alloc_host(sizeof *done, device);
  *done = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int time = 1; time <= TIMES; time++) {
    int *p = omp_target_alloc(N * sizeof *p, device);
#pragma omp target is_device_ptr(p, done) firstprivate(time) nowait
    {
      for (int i = 0; i < N; i++)
        p[i] = i; /* BUG */
#pragma omp atomic write
      *done = time;
    }
#if !BUG
#pragma omp taskwait
#endif
    for (int seen = 0; seen != time;) {
#pragma omp atomic read
      seen = *done;
    }
    omp_target_free(p, device);
#pragma omp taskwait
  }
  llvm_omp_target_free_host(done, device);
  puts("done");
  return 0;
}
