/* See suppress.h. */
#include "check/suppress.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/options.h"
#include "check/known.h"
#include "check/name.h"

enum { LINE_BYTES = 1024, MOST_CONDITIONS = 8, PATTERN_BYTES = 512 };

struct gs_suppression {
  gs_suppression_t *next;
  char name[PATTERN_BYTES], rule[PATTERN_BYTES];
  unsigned conditions;
  struct {
    unsigned subject;
    char pattern[PATTERN_BYTES];
  } condition[MOST_CONDITIONS];
};

/* ---- What can be asked of a finding ---- */

static bool fits(const char *pattern, const char *text) {
  return fnmatch(pattern, text, 0) == 0;
}

static bool fits_kernel(const char *pattern, const gs_finding_t *finding) {
  char kernel[GS_PLACE_TEXT];
  for (unsigned i = 0; i < 2; i++) {
    if (finding->side[i].actor != GS_ACTOR_WAVE)
      continue;
    gs_name_kernel(finding->side[i].place.kernel, kernel, sizeof kernel);
    if (fits(pattern, kernel))
      return true;
  }
  return false;
}

/* The pattern with the number of the line of the target region in place of the first "%line". */
static void put_line(const char *pattern, const gs_place_t *place, char *text, size_t size) {
  static const char mark[] = "%line", before[] = " at line ";
  char kernel[GS_PLACE_TEXT];
  const char *at = strstr(pattern, mark);
  gs_name_kernel(place->kernel, kernel, sizeof kernel);
  const char *line = strstr(kernel, before);
  if (at && line)
    snprintf(text, size, "%.*s%s%s", (int)(at - pattern), pattern, line + strlen(before), at + strlen(mark));
  else
    snprintf(text, size, "%s", pattern);
}

static bool fits_source(const char *pattern, const gs_finding_t *finding) {
  char text[PATTERN_BYTES + 16];
  for (unsigned i = 0; i < 2; i++) {
    const gs_place_t *place = &finding->side[i].place;
    if (finding->side[i].actor != GS_ACTOR_WAVE)
      continue;
    put_line(pattern, place, text, sizeof text);
    if (fits(text, place->source))
      return true;
  }
  return false;
}

/* What is asked of an access: the two of a race are different ones. */
static bool fits_at(const char *pattern, const gs_place_t *place) {
  char text[24];
  snprintf(text, sizeof text, "+0x%" PRIx64, place->pc - place->function);
  return place->function && fits(pattern, text);
}

static bool fits_item(const char *pattern, const gs_place_t *place) {
  char text[48];
  const uint32_t *item = place->item;
  snprintf(text, sizeof text, "(%" PRIu32 ", %" PRIu32 ", %" PRIu32 ")", item[0], item[1], item[2]);
  return fits(pattern, text);
}

static bool fits_instruction(const char *pattern, const gs_place_t *place) {
  return fits(pattern, place->instruction);
}

static bool fits_function(const char *pattern, const gs_place_t *place) {
  return place->function && fits(pattern, place->function_name);
}

static bool fits_near(const char *pattern, const gs_place_t *place) {
  return gs_place_near(place, fits, pattern);
}

static bool fits_part(const char *pattern, const gs_finding_t *finding) {
  for (unsigned i = 0; i < 2; i++)
    if (finding->side[i].actor == GS_ACTOR_WAVE && fits(pattern, finding->side[i].place.profile))
      return true;
  return false;
}

static bool fits_host(const char *pattern, const gs_finding_t *finding) {
  char place[512];
  for (unsigned i = 0; i < 2; i++)
    for (uint32_t frame = 0; frame < finding->side[i].stack.depth; frame++)
      if (gs_name_host_place(finding->side[i].stack.frame[frame], place, sizeof place) &&
          fits(pattern, place))
        return true;
  return false;
}

static bool fits_call(const char *pattern, const gs_finding_t *finding) {
  for (unsigned i = 0; i < 2; i++)
    if (finding->side[i].call && fits(pattern, finding->side[i].call))
      return true;
  return false;
}

static bool fits_variable(const char *pattern, const gs_finding_t *finding) {
  return finding->about_block && fits(pattern, finding->block.name);
}

