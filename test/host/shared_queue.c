/* Threads whose regions have all their data mapped already, on one queue for all: most find it in use. */
#include <stdio.h>

enum { THREADS = 6, ELEMENTS = 64, ROUNDS = 100 };
static int counted[THREADS][ELEMENTS], twice[THREADS][ELEMENTS];

static int run(int *one, int *two) {
  int wrong = 0;
  for (int round = 0; round < ROUNDS; round++) {
#pragma omp target map(tofrom : one [0:ELEMENTS], two [0:ELEMENTS])
    for (int i = 0; i < ELEMENTS; i++) {
      one[i]++;
      two[i] += 2;
    }
  }
#pragma omp target update from(one [0:ELEMENTS], two [0:ELEMENTS])
  for (int i = 0; i < ELEMENTS; i++)
    wrong += one[i] != ROUNDS || two[i] != 2 * ROUNDS;
  return wrong;
}

int main(void) {
  int wrong = 0;
#pragma omp target enter data map(to : counted, twice)
#pragma omp parallel for num_threads(THREADS) reduction(+ : wrong)
  for (int i = 0; i < THREADS; i++)
    wrong += run(counted[i], twice[i]);
  printf("%d wrong\n", wrong);
  return wrong != 0;
}
