/* A block is freed while it is mapped; the next one comes to lie there, is taken for what is mapped, and is
 * not copied to the device. Told of where it is found, and not of each use and copy of it. The twin ends its
 * mappings.
 *
 * expect: Invalid use of a mapping: `data(\[0:N\])?`, new memory of the host, is taken for `data
 * expect:    called at .*freed_taken.c:@BUG@ \(sum_of\)
 * expect:  It was freed, or moved, while it was mapped
 * expect:    called at .*freed_taken.c:[0-9]+ \(sum_of\)
 * expect:  It was mapped at .*freed_taken.c:@BUG@ \(sum_of\)
 * expect:  Its memory is another block's by now, allocated at .*freed_taken.c:[0-9]+
 * expect:  What is mapped already is not copied to the device
 * expect: 2 x Invalid use of a mapping
 * runtime: ours
 */
#include <stdio.h>
#include <stdlib.h>

enum { N = 64 };

static int sum_of(int number) {
  int *data = malloc(N * sizeof *data), sum = 0;
  if (!data)
    return 0;
  for (int i = 0; i < N; i++)
    data[i] = number;
#pragma omp target enter data map(to : data [0:N]) /* BUG */
#pragma omp target teams distribute parallel for map(tofrom : data [0:N]) reduction(+ : sum)
  for (int i = 0; i < N; i++) {
    data[i]++;
    sum += data[i];
  }
#pragma omp target update from(data [0:N])
  sum += data[1];
#if !BUG
#pragma omp target exit data map(release : data [0:N])
#endif
  free(data);
  return sum;
}

int main(void) {
  for (int i = 1; i <= 3; i++)
    printf("%d\n", sum_of(i));
  return 0;
}
