/* Strictness "wait": what a load brings is kept back until s_waitcnt says that it is there, and the register
 * holds something else meanwhile, which a card may show as well. Not here: when that is (wait.c). */
#include <string.h>

#include "check/wait.h"

/* The bits of register `i` of a result. */
static uint32_t bits_of(const gs_late_t *late, unsigned i) {
  return i + 1u == late->at.count ? late->last_bits : UINT32_MAX;
}

/* Puts `from`'s bits into those lanes of `to`. */
static void mix_row(gs_row_t *to, const gs_row_t *from, uint64_t lanes, uint32_t bits) {
  for (uint64_t left = lanes; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctzll(left);
    to->u32[l] = (to->u32[l] & ~bits) | (from->u32[l] & bits);
  }
}

void gs_late_begin(gs_wave_t *w, const gs_wait_rule_t *rule, const gs_uses_t *uses) {
  gs_wave_waits_t *waits = gs_wave_waits(w);
  const gs_operand_t *at = NULL;
  waits->keeping = NULL;
  for (unsigned i = 0; i < uses->count; i++)
    if (uses->use[i].writes && (!uses->use[i].vector || uses->use[i].lanes))
      at = &uses->use[i];
  if (!at || at->count > (at->vector ? (unsigned)GS_LATE_ROWS : (unsigned)GS_LATE_SCALARS))
    return;
  gs_late_t *late = waits->late;
  while (late->taken) /* there are as many as operations that may be outstanding */
    late++;
  late->at = *at;
  late->last_bits = rule->last_bits;
  if (at->vector)
    memcpy(late->row, &w->v[at->first], at->count * sizeof *late->row);
  else
    memcpy(late->scalar, &w->s.u32[at->first], at->count * sizeof *late->scalar);
  waits->keeping = late;
}

/* Exchanges what is in the registers and what is kept, and puts poison there if that is wanted. */
static void hide_row(gs_row_t *reg, gs_row_t *kept, const gs_late_t *late, uint32_t bits, uint32_t kind) {
  const gs_row_t old = *kept;
  *kept = *reg;
  *reg = old;
  gs_row_t poison;
  if (kind != GS_LATE_POISON)
    return;
  for (unsigned l = 0; l < GS_MAX_LANES; l++)
    poison.u32[l] = gs_poison_word(GS_POISON_FREED, NULL, 0);
  mix_row(reg, &poison, late->at.lanes, bits);
}

static void hide_scalar(uint32_t *reg, uint32_t *kept, uint32_t kind) {
  const uint32_t old = *kept;
  *kept = *reg;
  *reg = kind == GS_LATE_POISON ? gs_poison_word(GS_POISON_FREED, NULL, 0) : old;
}

unsigned gs_late_end(gs_wave_t *w, uint32_t kind) {
  gs_wave_waits_t *waits = gs_wave_waits(w);
  gs_late_t *late = waits->keeping;
  waits->keeping = NULL;
  if (!late)
    return 0;
  late->taken = true;
  for (unsigned i = 0; i < late->at.count; i++)
    if (late->at.vector)
      hide_row(&w->v[late->at.first + i], &late->row[i], late, bits_of(late, i), kind);
    else
      hide_scalar(&w->s.u32[late->at.first + i], &late->scalar[i], kind);
  return (unsigned)(late - waits->late) + 1;
}

void gs_late_arrive(gs_wave_t *w, unsigned slot) {
  gs_late_t *late = &gs_wave_waits(w)->late[slot];
  late->taken = false;
  for (unsigned i = 0; i < late->at.count; i++)
    if (late->at.vector)
      mix_row(&w->v[late->at.first + i], &late->row[i], late->at.lanes, bits_of(late, i));
    else
      w->s.u32[late->at.first + i] = late->scalar[i];
}
