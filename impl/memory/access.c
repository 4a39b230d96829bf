/* Access of devices to memory: asking HSA who has it, and adding to the list. */
#include "memory/access.h"

#include "base/hsa.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

atmi_status_t atmi_access_init(atmi_access_t *access) {
  void *regions = mmap(NULL, ATMI_ACCESS_REGIONS, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (regions == MAP_FAILED)
    return ATMI_NO_MEMORY;
  access->regions = regions;
  pthread_mutex_init(&access->lock, NULL);
  return ATMI_OK;
}

void atmi_access_fini(atmi_access_t *access) {
  if (!access->regions)
    return;
  munmap(access->regions, ATMI_ACCESS_REGIONS);
  access->regions = NULL;
  pthread_mutex_destroy(&access->lock);
}

void atmi_access_mark_device(atmi_access_t *access, const void *memory, uint64_t bytes) {
  uint64_t first = (uint64_t)(uintptr_t)memory >> ATMI_ACCESS_REGION_SHIFT,
           last = ((uint64_t)(uintptr_t)memory + (bytes ? bytes - 1 : 0)) >> ATMI_ACCESS_REGION_SHIFT;
  for (uint64_t region = first; region <= last; region++)
    atomic_store_explicit(&access->regions[region & (ATMI_ACCESS_REGIONS - 1)], ATMI_REGION_DEVICE,
                          memory_order_relaxed);
}

/* Device memory of ours may just have come there. */
static void mark_host(atmi_access_t *access, const void *memory) {
  uint8_t unknown = ATMI_REGION_UNKNOWN;
  size_t region = (uintptr_t)memory >> ATMI_ACCESS_REGION_SHIFT & (ATMI_ACCESS_REGIONS - 1);
  atomic_compare_exchange_strong_explicit(&access->regions[region], &unknown, ATMI_REGION_HOST,
                                          memory_order_relaxed, memory_order_relaxed);
}

/* Whether HSA allocated it on a GPU. */
static bool find_gpu(const void *memory, hsa_agent_t *owner, size_t *bytes) {
  hsa_amd_pointer_info_t info = {.size = sizeof info};
  hsa_device_type_t type = HSA_DEVICE_TYPE_CPU;
  if (hsa_amd_pointer_info(memory, &info, NULL, NULL, NULL) != HSA_STATUS_SUCCESS ||
      info.type != HSA_EXT_POINTER_TYPE_HSA ||
      hsa_agent_get_info(info.agentOwner, HSA_AGENT_INFO_DEVICE, &type) != HSA_STATUS_SUCCESS)
    return false;
  *owner = info.agentOwner;
  *bytes = info.sizeInBytes - (size_t)((const char *)memory - (const char *)info.agentBaseAddress);
  return type == HSA_DEVICE_TYPE_GPU;
}

bool atmi_access_is_device(atmi_access_t *access, const void *memory, hsa_agent_t *owner, size_t *bytes) {
  bool is_device = find_gpu(memory, owner, bytes);
  if (!is_device)
    mark_host(access, memory);
  return is_device;
}

/* What HSA knows of memory. */
typedef struct known {
  hsa_amd_pointer_info_t info;
  hsa_agent_t *agents; /* that have access; to be freed */
  uint32_t count;
} known_t;

/* False if HSA does not know it. */
static bool ask(const void *memory, known_t *known) {
  *known = (known_t){.info = {.size = sizeof known->info}};
  if (hsa_amd_pointer_info(memory, &known->info, malloc, &known->count, &known->agents) ==
          HSA_STATUS_SUCCESS &&
      (known->info.type == HSA_EXT_POINTER_TYPE_HSA || known->info.type == HSA_EXT_POINTER_TYPE_LOCKED))
    return true;
  free(known->agents);
  return false;
}

static bool has(const known_t *known, hsa_agent_t agent) {
  for (uint32_t i = 0; i < known->count; i++)
    if (known->agents[i].handle == agent.handle)
      return true;
  return false;
}

static bool has_all(const known_t *known, const hsa_agent_t *agents, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (!has(known, agents[i]))
      return false;
  return true;
}

/* Gives access to all in the list and these. Those in both keep it all the time: HSA only unmaps what is not
 * named any more. */
static bool widen(const known_t *known, const hsa_agent_t *agents, uint32_t count) {
  hsa_agent_t *all = malloc((known->count + count) * sizeof *all);
  if (!all)
    return false;
  uint32_t total = known->count;
  if (total)
    memcpy(all, known->agents, total * sizeof *all);
  for (uint32_t i = 0; i < count; i++)
    if (!has(known, agents[i]))
      all[total++] = agents[i];
  hsa_status_t status = hsa_amd_agents_allow_access(total, all, NULL, known->info.agentBaseAddress);
  free(all);
  return status == HSA_STATUS_SUCCESS;
}

/* What there is, or becomes so if it may be widened. */
static atmi_access_result_t look(const hsa_agent_t *agents, uint32_t count, const void *memory, size_t bytes,
                                 bool may_widen, void **address) {
  known_t known;
  if (!ask(memory, &known))
    return ATMI_ACCESS_UNKNOWN;
  const hsa_amd_pointer_info_t *info = &known.info;
  size_t into = (size_t)((const char *)memory - (const char *)info->hostBaseAddress);
  bool holds_all = into <= info->sizeInBytes && bytes <= info->sizeInBytes - into;
  bool is_pin = info->type == HSA_EXT_POINTER_TYPE_LOCKED;
  atmi_access_result_t result = is_pin && into ? ATMI_ACCESS_UNKNOWN : ATMI_ACCESS_REFUSED;
  if (holds_all && (has_all(&known, agents, count) || (may_widen && !is_pin && widen(&known, agents, count))))
    result = ATMI_ACCESS_GIVEN;
  *address = (char *)info->agentBaseAddress + into;
  free(known.agents);
  return result;
}

atmi_access_result_t atmi_access_give(atmi_access_t *access, const hsa_agent_t *agents, uint32_t count,
                                      const void *memory, size_t bytes, void **address) {
  atmi_access_result_t result = look(agents, count, memory, bytes, false, address);
  if (result != ATMI_ACCESS_REFUSED)
    return result;
  pthread_mutex_lock(&access->lock);
  result = look(agents, count, memory, bytes, true, address);
  pthread_mutex_unlock(&access->lock);
  return result;
}
