/* Findings of lint, in words. */
#include "lint_report.h"

#include "message.h"

#include "base/text.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OBJECT_BYTES = 400, BLOCK_BYTES = 2400, MOST_IN_SUMMARY = 20 };

/* ---- kinds ---- */

/* `warning` gets the object in the place of %s; `note` the other place, NULL if there is none. */
static const struct {
  const char *tag, *warning, *note, *hint, *heading;
} kinds[TGT_FINDINGS] = {
    [TGT_FOUND_FREED_MAPPED] =
        {"freed-mapped", "the host memory of %s is freed while it is mapped", "it was mapped here",
         "end its mapping first (`target exit data`); the device's copy stays, and the next data at this "
         "address is taken for it",
         "host memory freed while it was mapped"},
    [TGT_FOUND_POINTER] =
        {"pointer-unmapped", "%s goes to the device, but nothing is mapped where it points", NULL,
         "map what it points to (`map(tofrom: p[:n])`), or say is_device_ptr if it is the device's",
         "pointers to what is not mapped"},
    [TGT_FOUND_UPDATE] = {"update-unmapped", "%s is updated, but not mapped: nothing is copied",
                          "its mapping ended here",
                          "map it before, leave the update out, or make it an error (`present:`)",
                          "updates of what is not mapped"},
    [TGT_FOUND_EXIT] = {"exit-unmapped", "the mapping of %s ends, but it is not mapped: nothing happens",
                        "its mapping ended here already",
                        "leave it out, or map it before (`target enter data`)", "ends of what is not mapped"},
    [TGT_FOUND_NEVER_FREED] = {"never-freed", "%s is never freed", NULL,
                               "omp_target_free it on the device that it was allocated on",
                               "device memory that was never freed"},
    [TGT_FOUND_SAME_ON_DEVICE] =
        {"same-on-device", "%s is copied to the device, which has these bytes already", "it was mapped here",
         "leave the copy out (the update, or `always`) where the host has not changed the data",
         "copies to the device of what it had"},
    [TGT_FOUND_SAME_ON_HOST] =
        {"same-on-host", "%s is copied back to the host, which has these bytes already", "it was mapped here",
         "the device has not changed it: map(to:) does without the copy, as does no update",
         "copies to the host of what it had"},
    [TGT_FOUND_MAPPED_AGAIN] =
        {"mapped-again", "%s is mapped and copied again, though nobody has changed it since it was unmapped",
         "it was unmapped here last",
         "keep it on the device: `target data` around these constructs, `target update` for what does change",
         "data that was unmapped, and mapped again as it was"},
};

/* ---- texts that stay ---- */

static struct {
  void *texts;    /* of tsearch */
  void *findings; /* likewise; records below */
  uint32_t count;
  uint64_t copies, bytes; /* all of the program */
  double seconds;
} reports;

static int compare_texts(const void *a, const void *b) {
  return strcmp(a, b);
}

const char *tgt_lint_keep(const char *text) {
  if (!text)
    return NULL;
  const char **found = tfind(text, &reports.texts, compare_texts);
  if (found)
    return *found;
  char *copy = strdup(text);
  if (copy && !tsearch(copy, &reports.texts, compare_texts)) {
    free(copy);
    return NULL;
  }
  return copy;
}

void tgt_lint_write_place(const tgt_ident_t *where, const void *code, tgt_lint_place_t *written) {
  char *text = written->text;
  tgt_place_t place;
  Dl_info info;
  if (tgt_place_of_ident(where, &place)) {
    snprintf(text, sizeof written->text, "%.*s:%ld:%ld", place.file_length, place.file, place.line,
             place.column);
  } else if (code && dladdr(code, &info) && info.dli_fname) {
    const char *slash = strrchr(info.dli_fname, '/');
    snprintf(text, sizeof written->text, "%s+0x%" PRIxPTR, slash ? slash + 1 : info.dli_fname,
             (uintptr_t)code - (uintptr_t)info.dli_fbase - 1); /* in the call, not behind it */
  } else {
    snprintf(text, sizeof written->text, "unknown place");
  }
}

