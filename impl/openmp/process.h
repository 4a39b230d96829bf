/* The beginning and the end of a context, and what becomes of it at the end of its process. */
#ifndef ATMI_OPENMP_PROCESS_H
#define ATMI_OPENMP_PROCESS_H

#include "openmp/context.h"

/* What the core is told by whoever stands on it. */
typedef struct atmi_context_options {
  /* The library that programs are linked with who want to offload: what its file's name begins with, such as
   * "libomptarget.so". */
  const char *library;
  const char *timeline; /* a file for it, where LIBOMPTARGET_AMDGPU_TIMELINE names none; or NULL. Stays the
                           caller's */
} atmi_context_options_t;

/* The user's settings, which are read from the environment the first time. The caller holds the lock. */
const atmi_env_t *atmi_context_environment(atmi_context_t *context);

/* Reads the environment and finds the devices, the first time it is called. What is wrong with them is
 * described; there are none then. Thread-safe. */
void atmi_context_start(atmi_context_t *context, const atmi_context_options_t *options);
/* Before a program is told of devices, but after what it has for them was registered: leaves out those that
 * none of its images fits, as if they were not there. Once. Thread-safe. */
void atmi_context_choose_devices(atmi_context_t *context);
/* Releases everything, once; who asks later finds no device. If a thread is still in the middle of an
 * operation, or ROCr has ended already, device code's destructors run and everything is left to the end of
 * the process instead. Thread-safe. */
void atmi_context_stop(atmi_context_t *context);
/* Whether any thread is in the middle of an operation. For guesses: the answer may be old when it comes. */
bool atmi_context_is_busy(const atmi_context_t *context);

#endif
