/* The host's memory as HSA shows it: an agent for each NUMA node, with pools that GPUs can share; and which
 * of them is near a GPU. */
#ifndef ATMI_MEMORY_HOST_NODE_H
#define ATMI_MEMORY_HOST_NODE_H

#include <hsa/hsa_ext_amd.h>
#include <stdbool.h>

typedef struct atmi_host_node {
  hsa_agent_t cpu;
  hsa_amd_memory_pool_t fine;    /* memory that devices see coherently */
  hsa_amd_memory_pool_t kernarg; /* memory that kernels may take arguments from */
} atmi_host_node_t;

/* Looks for the pools of a CPU agent. `*node` has those that were found, which may be none: NUMA nodes
 * without memory are agents, too. Fails as HSA does. */
hsa_status_t atmi_host_node_init(hsa_agent_t cpu, atmi_host_node_t *node);

/* Whether both pools are there. */
static inline bool atmi_host_node_has_memory(const atmi_host_node_t *node) {
  return node->fine.handle && node->kernarg.handle;
}

/* How far a node's memory is from a GPU. */
typedef struct atmi_host_distance {
  bool known;         /* HSA tells of a way */
  bool nearest;       /* HSA itself says that it is the nearest */
  uint32_t hops;      /* links on the way */
  uint32_t distances; /* the NUMA distances of all of them together */
} atmi_host_distance_t;

/* The nearest of at least one: what HSA says, or else the least distance, and of equal ones the fewest links,
 * and of equal ones the first. A pure function. */
uint32_t atmi_host_node_choose(const atmi_host_distance_t *distances, uint32_t count);

/* The nearest node of a GPU among at least one; the first if HSA does not tell. Its topology decides where
 * arguments, staging buffers and what device code shares with its host are: the GPU reads them on each use.
 */
const atmi_host_node_t *atmi_host_node_nearest(const atmi_host_node_t *nodes, uint32_t count,
                                               hsa_agent_t gpu);

#endif
