/* The tool "wait": what each wave has asked memory for, and what it has waited for. An operation is over when
 * s_waitcnt leaves no room for it: when the counter may stand for fewer than it and those behind it that
 * cannot come to their end before it. Not here: what instructions read and write (wait_operands.c), wait
 * states (wait_states.c), what is said (wait_report.c), and results that are kept back (wait_late.c). */
#include "check/digest.h"

#include <stdlib.h>
#include <string.h>

/* ---- What is outstanding ---- */

static bool is_ordered(unsigned line) {
  return line > GS_LINE_FLAT_IN_ORDER;
}

/* The line that the operation has its place in, as the counter sees it. */
static unsigned line_in(const gs_pending_t *p, unsigned counter) {
  if (p->line != GS_LINE_FLAT_IN_ORDER)
    return p->line;
  return counter == GS_COUNTER_LGKM ? GS_LINE_LOCAL : GS_LINE_VECTOR;
}

/* The field of a counter. */
static uint8_t *count_of(gs_wait_counts_t *counts, unsigned counter) {
  return counter == GS_COUNTER_VM ? &counts->vm : counter == GS_COUNTER_VS ? &counts->vs : &counts->lgkm;
}

unsigned gs_wait_allowed(const gs_wave_waits_t *waits, unsigned pending, unsigned counter) {
  const gs_pending_t *p = &waits->pending[pending];
  const unsigned line = line_in(p, counter);
  unsigned behind = 0;
  for (unsigned i = pending + 1; i < waits->count && is_ordered(line); i++)
    if ((waits->pending[i].counters & counter && line_in(&waits->pending[i], counter) == line) ||
        (waits->pending[i].passes_local && counter == GS_COUNTER_LGKM && line == GS_LINE_LOCAL))
      behind += waits->pending[i].number;
  return behind;
}

/* Registers `first` to below `end` of one word of a set; and where the next word of a range begins. */
static uint64_t bits_of(unsigned first, unsigned end) {
  return UINT64_MAX >> (64 - (end - first)) << first % 64;
}
static unsigned next_word(unsigned first, unsigned end) {
  const unsigned next = (first / 64 + 1) * 64;
  return next < end ? next : end;
}

static void mark(gs_wave_waits_t *waits, const gs_pending_t *p) {
  uint64_t *marks = p->vector ? waits->vectors : waits->scalars;
  waits->marked |= p->count != 0;
  for (unsigned reg = p->first, end = reg + p->count, next; reg < end; reg = next) {
    next = next_word(reg, end);
    marks[reg / 64] |= bits_of(reg, next);
  }
}

static void mark_all(gs_wave_waits_t *waits) {
  memset(waits->vectors, 0, sizeof waits->vectors);
  memset(waits->scalars, 0, sizeof waits->scalars);
  waits->marked = false;
  for (unsigned i = 0; i < waits->count; i++)
    mark(waits, &waits->pending[i]);
}

/* Nobody waits for it any more. */
static void finish(gs_wave_t *w, gs_pending_t *p) {
  if (p->local)
    gs_local_over(gs_wave_waits(w), p->local - 1u);
  if (p->late)
    gs_late_arrive(w, p->late - 1u);
  p->local = p->late = 0;
  p->first = p->count = 0;
}

/* An operation of vector memory, and nothing else: of a list of those the first is over first. */
static bool is_plain(const gs_pending_t *p) {
  return p->counters == GS_COUNTER_VM && p->line == GS_LINE_VECTOR && !p->passes_local;
}

/* Whether nothing matters of it but that it counts, in one counter, which those in front of it leave first.
 */
static bool only_counts(const gs_pending_t *p) {
  return !p->count && !p->local && !p->late && !p->passes_local && is_ordered(p->line);
}

/* Makes one of the operation and the one in front of it if that can be. */
static bool join(gs_pending_t *before, const gs_pending_t *p) {
  if (!only_counts(before) || !only_counts(p) || before->counters != p->counters || before->line != p->line)
    return false;
  before->number = (uint8_t)(before->number + p->number);
  return true;
}

/* Counts `by` operations of that entry of the list, which may be less than none. */
static void count(gs_wave_waits_t *waits, const gs_pending_t *p, int by) {
  waits->plain += (unsigned)(is_plain(p) ? by : 0);
  waits->passing += (unsigned)(p->passes_local ? by : 0);
  for (unsigned left = p->counters; left; left &= left - 1) {
    uint8_t *counted = &waits->counted[left & -left];
    *counted = (uint8_t)(*counted + by);
  }
}

