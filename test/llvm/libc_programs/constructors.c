/* Constructors get arguments too, destructors come after the handlers of atexit.
 * arguments: a b c */
#include "say.h"
#include <stdlib.h>

static int constructed;

__attribute__((constructor)) static void begin(int argc, char **argv, char **envp) {
  constructed = argc;
  say("constructor", argc);
  puts(argv[1]);
  say("environment", envp[0] != 0);
}

__attribute__((destructor)) static void end(void) {
  puts("destructor");
}

static void at_exit(void) {
  puts("atexit");
}

int main(void) {
  atexit(at_exit);
  say("constructed", constructed);
  return 0;
}
