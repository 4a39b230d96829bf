/* Completion signals, recycled and counted. A signal stands for a run of operations of one stream: its HSA
 * value is how many of them are not complete, so zero means that all are. Streams, events and waiting streams
 * share it by reference; the last one to let go returns it to its pool. */
#ifndef ATMI_SIGNAL_POOL_H
#define ATMI_SIGNAL_POOL_H

#include "atmi_pool.h"

#include <stdatomic.h>
#include <stdbool.h>

typedef struct atmi_signal {
  atmi_pool_link_t link;
  hsa_signal_t hsa;
  atmi_pool_t *pool;
  _Atomic uint32_t references;
  _Atomic uint32_t started; /* operations begun in this use, complete or not: tells which of them runs */
  _Atomic uint32_t use;     /* counts the times it was taken: tells two uses of one signal apart */
  atomic_bool done;         /* somebody saw zero: HSA need not be asked again */
  atomic_bool lost;         /* zero by a fault, not by completion. Never taken back: neither is the device */
  bool closed; /* an event marks its end: nothing may be added. Touched by the stream's thread only */
} atmi_signal_t;

void atmi_signal_pool_init(atmi_pool_t *pool, const char *where);

/* A signal for one operation: value 1, one reference, for the caller. Fails with ATMI_NO_MEMORY, described.
 */
ATMI_MUST_CHECK atmi_status_t atmi_signal_take(atmi_pool_t *pool, atmi_signal_t **signal);

/* One more operation of the same run, by the thread that owns the run. */
void atmi_signal_add(atmi_signal_t *signal);

/* References; any thread that has one may make more. Unref accepts NULL. */
void atmi_signal_ref(atmi_signal_t *signal);
void atmi_signal_unref(atmi_signal_t *signal);

/* ATMI_OK once all operations are complete, ATMI_PENDING before, ATMI_LOST after a fault of their device,
 * ATMI_HSA_FAILED if HSA reported a failed copy. Prints nothing. Asks HSA only until the answer was ATMI_OK
 * once. */
ATMI_MUST_CHECK atmi_status_t atmi_signal_query(atmi_signal_t *signal);

/* Sleeps until the answer of atmi_signal_query is no longer ATMI_PENDING, and returns it; spins for
 * `busy_ticks` of HSA's clock first. */
ATMI_MUST_CHECK atmi_status_t atmi_signal_wait(atmi_signal_t *signal, uint64_t busy_ticks);

/* After a fault: marks every signal in use as lost and sets it to zero. That wakes host threads, and releases
 * packets of other devices which wait for it; their streams see the mark. Called from HSA's callback thread,
 * after the device was marked as lost. */
void atmi_signal_pool_abandon(atmi_pool_t *pool);

#endif