/* Takes the first operation out of the list. */
static void drop_first(gs_wave_t *w) {
  gs_wave_waits_t *waits = gs_wave_waits(w);
  gs_pending_t *first = &waits->pending[0];
  const bool writes = first->count;
  count(waits, first, -1);
  if (--first->number)
    return;
  finish(w, first);
  memmove(first, first + 1, --waits->count * sizeof *first);
  if (writes)
    mark_all(waits);
}

/* Takes out of the list what is over. */
static void drop_over(gs_wave_t *w) {
  gs_wave_waits_t *waits = gs_wave_waits(w);
  unsigned kept = 0;
  bool any = false;
  waits->plain = waits->passing = 0;
  memset(waits->counted, 0, sizeof waits->counted);
  for (unsigned i = 0; i < waits->count; i++) {
    gs_pending_t *p = &waits->pending[i];
    if (!p->counters) {
      any |= p->count != 0;
      finish(w, p);
    }
    if (!p->counters && !p->passes_local)
      continue;
    count(waits, p, p->number);
    if (kept && join(&waits->pending[kept - 1], p))
      continue;
    if (&waits->pending[kept] != p)
      waits->pending[kept] = *p;
    kept++;
  }
  waits->count = kept;
  if (any)
    mark_all(waits);
}

/* How many operations of the entry may be left where that many of its line are behind it, and `most` of all.
 */
static unsigned left_of(const gs_pending_t *p, unsigned behind, unsigned most) {
  const unsigned room = behind < most ? most - behind : 0;
  return room < p->number ? room : p->number;
}

/* `counter` is at most `most` now. */
static void wait_for(gs_wave_t *w, unsigned counter, unsigned most) {
  gs_wave_waits_t *waits = gs_wave_waits(w);
  unsigned behind[GS_LINE_MESSAGE + 1] = {0};
  if (waits->counted[counter] <= most && (counter != GS_COUNTER_LGKM || !waits->passing))
    return; /* there is room for all of them */
  for (unsigned i = waits->count; i-- > 0;) {
    gs_pending_t *p = &waits->pending[i];
    const unsigned line = line_in(p, counter);
    if (p->counters & counter) {
      const unsigned left = left_of(p, behind[line], most);
      if (left)
        p->number = (uint8_t)left;
      else
        p->counters &= (uint8_t)~counter;
      behind[line] += is_ordered(line) ? left : 0;
    }
    if (counter == GS_COUNTER_LGKM && p->passes_local) {
      p->passes_local = behind[GS_LINE_LOCAL] < most;
      behind[GS_LINE_LOCAL] += p->passes_local;
    }
  }
  drop_over(w);
}

/* `counts`: what may be left of each kind. */
static void obey_counts(gs_wave_t *w, gs_wait_counts_t counts) {
  gs_wait_counts_t none = gs_wait_counts_none(w->env->target);
  for (unsigned counter = 1; counter < GS_COUNTER_END && gs_wave_waits(w)->count; counter *= 2)
    if (*count_of(&counts, counter) < *count_of(&none, counter))
      wait_for(w, counter, *count_of(&counts, counter));
}

static void obey_wait(gs_wave_t *w, gs_step_t step, uint32_t imm) {
  if (!gs_wave_waits(w)->count)
    return;
  gs_wait_counts_t counts = gs_wait_counts_none(w->env->target);
  const uint8_t most = imm < UINT8_MAX ? (uint8_t)imm : UINT8_MAX;
  switch (step) {
  case GS_STEP_WAIT: counts = gs_wait_counts_of(w->env->target, imm); break;
  case GS_STEP_WAIT_VS: counts.vs = most; break;
  case GS_STEP_WAIT_VM: counts.vm = most; break;
  case GS_STEP_WAIT_LGKM: counts.lgkm = most; break;
  default: counts = (gs_wait_counts_t){0}; break;
  }
  obey_counts(w, counts);
}

