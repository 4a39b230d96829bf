/* Tasks of a parallel region, and a count that is none of theirs.
 * expect: Data race: write of 4 bytes in target region in main at line [0-9]+ \(.*:@BUG@\)
 * expect: Conflicts with an earlier (read|write)
 * more: yes
 */
#include <omp.h>
#include <stdio.h>

enum { N = 16, THREADS = 256 };

int main(void) {
  int done[N] = {0}, seen[THREADS] = {0}, count = 0;
#pragma omp target map(tofrom : done, seen, count)
#pragma omp parallel num_threads(THREADS)
  {
#pragma omp single
#pragma omp taskloop shared(done)
    for (int i = 0; i < N; i++)
      done[i] = i;
    seen[omp_get_thread_num()]++;
#if BUG
    count++; /* BUG */
#else
#pragma omp atomic
    count++;
#endif
  }
  printf("%d %d %d\n", done[N - 1], seen[0], count);
  return 0;
}
