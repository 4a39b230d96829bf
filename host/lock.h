/* LIBOMPTARGET_LOCK_MAPPED_HOST_BUFFERS: host memory that is pinned for as long as it is mapped. Not here:
 * how memory is pinned (memory/host_lock). */
#ifndef TGT_LOCK_H
#define TGT_LOCK_H

#include "device.h"

/* Functions for a table of maps that pin what they allocate for, and unpin it with its release; the ordinary
 * ones if that is not wanted. The environment must have been read. */
const map_device_functions_t *tgt_lock_functions(void);

#endif