/* ---- findings ---- */

typedef struct record {
  tgt_finding_t finding; /* `copied`, `copies` and `seconds` are sums */
  uint32_t times;
} record_t;

static int compare_records(const void *a, const void *b) {
  const tgt_finding_t *one = &((const record_t *)a)->finding, *other = &((const record_t *)b)->finding;
  /* Texts that stay are the same if they are equal. */
  const uintptr_t keys[][2] = {{one->kind, other->kind},
                               {(uintptr_t)one->place, (uintptr_t)other->place},
                               {(uintptr_t)one->name, (uintptr_t)other->name},
                               {(uintptr_t)one->device, (uintptr_t)other->device}};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (keys[i][0] != keys[i][1])
      return keys[i][0] < keys[i][1] ? -1 : 1;
  return 0;
}

/* "a[0:n] (4096 bytes)", what is freed is called by its size. */
static const char *object_of(const tgt_finding_t *finding, char text[OBJECT_BYTES]) {
  tgt_place_t variable;
  bool is_known = tgt_place_of_map(finding->name, &variable) || finding->name;
  unsigned long long bytes = finding->bytes;
  if (finding->kind == TGT_FOUND_NEVER_FREED)
    snprintf(text, OBJECT_BYTES, "device memory of %llu bytes that is allocated here", bytes);
  else if (finding->kind == TGT_FOUND_POINTER)
    snprintf(text, OBJECT_BYTES, "%s %.*s (0x%" PRIxPTR ")", is_known ? "pointer" : "a pointer",
             is_known ? variable.name_length : 0, variable.name, finding->host);
  else if (is_known)
    snprintf(text, OBJECT_BYTES, "%.*s (%llu bytes)", variable.name_length, variable.name, bytes);
  else
    snprintf(text, OBJECT_BYTES, "data of %llu bytes at 0x%" PRIxPTR, bytes, finding->host);
  return text;
}

/* In one piece, whatever other threads print. */
static void print_block(const tgt_finding_t *finding) {
  char block[BLOCK_BYTES], clean[BLOCK_BYTES], object[OBJECT_BYTES], warning[BLOCK_BYTES / 2];
  atmi_text_t text = {block, sizeof block, 0};
  const char *pattern = kinds[finding->kind].warning, *at = strstr(pattern, "%s");
  tgt_place_t item;
  snprintf(warning, sizeof warning, "%.*s%s%s", (int)(at - pattern), pattern, object_of(finding, object),
           at + 2);
  atmi_text_clean(warning, clean, sizeof clean);
  atmi_text_add(&text, "%s: warning: %s [%s]\n", finding->place, clean, kinds[finding->kind].tag);
  if (tgt_place_of_map(finding->name, &item))
    atmi_text_add(&text, "%.*s:%ld:%ld: note: the variable or list item; device %u\n", item.file_length,
                  item.file, item.line, item.column, finding->device->number);
  if (finding->other && kinds[finding->kind].note)
    atmi_text_add(&text, "%s: note: %s\n", finding->other, kinds[finding->kind].note);
  atmi_text_add(&text, "  hint: %s\n", kinds[finding->kind].hint);
  fputs(block, stderr);
}

void tgt_lint_report(const tgt_finding_t *finding) {
  const record_t key = {.finding = *finding};
  record_t **found = tfind(&key, &reports.findings, compare_records), *record;
  if (found) {
    record = *found;
    record->finding.copied += finding->copied;
    record->finding.copies += finding->copies;
    record->finding.seconds += finding->seconds;
    record->times++;
    return;
  }
  print_block(finding);
  record = malloc(sizeof *record);
  if (!record)
    return;
  *record = (record_t){*finding, 1};
  if (tsearch(record, &reports.findings, compare_records))
    reports.count++;
  else
    free(record);
}

