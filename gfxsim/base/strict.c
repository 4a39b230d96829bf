/* The words of the list as one table, and the generator of what looks random. */
#include "base/strict.h"

#include <stdio.h>
#include <string.h>

enum { MOST_KINDS = 5 };

/* The kinds in the order of their bits. */
static const struct {
  const char *name;
  const char *kind[MOST_KINDS];
} mode_table[GS_STRICT_MODES] = {
    [GS_STRICT_POISON] = {"poison", {"d0bed0be", "ones", "nan", "random", "leftovers"}},
    [GS_STRICT_ORDER] = {"order", {"overlap", "late", "copies", "index", "events"}},
    [GS_STRICT_SCHEDULE] = {"schedule", {"waves", "groups", "starve", "preempt"}},
    [GS_STRICT_LINKS] = {"links", {"atomics", "numa", "hive", "memory", "queues"}},
    [GS_STRICT_DRIVER] = {"driver", {"evict", "faults"}},
    [GS_STRICT_WAIT] = {"wait", {"old", "poison", "states"}},
};

static uint32_t all_kinds(unsigned mode) {
  uint32_t kinds = 0;
  for (unsigned i = 0; i < MOST_KINDS && mode_table[mode].kind[i]; i++)
    kinds |= UINT32_C(1) << i;
  return kinds;
}

static bool is_word(const char *text, size_t length, const char *word) {
  return word && strlen(word) == length && memcmp(text, word, length) == 0;
}

static void take_whole(gs_strict_t *strict, unsigned mode) {
  strict->kinds[mode] |= all_kinds(mode);
  strict->whole |= UINT32_C(1) << mode;
}

/* Bit of a mode's kind; 0 if it has none of this name. */
static uint32_t find_kind(unsigned mode, const char *text, size_t length) {
  for (unsigned i = 0; i < MOST_KINDS; i++)
    if (is_word(text, length, mode_table[mode].kind[i]))
      return UINT32_C(1) << i;
  return 0;
}

static void list_kinds(unsigned mode, const char *text, int length, char *reason, size_t reason_bytes) {
  size_t used = (size_t)snprintf(reason, reason_bytes, "%.*s: %s has", length > 40 ? 40 : length, text,
                                 mode_table[mode].name);
  for (unsigned i = 0; i < MOST_KINDS && mode_table[mode].kind[i] && used < reason_bytes; i++)
    used +=
        (size_t)snprintf(reason + used, reason_bytes - used, "%s %s", i ? "," : "", mode_table[mode].kind[i]);
}

/* One item of the list, "order" or "order:late". */
static bool take_item(const char *item, size_t length, gs_strict_t *strict, char *reason,
                      size_t reason_bytes) {
  const char *colon = memchr(item, ':', length);
  const size_t name_length = colon ? (size_t)(colon - item) : length;
  const bool all = is_word(item, length, "all");
  for (unsigned mode = 0; mode < GS_STRICT_MODES; mode++) {
    if (all)
      take_whole(strict, mode);
    if (!is_word(item, name_length, mode_table[mode].name))
      continue;
    const uint32_t kind = colon ? find_kind(mode, colon + 1, length - name_length - 1) : 0;
    if (!colon)
      take_whole(strict, mode);
    else if (!kind)
      list_kinds(mode, item, (int)length, reason, reason_bytes);
    strict->kinds[mode] |= kind;
    return !colon || kind;
  }
  if (all)
    return true;
  snprintf(reason, reason_bytes, "%.*s: not all, poison, order, schedule, links, driver or wait",
           length > 40 ? 40 : (int)length, item);
  return false;
}

bool gs_strict_parse(const char *text, gs_strict_t *strict, char *reason, size_t reason_bytes) {
  gs_strict_t wanted = {{0}, 0};
  while (*text) {
    const size_t length = strcspn(text, ",");
    if (!take_item(text, length, &wanted, reason, reason_bytes))
      return false;
    text += length;
    if (*text == ',' && !*++text) {
      snprintf(reason, reason_bytes, "the list ends in a comma");
      return false;
    }
  }
  *strict = wanted;
  return true;
}

/* The n-th of the bits that are set, counted round. */
static uint32_t nth_bit(uint32_t bits, uint32_t n) {
  for (n %= (uint32_t)__builtin_popcount(bits); n; n--)
    bits &= bits - 1;
  return bits & -bits;
}

