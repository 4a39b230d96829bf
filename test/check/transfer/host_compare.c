/* The host asks whether a region has changed something, and has not brought it back: the C library's memcmp
 * finds its own copy unchanged, reading with the widest registers there are.
 *
 * expect: Stale read of `numbers(\[0:N\])?` by the host, at offset
 * expect:    called at .*host_compare.c:[0-9]+ \(main\)
 */
#include <stdio.h>
#include <string.h>

enum { N = 256 };

int main(void) {
  static int numbers[N], before[N];
  int is_same;
#pragma omp target data map(tofrom : numbers)
  {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < N; i++)
      numbers[i] = i;
    if (!BUG) {
#pragma omp target update from(numbers)
    }
    is_same = memcmp(numbers, before, sizeof before) == 0;
  }
  printf("%d\n", is_same);
  return 0;
}
