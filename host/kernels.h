/* The kernels of a program on one device, by the address that stands for a target region. Looking one up
 * takes no lock; who adds and removes holds one of his own. */
#ifndef TGT_KERNELS_H
#define TGT_KERNELS_H

#include "base/status.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

typedef struct tgt_kernel_slot {
  _Atomic(const void *) region; /* NULL: never used; TGT_KERNEL_GONE: used again by the next one */
  _Atomic(const void *) kernel;
} tgt_kernel_slot_t;

#define TGT_KERNEL_GONE ((const void *)1)

typedef struct tgt_kernel_table {
  struct tgt_kernel_table *older; /* somebody may still look there: freed with all */
  size_t mask, used;              /* used: slots that are not NULL; at most half of all */
  tgt_kernel_slot_t slots[];
} tgt_kernel_table_t;

typedef struct tgt_kernels {
  _Atomic(tgt_kernel_table_t *) table;
  /* As long as it does not change, an address stands for the same kernel. The lower half is 0. */
  _Atomic uint64_t generation;
} tgt_kernels_t;

/* A table, so that a look-up need not ask. Fails with ATMI_NO_MEMORY, described. */
ATMI_MUST_CHECK atmi_status_t tgt_kernels_init(tgt_kernels_t *kernels);
/* Accepts a zeroed object. */
void tgt_kernels_fini(tgt_kernels_t *kernels);

/* Fails with ATMI_NO_MEMORY, described. What is known by this region already stays: the first one wins. */
ATMI_MUST_CHECK atmi_status_t tgt_kernels_add(tgt_kernels_t *kernels, const void *region, const void *kernel);
void tgt_kernels_remove(tgt_kernels_t *kernels, const void *region, const void *kernel);

static inline size_t tgt_kernels_home(const void *region) {
  return (size_t)((uintptr_t)region * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

/* The kernel, or NULL. */
static inline const void *tgt_kernels_find(const tgt_kernels_t *kernels, const void *region) {
  /* Acquire, here and below, pairs with the release of who added: what is behind a pointer is seen. */
  const tgt_kernel_table_t *table = atomic_load_explicit(&kernels->table, memory_order_acquire);
  for (size_t i = tgt_kernels_home(region);; i++) {
    const tgt_kernel_slot_t *slot = &table->slots[i & table->mask];
    const void *found = atomic_load_explicit(&slot->region, memory_order_acquire);
    if (found == region)
      return atomic_load_explicit(&slot->kernel, memory_order_acquire);
    if (!found)
      return NULL;
  }
}

#endif
