/* What the files of the engine share about a work: its items, and the steps of an operation. Not here: the
 * operations themselves (enter.c, leave.c, update.c).
 *
 * An operation is one pass over its arguments under the table's lock (two at most, see leave.c), which finds,
 * counts and pins and notes in items what is to be done; then what has to be done is done without the lock.
 *
 * Why nobody waits in a circle: a work waits (map_entry_await) only for what its pass has found being filled,
 * by works whose passes were earlier, or by regions that have left it, which wait for nobody before they have
 * filled it. So all waiting goes from later passes to earlier ones. */
#ifndef MAP_WORK_H
#define MAP_WORK_H

#include "entry.h"
#include "message.h"

/* An argument or component, by value. */
typedef struct map_component {
  uintptr_t base, begin;
  int64_t size;
  uint64_t type;
  const char *name;
} map_component_t;

/* What map_work_t.todo says: some item has this flag, or there is something else to do. */
enum {
  MAP_ITEM_FRESH = 1,          /* this work has made the entry */
  MAP_ITEM_WAIT = 2,           /* others may not have filled it yet */
  MAP_ITEM_SUBMIT = 4,         /* host to device */
  MAP_ITEM_RETRIEVE = 8,       /* device to host */
  MAP_ITEM_ATTACH = 0x10,      /* `entry` has the pointer `shadow`, whose pointee is item `word` */
  MAP_ITEM_WORD = 0x20,        /* words[word] is an address in the entry */
  MAP_ITEM_RETURN = 0x40,      /* so is bases[argument] */
  MAP_ITEM_PIECES = 0x80,      /* of an update: not one piece, see update.c */
  MAP_ITEM_PRIVATE = 0x100,    /* no entry: see private.c */
  MAP_ITEM_LAMBDA = 0x200,     /* what a lambda has captured: likewise */
  MAP_ITEM_AGAIN = 0x400,      /* `shadow` is to be written again: what surrounds it was submitted */
  MAP_ITEM_ZEROED = 0x800,     /* of a leader: this work has taken the last count */
  MAP_ITEM_RETRIEVED = 0x1000, /* `host` has its bytes once the stream has been waited for */
  MAP_ITEM_FOUND = 0x2000,     /* for notes: was there already */
  MAP_ITEM_ABSENT = 0x4000,    /* for notes: no entry */
  MAP_ITEM_HOST = 0x8000,      /* likewise: the host's memory serves */
  MAP_ITEM_COUNTED = 0x10000,
  MAP_ITEM_LEFT = 0x20000,   /* of an end: for notes */
  MAP_TODO_FAILED = 0x40000, /* of a work: all is to be given back */
  MAP_TODO_DROP = 0x80000,   /* of a work: units are to be given back */
  MAP_TODO_LEAVE = 0x100000, /* of a region: was entered */
  MAP_TODO_SOLE = 0x200000,  /* of a region: it may have an entry alone, or has to copy anyway */
  MAP_TODO_GOES = 0x400000,  /* of a region: it has left all it had for good */
};

#define MAP_NO_ITEM UINT32_MAX

/* A pass. `components` are those of a mapper, else NULL: then `arguments` are gone through. */
typedef struct map_pass {
  map_work_t *work;
  map_table_t *table;
  const map_arguments_t *arguments;
  const map_component_t *components;
  uint32_t component_count;
  uint64_t visit; /* the pass's own number */
  bool region, notes;
  /* A failure, to be described when the lock is free. */
  const char *wrong;
  map_range_t range, other;
} map_pass_t;

static inline bool map_listens(const map_table_t *table) {
  return __builtin_expect(table->configuration.listener.note != NULL, 0);
}

/* What the quick ways of the passes keep in registers: what they read and write could be the same for all
 * that the compiler knows. */
typedef struct map_quick {
  const int64_t *types, *sizes;
  void *const *begins;
  map_entry_t *const *hints;
  uint32_t shift, index; /* of the next item */
  uint64_t visit;
  map_item_t *item; /* the next one; there is room */
} map_quick_t;

static inline map_quick_t map_quick_begin(const map_pass_t *pass) {
  const map_arguments_t *arguments = pass->arguments;
  const map_table_t *table = pass->table;
  uint32_t index = pass->work->item_count;
  return (map_quick_t){arguments->types, arguments->sizes,         arguments->begins,
                       table->hints,     table->hint_shift,        index,
                       pass->visit,      &pass->work->items[index]};
}

/* The entry of argument `i`, if a look-up would find it at first, it contains all, is nothing special, and
 * the pass has not met it yet; and makes the next item say so, with no flags. NULL: it is to be looked up.
 * Most list items are like that, and what is done for them is counted in instructions. */
static inline map_entry_t *map_quick_next(map_quick_t *quick, uint32_t i, uint64_t type, uint64_t units) {
  uintptr_t host = (uintptr_t)quick->begins[i];
  uint64_t bytes = (uint64_t)quick->sizes[i];
  map_entry_t *entry = quick->hints[host * UINT64_C(0x9e3779b97f4a7c15) >> quick->shift];
  if (!entry || !map_entry_contains(entry, host, bytes) || entry->visit == quick->visit || entry->special ||
      atomic_load_explicit(&entry->mark, memory_order_relaxed))
    return NULL;
  map_item_t *item = quick->item++;
  entry->visit = quick->visit;
  entry->visitor = item->leader = quick->index++;
  item->entry = entry;
  item->host = host;
  item->bytes = bytes;
  item->type = type;
  item->name = NULL;
  item->units = units;
  item->flags = 0;
  return entry;
}

