/* Standard streams. What a thread writes comes out in order. */
#include "say.h"
#include <string.h>

int main(void) {
  static char text[5000];
  puts("hello");
  fputs("fputs ", stdout);
  fputs("to stderr\n", stderr);
  puts("");
  say("puts", puts("x") >= 0);
  memset(text, 'a', sizeof text - 1);
  for (int i = 63; i < (int)sizeof text; i += 64)
    text[i] = '\n';
  fputs(text, stdout);
  for (int i = 0; i < 100; i++)
    say("line", i);
  return 0;
}