/* The instruction that was executed counts. */
static void begin_operation(gs_wave_t *w, uint64_t pc, const gs_uses_t *uses) {
  gs_wave_waits_t *waits = gs_wave_waits(w);
  gs_wait_counts_t full = gs_wait_counts_none(w->env->target);
  for (unsigned counter = 1; counter < GS_COUNTER_END; counter *= 2) { /* who would count on waits */
    const unsigned most = *count_of(&full, counter);
    if (!(uses->counters & counter) || waits->counted[counter] < most)
      continue;
    if (counter == GS_COUNTER_VM && is_plain(&waits->pending[0]) && waits->plain == waits->counted[counter])
      drop_first(w);
    else
      wait_for(w, counter, most - 1);
  }
  while (waits->count == GS_MOST_PENDING) /* it is not known of which there are so many */
    drop_first(w);
  gs_pending_t *p = &waits->pending[waits->count];
  *p = (gs_pending_t){.pc = pc,
                      .counters = uses->counters,
                      .line = uses->line,
                      .number = 1,
                      .passes_local = uses->passes_local,
                      .local = (uint8_t)gs_local_end(waits),
                      .late = (uint8_t)gs_late_end(w, gs_wait_of(w)->late)};
  count(waits, p, 1);
  for (unsigned i = 0; i < uses->count; i++) {
    const gs_operand_t *use = &uses->use[i];
    if (!use->writes || (use->vector && !use->lanes))
      continue;
    p->first = use->first;
    p->count = use->count;
    p->vector = use->vector;
    p->lanes = use->lanes;
    p->half = use->half;
    mark(waits, p);
  }
  if (!waits->count || !join(p - 1, p))
    waits->count++;
}

/* ---- Registers that are used ---- */

static bool any_marked(const uint64_t *marks, unsigned first, unsigned count) {
  uint64_t any = 0;
  for (unsigned reg = first, end = first + count, next; reg < end; reg = next) {
    next = next_word(reg, end);
    any |= marks[reg / 64] & bits_of(reg, next);
  }
  return any;
}

/* Whether results of the two come in the order in which they were asked for. */
static bool in_order(const gs_pending_t *first, const gs_uses_t *second) {
  if (first->line == GS_LINE_FLAT ||
      first->line == GS_LINE_FLAT_IN_ORDER) /* no local memory was meant, if that counter is down already */
    return second->line == GS_LINE_VECTOR && !(first->counters & GS_COUNTER_LGKM);
  return first->line == second->line && is_ordered(second->line);
}

static bool meets(const gs_pending_t *p, const gs_operand_t *use, const gs_uses_t *uses) {
  if (p->vector != use->vector || use->first >= p->first + p->count || p->first >= use->first + use->count)
    return false;
  if (use->vector && !(use->lanes & p->lanes))
    return false;
  if (p->half && use->half && p->half != use->half)
    return false;
  return !use->writes || !in_order(p, uses);
}

/* What is wrong with a use is told once. A register that gets another value while a load is on its way gets
 * what was loaded behind that. */
static void meet(gs_wave_t *w, const gs_inst_t *in, const gs_operand_t *use, unsigned pending) {
  const gs_wait_t *wait = gs_wait_of(w);
  gs_wave_waits_t *waits = gs_wave_waits(w);
  if (use->writes && waits->pending[pending].late && pending >= waits->overwritten)
    waits->overwritten = pending + 1;
  if (!wait->tell_use)
    return;
  wait->tell_use(w, in, use, pending);
  waits->pending[pending].first = waits->pending[pending].count = 0;
  mark_all(waits);
}

/* What has been kept back of the list up to what was written over, and comes no later, comes now. */
static void bring_overwritten(gs_wave_t *w) {
  gs_wave_waits_t *waits = gs_wave_waits(w);
  const unsigned last = waits->overwritten - 1u, line = waits->pending[last].line;
  waits->overwritten = 0;
  for (unsigned i = is_ordered(line) ? 0 : last; i <= last; i++)
    if (waits->pending[i].late && waits->pending[i].line == line) {
      gs_late_arrive(w, waits->pending[i].late - 1u);
      waits->pending[i].late = 0;
    }
}

/* Looks whether the instruction uses registers too early. */
static void look(gs_wave_t *w, const gs_inst_t *in, const gs_uses_t *uses) {
  gs_wave_waits_t *waits = gs_wave_waits(w);
  for (unsigned i = 0; i < uses->count; i++) {
    const gs_operand_t *use = &uses->use[i];
    if (!any_marked(use->vector ? waits->vectors : waits->scalars, use->first, use->count))
      continue;
    for (unsigned k = waits->count; k-- > 0;)
      if (meets(&waits->pending[k], use, uses))
        meet(w, in, use, k);
  }
}

