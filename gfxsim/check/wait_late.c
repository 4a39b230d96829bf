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

static void take(gs_wave_waits_t *waits, const gs_late_t *late, bool taken) {
  const unsigned slot = (unsigned)(late - waits->late);
  const uint64_t bit = UINT64_C(1) << slot % 64;
  waits->taken[slot / 64] = taken ? waits->taken[slot / 64] | bit : waits->taken[slot / 64] & ~bit;
}

static uint32_t poison(void) {
  return gs_poison_word(GS_POISON_FREED, NULL, 0);
}

static void save(const gs_wave_t *w, const gs_operand_t *at, gs_late_t *late) {
  late->at = *at;
  if (at->vector)
    memcpy(late->row, &w->v[at->first], at->count * sizeof *late->row);
  else
    memcpy(late->scalar, &w->s.u32[at->first], at->count * sizeof *late->scalar);
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
  unsigned slot = 0;
  while (gs_late_is_taken(waits, slot)) /* there are as many as operations that may be outstanding */
    slot++;
  gs_late_t *late = &waits->late[slot];
  /* Where halves of registers are not kept, a load of one brings both. */
  late->last_bits = w->env->target & GS_D16_CLEARS ? UINT32_MAX : rule->last_bits;
  save(w, at, late);
  waits->keeping = late;
}

static void poison_row(gs_row_t *row, uint64_t lanes, uint32_t bits) {
  gs_row_t other;
  for (unsigned l = 0; l < GS_MAX_LANES; l++)
    other.u32[l] = poison();
  mix_row(row, &other, lanes, bits);
}

/* Exchanges what is in the registers and what is kept, and puts poison there if that is wanted. */
static void hide_row(gs_row_t *reg, gs_row_t *kept, const gs_late_t *late, uint32_t bits, uint32_t kind) {
  const gs_row_t old = *kept;
  *kept = *reg;
  *reg = old;
  if (kind & GS_LATE_POISON)
    poison_row(reg, late->at.lanes, bits);
}

static void hide_scalar(uint32_t *reg, uint32_t *kept, uint32_t kind) {
  const uint32_t old = *kept;
  *kept = *reg;
  *reg = kind & GS_LATE_POISON ? poison() : old;
}

unsigned gs_late_end(gs_wave_t *w, uint32_t kind) {
  gs_wave_waits_t *waits = gs_wave_waits(w);
  gs_late_t *late = waits->keeping;
  waits->keeping = NULL;
  if (!late)
    return 0;
  take(waits, late, true);
  for (unsigned i = 0; i < late->at.count; i++)
    if (late->at.vector)
      hide_row(&w->v[late->at.first + i], &late->row[i], late, bits_of(late, i), kind);
    else
      hide_scalar(&w->s.u32[late->at.first + i], &late->scalar[i], kind);
  return (unsigned)(late - waits->late) + 1;
}

void gs_late_arrive(gs_wave_t *w, unsigned slot) {
  gs_late_t *late = &gs_wave_waits(w)->late[slot];
  take(gs_wave_waits(w), late, false);
  for (unsigned i = 0; i < late->at.count; i++)
    if (late->at.vector)
      mix_row(&w->v[late->at.first + i], &late->row[i], late->at.lanes, bits_of(late, i));
    else
      w->s.u32[late->at.first + i] = late->scalar[i];
}

void gs_late_spoil(gs_wave_t *w, const gs_operand_t *at) {
  gs_late_t *late = &gs_wave_waits(w)->late[GS_LATE_SPOILED];
  gs_operand_t part = *at;
  const uint16_t most = at->vector ? GS_LATE_ROWS : GS_LATE_SCALARS;
  if (part.count > most) /* the first are enough */
    part.count = most;
  save(w, &part, late);
  take(gs_wave_waits(w), late, true);
  for (unsigned i = 0; i < part.count; i++)
    if (part.vector)
      poison_row(&w->v[part.first + i], part.lanes, UINT32_MAX);
    else
      w->s.u32[part.first + i] = poison();
}

void gs_late_mend(gs_wave_t *w) {
  gs_late_t *late = &gs_wave_waits(w)->late[GS_LATE_SPOILED];
  take(gs_wave_waits(w), late, false);
  for (unsigned i = 0; i < late->at.count; i++) {
    uint32_t *scalar = &w->s.u32[late->at.first + i];
    if (!late->at.vector && *scalar == poison())
      *scalar = late->scalar[i];
    for (uint64_t left = late->at.vector ? late->at.lanes : 0; left; left &= left - 1) {
      uint32_t *value = &w->v[late->at.first + i].u32[__builtin_ctzll(left)];
      if (*value == poison())
        *value = late->row[i].u32[__builtin_ctzll(left)];
    }
  }
}
