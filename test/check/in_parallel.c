/* The error is in a function of a parallel region that is inlined into one of the device support library;
 * the line is the program's all the same.
 * expect: Invalid write of [0-9]+ bytes in target region in main at line [0-9]+ \(.*:@BUG@\)
 * levels: O2
 * more: yes */
#include <stdio.h>

int main(int argc, char **argv) {
  enum { N = 64 };
  int a[N] = {0}, far = argc * N - N * !BUG;
  (void)argv;
#pragma omp target map(tofrom : a)
  {
    int n = a[0] + 4;
#pragma omp parallel num_threads(N) firstprivate(n)
    {
      for (int i = 0; i < n; i++) /* BUG */
        a[far + i] = n;
    }
  }
  printf("%d\n", a[0]);
  return 0;
}
