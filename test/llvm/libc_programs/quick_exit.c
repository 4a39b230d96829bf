/* _Exit runs no handlers. */
#include "say.h"
#include <stdlib.h>

static void never(void) {
  puts("not reached");
}

int main(void) {
  atexit(never);
  puts("before");
  fflush(stdout);
  _Exit(255);
}
