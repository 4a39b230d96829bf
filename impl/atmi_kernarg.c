/* The argument block of a launch. */
#include "atmi_kernarg.h"

#include <string.h>

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

void atmi_kernarg_fill(const atmi_kernel_metadata_t *kernel, const uint64_t *leading, void *const *bases,
                       const ptrdiff_t *offsets, uint32_t count, const atmi_kernarg_facts_t *facts,
                       void *block) {
  char *bytes = block, *at = bytes;
  if (leading) {
    memcpy(at, leading, sizeof *leading);
    at += sizeof *leading;
  }
  for (uint32_t i = 0; i < count; i++, at += 8) {
    uint64_t word = (uint64_t)(uintptr_t)bases[i] + (uint64_t)offsets[i];
    memcpy(at, &word, sizeof word);
  }
  memset(at, 0, kernel->kernarg_bytes - (size_t)(at - bytes));
  for (uint32_t i = 0; i < kernel->hidden_count; i++) {
    uint64_t value = hidden_value((atmi_hidden_kind_t)kernel->hidden[i].kind, facts);
    /* Little-endian: the first bytes of the word are the narrow value. */
    memcpy(bytes + kernel->hidden[i].offset, &value, kernel->hidden[i].bytes);
  }
}
