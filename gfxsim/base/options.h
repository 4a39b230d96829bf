/* The GFXSIM_* environment variables as one table: name, default, meaning. Parsed once per library context.
 * Not here: what the options do. */
#ifndef GFXSIM_BASE_OPTIONS_H
#define GFXSIM_BASE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Values of all options. Plain data; copied into the context that was created with it. */
typedef struct gs_options {
  char devices[256];  /* GFXSIM_DEVICES: comma-separated profiles, e.g. "gfx90a" */
  uint32_t cus;       /* GFXSIM_CUS: compute units per device, 0 = the profile's own number */
  uint32_t workers;   /* GFXSIM_WORKERS: host threads that execute kernels, 0 = one per online processor */
  bool deterministic; /* GFXSIM_DETERMINISTIC: one worker, fixed schedule */
  bool execute;       /* GFXSIM_EXECUTE: 0 = packets complete but the program's kernels do not run */
  uint32_t kernel_us; /* GFXSIM_KERNEL_US: how long a kernel takes that is not executed, in microseconds */
  bool host_visible;  /* GFXSIM_HOST_VISIBLE: the host can access device memory (large BAR) */
  bool stats;         /* GFXSIM_STATS: counters per kernel at exit */
  char trace[256];    /* GFXSIM_TRACE: file for an instruction trace, empty = none */
} gs_options_t;

/* Fills `options` with the defaults and then with what the environment says. A value that does not parse or
 * is out of range, an unknown GFXSIM_ variable, and the name of a file in a program that has other rights than
 * its user (set-user-id) is reported on stderr once and ignored. Not thread-safe against setenv. */
void gs_options_load(gs_options_t *options);

/* Prints the table of options with defaults and help texts, one per line, to `out`. */
void gs_options_print_help(FILE *out);

#endif
