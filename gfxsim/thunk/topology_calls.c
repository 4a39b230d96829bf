/* The exported functions about topology: checks of arguments. Not here: what the machine looks like
 * (machine/topology.h). */
#include <string.h>

#include "machine/topology.h"
#include "thunk/thunk.h"

/* The machine never changes: a snapshot needs nothing. */

GS_EXPORT HSAKMT_STATUS hsaKmtAcquireSystemProperties(HsaSystemProperties *properties) {
  GS_MACHINE_OR_RETURN(machine);
  if (!properties)
    return HSAKMT_STATUS_INVALID_PARAMETER;
  *properties = (HsaSystemProperties){.NumNodes = gs_machine_nodes(machine)};
  return HSAKMT_STATUS_SUCCESS;
}

GS_EXPORT HSAKMT_STATUS hsaKmtReleaseSystemProperties(void) {
  GS_MACHINE_OR_RETURN(machine);
  (void)machine;
  return HSAKMT_STATUS_SUCCESS;
}

GS_EXPORT HSAKMT_STATUS hsaKmtGetNodeProperties(HSAuint32 node, HsaNodeProperties *properties) {
  GS_MACHINE_OR_RETURN(machine);
  if (!properties)
    return HSAKMT_STATUS_INVALID_PARAMETER;
  if (node >= gs_machine_nodes(machine))
    return HSAKMT_STATUS_INVALID_NODE_UNIT;
  gs_topology_node(machine, node, properties);
  return HSAKMT_STATUS_SUCCESS;
}

static uint32_t smaller(uint32_t a, uint32_t b) {
  return a < b ? a : b;
}

GS_EXPORT HSAKMT_STATUS hsaKmtGetNodeMemoryProperties(HSAuint32 node, HSAuint32 count,
                                                      HsaMemoryProperties *banks) {
  GS_MACHINE_OR_RETURN(machine);
  if (node >= gs_machine_nodes(machine))
    return HSAKMT_STATUS_INVALID_NODE_UNIT;
  if (count && !banks)
    return HSAKMT_STATUS_INVALID_PARAMETER;
  HsaMemoryProperties all[GS_MOST_BANKS];
  const uint32_t known = gs_topology_banks(machine, node, all);
  for (uint32_t i = 0; i < smaller(count, known); i++)
    banks[i] = all[i];
  return HSAKMT_STATUS_SUCCESS;
}

GS_EXPORT HSAKMT_STATUS hsaKmtGetNodeCacheProperties(HSAuint32 node, HSAuint32 processor, HSAuint32 count,
                                                     HsaCacheProperties *caches) {
  GS_MACHINE_OR_RETURN(machine);
  (void)processor; /* all processors of a node have the same caches */
  if (node >= gs_machine_nodes(machine))
    return HSAKMT_STATUS_INVALID_NODE_UNIT;
  HsaCacheProperties all[GS_MOST_CACHES];
  const uint32_t known = gs_topology_caches(machine, node, all);
  /* With a count of 0 the pointer means nothing. */
  for (uint32_t i = 0; i < smaller(count, known); i++)
    caches[i] = all[i];
  return HSAKMT_STATUS_SUCCESS;
}

GS_EXPORT HSAKMT_STATUS hsaKmtGetNodeIoLinkProperties(HSAuint32 node, HSAuint32 count,
                                                      HsaIoLinkProperties *links) {
  GS_MACHINE_OR_RETURN(machine);
  if (node >= gs_machine_nodes(machine))
    return HSAKMT_STATUS_INVALID_NODE_UNIT;
  if (count && !links)
    return HSAKMT_STATUS_INVALID_PARAMETER;
  HsaIoLinkProperties all[GS_MOST_LINKS];
  const uint32_t known = gs_topology_links(machine, node, all);
  for (uint32_t i = 0; i < smaller(count, known); i++)
    links[i] = all[i];
  return HSAKMT_STATUS_SUCCESS;
}

GS_EXPORT HSAKMT_STATUS hsaKmtGetTileConfig(HSAuint32 node, HsaGpuTileConfig *config) {
  GS_MACHINE_OR_RETURN(machine);
  if (!config)
    return HSAKMT_STATUS_INVALID_PARAMETER;
  if (!gs_machine_gpu(machine, node))
    return HSAKMT_STATUS_INVALID_NODE_UNIT;
  /* No images, no tiles: the caller's arrays stay as they are. */
  config->NumTileConfigs = 0;
  config->NumMacroTileConfigs = 0;
  config->GbAddrConfig = 0;
  config->NumBanks = 0;
  config->NumRanks = 0;
  return HSAKMT_STATUS_SUCCESS;
}
