/* The table of kernels: open addressing. Slots are published kernel first, so that who finds a region finds
 * its kernel; a slot is only given to another region when the one before has gone, which nobody may launch
 * then. */
#include "kernels.h"

#include <stdlib.h>

enum { FIRST_SLOTS = 64 };

static tgt_kernel_table_t *make_table(size_t slots, tgt_kernel_table_t *older) {
  tgt_kernel_table_t *table = calloc(1, sizeof *table + slots * sizeof *table->slots);
  if (table) {
    table->mask = slots - 1;
    table->older = older;
  }
  return table;
}

static atmi_status_t no_memory(void) {
  return atmi_fail(ATMI_NO_MEMORY, NULL, "cannot keep a program's kernels: out of host memory");
}

atmi_status_t tgt_kernels_init(tgt_kernels_t *kernels) {
  tgt_kernel_table_t *table = make_table(FIRST_SLOTS, NULL);
  atomic_store_explicit(&kernels->table, table, memory_order_release);
  return table ? ATMI_OK : no_memory();
}

void tgt_kernels_fini(tgt_kernels_t *kernels) {
  tgt_kernel_table_t *table = atomic_load_explicit(&kernels->table, memory_order_relaxed);
  while (table) {
    tgt_kernel_table_t *older = table->older;
    free(table);
    table = older;
  }
  atomic_store_explicit(&kernels->table, NULL, memory_order_relaxed);
}

/* The slot of the region, or the one to be given to it. */
static tgt_kernel_slot_t *find_slot(tgt_kernel_table_t *table, const void *region) {
  tgt_kernel_slot_t *gone = NULL;
  for (size_t i = tgt_kernels_home(region);; i++) {
    tgt_kernel_slot_t *slot = &table->slots[i & table->mask];
    const void *found = atomic_load_explicit(&slot->region, memory_order_relaxed);
    if (found == region)
      return slot;
    if (!found)
      return gone ? gone : slot;
    if (found == TGT_KERNEL_GONE && !gone)
      gone = slot;
  }
}

static void put(tgt_kernel_table_t *table, const void *region, const void *kernel) {
  tgt_kernel_slot_t *slot = find_slot(table, region);
  const void *found = atomic_load_explicit(&slot->region, memory_order_relaxed);
  if (found == region)
    return;
  table->used += !found;
  atomic_store_explicit(&slot->kernel, kernel, memory_order_release);
  atomic_store_explicit(&slot->region, region, memory_order_release);
}

static atmi_status_t grow(tgt_kernels_t *kernels, tgt_kernel_table_t **table) {
  tgt_kernel_table_t *old = *table, *made = make_table(2 * (old->mask + 1), old);
  if (!made)
    return no_memory();
  for (size_t i = 0; i <= old->mask; i++) {
    const void *region = atomic_load_explicit(&old->slots[i].region, memory_order_relaxed);
    if (region && region != TGT_KERNEL_GONE)
      put(made, region, atomic_load_explicit(&old->slots[i].kernel, memory_order_relaxed));
  }
  atomic_store_explicit(&kernels->table, made, memory_order_release);
  *table = made;
  return ATMI_OK;
}

atmi_status_t tgt_kernels_add(tgt_kernels_t *kernels, const void *region, const void *kernel) {
  tgt_kernel_table_t *table = atomic_load_explicit(&kernels->table, memory_order_relaxed);
  atmi_status_t status = ATMI_OK;
  if (2 * (table->used + 1) > table->mask)
    status = grow(kernels, &table);
  if (!status)
    put(table, region, kernel);
  return status;
}

void tgt_kernels_remove(tgt_kernels_t *kernels, const void *region, const void *kernel) {
  tgt_kernel_table_t *table = atomic_load_explicit(&kernels->table, memory_order_relaxed);
  tgt_kernel_slot_t *slot = find_slot(table, region);
  if (atomic_load_explicit(&slot->region, memory_order_relaxed) == region &&
      atomic_load_explicit(&slot->kernel, memory_order_relaxed) == kernel) {
    atomic_fetch_add_explicit(&kernels->generation, UINT64_C(1) << 32, memory_order_relaxed);
    atomic_store_explicit(&slot->kernel, NULL, memory_order_relaxed);
    atomic_store_explicit(&slot->region, TGT_KERNEL_GONE, memory_order_release);
  }
}
