/* The argument block of a launch. */
#include "atmi_kernarg.h"

#include <string.h>

static uint64_t hidden_value(atmi_hidden_kind_t kind, const atmi_kernarg_facts_t *facts) {
  switch (kind) {
  case ATMI_HIDDEN_BLOCK_COUNT_X: return facts->groups;
  case ATMI_HIDDEN_GROUP_SIZE_X: return facts->group;
  case ATMI_HIDDEN_BLOCK_COUNT_Y:
  case ATMI_HIDDEN_BLOCK_COUNT_Z:
  case ATMI_HIDDEN_GROUP_SIZE_Y:
  case ATMI_HIDDEN_GROUP_SIZE_Z:
  case ATMI_HIDDEN_GRID_DIMS: return 1;
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

void atmi_kernarg_fill(const atmi_kernel_metadata_t *kernel, void *const *bases, const ptrdiff_t *offsets,
                       uint32_t count, const atmi_kernarg_facts_t *facts, void *block) {
  char *bytes = block;
  for (uint32_t i = 0; i < count; i++) {
    uint64_t word = (uint64_t)(uintptr_t)bases[i] + (uint64_t)offsets[i];
    memcpy(bytes + 8 * i, &word, sizeof word);
  }
  memset(bytes + 8 * count, 0, kernel->kernarg_bytes - 8 * count);
  for (uint32_t i = 0; i < kernel->hidden_count; i++) {
    uint64_t value = hidden_value((atmi_hidden_kind_t)kernel->hidden[i].kind, facts);
    /* Little-endian: the first bytes of the word are the narrow value. */
    memcpy(bytes + kernel->hidden[i].offset, &value, kernel->hidden[i].bytes);
  }
}
