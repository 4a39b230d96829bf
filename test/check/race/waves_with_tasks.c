/* Tasks of one wave beside another without. That the device runtime looks at a team's state without order
 * is suppressed (openmp.supp).
 * expect: Data race: .*target region in main at line [0-9]+ \(.*:(20|24)\)
 * expect: is [0-9]+ bytes into `results`
 * more: yes */
#include <omp.h>
#include <stdio.h>

enum { N = 128 };

int main(void) {
  int results[N] = {0}, most[N] = {0};
#pragma omp target map(tofrom : results, most)
#pragma omp parallel num_threads(N)
  {
    const int i = omp_get_thread_num();
    if (i < N / 2) {
      most[i] = omp_get_max_threads() > 0;
#if BUG
      most[i] += results[i + N / 2];
#endif
    } else {
#pragma omp task firstprivate(i)
      results[i] = i;
    }
  }
  int sum = 0;
  for (int i = 0; i < N; i++)
    sum += results[i] + most[i];
  printf("%d\n", sum > 0);
}
