/* A pointer of `declare target` that the region itself sets on the device, by what it maps; another variable,
 * which nothing is attached to, is not brought along.
 *
 * expect: Stale read of `factor` in target region in main at line
 */
#include <stdio.h>
#include <stdlib.h>

enum { N = 100 };
#pragma omp begin declare target
int *table;
int factor = 1;
static void use(int n) {
  const int by = factor;
  for (int i = 0; i < n; i++)
    table[i] += i * by;
}
#pragma omp end declare target

int main(void) {
  table = calloc(N, sizeof *table);
  if (BUG)
    factor = 2;
#pragma omp target map(table [0:N])
  use(N);
  const int last = table[N - 1];
  free(table);
  return last != N - 1;
}
