/* See findings.h. A text is made as a whole and written at once, so that those of several threads and the
 * program's own output do not mix within it. */
#include "check/findings.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "check/name.h"
#include "check/sarif.h"
#include "check/suppress.h"
#include "check/text.h"

/* So many places are known; others are counted. */
enum { MOST_PLACES = 1000 };

/* One place in the program at which something is wrong with one block. */
struct gs_found {
  gs_found_t *next;
  gs_key_t key;
  uint64_t times;
  gs_found_t *as;                  /* another one says all of it and counts for it, or NULL */
  uint64_t says;                   /* a hash of what it says of source lines, or 0 */
  char title[2 * GS_FINDING_TEXT]; /* empty until it is told */
  const char *suppressed;          /* by which one, or NULL */
  bool has_result;
  gs_sarif_result_t result; /* its texts are the place's own, and freed with it */
};

static void print(gs_findings_t *findings, const gs_text_t *text) {
  fwrite(text->bytes, 1, text->length, findings->out);
  fflush(findings->out);
}

/* Lock held. */
static void print_limit(gs_findings_t *findings) {
  gs_text_t text = {.length = 0};
  gs_text_line(&text, "%" PRIu32 " findings were told; more are listed in the summary only (--check-most)",
               findings->most);
  gs_text_line(&text, "%s", "");
  print(findings, &text);
}

int gs_findings_init(gs_findings_t *findings, const gs_options_t *options) {
  const char *log = options->check_log;
  *findings = (gs_findings_t){.out = stderr,
                              .fail = options->check_fail,
                              .generate = options->check_generate,
                              .tools = options->check,
                              .most = options->check_most};
  memcpy(findings->sarif, options->check_sarif, sizeof findings->sarif);
  findings->suppressions =
      gs_suppressions_read(*options->check_suppressions ? options->check_suppressions : NULL,
                           !options->check_runtimes, options->check);
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
    free((void *)(uintptr_t)findings->first->result.message);
    free((void *)(uintptr_t)findings->first->result.kernel);
    free(findings->first);
    findings->first = next;
  }
  gs_suppressions_free(findings->suppressions);
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
  gs_found_t *found = findings->places < MOST_PLACES ? calloc(1, sizeof *found) : NULL;
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
  gs_found_t *found = find(findings, key);
  gs_found_t *fresh = NULL;
  if (!found)
    found = fresh = add(findings, key);
  if (!times && fresh) /* something that is repeated has found it only now */
    times = 1;
  if (found)
    (found->as ? found->as : found)->times += times;
  else
    findings->unlisted[key->rule->severity] += times;
  pthread_mutex_unlock(&findings->lock);
  return fresh;
}

/* ---- SARIF ---- */

typedef struct cursor {
  const gs_findings_t *findings;
  gs_found_t *at;
} cursor_t;

static const gs_sarif_result_t *next_result(void *context, bool first) {
  cursor_t *cursor = context;
  cursor->at = first ? cursor->findings->first : cursor->at->next;
  while (cursor->at && !cursor->at->has_result)
    cursor->at = cursor->at->next;
  if (cursor->at)
    cursor->at->result.times = cursor->at->times;
  return cursor->at ? &cursor->at->result : NULL;
}

/* Anew with each finding: programs may end at any time. One that found nothing leaves what others of the run
 * have written. Lock held. */
static void write_sarif(gs_findings_t *findings) {
  cursor_t cursor = {.findings = findings};
  if (!*findings->sarif)
    return;
  const int file =
      open(findings->sarif, O_WRONLY | O_CREAT | O_CLOEXEC | (findings->first ? O_TRUNC : O_EXCL), 0666);
  if (file < 0 && errno == EEXIST)
    return;
  FILE *out = file < 0 ? NULL : fdopen(file, "w");
  const bool good = out && gs_sarif_write(out, next_result, &cursor);
  if ((out && fclose(out)) || !good) {
    gs_log("can't write the findings to %s: %s", findings->sarif, strerror(errno));
    findings->sarif[0] = '\0';
  }
}

