/* Arguments and environment.
 * arguments: one "two words" '' --threads 4 -- '$5' "a'b" */
#include "say.h"
#include <string.h>

int main(int argc, char **argv, char **envp) {
  int found = 0, count = 0;
  say("argc", argc);
  for (int i = 1; i < argc; i++)
    puts(argv[i]);
  say("end", argv[argc] == 0);
  say("name", argv[0] != 0 && strlen(argv[0]) > 0);
  for (; envp[count]; count++)
    if (!strncmp(envp[count], "GREETING=", 9)) {
      puts(envp[count]);
      found++;
    }
  say("found", found);
  return argc;
}
