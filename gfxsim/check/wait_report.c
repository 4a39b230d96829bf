/* What the tool "wait" says. Not here: when that is (wait.c, wait_states.c). */
#include <inttypes.h>
#include <stdio.h>

#include "check/wait.h"
#include "exec/place.h"

static const gs_rule_t read_early = {"wait", "read", GS_SEVERITY_ERROR,
                                     "A register read before what was loaded into it was waited for"};
static const gs_rule_t written_early = {"wait", "write", GS_SEVERITY_ERROR,
                                        "A register overwritten while a load into it was outstanding"};
static const gs_rule_t states_missing = {"wait", "states", GS_SEVERITY_ERROR,
                                         "Two instructions with fewer wait states between than they need"};

/* A warning, as device runtimes have barriers without it, which only a card could tell whether they get away
 * with. */
static const gs_rule_t local_early = {"wait", "barrier", GS_SEVERITY_WARNING,
                                      "A barrier that does not wait for what was written to local memory"};
static const gs_rule_t dma_early = {"wait", "dma", GS_SEVERITY_ERROR,
                                    "Local memory accessed while LDS-DMA to it is outstanding"};

enum { REGISTER_TEXT = 32, HINT_TEXT = 160 };

/* Scalar registers that have names, by their numbers; two are common ones from gfx10 on. */
static const struct {
  unsigned first, targets;
  const char *name;
} scalars[] = {{GS_S_EXEC, GS_GFX9_11, "exec"},          {GS_S_M0, GS_GFX9_11, "m0"},
               {GS_S_TTMP0, GS_GFX9_11, "ttmp"},         {GS_S_VCC, GS_GFX9_11, "vcc"},
               {GS_S_XNACK_MASK, GS_GFX9, "xnack_mask"}, {GS_S_FLAT_SCRATCH, GS_GFX9, "flat_scratch"}};

/* Registers as the assembler spells them. */
static void spell(const gs_wave_t *w, bool vector, unsigned first, unsigned count, char text[REGISTER_TEXT]) {
  for (size_t i = 0; !vector && i < sizeof scalars / sizeof *scalars; i++)
    if (first >= scalars[i].first && scalars[i].targets & w->env->target) {
      snprintf(text, REGISTER_TEXT, "%s", scalars[i].name);
      return;
    }
  const char file = !vector ? 's' : first < GS_ARCH_VGPRS ? 'v' : 'a';
  const unsigned number = vector ? first % GS_ARCH_VGPRS : first;
  if (count == 1)
    snprintf(text, REGISTER_TEXT, "%c%u", file, number);
  else
    snprintf(text, REGISTER_TEXT, "%c[%u:%u]", file, number, number + count - 1);
}

/* The side of the instruction at `pc`. Places are known by the end of instructions that access memory, which
 * are longer than some. */
static void place(gs_wave_t *w, uint64_t pc, unsigned lane, gs_side_t *side) {
  const uint64_t now = w->pc;
  w->pc = pc + GS_PLACE_INSTRUCTION_BYTES;
  gs_side_of_wave(side, w, lane);
  w->pc = now;
}

/* A lane to name, of those or of the active ones. */
static unsigned lane_of(const gs_wave_t *w, uint64_t lanes) {
  const uint64_t any = lanes ? lanes : gs_exec(w);
  return any ? (unsigned)__builtin_ctzll(any) : 0;
}

void gs_wait_report_use(gs_wave_t *w, const gs_inst_t *in, const gs_operand_t *use, unsigned pending) {
  gs_check_t *check = gs_check_of(w);
  const gs_wave_waits_t *waits = gs_wave_waits(w);
  const gs_pending_t *p = &waits->pending[pending];
  const uint64_t pc = w->pc - in->size;
  const gs_key_t key = {.rule = use->writes ? &written_early : &read_early, .pc = {pc, p->pc}};
  gs_found_t *found = gs_findings_meet(&check->findings, &key, gs_times(w, 1));
  if (!found)
    return;
  gs_finding_t finding = {.hint = NULL};
  char registers[REGISTER_TEXT], counts[HINT_TEXT / 2] = "", hint[HINT_TEXT];
  spell(w, p->vector, p->first, p->count, registers);
  snprintf(finding.title, sizeof finding.title, "Missing wait: %s %s %s, into which a load is outstanding",
           use->writes ? "write to" : "read of", p->count == 1 ? "register" : "registers", registers);
  const unsigned lane = lane_of(w, use->vector ? use->lanes & p->lanes : 0);
  place(w, pc, lane, &finding.side[0]);
  place(w, p->pc, lane, &finding.side[1]);
  snprintf(finding.side[1].what, sizeof finding.side[1].what, "The load is");
  int length = 0;
  if (p->counters & GS_COUNTER_VM)
    length = snprintf(counts, sizeof counts, " vmcnt(%u)", gs_wait_allowed(waits, pending, GS_COUNTER_VM));
  if (p->counters & GS_COUNTER_LGKM)
    snprintf(counts + length, sizeof counts - (size_t)length, " lgkmcnt(%u)",
             gs_wait_allowed(waits, pending, GS_COUNTER_LGKM));
  snprintf(hint, sizeof hint, "`s_waitcnt%s` between the two", counts);
  finding.hint = hint;
  gs_findings_tell(&check->findings, found, &finding);
}

