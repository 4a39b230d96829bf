/* Spans of operations, with the times that the device itself wrote into their signals. */
#include "stream/note.h"

#include "base/hsa.h"

#include <stdlib.h>

struct atmi_note {
  atmi_span_t span;
  uint64_t id; /* of the span that began with the operation */
};

atmi_note_t *atmi_note_begin(atmi_timeline_t *timeline, atmi_span_t span) {
  atmi_note_t *note = malloc(sizeof *note);
  if (!note)
    return NULL;
  note->span = span;
  note->span.begin = atmi_timeline_now();
  note->id = atmi_timeline_begin(timeline, &note->span);
  return note;
}

/* The times of one operation; false if the device or its driver did not take them. */
static bool find_times(hsa_agent_t agent, hsa_signal_t signal, atmi_span_t *span) {
  hsa_amd_profiling_async_copy_time_t copied = {0};
  hsa_amd_profiling_dispatch_time_t ran = {0};
  bool is_copy = span->has_bytes;
  hsa_status_t status = is_copy ? hsa_amd_profiling_get_async_copy_time(signal, &copied)
                                : hsa_amd_profiling_get_dispatch_time(agent, signal, &ran);
  span->begin = is_copy ? copied.start : ran.start;
  span->end = is_copy ? copied.end : ran.end;
  return status == HSA_STATUS_SUCCESS && span->begin && span->end >= span->begin;
}

void atmi_note_end(atmi_timeline_t *timeline, atmi_note_t *note, hsa_agent_t agent, hsa_signal_t signal,
                   bool failed) {
  if (!note)
    return;
  note->span.end = atmi_timeline_now();
  atmi_timeline_end(timeline, &note->span, note->id);
  if (!failed && find_times(agent, signal, &note->span))
    atmi_timeline_add(timeline, &note->span);
  free(note);
}
