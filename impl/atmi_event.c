/* Events: recording, and waiting without HSA where nothing is left to wait for. */
#include "atmi_event.h"

static atmi_status_t make_event(void *object, void *context) {
  (void)context;
  pthread_mutex_init(&((atmi_event_t *)object)->lock, NULL);
  return ATMI_OK;
}

static void destroy_event(void *object, void *context) {
  (void)context;
  pthread_mutex_destroy(&((atmi_event_t *)object)->lock);
}

void atmi_event_pool_init(atmi_pool_t *pool) {
  atmi_pool_init(pool, sizeof(atmi_event_t), make_event, destroy_event, NULL);
}

atmi_status_t atmi_event_take(atmi_pool_t *pool, const char *where, atmi_event_t **event) {
  void *object;
  atmi_status_t status = atmi_pool_take(pool, &object);
  if (status)
    return atmi_fail(status, where, "cannot make an event: out of host memory");
  *event = object;
  (*event)->pool = pool;
  (*event)->signal = NULL;
  return ATMI_OK;
}

void atmi_event_put(atmi_event_t *event) {
  atmi_event_record(event, NULL);
  atmi_pool_put(event->pool, event);
}

void atmi_event_record(atmi_event_t *event, atmi_stream_t *stream) {
  atmi_signal_t *signal = stream ? stream->tail : NULL;
  if (stream)
    atmi_stream_settle_waits(stream);
  if (signal) {
    atmi_signal_ref(signal);
    /* What the stream launches next must not count into the event: a cycle of waits could come of it. */
    signal->closed = true;
  }
  pthread_mutex_lock(&event->lock);
  atmi_signal_t *before = event->signal;
  event->signal = signal;
  pthread_mutex_unlock(&event->lock);
  atmi_signal_unref(before);
}

/* The event's signal with a reference of our own; NULL if the event is complete. */
static atmi_signal_t *borrow(atmi_event_t *event) {
  pthread_mutex_lock(&event->lock);
  atmi_signal_t *signal = event->signal;
  if (signal)
    atmi_signal_ref(signal);
  pthread_mutex_unlock(&event->lock);
  return signal;
}

atmi_status_t atmi_event_wait(atmi_event_t *event, atmi_stream_t *stream) {
  atmi_signal_t *signal = borrow(event);
  if (!signal)
    return ATMI_OK;
  atmi_status_t status = atmi_stream_wait_for(stream, signal);
  atmi_signal_unref(signal);
  return status;
}

atmi_status_t atmi_event_query(atmi_event_t *event) {
  atmi_signal_t *signal = borrow(event);
  if (!signal)
    return ATMI_OK;
  atmi_status_t status = atmi_signal_query(signal);
  atmi_signal_unref(signal);
  return status;
}

atmi_status_t atmi_event_synchronize(atmi_event_t *event) {
  atmi_signal_t *signal = borrow(event);
  if (!signal)
    return ATMI_OK;
  atmi_status_t status = atmi_signal_wait(signal, 0);
  atmi_signal_unref(signal);
  return status;
}
