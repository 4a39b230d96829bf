/* What the host reads of mapped data while that is not what it should be: the host's copy of what a kernel
 * has changed on the device (the tool "transfer"), and bytes that were copied to the host and that no kernel
 * had written ("init"). Looked for in the instructions behind each return from the runtime (step.h), which
 * must tell of them (notes.h). What was found is told when the runtime is called next. */
#ifndef GFXSIM_CHECK_HOST_READ_H
#define GFXSIM_CHECK_HOST_READ_H

#include "check/check.h"

/* NULL when out of memory. The checker must outlive it. */
gs_host_read_t *gs_host_read_create(gs_check_t *check);
/* Accepts NULL, as do the others. */
void gs_host_read_destroy(gs_host_read_t *reads);

/* [device, device + bytes) has come to the variable at `host`. On the thread that will return. */
void gs_host_read_brought(gs_host_read_t *reads, uint64_t device, uint64_t host, uint64_t bytes);
/* The calling thread is about to return to `place` of the program (0: not known), from code around `runtime`.
 */
void gs_host_read_returns(gs_host_read_t *reads, uint64_t runtime, uint64_t place);
/* Tells of what was found. Before mappings change. */
void gs_host_read_tell(gs_host_read_t *reads, gs_read_device_t *read_device, void *context);

#endif
