/* Ranges of pages with the same attributes, in a list. Whoever sets some cuts ranges at the ends of what he
 * names, fills the gaps between them, and sets all of them. */
#include "machine/svm.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "machine/buffers.h"
#include "machine/machine.h"

/* What the driver assumes of pages of which nobody has said anything. */
enum {
  DEFAULT_FLAGS = HSA_SVM_FLAG_HOST_ACCESS | HSA_SVM_FLAG_COHERENT,
  DEFAULT_GRANULARITY = 9,
  MOST_GRANULARITY = 0x3F
};

typedef struct svm_state {
  uint32_t preferred, prefetched; /* nodes, or GS_SVM_NOWHERE */
  uint32_t flags, granularity;
  uint32_t access, in_place; /* bits of GPUs */
} svm_state_t;

typedef struct gs_svm_range {
  uint64_t start, end;
  svm_state_t state;
  gs_buffer_t *pin; /* what GPUs may access of it now, or NULL */
  struct gs_svm_range *next;
} svm_range_t;

static svm_state_t default_state(const gs_svm_t *svm) {
  const uint32_t all = (1U << svm->machine->gpu_count) - 1;
  return (svm_state_t){
      .preferred = (uint32_t)GS_SVM_NOWHERE,
      .prefetched = (uint32_t)GS_SVM_NOWHERE,
      .flags = DEFAULT_FLAGS,
      .granularity = DEFAULT_GRANULARITY,
      .access = atomic_load(&svm->machine->xnack) ? all : 0,
  };
}

void gs_svm_init(gs_svm_t *svm, gs_machine_t *machine) {
  *svm = (gs_svm_t){.machine = machine};
  pthread_mutex_init(&svm->lock, NULL);
}

void gs_svm_fini(gs_svm_t *svm) {
  while (svm->first) {
    svm_range_t *range = svm->first;
    svm->first = range->next;
    free(range); /* the pins are the memory's */
  }
  svm->count = 0;
}

/* Ranges. With the lock held. */

static svm_range_t *insert(gs_svm_t *svm, svm_range_t **link, uint64_t start, uint64_t end,
                           const svm_state_t *state) {
  svm_range_t *range = calloc(1, sizeof *range);
  if (!range)
    return NULL;
  range->start = start;
  range->end = end;
  range->state = *state;
  range->next = *link;
  *link = range;
  atomic_fetch_add(&svm->count, 1);
  return range;
}

static void drop(gs_svm_t *svm, svm_range_t **link) {
  svm_range_t *range = *link;
  *link = range->next;
  atomic_fetch_sub(&svm->count, 1);
  if (range->pin)
    gs_memory_unpin(&svm->machine->memory, range->pin);
  free(range);
}

/* What GPUs may do with pages in this state. */
static HsaMemFlags rights_of(const svm_state_t *state) {
  HsaMemFlags flags = {.Value = 0};
  flags.ui32.HostAccess = 1;
  flags.ui32.CoarseGrain = !(state->flags & HSA_SVM_FLAG_COHERENT);
  flags.ui32.ReadOnly = (state->flags & HSA_SVM_FLAG_GPU_RO) != 0;
  flags.ui32.ExecuteAccess = (state->flags & HSA_SVM_FLAG_GPU_EXEC) != 0;
  return flags;
}

/* Brings what GPUs may access in line with a range's state: first the new, then away with the old, so that
 * kernels that run miss nothing. */
static bool pin(gs_svm_t *svm, svm_range_t *range) {
  gs_memory_t *memory = &svm->machine->memory;
  const uint32_t gpus = range->state.access | range->state.in_place;
  gs_buffer_t *fresh = NULL;
  if (gpus) {
    fresh = gs_memory_pin(memory, range->start, range->end - range->start, rights_of(&range->state), gpus);
    if (!fresh)
      return false;
  }
  if (range->pin)
    gs_memory_unpin(memory, range->pin);
  range->pin = fresh;
  return true;
}

/* Cuts the range that has this address inside in two. */
static bool cut(gs_svm_t *svm, uint64_t address) {
  for (svm_range_t *range = svm->first; range && range->start < address; range = range->next)
    if (range->end > address) {
      svm_range_t *above = insert(svm, &range->next, address, range->end, &range->state);
      if (!above || !pin(svm, above))
        return false;
      range->end = address;
      return pin(svm, range);
    }
  return true;
}

