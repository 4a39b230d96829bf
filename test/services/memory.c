/* More memory in all than the pool of a device runtime has, one block after the other: only who gives blocks
 * back goes on getting them. */
#include <stdio.h>
#include <stdlib.h>

enum { BLOCKS = 200, BYTES = 64 << 20 };

int main(void) {
  int got = 0;
#pragma omp target map(tofrom : got)
  for (int i = 0; i < BLOCKS; i++) {
    volatile int *block = malloc(BYTES);
    if (!block)
      break;
    block[0] = i;
    block[BYTES / sizeof *block - 1] = i;
    got += block[0] == i && block[BYTES / sizeof *block - 1] == i;
    free((void *)block);
  }
  printf("%d of %d blocks\n", got, BLOCKS);
  return got != BLOCKS;
}
