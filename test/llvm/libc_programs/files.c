/* Files: modes, positions, ends and errors. */
#include "say.h"
#include <string.h>

static void read_back(const char *name) {
  char text[400];
  FILE *file = fopen(name, "r");
  size_t bytes = fread(text, 1, sizeof text, file);
  say("bytes", (long)bytes);
  fwrite(text, 1, bytes, stdout);
  say("eof", feof(file) != 0);
  fclose(file);
}

static void seek_about(const char *name) {
  char text[20] = "";
  FILE *file = fopen(name, "r+");
  say("seek", fseek(file, 10, SEEK_SET));
  say("read", (long)fread(text, 1, 5, file));
  puts(text);
  say("seek", fseek(file, -5, SEEK_CUR));
  say("write", (long)fwrite("FIVE!", 1, 5, file));
  say("seek", fseek(file, 0, SEEK_END));
  say("before the beginning", fseek(file, -1, SEEK_SET) != 0);
  say("seek", fseek(file, -3, SEEK_END));
  say("ungetc", ungetc('x', file));
  say("fgetc", fgetc(file));
  say("fgetc", fgetc(file));
  say("close", fclose(file));
}

int main(void) {
  static unsigned char bytes[20000], back[20000];
  FILE *files[20];
  FILE *file = fopen("text", "w");
  for (int i = 0; i < 20; i++)
    fputs(i % 2 ? "odd\n" : "even line\n", file);
  say("close", fclose(file));
  read_back("text");
  seek_about("text");
  read_back("text");
  for (int i = 0; i < (int)sizeof bytes; i++)
    bytes[i] = (unsigned char)(i * 7 + i / 256);
  file = fopen("binary", "wb");
  say("wrote", (long)fwrite(bytes, 100, sizeof bytes / 100, file));
  say("flush", fflush(file));
  say("close", fclose(file));
  file = fopen("binary", "rb");
  say("read", (long)fread(back, 1, sizeof back, file));
  say("same", !memcmp(bytes, back, sizeof bytes));
  say("more", (long)fread(back, 1, 1, file));
  fclose(file);
  file = fopen("text", "r");
  say("write to what is read", (long)fwrite("x", 1, 1, file));
  fclose(file);
  say("missing", fopen("no/such/file", "r") != 0);
  for (int i = 0; i < 20; i++)
    files[i] = fopen(i % 2 ? "a" : "b", "a");
  for (int i = 0; i < 20; i++) {
    fputs("appended\n", files[i]);
    fclose(files[i]);
  }
  return 0;
}
