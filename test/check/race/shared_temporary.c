/* A temporary that was to be private.
 * expect: Data race: (read|write) of 8 bytes in target region in main at line [0-9]+ \(.*:@BUG@\)
 * more: yes */
#include <stdio.h>

int main(void) {
  enum { N = 512 };
  static double a[N];
  double t = 0;
#if BUG
#pragma omp target teams distribute parallel for map(tofrom : t, a)
#else
#pragma omp target teams distribute parallel for map(tofrom : a) private(t)
#endif
  for (int i = 0; i < N; i++) {
    t = i * 0.5; /* BUG */
    a[i] = t * t;
  }
  printf("%g\n", a[8] + (BUG ? t : 0));
  return 0;
}
