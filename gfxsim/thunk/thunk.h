/* What the thunk's exported functions share. They are thin: they check that the library is open and their
 * arguments, and call a function of the machine. Not here: anything that the machine does (machine/). */
#ifndef GFXSIM_THUNK_THUNK_H
#define GFXSIM_THUNK_THUNK_H

#include "machine/machine.h"
#include "machine/process.h"

/* An exported function. Everything else in the library has hidden visibility. */
#define GS_EXPORT __attribute__((visibility("default")))

/* Declares `machine`, or returns from the function when the library is not open. */
#define GS_MACHINE_OR_RETURN(machine)                                                                        \
  gs_machine_t *machine = gs_machine_current();                                                              \
  if (!machine)                                                                                              \
  return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED

#endif
