/* Memory of the host's NUMA nodes. */
#include "memory/host_node.h"

#include "base/hsa.h"

#include <stdlib.h>

static hsa_status_t visit_pool(hsa_amd_memory_pool_t pool, void *data) {
  atmi_host_node_t *node = data;
  hsa_amd_segment_t segment;
  uint32_t flags = 0;
  hsa_status_t status = hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment);
  if (status != HSA_STATUS_SUCCESS || segment != HSA_AMD_SEGMENT_GLOBAL)
    return status;
  status = hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags);
  if (!node->fine.handle && flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED)
    node->fine = pool;
  if (!node->kernarg.handle && flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT)
    node->kernarg = pool;
  return status;
}

hsa_status_t atmi_host_node_init(hsa_agent_t cpu, atmi_host_node_t *node) {
  *node = (atmi_host_node_t){.cpu = cpu};
  return hsa_amd_agent_iterate_memory_pools(cpu, visit_pool, node);
}

static bool is_nearer(const atmi_host_distance_t *a, const atmi_host_distance_t *b) {
  if (a->nearest != b->nearest)
    return a->nearest;
  if (a->known != b->known)
    return a->known;
  return a->distances < b->distances || (a->distances == b->distances && a->hops < b->hops);
}

uint32_t atmi_host_node_choose(const atmi_host_distance_t *distances, uint32_t count) {
  uint32_t best = 0;
  for (uint32_t i = 1; i < count; i++)
    if (is_nearer(&distances[i], &distances[best]))
      best = i;
  return best;
}

/* The links between a GPU and a pool. */
static void measure(hsa_agent_t gpu, hsa_amd_memory_pool_t pool, atmi_host_distance_t *distance) {
  uint32_t hops = 0;
  if (hsa_amd_agent_memory_pool_get_info(gpu, pool, HSA_AMD_AGENT_MEMORY_POOL_INFO_NUM_LINK_HOPS, &hops) !=
          HSA_STATUS_SUCCESS ||
      !hops)
    return;
  hsa_amd_memory_pool_link_info_t *links = calloc(hops, sizeof *links);
  if (links && hsa_amd_agent_memory_pool_get_info(gpu, pool, HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO,
                                                  links) == HSA_STATUS_SUCCESS) {
    distance->known = true;
    distance->hops = hops;
    for (uint32_t i = 0; i < hops; i++)
      distance->distances += links[i].numa_distance;
  }
  free(links);
}

const atmi_host_node_t *atmi_host_node_nearest(const atmi_host_node_t *nodes, uint32_t count,
                                               hsa_agent_t gpu) {
  const int nearest_cpu = 0xA113; /* newer than the oldest ROCr that we build against */
  hsa_agent_t nearest = {0};
  atmi_host_distance_t *distances = count > 1 ? calloc(count, sizeof *distances) : NULL;
  if (!distances)
    return nodes;
  if (hsa_agent_get_info(gpu, (hsa_agent_info_t)nearest_cpu, &nearest) != HSA_STATUS_SUCCESS)
    nearest.handle = 0;
  for (uint32_t i = 0; i < count; i++) {
    distances[i].nearest = nearest.handle && nodes[i].cpu.handle == nearest.handle;
    measure(gpu, nodes[i].fine, &distances[i]);
  }
  const atmi_host_node_t *best = &nodes[atmi_host_node_choose(distances, count)];
  free(distances);
  return best;
}
