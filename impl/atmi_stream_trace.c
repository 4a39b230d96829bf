/* Spans of a stream's operations, with the times that the device itself wrote into their signals. */
#include "atmi_stream_trace.h"

#include "atmi_hsa.h"
#include "atmi_stream.h"

#include <stdlib.h>

struct atmi_stream_note {
  atmi_span_t span;
  uint64_t id; /* of the span that began with the operation */
};

uint64_t atmi_trace_now(void) {
  uint64_t now = 0;
  hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &now);
  return now;
}

static void begin(atmi_stream_t *stream, atmi_span_t span) {
  struct atmi_stream_note *note = malloc(sizeof *note);
  stream->operations[stream->count - 1].note = note;
  stream->owes |= ATMI_OWES_MORE;
  if (!note)
    return;
  note->span = span;
  note->span.device = (int32_t)stream->device->number;
  note->span.lane = stream->link.index;
  note->span.begin = atmi_trace_now();
  note->id = atmi_timeline_begin(stream->timeline, &note->span);
}

void atmi_stream_trace_kernel(atmi_stream_t *stream, const atmi_kernel_t *kernel,
                              const hsa_kernel_dispatch_packet_t *packet) {
  uint32_t threads = (uint32_t)packet->workgroup_size_x * packet->workgroup_size_y * packet->workgroup_size_z;
  uint64_t items = (uint64_t)packet->grid_size_x * packet->grid_size_y * packet->grid_size_z;
  begin(stream, (atmi_span_t){.name = kernel->name,
                              .category = "kernel",
                              .teams = (uint32_t)(items / threads),
                              .threads = threads});
}

void atmi_stream_trace_copy(atmi_stream_t *stream, const char *what, size_t bytes) {
  begin(stream, (atmi_span_t){.name = what, .category = "copy", .has_bytes = true, .bytes = bytes});
}

/* The times of one operation; false if the device or its driver did not take them. */
static bool find_times(const atmi_device_t *device, const atmi_operation_t *operation, atmi_span_t *span) {
  hsa_amd_profiling_async_copy_time_t copied = {0};
  hsa_amd_profiling_dispatch_time_t ran = {0};
  hsa_signal_t signal = operation->signal->hsa;
  bool is_copy = operation->kind == ATMI_OPERATION_COPY;
  hsa_status_t status = is_copy ? hsa_amd_profiling_get_async_copy_time(signal, &copied)
                                : hsa_amd_profiling_get_dispatch_time(device->agent, signal, &ran);
  span->begin = is_copy ? copied.start : ran.start;
  span->end = is_copy ? copied.end : ran.end;
  return status == HSA_STATUS_SUCCESS && span->begin && span->end >= span->begin;
}

void atmi_stream_trace_end(const atmi_stream_t *stream, atmi_operation_t *operation, bool failed) {
  struct atmi_stream_note *note = operation->note;
  if (!note)
    return;
  operation->note = NULL;
  note->span.end = atmi_trace_now();
  atmi_timeline_end(stream->timeline, &note->span, note->id);
  if (!failed && find_times(stream->device, operation, &note->span))
    atmi_timeline_add(stream->timeline, &note->span);
  free(note);
}

/* Something that a host thread did until now. */
static void add_host(atmi_timeline_t *timeline, uint64_t begin, atmi_span_t span) {
  if (!timeline)
    return;
  span.device = ATMI_TIMELINE_HOST;
  span.begin = begin;
  span.end = atmi_trace_now();
  atmi_timeline_add(timeline, &span);
}

void atmi_trace_host(atmi_timeline_t *timeline, const char *category, const char *name, uint64_t begin) {
  add_host(timeline, begin, (atmi_span_t){.name = name, .category = category});
}

void atmi_trace_host_bytes(atmi_timeline_t *timeline, const char *category, const char *name, uint64_t begin,
                           uint64_t bytes) {
  add_host(timeline, begin,
           (atmi_span_t){.name = name, .category = category, .has_bytes = true, .bytes = bytes});
}
