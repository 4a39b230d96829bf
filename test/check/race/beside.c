/* Loads of two elements at once: the second is what the next work-item of the same wave has just stored.
 * expect: Data race: read of [0-9]+ bytes in target region in main at line
 * expect: Conflicts with an earlier write
 * expect: 122 x Data race
 * levels: O2 */
#include <omp.h>
#include <stdio.h>

int main(void) {
  enum { N = 128 };
  static double a[N + 8], b[N], c[4];
#pragma omp target teams num_teams(1) thread_limit(N) map(tofrom : a, b, c)
#pragma omp parallel
  {
    const int i = omp_get_thread_num();
    const int lane = i % 64; /* the first two and the last load what nobody stores */
    const double *from = lane < 2 ? (i < 64 ? &c[lane] : &a[N + 1 + lane]) : lane == 63 ? c : &a[i];
    a[i] = i + 1;
#if !BUG
#pragma omp barrier
#endif
    b[i] = from[0] + from[1]; /* BUG */
  }
  printf("%g\n", b[5]);
  return 0;
}
