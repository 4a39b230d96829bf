/* How the table is kept: entries, their counts, and the two ways of finding them. Not here: what constructs
 * do with them.
 *
 * Everything is guarded by the table's lock, which is held for look-ups and counting and never across a call
 * of anybody else, except what is atomic. An entry's memory is never given back while the table lives, so
 * that a look at one that is gone is wrong at worst, and is found out.
 *
 * The state of an entry is one word. Who holds a count or a pin may give it back without the lock, unless the
 * word becomes 0 by that: then the entry goes, and that happens under the lock (map_entry_drop). So whoever
 * has found an entry under the lock and has added to its word keeps it, whatever others do. */
#ifndef MAP_ENTRY_H
#define MAP_ENTRY_H

#include "map.h"

#include "base/spin.h"

#include <pthread.h>
#include <stdatomic.h>

/* The word. The dynamic and the hold count are OpenMP's. Pins are works that use the entry without OpenMP's
 * knowing: a region until its kernel is over, an end until its copies are. Above each of the three is a bit
 * that is set only when it overflows. */
#define MAP_DYNAMIC_ONE  UINT64_C(1)
#define MAP_DYNAMIC_MASK UINT64_C(0x7fffffff)
#define MAP_HOLD_SHIFT   32
#define MAP_HOLD_ONE     (UINT64_C(1) << MAP_HOLD_SHIFT)
#define MAP_HOLD_MASK    (UINT64_C(0xfff) << MAP_HOLD_SHIFT)
#define MAP_PIN_ONE      (UINT64_C(1) << 45)
#define MAP_COUNTS       (MAP_DYNAMIC_MASK | MAP_HOLD_MASK)
#define MAP_OVERFLOWS    (UINT64_C(1) << 31 | UINT64_C(1) << 44 | UINT64_C(1) << 60)
/* One of those that the quick ways know nothing of: infinite, associated or auxiliary. */
#define MAP_SPECIAL (UINT64_C(1) << 61)
/* Its maker gave up: the entry is in the table no more, and who waits for it fails too. */
#define MAP_FAILED (UINT64_C(1) << 62)
/* Somebody is about to begin copies that later work on the entry has to be ordered behind: its maker, or who
 * has taken its last count. Who finds this waits until it is gone, and then for the mark. */
#define MAP_FILLING (UINT64_C(1) << 63)
/* What is set as long as the entry is what it is; and from where on no bit is set mostly. */
#define MAP_NATURE        (MAP_SPECIAL | MAP_FAILED)
#define MAP_UNUSUAL_SHIFT 60

/* A pointer on the device that points to device memory, while the host's points to the host's. Lives as long
 * as the entry that contains it. */
typedef struct map_shadow {
  uintptr_t host;           /* where the pointer is on the host */
  uint64_t bytes;           /* 8, or more of a Fortran descriptor, whose first 8 bytes are the pointer */
  uintptr_t value;          /* what it is there */
  _Atomic uintptr_t device; /* what it is on the device, see map_shadow_state; 0: not written yet */
  char *rest;               /* the other bytes, on either side; NULL: none */
  struct map_shadow *next_free;
} map_shadow_t;

typedef struct map_entry {
  _Atomic uint64_t word;
  uintptr_t begin, end;     /* on the host; the same of one that is not in the table, or dormant */
  uint64_t dormant_bytes;   /* what its size was, as long as it is dormant; else 0 */
  _Atomic uintptr_t device; /* where `begin` is; 0: not yet */
  _Atomic map_mark_t mark;  /* of the copies that the entry was last filled by, or left with; to find none is
                               an  acquire, as after a wait for it */
  uint64_t visit;           /* the last pass that met it, and as which of its items */
  uint32_t visitor;
  uint32_t dormant_at; /* its place among the dormant ones */
  bool linked;         /* is in the index */
  bool infinite, associated;
  bool auxiliary;  /* was made for a PTR_AND_OBJ's pointer that nobody had mapped */
  bool packed;     /* shares memory, or did */
  uint8_t padding; /* in front of it on the device */
  uint32_t shadow_count, shadow_capacity;
  map_shadow_t **shadows; /* by address */
  uintptr_t base;
  const char *name;
  void *memory; /* to be released; NULL: not the table's */
  /* Those that share it, a ring; NULL: it is this one's alone. Guarded by the lock once the entry is filled.
   */
  struct map_entry *pack_next, *pack_previous;
  struct map_plan *plan; /* that it sleeps by, see plan.h; it has memory and pointers then. NULL: none */
  struct map_chunk *chunk;
  struct map_entry *next_free;
} map_entry_t;

