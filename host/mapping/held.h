/* The short way of a region whose arguments all are literals, or mapped already: it only counts, and has
 * neither items nor a work. What counting that way needs is here for the other quick ways, too. */
#ifndef MAP_HELD_H
#define MAP_HELD_H

#include "entry.h"
#include "map.h"

/* A region of which all is mapped already has no items: it holds a count and a pin of each entry, in the
 * order of its arguments but for literals. */
#define MAP_HELD_UNITS (MAP_DYNAMIC_ONE + MAP_PIN_ONE)
#define MAP_WORD       (MAP_LITERAL | MAP_TARGET_PARAM)

/* What the quick ways are for. */
static inline bool map_is_plain(uint64_t type) {
  const uint64_t plain = MAP_TO | MAP_FROM | MAP_TARGET_PARAM | MAP_IMPLICIT | MAP_CLOSE | MAP_PRESENT;
  return (type | plain) == plain;
}

/* Counts an entry if others do, too, so that it stays, and nobody is about to copy it. Without the lock
 * counts only become less, and with that the word changes: then it is not so any more. */
static inline bool map_entry_join_quickly(map_entry_t *entry, uint64_t units) {
  /* Acquire pairs with map_entry_filled: who does not see it being filled sees the mark. */
  uint64_t word = atomic_load_explicit(&entry->word, memory_order_acquire), now = word + units;
  if ((int32_t)now <= 1 || now >> MAP_UNUSUAL_SHIFT ||
      atomic_load_explicit(&entry->mark, memory_order_acquire))
    return false;
  return atomic_compare_exchange_strong_explicit(&entry->word, &word, now, memory_order_acq_rel,
                                                 memory_order_relaxed);
}

/* Gives back what a region holds without items, as long as others have counted it, too. Returns how many are
 * given back: the first ones. */
static inline uint32_t map_drop_held(map_entry_t *const *held, uint32_t count) {
  uint32_t i = 0;
  for (; i < count; i++) {
    _Atomic uint64_t *word = &held[i]->word;
    uint64_t now = atomic_load_explicit(word, memory_order_relaxed);
    if ((int32_t)now <= 1 ||
        !atomic_compare_exchange_strong_explicit(word, &now, now - MAP_HELD_UNITS, memory_order_acq_rel,
                                                 memory_order_relaxed))
      break;
  }
  return i;
}

/* ---- regions ---- */

typedef struct map_held {
  uint32_t count;
  map_entry_t *entries[MAP_ITEMS_INLINE];
} map_held_t;

/* Whether such a region can come in question: each argument is one of the kernel's, and nobody listens. */
static inline bool map_held_may(const map_arguments_t *arguments) {
  return arguments->count <= MAP_ITEMS_INLINE && arguments->bases && arguments->begins && arguments->sizes &&
         arguments->types && !arguments->mappers;
}

/* Holds all of its entries, under the lock, and writes the kernel's words, one an argument. Returns how many
 * arguments were like that: if not all, what is held is to be given back. */
static inline __attribute__((always_inline)) uint32_t
map_held_begin(map_table_t *table, const map_arguments_t *arguments, uint64_t *words, map_held_t *held) {
  map_entry_t **next = held->entries;
  const size_t count = arguments->count;
  size_t i = 0;
  atmi_spin_lock(&table->lock);
  map_entry_t *const *hints = table->hints;
  const uint32_t shift = table->hint_shift;
  for (; i < count; i++) {
    uint64_t type = (uint64_t)arguments->types[i];
    uintptr_t host = (uintptr_t)arguments->begins[i];
    if (__builtin_expect(!(type & MAP_TARGET_PARAM) || !map_is_plain(type), 0)) {
      if ((type & MAP_WORD) != MAP_WORD)
        break;
      words[i] = (uintptr_t)arguments->bases[i];
      continue;
    }
    map_entry_t *entry = hints[host * UINT64_C(0x9e3779b97f4a7c15) >> shift];
    if (!entry || !map_entry_contains(entry, host, (uint64_t)arguments->sizes[i]) ||
        !map_entry_join_quickly(entry, MAP_HELD_UNITS))
      break;
    *next++ = entry;
    words[i] = map_entry_device(entry, (uintptr_t)arguments->bases[i]);
  }
  atmi_spin_unlock(&table->lock);
  held->count = (uint32_t)(next - held->entries);
  return (uint32_t)i;
}

/* A work that has just begun takes over what a region holds but for the first `gone` ones, as if it had
 * entered it; `left`: and left. It is to be ended. */
void map_work_take_held(map_work_t *work, const map_arguments_t *arguments, const map_held_t *held,
                        uint32_t gone, bool left);

/* Whether a region that was entered holds all it needs like that. */
static inline bool map_work_only_holds(const map_work_t *work) {
  return work->held_count && !work->item_count;
}

#endif