void gs_strict_choose(gs_strict_t *strict, uint32_t seed) {
  uint32_t *kinds = strict->kinds;
  if (kinds[GS_STRICT_POISON])
    kinds[GS_STRICT_POISON] = nth_bit(kinds[GS_STRICT_POISON], seed);
  const uint32_t loads = kinds[GS_STRICT_WAIT] & GS_LATE_LOADS;
  if (loads)
    kinds[GS_STRICT_WAIT] = nth_bit(loads, seed) | (kinds[GS_STRICT_WAIT] & GS_LATE_STATES);
  if ((strict->whole >> GS_STRICT_LINKS & 1) && (seed & kinds[GS_STRICT_LINKS]))
    kinds[GS_STRICT_LINKS] &= seed;
}

gs_random_t gs_random_of(uint32_t seed, uint64_t thing, uint64_t part) {
  gs_random_t random = {seed};
  random.state = gs_random_next(&random) ^ thing;
  random.state = gs_random_next(&random) ^ part;
  random.state = gs_random_next(&random);
  return random;
}

uint64_t gs_random_delay_ns(gs_random_t *random) {
  enum { SHORT_NS = 100 * 1000, LONG_NS = 2 * 1000 * 1000 };
  const uint32_t chance = gs_random_below(random, 64);
  return chance < 40 ? 0 : gs_random_below(random, chance < 62 ? SHORT_NS : LONG_NS);
}

uint64_t gs_eviction_end(uint32_t seed, uint64_t now) {
  enum { PERIOD_NS = 16 * 1000 * 1000, SHORT_NS = 1000 * 1000, LONG_NS = 2 * 1000 * 1000 };
  const uint64_t period = now / PERIOD_NS, at = now % PERIOD_NS;
  gs_random_t random = gs_random_of(seed, 1, period);
  const bool happens = gs_random_once_in(&random, 2);
  const uint64_t begin = gs_random_below(&random, PERIOD_NS - LONG_NS);
  const uint64_t end = begin + SHORT_NS + gs_random_below(&random, LONG_NS - SHORT_NS);
  return happens && at >= begin && at < end ? period * PERIOD_NS + end : 0;
}

uint32_t gs_poison_word(uint32_t kind, gs_random_t *random, size_t i) {
  switch (kind) {
  case GS_POISON_ONES: return UINT32_MAX;
  case GS_POISON_NAN: return i % 2 ? 0x7ff40000 : 0x7fa00001;
  case GS_POISON_RANDOM: return (uint32_t)(gs_random_next(random) >> 32);
  default: return 0xd0bed0be;
  }
}

/* Words that are made one by one; memory behind them repeats them, which is many times as fast. An odd number
 * of random ones, so that neither registers nor lanes are the same. */
enum { MADE = 1024, MADE_RANDOMLY = 1021 };

/* A number of each word's place, mixed. */
static void fill_randomly(uint32_t seed, uint32_t *word, size_t count) {
  for (size_t i = 0; i < count; i++) {
    uint32_t bits = seed + (uint32_t)i * 0x9e3779b9;
    bits = (bits ^ bits >> 16) * 0x85ebca6b;
    bits = (bits ^ bits >> 13) * 0xc2b2ae35;
    word[i] = bits ^ bits >> 16;
  }
}

static void fill_evenly(uint32_t kind, gs_random_t *random, uint32_t *word, size_t count) {
  const uint32_t even = gs_poison_word(kind, random, 0), odd = gs_poison_word(kind, random, 1);
  for (size_t i = 0; i < count; i++)
    word[i] = i % 2 ? odd : even;
}

void gs_poison_fill(uint32_t kind, gs_random_t *random, void *to, size_t bytes) {
  uint32_t *word = to;
  const size_t count = bytes / sizeof *word, most = kind == GS_POISON_RANDOM ? MADE_RANDOMLY : MADE;
  const size_t made = count < most ? count : most;
  if (kind == GS_POISON_RANDOM)
    fill_randomly((uint32_t)gs_random_next(random), word, made);
  else
    fill_evenly(kind, random, word, made);
  for (size_t at = made; at < count; at += made)
    memcpy(word + at, word, (count - at < made ? count - at : made) * sizeof *word);
}
