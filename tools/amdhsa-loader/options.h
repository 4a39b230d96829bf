/* The command line of amdhsa-loader. */
#ifndef LOADER_OPTIONS_H
#define LOADER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct loader_options {
  uint32_t threads[3], blocks[3]; /* of the kernel _start */
  bool print_resource_usage;
  int rpc_version;     /* 17 or 18; 0: as the image looks */
  int64_t device;      /* -1: the first one that the image is for */
  int64_t stack_bytes; /* per thread, where the compiler could not tell */
  double time_limit;   /* seconds; 0: none */
  int image;           /* index of the image's name in argv; the program's own arguments follow */
} loader_options_t;

typedef enum loader_next { LOADER_RUN, LOADER_DONE, LOADER_USAGE_ERROR } loader_next_t;

/* Reads the command line; prints help, version and errors itself. */
loader_next_t loader_options_parse(int argc, char **argv, loader_options_t *options);

#endif