/* ---- Instructions ---- */

static void run(const gs_wait_t *wait, gs_wave_t *w, const gs_inst_t *in, const gs_digest_t *digest) {
  if (wait->execute)
    wait->execute(w, in, digest);
  else
    in->fn(w, in);
}

/* How many wait states it is. Compilers look at functions one by one, and count on it that a call or a return
 * takes long enough, for which instructions have to be fetched from elsewhere. */
static uint32_t states_of(const gs_inst_t *in, const gs_wait_rule_t *rule) {
  if (rule->step == GS_STEP_IDLE)
    return ((uint32_t)in->imm & 0xf) + 1;
  return rule->step == GS_STEP_JUMP ? GS_MOST_STATES : 1;
}

/* What it adds to the count of VALU instructions. */
static gs_valus_t valus_of(const gs_inst_t *in, const gs_wait_rule_t *rule) {
  const bool waits = rule->step == GS_STEP_WAIT_RESULTS && !((uint32_t)in->imm >> 12 & 0xf); /* va_vdst(0) */
  return (gs_valus_t){.all = rule->valus.all,
                      .real = rule->valus.real,
                      .trans = rule->valus.trans,
                      .results = waits ? GS_MANY_VALUS : rule->valus.results};
}

/* What the instruction, which was executed, means for those behind it. */
static void obey(gs_wave_t *w, const gs_inst_t *in, const gs_wait_rule_t *rule, const gs_uses_t *uses,
                 const gs_digest_t *digest, uint64_t pc) {
  gs_wave_waits_t *waits = gs_wave_waits(w);
  waits->clock += states_of(in, rule);
  const gs_valus_t valus = valus_of(in, rule);
  gs_valus_add(&waits->valus, &valus);
  if (rule->counters)
    begin_operation(w, pc, uses);
  else if (rule->step >= GS_STEP_WAIT && rule->step <= GS_STEP_WAIT_ALL)
    obey_wait(w, (gs_step_t)rule->step, (uint32_t)in->imm);
  else if (rule->step == GS_STEP_BARRIER)
    gs_local_barrier(waits);
  else if (rule->step == GS_STEP_END)
    gs_local_finish(waits);
  if (rule->kinds & GS_KIND_SALU && !(rule->kinds & GS_KIND_SETREG) && rule->dst &&
      waits->recent | waits->old)
    gs_states_overwrite(waits, in->dst, rule->dst);
  if (gs_digest_has_uses(digest)) {
    if (digest->is_kept)
      gs_states_keep(waits, &digest->done, digest->from, pc);
  } else if (rule->from) {
    gs_states_note(w, in, rule, pc);
  }
}

/* What must be known of an instruction of memory in front of it. */
static void prepare(const gs_wait_t *wait, gs_wave_t *w, const gs_inst_t *in, const gs_wait_rule_t *rule,
                    const gs_uses_t *uses) {
  if (wait->tell_use)
    gs_local_begin(gs_wave_waits(w), in, w->pc - in->size);
  if (wait->late & GS_LATE_LOADS)
    gs_late_begin(w, rule, uses);
}

/* Modes, and what is a jump to who knows where, end a block by themselves. */
static gs_passing_t passing_of(const gs_inst_t *in, const gs_wait_rule_t *rule, const gs_digest_t *digest) {
  if (!digest->is_plain_wait)
    return GS_PASSES_NOT;
  if (in->op->encoding == GS_ENC_SOPP && rule->step != GS_STEP_IDLE)
    return in->op->src[0] == GS_T_BRANCH ? GS_PASSES_LAST : GS_PASSES_NOT;
  return rule->step == GS_STEP_JUMP || rule->kinds & GS_KIND_SETREG ? GS_PASSES_LAST : GS_PASSES;
}

