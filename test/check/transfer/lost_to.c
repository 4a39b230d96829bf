/* The result is mapped to the device only.
 * expect: Never brought back: [0-9]+ bytes of `c(\[0:N\])?`, written in .* \(.*lost_to.c:@LINE@\)
 * expect: by work-item
 * expect: The variable is at .*lost_to.c:[0-9]+
 * expect: Hint: .*map\(tofrom:\)
 */
#include <stdio.h>

enum { N = 1000 };

int main(void) {
  static int a[N], c[N], only_there[N];
#if BUG
#pragma omp target teams distribute parallel for map(to : a, c) map(alloc : only_there)
#else
#pragma omp target teams distribute parallel for map(to : a) map(tofrom : c) map(alloc : only_there)
#endif
  for (int i = 0; i < N; i++) {
    only_there[i] = i + 1;
    c[i] += a[i] + i + 1; /* LINE */
  }
  printf("%d\n", c[7]);
  return 0;
}
