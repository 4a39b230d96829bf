/* A sum in local memory by halves, of which the barrier of each step is forgotten.
 * expect: Data race: (read|write) of 4 bytes in .*target region in main at line [0-9]+ \(.*:@BUG@\)
 * expect: workgroup's local memory \(LDS\)
 * levels: O2
 * more: yes */
#include <omp.h>
#include <stdio.h>

int main(void) {
  enum { N = 256 };
  int sum = 0;
#pragma omp target teams num_teams(1) thread_limit(N) map(tofrom : sum)
  {
    int t[N];
#pragma omp parallel
    {
      const int i = omp_get_thread_num(), n = omp_get_num_threads();
      t[i] = i;
#pragma omp barrier
      for (int half = n / 2; half > 0; half /= 2) {
        if (i < half)
          t[i] += t[i + half]; /* BUG */
#if !BUG
#pragma omp barrier
#endif
      }
      if (i == 0)
        sum = t[0];
    }
  }
  printf("%d\n", sum);
  return 0;
}
