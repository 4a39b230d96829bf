/* Where a race is: the whole number, whichever half of it was met first, and variables of the image by their
 * names.
 *
 * expect: Data race: write of 8 bytes in target region in main at line
 * expect: Address 0x[0-9a-f]+ is 8 bytes into (`numbers`, )?a block of 32 bytes
 * expect: Data race: write of 8 bytes in target region in main at line
 * expect: Both are 8 bytes into `total`, a variable of 24 bytes
 * more: yes */
#include <stdio.h>

#pragma omp declare target
double total[3];
#pragma omp end declare target

int main(void) {
  double numbers[4] = {0};
#pragma omp target teams distribute parallel for map(tofrom : numbers)
  for (int i = 0; i < 1024; i++) {
#if !BUG
#pragma omp atomic
#endif
    numbers[1] += 1;
  }
#pragma omp target teams distribute parallel for
  for (int i = 0; i < 1024; i++) {
#if !BUG
#pragma omp atomic
#endif
    total[1] += 1;
  }
#pragma omp target update from(total)
  printf("%d\n", numbers[1] + total[1] >= 2);
  return 0;
}
