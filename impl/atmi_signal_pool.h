/* Completion signals, recycled and counted. A signal stands for a run of operations of one stream: its HSA
 * value is how many of them are not complete, so zero means that all are. Streams and waiting streams share
 * it by reference; the last one to let go returns it to its pool. A mark (below) names one use of a signal
 * without holding it. */
#ifndef ATMI_SIGNAL_POOL_H
#define ATMI_SIGNAL_POOL_H

#include "atmi_hsa.h"
#include "atmi_pool.h"

#include <stdatomic.h>
#include <stdbool.h>

typedef struct atmi_signal {
  atmi_pool_link_t link;
  hsa_signal_t hsa;
  /* The value inside the signal: a handle is the address of an amd_signal_t (amd_hsa_signal.h), which the
   * packet processor itself relies on. Reading it here costs one load instead of a call. */
  volatile int64_t *value;
  atmi_pool_t *pool;
  _Atomic uint32_t references;
  _Atomic uint32_t started; /* operations begun in this use, complete or not: tells which of them runs */
  _Atomic uint32_t use;     /* counts the times it was taken: tells two uses of one signal apart */
  atomic_bool done;         /* somebody saw zero: the signal need not be looked at again */
  atomic_bool lost;         /* zero by a fault, not by completion. Never taken back: neither is the device */
  bool closed; /* an event marks its end: nothing may be added. Touched by the stream's thread only */
} atmi_signal_t;

void atmi_signal_pool_init(atmi_pool_t *pool, const char *where);

/* A signal for one operation: value 1, one reference, for the caller. Fails with ATMI_NO_MEMORY, described.
 */
ATMI_MUST_CHECK atmi_status_t atmi_signal_take(atmi_pool_t *pool, atmi_signal_t **signal);

/* Ends a use without returning the signal to its pool, if nobody else has a reference: the caller may keep it
 * and begin a new use. False, and nothing changed, if somebody has. */
static inline bool atmi_signal_retire(atmi_signal_t *signal) {
  uint32_t only_ours = 1;
  /* Acquire and release as in atmi_signal_unref. From zero on, no mark can turn into a reference. */
  return atomic_compare_exchange_strong_explicit(&signal->references, &only_ours, 0, memory_order_acq_rel,
                                                 memory_order_relaxed);
}

/* Begins a new use of a retired signal: value 1, one reference. */
static inline void atmi_signal_begin(atmi_signal_t *signal) {
  signal->closed = false;
  atomic_store_explicit(&signal->started, 1, memory_order_relaxed);
  atomic_store_explicit(&signal->done, false, memory_order_relaxed);
  atomic_store_explicit(&signal->use, atomic_load_explicit(&signal->use, memory_order_relaxed) + 1,
                        memory_order_relaxed);
  /* Nobody waits for a signal without references, so the plain store need not wake anybody. */
  __atomic_store_n(signal->value, 1, __ATOMIC_RELAXED);
  /* Release: who gets a reference through an old mark sees that the use has changed. */
  atomic_store_explicit(&signal->references, 1, memory_order_release);
}

/* Begins a new use of a signal whose use is complete, of which nobody but the caller knows, and which nobody
 * has asked whether it is done: for a kernel. */
static inline void atmi_signal_begin_again(atmi_signal_t *signal) {
  atomic_store_explicit(&signal->started, 1, memory_order_relaxed);
  atomic_store_explicit(&signal->use, atomic_load_explicit(&signal->use, memory_order_relaxed) + 1,
                        memory_order_relaxed);
  /* Relaxed: what publishes the operation to the device publishes this, and nobody else knows the signal. */
  __atomic_store_n(signal->value, 1, __ATOMIC_RELAXED);
}

/* The same for a copy, which goes on with the same use: it counts as the second operation, so that the kernel
 * that may have been the first is known to be complete. */