/* Makes ranges of what none has between two addresses at which none goes on. */
static bool fill_gaps(gs_svm_t *svm, uint64_t start, uint64_t end) {
  const svm_state_t state = default_state(svm);
  svm_range_t **link = &svm->first;
  while (*link && (*link)->end <= start)
    link = &(*link)->next;
  while (start < end) {
    const svm_range_t *next = *link;
    const uint64_t to = next && next->start < end ? next->start : end;
    if (start < to && !insert(svm, link, start, to, &state))
      return false;
    start = (*link)->end;
    link = &(*link)->next;
  }
  return true;
}

/* Attributes. */

static uint32_t bit_of(const gs_svm_t *svm, uint32_t node) {
  const gs_gpu_t *gpu = gs_machine_gpu(svm->machine, node);
  return gpu ? 1U << gpu->ordinal : 0;
}

static bool is_right(const gs_svm_t *svm, const HSA_SVM_ATTRIBUTE *attribute) {
  const bool is_nowhere = attribute->value == (uint32_t)GS_SVM_NOWHERE;
  switch (attribute->type) {
  case HSA_SVM_ATTR_PREFERRED_LOC:
  case HSA_SVM_ATTR_PREFETCH_LOC: return is_nowhere || attribute->value < gs_machine_nodes(svm->machine);
  case HSA_SVM_ATTR_ACCESS:
  case HSA_SVM_ATTR_ACCESS_IN_PLACE:
  case HSA_SVM_ATTR_NO_ACCESS: return bit_of(svm, attribute->value) != 0;
  case HSA_SVM_ATTR_SET_FLAGS:
  case HSA_SVM_ATTR_CLR_FLAGS:
  case HSA_SVM_ATTR_GRANULARITY: return true;
  default: return false;
  }
}

static void set(const gs_svm_t *svm, svm_state_t *state, const HSA_SVM_ATTRIBUTE *attribute) {
  const uint32_t value = attribute->value;
  switch (attribute->type) {
  case HSA_SVM_ATTR_PREFERRED_LOC: state->preferred = value; break;
  case HSA_SVM_ATTR_PREFETCH_LOC: state->prefetched = value; break;
  case HSA_SVM_ATTR_SET_FLAGS: state->flags |= value; break;
  case HSA_SVM_ATTR_CLR_FLAGS: state->flags &= ~value; break;
  case HSA_SVM_ATTR_GRANULARITY:
    state->granularity = value < MOST_GRANULARITY ? value : MOST_GRANULARITY;
    break;
  default:
    state->access &= ~bit_of(svm, value);
    state->in_place &= ~bit_of(svm, value);
    if (attribute->type == HSA_SVM_ATTR_ACCESS)
      state->access |= bit_of(svm, value);
    if (attribute->type == HSA_SVM_ATTR_ACCESS_IN_PLACE)
      state->in_place |= bit_of(svm, value);
  }
}

static bool is_pages(uint64_t start, uint64_t size) {
  return start && size && !((start | size) % GS_PAGE_BYTES) && size <= UINT64_MAX - start;
}