/* Entries by address: sorted pieces of a sorted array. The first addresses are together, and so are a
 * piece's, so that a search touches few lines of memory. */
enum { MAP_CHUNK_ENTRIES = 64 };

typedef struct map_slot {
  uintptr_t begin;
  map_entry_t *entry;
} map_slot_t;

typedef struct map_chunk {
  uint32_t count;
  map_slot_t slots[MAP_CHUNK_ENTRIES];
} map_chunk_t;

typedef struct map_index {
  uint32_t count, capacity;
  uintptr_t *firsts; /* of each chunk; of the first one it is not looked at */
  map_chunk_t **chunks;
  map_chunk_t *spare;
} map_index_t;

/* Where an entry would be: behind all that begin at or before its address. */
typedef struct map_place {
  uint32_t chunk, slot;
} map_place_t;

/* Some arrays for a work that is too large for its own. */
typedef struct map_room {
  size_t bytes;
} map_room_t;

/* What look-ups remember: which entry served which address last. Says nothing by itself: the entry is asked.
 */
enum { MAP_HINTS_FEWEST_LOG2 = 6 };

/* Entries that nobody holds any more, but that keep their places in the index for a while, as empty ranges:
 * programs map the same ranges again and again, and these are neither inserted nor searched for then. The
 * ranges that they had lie beside each other and beside those of all others: who searches for a range drops
 * the dormant ones that have a part of it. They have no memory, no pointers, and are not counted. */
enum { MAP_DORMANT_MOST = 64 };

/* Plans that sleep, and how often one is made when they are of no use: for one region in 2^doubt. */
enum { MAP_PLANS = 32, MAP_DOUBTS_MOST = 4 };

struct map_table {
  atmi_spin_t lock;
  map_configuration_t configuration;
  map_entry_t **hints;
  uint32_t hint_shift; /* 64 - log2 of their number */
  size_t count;        /* entries, without dormant ones */
  uint64_t news;  /* how often something could become mapped of which plans know that it is not; never 0 */
  uint64_t visit; /* passes so far */
  map_index_t index;
  map_place_t vacant; /* what the last search that has found nothing has found */
  map_entry_t *free_entries;
  map_shadow_t *free_shadows;
  void *slabs;                            /* of entries and shadows, a list */
  map_entry_t *dormant[MAP_DORMANT_MOST]; /* a ring; some of it may be awake again */
  uint32_t dormant_next;
  uint32_t plan_count, plan_doubt;
  uint32_t plan_vacant; /* where there was room last */
  struct map_plan *plans[MAP_PLANS];
  _Atomic(struct map_plan *) broken; /* whose memory is to be released */
  map_entry_t *first_hints[1 << MAP_HINTS_FEWEST_LOG2];

  /* What works leave here for the next one; NULL: nothing. */
  _Atomic(map_room_t *) spare_room;
  _Atomic(struct map_stack *) spare_stack;

  /* For who waits until an entry is filled. */
  atomic_uint waiting;
  pthread_mutex_t filled_lock;
  pthread_cond_t filled;
};

/* ---- finding, under the lock ---- */

static inline map_entry_t **map_table_hint(const map_table_t *table, uintptr_t host) {
  return &table->hints[host * UINT64_C(0x9e3779b97f4a7c15) >> table->hint_shift];
}

static inline bool map_entry_contains(const map_entry_t *entry, uintptr_t host, uint64_t bytes) {
  return host >= entry->begin && host < entry->end && bytes <= entry->end - host;
}

/* What a search for `bytes` at `host` finds. */
typedef enum map_relation {
  MAP_NOTHING,
  MAP_CONTAINED,
  MAP_EXTENDED, /* the entry is only a part of it, or has only a part of it */
} map_relation_t;

map_relation_t map_table_search(map_table_t *table, uintptr_t host, uint64_t bytes, map_entry_t **entry);

/* The same; most come from the same addresses again and again. */
static inline map_relation_t map_table_look_up(map_table_t *table, uintptr_t host, uint64_t bytes,
                                               map_entry_t **entry) {
  map_entry_t *hint = *map_table_hint(table, host);
  if (hint && map_entry_contains(hint, host, bytes)) {
    *entry = hint;
    return MAP_CONTAINED;
  }
  return map_table_search(table, host, bytes, entry);
}

