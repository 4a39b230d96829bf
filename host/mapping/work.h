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
#include "held.h"
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
  MAP_ITEM_LEFT = 0x20000,     /* of an end: for notes */
  MAP_TODO_FAILED = 0x40000,   /* of a work: all is to be given back */
  MAP_TODO_DROP = 0x80000,     /* of a work: units are to be given back */
  MAP_TODO_LEAVE = 0x100000,   /* of a region: was entered */
  MAP_TODO_SOLE = 0x200000,    /* of a region: it may have an entry alone, or has to copy anyway */
  MAP_TODO_GOES = 0x400000,    /* of a region: it has left all it had for good */
  MAP_TODO_RESTORE = 0x800000, /* what is retrieved has pointers of the host in it */
  MAP_ITEM_INTO = 0x1000000,   /* of a leader of a fresh entry: something is copied to it; and from it */
  MAP_ITEM_OUT_OF = 0x2000000,
  MAP_ITEM_PACKED = 0x4000000,  /* of such a leader: shares memory; of others: was copied with that */
  MAP_ITEM_GONE = 0x8000000,    /* for notes: its entry is */
  MAP_TODO_BROKEN = 0x10000000, /* of an end: a copy back has failed late */
  MAP_TODO_PLAN = 0x20000000,   /* of a region: a plan may be made of it */
  MAP_TODO_NEW = 0x40000000,    /* maps what was not mapped lately */
};

#define MAP_NO_ITEM  UINT32_MAX
#define MAP_NO_FRONT UINT64_MAX

/* A pass. `components` are those of a mapper, else NULL: then `arguments` are gone through. */
typedef struct map_pass {
  map_work_t *work;
  map_table_t *table;
  const map_arguments_t *arguments;
  const map_component_t *components;
  uint32_t component_count;
  uint64_t visit; /* the pass's own number */
  bool region, notes;
  uint32_t in_front; /* arguments that were counted without an item each */
  uint64_t front;    /* of an end: the number by which their entries know it; MAP_NO_FRONT: none do */
  bool again;        /* of an end: these, too, need items */
  /* A failure, to be described when the lock is free. */
  const char *wrong;
  bool wants_present; /* the list item has the modifier */
  map_range_t range, other;
} map_pass_t;

static inline bool map_listens(const map_table_t *table) {
  return __builtin_expect(__atomic_load_n(&table->configuration.listener.note, __ATOMIC_RELAXED) != NULL, 0);
}

static inline uint32_t map_index(const map_work_t *work, const map_item_t *item) {
  return (uint32_t)(item - work->items);
}

/* What the quick ways of the passes keep in registers: what they read and write could be the same for all
 * that the compiler knows. Most list items go these ways, and what is done for them is counted in
 * instructions. */
typedef struct map_quick {
  const int64_t *types, *sizes;
  void *const *begins;
  map_entry_t *const *hints;
  uint32_t shift;
  uint32_t room;    /* for so many items */
  map_item_t *item; /* the next one */
} map_quick_t;

static inline map_quick_t map_quick_begin(const map_work_t *work, const map_arguments_t *arguments) {
  const map_table_t *table = work->table;
  return (map_quick_t){arguments->types,
                       arguments->sizes,
                       arguments->begins,
                       table->hints,
                       table->hint_shift,
                       work->item_capacity - work->item_count,
                       &work->items[work->item_count]};
}

static inline void map_quick_end(map_work_t *work, const map_quick_t *quick) {
  work->item_count = map_index(work, quick->item);
}

/* The entry that a look-up would ask first, or NULL. */
static inline map_entry_t *map_quick_hint(const map_quick_t *quick, uintptr_t host) {
  return quick->hints[host * UINT64_C(0x9e3779b97f4a7c15) >> quick->shift];
}

/* The next item: its entry's first one, of a type that is not told of. */
static inline map_item_t *map_quick_add(map_quick_t *quick, map_entry_t *entry, uint32_t i, uint64_t type,
                                        uint64_t units, uint32_t flags) {
  map_item_t *item = quick->item++;
  item->entry = entry;
  item->host = (uintptr_t)quick->begins[i];
  item->bytes = (uint64_t)quick->sizes[i];
  item->type = type;
  item->units = units;
  item->flags = flags;
  item->behind = 0;
  return item;
}

/* Makes items of what a region holds without (held.h), when there is more to do; prepare has seen to it that
 * there is room. */
void map_work_make_items(map_work_t *work);

/* ---- items ---- */

/* The item that answers for the entry of this one; for all but its own units and flags they may be the same.
 */
#define map_leader(item) ((item) - (item)->behind)

static inline void map_follow(map_item_t *item, const map_item_t *leader) {
  item->behind = (int32_t)(item - leader);
}

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
  item->behind = 0;
  work->item_count++;
  return item;
}

/* Makes the item known to its entry in this pass, unless another one of it is: then it follows that. */
static inline map_item_t *map_work_lead(map_pass_t *pass, map_item_t *item) {
  map_entry_t *entry = item->entry;
  uint32_t index = map_index(pass->work, item);
  if (entry->visit == pass->visit) {
    item->behind = (int32_t)(index - entry->visitor);
    return map_leader(item);
  }
  entry->visit = pass->visit;
  entry->visitor = index;
  return item;
}

