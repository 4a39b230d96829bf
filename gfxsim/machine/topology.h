/* What the machine looks like to a host that enumerates it, in the structures of hsakmttypes.h. Constant
 * while the machine lives; thread-safe. Not here: how a door hands it out. */
#ifndef GFXSIM_MACHINE_TOPOLOGY_H
#define GFXSIM_MACHINE_TOPOLOGY_H

#include "machine/machine.h"

enum { GS_MOST_BANKS = 4, GS_MOST_CACHES = 3, GS_MOST_LINKS = GS_MOST_GPUS + 1 };

/* Describes a node below gs_machine_nodes(). The arrays are zeroed first; the number of elements filled is
 * returned. */
void gs_topology_node(gs_machine_t *machine, uint32_t node, HsaNodeProperties *properties);
/* How many parts with a scheduler of their own (XCCs) the described node has. */
uint32_t gs_topology_xccs(const HsaNodeProperties *properties);
uint32_t gs_topology_banks(gs_machine_t *machine, uint32_t node, HsaMemoryProperties banks[GS_MOST_BANKS]);
uint32_t gs_topology_caches(gs_machine_t *machine, uint32_t node, HsaCacheProperties caches[GS_MOST_CACHES]);
uint32_t gs_topology_links(gs_machine_t *machine, uint32_t node, HsaIoLinkProperties links[GS_MOST_LINKS]);

#endif
