/* Regions that nobody waits for change the same array; each is over before it is seen that the next began.
 * expect: Data race: (read|write) of 4 bytes in .*target region in main at line [0-9]+ \(.*nowait_regions.c
 * expect: Conflicts with an earlier (read|write)
 * expect: Hint: the two were under way at the same time: a depend clause, taskwait
 * more: yes */
#include <stdio.h>

int main(void) {
  enum { N = 64, TIMES = 6 };
  static int a[N];
#pragma omp parallel num_threads(3)
#pragma omp single
#pragma omp target data map(tofrom : a)
  {
    for (int time = 0; time < TIMES; time++) {
#if BUG
#pragma omp target teams distribute parallel for num_teams(1) thread_limit(64) nowait
#else
#pragma omp target teams distribute parallel for num_teams(1) thread_limit(64) nowait depend(inout : a)
#endif
      for (int i = 0; i < N; i++)
        a[i] = 3 * a[i] + 1;
    }
#pragma omp taskwait
  }
  printf("%d\n", a[3]);
  return 0;
}
