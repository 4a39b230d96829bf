/* What the timeline is told of a stream's operations: when they begin for the host, and when they are
 * complete, with the times that the device took. Looks on only: with or without it, streams do the same. Not
 * here: the file (atmi_timeline). */
#ifndef ATMI_STREAM_TRACE_H
#define ATMI_STREAM_TRACE_H

#include "atmi_code_object.h"
#include "atmi_timeline.h"

typedef struct atmi_stream atmi_stream_t;
typedef struct atmi_operation atmi_operation_t;

/* The clock of all spans. */
uint64_t atmi_trace_now(void);

/* The stream, which has a timeline, has begun the last operation of its list. Without host memory for it the
 * timeline goes without. */
void atmi_stream_trace_kernel(atmi_stream_t *stream, const atmi_kernel_t *kernel,
                              const hsa_kernel_dispatch_packet_t *packet);
void atmi_stream_trace_copy(atmi_stream_t *stream, const char *what, size_t bytes);

/* The operation is over, and its signal still the stream's. With `failed` there are no times. */
void atmi_stream_trace_end(const atmi_stream_t *stream, atmi_operation_t *operation, bool failed);

/* A span of the calling host thread that begins at `begin` and ends now. NULL is accepted as timeline. */
void atmi_trace_host(atmi_timeline_t *timeline, const char *category, const char *name, uint64_t begin);
void atmi_trace_host_bytes(atmi_timeline_t *timeline, const char *category, const char *name, uint64_t begin,
                           uint64_t bytes);

#endif