static void place_of_side(const gs_side_t *side, gs_source_place_t *place) {
  char text[512];
  if (side->actor == GS_ACTOR_WAVE)
    gs_source_place_parse(side->place.source, place);
  for (uint32_t i = 0; side->actor == GS_ACTOR_HOST && i < side->stack.depth && !*place->file; i++)
    if (gs_name_host_place(side->stack.frame[i], text, sizeof text))
      gs_source_place_parse(text, place);
}

/* What the file says of it. Without memory for that, nothing. Lock held. */
static void keep_result(gs_found_t *found, const gs_finding_t *finding, const char *title) {
  gs_sarif_result_t *result = &found->result;
  gs_text_t text = {.plain = true};
  char kernel[GS_PLACE_TEXT];
  gs_text_finding(&text, finding, title);
  text.bytes[text.length - 2] = '\0'; /* the last line is empty */
  result->rule = found->key.rule;
  result->suppressed = found->suppressed;
  for (unsigned i = 0; i < 2; i++)
    place_of_side(&finding->side[i], &result->at[i]);
  if (finding->about_block && *finding->block.file) {
    snprintf(result->at[2].file, sizeof result->at[2].file, "%s", finding->block.file);
    result->at[2].line = finding->block.line;
  }
  if (finding->side[0].actor == GS_ACTOR_WAVE) {
    gs_name_kernel(finding->side[0].place.kernel, kernel, sizeof kernel);
    result->kernel = strdup(kernel);
  }
  result->message = strdup(text.bytes);
  found->has_result = result->message != NULL;
}

/* ---- Telling ---- */

/* Compilers make many instructions of one line, as of a loop that they unroll. */
static uint64_t hash_of_lines(const gs_finding_t *finding, const char *title) {
  const gs_side_t *sides = finding->side;
  if (!finding->by_line || sides[0].actor != GS_ACTOR_WAVE || !*sides[0].place.source)
    return 0;
  uint64_t hash =
      gs_text_hash(GS_TEXT_HASH ^ (finding->about_block ? gs_block_identity(&finding->block) : 0), title);
  hash = gs_text_hash(hash, sides[1].what);
  return gs_text_hash(hash, sides[1].actor == GS_ACTOR_WAVE ? sides[1].place.source : "");
}

/* One that says the same, and is told, or suppressed, likewise. Lock held. */
static gs_found_t *find_alike(const gs_findings_t *findings, const gs_found_t *found) {
  gs_found_t *other = found->says ? findings->first : NULL;
  while (other && (other == found || other->as || other->says != found->says ||
                   other->key.rule != found->key.rule || other->suppressed != found->suppressed))
    other = other->next;
  return other;
}

/* Lock held. */
static void count_as(gs_found_t *found, gs_found_t *other) {
  found->as = other;
  other->times += found->times;
  found->times = 0;
}

/* Lock held. */
static void tell(gs_findings_t *findings, gs_found_t *found, const gs_finding_t *finding,
                 const gs_text_t *text) {
  if (!found->suppressed && findings->printed < findings->most) {
    findings->printed++;
    print(findings, text);
    if (findings->printed == findings->most)
      print_limit(findings);
  }
  if (*findings->sarif) {
    keep_result(found, finding, found->title);
    write_sarif(findings);
  }
}

void gs_findings_tell(gs_findings_t *findings, gs_found_t *found, const gs_finding_t *finding) {
  char title[sizeof found->title];
  gs_text_t text = {.length = 0};
  const char *suppressed = gs_suppressions_match(findings->suppressions, found->key.rule, finding);
  gs_text_title(finding, title, sizeof title);
  gs_text_finding(&text, finding, title);
  if (findings->generate)
    gs_suppressions_generate(&text, found->key.rule, finding);
  pthread_mutex_lock(&findings->lock);
  memcpy(found->title, title, sizeof title);
  found->suppressed = suppressed;
  found->says = hash_of_lines(finding, title);
  gs_found_t *alike = find_alike(findings, found);
  if (alike)
    count_as(found, alike);
  else
    tell(findings, found, finding, &text);
  pthread_mutex_unlock(&findings->lock);
}

