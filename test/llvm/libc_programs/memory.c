/* malloc and free, small and large. */
#include "say.h"
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 60 };

int main(void) {
  static unsigned char *blocks[BLOCKS];
  int failed = 0;
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < BLOCKS; i++) {
      size_t bytes = (size_t)(i * i * 30 + 1);
      blocks[i] = malloc(bytes);
      failed += !blocks[i] || (unsigned long)blocks[i] % 16;
      memset(blocks[i], i + round, bytes);
    }
    for (int i = 0; i < BLOCKS; i++)
      for (int j = 0; j < i * i * 30 + 1; j += 97)
        failed += blocks[i][j] != i + round;
    for (int i = round % 2; i < BLOCKS; i += 2)
      free(blocks[i]);
    for (int i = 1 - round % 2; i < BLOCKS; i += 2)
      free(blocks[i]);
  }
  free(NULL);
  say("failed", failed);
  return failed != 0;
}
