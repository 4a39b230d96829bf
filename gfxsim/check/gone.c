/* See gone.h. */
#include "check/gone.h"

#include <inttypes.h>

#include "check/name.h"

static const gs_rule_t freed_rule = {"transfer", "freed", GS_SEVERITY_ERROR,
                                     "A copy from or to memory of the host that was freed while mapped"};
static const gs_rule_t taken_rule = {
    "transfer", "taken", GS_SEVERITY_ERROR,
    "Memory of the host that is taken for what is mapped, which was freed before its mapping ended"};
static const char hint[] = "end the mapping in front of the free: `target exit data` with map(release:), or "
                           "map(from:) where the host wants what the device has";

void gs_gone_free(gs_gone_t *gone, uint64_t address, uint64_t bytes, const gfxsim_stack_t *stack) {
  gone->first = address;
  gone->end = address + bytes;
  gone->freed = *stack;
  gone->is_taken = gone->was_told = false;
}

void gs_gone_take(gs_gone_t *gone, uint64_t address, uint64_t bytes, uint64_t end,
                  const gfxsim_stack_t *stack) {
  if (address != gone->first || end > gone->end || end - address > bytes)
    return;
  gone->is_taken = true;
  gone->taken = *stack;
}

/* "It was mapped at copy.c:14". */
static void write_place(const char *what, const gfxsim_stack_t *stack, char text[GS_FINDING_TEXT]) {
  char place[GS_FINDING_TEXT / 2];
  if (stack->depth && gs_name_host_place(stack->frame[stack->depth - 1], place, sizeof place))
    snprintf(text, GS_FINDING_TEXT, "%s %s", what, place);
}

static void write_name(const char *name, char *text, size_t size) {
  if (name && *name)
    snprintf(text, size, "`%s`", name);
  else
    snprintf(text, size, "a variable");
}

/* Who did it, who had freed the memory, and what is known of the mapping. */
static void describe(gs_finding_t *finding, const gs_gone_mapping_t *mapping, const gfxsim_stack_t *stack) {
  const gs_variable_t *variable = mapping->variable;
  const gs_gone_t *gone = mapping->gone;
  finding->hint = hint;
  finding->side[0] = (gs_side_t){.actor = GS_ACTOR_HOST, .stack = *stack};
  finding->side[1] = (gs_side_t){
      .actor = GS_ACTOR_HOST, .stack = gone->freed, .what = "It was freed, or moved, while it was mapped"};
  write_place("It was mapped at", mapping->mapped, finding->detail[0]);
  if (*variable->file)
    snprintf(finding->detail[1], sizeof finding->detail[1], "The variable is at %s:%" PRIu32, variable->file,
             variable->line);
  if (gone->is_taken)
    write_place("Its memory is another block's by now, allocated at", &gone->taken, finding->detail[2]);
}

static gs_found_t *meet(gs_findings_t *findings, const gs_rule_t *rule, const gs_gone_mapping_t *mapping,
                        const gfxsim_stack_t *stack, bool is_sent) {
  const gs_key_t key = {.rule = rule,
                        .pc = {stack->depth ? stack->frame[0] : 0},
                        .object = {(uintptr_t)mapping->variable, is_sent}};
  return gs_findings_meet(findings, &key, 1);
}

void gs_gone_tell_copy(gs_findings_t *findings, const gs_gone_mapping_t *mapping, uint64_t host,
                       uint64_t bytes, bool is_sent, const gfxsim_stack_t *stack) {
  const gs_gone_t *gone = mapping->gone;
  if (host >= gone->end || host + bytes <= gone->first)
    return;
  gs_found_t *found = meet(findings, &freed_rule, mapping, stack, is_sent);
  char name[GS_BLOCK_NAME + 8];
  gs_finding_t finding = {.hint = NULL};
  if (!found)
    return;
  describe(&finding, mapping, stack);
  write_name(mapping->variable->name, name, sizeof name);
  snprintf(finding.title, sizeof finding.title,
           "Invalid copy of %" PRIu64 " bytes %s freed memory of the host, where %s is mapped", bytes,
           is_sent ? "from" : "to", name);
  gs_findings_tell(findings, found, &finding);
}

void gs_gone_tell_found(gs_findings_t *findings, const gs_gone_mapping_t *mapping, const char *name,
                        const gfxsim_stack_t *stack) {
  gs_found_t *found = meet(findings, &taken_rule, mapping, stack, false);
  char now[GS_BLOCK_NAME + 8], was[GS_BLOCK_NAME + 8];
  gs_finding_t finding = {.hint = NULL};
  if (!found)
    return;
  describe(&finding, mapping, stack);
  write_name(name, now, sizeof now);
  write_name(mapping->variable->name, was, sizeof was);
  snprintf(finding.title, sizeof finding.title,
           "Invalid use of a mapping: %s, new memory of the host, is taken for %s, which was freed and is "
           "still mapped",
           now, was);
  snprintf(finding.detail[3], sizeof finding.detail[3],
           "What is mapped already is not copied to the device: kernels read what the freed block had");
  gs_findings_tell(findings, found, &finding);
}
