/* The second loop reads what other threads wrote in the first, which nobody waited for.
 * expect: Data race: (read|write) of 4 bytes in .*target region in main at line [0-9]+ \(.*:@BUG@\)
 * expect: Conflicts with an earlier (read|write)
 * expect: Hint: nothing orders these two waves of the workgroup
 * more: yes */
#include <stdio.h>

int main(void) {
  enum { N = 256 };
  static int a[N], b[N];
#pragma omp target teams num_teams(1) thread_limit(N) map(tofrom : a, b)
#pragma omp parallel
  {
#if BUG
#pragma omp for nowait
#else
#pragma omp for
#endif
    for (int i = 0; i < N; i++)
      a[i] = i + 1;
#pragma omp for
    for (int i = 0; i < N; i++)
      b[i] = a[N - 1 - i]; /* BUG */
  }
  printf("%d\n", b[3]);
  return 0;
}
