/* ftell. */
#include "say.h"

int main(void) {
  FILE *file = fopen("text", "w");
  fputs("twelve bytes", file);
  say("tell", ftell(file));
  say("seek", fseek(file, 5, SEEK_SET));
  say("tell", ftell(file));
  return fclose(file);
}
