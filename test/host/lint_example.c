/* Moves a field by a force, in steps: the example of doc/lint.md. */
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 1000, STEPS = 10 };

int main(void) {
  double *field = calloc(COUNT, sizeof *field), *force = malloc(COUNT * sizeof *force);
  for (int i = 0; i < COUNT; i++)
    force[i] = 1 + i % 7;
  for (int step = 0; step < STEPS; step++) {
#pragma omp target teams distribute parallel for map(tofrom : field[:COUNT]) map(to : force[:COUNT])
    for (int i = 1; i < COUNT - 1; i++)
      field[i] += (force[i - 1] + force[i + 1]) / 2;
#pragma omp target update from(force[:COUNT])
  }
  printf("%g\n", field[COUNT / 2]);
  free(field);
  free(force);
  return 0;
}
