/* What strips have in common: values that are the same in all of them, which are made before the first one;
 * and two strips at once, with one copy of what is the same in both. Not here: registers (strip_emit.c). */
#include <stdlib.h>
#include <string.h>

#include "translate/strip_alloc.h"

/* ---- What is the same in all strips ---- */

typedef struct hoist {
  bool is_same[GS_STRIP_VALUES];   /* made of scalar registers and constants alone */
  uint8_t cost[GS_STRIP_VALUES];   /* instructions that make it */
  uint16_t score[GS_STRIP_VALUES]; /* of those that something else is made of; what it is worth to keep it */
  bool is_before[GS_STRIP_VALUES]; /* to be made before the first strip */
} hoist_t;

static bool is_same_in_all(const hoist_t *h, const gs_strip_value_t *v) {
  if (v->kind == GS_VALUE_SCALAR || v->kind == GS_VALUE_CONSTANT)
    return true;
  if (v->kind != GS_VALUE_OP || v->role != GS_ROLE_VECTOR || v->general_count ||
      v->op->memory == GS_MEMORY_ROW || v->op->memory == GS_MEMORY_MASK)
    return false;
  bool is_same = !v->op->role[GS_FIELD_MASK];
  for (unsigned f = 0; f < GS_FIELDS; f++)
    is_same &= v->src[f] < 0 || h->is_same[v->src[f]];
  return is_same;
}

/* Finds out what is the same, and who needs it. */
static void judge(const gs_allocator_t *a, hoist_t *h) {
  enum { MOST_COST = 60, PER_COST = 4 };
  for (unsigned i = 0; i < a->s->count; i++) {
    const gs_strip_value_t *v = &a->s->value[i];
    unsigned cost = v->kind == GS_VALUE_CONSTANT ? 2 : 1;
    h->is_same[i] = is_same_in_all(h, v) && !a->s->is_guarded[i]; /* which strips are asked for */
    for (unsigned f = 0; f < GS_FIELDS; f++)
      if (v->src[f] >= 0 && h->is_same[i])
        cost += h->cost[v->src[f]];
      else if (v->src[f] >= 0 && a->last_use[i] >= 0 && h->is_same[v->src[f]])
        h->score[v->src[f]]++;
    h->cost[i] = (uint8_t)(cost < MOST_COST ? cost : MOST_COST);
  }
  for (unsigned i = 0; i < a->s->count; i++)
    if (h->score[i])
      h->score[i] = (uint16_t)(h->score[i] + PER_COST * h->cost[i]);
}

/* How many values at most wait for somebody who needs them, in registers of that class. */
static unsigned pressure(const gs_allocator_t *a, const hoist_t *h, unsigned role) {
  unsigned live = 0, most = 0, ends[GS_STRIP_VALUES] = {0};
  for (unsigned i = 0; i < a->s->count; i++) {
    const gs_strip_value_t *v = &a->s->value[i];
    live -= ends[i];
    if (a->last_use[i] < (int)i || v->role != role || h->is_same[i] ||
        (v->kind != GS_VALUE_OP && v->kind != GS_VALUE_LOAD && v->kind != GS_VALUE_MASK))
      continue;
    ends[a->last_use[i]]++;
    live++;
    most = live > most ? live : most;
  }
  return most;
}

/* The value that it is worth most to keep, and -1 when there is none left. */
static int best_of(const gs_strip_t *s, const hoist_t *h) {
  int best = -1;
  for (int i = 0; i < (int)s->count; i++)
    if (h->score[i] && !h->is_before[i] && (best < 0 || h->score[i] > h->score[best]))
      best = i;
  return best;
}

/* Makes the chosen values, and what they are made of. */
static void make_before(gs_allocator_t *a, hoist_t *h) {
  gs_strip_t *const s = a->s;
  bool is_kept[GS_STRIP_VALUES];
  memcpy(is_kept, h->is_before, sizeof is_kept);
  memset(a->last_use, -1, sizeof a->last_use);
  for (int i = (int)s->count - 1; i >= 0; i--)
    for (unsigned f = 0; f < GS_FIELDS && h->is_before[i]; f++) {
      const int value = s->value[i].src[f];
      a->last_use[i] = is_kept[i] ? GS_NEVER : a->last_use[i];
      if (value < 0)
        continue;
      h->is_before[value] = true;
      if (a->last_use[value] < i)
        a->last_use[value] = (int16_t)i;
    }
  for (a->at = 0; a->at < (int)s->count && !s->is_full; a->at++) {
    if (!h->is_before[a->at])
      continue;
    gs_alloc_emit(a);
    if (!is_kept[a->at])
      continue;
    const unsigned reg = gs_alloc_need(a, a->at);
    gs_alloc_pin(a, a->at, reg);
    s->pinned[a->at] = (int8_t)reg;
  }
}

