/* Each work-item meets another wave's by both dwords of a number. It is one of its wave all the same.
 *
 * expect: Data race: (read|write) of 8 bytes in target region in main at line [0-9]+ \(.*\)
 * expect: by work-item \((0|64), 0, 0\) of workgroup \(0, 0, 0\), and 63 more of its wave;
 * expect: Conflicts with an earlier (read|write)
 * expect: 64 x Data race: (read|write) of 8 bytes
 * more: yes
 * levels: O2 */
#include <omp.h>
#include <stdio.h>

int main(void) {
  enum { N = 128 };
  static double a[N], b[N];
#pragma omp target parallel num_threads(N) map(tofrom : a) map(from : b)
  {
    const int t = omp_get_thread_num();
    a[t] = t * 0.3 + 0.1; /* no dword is 0, as before */
#if !BUG
#pragma omp barrier
#endif
    b[t] = a[N - 1 - t]; /* BUG */
  }
  printf("%g\n", b[3]);
  return 0;
}