static bool fits_text(const char *pattern, const gs_finding_t *finding) {
  for (unsigned i = 0; i < GS_FINDING_DETAILS; i++)
    if (*finding->detail[i] && fits(pattern, finding->detail[i]))
      return true;
  return fits(pattern, finding->title);
}

/* Either function. */
static const struct {
  const char *name;
  bool (*fits)(const char *pattern, const gs_finding_t *finding);
  bool (*fits_access)(const char *pattern, const gs_place_t *place);
} subjects[] = {{"kernel:", fits_kernel, NULL},
                {"source:", fits_source, NULL},
                {"at:", NULL, fits_at},
                {"item:", NULL, fits_item},
                {"instruction:", NULL, fits_instruction},
                {"function:", NULL, fits_function},
                {"near:", NULL, fits_near},
                {"part:", fits_part, NULL},
                {"host:", fits_host, NULL},
                {"call:", fits_call, NULL},
                {"variable:", fits_variable, NULL},
                {"text:", fits_text, NULL}};
enum { SUBJECTS = sizeof subjects / sizeof *subjects };

/* Whether one access is all that is asked of accesses. */
static bool fits_one_access(const gs_suppression_t *s, const gs_finding_t *finding) {
  bool is_asked = false, found = false;
  for (unsigned side = 0; side < 2; side++) {
    bool all = finding->side[side].actor == GS_ACTOR_WAVE;
    for (unsigned i = 0; i < s->conditions; i++) {
      bool (*const fits_access)(const char *, const gs_place_t *) =
          subjects[s->condition[i].subject].fits_access;
      is_asked |= fits_access != NULL;
      all = all && (!fits_access || fits_access(s->condition[i].pattern, &finding->side[side].place));
    }
    found |= all;
  }
  return found || !is_asked;
}

const char *gs_suppressions_match(const gs_suppression_t *list, const gs_rule_t *rule,
                                  const gs_finding_t *finding) {
  char id[PATTERN_BYTES];
  snprintf(id, sizeof id, "%s:%s", rule->tool, rule->id);
  for (; list; list = list->next) {
    bool all = fits(list->rule, id) && fits_one_access(list, finding);
    for (unsigned i = 0; all && i < list->conditions; i++) {
      bool (*const asks)(const char *, const gs_finding_t *) = subjects[list->condition[i].subject].fits;
      all = !asks || asks(list->condition[i].pattern, finding);
    }
    if (all)
      return list->name;
  }
  return NULL;
}

/* ---- The file ---- */

typedef struct reader {
  FILE *file;
  const char *path;
  unsigned line;
  uint32_t tools; /* of the run */
  char text[LINE_BYTES];
} reader_t;

/* The next line that says something, without the blanks around it; NULL at the end. */
static char *next_line(reader_t *reader) {
  static const char blanks[] = " \t\r\n";
  while (fgets(reader->text, sizeof reader->text, reader->file)) {
    reader->line++;
    char *text = reader->text + strspn(reader->text, blanks);
    size_t length = strlen(text);
    while (length && strchr(blanks, text[length - 1]))
      text[--length] = '\0';
    if (*text && *text != '#')
      return text;
  }
  return NULL;
}

static bool add_condition(gs_suppression_t *suppression, const char *text) {
  unsigned subject = 0;
  while (subject < SUBJECTS && strncmp(text, subjects[subject].name, strlen(subjects[subject].name)) != 0)
    subject++;
  if (subject == SUBJECTS || suppression->conditions == MOST_CONDITIONS)
    return false;
  const unsigned i = suppression->conditions++;
  suppression->condition[i].subject = subject;
  snprintf(suppression->condition[i].pattern, PATTERN_BYTES, "%s", text + strlen(subjects[subject].name));
  return true;
}

/* Whether the line is about the run's tools. */
static bool read_tools(const reader_t *reader, const char *text, bool *fits_run) {
  static const char subject[] = "tools:";
  char tools[128];
  if (strncmp(text, subject, strlen(subject)) != 0)
    return false;
  gs_check_tools_text(reader->tools, tools, sizeof tools);
  const char *pattern = text + strlen(subject);
  *fits_run &= fits(pattern, tools) || (gs_check_tools_are_all(reader->tools) && fits(pattern, "all"));
  return true;
}

/* What stands between { and }. False if it is not for this run, or after a message; then the rest of it was
 * skipped. */