static HSAKMT_STATUS set_all(gs_svm_t *svm, uint64_t start, uint64_t end, const HSA_SVM_ATTRIBUTE *list,
                             uint32_t count) {
  if (!cut(svm, start) || !cut(svm, end) || !fill_gaps(svm, start, end))
    return HSAKMT_STATUS_NO_MEMORY;
  for (svm_range_t *range = svm->first; range && range->start < end; range = range->next) {
    if (range->start < start)
      continue;
    const svm_state_t before = range->state;
    for (uint32_t i = 0; i < count; i++)
      set(svm, &range->state, &list[i]);
    const bool is_new = !range->pin && range->state.access | range->state.in_place;
    if ((is_new || memcmp(&before, &range->state, sizeof before)) && !pin(svm, range))
      return HSAKMT_STATUS_NO_MEMORY;
  }
  return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS gs_svm_set(gs_svm_t *svm, uint64_t start, uint64_t size, const HSA_SVM_ATTRIBUTE *list,
                         uint32_t count) {
  if (!is_pages(start, size))
    return HSAKMT_STATUS_INVALID_PARAMETER;
  for (uint32_t i = 0; i < count; i++)
    if (!is_right(svm, &list[i]))
      return HSAKMT_STATUS_INVALID_PARAMETER;
  if (!gs_host_memory_exists(start, size))
    return HSAKMT_STATUS_ERROR;
  pthread_mutex_lock(&svm->lock);
  const HSAKMT_STATUS status = set_all(svm, start, start + size, list, count);
  pthread_mutex_unlock(&svm->lock);
  return status;
}

/* What ranges have in common. */
typedef struct svm_common {
  svm_state_t state; /* flags: those that all have */
  uint32_t any_flags;
  bool is_some;
} svm_common_t;

static void join(svm_common_t *common, const svm_state_t *state) {
  svm_state_t *all = &common->state;
  if (!common->is_some) {
    *common = (svm_common_t){.state = *state, .any_flags = state->flags, .is_some = true};
    return;
  }
  if (all->preferred != state->preferred)
    all->preferred = (uint32_t)GS_SVM_NOWHERE;
  if (all->prefetched != state->prefetched)
    all->prefetched = (uint32_t)GS_SVM_NOWHERE;
  if (all->granularity > state->granularity)
    all->granularity = state->granularity;
  all->flags &= state->flags;
  all->access &= state->access;
  all->in_place &= state->in_place;
  common->any_flags |= state->flags;
}

static void answer(const gs_svm_t *svm, const svm_common_t *common, HSA_SVM_ATTRIBUTE *attribute) {
  const uint32_t gpu = bit_of(svm, attribute->value);
  switch (attribute->type) {
  case HSA_SVM_ATTR_PREFERRED_LOC: attribute->value = common->state.preferred; break;
  case HSA_SVM_ATTR_PREFETCH_LOC: attribute->value = common->state.prefetched; break;
  case HSA_SVM_ATTR_SET_FLAGS: attribute->value = common->state.flags; break;
  case HSA_SVM_ATTR_CLR_FLAGS: attribute->value = ~common->any_flags; break;
  case HSA_SVM_ATTR_GRANULARITY: attribute->value = common->state.granularity; break;
  default:
    attribute->type = HSA_SVM_ATTR_NO_ACCESS;
    if (common->state.access & gpu)
      attribute->type = HSA_SVM_ATTR_ACCESS;
    else if (common->state.in_place & gpu)
      attribute->type = HSA_SVM_ATTR_ACCESS_IN_PLACE;
  }
}

HSAKMT_STATUS gs_svm_get(gs_svm_t *svm, uint64_t start, uint64_t size, HSA_SVM_ATTRIBUTE *list,
                         uint32_t count) {
  svm_common_t common = {.is_some = false};
  if (!is_pages(start, size))
    return HSAKMT_STATUS_INVALID_PARAMETER;
  for (uint32_t i = 0; i < count; i++) {
    const bool is_access = list[i].type >= HSA_SVM_ATTR_ACCESS && list[i].type <= HSA_SVM_ATTR_NO_ACCESS;
    if (list[i].type > HSA_SVM_ATTR_GRANULARITY || (is_access && !bit_of(svm, list[i].value)))
      return HSAKMT_STATUS_INVALID_PARAMETER;
  }
  if (!gs_host_memory_exists(start, size))
    return HSAKMT_STATUS_ERROR;
  pthread_mutex_lock(&svm->lock);
  for (const svm_range_t *range = svm->first; range && range->start < start + size; range = range->next)
    if (range->end > start)
      join(&common, &range->state);
  pthread_mutex_unlock(&svm->lock);
  if (!common.is_some) {
    const svm_state_t state = default_state(svm);
    join(&common, &state);
  }
  for (uint32_t i = 0; i < count; i++)
    answer(svm, &common, &list[i]);
  return HSAKMT_STATUS_SUCCESS;
}

void gs_svm_forget(gs_svm_t *svm, uint64_t start, uint64_t size) {
  const uint64_t end = gs_page_up(start + size);
  if (!atomic_load(&svm->count) || start % GS_PAGE_BYTES || end <= start)
    return;
  pthread_mutex_lock(&svm->lock);
  const bool is_cut = cut(svm, start) && cut(svm, end);
  svm_range_t **link = &svm->first;
  while (is_cut && *link && (*link)->start < end)
    if ((*link)->start >= start)
      drop(svm, link);
    else
      link = &(*link)->next;
  pthread_mutex_unlock(&svm->lock);
}
