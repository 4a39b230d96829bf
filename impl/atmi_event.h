/* Events: a point in a stream that other streams and host threads can wait for. An event is a mark of the
 * signal that stood at that point (atmi_signal_pool.h): one word, so recording and waiting need no lock, and
 * holds nothing. It never touches HSA by itself. */
#ifndef ATMI_EVENT_H
#define ATMI_EVENT_H

#include "atmi_stream.h"

typedef struct atmi_event {
  atmi_pool_link_t link;
  atmi_device_t *device;
  /* libomptarget may wait for an event in one thread while another records it anew. */
  _Atomic atmi_signal_mark_t mark; /* of a signal of the device; 0: complete */
} atmi_event_t;

void atmi_event_pool_init(atmi_device_t *device);

/* A complete event, and its return. Fails with ATMI_NO_MEMORY, described. */
ATMI_MUST_CHECK atmi_status_t atmi_event_take(atmi_device_t *device, atmi_event_t **event);
void atmi_event_put(atmi_event_t *event);

/* Marks the present end of a stream of the same device; what the stream does afterwards is not part of the
 * event. NULL: complete. Waits on the host only if the stream waits for another event and has done nothing
 * since, or has retrieved data that the host has yet to move to its place; fails as that does. */
ATMI_MUST_CHECK atmi_status_t atmi_event_record(atmi_event_t *event, atmi_stream_t *stream);

/* Makes the stream's next operation wait for the event. Costs nothing if it is complete. */
ATMI_MUST_CHECK atmi_status_t atmi_event_wait(atmi_event_t *event, atmi_stream_t *stream);

/* ATMI_OK when the event is complete, ATMI_PENDING if not. */
ATMI_MUST_CHECK atmi_status_t atmi_event_query(atmi_event_t *event);

/* Waits for the event on the host. */
ATMI_MUST_CHECK atmi_status_t atmi_event_synchronize(atmi_event_t *event);

#endif
