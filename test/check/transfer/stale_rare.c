/* A large array that many regions read through a pointer, without naming it: so it is looked at now and then
 * only, and what the host changes is found in one of the next 64 regions. Its end is what changes: each look
 * is at all of it.
 *
 * expect: Stale read of `list.items\[0:N\]` in target region in main at line
 * expect: The host has changed 2 of its bytes since they were copied, the first at offset 7999996
 */
#include <stdio.h>

enum { N = 2000000, QUIET = 300, NEXT = 64 };

struct list {
  int *items;
  int at;
};

int main(void) {
  static int numbers[N];
  struct list list = {numbers, N - 1};
  int sum = 0;
#pragma omp target enter data map(to : list)
#pragma omp target enter data map(to : list.items [0:N])
  for (int step = 0; step < QUIET + NEXT; step++) {
    if (step == QUIET) {
      numbers[N - 1] = 257;
      if (!BUG) {
#pragma omp target update to(list.items [N - 1:1])
      }
    }
#pragma omp target map(tofrom : sum)
    sum += list.items[list.at];
  }
#pragma omp target exit data map(delete : list.items [0:N])
#pragma omp target exit data map(delete : list)
  printf("%d\n", sum > 0);
  return 0;
}
