/* See text.h. What is not known is left out, not guessed. */
#include "check/text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "check/name.h"

static void add(gs_text_t *text, const char *head, const char *format, va_list arguments) {
  char *at = text->bytes + text->length;
  const size_t room = sizeof text->bytes - text->length, before = strlen(head);
  if (before + 2 >= room)
    return;
  memcpy(at, head, before);
  const int body = vsnprintf(at + before, room - before - 1, format, arguments);
  size_t length = before + (body < 0 ? 0 : (size_t)body);
  if (length > room - 2)
    length = room - 2;
  at[length++] = '\n';
  at[length] = '\0';
  text->length += length;
}

void gs_text_line(gs_text_t *text, const char *format, ...) {
  char head[32];
  va_list arguments;
  snprintf(head, sizeof head, "==%ld== ", (long)getpid());
  va_start(arguments, format);
  add(text, text->plain ? "" : head, format, arguments);
  va_end(arguments);
}

void gs_text_plain(gs_text_t *text, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  add(text, "", format, arguments);
  va_end(arguments);
}

void gs_text_title(const gs_finding_t *finding, char *title, size_t size) {
  const gs_side_t *side = &finding->side[0];
  const gs_place_t *place = &side->place;
  char kernel[GS_PLACE_TEXT] = "";
  if (side->actor == GS_ACTOR_WAVE)
    gs_name_kernel(place->kernel, kernel, sizeof kernel);
  const bool source = *kernel && *place->source;
  snprintf(title, size, "%s%s%s%s%s%s", finding->title, *kernel ? " in " : "", kernel, source ? " (" : "",
           source ? place->source : "", source ? ")" : "");
}

static void write_wave(gs_text_t *text, const gs_side_t *side) {
  const gs_place_t *place = &side->place;
  if (*place->source)
    gs_text_line(text, "   at %s: %s", place->source, place->instruction);
  else
    gs_text_line(text, "   at %s+0x%" PRIx64 ": %s (compile with -gline-tables-only for the source line)",
                 place->function_name, place->function ? place->pc - place->function : 0, place->instruction);
  char more[64] = "";
  if (side->more)
    snprintf(more, sizeof more, ", and %" PRIu32 " more of its wave", side->more);
  gs_text_line(text,
               "   by work-item (%" PRIu32 ", %" PRIu32 ", %" PRIu32 ") of workgroup (%" PRIu32 ", %" PRIu32
               ", %" PRIu32 ")%s; GPU %" PRIu32 " (%s)",
               place->item[0], place->item[1], place->item[2], place->group[0], place->group[1],
               place->group[2], more, place->gpu, place->profile);
}

static void write_stack(gs_text_t *text, const char *what, const gfxsim_stack_t *stack) {
  char place[512];
  bool any = false;
  for (uint32_t i = 0; i < stack->depth; i++) {
    if (!gs_name_host_place(stack->frame[i], place, sizeof place))
      continue;
    gs_text_line(text, "   %s %s", any ? "       by" : what, place);
    any = true;
  }
}

static void write_host(gs_text_t *text, const gs_side_t *side) {
  if (side->call)
    gs_text_line(text, "   by the host's call of %s", side->call);
  write_stack(text, "called at", &side->stack);
}

static void write_side(gs_text_t *text, const gs_side_t *side) {
  if (side->actor == GS_ACTOR_WAVE)
    write_wave(text, side);
  else if (side->actor == GS_ACTOR_HOST)
    write_host(text, side);
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

static void write_block(gs_text_t *text, const gs_finding_t *finding) {
  const gs_block_note_t *block = &finding->block;
  char distance[64], name[GS_BLOCK_NAME + 16] = "";
  if (!block->id) {
    gs_text_line(text, " Address 0x%" PRIx64 " is %s", finding->address,
                 finding->where ? finding->where : "no memory, and no block is near it");
    return;
  }
  write_distance(finding, distance, sizeof distance);
  if (*block->name)
    snprintf(name, sizeof name, "`%s`, ", block->name);
  gs_text_line(text, " Address 0x%" PRIx64 " is %s %sa block of %" PRIu64 " bytes%s%s", finding->address,
               distance, name, block->end - block->start, block->freed ? " that was freed" : "",
               finding->where ? finding->where : "");
  if (*block->file)
    gs_text_line(text, "   the variable at %s:%" PRIu32, block->file, block->line);
  if (block->freed)
    write_stack(text, "freed by", &block->gone);
  write_stack(text, "made by ", &block->made);
}

void gs_text_finding(gs_text_t *text, const gs_finding_t *finding, const char *title) {
  gs_text_line(text, "%s", title);
  write_side(text, &finding->side[0]);
  if (finding->about_block)
    write_block(text, finding);
  if (finding->side[1].actor != GS_ACTOR_NONE) {
    gs_text_line(text, " %s", finding->side[1].what);
    write_side(text, &finding->side[1]);
  }
  for (unsigned i = 0; i < GS_FINDING_DETAILS; i++)
    if (*finding->detail[i])
      gs_text_line(text, " %s", finding->detail[i]);
  if (finding->hint)
    gs_text_line(text, " Hint: %s", finding->hint);
  gs_text_line(text, "%s", "");
}

uint64_t gs_text_hash(uint64_t hash, const char *text) {
  for (const char *at = text; *at; at++)
    hash = (hash ^ (unsigned char)*at) * UINT64_C(1099511628211);
  return hash;
}
