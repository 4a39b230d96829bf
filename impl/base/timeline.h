/* The timeline: a file for chrome://tracing or Perfetto with what devices and host threads did when
 * (LIBOMPTARGET_AMDGPU_TIMELINE). Not here: what is worth a span; each part of the core says so itself. A
 * machine without a timeline has a NULL pointer in its place, which is all that it costs then. */
#ifndef ATMI_BASE_TIMELINE_H
#define ATMI_BASE_TIMELINE_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct atmi_timeline atmi_timeline_t;

enum { ATMI_TIMELINE_HOST = -1 };

/* Something that took time. Times are ticks of HSA's system clock. */
typedef struct atmi_span {
  const char *name;
  const char *category; /* "kernel", "copy", "memory", "wait", "image" */
  int32_t device;       /* on whose row; ATMI_TIMELINE_HOST: the calling thread's */
  uint32_t lane;        /* the stream of a device; not used for the host */
  uint64_t begin, end;
  bool has_bytes;
  uint64_t bytes;
  uint32_t teams, threads; /* of a kernel; 0: not one */
} atmi_span_t;

/* Whether each process has a file of its own by this name. */
bool atmi_timeline_has_process_id(const char *name);

/* Begins the file; "%p" in its name becomes the process id, and then no symbolic link is followed. NULL, with
 * a warning, if it cannot be written.
 *   ticks_per_second   of HSA's system clock
 *   now                that clock: where the timeline's own time begins
 *   mangled            kernels are called as in their image (see atmi_name_of_kernel) */
atmi_timeline_t *atmi_timeline_open(const char *name, uint64_t ticks_per_second, uint64_t now, bool mangled);

/* What is added is in the file when these return, so that the file of a process that hangs, is killed or
 * interrupted shows all that it did. Thread-safe; they take the timeline's lock. NULL is accepted as
 * timeline, and nothing is done then. */

/* Something begins, at `span->begin`, whose end is not known yet; the result is a number to end it by. Only
 * the timeline of a process that ended in the middle of it has no end for it. */
uint64_t atmi_timeline_begin(atmi_timeline_t *timeline, const atmi_span_t *span);
/* It is over, at `span->end`. */
void atmi_timeline_end(atmi_timeline_t *timeline, const atmi_span_t *span, uint64_t id);

/* The clock of all spans. HSA must be there. */
uint64_t atmi_timeline_now(void);

/* A span of the calling host thread that begins at `begin` and ends now. */
void atmi_timeline_host(atmi_timeline_t *timeline, const char *category, const char *name, uint64_t begin);
void atmi_timeline_host_bytes(atmi_timeline_t *timeline, const char *category, const char *name,
                              uint64_t begin, uint64_t bytes);

/* Adds a span that is over. */
void atmi_timeline_add(atmi_timeline_t *timeline, const atmi_span_t *span);

/* What a row of a device is called: "device 0 (gfx90a)". Rows that are not named get their number. */
void atmi_timeline_name_device(atmi_timeline_t *timeline, int32_t device, const char *label);

/* In a forked child, whose exit would write its copy of what another thread of the parent was just writing:
 * drops it. Nobody may use the timeline in the child any more. */
void atmi_timeline_forget(atmi_timeline_t *timeline);

/* Completes the file; what is added later is dropped. */
void atmi_timeline_finish(atmi_timeline_t *timeline);

/* Finishes and releases it. Nobody may use it any more. Accepts NULL. */
void atmi_timeline_close(atmi_timeline_t *timeline);

#endif
