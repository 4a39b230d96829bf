/* A counter that is raised atomically, and read as if nobody did.
 * expect: Data race: (read of|atomic access to) 4 bytes in target region in main at line [0-9]+ \(.*
 * expect: Conflicts with an earlier (atomic access|read)
 * more: yes */
#include <stdio.h>

int main(void) {
  enum { N = 2048 };
  static int out[N];
  int count = 0;
#pragma omp target teams distribute parallel for map(tofrom : count, out) num_teams(8) thread_limit(64)
  for (int i = 0; i < N; i++) {
    int now;
#pragma omp atomic
    count++;
#if !BUG
#pragma omp atomic read
#endif
    now = count; /* BUG */
    out[i] = now;
  }
  printf("%d\n", out[0] > 0);
  return 0;
}
