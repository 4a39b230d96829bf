/* Access of devices to memory: asking HSA who has it, and adding to the list. */
#include "atmi_access.h"

#include "atmi_hsa.h"

#include <stdlib.h>
#include <string.h>

void atmi_access_init(atmi_access_t *access) {
  pthread_mutex_init(&access->lock, NULL);
}

void atmi_access_fini(atmi_access_t *access) {
  pthread_mutex_destroy(&access->lock);
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
