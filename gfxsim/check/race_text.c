/* How a race is told: both sides, the memory, and what would order them. Not here: finding it (race.c). */
#include <inttypes.h>
#include <string.h>

#include "check/check.h"
#include "check/race.h"
#include "exec/symbol.h"

static const gs_rule_t rules[] = {
    {"race", "memory", GS_SEVERITY_ERROR, "Two accesses to the same memory, of which nothing orders the two"},
    {"race", "local", GS_SEVERITY_ERROR,
     "Two waves access the same local memory of their workgroup without a barrier between"},
    {"race", "lanes", GS_SEVERITY_ERROR,
     "Work-items of one wave access the same memory, and nothing but the wave orders them"},
    {"race", "copy", GS_SEVERITY_ERROR, "A copy and a kernel access the same memory at the same time"},
};
enum { RULE_MEMORY, RULE_LOCAL, RULE_LANES, RULE_COPY };

static const char *action_of(uint32_t rights) {
  if (rights == (GS_VM_READ | GS_VM_WRITE))
    return "atomic access to";
  return rights & GS_VM_WRITE ? "write of" : "read of";
}

/* The copy as a line. */
static void write_copy(const char *head, const gs_job_t *job, bool writes, char *text, size_t size) {
  if (job->from)
    snprintf(text, size,
             "%sa %s by a copy of %" PRIu64 " bytes from 0x%" PRIx64 " to 0x%" PRIx64 "; GPU %" PRIu32, head,
             writes ? "write" : "read", job->bytes, job->from, job->to, job->launch.gpu);
  else
    snprintf(text, size, "%sa fill of %" PRIu64 " bytes from 0x%" PRIx64 " on; GPU %" PRIu32, head,
             job->bytes, job->to, job->launch.gpu);
}

/* Fills what is known of the earlier access. */
static void describe_other(const gs_clash_t *clash, const gs_job_t *job, uint64_t group,
                           gs_finding_t *finding) {
  const gs_stamp_t stamp = clash->other;
  gs_side_t *side = &finding->side[1];
  if (job->is_copy) {
    write_copy("Conflicts with ", job, clash->other_writes, finding->detail[0], sizeof finding->detail[0]);
    return;
  }
  gs_place_of_other(clash->map, &job->launch, group, gs_stamp_wave(stamp), gs_stamp_lane(stamp),
                    clash->race->sites.site[gs_stamp_site(stamp)].pc, &side->place);
  side->actor = GS_ACTOR_WAVE;
  const bool same = clash->w && !strcmp(side->place.kernel, finding->side[0].place.kernel);
  snprintf(side->what, sizeof side->what, "Conflicts with an earlier %s%s",
           side->place.rights == (GS_VM_READ | GS_VM_WRITE) ? "atomic access"
           : clash->other_writes                            ? "write"
                                                            : "read",
           same ? "" : " in another kernel");
}

/* Whether both sides are lanes of one wave. */
static bool is_within_wave(const gs_clash_t *clash) {
  const gs_crew_t *crew = clash->w ? clash->w->env->watched : NULL;
  return crew && gs_stamp_crew(clash->other) == crew->id &&
         gs_stamp_wave(clash->other) == gs_place_wave(clash->w);
}

static const char *hint_of(const gs_clash_t *clash, const gs_job_t *other, uint64_t group) {
  if (clash->local && clash->w && gs_team_stack_is_full(clash->w, clash->lane, clash->address))
    return gs_team_stack_hint;
  if (clash->same_instruction)
    return "which of the values stays is chance; is the variable meant to be private, or of a reduction?";
  if (!clash->w || other->number != clash->job->number)
    return "the two were under way at the same time: a depend clause, taskwait, or a wait for the first "
           "orders them";
  if (is_within_wave(clash))
    return "only that these work-items are of one wave, and run in step, orders them here; a reduction, "
           "atomic "
           "accesses or a barrier between do on any device";
  if (group == clash->group)
    return "nothing orders these two waves of the workgroup; a barrier between the two accesses does";
  return "nothing orders the two workgroups, and no barrier can; a reduction, atomic accesses or two kernels "
         "do";
}

static const gs_rule_t *rule_of(const gs_clash_t *clash) {
  if (clash->same_instruction || is_within_wave(clash))
    return &rules[RULE_LANES];
  if (!clash->w || gs_stamp_site(clash->other) == GS_SITE_OF_COPIES)
    return &rules[RULE_COPY];
  return &rules[clash->local ? RULE_LOCAL : RULE_MEMORY];
}

static uint32_t lanes_of(const gs_clash_t *clash) {
  return (uint32_t)__builtin_popcountll(clash->lanes);
}

/* What is no block may be a variable of an image. */
static void describe_variable(const gs_clash_t *clash, char *text, size_t size) {
  gs_symbol_t symbol;
  const gs_vm_range_t *range = clash->map ? gs_vm_find_mapped(clash->map, clash->address) : NULL;
  if (range && gs_symbol_near(clash->map, range->allocation, clash->address, &symbol) &&
      clash->address - symbol.start < symbol.size)
    snprintf(text, size, "Both are %" PRIu64 " bytes into `%.64s`, a variable of %" PRIu64 " bytes",
             clash->address - symbol.start, symbol.name, symbol.size);
}

static void tell(const gs_clash_t *clash, gs_found_t *found) {
  gs_job_t other = {0};
  uint64_t group = 0;
  gs_finding_t finding = {.by_line = true, .address = clash->address, .bytes = clash->bytes};
  const bool known = gs_order_who(&clash->race->order, clash->other, &other, &group);
  if (clash->w) {
    gs_side_of_wave(&finding.side[0], clash->w, clash->lane);
    finding.side[0].more = lanes_of(clash) - 1;
    snprintf(finding.title, sizeof finding.title, "Data race: %s %" PRIu32 " bytes", action_of(clash->rights),
             clash->bytes);
  } else {
    write_copy("Data race: ", clash->job, clash->rights & GS_VM_WRITE, finding.title, sizeof finding.title);
  }
  if (known)
    describe_other(clash, &other, group, &finding);
  if (clash->local)
    snprintf(finding.detail[1], sizeof finding.detail[1],
             "Both are at offset %" PRIu64 " of the workgroup's local memory (LDS)", clash->address);
  finding.about_block = !clash->local && gs_blocks_find(clash->race->blocks, clash->address, &finding.block);
  if (!clash->local && !finding.about_block)
    describe_variable(clash, finding.detail[1], sizeof finding.detail[1]);
  finding.hint = hint_of(clash, &other, group);
  gs_findings_tell(clash->race->findings, found, &finding);
}

void gs_clash_report(const gs_clash_t *clash) {
  const gs_site_t *other = &clash->race->sites.site[gs_stamp_site(clash->other)];
  const gs_key_t key = {.rule = rule_of(clash),
                        .pc = {clash->w ? clash->w->pc : GS_SITE_OF_COPIES, other->pc},
                        .object = {other->code}};
  gs_found_t *found = gs_findings_meet(clash->race->findings, &key, gs_times(clash->w, lanes_of(clash)));
  if (found)
    tell(clash, found);
}
