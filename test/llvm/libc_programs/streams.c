/* Single characters, blocks, and both streams. */
#include "say.h"
#include <string.h>

int main(void) {
  const char *text = "a block of text\n";
  putchar('p');
  putc('u', stdout);
  fputc('t', stdout);
  putchar('\n');
  say("fwrite", (long)fwrite(text, 1, strlen(text), stdout));
  say("fwrite of 4", (long)fwrite(text, 4, 4, stdout));
  say("fwrite of 0", (long)fwrite(text, 0, 4, stdout));
  fwrite("with\0zero\n", 1, 10, stdout);
  for (int i = 0; i < 300; i++)
    fputc('a' + i % 26, i % 2 ? stdout : stderr);
  fputc('\n', stdout);
  say("flush", fflush(stdout));
  say("error", ferror(stdout) != 0);
  return 0;
}
