/* The process's one machine, which the doors open, and close again if they can. A forked child has none until
 * it opens its own. Not here: what the machine is (machine.h). */
#ifndef GFXSIM_MACHINE_PROCESS_H
#define GFXSIM_MACHINE_PROCESS_H

#include <stdbool.h>

#include "machine/machine.h"

/* The open machine, or NULL: not opened, closed, or a forked child. Thread-safe. */
gs_machine_t *gs_machine_current(void);

typedef enum gs_opening {
  GS_OPENED,       /* it was made */
  GS_OPENED_AGAIN, /* it was there; one more gs_machine_close is needed */
  GS_NOT_OPENED,   /* it cannot be made; a message says why */
} gs_opening_t;

/* Makes the process's machine if there is none. Thread-safe. */
gs_opening_t gs_machine_open(void);
/* Ends one opening; the last one destroys the machine. False if it is not open. Thread-safe. */
bool gs_machine_close(void);

/* For gs_machine_create: the process's checker, made when the options first ask for one, else NULL. Returns
 * 0, or -1 when it cannot be made. */
int gs_process_check(const gs_options_t *options, struct gs_check **check)
    __attribute__((warn_unused_result));

#endif
