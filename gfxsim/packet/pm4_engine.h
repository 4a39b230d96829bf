/* The command processor for PM4: the commands of a compute queue that is no AQL queue, in order, and of the
 * indirect buffers that they name. A kernel is what its registers say when it is dispatched. Layouts: the PM4
 * packets of Linux amdgpu (soc15d.h, kfd_pm4_headers_ai.h), registers of its gc_9_0_offset.h. Not here: the
 * vendor packets of AQL queues (aql.h), and when to look for commands (queue.h). */
#ifndef GFXSIM_PACKET_PM4_ENGINE_H
#define GFXSIM_PACKET_PM4_ENGINE_H

#include <stdint.h>

#include "packet/engine.h"

typedef struct gs_pm4 gs_pm4_t;

/* Makes the processor of a ring of `ring_bytes` (a power of two). Indices count dwords; the host's may go on
 * behind the end of the ring, and ours, of 32 bits, does not. They are shared with the host and belong to the
 * caller. NULL when out of memory. */
gs_pm4_t *gs_pm4_create(const gs_engine_config_t *config, const void *ring, uint64_t ring_bytes,
                        uint64_t *read_index, uint64_t *write_index);

/* Its engine operations; `engine` is the gs_pm4_t. */
extern const gs_engine_ops_t gs_pm4_ops;

#endif