void tgt_lint_count_copy(uint64_t bytes, double seconds) {
  reports.copies++;
  reports.bytes += bytes;
  reports.seconds += seconds;
}

/* ---- the summary ---- */

typedef struct ranking {
  const record_t **records;
  uint32_t count;
} ranking_t;

/* What is wrong first; then copies by their bytes. */
static int compare_ranks(const void *a, const void *b) {
  const record_t *one = *(const record_t *const *)a, *other = *(const record_t *const *)b;
  bool is_copy = one->finding.copies, is_other_copy = other->finding.copies;
  if (is_copy != is_other_copy)
    return is_copy ? 1 : -1;
  if (!is_copy && one->finding.kind != other->finding.kind)
    return one->finding.kind < other->finding.kind ? -1 : 1;
  if (one->finding.copied != other->finding.copied)
    return one->finding.copied > other->finding.copied ? -1 : 1;
  if (one->times != other->times)
    return one->times > other->times ? -1 : 1;
  int order = strcmp(one->finding.place, other->finding.place);
  if (order || !one->finding.name || !other->finding.name)
    return order;
  return strcmp(one->finding.name, other->finding.name);
}

static double percent(double part, double all) {
  return all > 0 ? 100 * part / all : 0;
}

static void add_one(const void *node, VISIT visit, void *context) {
  ranking_t *ranking = context;
  if (visit == preorder || visit == leaf)
    ranking->records[ranking->count++] = *(const record_t *const *)node;
}

static void print_line(const record_t *record) {
  const tgt_finding_t *finding = &record->finding;
  char object[OBJECT_BYTES], clean[OBJECT_BYTES];
  atmi_text_clean(object_of(finding, object), clean, sizeof clean);
  if (finding->copies)
    fprintf(stderr, "  %5.1f %% of bytes, %5.1f %% of time: %s: %s, %u %s, %llu bytes, %.3f ms [%s]\n",
            percent((double)finding->copied, (double)reports.bytes),
            percent(finding->seconds, reports.seconds), finding->place, clean, finding->copies,
            finding->copies == 1 ? "copy" : "copies", (unsigned long long)finding->copied,
            1e3 * finding->seconds, kinds[finding->kind].tag);
  else
    fprintf(stderr, "  %s: %s: %u %s [%s]\n", finding->place, clean, record->times,
            record->times == 1 ? "time" : "times", kinds[finding->kind].tag);
}

static void print_all(const ranking_t *ranking) {
  uint64_t bytes = 0, copies = 0;
  double seconds = 0;
  for (uint32_t i = 0; i < ranking->count; i++) {
    bytes += ranking->records[i]->finding.copied;
    copies += ranking->records[i]->finding.copies;
    seconds += ranking->records[i]->finding.seconds;
  }
  fprintf(stderr, "lint: %u %s", ranking->count, ranking->count == 1 ? "finding" : "findings");
  fprintf(stderr, "; %llu of %llu copies, %llu of %llu bytes, %.3f of %.3f ms were needless\n",
          (unsigned long long)copies, (unsigned long long)reports.copies, (unsigned long long)bytes,
          (unsigned long long)reports.bytes, 1e3 * seconds, 1e3 * reports.seconds);
  for (uint32_t i = 0; i < ranking->count && i < MOST_IN_SUMMARY; i++)
    print_line(ranking->records[i]);
  if (ranking->count > MOST_IN_SUMMARY)
    fprintf(stderr, "  and %u more, above\n", ranking->count - MOST_IN_SUMMARY);
}

void tgt_lint_summarize(void) {
  ranking_t ranking = {.records = malloc((reports.count + 1) * sizeof *ranking.records)};
  if (!ranking.records)
    return;
  twalk_r(reports.findings, add_one, &ranking);
  qsort(ranking.records, ranking.count, sizeof *ranking.records, compare_ranks);
  flockfile(stderr);
  print_all(&ranking);
  funlockfile(stderr);
  free(ranking.records);
}
