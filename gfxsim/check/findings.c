/* See findings.h. A text is made as a whole and written at once, so that those of several threads and the
 * program's own output do not mix within it. */
#include "check/findings.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "check/name.h"

/* So many places are told of in full; the summary lists as many, and counts the rest. */
enum { MOST_PRINTED = 100, TEXT_BYTES = 8192 };

typedef struct text {
  char bytes[TEXT_BYTES];
  size_t length;
} text_t;

/* Adds a line, which begins with the process as valgrind's do. Cut at the end of the room. */
static __attribute__((format(printf, 2, 3))) void line(text_t *text, const char *format, ...) {
  char *at = text->bytes + text->length;
  const size_t room = sizeof text->bytes - text->length;
  const int head = snprintf(at, room, "==%ld== ", (long)getpid());
  if (head < 0 || (size_t)head + 2 >= room)
    return;
  va_list arguments;
  va_start(arguments, format);
  const int body = vsnprintf(at + head, room - (size_t)head - 1, format, arguments);
  va_end(arguments);
  size_t length = (size_t)head + (body < 0 ? 0 : (size_t)body);
  if (length > room - 2)
    length = room - 2;
  at[length++] = '\n';
  text->length += length;
}

static void print(gs_findings_t *findings, const text_t *text) {
  fwrite(text->bytes, 1, text->length, findings->out);
  fflush(findings->out);
}

