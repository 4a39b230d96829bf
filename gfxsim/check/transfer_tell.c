/* Transfer: what its findings say. Not here: when there is one. */
#include "check/transfer_state.h"

#include <inttypes.h>
#include <stdio.h>

#include "check/check.h"

static const gs_rule_t lost_rule = {"transfer", "lost", GS_SEVERITY_WARNING,
                                    "Mapped data that a kernel changed and nobody brought back"};
static const gs_rule_t stale_rule = {"transfer", "stale", GS_SEVERITY_WARNING,
                                     "Mapped data that the host changed and a kernel read as it was before"};
static const gs_rule_t overwritten_rule = {
    "transfer", "overwritten", GS_SEVERITY_WARNING,
    "A kernel's change of mapped data, which a copy of the host's other changes undid"};
static const gs_rule_t undone_rule = {"transfer", "undone", GS_SEVERITY_WARNING,
                                      "The host's change of mapped data, which a copy from the device undid"};

static void write_name(const gs_variable_t *variable, char *text, size_t size) {
  if (*variable->name)
    snprintf(text, size, "`%s`", variable->name);
  else
    snprintf(text, size, "a mapped variable");
}

static void write_declaration(const gs_variable_t *variable, char *text, size_t size) {
  if (*variable->file)
    snprintf(text, size, "The variable is at %s:%" PRIu32, variable->file, variable->line);
}

/* The side of the instruction at `pc` that wrote, if it was kept. */
static void find_writer(gs_transfer_t *transfer, uint64_t pc, gs_side_t *side) {
  pthread_mutex_lock(&transfer->writers_lock);
  for (unsigned i = 0; i < transfer->writers; i++)
    if (transfer->writer[i].pc == pc)
      *side = transfer->writer[i].side;
  pthread_mutex_unlock(&transfer->writers_lock);
}

/* `early`: who asked for a copy to the host before that; depth 0: nobody. */
void gs_transfer_tell_lost(gs_transfer_t *transfer, const gs_variable_t *variable, uint64_t pc, uint64_t lost,
                           const gfxsim_stack_t *early) {
  const gs_key_t key = {.rule = &lost_rule, .pc = {pc}, .object = {(uintptr_t)variable}};
  gs_found_t *found = gs_findings_meet(transfer->findings, &key, 1);
  char name[GS_BLOCK_NAME + 8];
  if (!found)
    return;
  gs_finding_t finding = {
      .hint =
          "if the host reads it, map(tofrom:) or map(from:), or `target update from` before the end; if "
          "not, and no kernel reads what was copied there, map(alloc:) without `target update to` says so"};
  find_writer(transfer, pc, &finding.side[0]);
  if (early->depth) {
    finding.side[1] =
        (gs_side_t){.actor = GS_ACTOR_HOST, .stack = *early, .what = "It was copied to the host before"};
    finding.hint = "`target update from` behind the region brings it; where that copy was meant to, a region "
                   "with nowait wants a taskwait in front of it, or depend on both";
  }
  write_name(variable, name, sizeof name);
  snprintf(finding.title, sizeof finding.title, "Never brought back: %" PRIu64 " bytes of %s, written", lost,
           name);
  snprintf(finding.detail[0], sizeof finding.detail[0],
           "The mapping has ended; the host has what it had before");
  write_declaration(variable, finding.detail[1], sizeof finding.detail[1]);
  gs_findings_tell(transfer->findings, found, &finding);
}

/* Changes that a copy has undone. */
typedef struct change {
  const char *whose, *detail, *hint;
  const gfxsim_stack_t *stack; /* who has asked for the copy */
  uint64_t writer;             /* program counter of the kernel that is the other side, */
  const char *what;            /* which is this */
  gs_some_t some;
} change_t;

static void tell_change(gs_transfer_t *transfer, const gs_variable_t *variable, const gs_rule_t *rule,
                        uint64_t also_by, const change_t *change) {
  const uint64_t caller = change->stack->depth ? change->stack->frame[0] : 0;
  const gs_key_t key = {.rule = rule, .pc = {caller, also_by}, .object = {(uintptr_t)variable}};
  gs_found_t *found = gs_findings_meet(transfer->findings, &key, 1);
  char name[GS_BLOCK_NAME + 8];
  if (!found)
    return;
  gs_finding_t finding = {.hint = change->hint};
  finding.side[0] = (gs_side_t){.actor = GS_ACTOR_HOST, .stack = *change->stack};
  find_writer(transfer, change->writer, &finding.side[1]);
  snprintf(finding.side[1].what, sizeof finding.side[1].what, "%s", change->what);
  write_name(variable, name, sizeof name);
  snprintf(finding.title, sizeof finding.title,
           "Change by %s undone: %" PRIu64 " bytes of %s, the first at offset %" PRIu64, change->whose,
           change->some.count, name, change->some.first);
  snprintf(finding.detail[0], sizeof finding.detail[0], "%s", change->detail);
  write_declaration(variable, finding.detail[1], sizeof finding.detail[1]);
  gs_findings_tell(transfer->findings, found, &finding);
}

