/* A lock for a few instructions that call nothing which may wait. Costs two instructions when it is free; a
 * mutex of the C library costs fifty. Not fair. */
#ifndef ATMI_BASE_SPIN_H
#define ATMI_BASE_SPIN_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Zeroed is free. */
typedef struct atmi_spin {
  atomic_bool held;
} atmi_spin_t;

static inline void atmi_spin_lock(atmi_spin_t *spin) {
  /* Acquire pairs with the release of the unlock: what the last holder wrote is seen. */
  while (atomic_exchange_explicit(&spin->held, true, memory_order_acquire))
    /* The holder may have lost its processor in the middle. */
    while (atomic_load_explicit(&spin->held, memory_order_relaxed))
      sched_yield();
}

/* Takes the lock if it is free. Without a call in it, what uses it and has another way else needs no room for
 * registers. */
static inline bool atmi_spin_try(atmi_spin_t *spin) {
  /* Acquire as in atmi_spin_lock. */
  return !atomic_exchange_explicit(&spin->held, true, memory_order_acquire);
}

static inline void atmi_spin_unlock(atmi_spin_t *spin) {
  atomic_store_explicit(&spin->held, false, memory_order_release);
}

#endif
