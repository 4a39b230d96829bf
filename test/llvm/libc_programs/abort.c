/* abort: what was flushed before is there. */
#include "say.h"
#include <stdlib.h>

int main(void) {
  puts("before");
  fflush(stdout);
  abort();
}