void gs_strip_hoist(gs_strip_t *s, gs_emitter_t *e) {
  enum { FEWEST = 4, SPARE = 4 };
  gs_allocator_t a;
  hoist_t h;
  memset(&h, 0, sizeof h);
  gs_alloc_begin(&a, s, e);
  gs_alloc_find_uses(&a);
  judge(&a, &h);
  const unsigned busy = pressure(&a, &h, GS_ROLE_VECTOR) + SPARE, most = a.vectors_end * 2 / 3 + 1;
  unsigned room = busy + FEWEST > a.vectors_end ? FEWEST : a.vectors_end - busy;
  if (room > most)
    room = most;
  for (int best = best_of(s, &h); room && best >= 0; best = best_of(s, &h), room--)
    h.is_before[best] = true;
  make_before(&a, &h);
}

/* ---- Two strips at once ---- */

/* Where each instruction waits for the one before, processors have time for another strip's, but do not see
 * so far ahead: the two are done in turns. */

/* Whether the value is the same for both: also one that comes from constants by way of a general register,
 * which cannot be kept in front of the strips. */
static bool is_shared(const bool *are_shared, const gs_strip_t *s, int i) {
  const gs_strip_value_t *const v = &s->value[i];
  if (v->kind == GS_VALUE_SCALAR || v->kind == GS_VALUE_CONSTANT)
    return true;
  if (v->kind != GS_VALUE_OP || v->op->memory == GS_MEMORY_ROW || v->op->memory == GS_MEMORY_MASK ||
      s->is_guarded[i])
    return v->kind == GS_VALUE_NOTHING || v->kind == GS_VALUE_GUARDED;
  bool is = true;
  for (unsigned f = 0; f < GS_FIELDS; f++)
    is &= v->src[f] < 0 || are_shared[v->src[f]];
  for (unsigned g = 0; g < v->general_count; g++)
    is &= are_shared[v->general[g]];
  return is;
}
/* Loads go on by one strip; and of general registers there is one each, which has what both strips share, or
 * nothing: who reads it for the second strip comes right behind who does for the first. */
static bool may_have_twin(const gs_strip_value_t *v) {
  if (v->kind == GS_VALUE_OP)
    return v->op->memory != GS_MEMORY_MASK && !v->op->writes;
  return v->kind != GS_VALUE_LOAD && v->kind != GS_VALUE_MASK_BITS;
}

/* Where values of both strips come to. */
typedef struct turns {
  bool are_shared[GS_STRIP_VALUES];
  int16_t first[GS_STRIP_VALUES], second[GS_STRIP_VALUES];
  unsigned count;
} turns_t;

/* Values of the second strip find theirs by that. */
static gs_strip_value_t twin_of(const gs_strip_value_t *v) {
  gs_strip_value_t twin = *v;
  twin.half = 1;
  return twin;
}
/* A copy of a value with what it is made of, where that is now. */
static gs_strip_value_t moved(const gs_strip_value_t *v, const int16_t to[GS_STRIP_VALUES]) {
  gs_strip_value_t copy = *v;
  for (unsigned f = 0; f < GS_FIELDS; f++)
    copy.src[f] = v->src[f] < 0 ? v->src[f] : to[v->src[f]];
  for (unsigned g = 0; g < v->general_count; g++)
    copy.general[g] = to[v->general[g]];
  return copy;
}
static bool make_twins(gs_strip_t *s, const turns_t *t) {
  bool is_guarded[GS_STRIP_VALUES];
  gs_strip_value_t *const old = malloc(s->count * sizeof *old);
  if (!old)
    return false;
  memcpy(old, s->value, s->count * sizeof *old);
  memcpy(is_guarded, s->is_guarded, sizeof is_guarded);
  for (unsigned i = 0; i < s->count; i++) {
    const gs_strip_value_t twin = twin_of(&old[i]);
    s->value[t->first[i]] = moved(&old[i], t->first);
    if (!t->are_shared[i])
      s->value[t->second[i]] = moved(&twin, t->second);
    s->is_guarded[t->first[i]] = s->is_guarded[t->second[i]] = is_guarded[i];
  }
  s->count = t->count;
  free(old);
  return true;
}

bool gs_strip_double(gs_strip_t *s, gs_emitter_t *e) {
  enum { MOST_MASKS = 3 };
  gs_allocator_t a;
  hoist_t h;
  turns_t t = {.count = 0};
  memset(&h, 0, sizeof h);
  gs_alloc_begin(&a, s, e);
  gs_alloc_find_uses(&a);
  judge(&a, &h);
  if (2 * s->count > GS_STRIP_VALUES || pressure(&a, &h, GS_ROLE_VECTOR) > a.vectors_end * 3 / 8 ||
      pressure(&a, &h, GS_ROLE_MASK) > MOST_MASKS)
    return false;
  for (int i = 0; i < (int)s->count; i++) {
    const bool is_needed = a.last_use[i] >= 0;
    t.are_shared[i] = !is_needed || is_shared(t.are_shared, s, i);
    if (!t.are_shared[i] && !may_have_twin(&s->value[i]))
      return false;
    t.first[i] = (int16_t)t.count++;
    t.second[i] = t.are_shared[i] ? t.first[i] : (int16_t)t.count++;
  }
  return make_twins(s, &t);
}
