/* Events: a point in a stream that other streams and host threads can wait for. An event is a mark of the
 * signal that stood at that point (device/signal_pool.h): one word, so recording and waiting need no lock,
 * and holds nothing. It never touches HSA by itself. */
#ifndef ATMI_STREAM_EVENT_H
#define ATMI_STREAM_EVENT_H

#include "stream/stream.h"

typedef struct atmi_event {
  atmi_pool_link_t link;
  atmi_device_t *device;
  atmi_stream_place_t *home; /* of the thread that made it: where it goes when it is put */
  struct atmi_event *next;   /* there */
  /* libomptarget may wait for an event in one thread while another records it anew. */
  _Atomic atmi_signal_mark_t mark; /* of a signal of the device; 0: complete */
} atmi_event_t;

void atmi_event_pool_init(atmi_device_t *device);

/* A complete event, and its return. Fails with ATMI_NO_MEMORY, described. */
ATMI_MUST_CHECK atmi_status_t atmi_event_take(atmi_device_t *device, atmi_event_t **event);
void atmi_event_put(atmi_event_t *event);

/* What a place's list of free events begins with while somebody takes one or puts one: the list is its own
 * lock. */
#define ATMI_EVENTS_IN_USE ((atmi_event_t *)1)

/* The same without a wait, to be tried first: NULL or false if the place is in use, or has no event. */
static inline atmi_event_t *atmi_event_take_here(atmi_device_t *device) {
  atmi_stream_place_t *place = atmi_stream_place(device);
  /* Acquire pairs with the release of whoever had the list before: its events are seen as they were left. */
  atmi_event_t *first = atomic_exchange_explicit(&place->events, ATMI_EVENTS_IN_USE, memory_order_acquire);
  if ((uintptr_t)first > (uintptr_t)ATMI_EVENTS_IN_USE) {
    atomic_store_explicit(&place->events, first->next, memory_order_release);
    return first;
  }
  if (!first)
    atomic_store_explicit(&place->events, NULL, memory_order_release);
  return NULL;
}

static inline bool atmi_event_put_home(atmi_event_t *event) {
  atmi_stream_place_t *home = event->home;
  atmi_event_t *first = atomic_exchange_explicit(&home->events, ATMI_EVENTS_IN_USE, memory_order_acquire);
  if (first == ATMI_EVENTS_IN_USE)
    return false;
  event->next = first;
  /* Relaxed: the release below orders it before the event's next use. */
  atomic_store_explicit(&event->mark, 0, memory_order_relaxed);
  atomic_store_explicit(&home->events, event, memory_order_release);
  return true;
}

/* Marks the present end of a stream of the same device; what the stream does afterwards is not part of the
 * event. NULL: complete. Waits and fails as atmi_stream_mark does. */
ATMI_MUST_CHECK atmi_status_t atmi_event_record(atmi_event_t *event, atmi_stream_t *stream);

/* The same of a stream that is idle, or NULL. */
static inline void atmi_event_record_done(atmi_event_t *event) {
  /* Release: who sees that the event is complete sees what the operations wrote, as this thread does. */
  atomic_store_explicit(&event->mark, 0, memory_order_release);
}

/* Whether the event was complete when it was recorded: nothing needs to be asked then. */
static inline bool atmi_event_is_complete(const atmi_event_t *event) {
  /* Acquire pairs with the release of the record. */
  return !atomic_load_explicit(&event->mark, memory_order_acquire);
}

/* Makes the stream's next operation wait for the event. Costs nothing if it is complete. */
ATMI_MUST_CHECK atmi_status_t atmi_event_wait(atmi_event_t *event, atmi_stream_t *stream);

/* ATMI_OK when the event is complete, ATMI_PENDING if not. */
ATMI_MUST_CHECK atmi_status_t atmi_event_query(atmi_event_t *event);

/* Waits for the event on the host. */
ATMI_MUST_CHECK atmi_status_t atmi_event_synchronize(atmi_event_t *event);

#endif
