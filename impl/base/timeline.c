/* The timeline as a file: the array form of the Trace Event Format, of which readers accept one that a crash
 * cut short behind a span. Devices are processes and streams their threads, so that each stream has a row. */
#include "base/timeline.h"

#include "base/hsa.h"
#include "base/name.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Rows that have been named; those of a number beyond go without. */
enum { NAMED_LANES = 64, NAMED_DEVICES = 64 };

/* Room for an event with a long name, so that each is written in one piece. */
enum { BUFFER_BYTES = 64 << 10 };

struct atmi_timeline {
  pthread_mutex_t lock; /* guards all that follows */
  FILE *file;           /* NULL once finished */
  double microseconds_per_tick;
  uint64_t origin;
  uint64_t begun; /* numbers of what has begun */
  bool mangled;
  uint64_t named_lanes[NAMED_DEVICES]; /* one bit per stream */
  char buffer[BUFFER_BYTES];           /* of the file */
};

/* Process number 0 is the host, n + 1 device n. */
static int32_t row_of(int32_t device) {
  return device + 1;
}

static void write_string(FILE *file, const char *text) {
  fputc('"', file);
  while (*text) {
    unsigned char c = (unsigned char)*text;
    size_t printable = atmi_text_printable(text);
    if (c == '"' || c == '\\')
      fprintf(file, "\\%c", c);
    else if (printable)
      fwrite(text, 1, printable, file);
    else
      fprintf(file, "\\u%04x", c);
    text += printable ? printable : 1;
  }
  fputc('"', file);
}

/* {"ph":"M",...}: the name of a process, or of a thread of it. */
static void write_name(FILE *file, const char *kind, int32_t row, uint32_t lane, const char *name) {
  fprintf(file, ",\n{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%d,\"tid\":%u,\"args\":{\"name\":", kind, (int)row,
          lane);
  write_string(file, name);
  fputs("}}", file);
}

static void name_lane(atmi_timeline_t *timeline, const atmi_span_t *span) {
  char text[32];
  if (span->device < 0 || span->device >= NAMED_DEVICES || span->lane >= NAMED_LANES)
    return;
  uint64_t bit = UINT64_C(1) << span->lane;
  if (timeline->named_lanes[span->device] & bit)
    return;
  timeline->named_lanes[span->device] |= bit;
  snprintf(text, sizeof text, "stream %u", span->lane);
  write_name(timeline->file, "thread_name", row_of(span->device), span->lane, text);
}

static const char process_id[] = "%p";

bool atmi_timeline_has_process_id(const char *name) {
  return strstr(name, process_id);
}

/* The file name with the process id in the place of "%p"; malloc'ed. */
static char *expand(const char *name) {
  const char *at = strstr(name, process_id);
  if (!at)
    return strdup(name);
  size_t bytes = strlen(name) + 24;
  char *expanded = malloc(bytes);
  if (expanded)
    snprintf(expanded, bytes, "%.*s%ld%s", (int)(at - name), name, (long)getpid(), at + 2);
  return expanded;
}

/* A name that the user wrote may be a link: to /dev/stdout, to another disk. One that the process id
 * completed is new; where a link has it already, as in a folder that others write to, somebody else made
 * that. */
static FILE *create(const char *path, bool is_completed) {
  int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | (is_completed ? O_NOFOLLOW : 0), 0666);
  FILE *stream = file < 0 ? NULL : fdopen(file, "w");
  if (file >= 0 && !stream)
    close(file);
  return stream;
}

atmi_timeline_t *atmi_timeline_open(const char *name, uint64_t ticks_per_second, uint64_t now, bool mangled) {
  atmi_timeline_t *timeline = calloc(1, sizeof *timeline);
  char *expanded = expand(name);
  if (timeline && expanded)
    timeline->file = create(expanded, atmi_timeline_has_process_id(name));
  if (!timeline || !expanded || !timeline->file) {
    atmi_warn(NULL, "no timeline is written: cannot create %s: %s", expanded ? expanded : name,
              errno == ELOOP ? "a symbolic link has this name" : strerror(errno));
    free(timeline);
    free(expanded);
    return NULL;
  }
  free(expanded);
  setvbuf(timeline->file, timeline->buffer, _IOFBF, sizeof timeline->buffer);
  pthread_mutex_init(&timeline->lock, NULL);
  timeline->microseconds_per_tick = ticks_per_second ? 1e6 / (double)ticks_per_second : 1e-3;
  timeline->origin = now;
  timeline->mangled = mangled;
  fputs("[{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":0,\"tid\":0,\"args\":{\"name\":\"host\"}}",
        timeline->file);
  return timeline;
}

/* Signed: what a device did may have begun before the timeline as the host counts. */
static double microseconds(const atmi_timeline_t *timeline, uint64_t from, uint64_t to) {
  return (double)(int64_t)(to - from) * timeline->microseconds_per_tick;
}

/* With a point, whatever the program's locale has in its place. */
static void write_microseconds(FILE *file, const char *key, double value) {
  long long nanoseconds = (long long)(value * 1e3 + (value < 0 ? -0.5 : 0.5));
  const char *sign = nanoseconds < 0 ? "-" : "";
  if (nanoseconds < 0)
    nanoseconds = -nanoseconds;
  fprintf(file, ",\"%s\":%s%lld.%03lld", key, sign, nanoseconds / 1000, nanoseconds % 1000);
}

