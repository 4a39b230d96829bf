/* The command line of gfxsim-run. Options of gfxsim come from its own table (base/options.h); here are those
 * that only this program has. Not here: what follows from them (main.c, plugin.c, door.c). */
#ifndef RUN_OPTIONS_H
#define RUN_OPTIONS_H

#include <stdbool.h>

/* Exit statuses of our own, besides 0. */
enum {
  RUN_BROKEN = 1, /* libraries of the simulator are missing, no memory, or nothing can be printed */
  RUN_WRONG_OPTION = 2,
  RUN_CANNOT_EXECUTE = 126,
  RUN_NO_PROGRAM = 127,
};

typedef struct run_options {
  const char *plugin; /* ours, stock, stock-classic or a folder */
  const char *door;   /* thunk, kfd, or NULL: as the program's ROCr needs it */
  bool our_runtime;   /* and not the libomptarget that the program finds */
  bool print_environment;
  bool explain; /* what was chosen, and why */
  int program;  /* index in argv of the program's name; argc if there is none */
} run_options_t;

typedef enum run_next { RUN_GO_ON, RUN_DONE, RUN_USAGE_ERROR } run_next_t;

/* Reads the command line and sets the variables that options stand for. Prints help, version and errors
 * itself. */
run_next_t run_options_parse(int argc, char **argv, run_options_t *options);

/* Prints one line to stderr: the program's name and the text. */
void run_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
