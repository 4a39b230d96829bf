/* Every thread writes, allocates and frees.
 * loader: --threads 100 --blocks 7 */
#include "say.h"
#include <stdlib.h>
#include <string.h>

static int work(void) {
  char *block = malloc(100);
  if (!block)
    return 1;
  strcpy(block, "a line that every thread writes, and which is longer than one packet of the protocol");
  puts(block);
  free(block);
  return 0;
}

int main(void) {
#ifdef __AMDGPU__
  return work();
#else
  int failed = 0;
  for (int i = 0; i < 700; i++)
    failed |= work();
  return failed;
#endif
}
