/* The argument block of a launch: its hidden part. */
#include "stream/kernarg.h"

/* As the packet's: those of more than one work-item. */
static uint64_t dimensions(const atmi_kernarg_facts_t *facts) {
  if (facts->groups[2] > 1 || facts->group[2] > 1)
    return 3;
  return facts->groups[1] > 1 || facts->group[1] > 1 ? 2 : 1;
}

static uint64_t hidden_value(atmi_hidden_kind_t kind, const atmi_kernarg_facts_t *facts) {
  switch (kind) {
  case ATMI_HIDDEN_BLOCK_COUNT_X: return facts->groups[0];
  case ATMI_HIDDEN_BLOCK_COUNT_Y: return facts->groups[1];
  case ATMI_HIDDEN_BLOCK_COUNT_Z: return facts->groups[2];
  case ATMI_HIDDEN_GROUP_SIZE_X: return facts->group[0];
  case ATMI_HIDDEN_GROUP_SIZE_Y: return facts->group[1];
  case ATMI_HIDDEN_GROUP_SIZE_Z: return facts->group[2];
  case ATMI_HIDDEN_GRID_DIMS: return dimensions(facts);
  case ATMI_HIDDEN_REMAINDER_X:
  case ATMI_HIDDEN_REMAINDER_Y:
  case ATMI_HIDDEN_REMAINDER_Z: return 0;
  case ATMI_HIDDEN_DYNAMIC_LDS_SIZE: return facts->dynamic_lds_bytes;
  case ATMI_HIDDEN_PRIVATE_BASE: return facts->private_base;
  case ATMI_HIDDEN_SHARED_BASE: return facts->shared_base;
  case ATMI_HIDDEN_QUEUE_PTR: return facts->queue;
  }
  return 0;
}

void atmi_kernarg_fill_hidden(const atmi_kernel_metadata_t *kernel, const atmi_kernarg_facts_t *facts,
                              void *block) {
  for (uint32_t i = 0; i < kernel->hidden_count; i++) {
    uint64_t value = hidden_value((atmi_hidden_kind_t)kernel->hidden[i].kind, facts);
    /* Little-endian: the first bytes of the word are the narrow value. */
    memcpy((char *)block + kernel->hidden[i].offset, &value, kernel->hidden[i].bytes);
  }
}
