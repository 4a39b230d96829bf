/* Transfer: what the host reads and frees, of what kernels have written and nobody has brought back. Some of
 * it in a signal handler, which may not wait. Not here: how its reads are seen (host_read.h). */
#include "check/transfer_state.h"

#include <stdlib.h>

bool gs_transfer_has_old(gs_transfer_t *transfer) {
  bool any = false;
  if (!transfer)
    return false;
  pthread_rwlock_rdlock(&transfer->lock);
  for (size_t i = 0; i < transfer->count && !any; i++)
    any = transfer->at[i]->is_copied && atomic_load(&transfer->at[i]->is_written) &&
          !atomic_load(&transfer->at[i]->is_gone);
  pthread_rwlock_unlock(&transfer->lock);
  return any;
}

/* Keeps kernels from setting flags of the bytes, if none does. In a signal handler, which may not wait. */
static bool hold_parts(gs_twin_t *mapping, uint64_t first, uint64_t end) {
  for (uint64_t i = first / GS_TWIN_PART; i * GS_TWIN_PART < end; i++) {
    if (!atomic_flag_test_and_set_explicit(&mapping->setting[i], memory_order_acquire))
      continue;
    while (i-- > first / GS_TWIN_PART)
      atomic_flag_clear_explicit(&mapping->setting[i], memory_order_release);
    return false;
  }
  return true;
}

static void let_parts_go(gs_twin_t *mapping, uint64_t first, uint64_t end) {
  for (uint64_t i = first / GS_TWIN_PART; i * GS_TWIN_PART < end; i++)
    atomic_flag_clear_explicit(&mapping->setting[i], memory_order_release);
}

/* Of the mapping's bytes [first, end). */
static bool find_old(const gs_twin_t *mapping, uint64_t first, uint64_t end, gs_old_t *old) {
  const uint8_t *now = (const uint8_t *)(uintptr_t)mapping->host; /* the program reads it, so it is there */
  *old = (gs_old_t){.variable = mapping->variable, .writer = atomic_load(&mapping->writer)};
  for (uint64_t i = first; i < end; i++) {
    const uint16_t flags = mapping->bytes.flags[i];
    const bool is_old = flags & (GS_MAPPED_WRITTEN | GS_MAPPED_REPLACED) &&
                        (!(flags & GS_MAPPED_KNOWN) || now[i] == mapping->bytes.host_had[i]);
    if (!is_old && old->bytes)
      return true;
    if (is_old && !old->bytes++) {
      old->device = mapping->start + i;
      old->offset = i;
      old->first = (uint32_t)(i - first);
      old->is_replaced = !(flags & GS_MAPPED_WRITTEN);
    } else if (is_old) {
      old->bytes = (uint32_t)(i - first) - old->first + 1;
    }
  }
  return old->bytes;
}

bool gs_transfer_is_old(gs_transfer_t *transfer, uint64_t host, uint64_t bytes, gs_old_t *old) {
  bool found = false;
  if (!transfer || pthread_rwlock_tryrdlock(&transfer->lock))
    return false;
  for (size_t i = 0; i < transfer->count && !found; i++) {
    gs_twin_t *mapping = transfer->at[i];
    const uint64_t first = host - mapping->host, there = mapping->end - mapping->start;
    /* What was only allocated has a life of its own on the device, as pointers that were made there. */
    if (mapping->is_copied && atomic_load_explicit(&mapping->is_written, memory_order_relaxed) &&
        host >= mapping->host && first < there &&
        !atomic_load_explicit(&mapping->is_gone, memory_order_relaxed)) {
      const uint64_t end = bytes < there - first ? first + bytes : there;
      if (!hold_parts(mapping, first, end))
        continue;
      found = find_old(mapping, first, end, old);
      let_parts_go(mapping, first, end);
    }
  }
  pthread_rwlock_unlock(&transfer->lock);
  return found;
}

void gs_transfer_freed(gs_transfer_t *transfer, uint64_t host, uint64_t bytes) {
  if (!transfer || pthread_rwlock_tryrdlock(&transfer->lock))
    return;
  for (size_t i = 0; i < transfer->count; i++)
    if (transfer->at[i]->host >= host && transfer->at[i]->host - host < bytes)
      atomic_store_explicit(&transfer->at[i]->is_gone, true, memory_order_relaxed);
  pthread_rwlock_unlock(&transfer->lock);
}

/* The lock is held for writing. */
static void host_changed(gs_twin_t *mapping, gfxsim_host_t what, uint64_t address, uint64_t bytes,
                         const gfxsim_stack_t *stack) {
  const uint64_t end = mapping->host + (mapping->end - mapping->start);
  if (mapping->host >= address + bytes || end <= address)
    return;
  if (what == GFXSIM_HOST_TAKEN && mapping->gone)
    gs_gone_take(mapping->gone, address, bytes, end, stack);
  if (what != GFXSIM_HOST_FREED || (!mapping->gone && !(mapping->gone = calloc(1, sizeof *mapping->gone))))
    return;
  gs_gone_free(mapping->gone, address, bytes, stack);
  atomic_store(&mapping->is_gone, true);
}

void gs_transfer_host(gs_transfer_t *transfer, gfxsim_host_t what, uint64_t address, uint64_t bytes,
                      const gfxsim_stack_t *stack) {
  if (!transfer)
    return;
  pthread_rwlock_wrlock(&transfer->lock);
  for (size_t i = 0; i < transfer->count; i++)
    host_changed(transfer->at[i], what, address, bytes, stack);
  pthread_rwlock_unlock(&transfer->lock);
}
