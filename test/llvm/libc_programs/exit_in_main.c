/* A result of main beyond 8 bits; handlers run after it. */
#include "say.h"
#include <stdlib.h>

static void last(void) {
  puts("last");
}

int main(void) {
  atexit(last);
  puts("main");
  return 255 + 256;
}