/* A plan that sleeps ends (plan.c): all its entries are dormant as others are, its memory goes with the next
 * work. */
void map_plan_break(map_table_t *table, struct map_plan *plan);
/* A region runs by the plan, whose entries nobody has asked for so far; and they are woken, if it does. */
bool map_plan_runs(const struct map_plan *plan);
bool map_plan_expose(struct map_plan *plan);

/* Whether an entry is there for who asks: others see those of a region that runs by its plan only when they
 * look. */
static inline bool map_entry_is_awake(const map_entry_t *entry) {
  return !entry->dormant_bytes || (entry->plan && map_plan_expose(entry->plan));
}

/* An entry that is awake, new or not, has its base: a zero-length section in front of it may be found there.
 */
static inline void map_table_note_base(map_table_t *table, const map_entry_t *entry) {
  table->news += entry->base < entry->begin;
}

/* Whether exactly this range is that of a dormant entry, which may be NULL; and wakes it: then it is as
 * map_table_add makes them. */
static inline bool map_entry_is_dormant(const map_entry_t *entry, uintptr_t host, uint64_t bytes) {
  return entry && bytes && entry->dormant_bytes == bytes && entry->begin == host &&
         !(entry->plan && map_plan_runs(entry->plan));
}

static inline void map_table_wake(map_table_t *table, map_entry_t *entry) {
  if (entry->plan)
    map_plan_break(table, entry->plan);
  entry->end = entry->begin + entry->dormant_bytes;
  entry->dormant_bytes = 0;
  table->count++;
}

/* The same for who is going to add an entry of just this range if there is nothing: a dormant one of that
 * range, to which the hint leads, stays for it. */
static inline map_relation_t map_table_look_up_new(map_table_t *table, uintptr_t host, uint64_t bytes,
                                                   map_entry_t **entry) {
  map_entry_t *hint = *map_table_hint(table, host);
  if (hint && map_entry_contains(hint, host, bytes)) {
    *entry = hint;
    return MAP_CONTAINED;
  }
  return map_entry_is_dormant(hint, host, bytes) ? MAP_NOTHING : map_table_search(table, host, bytes, entry);
}

/* Adds an entry with nothing but its range, directly after a search for it has found MAP_NOTHING. NULL
 * without memory. */
map_entry_t *map_table_add(map_table_t *table, uintptr_t begin, uintptr_t end);

/* Takes an entry out of the table; it stays what it is until map_table_retire. */
void map_table_unlink(map_table_t *table, map_entry_t *entry);
/* An entry that nobody holds any more becomes dormant, or another one's if it was taken out. Returns its
 * memory, to be released; NULL if there is none, or others are in it. */
void *map_table_retire(map_table_t *table, map_entry_t *entry);

/* An entry of a plan that is broken is dormant as others are. */
void map_table_forget_plan(map_table_t *table, map_entry_t *entry);

/* ---- counting ---- */

static inline uint32_t map_word_dynamic(uint64_t word) {
  return (uint32_t)(word & MAP_DYNAMIC_MASK);
}

static inline uint32_t map_word_hold(uint64_t word) {
  return (uint32_t)((word & MAP_HOLD_MASK) >> MAP_HOLD_SHIFT);
}

static inline uint64_t map_entry_word(const map_entry_t *entry) {
  return atomic_load_explicit(&entry->word, memory_order_acquire);
}

/* Under the lock: adds counts and pins. False, and nothing is changed, if one of them is as large as it gets.
 */
static inline bool map_entry_take(map_entry_t *entry, uint64_t units, uint64_t *before) {
  *before = atomic_fetch_add_explicit(&entry->word, units, memory_order_acq_rel);
  if (__builtin_expect(!((*before + units) & MAP_OVERFLOWS), 1))
    return true;
  atomic_fetch_sub_explicit(&entry->word, units, memory_order_acq_rel);
  return false;
}

/* As much of what somebody holds as is still there: `delete` takes the counts of others, too, but no pins. */
static inline uint64_t map_units_left(uint64_t word, uint64_t units) {
  if (__builtin_expect(!(~((word | MAP_OVERFLOWS) - units) & MAP_OVERFLOWS), 1))
    return units;
  uint64_t dynamic = units & MAP_DYNAMIC_MASK, hold = units & MAP_HOLD_MASK;
  uint64_t dynamic_left = word & MAP_DYNAMIC_MASK, hold_left = word & MAP_HOLD_MASK;
  return (units & ~MAP_COUNTS) + (dynamic < dynamic_left ? dynamic : dynamic_left) +
         (hold < hold_left ? hold : hold_left);
}