/* ---- items ---- */

/* Room for `count` items in all. False without memory. */
bool map_work_reserve(map_work_t *work, uint32_t count);

/* The next item, all of it undefined; counts once item_count is increased. NULL without memory. */
static inline map_item_t *map_work_next(map_work_t *work) {
  if (__builtin_expect(work->item_count == work->item_capacity, 0) &&
      !map_work_reserve(work, work->item_count + 1))
    return NULL;
  return &work->items[work->item_count];
}

/* Makes the next item, with no flags, units or shadow, for `entry` and what the component says. */
static inline map_item_t *map_work_add(map_work_t *work, map_entry_t *entry,
                                       const map_component_t *component) {
  map_item_t *item = map_work_next(work);
  if (!item)
    return NULL;
  item->entry = entry;
  item->host = component->begin;
  item->bytes = (uint64_t)component->size;
  item->type = component->type;
  item->name = component->name;
  item->units = 0;
  item->shadow = NULL;
  item->flags = 0;
  item->leader = work->item_count++;
  return item;
}

/* Makes the item known to its entry in this pass, unless another one of it is: then it follows that. */
static inline map_item_t *map_work_lead(map_pass_t *pass, map_item_t *item) {
  map_entry_t *entry = item->entry;
  if (entry->visit == pass->visit) {
    item->leader = entry->visitor;
    return &pass->work->items[item->leader];
  }
  entry->visit = pass->visit;
  entry->visitor = item->leader;
  return item;
}

/* ---- steps ---- */

/* Begins and ends a pass: takes the lock, and gives it back. */
static inline void map_pass_begin(map_pass_t *pass, map_work_t *work, const map_arguments_t *arguments,
                                  map_operation_t operation) {
  map_table_t *table = work->table;
  work->operation = operation;
  pass->work = work;
  pass->table = table;
  pass->arguments = arguments;
  pass->components = NULL;
  pass->region = operation == MAP_ENTER;
  pass->notes = map_listens(table);
  pass->wrong = NULL;
  atmi_spin_lock(&table->lock);
  pass->visit = ++table->visit;
}
static inline void map_pass_end(map_pass_t *pass) {
  atmi_spin_unlock(&pass->table->lock);
}

/* Before the pass: arrays that are missing. Describes. */
map_status_t map_fail_arrays(map_table_t *table, const map_arguments_t *arguments);
static inline map_status_t map_check_arguments(map_table_t *table, const map_arguments_t *arguments) {
  bool whole = arguments->bases && arguments->begins && arguments->sizes && arguments->types;
  return __builtin_expect(whole, 1) || !arguments->count ? MAP_OK : map_fail_arrays(table, arguments);
}
/* Room for more words than the work has. Describes. */
map_status_t map_work_make_words(map_work_t *work, uint32_t count);
/* Whether a list item that is not in an entry can be. */
static inline bool map_component_is_sane(const map_component_t *component) {
  return component->size >= 0 && component->begin + (uint64_t)component->size >= component->begin;
}
map_status_t map_fail_insane(map_table_t *table, const map_range_t *range);
extern const char map_insane[]; /* what map_pass_t.wrong says then */

static inline void map_argument_get(const map_arguments_t *arguments, uint32_t i,
                                    map_component_t *component) {
  component->base = (uintptr_t)arguments->bases[i];
  component->begin = (uintptr_t)arguments->begins[i];
  component->size = arguments->sizes[i];
  component->type = (uint64_t)arguments->types[i];
  component->name = arguments->names ? arguments->names[i] : NULL;
}

/* Waits for others that fill entries of the work's items, and orders its stream behind them. Describes. */
map_status_t map_work_await(map_work_t *work);

/* Copies of a part of an item's entry. Tell the listener. */
map_status_t map_work_submit(map_work_t *work, const map_item_t *item, uintptr_t host, uint64_t bytes);
map_status_t map_work_retrieve(map_work_t *work, const map_item_t *item, uintptr_t host, uint64_t bytes);
/* A copy of the work's own memory, or of what is not in the table. */
map_status_t map_work_submit_to(map_work_t *work, uintptr_t device, const void *host, uint64_t bytes);
/* Writes a pointer's device value again, from memory of the work's. */
map_status_t map_work_write_shadow(map_work_t *work, map_item_t *item);
/* Notes that all pointers that lie in what the item submits are to be written again. In a pass. */
bool map_pass_keep_shadows(map_pass_t *pass, const map_item_t *item);

/* Begins the copies back of what was left for good, or is ALWAYS; then lets others have it. Describes. */
map_status_t map_work_copy_back(map_work_t *work);

/* Tells the listener; only if there is one. `item` may be NULL. */
void map_work_note(const map_work_t *work, map_note_kind_t kind, const map_item_t *item);

/* Gives back what the work has for itself. */
void map_work_give_back(map_work_t *work);

/* ---- mappers (mapper.c) ---- */

/* Calls the mappers of all arguments; afterwards map_stack_of gives each one's components. Describes. */
map_status_t map_work_call_mappers(map_work_t *work, const map_arguments_t *arguments);
uint32_t map_stack_of(const map_work_t *work, uint32_t argument, const map_component_t **components);
void map_stack_put(map_work_t *work);
void map_stack_free(struct map_stack *stack);

/* ---- privates (private.c) ---- */

/* Does the PRIVATE and LAMBDA items, and sets their words. Describes. */
map_status_t map_work_fill_privates(map_work_t *work, const map_arguments_t *arguments);
void map_privates_free(map_work_t *work);

#endif
