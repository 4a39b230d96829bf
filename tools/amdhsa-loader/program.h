/* A program on the GPU: an image with the kernels _begin, _start and _end of LLVM libc. */
#ifndef LOADER_PROGRAM_H
#define LOADER_PROGRAM_H

#include "options.h"

#include "machine/discovery.h"

/* The kernel that is running, for messages; "" if none. */
typedef struct loader_state {
  _Atomic(const char *) running;
} loader_state_t;

/* Loads the image on one of the machine's devices and runs it with the strings argv (from the image's name
 * on) and envp, each ended by NULL. The status of the program is in *result, which is only reached if device
 * code does not end the process itself. Fails, described. */
ATMI_MUST_CHECK atmi_status_t loader_program_run(atmi_machine_t *machine, const loader_options_t *options,
                                                 const void *image, size_t bytes, char *const *argv,
                                                 char *const *envp, loader_state_t *state, int *result);

#endif