static void tell_undone(gs_transfer_t *transfer, gs_twin_t *mapping) {
  const change_t change = {
      .whose = "the host",
      .detail = "A copy from the device has brought what they were when they were copied there last",
      .hint = "`target update to` behind the change; or map(to:), or no copy back of these, where no kernel "
              "changes them",
      .stack = &mapping->wanted,
      .writer = mapping->went_writer,
      .what = "A kernel has changed other bytes of it",
      .some = mapping->undone};
  mapping->undone = (gs_some_t){0};
  tell_change(transfer, mapping->variable, &undone_rule, 0, &change);
}

static void tell_overwritten(gs_transfer_t *transfer, gs_twin_t *mapping) {
  const change_t change = {
      .whose = "a kernel",
      .detail = "A copy to the device has brought what the host had there, for others that it has changed; "
                "the host has got its own back",
      .hint = "`target update to` of what the host has changed alone, or `target update from` in front of "
              "its change",
      .stack = &mapping->sent,
      .writer = mapping->overwritten_pc,
      .what = "The kernel's change, which nobody had read",
      .some = mapping->overwritten};
  mapping->overwritten = (gs_some_t){0};
  tell_change(transfer, mapping->variable, &overwritten_rule, mapping->overwritten_pc, &change);
}

void gs_transfer_tell_changes(gs_transfer_t *transfer, gs_twin_t *mapping) {
  if (mapping->undone.count)
    tell_undone(transfer, mapping);
  if (mapping->overwritten.count)
    tell_overwritten(transfer, mapping);
}

void gs_transfer_tell_stale(gs_transfer_t *transfer, const gs_wave_t *w, const gs_stale_read_t *read) {
  if (!read->lanes)
    return;
  const gs_key_t key = {.rule = &stale_rule, .pc = {w->pc}, .object = {(uintptr_t)read->variable}};
  gs_found_t *found = gs_findings_meet(transfer->findings, &key, gs_times(w, read->lanes));
  char name[GS_BLOCK_NAME + 8];
  if (!found)
    return;
  gs_finding_t finding = {.by_line = true,
                          .hint = "`target update to` behind the change, or map(always, to:) on the region"};
  gs_side_of_wave(&finding.side[0], w, read->lane);
  finding.side[0].more = read->lanes - 1;
  write_name(read->variable, name, sizeof name);
  snprintf(finding.title, sizeof finding.title, "Stale read of %s", name);
  snprintf(finding.detail[0], sizeof finding.detail[0],
           "The host has changed %" PRIu64
           " of its bytes since they were copied, the first at offset %" PRIu64,
           read->some.count, read->some.first);
  write_declaration(read->variable, finding.detail[1], sizeof finding.detail[1]);
  gs_findings_tell(transfer->findings, found, &finding);
}

void gs_transfer_tell_old(gs_transfer_t *transfer, const gs_rule_t *rule, const gs_old_t *old, uint64_t pc,
                          uint64_t line) {
  const gs_variable_t *variable = old->variable;
  const gs_key_t key = {.rule = rule, .pc = {line}, .object = {(uintptr_t)variable}};
  gs_found_t *found = gs_findings_meet(transfer->findings, &key, 1);
  char name[GS_BLOCK_NAME + 8];
  if (!found)
    return;
  gs_finding_t finding = {
      .hint = old->is_replaced
                  ? "`target update from` in place of that copy (`target update to`, or map(always, to:))"
                  : "`target update from` behind the region, or the end of the mapping if that "
                    "copies back (which it does if it ends as often as it has begun), in front of it"};
  finding.side[0].actor = GS_ACTOR_HOST;
  finding.side[0].stack = (gfxsim_stack_t){1, {pc + 1}};
  find_writer(transfer, old->writer, &finding.side[1]);
  snprintf(finding.side[1].what, sizeof finding.side[1].what, "%s",
           old->is_replaced ? "A copy to the device, of what the host has, has replaced what was written"
                            : "Not yet brought back is the device's copy, written");
  write_name(variable, name, sizeof name);
  snprintf(finding.title, sizeof finding.title, "Stale read of %s by the host, at offset %" PRIu64, name,
           old->offset);
  write_declaration(variable, finding.detail[0], sizeof finding.detail[0]);
  gs_findings_tell(transfer->findings, found, &finding);
}
