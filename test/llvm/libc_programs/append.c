/* Text files: writing, appending, and one that is missing. */
#include "say.h"

int main(void) {
  FILE *file = fopen("made", "w");
  say("opened", file != 0);
  say("fputs", fputs("text in a file\n", file) >= 0);
  say("closed", fclose(file));
  file = fopen("made", "a");
  for (int i = 0; i < 50; i++)
    fputs("0123456789012345678901234567890123456789012345678901234567890123456789\n", file);
  say("closed", fclose(file));
  say("missing", fopen("no/such/file", "r") != 0);
  return 0;
}
