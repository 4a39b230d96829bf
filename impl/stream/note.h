/* What the timeline is told of one operation: when it begins for the host, and when it is complete, with the
 * times that the device took. Looks on only: with or without it, streams do the same. Not here: the file
 * (base/timeline). */
#ifndef ATMI_STREAM_NOTE_H
#define ATMI_STREAM_NOTE_H

#include "base/timeline.h"

#include <hsa/hsa.h>

typedef struct atmi_note atmi_note_t;

/* An operation begins now; `span` says what it is, on which device, in which lane. NULL, and the timeline
 * goes without, if there is no host memory. */
atmi_note_t *atmi_note_begin(atmi_timeline_t *timeline, atmi_span_t span);

/* The operation is over, and `signal` still its own. With `failed` there are no times. Releases the note;
 * NULL is accepted. */
void atmi_note_end(atmi_timeline_t *timeline, atmi_note_t *note, hsa_agent_t agent, hsa_signal_t signal,
                   bool failed);

#endif