static inline void atmi_signal_begin_copy(atmi_signal_t *signal) {
  atomic_store_explicit(&signal->started, 2, memory_order_relaxed);
  /* Relaxed as in atmi_signal_begin_again. */
  __atomic_store_n(signal->value, 1, __ATOMIC_RELAXED);
}

/* Begins a new use of a complete signal to which the caller has a reference, if nobody else has. */
static inline bool atmi_signal_reuse(atmi_signal_t *signal) {
  /* Only an event gives others a way to the signal. */
  if (!signal->closed) {
    atomic_store_explicit(&signal->done, false, memory_order_relaxed);
    atmi_signal_begin_again(signal);
    return true;
  }
  if (!atmi_signal_retire(signal))
    return false;
  atmi_signal_begin(signal);
  return true;
}

/* One more operation of the same run, by the thread that owns the run. */
static inline void atmi_signal_add(atmi_signal_t *signal) {
  atomic_store_explicit(&signal->started, atomic_load_explicit(&signal->started, memory_order_relaxed) + 1,
                        memory_order_relaxed);
  atomic_store_explicit(&signal->done, false, memory_order_relaxed);
  hsa_signal_add_relaxed(signal->hsa, 1);
}

/* References; any thread that has one may make more. Unref accepts NULL. */
void atmi_signal_ref(atmi_signal_t *signal);
void atmi_signal_unref(atmi_signal_t *signal);

/* One use of one signal in a word: its place in the pool, and the use. Zero is no use of any signal:
 * complete. Holds nothing; a use that is over counts as complete, which it is. */
typedef uint64_t atmi_signal_mark_t;

static inline atmi_signal_mark_t atmi_signal_mark(const atmi_signal_t *signal) {
  return (uint64_t)atomic_load_explicit(&signal->use, memory_order_relaxed) << 32 | (signal->link.index + 1);
}

/* The signal of a mark with a reference for the caller; NULL if that use is over. */
atmi_signal_t *atmi_signal_from_mark(atmi_pool_t *pool, atmi_signal_mark_t mark);

/* What the signal's value means: see atmi_signal_query. */
atmi_status_t atmi_signal_judge(atmi_signal_t *signal, hsa_signal_value_t value);

/* ATMI_OK once all operations are complete, ATMI_PENDING before, ATMI_LOST after a fault of their device,
 * ATMI_HSA_FAILED if HSA reported a failed copy. Prints nothing. */
ATMI_MUST_CHECK static inline atmi_status_t atmi_signal_query(atmi_signal_t *signal) {
  /* Acquire: who sees the flag also sees what the operations wrote, as the thread that saw zero did. */
  if (atomic_load_explicit(&signal->done, memory_order_acquire))
    return ATMI_OK;
  /* Acquire pairs with the release by which the device counts an operation down after its last write. */
  hsa_signal_value_t value = __atomic_load_n(signal->value, __ATOMIC_ACQUIRE);
  if (value)
    return value > 0 ? ATMI_PENDING : atmi_signal_judge(signal, value);
  if (atomic_load_explicit(&signal->lost, memory_order_acquire))
    return ATMI_LOST;
  atomic_store_explicit(&signal->done, true, memory_order_release);
  return ATMI_OK;
}

/* To be called before the look at the device's lost flag that comes before waiting: a fault of the device
 * will either have shown there, or will wake who waits (see atmi_signal_pool_abandon). */
static inline void atmi_signal_expect(atmi_signal_t *signal) {
  atomic_exchange(&signal->done, false);
}

/* Sleeps until the answer of atmi_signal_query is no longer ATMI_PENDING, and returns it; spins for
 * `busy_ticks` of HSA's clock first. */
ATMI_MUST_CHECK atmi_status_t atmi_signal_wait(atmi_signal_t *signal, uint64_t busy_ticks);

/* After a fault: marks every signal in use as lost and sets it to zero. That wakes host threads, and releases
 * packets of other devices which wait for it; their streams see the mark. Called from HSA's callback thread,
 * after the device was marked as lost. */
void atmi_signal_pool_abandon(atmi_pool_t *pool);

#endif
