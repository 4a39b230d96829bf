/* A histogram that counts without atomic.
 * expect: Data race: (read|write) of 4 bytes in target region in main at line [0-9]+ \(.*:@BUG@\)
 * more: yes */
#include <stdio.h>

int main(void) {
  enum { N = 4096 };
  static int bucket[64];
#pragma omp target teams distribute parallel for map(tofrom : bucket)
  for (int i = 0; i < N; i++) {
#if !BUG
#pragma omp atomic
#endif
    bucket[i * 7 % 64]++; /* BUG */
  }
  printf("%d\n", bucket[0]);
  return 0;
}
