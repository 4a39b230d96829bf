/* exit with handlers, from deep inside. */
#include "say.h"
#include <stdlib.h>

static void first(void) {
  puts("registered first");
}

static void second(void) {
  puts("registered second");
}

static void descend(int depth) {
  if (!depth)
    exit(7);
  descend(depth - 1);
  puts("not reached");
}

int main(void) {
  atexit(first);
  atexit(second);
  puts("before");
  descend(10);
  return 1;
}