gs_passing_t gs_digest_wait(const gs_wait_t *wait, gs_target_t target, const gs_inst_t *in,
                            gs_digest_t *digest) {
  const gs_wait_rule_t *rule = &wait->rules[in->op - gs_opcodes];
  const bool is_step = rule->step == GS_STEP_ONE || rule->step == GS_STEP_IDLE || rule->step == GS_STEP_JUMP;
  digest->is_plain_wait = is_step && !rule->counters && !rule->by_m0;
  digest->states = (uint8_t)states_of(in, rule);
  digest->valus = valus_of(in, rule);
  if (rule->kinds & GS_KIND_SALU && !(rule->kinds & GS_KIND_SETREG)) {
    digest->overwritten = rule->dst;
    digest->first_overwritten = in->dst;
  }
  digest->is_kept = gs_states_digest(target, in, rule, &digest->done, &digest->from, &digest->to);
  if (!(digest->scalars[0] | digest->scalars[1]))
    digest->to = gs_states_without_scalars(digest->to);
  return passing_of(in, rule, digest);
}

/* Whether the instruction comes behind nothing that it has to wait for. */
static bool is_free(gs_wave_waits_t *waits, const gs_digest_t *digest) {
  return digest && digest->is_plain_wait && !waits->late &&
         !gs_digest_meets(digest, waits->vectors, waits->scalars) &&
         !(digest->to & gs_states_recent(waits) && gs_states_matter(waits, digest->to, digest->scalars));
}

/* Whether the instruction, of any kind, may use a register that somebody will write. */
static bool may_meet(const gs_wave_waits_t *waits, const gs_digest_t *digest) {
  return waits->marked &&
         (!gs_digest_has_uses(digest) || gs_digest_meets(digest, waits->vectors, waits->scalars));
}

/* Executes an instruction that comes behind nothing. */
static void go_on(const gs_wait_t *wait, gs_wave_t *w, const gs_inst_t *in, const gs_digest_t *digest) {
  gs_wave_waits_t *waits = gs_wave_waits(w);
  const uint64_t pc = w->pc - in->size;
  run(wait, w, in, digest);
  if (w->state == GS_WAVE_FAULTED)
    return;
  waits->clock += digest->states;
  gs_valus_add(&waits->valus, &digest->valus);
  if (digest->overwritten && waits->recent | waits->old)
    gs_states_overwrite(waits, digest->first_overwritten, digest->overwritten);
  if (digest->is_kept)
    gs_states_keep(waits, &digest->done, digest->from, pc);
}

/* Executes a wait or a barrier, which have to do with no register. */
static void stop(const gs_wait_t *wait, gs_wave_t *w, const gs_inst_t *in, const gs_wait_rule_t *rule,
                 const gs_digest_t *digest) {
  const uint64_t pc = w->pc - in->size;
  run(wait, w, in, digest);
  if (w->state != GS_WAVE_FAULTED)
    obey(w, in, rule, NULL, digest, pc);
}

/* Rows of wait states that may end with the instruction, and have to be looked at. */
static gs_rows_t find_rows(const gs_wait_t *wait, gs_wave_waits_t *waits, const gs_wait_rule_t *rule,
                           const gs_digest_t *digest) {
  if (!wait->tell_states && !(wait->late & GS_LATE_STATES))
    return 0;
  if (!gs_digest_has_uses(digest))
    return rule->to & gs_states_recent(waits);
  const gs_rows_t rows = digest->to & gs_states_recent(waits);
  return rows && gs_states_matter(waits, rows, digest->scalars) ? rows : 0;
}

/* What the instruction uses; without a digest only if somebody wants to know. */
static void find_uses(gs_wave_t *w, const gs_inst_t *in, const gs_wait_rule_t *rule,
                      const gs_digest_t *digest, bool is_wanted, gs_uses_t *uses) {
  uses->count = 0;
  if (gs_digest_has_uses(digest)) {
    uses->count = digest->use_count;
    memcpy(uses->use, digest->use, sizeof digest->use);
    gs_wait_mask_uses(uses, gs_exec(w));
  } else if (is_wanted || rule->counters) {
    gs_wait_uses(w, in, rule, uses);
  }
  if (rule->counters)
    gs_wait_counts_in(w, in, rule, uses);
}

