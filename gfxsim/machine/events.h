/* Events: what host threads sleep on until a GPU raises an interrupt. Semantics as the Linux driver's: an
 * event stays set until a wait takes it; setting one wakes everybody who waits for it. Not here: HSA signals,
 * which ROCr builds on top. */
#ifndef GFXSIM_MACHINE_EVENTS_H
#define GFXSIM_MACHINE_EVENTS_H

#include <hsakmt.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "exec/device.h"

typedef struct gs_event gs_event_t;

/* All events of the process. Lookups by id take no lock. */
typedef struct gs_events {
  uint64_t *mailbox; /* one per event; the device announces events here; not owned */
  uint32_t capacity;
  _Atomic(gs_event_t *) *slot; /* [capacity]; made on first use, kept until fini */
  pthread_mutex_t lock;        /* creation and destruction of events */
  uint32_t next;               /* where to look for a free slot */
  bool initialized;
} gs_events_t;

/* Returns 0, or -1 when out of memory. `mailbox` has `capacity` elements and outlives the events. */
int gs_events_init(gs_events_t *events, uint64_t *mailbox, uint32_t capacity)
    __attribute__((warn_unused_result));
/* Frees everything, also events that were not destroyed. Nobody may wait any more. Accepts a zeroed object.
 */
void gs_events_fini(gs_events_t *events);

/* Makes an event. Returns its id, from 1 to the capacity, or 0 when there are no more. Thread-safe, as what
 * follows. */
uint32_t gs_events_create(gs_events_t *events, HSA_EVENTTYPE type, bool auto_reset, bool signaled);
/* Ends an event; whoever waits for it wakes up. */
HSAKMT_STATUS gs_events_destroy(gs_events_t *events, uint32_t id);

/* Where a device announces the event with this id. */
uint64_t *gs_events_mailbox(gs_events_t *events, uint32_t id);
/* From now on the mailboxes are elsewhere: `capacity` of them, in memory that outlives the events. No device
 * may have announced any event yet. */
void gs_events_move_mailboxes(gs_events_t *events, uint64_t *mailbox);

/* Sets the event with this id; unknown ids are ignored, as interrupts of unknown sources are. Thread-safe. */
void gs_events_raise(gs_events_t *events, uint32_t id);
/* Raises all events whose mailbox a device program has written. */
void gs_events_raise_announced(gs_events_t *events);
/* Sets or resets an event on behalf of the host, which may do so with signal and debug events only. */
HSAKMT_STATUS gs_events_set(gs_events_t *events, uint32_t id, bool to);

/* Whether this is an event of a signal. */
bool gs_events_is_signal(gs_events_t *events, uint32_t id);
/* The fault that a memory event was last set for. False if this is no memory event. */
bool gs_events_fault_of(gs_events_t *events, uint32_t id, HsaMemoryAccessFault *fault);

/* Reports a fault of `node` through all memory events. `hang`: the GPU hangs, `fault` does not matter.
 * Returns false when the process has no memory event. */
bool gs_events_memory_fault(gs_events_t *events, uint32_t node, const gs_fault_t *fault, bool hang);

/* Waits until one (or all) of the events of a list of ids are set. The time-out is in milliseconds, all ones
 * = for ever. `ages`, if given, has the age at which the caller last saw each event, or 0: one that has
 * another age by now counts as set, so that nobody misses that somebody else's wait took it. They are left as
 * they are now. Without ages an event that another thread's wait took counts as set for one more thread,
 * once, which so may come back for nothing. *slept becomes true if the thread slept for that. */
HSAKMT_STATUS gs_events_wait(gs_events_t *events, const uint32_t *list, uint32_t count, bool all,
                             uint32_t milliseconds, uint64_t *ages, bool *slept);

#endif
