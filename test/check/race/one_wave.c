/* Each pass needs the result of the one before it, and all are one wave's. In the twin a barrier is between
 * the two: in both kernels workgroups could have more waves, so that it is still there.
 * expect: Data race: (read|write) of 4 bytes in .*target region in main at line [0-9]+ \(.*:@BUG@\)
 * expect: by work-item .* of workgroup \(0, 0, 0\)
 * expect: Conflicts with an earlier (read|write)
 * expect: by work-item .* of workgroup \(0, 0, 0\) */
#include <omp.h>

enum { N = 60 };

int main(void) {
  static int a[N], b[N];
  int threads = N;
  for (int i = 0; i < N; i++)
    a[i] = b[i] = i;
#pragma omp target parallel num_threads(threads) map(tofrom : a, b)
  {
    const int i = omp_get_thread_num(), left = i ? i - 1 : 0;
    a[i] = b[left] + 1;
#pragma omp barrier
    b[i] = a[left];
  }
  if (!BUG)
    return 0;
#pragma omp target teams distribute parallel for map(to : a) map(tofrom : b)
  for (int i = 1; i < N; i++)
    b[i] = b[i - 1] + a[i]; /* BUG */
  return 0;
}
