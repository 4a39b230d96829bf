/* What the program calls what is mapped, where the compiler gives another name or none. Not here: who maps
 * (notes.h), and what has the name then (blocks.h, transfer.h). */
#ifndef GFXSIM_CHECK_CALLED_H
#define GFXSIM_CHECK_CALLED_H

#include <stdbool.h>

#include "check/blocks.h"

/* The calling thread begins a construct. */
void gs_called_construct(void);
/* What a construct of the thread maps, or finds to be mapped, has this name of the compiler's. Returns what
 * it is called, in `text`; empty: that is not known. */
const char *gs_called(const char *name, char text[GS_BLOCK_NAME]);
/* Whether what was mapped as `whole`, both as by gs_called, is what the member `name` is one of; writes what
 * it is called then. */
bool gs_called_whole(const char *whole, const char *name, char text[GS_BLOCK_NAME]);

#endif
