/* The result is a member of a structure that is mapped to the device.
 * expect: Never brought back: [0-9]+ bytes of `s(tate)?`, written in target region in main at line
 */
#include <stdio.h>

enum { N = 1000 };

struct state {
  double sum;
  int count;
};

int main(void) {
  struct state s = {1, N};
#if BUG
#pragma omp target map(to : s)
#else
#pragma omp target map(tofrom : s)
#endif
  {
    for (int i = 0; i < s.count; i++)
      s.sum += i;
  }
  printf("%g\n", s.sum);
  return 0;
}
