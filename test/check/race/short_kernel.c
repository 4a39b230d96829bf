/* A sum by halves without a barrier. The kernel is short: its store is where others have one of the device
 * runtime's, which is suppressed (openmp.supp), but not the first work-item's.
 * expect: Data race: (read|write) of 8 bytes in .*target region in main at line [0-9]+ \(.*:(23|29)\)
 * expect: workgroup's local memory \(LDS\)
 * levels: O2
 * more: yes */
#include <omp.h>
#include <stdio.h>

enum { N = 128, TEAMS = 4 };

int main(void) {
  static double a[N * TEAMS], sums[TEAMS];
  for (int i = 0; i < N * TEAMS; i++)
    a[i] = 1;
#pragma omp target teams num_teams(TEAMS) thread_limit(N) map(to : a) map(from : sums)
  {
    double t[N];
    const int team = omp_get_team_num();
#pragma omp parallel num_threads(N)
    {
      const int i = omp_get_thread_num();
      t[i] = a[team * N + i];
      for (int half = N / 2; half > 0; half /= 2) {
#if !BUG
#pragma omp barrier
#endif
        if (i < half)
          t[i] += t[i + half];
      }
      if (i == 0)
        sums[team] = t[0];
    }
  }
  printf("%g\n", sums[1]);
  return 0;
}
