/* The short way of an update, for one list item of one piece that is mapped, has no pointers, and that nobody
 * is about to copy: most are like that. The caller copies; all else needs a work (map.h). */
#ifndef MAP_ONE_H
#define MAP_ONE_H

#include "entry.h"
#include "map.h"

/* Such a list item. */
typedef struct map_one {
  void *host;
  uint64_t bytes, type;
} map_one_t;

/* Whether the arguments look like one: then it is filled in. */
static inline __attribute__((always_inline)) bool map_one_is(const map_arguments_t *arguments,
                                                             map_one_t *one) {
  if (arguments->count != 1 || !arguments->begins || !arguments->sizes || !arguments->types ||
      arguments->mappers)
    return false;
  *one = (map_one_t){arguments->begins[0], (uint64_t)arguments->sizes[0], (uint64_t)arguments->types[0]};
  return (one->type == MAP_TO || one->type == MAP_FROM) && one->bytes;
}

/* Its entry, pinned, to be given to map_one_end after the copy; NULL: a work is to do it. Nobody listens to
 * the table. Counts only become less while the lock is held, and with the last one the word changes: nobody
 * has begun to copy since it was looked at. */
static inline __attribute__((always_inline)) map_entry_t *map_one_begin(map_table_t *table,
                                                                        const map_one_t *one) {
  map_entry_t *found = NULL;
  uintptr_t host = (uintptr_t)one->host;
  atmi_spin_lock(&table->lock);
  map_entry_t *entry = *map_table_hint(table, host);
  if (entry && map_entry_contains(entry, host, one->bytes) && !entry->shadow_count) {
    uint64_t word = map_entry_word(entry), pinned = word + MAP_PIN_ONE;
    if (word & MAP_COUNTS && !(pinned & (MAP_FILLING | MAP_OVERFLOWS)) &&
        !atomic_load_explicit(&entry->mark, memory_order_acquire) &&
        atomic_compare_exchange_strong_explicit(&entry->word, &word, pinned, memory_order_acq_rel,
                                                memory_order_relaxed))
      found = entry;
  }
  atmi_spin_unlock(&table->lock);
  return found;
}

/* Describes that the copy could not be begun. */
void map_one_fail(map_table_t *table, const map_arguments_t *arguments, const map_entry_t *entry);

static inline map_status_t map_one_end(map_table_t *table, map_entry_t *entry) {
  return map_entry_drop_some(entry, MAP_PIN_ONE) ? MAP_OK : map_unpin(table, entry);
}

#endif
