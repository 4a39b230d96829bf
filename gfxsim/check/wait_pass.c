/* Blocks that the tool "wait" need not see: what their instructions on registers have to do with is known
 * when they are translated, and where the wave waits for none of it they are executed as without the tool.
 * Not here: what is outstanding (wait.c), and the rows of wait states (wait_states.c). */
#include <stdlib.h>
#include <string.h>

#include "check/digest.h"

/* A sum in the making. */
typedef struct summary {
  gs_wait_sum_t *sum;
  gs_wave_waits_t waits; /* of a wave that executes nothing but this; up to `pending` */
} summary_t;

static void add_registers(gs_wait_sum_t *sum, const gs_digest_t *digest) {
  for (unsigned i = 0; i < digest->words; i++)
    sum->rows[digest->word[i]] |= digest->rows[i];
  for (unsigned i = 0; i < GS_DIGEST_SCALARS; i++)
    sum->scalars[i] |= digest->scalars[i];
  const unsigned end = digest->first_overwritten + digest->overwritten;
  for (unsigned reg = digest->first_overwritten; reg < end && reg < GS_S_OPERANDS; reg++)
    sum->overwritten[reg / 64] |= UINT64_C(1) << reg % 64;
}

/* The same steps as if it were executed. Returns false when it has to be seen. */
static bool add(summary_t *s, const gs_passage_t *passage) {
  const gs_digest_t *digest = passage->digest;
  gs_wave_waits_t *waits = &s->waits;
  if (digest->to && gs_states_matter(waits, digest->to, digest->scalars))
    return false;
  add_registers(s->sum, digest);
  s->sum->to |= gs_states_beyond(digest->to, GS_MOST_PASSES, waits->clock);
  waits->clock += digest->states;
  gs_valus_add(&waits->valus, &digest->valus);
  if (digest->overwritten)
    gs_states_overwrite(waits, digest->first_overwritten, digest->overwritten);
  if (digest->is_kept)
    gs_states_keep(waits, &digest->done, digest->from, passage->pc);
  return true;
}

/* Keeps what may matter behind the block. */
static void finish(summary_t *s) {
  const gs_wave_waits_t *waits = &s->waits;
  const unsigned most = waits->done_count < GS_MOST_STATES ? waits->done_count : GS_MOST_STATES;
  gs_wait_sum_t *sum = s->sum;
  sum->states = waits->clock;
  sum->valus = waits->valus;
  for (unsigned back = most; back; back--) {
    const gs_done_t *done = &waits->done[(waits->done_count - back) % GS_DONE_KEPT];
    const gs_rows_t from = gs_states_beyond(done->from, done->passes, waits->clock - done->clock);
    if (!from)
      continue;
    sum->done[sum->done_count++] = *done;
    sum->from |= from;
    if (done->kinds & GS_KIND_VALU)
      gs_states_mark(sum->kept_scalars, done);
  }
}

bool gs_wait_sum(gs_wait_sum_t *sum, const gs_passage_t *block, unsigned count) {
  summary_t *s = calloc(1, sizeof *s);
  bool passes = s;
  memset(sum, 0, sizeof *sum);
  if (s)
    s->sum = sum;
  for (unsigned i = 0; passes && i < count; i++)
    passes = add(s, &block[i]);
  if (passes)
    finish(s);
  free(s);
  return passes;
}

/* Whether the block has to do with registers that somebody will write. */
static bool meets(const gs_wait_sum_t *sum, const gs_wave_waits_t *waits) {
  uint64_t met = 0;
  for (unsigned i = 0; i < GS_VGPRS / 64; i++)
    met |= sum->rows[i] & waits->vectors[i];
  for (unsigned i = 0; i < GS_DIGEST_SCALARS; i++)
    met |= sum->scalars[i] & waits->scalars[i];
  return met;
}

/* Scalar registers whose results VALU instructions before the block may still hold back are the block's own
 * where it writes over them: nothing in it minds, whatever the order. */
static void overwrite(const gs_wait_sum_t *sum, gs_wave_waits_t *waits) {
  for (unsigned i = 0; i < GS_DIGEST_SCALARS; i++) {
    uint64_t left = sum->overwritten[i] & (waits->recent_scalars[i] | waits->old_scalars[i]);
    while (left) {
      const unsigned first = (unsigned)__builtin_ctzll(left);
      const uint64_t behind = ~(left >> first);
      const unsigned count = behind ? (unsigned)__builtin_ctzll(behind) : 64;
      gs_states_overwrite(waits, 64 * i + first, count);
      left = first + count == 64 ? 0 : left & UINT64_MAX << (first + count);
    }
  }
}

bool gs_wait_pass(gs_wave_t *w, const gs_wait_sum_t *sum) {
  gs_wave_waits_t *waits = gs_wave_waits(w);
  if (!waits)
    return true;
  const gs_rows_t recent = gs_states_recent(waits);
  if ((waits->marked && meets(sum, waits)) ||
      (sum->to & recent && gs_states_matter(waits, sum->to, sum->scalars)))
    return false;
  if (recent)
    overwrite(sum, waits);
  const uint32_t clock = waits->clock;
  const gs_valus_t valus = waits->valus;
  waits->clock += sum->states;
  gs_valus_add(&waits->valus, &sum->valus);
  gs_states_recent(waits); /* forgets what is long over now, and not what the block adds */
  waits->recent |= sum->from;
  for (unsigned i = 0; i < GS_DIGEST_SCALARS; i++)
    waits->recent_scalars[i] |= sum->kept_scalars[i];
  for (unsigned i = 0; i < sum->done_count; i++) {
    gs_done_t *kept = &waits->done[waits->done_count++ % GS_DONE_KEPT];
    *kept = sum->done[i];
    kept->clock += clock;
    gs_valus_add(&kept->valus, &valus);
  }
  return true;
}