/* The head of an event of this phase, up to its time. */
static void write_head(atmi_timeline_t *timeline, char phase, const char *category, const atmi_span_t *span,
                       uint64_t time) {
  FILE *file = timeline->file;
  uint32_t lane = span->device < 0 ? (uint32_t)gettid() : span->lane;
  name_lane(timeline, span);
  fprintf(file, ",\n{\"ph\":\"%c\",\"name\":", phase);
  if (!strcmp(span->category, "kernel")) {
    atmi_name_t name = atmi_name_of_kernel(span->name, timeline->mangled);
    write_string(file, name.text + name.bare);
  } else {
    write_string(file, span->name);
  }
  fprintf(file, ",\"cat\":\"%s\",\"pid\":%d,\"tid\":%u", category, (int)row_of(span->device), lane);
  write_microseconds(file, "ts", microseconds(timeline, timeline->origin, time));
}

static void write_arguments(FILE *file, const atmi_span_t *span) {
  fputs(",\"args\":{", file);
  if (span->has_bytes)
    fprintf(file, "\"bytes\":%llu", (unsigned long long)span->bytes);
  if (span->teams)
    fprintf(file, "\"teams\":%u,\"threads\":%u", span->teams, span->threads);
  fputs("}}", file);
  fflush(file);
}

/* False if there is none, or it is finished; else it is locked. */
static bool lock(atmi_timeline_t *timeline) {
  if (!timeline)
    return false;
  pthread_mutex_lock(&timeline->lock);
  if (timeline->file)
    return true;
  pthread_mutex_unlock(&timeline->lock);
  return false;
}

/* Asynchronous events are told apart by category and number; readers draw one without an end up to the end of
 * everything. */
static const char outstanding[] = "outstanding";

uint64_t atmi_timeline_begin(atmi_timeline_t *timeline, const atmi_span_t *span) {
  if (!lock(timeline))
    return 0;
  uint64_t id = ++timeline->begun;
  write_head(timeline, 'b', outstanding, span, span->begin);
  fprintf(timeline->file, ",\"id\":%llu", (unsigned long long)id);
  write_arguments(timeline->file, span);
  pthread_mutex_unlock(&timeline->lock);
  return id;
}

void atmi_timeline_end(atmi_timeline_t *timeline, const atmi_span_t *span, uint64_t id) {
  if (!lock(timeline))
    return;
  write_head(timeline, 'e', outstanding, span, span->end);
  fprintf(timeline->file, ",\"id\":%llu}", (unsigned long long)id);
  fflush(timeline->file);
  pthread_mutex_unlock(&timeline->lock);
}

void atmi_timeline_add(atmi_timeline_t *timeline, const atmi_span_t *span) {
  if (!lock(timeline))
    return;
  write_head(timeline, 'X', span->category, span, span->begin);
  write_microseconds(timeline->file, "dur", microseconds(timeline, span->begin, span->end));
  write_arguments(timeline->file, span);
  pthread_mutex_unlock(&timeline->lock);
}

void atmi_timeline_name_device(atmi_timeline_t *timeline, int32_t device, const char *label) {
  if (!lock(timeline))
    return;
  write_name(timeline->file, "process_name", row_of(device), 0, label);
  fflush(timeline->file);
  pthread_mutex_unlock(&timeline->lock);
}

void atmi_timeline_forget(atmi_timeline_t *timeline) {
  if (timeline && timeline->file)
    __fpurge(timeline->file);
}

void atmi_timeline_finish(atmi_timeline_t *timeline) {
  if (!lock(timeline))
    return;
  fputs("]\n", timeline->file);
  bool failed = ferror(timeline->file);
  if (fclose(timeline->file) || failed)
    atmi_warn(NULL, "the timeline is not complete: it could not be written: %s", strerror(errno));
  timeline->file = NULL;
  pthread_mutex_unlock(&timeline->lock);
}

void atmi_timeline_close(atmi_timeline_t *timeline) {
  if (!timeline)
    return;
  atmi_timeline_finish(timeline);
  pthread_mutex_destroy(&timeline->lock);
  free(timeline);
}

/* ---- what host threads do ---- */

uint64_t atmi_timeline_now(void) {
  uint64_t now = 0;
  hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &now);
  return now;
}

static void add_host(atmi_timeline_t *timeline, uint64_t begin, atmi_span_t span) {
  if (!timeline)
    return;
  span.device = ATMI_TIMELINE_HOST;
  span.begin = begin;
  span.end = atmi_timeline_now();
  atmi_timeline_add(timeline, &span);
}

void atmi_timeline_host(atmi_timeline_t *timeline, const char *category, const char *name, uint64_t begin) {
  add_host(timeline, begin, (atmi_span_t){.name = name, .category = category});
}

void atmi_timeline_host_bytes(atmi_timeline_t *timeline, const char *category, const char *name,
                              uint64_t begin, uint64_t bytes) {
  add_host(timeline, begin,
           (atmi_span_t){.name = name, .category = category, .has_bytes = true, .bytes = bytes});
}
