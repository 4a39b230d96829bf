/* What a mapped pointer leads to changes on the host, and a region that names the structure alone reads it.
 *
 * expect: Stale read of `list.items\[0:N\]` in target region in main at line
 * expect: The host has changed 2 of its bytes since they were copied, the first at offset 4
 */
#include <stdio.h>

enum { N = 1000 };

struct list {
  int *items;
  int length;
};

int main(void) {
  static int numbers[N];
  struct list list = {numbers, 10};
  int sum = 0;
#pragma omp target enter data map(to : list)
#pragma omp target enter data map(to : list.items [0:N])
  for (int step = 0; step < 2; step++) {
#pragma omp target map(tofrom : sum)
    for (int i = 0; i < list.length; i++)
      sum += list.items[i];
    numbers[1] = 1;
    numbers[N / 2] = 2; /* which no region reads */
    if (!BUG) {
#pragma omp target update to(list.items [0:2])
    }
  }
#pragma omp target exit data map(delete : list.items [0:N])
#pragma omp target exit data map(delete : list)
  printf("%d\n", sum);
  return 0;
}
