/* Loads of two elements at once: the second is what the next work-item of the same wave has just stored.
 * expect: Data race: read of [0-9]+ bytes in target region in main at line
 * expect: Conflicts with an earlier write
 * expect: 248 x Data race
 * levels: O2 */
#include <omp.h>
#include <stdio.h>

int main(void) {
  enum { N = 128 };
  static double a[N + 2], b[N], c[2];
#pragma omp target teams num_teams(1) thread_limit(N) map(tofrom : a, b, c)
#pragma omp parallel
  {
    const int i = omp_get_thread_num();
    const double *from = i % 32 == 31 ? c : &a[i];
    a[i] = i + 1;
#if !BUG
#pragma omp barrier
#endif
    b[i] = from[0] + from[1]; /* BUG */
  }
  printf("%g\n", b[5]);
  return 0;
}
