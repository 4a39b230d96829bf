/* A structure with a pointer, which is the device's own there; its length is changed on the host.
 * expect: Stale read of `list(\[0:1\])?` in target region in main at line
 * expect: The host has changed [12] of its bytes
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
    list.length = BUG ? N : 10;
  }
#pragma omp target exit data map(delete : list.items [0:N])
#pragma omp target exit data map(delete : list)
  printf("%d\n", sum);
  return 0;
}
