/* Events: recording, and waiting without HSA where nothing is left to wait for. */
#include "stream/event.h"

static atmi_status_t make_event(void *object, void *context) {
  ((atmi_event_t *)object)->device = context;
  return ATMI_OK;
}

void atmi_event_pool_init(atmi_device_t *device) {
  atmi_pool_init(&device->events, sizeof(atmi_event_t), make_event, NULL, device);
}

atmi_status_t atmi_event_take(atmi_device_t *device, atmi_event_t **event) {
  void *object;
  if ((*event = atmi_event_take_here(device)))
    return ATMI_OK;
  atmi_status_t status = atmi_pool_take(&device->events, &object);
  if (status)
    return atmi_fail(status, device->label, "cannot make an event: out of host memory");
  *event = object;
  (*event)->home = atmi_stream_place(device);
  return ATMI_OK;
}

void atmi_event_put(atmi_event_t *event) {
  while (!atmi_event_put_home(event))
    sched_yield();
}

atmi_status_t atmi_event_record(atmi_event_t *event, atmi_stream_t *stream) {
  atmi_signal_mark_t mark = 0;
  atmi_status_t status = stream ? atmi_stream_mark(stream, &mark) : ATMI_OK;
  /* Release: who takes the mark sees the signal as this use of it began. */
  if (!status)
    atomic_store_explicit(&event->mark, mark, memory_order_release);
  return status;
}

/* The event's signal with a reference of our own; NULL if the event is complete. */
static atmi_signal_t *borrow(atmi_event_t *event) {
  return atmi_signal_from_mark(&event->device->signals,
                               atomic_load_explicit(&event->mark, memory_order_acquire));
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
  atmi_status_t status = atmi_signal_wait(signal, event->device->machine->env->busy_wait_us);
  atmi_signal_unref(signal);
  return status;
}
