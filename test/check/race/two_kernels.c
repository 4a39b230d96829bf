/* Two kernels at the same time on the same array. The first one's accesses wait for the second one's, and
 * the second one's end waits for the first, however late the host is with either. Where the second is
 * through with all of its rounds when the first one sees that it has begun, they count as learned of:
 * clocks do not pass between a store and what comes behind it. So two of 64 runs found nothing, on two
 * processors with work for sixteen; three such in a row are one of 30000.
 * expect: Data race: (read|write) of 4 bytes in target region in main at line [0-9]+ \(.*:@BUG@\)
 * expect: Conflicts with an earlier (read|write) in another kernel
 * expect: Hint: the two were under way at the same time
 * levels: O2
 * tries: 3
 * more: yes */
#include <stdio.h>

enum { N = 64, ROUNDS = 100000, PATIENCE = 50000000 };

int main(void) {
  static int a[N], begun, accessed;
#pragma omp target data map(tofrom : a, begun, accessed)
  {
#pragma omp target teams num_teams(1) thread_limit(64) nowait depend(out : a)
#pragma omp parallel for
    for (int i = 0; i < N; i++) {
#pragma omp atomic write
      begun = 1;
#if BUG
      for (int there = 0, k = 0; !there && k < PATIENCE; k++) {
#pragma omp atomic read
        there = accessed;
      }
#endif
      for (int round = 0; round < ROUNDS; round++)
        *(volatile int *)&a[i] += 1; /* BUG */
    }
#if BUG
#pragma omp target teams num_teams(1) thread_limit(64) nowait
#else
#pragma omp target teams num_teams(1) thread_limit(64) nowait depend(in : a)
#endif
#pragma omp parallel for
    for (int i = 0; i < N; i++) {
      for (int round = 0; round < ROUNDS; round++) {
        *(volatile int *)&a[i] += 2;
        if (round == 0) { /* what comes behind it is ordered by nothing */
#pragma omp atomic write
          accessed = 1;
        }
      }
      for (int there = 0, k = 0; !there && k < PATIENCE; k++) {
#pragma omp atomic read
        there = begun;
      }
    }
#pragma omp taskwait
  }
  printf("%d\n", a[0]);
  return 0;
}
