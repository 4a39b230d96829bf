/* A sum without a reduction clause.
 * expect: Data race: (read|write) of 4 bytes in target region in main at line [0-9]+ \(.*:@BUG@\)
 * expect: Conflicts with an earlier (read|write)
 * more: yes */
#include <stdio.h>

int main(void) {
  enum { N = 1000 };
  int sum = 0;
#if BUG
#pragma omp target teams distribute parallel for map(tofrom : sum)
#else
#pragma omp target teams distribute parallel for map(tofrom : sum) reduction(+ : sum)
#endif
  for (int i = 0; i < N; i++)
    sum += i; /* BUG */
  printf("%d\n", sum);
  return 0;
}
