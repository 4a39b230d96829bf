/* See findings.h. A text is made as a whole and written at once, so that those of several threads and the
 * program's own output do not mix within it. */
#include "check/findings.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "check/text.h"

/* So many places are told of in full; the summary lists as many, and counts the rest. */
enum { MOST_PRINTED = 100 };

/* One place in the program at which something is wrong with one block. */
struct gs_found {
  gs_found_t *next;
  gs_key_t key;
  uint64_t times;
  char title[2 * GS_FINDING_TEXT]; /* empty until it is told */
};

static void print(gs_findings_t *findings, const gs_text_t *text) {
  fwrite(text->bytes, 1, text->length, findings->out);
  fflush(findings->out);
}

int gs_findings_init(gs_findings_t *findings, const gs_options_t *options) {
  const char *log = options->check_log;
  *findings = (gs_findings_t){.out = stderr, .fail = options->check_fail, .tools = options->check};
  findings->last = &findings->first;
  const int file = *log ? open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
  FILE *out = file < 0 ? NULL : fdopen(file, "a");
  if (out)
    findings->out = out;
  else if (*log)
    gs_log("can't write the findings to %s: %s; they go to stderr", log, strerror(errno));
  return pthread_mutex_init(&findings->lock, NULL) ? -1 : 0;
}

void gs_findings_fini(gs_findings_t *findings) {
  while (findings->first) {
    gs_found_t *next = findings->first->next;
    free(findings->first);
    findings->first = next;
  }
  if (findings->out != stderr)
    fclose(findings->out);
  pthread_mutex_destroy(&findings->lock);
}

static bool are_same(const gs_key_t *a, const gs_key_t *b) {
  return a->rule == b->rule && a->pc[0] == b->pc[0] && a->pc[1] == b->pc[1] && a->object[0] == b->object[0] &&
         a->object[1] == b->object[1];
}

static gs_found_t *find(const gs_findings_t *findings, const gs_key_t *key) {
  gs_found_t *found = findings->first;
  while (found && !are_same(&found->key, key))
    found = found->next;
  return found;
}

static gs_found_t *add(gs_findings_t *findings, const gs_key_t *key) {
  gs_found_t *found = findings->places < MOST_PRINTED ? calloc(1, sizeof *found) : NULL;
  if (!found)
    return NULL;
  found->key = *key;
  *findings->last = found;
  findings->last = &found->next;
  findings->places++;
  return found;
}

gs_found_t *gs_findings_meet(gs_findings_t *findings, const gs_key_t *key, uint64_t times) {
  pthread_mutex_lock(&findings->lock);
  if (key->rule->severity == GS_SEVERITY_ERROR)
    findings->errors += times;
  else
    findings->warnings += times;
  gs_found_t *found = find(findings, key);
  gs_found_t *fresh = NULL;
  if (!found)
    found = fresh = add(findings, key);
  if (found)
    found->times += times;
  else
    findings->unlisted += times;
  pthread_mutex_unlock(&findings->lock);
  return fresh;
}

void gs_findings_tell(gs_findings_t *findings, gs_found_t *found, const gs_finding_t *finding) {
  char title[sizeof found->title];
  gs_text_t text = {.length = 0};
  gs_text_title(finding, title, sizeof title);
  gs_text_finding(&text, finding, title);
  pthread_mutex_lock(&findings->lock);
  memcpy(found->title, title, sizeof title);
  print(findings, &text);
  pthread_mutex_unlock(&findings->lock);
}

void gs_side_of_wave(gs_side_t *side, const gs_wave_t *w, unsigned lane) {
  side->actor = GS_ACTOR_WAVE;
  gs_place_of(w, lane, &side->place);
}

/* "bounds,race": the tools that looked. */
static void write_tools(uint32_t tools, char *text, size_t size) {
  *text = '\0';
  for (const gs_check_tool_t *tool = gs_check_tools; tool->name; tool++)
    if (tools & tool->bit) {
      const size_t length = strlen(text);
      snprintf(text + length, size - length, "%s%s", length ? "," : "", tool->name);
    }
}

uint64_t gs_findings_summary(gs_findings_t *findings) {
  gs_text_t text = {.length = 0};
  char tools[128], warnings[64] = "";
  write_tools(findings->tools, tools, sizeof tools);
  pthread_mutex_lock(&findings->lock);
  for (const gs_found_t *found = findings->first; found; found = found->next) {
    gs_text_line(&text, "%8" PRIu64 " x %s", found->times, found->title);
    if (text.length > GS_TEXT_BYTES / 2) {
      print(findings, &text);
      text.length = 0;
    }
  }
  if (findings->unlisted)
    gs_text_line(&text, "%8" PRIu64 " x at further places, which are not listed", findings->unlisted);
  if (findings->warnings)
    snprintf(warnings, sizeof warnings, ", %" PRIu64 " warnings", findings->warnings);
  gs_text_line(&text, "ERROR SUMMARY: %" PRIu64 " errors%s from %" PRIu32 " places (%s)", findings->errors,
               warnings, findings->places, tools);
  print(findings, &text);
  const uint64_t errors = findings->errors;
  pthread_mutex_unlock(&findings->lock);
  return errors;
}