void gs_wait_report_states(gs_wave_t *w, const gs_inst_t *in, const gs_hazard_t *hazard,
                           const gs_done_t *first, const gs_operand_t *use, unsigned states) {
  gs_check_t *check = gs_check_of(w);
  const uint64_t pc = w->pc - in->size;
  const gs_key_t key = {.rule = &states_missing, .pc = {pc, first->pc}};
  gs_found_t *found = gs_findings_meet(&check->findings, &key, gs_times(w, 1));
  if (!found)
    return;
  gs_finding_t finding = {.hint = NULL};
  const char *needs = hazard->until ? "It is" : "They are";
  char registers[REGISTER_TEXT], hint[HINT_TEXT];
  const unsigned needed = gs_states_of(hazard, first->passes);
  if (hazard->until == GS_UNTIL_RESULTS)
    snprintf(finding.title, sizeof finding.title, "Missing wait for the result of a VALU instruction");
  else if (hazard->until)
    snprintf(finding.title, sizeof finding.title, "Missing VALU instruction between two that need one");
  else
    snprintf(finding.title, sizeof finding.title, "Missing wait states: %u where %u are needed", states,
             needed);
  place(w, pc, lane_of(w, 0), &finding.side[0]);
  place(w, first->pc, lane_of(w, 0), &finding.side[1]);
  snprintf(finding.side[1].what, sizeof finding.side[1].what,
           "The instruction that it comes too early behind");
  if (use) {
    spell(w, use->vector, use->first, use->count, registers);
    snprintf(finding.detail[0], sizeof finding.detail[0], "%s needed between %s: %s", needs, hazard->what,
             registers);
  } else {
    snprintf(finding.detail[0], sizeof finding.detail[0], "%s needed between %s", needs, hazard->what);
  }
  const unsigned more = needed - states;
  if (hazard->until)
    snprintf(hint, sizeof hint, "%s between the two",
             hazard->until == GS_UNTIL_RESULTS ? "`s_waitcnt_depctr 0xfff` (va_vdst(0))"
             : hazard->until == GS_UNTIL_REAL  ? "a VALU instruction other than `v_nop`"
                                               : "`v_nop`, or another VALU instruction,");
  else if (more > 8)
    snprintf(hint, sizeof hint, "`s_nop 7` and `s_nop %u`%s, or as many other instructions, between the two",
             (more - 8 > 8 ? 8 : more - 8) - 1, more > 16 ? " and more" : "");
  else
    snprintf(hint, sizeof hint, "`s_nop %u`, or other instructions, between the two", more - 1);
  finding.hint = hint;
  gs_findings_tell(&check->findings, found, &finding);
}

void gs_wait_report_local(gs_wave_t *w, uint64_t offset, unsigned wave, const gs_local_write_t *write) {
  gs_check_t *check = gs_check_of(w);
  const gs_key_t key = {.rule = write->by_dma ? &dma_early : &local_early, .pc = {0, write->pc}};
  gs_found_t *found = gs_findings_meet(&check->findings, &key, gs_times(w, 1));
  if (!found)
    return;
  gs_finding_t finding = {.hint = write->by_dma ? "`s_waitcnt vmcnt(0)` behind the write"
                                                : "`s_waitcnt lgkmcnt(0)` between the write and the barrier"};
  snprintf(finding.title, sizeof finding.title,
           "Missing wait: access to local memory that a write is outstanding to");
  place(w, w->pc - GS_PLACE_INSTRUCTION_BYTES, lane_of(w, 0), &finding.side[0]);
  gs_wave_t *other = w + wave - gs_place_wave(w); /* they are side by side */
  place(other, write->pc, 0, &finding.side[1]);
  snprintf(finding.side[1].what, sizeof finding.side[1].what, "The write is");
  snprintf(finding.detail[0], sizeof finding.detail[0],
           "Both are at offset %" PRIu64 " of the workgroup's local memory (LDS)%s", offset,
           write->by_dma ? "" : ", and a barrier between, which does not wait for the write");
  gs_findings_tell(&check->findings, found, &finding);
}