void gs_findings_print(gs_findings_t *findings, const char *text, size_t length) {
  pthread_mutex_lock(&findings->lock);
  fwrite(text, 1, length, findings->out);
  fflush(findings->out);
  pthread_mutex_unlock(&findings->lock);
}

void gs_side_of_wave(gs_side_t *side, const gs_wave_t *w, unsigned lane) {
  side->actor = GS_ACTOR_WAVE;
  gs_place_of(w, lane, &side->place);
}

/* What the summary counts. */
typedef struct counts {
  uint64_t errors, warnings, suppressed;
  uint32_t places, suppressed_places;
} counts_t;

static counts_t count(const gs_findings_t *findings) {
  counts_t counts = {.errors = findings->unlisted[GS_SEVERITY_ERROR],
                     .warnings = findings->unlisted[GS_SEVERITY_WARNING]};
  for (const gs_found_t *found = findings->first; found; found = found->next) {
    if (found->as)
      continue;
    if (found->suppressed) {
      counts.suppressed += found->times;
      counts.suppressed_places++;
      continue;
    }
    counts.places++;
    if (found->key.rule->severity == GS_SEVERITY_ERROR)
      counts.errors += found->times;
    else
      counts.warnings += found->times;
  }
  return counts;
}

/* How often the suppression of `found` was of use, if that is the first of those it was of use for; else 0.
 */
static uint64_t times_of_use(const gs_findings_t *findings, const gs_found_t *found) {
  uint64_t times = 0;
  for (const gs_found_t *other = findings->first; other; other = other->next) {
    if (!other->suppressed || strcmp(other->suppressed, found->suppressed) != 0)
      continue;
    if (!times && other != found)
      return 0;
    times += other->times;
  }
  return times;
}

/* One line each, of those that are not suppressed, or of the suppressions. */
static void list(gs_findings_t *findings, bool suppressed) {
  gs_text_t text = {.length = 0};
  for (const gs_found_t *found = findings->first; found; found = found->next) {
    if (found->as || suppressed != (found->suppressed != NULL))
      continue;
    const uint64_t uses = suppressed ? times_of_use(findings, found) : 0;
    if (uses)
      gs_text_line(&text, "%8" PRIu64 " x suppressed by \"%s\"", uses, found->suppressed);
    else if (!suppressed)
      gs_text_line(&text, "%8" PRIu64 " x %s", found->times, found->title);
    if (text.length > GS_TEXT_BYTES / 2) {
      print(findings, &text);
      text.length = 0;
    }
  }
  print(findings, &text);
}

uint64_t gs_findings_summary(gs_findings_t *findings) {
  gs_text_t text = {.length = 0};
  char tools[128], warnings[64] = "", suppressed[96] = "";
  gs_check_tools_text(findings->tools, tools, sizeof tools);
  pthread_mutex_lock(&findings->lock);
  const counts_t counts = count(findings);
  const uint64_t unlisted = findings->unlisted[0] + findings->unlisted[1];
  list(findings, false);
  if (unlisted)
    gs_text_line(&text, "%8" PRIu64 " x at further places, which are not listed", unlisted);
  print(findings, &text);
  text.length = 0;
  list(findings, true);
  if (counts.warnings)
    snprintf(warnings, sizeof warnings, ", %" PRIu64 " warnings", counts.warnings);
  if (counts.suppressed_places)
    snprintf(suppressed, sizeof suppressed, "; suppressed: %" PRIu64 " from %" PRIu32 " places",
             counts.suppressed, counts.suppressed_places);
  gs_text_line(&text, "ERROR SUMMARY: %" PRIu64 " errors%s from %" PRIu32 " places (%s)%s", counts.errors,
               warnings, counts.places, tools, suppressed);
  print(findings, &text);
  write_sarif(findings);
  pthread_mutex_unlock(&findings->lock);
  return counts.errors;
}
