/* Standard input, which is this file: by lines, by characters, by blocks. */
#include "say.h"
#include <string.h>

int main(void) {
  char line[200], tiny[8], block[100];
  int c, characters = 0;
  for (int i = 0; i < 3 && fgets(line, sizeof line, stdin); i++)
    fputs(line, stdout);
  say("tiny", fgets(tiny, sizeof tiny, stdin) != 0);
  puts(tiny);
  say("block", (long)fread(block, 10, 10, stdin));
  fwrite(block, 1, sizeof block, stdout);
  puts("");
  say("getchar", getchar());
  c = fgetc(stdin);
  say("ungetc", ungetc(c, stdin) == c);
  say("again", getc(stdin) == c);
  while ((c = getchar()) != EOF)
    characters++;
  say("characters", characters);
  say("eof", feof(stdin) != 0);
  say("after the end", fgets(line, sizeof line, stdin) != 0);
  clearerr(stdin);
  say("cleared", feof(stdin) != 0);
  return 0;
}
