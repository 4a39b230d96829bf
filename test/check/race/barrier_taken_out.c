/* One wave, whose lanes give values to each other. In the twin a barrier is between, of which clang 22
 * leaves nothing in the code: it knows that a workgroup has no more than 64 work-items.
 * expect: Data race: (read|write) of 4 bytes in .*target region in main
 * expect: Conflicts with an earlier (read|write)
 * more: yes
 * levels: O2 */
#include <omp.h>

enum { N = 64 };

int main(void) {
  static int a[N], b[N];
  int threads = N;
#if BUG
#pragma omp target parallel num_threads(threads) map(tofrom : a, b)
#else
#pragma omp target parallel num_threads(N) thread_limit(N) map(tofrom : a, b)
#endif
  {
    const int i = omp_get_thread_num(), left = i ? i - 1 : 0;
    a[i] = b[left] + 1;
#if !BUG
#pragma omp barrier
#endif
    b[i] = a[left];
  }
  return threads != N;
}
