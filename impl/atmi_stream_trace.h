/* What a stream remembers for the timeline until its operations are complete and their times known. Not here:
 * the file (atmi_timeline). */
#ifndef ATMI_STREAM_TRACE_H
#define ATMI_STREAM_TRACE_H

#include "atmi_stream.h"
#include "atmi_timeline.h"

/* The clock of all spans. */
uint64_t atmi_trace_now(void);

/* The stream has begun an operation whose end its tail marks; nothing else counts that signal. Only with a
 * timeline. Names must live until the stream is idle. Without host memory for it the span is left out. */
void atmi_stream_trace_kernel(atmi_stream_t *stream, const atmi_kernel_t *kernel,
                              const atmi_launch_t *launch);
void atmi_stream_trace_copy(atmi_stream_t *stream, const char *what, size_t bytes);

/* The operations are complete, and their signals still the stream's: writes their spans. With `failed` there
 * are no times; what was noted is dropped. */
void atmi_stream_trace_finish(atmi_stream_t *stream, bool failed);

/* A span of the calling host thread that begins at `begin` and ends now. NULL is accepted as timeline. */
void atmi_trace_host(atmi_timeline_t *timeline, const char *category, const char *name, uint64_t begin);
void atmi_trace_host_bytes(atmi_timeline_t *timeline, const char *category, const char *name, uint64_t begin,
                           uint64_t bytes);

#endif
