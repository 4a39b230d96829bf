/* A pointer of `declare target` that a mapping sets on the device; the host has set its own before.
 *
 * expect: Stale read of `table\[0:N\]` in target region in main at line
 * expect: The host has changed [0-9] of its bytes since they were copied, the first at offset 4[0-9]
 */
#include <stdio.h>
#include <stdlib.h>

enum { N = 100 };
#pragma omp begin declare target
double *table;
#pragma omp end declare target

int main(void) {
  double sum = 0;
  table = malloc(N * sizeof *table);
  for (int i = 0; i < N; i++)
    table[i] = i;
#pragma omp target enter data map(to : table [0:N])
  if (BUG)
    table[5] = 0.5;
#pragma omp target teams distribute parallel for reduction(+ : sum) map(tofrom : sum) map(to : table [0:N])
  for (int i = 0; i < N; i++)
    sum += table[i];
#pragma omp target exit data map(delete : table [0:N])
  free(table);
  return sum != N * (N - 1) / 2;
}
