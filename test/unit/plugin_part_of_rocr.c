/* A library that has some of ROCr's functions, and not the others. */
#include <hsa/hsa.h>

__attribute__((visibility("default"))) hsa_status_t hsa_init(void);
__attribute__((visibility("default"))) hsa_status_t hsa_agent_get_info(hsa_agent_t agent,
                                                                       hsa_agent_info_t what, void *value) {
  (void)agent, (void)what, (void)value;
  return HSA_STATUS_ERROR;
}

hsa_status_t hsa_init(void) {
  return HSA_STATUS_SUCCESS;
}