/* ---- steps ---- */

/* Begins and ends a pass, under the lock, which the beginning takes and the end gives back. */
static inline void map_pass_resume(map_pass_t *pass, map_work_t *work, const map_arguments_t *arguments,
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
  pass->in_front = 0;
  pass->front = MAP_NO_FRONT;
  pass->again = false;
  pass->visit = ++table->visit;
}
static inline void map_pass_begin(map_pass_t *pass, map_work_t *work, const map_arguments_t *arguments,
                                  map_operation_t operation) {
  atmi_spin_lock(&work->table->lock);
  map_pass_resume(pass, work, arguments, operation);
}
static inline void map_pass_end(map_pass_t *pass) {
  atmi_spin_unlock(&pass->table->lock);
}

/* More list items than any construct has: a count that lies. And more than most have: then the kernel is
 * asked whether the arrays are that long. With fewer a count that lies leads 1 KiB too far at most. */
enum { MAP_ARGUMENTS_MOST = 1 << 16, MAP_ARGUMENTS_USUAL = 128 };
/* Before the pass: arrays that are missing, or too long. Describes. */
map_status_t map_check_arrays(map_table_t *table, const map_arguments_t *arguments);
static inline map_status_t map_check_arguments(map_table_t *table, const map_arguments_t *arguments) {
  bool whole = arguments->bases && arguments->begins && arguments->sizes && arguments->types &&
               arguments->count <= MAP_ARGUMENTS_USUAL;
  return __builtin_expect(whole, 1) || !arguments->count ? MAP_OK : map_check_arrays(table, arguments);
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

/* A copy of the work's own memory, or of what is not in the table. Describes nothing. */
static inline map_status_t map_work_submit_to(map_work_t *work, uintptr_t device, const void *host,
                                              uint64_t bytes) {
  const map_configuration_t *configuration = &work->table->configuration;
  work->busy = true;
  return configuration->functions->submit(configuration->device, work->stream, (void *)device, host, bytes)
             ? MAP_OK
             : MAP_DEVICE;
}

/* Tells the listener; only if there is one. `item` may be NULL. The second one is about a part of an item. */
void map_work_note(const map_work_t *work, map_note_kind_t kind, const map_item_t *item);
void map_work_note_part(const map_work_t *work, map_note_kind_t kind, const map_item_t *item, uintptr_t host,
                        uint64_t bytes);

/* Says which variable it was about that a function of the device has failed for. */
map_status_t map_work_fail(const map_work_t *work, const map_item_t *item, const char *what);

/* Copies of a part of an item's entry. Tell the listener, describe. */
static inline map_status_t map_work_submit(map_work_t *work, const map_item_t *item, uintptr_t host,
                                           uint64_t bytes) {
  if (map_work_submit_to(work, map_entry_device(item->entry, host), (const void *)host, bytes))
    return map_work_fail(work, item, "a copy to the device has failed");
  if (map_listens(work->table))
    map_work_note_part(work, MAP_NOTE_SUBMIT, item, host, bytes);
  return MAP_OK;
}

static inline map_status_t map_work_retrieve(map_work_t *work, const map_item_t *item, uintptr_t host,
                                             uint64_t bytes) {
  const map_configuration_t *configuration = &work->table->configuration;
  const void *device = (const void *)map_entry_device(item->entry, host);
  work->busy = true;
  if (!configuration->functions->retrieve(configuration->device, work->stream, (void *)host, device, bytes))
    return map_work_fail(work, item, "a copy to the host has failed");
  if (map_listens(work->table))
    map_work_note_part(work, MAP_NOTE_RETRIEVE, item, host, bytes);
  return MAP_OK;
}
/* Writes a pointer's device value again, from memory of the work's. Describes. */
map_status_t map_work_write_shadow(map_work_t *work, map_item_t *item);
/* Notes that all pointers that lie in what the item submits are to be written again. In a pass. */
bool map_pass_keep_shadows(map_pass_t *pass, const map_item_t *item);

/* Begins the copies back of what was left for good, or is ALWAYS; then lets others have it. Describes. */
map_status_t map_work_copy_back(map_work_t *work);

/* Whether a work that has ended has nothing to give back, and leaves nothing for others to do. */
static inline bool map_work_is_clean(const map_work_t *work) {
  return !work->room && !work->stack && !work->privates &&
         !atomic_load_explicit(&work->table->broken, memory_order_relaxed);
}

/* Gives back what the work has for itself. */
void map_work_give_back(map_work_t *work);

/* ---- mappers (mapper.c) ---- */

/* Calls the mappers of all arguments; afterwards map_stack_of gives each one's components. Describes. */
map_status_t map_work_call_mappers(map_work_t *work, const map_arguments_t *arguments);
uint32_t map_stack_of(const map_work_t *work, uint32_t argument, const map_component_t **components);
/* Those of all arguments. */
uint32_t map_stack_all(const map_work_t *work, const map_component_t **components);
void map_stack_put(map_work_t *work);
void map_stack_free(struct map_stack *stack);

/* ---- privates (private.c) ---- */

/* Does the PRIVATE and LAMBDA items, and sets their words. Describes. */
map_status_t map_work_fill_privates(map_work_t *work, const map_arguments_t *arguments);
void map_privates_free(map_work_t *work);

#endif
