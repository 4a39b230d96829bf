/* Two kernels at the same time on the same array.
 * expect: Data race: (read|write) of 4 bytes in target region in main at line [0-9]+ \(.*:@BUG@\)
 * expect: Conflicts with an earlier (read|write) in another kernel
 * expect: Hint: the two were under way at the same time
 * levels: O2
 * more: yes */
#include <stdio.h>

enum { N = 64, ROUNDS = 150000 };

int main(void) {
  static int a[N];
#pragma omp target data map(tofrom : a)
  {
#pragma omp target teams num_teams(1) thread_limit(64) nowait depend(out : a)
#pragma omp parallel for
    for (int i = 0; i < N; i++)
      for (int round = 0; round < ROUNDS; round++)
        *(volatile int *)&a[i] += 1; /* BUG */
#if BUG
#pragma omp target teams num_teams(1) thread_limit(64) nowait
#else
#pragma omp target teams num_teams(1) thread_limit(64) nowait depend(in : a)
#endif
#pragma omp parallel for
    for (int i = 0; i < N; i++)
      for (int round = 0; round < ROUNDS; round++)
        *(volatile int *)&a[i] += 2;
#pragma omp taskwait
  }
  printf("%d\n", a[0]);
  return 0;
}