static void execute(gs_wave_t *w, const gs_inst_t *in, const void *made) {
  const gs_wait_t *wait = gs_wait_of(w);
  const gs_digest_t *digest = made;
  gs_wave_waits_t *waits = gs_wave_waits(w);
  if (!waits || !in->op) {
    run(wait, w, in, digest);
    return;
  }
  if (GS_LIKELY(is_free(waits, digest))) {
    go_on(wait, w, in, digest);
    return;
  }
  const gs_wait_rule_t *rule = &wait->rules[in->op - gs_opcodes];
  if (rule->step == GS_STEP_WAIT || rule->step == GS_STEP_BARRIER) {
    stop(wait, w, in, rule, digest);
    return;
  }
  const uint64_t pc = w->pc - in->size;
  const gs_rows_t rows = find_rows(wait, waits, rule, digest);
  gs_uses_t uses;
  find_uses(w, in, rule, digest, waits->marked || rows, &uses);
  waits->overwritten = 0;
  if (may_meet(waits, digest))
    look(w, in, &uses);
  if (rows)
    gs_states_look(w, in, rule, rows, &uses);
  if (rule->counters)
    prepare(wait, w, in, rule, &uses);
  run(wait, w, in, digest);
  if (GS_UNLIKELY(gs_late_is_taken(waits, GS_LATE_SPOILED)))
    gs_late_mend(w);
  if (w->state == GS_WAVE_FAULTED) /* and may be repeated */
    return;
  if (GS_UNLIKELY(waits->overwritten))
    bring_overwritten(w);
  obey(w, in, rule, &uses, digest, pc);
}

static void begin(gs_wave_t *w, const gs_begin_t *begin) {
  const gs_wait_t *wait = gs_wait_of(w);
  gs_group_waits_t *group = begin->keep[GS_KEEP_WAITS];
  if (wait->begin)
    wait->begin(w, begin);
  if (!group)
    begin->keep[GS_KEEP_WAITS] = group =
        aligned_alloc(_Alignof(gs_group_waits_t),
                      sizeof *group + (wait->late ? GS_GROUP_WAVES_MAX * sizeof *group->late : 0));
  w->waits = NULL;
  if (!group || !(w->env->target & GS_WAIT_TARGETS)) /* without memory for it the wave is not followed */
    return;
  gs_wave_waits_t *waits = &group->wave[begin->wave];
  if (begin->wave == 0) {
    group->marked = 0;
    memset(group->owner, 0, ((size_t)w->env->lds_bytes + 3) / 4 * sizeof *group->owner);
  }
  group->waves = begin->wave + 1;
  memset(waits, 0, offsetof(gs_wave_waits_t, done));
  waits->group = group;
  waits->index = begin->wave;
  waits->late = wait->late ? group->late[begin->wave] : NULL;
  for (unsigned i = 0; i < GS_LOCAL_WRITES; i++) {
    group->write[begin->wave][i].count = 0;
    group->write[begin->wave][i].marked = false;
  }
  w->waits = waits;
}

/* ---- The tool ---- */

static void ignore_lanes(gs_wave_t *w, const gs_access_t *a) {
  (void)w;
  (void)a;
}
static void ignore_block(gs_wave_t *w, uint64_t address, uint64_t size, uint32_t stride, uint32_t rights,
                         bool scalar) {
  (void)w;
  (void)address;
  (void)size;
  (void)stride;
  (void)rights;
  (void)scalar;
}

/* Alone, a tool is called without being asked whether it wants to be. */
static const gs_watch_t watch = {.lanes = ignore_lanes,
                                 .mixed = gs_local_mixed,
                                 .block = ignore_block,
                                 .lds = ignore_lanes,
                                 .local = gs_local_lanes,
                                 .local_block = gs_local_block,
                                 .execute = execute,
                                 .begin = begin};

int gs_wait_create(gs_check_t *check, bool tells, uint32_t late) {
  gs_wait_t *wait = calloc(1, sizeof *wait);
  if (!wait)
    return -1;
  check->wait = wait;
  wait->tell_use = tells ? gs_wait_report_use : NULL;
  wait->tell_states = tells ? gs_wait_report_states : NULL;
  wait->late = late;
  wait->sweep = gs_sweep_for_processor();
  wait->execute = check->watch.execute;
  wait->begin = check->watch.begin;
  wait->rules = calloc(gs_opcode_count, sizeof *wait->rules);
  if (!wait->rules)
    return -1;
  gs_wait_fill_rules(wait->rules);
  gs_states_fill_rules(wait->rules);
  gs_check_share(check, &watch);
  return 0;
}

void gs_wait_destroy(gs_check_t *check) {
  if (check->wait)
    free(check->wait->rules);
  free(check->wait);
}
