/* Completion signals. A signal has one life over and over: it is taken, stands for one operation at a time,
 * and is used again when that is complete. Its value is 1 until then, 0 afterwards, and nobody but the device
 * counts it down: the host never writes to a signal that the device may still change, since not every device
 * counts atomically. A mark names one use of a signal without holding it; who asks by a mark gets a
 * reference. Not here: what an operation is (stream/stream). */
#ifndef ATMI_DEVICE_SIGNAL_POOL_H
#define ATMI_DEVICE_SIGNAL_POOL_H

#include "base/hsa.h"
#include "base/pool.h"

#include <stdatomic.h>
#include <stdbool.h>

typedef struct atmi_signal_pool {
  atmi_pool_t pool;
  const char *where;       /* the device's label */
  const atomic_bool *lost; /* the device's: set before its signals are abandoned */
} atmi_signal_pool_t;

typedef struct atmi_signal {
  atmi_pool_link_t link;
  hsa_signal_t hsa;
  /* The value inside the signal: a handle is the address of an amd_signal_t (amd_hsa_signal.h), which the
   * packet processor itself relies on. Reading it here costs one load instead of a call. */
  volatile int64_t *value;
  atmi_signal_pool_t *home;
  /* The packet that is to count it down, for device/queue's notes; NULL: it stands for something else. */
  _Atomic(const void *) packet;
  _Atomic uint32_t references; /* the owner's, and those made from marks; 0: free */
  _Atomic uint32_t use;        /* counts uses that marks may name */
  atomic_bool lost; /* zero by a fault, not by completion. Never taken back: neither is the device */
  bool known;       /* there is a mark of this use. Touched by its owner only */
} atmi_signal_t;

/* `where` and `lost` must outlive the pool. fini: as atmi_pool_fini. */
void atmi_signal_pool_init(atmi_signal_pool_t *signals, const char *where, const atomic_bool *lost);
void atmi_signal_pool_fini(atmi_signal_pool_t *signals);

/* A complete signal with one reference, the owner's. Fails with ATMI_NO_MEMORY, described. */
ATMI_MUST_CHECK atmi_status_t atmi_signal_take(atmi_signal_pool_t *signals, atmi_signal_t **signal);

/* Begins the next use of a complete signal that is not known, by its owner, for the same as before. */
static inline void atmi_signal_begin_again(const atmi_signal_t *signal) {
  /* Release: who finds it pending, and asks for what, does not find what it stood for before. What publishes
   * the operation to the device publishes this, and nobody else waits for it yet. */
  __atomic_store_n(signal->value, 1, __ATOMIC_RELEASE);
}

/* The same for a packet, or, with NULL, for something else. */
static inline void atmi_signal_begin_for(atmi_signal_t *signal, const void *packet) {
  atomic_store_explicit(&signal->packet, packet, memory_order_relaxed);
  atmi_signal_begin_again(signal);
}

static inline void atmi_signal_begin(atmi_signal_t *signal) {
  atmi_signal_begin_for(signal, NULL);
}

/* Takes back that a use began: its operation did not. */
static inline void atmi_signal_cancel(atmi_signal_t *signal) {
  __atomic_store_n(signal->value, 0, __ATOMIC_RELAXED);
}

/* Makes a complete signal one that is not known any more. False, and nothing changed, if somebody has a
 * reference. For the owner. */
bool atmi_signal_retire(atmi_signal_t *signal);

/* References; any thread that has one may make more. The last one returns the signal to its pool. Unref
 * accepts NULL. */
void atmi_signal_ref(atmi_signal_t *signal);
void atmi_signal_unref(atmi_signal_t *signal);

/* One use of one signal in a word: its place in the pool, and the use. Zero is no use of any signal:
 * complete. Holds nothing; a use that is over counts as complete, which it is. */
typedef uint64_t atmi_signal_mark_t;

/* Makes the present use known, by its owner. */
static inline atmi_signal_mark_t atmi_signal_mark(atmi_signal_t *signal) {
  signal->known = true;
  return (uint64_t)atomic_load_explicit(&signal->use, memory_order_relaxed) << 32 | (signal->link.index + 1);
}

/* The signal of a mark with a reference for the caller; NULL if that use is over. */
atmi_signal_t *atmi_signal_from_mark(atmi_signal_pool_t *signals, atmi_signal_mark_t mark);

/* ATMI_OK once the operation is complete, ATMI_PENDING before, ATMI_LOST after a fault of its device,
 * ATMI_HSA_FAILED if HSA reported a failed copy. Prints nothing. */
ATMI_MUST_CHECK static inline atmi_status_t atmi_signal_query(const atmi_signal_t *signal) {
  /* Acquire pairs with the release by which the device counts the operation down after its last write; or
   * with that by which atmi_signal_pool_abandon lets go of it, and then we see that it is lost. */
  int64_t value = __atomic_load_n(signal->value, __ATOMIC_ACQUIRE);
  if (value > 0)
    return ATMI_PENDING;
  if (atomic_load_explicit(&signal->lost, memory_order_relaxed))
    return ATMI_LOST;
  return value ? ATMI_HSA_FAILED : ATMI_OK;
}

/* Whether that is ATMI_OK. */
static inline bool atmi_signal_is_complete(const atmi_signal_t *signal) {
  /* Acquire as in atmi_signal_query. */
  return !__atomic_load_n(signal->value, __ATOMIC_ACQUIRE) &&
         !atomic_load_explicit(&signal->lost, memory_order_relaxed);
}

/* Waits until the answer of atmi_signal_query is no longer ATMI_PENDING, and returns it: spins for
 * `busy_us` microseconds, in which other threads may have the processor, and sleeps then. */
ATMI_MUST_CHECK atmi_status_t atmi_signal_wait(const atmi_signal_t *signal, int64_t busy_us);

/* The same, but sleeps no longer than about `sleep_ticks` of HSA's system clock: ATMI_PENDING then. */
ATMI_MUST_CHECK atmi_status_t atmi_signal_wait_a_while(const atmi_signal_t *signal, int64_t busy_us,
                                                       uint64_t sleep_ticks);

/* Lets what waits for an operation that failed begin nevertheless: it is reported as failed with it. */
void atmi_signal_release(atmi_signal_t *signal);

/* After a fault of its device: marks an operation that is not complete as lost, and sets its signal to zero.
 * That wakes host threads, and releases packets of other devices which wait for it; their streams see the
 * mark. */
void atmi_signal_abandon(atmi_signal_t *signal);

/* The same for all of a device. Called from HSA's callback thread, after the device was marked as lost. */
void atmi_signal_pool_abandon(atmi_signal_pool_t *signals);

#endif