static bool read_one(reader_t *reader, gs_suppression_t *suppression) {
  const char *text;
  unsigned lines = 0;
  bool good = true, fits_run = true;
  const unsigned begin = reader->line;
  while ((text = next_line(reader)) && strcmp(text, "}") != 0) {
    if (lines == 0) {
      snprintf(suppression->name, PATTERN_BYTES, "%s", text);
    } else if (lines == 1) {
      snprintf(suppression->rule, PATTERN_BYTES, "%s", text);
    } else if (good && !read_tools(reader, text, &fits_run) && !add_condition(suppression, text)) {
      gs_log("%s:%u: \"%s\" is nothing that a finding has: kernel:, source:, at:, item:, instruction:, "
             "function:, near:, part:, host:, call:, variable:, text: or tools:, "
             "followed by a pattern, at most %d; the suppression is left out",
             reader->path, reader->line, text, MOST_CONDITIONS);
      good = false;
    }
    lines++;
  }
  if (good && (!text || lines < 2 || !strchr(suppression->rule, ':'))) {
    gs_log("%s:%u: a suppression is \"{\", a name, TOOL:RULE, and \"}\"; it is left out", reader->path,
           begin);
    return false;
  }
  return good && fits_run;
}

/* Adds those of an open file, which it closes, to the list that ends at `last`. Returns its new end. */
static gs_suppression_t **read_all(reader_t *reader, gs_suppression_t **last) {
  for (const char *text; (text = next_line(reader));) {
    if (strcmp(text, "{") != 0) {
      gs_log("%s:%u: \"%s\" is not the beginning of a suppression, which is \"{\"", reader->path,
             reader->line, text);
      continue;
    }
    gs_suppression_t *suppression = calloc(1, sizeof *suppression);
    if (!suppression)
      break;
    if (read_one(reader, suppression)) {
      *last = suppression;
      last = &suppression->next;
    } else {
      free(suppression);
    }
  }
  fclose(reader->file);
  return last;
}

gs_suppression_t *gs_suppressions_read(const char *path, bool with_known, uint32_t tools) {
  gs_suppression_t *first = NULL, **last = &first;
  reader_t reader = {.file = path ? fopen(path, "re") : NULL, .path = path, .tools = tools};
  if (reader.file)
    last = read_all(&reader, last);
  else if (path)
    gs_log("can't read the suppressions in %s: %s", path, strerror(errno));
  reader_t known = {.path = "openmp.supp", .tools = tools};
  if (with_known)
    known.file = fmemopen((void *)(uintptr_t)gs_known_suppressions, gs_known_suppressions_bytes, "r");
  if (known.file)
    (void)read_all(&known, last);
  else if (with_known)
    gs_log("no memory for what is known of device runtimes: it is told of, too");
  return first;
}

void gs_suppressions_free(gs_suppression_t *list) {
  while (list) {
    gs_suppression_t *next = list->next;
    free(list);
    list = next;
  }
}

/* ---- Making one ---- */

/* What patterns would take for more than itself gets a backslash. */
static void add_literal(gs_text_t *text, const char *subject, const char *value) {
  char literal[2 * PATTERN_BYTES];
  size_t length = 0;
  for (; *value && length + 2 < sizeof literal; value++) {
    if (strchr("*?[\\", *value))
      literal[length++] = '\\';
    literal[length++] = *value;
  }
  literal[length] = '\0';
  gs_text_plain(text, "   %s%s", subject, literal);
}

void gs_suppressions_generate(gs_text_t *text, const gs_rule_t *rule, const gs_finding_t *finding) {
  gs_text_plain(text, "{");
  gs_text_plain(text, "   give it a name: why is this no error of the program?");
  gs_text_plain(text, "   %s:%s", rule->tool, rule->id);
  const gs_side_t *side = &finding->side[0];
  char kernel[GS_PLACE_TEXT];
  if (side->actor == GS_ACTOR_WAVE) {
    gs_name_kernel(side->place.kernel, kernel, sizeof kernel);
    add_literal(text, "kernel:", kernel);
    if (*side->place.source)
      add_literal(text, "source:", side->place.source);
  }
  if (side->call)
    add_literal(text, "call:", side->call);
  if (finding->about_block && *finding->block.name)
    add_literal(text, "variable:", finding->block.name);
  gs_text_plain(text, "}");
}