/* Gives counts and pins back that somebody holds. Without the lock it is false, and nothing is changed, if
 * these are the last. */
static inline bool map_entry_drop_some(map_entry_t *entry, uint64_t units) {
  uint64_t word = atomic_load_explicit(&entry->word, memory_order_relaxed);
  /* Release: who removes the entry sees all that was done with it. */
  while ((word & ~MAP_NATURE) != units)
    if (atomic_compare_exchange_weak_explicit(&entry->word, &word, word - units, memory_order_acq_rel,
                                              memory_order_relaxed))
      return true;
  return false;
}

/* The same under the lock: an entry that nobody holds any more is retired, and its memory is to be released
 * if that is not NULL. Whether it is. */
static inline bool map_entry_drop(map_table_t *table, map_entry_t *entry, uint64_t units, void **memory) {
  uint64_t word = atomic_load_explicit(&entry->word, memory_order_relaxed), left;
  do
    left = map_units_left(word, units);
  while (!atomic_compare_exchange_weak_explicit(&entry->word, &word, word - left, memory_order_acq_rel,
                                                memory_order_relaxed));
  bool gone = (word & ~MAP_NATURE) == left;
  *memory = gone ? map_table_retire(table, entry) : NULL;
  return gone;
}

/* Where something in the entry's range is on the device; the entry is filled, or the caller's. */
static inline uintptr_t map_entry_device(const map_entry_t *entry, uintptr_t host) {
  return atomic_load_explicit(&entry->device, memory_order_relaxed) + (host - entry->begin);
}

/* Gives a pin back; what nobody holds then goes. Not under the lock. */
MAP_MUST_CHECK map_status_t map_unpin(map_table_t *table, map_entry_t *entry);

/* ---- filling ---- */

/* Ends MAP_FILLING, with a mark of the copies, and wakes who waits for that. */
void map_entry_filled(map_table_t *table, map_entry_t *entry, map_mark_t mark);
/* Waits until an entry that the caller holds is not MAP_FILLING. False if its maker gave up. */
bool map_entry_await(map_table_t *table, map_entry_t *entry);

/* ---- shadows, under the lock ---- */

/* The record of a pointer in this entry; a new one says nothing yet. NULL without memory. */
map_shadow_t *map_entry_shadow(map_table_t *table, map_entry_t *entry, uintptr_t host, uint64_t bytes);
/* A pointer on the device may be NULL, which is something else than not written yet. No address is such a
 * number. */
#define MAP_WRITTEN_NULL ((uintptr_t)1 << 63 | 1)
static inline uintptr_t map_shadow_state(uintptr_t value) {
  return value ? value : MAP_WRITTEN_NULL;
}
static inline uintptr_t map_shadow_value(uintptr_t state) {
  return state == MAP_WRITTEN_NULL ? 0 : state;
}
/* Writes the bytes of a pointer, or descriptor, to `to`, which is where it lies, or a copy of that: `value`,
 * and what is behind it. */
static inline void map_shadow_write(const map_shadow_t *shadow, uintptr_t value, char *to) {
  __builtin_memcpy(to, &value, sizeof value);
  if (shadow->rest)
    __builtin_memcpy(to + sizeof value, shadow->rest, shadow->bytes - sizeof value);
}
/* The first record at or behind an address; shadow_count if there is none. */
uint32_t map_entry_shadow_at(const map_entry_t *entry, uintptr_t host);

/* ---- index, under the lock ---- */

map_place_t map_index_find(const map_index_t *index, uintptr_t host);
/* The entry at a place, and the one before it; NULL if there is none. */
map_entry_t *map_index_at(const map_index_t *index, map_place_t place);
map_entry_t *map_index_before(const map_index_t *index, map_place_t place);
/* The place behind one, as long as nothing changes. */
map_place_t map_index_next(const map_index_t *index, map_place_t place);
/* Goes through all, from {0, 0} on; NULL at the end. */
map_entry_t *map_index_each(const map_index_t *index, map_place_t *place);
bool map_index_insert(map_index_t *index, map_place_t place, map_entry_t *entry);
void map_index_remove(map_index_t *index, const map_entry_t *entry);
void map_index_fini(map_index_t *index);

#endif
