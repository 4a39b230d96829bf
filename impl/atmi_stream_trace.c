/* Spans of a stream's operations, with the times that the device itself wrote into their signals. */
#include "atmi_stream_trace.h"

#include "atmi_hsa.h"
#include "atmi_machine.h"

#include <stdlib.h>

typedef struct atmi_stream_note {
  atmi_signal_t *signal; /* kept by the stream */
  bool is_copy;
  atmi_span_t span;
} atmi_stream_note_t;

uint64_t atmi_trace_now(void) {
  uint64_t now = 0;
  hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &now);
  return now;
}

static void add_note(atmi_stream_t *stream, const atmi_stream_note_t *note) {
  if (stream->note_count == stream->note_capacity) {
    uint32_t larger = stream->note_capacity ? 2 * stream->note_capacity : 64;
    atmi_stream_note_t *longer = realloc(stream->notes, larger * sizeof *longer);
    if (!longer)
      return;
    stream->notes = longer;
    stream->note_capacity = larger;
  }
  stream->notes[stream->note_count++] = *note;
}

static atmi_stream_note_t begin_note(const atmi_stream_t *stream, const char *category, const char *name) {
  return (atmi_stream_note_t){.signal = stream->tail,
                              .span = {.name = name,
                                       .category = category,
                                       .device = (int32_t)stream->device->number,
                                       .lane = stream->link.index}};
}

void atmi_stream_trace_kernel(atmi_stream_t *stream, const atmi_kernel_t *kernel,
                              const atmi_launch_t *launch) {
  atmi_stream_note_t note = begin_note(stream, "kernel", kernel->name);
  note.span.teams = launch->groups[0] * launch->groups[1] * launch->groups[2];
  note.span.threads = launch->group[0] * launch->group[1] * launch->group[2];
  add_note(stream, &note);
}

void atmi_stream_trace_copy(atmi_stream_t *stream, const char *what, size_t bytes) {
  atmi_stream_note_t note = begin_note(stream, "copy", what);
  note.is_copy = true;
  note.span.has_bytes = true;
  note.span.bytes = bytes;
  add_note(stream, &note);
}

/* The times of one operation; false if the device or its driver did not take them. */
static bool find_times(const atmi_device_t *device, atmi_stream_note_t *note) {
  uint64_t begin, end;
  if (note->is_copy) {
    hsa_amd_profiling_async_copy_time_t time = {0};
    if (hsa_amd_profiling_get_async_copy_time(note->signal->hsa, &time) != HSA_STATUS_SUCCESS)
      return false;
    begin = time.start;
    end = time.end;
  } else {
    hsa_amd_profiling_dispatch_time_t time = {0};
    if (hsa_amd_profiling_get_dispatch_time(device->agent, note->signal->hsa, &time) != HSA_STATUS_SUCCESS)
      return false;
    begin = time.start;
    end = time.end;
  }
  note->span.begin = begin;
  note->span.end = end;
  return begin && end >= begin;
}

void atmi_stream_trace_finish(atmi_stream_t *stream, bool failed) {
  atmi_device_t *device = stream->device;
  for (uint32_t i = 0; i < stream->note_count && !failed; i++)
    if (find_times(device, &stream->notes[i]))
      atmi_timeline_add(device->machine->timeline, &stream->notes[i].span);
  stream->note_count = 0;
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