int gs_findings_init(gs_findings_t *findings, const char *log, bool fail) {
  *findings = (gs_findings_t){.out = stderr, .fail = fail};
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

/* ---- Text ---- */

static const char *action_of(uint32_t rights) {
  if (rights == (GS_VM_READ | GS_VM_WRITE))
    return "atomic access to";
  return rights & GS_VM_WRITE ? "write of" : "read of";
}

static void write_title(const gs_finding_t *finding, const gs_place_t *place, char *title, size_t size) {
  char kernel[GS_PLACE_TEXT];
  gs_name_kernel(place->kernel, kernel, sizeof kernel);
  snprintf(title, size, "Invalid %s %" PRIu32 " bytes in %s%s%s%s",
           action_of(place->rights ? place->rights : finding->rights), finding->bytes, kernel,
           *place->source ? " (" : "", place->source, *place->source ? ")" : "");
}

static void write_place(text_t *text, const gs_finding_t *finding, const gs_place_t *place) {
  if (*place->source)
    line(text, "   at %s: %s", place->source, place->instruction);
  else
    line(text, "   at %s+0x%" PRIx64 ": %s (compile with -g for the source line)", place->function_name,
         place->function ? place->pc - place->function : 0, place->instruction);
  char more[64] = "";
  if (finding->lanes > 1)
    snprintf(more, sizeof more, ", and %" PRIu32 " more of its wave", finding->lanes - 1);
  line(text,
       "   by work-item (%" PRIu32 ", %" PRIu32 ", %" PRIu32 ") of workgroup (%" PRIu32 ", %" PRIu32
       ", %" PRIu32 ")%s; GPU %" PRIu32 " (%s)",
       place->item[0], place->item[1], place->item[2], place->group[0], place->group[1], place->group[2],
       more, place->gpu, place->profile);
}

static void write_stack(text_t *text, const char *what, const gfxsim_stack_t *stack) {
  char place[512];
  bool any = false;
  for (uint32_t i = 0; i < stack->depth; i++) {
    if (!gs_name_host_place(stack->frame[i], place, sizeof place))
      continue;
    line(text, "   %s %s", any ? "       by" : what, place);
    any = true;
  }
}

/* "0 bytes behind the end of", or where in it. */
static void write_distance(const gs_finding_t *finding, char *text, size_t size) {
  const gs_block_note_t *block = &finding->block;
  const uint64_t at = finding->address;
  if (at >= block->end)
    snprintf(text, size, "%" PRIu64 " bytes behind the end of", at - block->end);
  else if (at + finding->bytes > block->end && at >= block->start)
    snprintf(text, size, "%" PRIu64 " bytes before the end of", block->end - at);
  else if (at < block->start)
    snprintf(text, size, "%" PRIu64 " bytes before", block->start - at);
  else
    snprintf(text, size, "%" PRIu64 " bytes into", at - block->start);
}

static void write_block(text_t *text, const gs_finding_t *finding) {
  const gs_block_note_t *block = &finding->block;
  char distance[64], name[GS_BLOCK_NAME + 16] = "";
  if (!block->id) {
    line(text, " Address 0x%" PRIx64 " is no memory, and no block is near it", finding->address);
    return;
  }
  write_distance(finding, distance, sizeof distance);
  if (*block->name)
    snprintf(name, sizeof name, "`%s`, ", block->name);
  line(text, " Address 0x%" PRIx64 " is %s %sa block of %" PRIu64 " bytes%s%s", finding->address, distance,
       name, block->end - block->start, block->freed ? " that was freed" : "",
       finding->kind == GS_FINDING_NOTHING ? ", where nothing is mapped" : "");
  if (*block->file)
    line(text, "   the variable at %s:%" PRIu32, block->file, block->line);
  if (block->freed)
    write_stack(text, "freed by", &block->gone);
  write_stack(text, "made by ", &block->made);
}

static void write_memory(text_t *text, const gs_finding_t *finding) {
  const bool lds = finding->kind == GS_FINDING_LDS;
  const char *whose = lds ? "workgroup's local memory (LDS)" : "work-item's private memory (stack)";
  if (finding->address > UINT32_MAX)
    line(text, " This is %s's private memory, not its own", "another wave");
  else
    line(text, " Offset %" PRIu64 " is beyond the %s, which has %" PRIu64 " bytes%s", finding->address, whose,
         finding->limit, lds ? ": reads give 0 there, and writes are lost" : "");
}

/* ---- Findings ---- */

static gs_found_t *find(const gs_findings_t *findings, uint64_t pc, const gs_finding_t *finding) {
  gs_found_t *found = findings->first;
  while (found && (found->pc != pc || found->block != finding->block.id || found->kind != finding->kind ||
                   found->rights != finding->rights))
    found = found->next;
  return found;
}

static gs_found_t *add(gs_findings_t *findings, uint64_t pc, const gs_finding_t *finding) {
  gs_found_t *found = findings->places < MOST_PRINTED ? calloc(1, sizeof *found) : NULL;
  if (!found)
    return NULL;
  found->pc = pc;
  found->block = finding->block.id;
  found->kind = finding->kind;
  found->rights = finding->rights;
  *findings->last = found;
  findings->last = &found->next;
  findings->places++;
  return found;
}

static void tell(gs_findings_t *findings, const gs_wave_t *w, const gs_finding_t *finding,
                 gs_found_t *found) {
  gs_place_t place;
  text_t text = {.length = 0};
  gs_place_of(w, finding->lane, &place);
  write_title(finding, &place, found->title, sizeof found->title);
  line(&text, "%s", found->title);
  write_place(&text, finding, &place);
  if (finding->kind == GS_FINDING_PRIVATE || finding->kind == GS_FINDING_LDS)
    write_memory(&text, finding);
  else
    write_block(&text, finding);
  line(&text, "%s", "");
  print(findings, &text);
}

void gs_findings_add(gs_findings_t *findings, const gs_wave_t *w, const gs_finding_t *finding) {
  const uint64_t pc = w->pc;
  pthread_mutex_lock(&findings->lock);
  findings->accesses += finding->lanes;
  gs_found_t *found = find(findings, pc, finding);
  const bool is_new = !found;
  if (is_new)
    found = add(findings, pc, finding);
  if (found)
    found->times += finding->lanes;
  else
    findings->unlisted += finding->lanes;
  if (is_new && found)
    tell(findings, w, finding, found);
  pthread_mutex_unlock(&findings->lock);
}

uint64_t gs_findings_summary(gs_findings_t *findings) {
  text_t text = {.length = 0};
  pthread_mutex_lock(&findings->lock);
  for (const gs_found_t *found = findings->first; found; found = found->next) {
    line(&text, "%8" PRIu64 " x %s", found->times, found->title);
    if (text.length > TEXT_BYTES / 2) {
      print(findings, &text);
      text.length = 0;
    }
  }
  if (findings->unlisted)
    line(&text, "%8" PRIu64 " x at further places, which are not listed", findings->unlisted);
  line(&text, "ERROR SUMMARY: %" PRIu64 " errors from %" PRIu32 " places (bounds)", findings->accesses,
       findings->places);
  print(findings, &text);
  const uint64_t accesses = findings->accesses;
  pthread_mutex_unlock(&findings->lock);
  return accesses;
}
