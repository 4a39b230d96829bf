/* Leaving: target exit data, the end of target data, and that of a target region.
 *
 * Who takes the last count of an entry begins the copies back, and the entry goes when these are over, unless
 * somebody has counted it again meanwhile: then it stays, with its data, and goes with that one. Meanwhile is
 * short of nothing: the count is 0 and MAP_FILLING set, in one step, so whoever comes waits until the copies
 * are begun and has its own work begin behind them. All of this is as if who came had come before the last
 * count was taken, and the copies back were one more.
 *
 * A region keeps its counts and a pin until its kernel is over, so what others take away leaves the kernel's
 * data alone. If its counts are the last when it looks, it takes them at once, so that the copies follow the
 * kernel without a wait between them. If others' were the last but have gone when the kernel is over, it
 * copies then (MAP_AGAIN). Only who removes something, or has copied back, takes the lock for the end of a
 * region. */
#include "plan.h"

#include <string.h>

/* Of an entry that was left for good by this work, or ALWAYS: the arguments that say FROM. */
static inline bool is_copied(const map_item_t *item) {
  if (!(item->type & MAP_FROM) || !item->entry || !item->bytes || item->flags & MAP_ITEM_RETRIEVED)
    return false;
  return item->type & MAP_ALWAYS || map_leader(item)->flags & MAP_ITEM_ZEROED;
}

static inline map_status_t begin_copies(map_work_t *work, bool *begun) {
  map_gather_t gather;
  map_status_t status = MAP_OK, ended;
  uint32_t todo = 0;
  bool listens = map_listens(work->table);
  map_gather_begin(&gather, work);
  for (map_item_t *item = work->items + work->item_count; item-- > work->items && !status;) {
    if (listens && item->flags & MAP_ITEM_LEFT) {
      map_work_note(work, MAP_NOTE_LEFT, item);
      item->flags &= ~(uint32_t)MAP_ITEM_LEFT; /* it may be met again, when it is over */
    } else if (listens && item->flags & MAP_ITEM_ABSENT && work->operation == MAP_END)
      map_work_note(work, MAP_NOTE_ABSENT, item);
    if (!is_copied(item))
      continue;
    status = map_gather_add(&gather, item);
    item->flags |= MAP_ITEM_RETRIEVED;
    todo |= MAP_ITEM_RETRIEVED | (item->entry->shadow_count ? MAP_TODO_RESTORE : 0);
  }
  if ((ended = map_gather_end(&gather)) && !status)
    status = ended;
  work->todo |= todo;
  *begun = todo;
  return status;
}

map_status_t map_work_copy_back(map_work_t *work) {
  const map_configuration_t *configuration = &work->table->configuration;
  map_mark_t mark = 0;
  bool begun, zeroed = work->todo & MAP_ITEM_ZEROED;
  map_status_t status = begin_copies(work, &begun);
  if (!zeroed)
    return status;
  if (begun && !configuration->functions->mark(configuration->device, work->stream, &mark) && !status)
    status = MAP_DEVICE;
  map_item_t *end = work->items + work->item_count;
  for (map_item_t *item = work->items; item < end; item++) {
    /* Without a copy back the one to the device may still be under way: who comes next waits for that. */
    if (item->flags & MAP_ITEM_ZEROED)
      map_entry_filled(work->table, item->entry,
                       mark ? mark : atomic_load_explicit(&item->entry->mark, memory_order_relaxed));
    item->flags &= ~(uint32_t)(MAP_ITEM_ZEROED | MAP_ITEM_LEFT);
  }
  work->todo &= ~(uint32_t)MAP_ITEM_ZEROED;
  return status;
}

/* ---- regions ---- */

/* Takes all counts that the work has on an entry, if they are the last. */
static inline bool take_last(map_item_t *leader) {
  map_entry_t *entry = leader->entry;
  uint64_t mine = leader->units & MAP_COUNTS, word = atomic_load_explicit(&entry->word, memory_order_relaxed);
  while (mine && (word & MAP_COUNTS) == mine)
    if (atomic_compare_exchange_weak_explicit(&entry->word, &word, (word - mine) | MAP_FILLING,
                                              memory_order_acq_rel, memory_order_relaxed)) {
      leader->units -= mine;
      leader->flags |= MAP_ITEM_ZEROED;
      return true;
    }
  return false;
}

/* What an item of a region counts. */
static uint64_t unit_of(const map_item_t *item) {
  if (!item->entry || !(item->flags & (MAP_ITEM_FRESH | MAP_ITEM_COUNTED)))
    return 0;
  return item->type & MAP_HOLD ? MAP_HOLD_ONE : MAP_DYNAMIC_ONE;
}

/* For the listener: what leaving a region is going to do, in the order of its end; what is left of the counts
 * goes from item to item through their leader. */
static __attribute__((noinline, cold)) void note_region(map_work_t *work) {
  map_item_t *begin = work->items, *end = begin + work->item_count;
  for (map_item_t *item = begin; item < end; item++) {
    map_item_t *leader = map_leader(item);
    if (item->entry && leader == item)
      item->value = map_entry_word(item->entry);
    if (leader->flags & MAP_ITEM_ZEROED) /* they were taken already */
      leader->value += unit_of(item);
  }
  for (map_item_t *item = end; item-- > begin;) {
    map_item_t *leader = map_leader(item);
    if (!item->entry || !(item->flags & (MAP_ITEM_FRESH | MAP_ITEM_FOUND)))
      continue;
    item->flags |= MAP_ITEM_LEFT;
    leader->value -= unit_of(item);
    item->value = leader->value;
  }
}

map_status_t map_leave(map_work_t *work) {
  uint32_t found = 0, goes = MAP_TODO_GOES;
  if (!(work->todo & MAP_TODO_LEAVE))
    return MAP_OK;
  work->operation = MAP_LEAVE;
  map_status_t status;
  if (work->plan && map_plan_leave(work, &status))
    return status;
  if (__builtin_expect(!(work->todo & MAP_TODO_SOLE), 1)) /* who else has gone meanwhile is seen at the end */
    return MAP_OK;
  map_item_t *end = work->items + work->item_count;
  for (map_item_t *item = work->items; item < end; item++) {
    if (!item->entry)
      continue;
    if ((item->type & (MAP_ALWAYS | MAP_FROM)) == (MAP_ALWAYS | MAP_FROM))
      found |= MAP_ITEM_RETRIEVE;
    if (item->units && take_last(item))
      found |= MAP_ITEM_ZEROED;
    else if (item->units)
      goes = 0;
  }
  work->todo |= goes;
  if (__builtin_expect(map_listens(work->table), 0)) {
    note_region(work);
    found |= MAP_ITEM_RETRIEVE;
  }
  if (!found)
    return MAP_OK;
  work->todo |= found & MAP_ITEM_ZEROED;
  return map_work_copy_back(work);
}

/* ---- data constructs ---- */

/* Takes a count away under the lock, or all that are more than `left`. The last one is taken in one step with
 * a pin of the work's. */
static void take_count(map_work_t *work, map_item_t *item, uint64_t one, uint64_t mask, uint64_t left) {
  map_item_t *leader = map_leader(item);
  map_entry_t *entry = item->entry;
  uint64_t word = atomic_load_explicit(&entry->word, memory_order_relaxed), after;
  bool last;
  do {
    after = (word & mask) <= left ? word : item->type & MAP_DELETE ? (word & ~mask) | left : word - one;
    last = word & MAP_COUNTS && !(after & MAP_COUNTS);
    if (last)
      after = (after | MAP_FILLING) + (leader->units ? 0 : MAP_PIN_ONE);
  } while (!atomic_compare_exchange_weak_explicit(&entry->word, &word, after, memory_order_acq_rel,
                                                  memory_order_relaxed));
  item->value = after;
  if (!last)
    return;
  if (!leader->units)
    leader->units = MAP_PIN_ONE;
  leader->flags |= MAP_ITEM_ZEROED;
  work->todo |= MAP_ITEM_ZEROED | MAP_TODO_DROP;
}

/* Takes away what an item has counted. A member that is deleted takes the whole with it, which counts for its
 * members and says nothing of deleting: one count is left for it. True: something may have to be copied by
 * that. */
static bool leave_item(map_work_t *work, map_item_t *item) {
  bool hold = item->type & MAP_HOLD, counted = item->flags & MAP_ITEM_COUNTED;
  uint64_t one = hold ? MAP_HOLD_ONE : MAP_DYNAMIC_ONE;
  if (!item->entry)
    return false;
  item->value = map_entry_word(item->entry);
  if ((counted || item->type & MAP_DELETE) && !(item->entry->infinite && !hold))
    take_count(work, item, one, hold ? MAP_HOLD_MASK : MAP_DYNAMIC_MASK, counted ? 0 : one);
  return true;
}

/* The same for an item that counts as almost all do, if the count is not the last. False: not so. */
static inline bool leave_quickly(map_item_t *item) {
  if (item->flags != MAP_ITEM_COUNTED || item->type & (MAP_HOLD | MAP_DELETE | MAP_ALWAYS))
    return false;
  uint64_t word = atomic_load_explicit(&item->entry->word, memory_order_relaxed);
  return (word & MAP_DYNAMIC_MASK) > 1 && !(word & MAP_SPECIAL) &&
         atomic_compare_exchange_strong_explicit(&item->entry->word, &word, word - MAP_DYNAMIC_ONE,
                                                 memory_order_acq_rel, memory_order_relaxed);
}

/* What is to be done without the lock needs a pin, and what others have begun to be waited for. */
static bool prepare_copy(map_work_t *work, map_item_t *item) {
  map_item_t *leader = map_leader(item);
  uint64_t before;
  if (!is_copied(item))
    return true;
  if (!leader->units) {
    if (!map_entry_take(item->entry, MAP_PIN_ONE, &before))
      return false;
    leader->units = MAP_PIN_ONE;
    work->todo |= MAP_TODO_DROP;
  }
  if (atomic_load_explicit(&item->entry->mark, memory_order_acquire)) {
    leader->flags |= MAP_ITEM_WAIT;
    work->todo |= MAP_ITEM_WAIT;
  }
  work->todo |= MAP_ITEM_RETRIEVE;
  return true;
}

static __attribute__((cold)) bool end_missing(map_pass_t *pass, const map_component_t *component) {
  bool sane = map_component_is_sane(component);
  if ((!sane || component->type & MAP_PRESENT) && !pass->wrong) {
    pass->wrong = sane ? "device mapping required by 'present' map type modifier does not exist" : map_insane;
    pass->range = (map_range_t){component->begin, (uint64_t)component->size, component->name};
  }
  map_item_t *item = pass->notes && component->size ? map_work_add(pass->work, NULL, component) : NULL;
  if (item)
    item->flags = MAP_ITEM_ABSENT;
  return true;
}

/* Finds one list item; counts nothing yet. False: no memory, or `*blocked` is being filled, or the pass is to
 * be done again, all of it with items. */
static bool find_one(map_pass_t *pass, const map_component_t *component, bool counts, map_entry_t **blocked) {
  map_entry_t *entry;
  map_relation_t relation =
      map_table_look_up(pass->table, component->begin, (uint64_t)component->size, &entry);
  bool implicit = component->type & MAP_IMPLICIT && map_component_is_sane(component);
  if (relation == MAP_NOTHING || (relation == MAP_EXTENDED && !implicit))
    return end_missing(pass, component);
  uint64_t word = map_entry_word(entry);
  if (__builtin_expect(!(word & MAP_COUNTS), 0))
    return end_missing(pass, component);
  if (__builtin_expect((word & MAP_FILLING) != 0, 0)) {
    *blocked = entry;
    return false;
  }
  if (__builtin_expect(entry->visit == pass->front,
                       0)) { /* met in front, and this is its last count, or ALWAYS */
    pass->again = true;
    return false;
  }
  map_item_t *item = map_work_add(pass->work, entry, component);
  if (!item)
    return false;
  if (relation == MAP_EXTENDED) {
    uintptr_t end = item->host + item->bytes < entry->end ? item->host + item->bytes : entry->end;
    item->host = item->host > entry->begin ? item->host : entry->begin;
    item->bytes = end - item->host;
  }
  item->flags = (counts ? MAP_ITEM_COUNTED : 0) | (pass->notes ? MAP_ITEM_LEFT : 0);
  map_work_lead(pass, item);
  return true;
}

/* A PTR_AND_OBJ's pointer, if the entry is there for nothing else. */
static bool find_pointer(map_pass_t *pass, const map_component_t *component, map_entry_t **blocked) {
  map_component_t pointer = {component->base, component->base, sizeof(void *), 0, NULL};
  map_entry_t *entry;
  if (map_table_look_up(pass->table, pointer.begin, sizeof(void *), &entry) != MAP_CONTAINED ||
      !entry->auxiliary)
    return true;
  return find_one(pass, &pointer, true, blocked);
}

static bool find_component(map_pass_t *pass, const map_component_t *component, map_entry_t **blocked) {
  if (component->type & (MAP_LITERAL | MAP_PRIVATE | MAP_ATTACH))
    return true;
  bool pointer = component->type & MAP_PTR_AND_OBJ;
  if (pointer && !(component->type & MAP_MEMBER_OF) && !find_pointer(pass, component, blocked))
    return false;
  return find_one(pass, component, pointer || !(component->type & MAP_MEMBER_OF), blocked);
}

/* What the quick way is for. */
#define PLAIN (MAP_TO | MAP_FROM | MAP_IMPLICIT | MAP_CLOSE | MAP_PRESENT)

/* Takes the counts of plain list items in front that are not the last, as long as they come; they need no
 * items. The entries know that they were met. */
static inline __attribute__((always_inline)) uint32_t leave_front(map_pass_t *pass) {
  uint32_t i = 0, count = pass->arguments->count;
  uint64_t visit = pass->visit;
  map_quick_t quick = map_quick_begin(pass->work, pass->arguments);
  for (; i < count; i++) {
    uint64_t type = (uint64_t)quick.types[i];
    uintptr_t host = (uintptr_t)quick.begins[i];
    map_entry_t *entry = map_quick_hint(&quick, host);
    if ((type | PLAIN) != PLAIN || !entry || !map_entry_contains(entry, host, (uint64_t)quick.sizes[i]))
      break;
    uint64_t word = atomic_load_explicit(&entry->word, memory_order_relaxed);
    if ((int32_t)word <= 1 || word >> MAP_UNUSUAL_SHIFT)
      break;
    entry->visit = visit;
    if (!atomic_compare_exchange_strong_explicit(&entry->word, &word, word - MAP_DYNAMIC_ONE,
                                                 memory_order_acq_rel, memory_order_relaxed))
      break;
  }
  pass->in_front = i;
  pass->front = pass->visit;
  return i;
}

/* Counts them again: the pass was no use. If somebody has taken an entry's last count meanwhile, it is as if
 * this construct came after that. */
static __attribute__((cold)) void return_to_front(map_pass_t *pass) {
  for (uint32_t i = 0; i < pass->in_front; i++) {
    map_entry_t *entry;
    uintptr_t host = (uintptr_t)pass->arguments->begins[i];
    uint64_t before;
    if (map_table_look_up(pass->table, host, (uint64_t)pass->arguments->sizes[i], &entry) == MAP_CONTAINED)
      (void)map_entry_take(entry, MAP_DYNAMIC_ONE, &before); /* there was room for it */
  }
  pass->in_front = 0;
  pass->front = MAP_NO_FRONT;
}

static bool find_all(map_pass_t *pass, uint32_t i, map_entry_t **blocked) {
  const map_arguments_t *arguments = pass->arguments;
  for (; i < arguments->count; i++) {
    map_component_t component;
    map_argument_get(arguments, i, &component);
    const map_component_t *components = &component;
    uint32_t count = 1;
    if (arguments->mappers && arguments->mappers[i] && !(component.type & (MAP_LITERAL | MAP_PRIVATE)))
      count = map_stack_of(pass->work, i, &components);
    for (uint32_t j = 0; j < count; j++)
      if (!find_component(pass, &components[j], blocked))
        return false;
  }
  return true;
}

/* The pass is no use: forgets what it has found. */
static void forget_pass(map_pass_t *pass) {
  return_to_front(pass);
  pass->work->item_count = 0;
}

/* Something is being filled by another thread. Waits, and begins again. */
static bool wait_for_blocked(map_pass_t *pass, map_entry_t *blocked) {
  uint64_t before;
  map_table_t *table = pass->table;
  bool pinned = map_entry_take(blocked, MAP_PIN_ONE, &before);
  forget_pass(pass);
  map_pass_end(pass);
  if (!pinned)
    return false;
  (void)map_entry_await(table, blocked); /* if it has failed it is not found again */
  if (map_unpin(table, blocked))
    return false;
  map_pass_begin(pass, pass->work, pass->arguments, MAP_END);
  return true;
}

/* What is not for the front, from argument `i` on: finds all, then counts all, then decides what is copied,
 * so that the order of the arguments does not matter. Ends the pass. */
static __attribute__((noinline)) map_status_t end_rest(map_pass_t *pass, uint32_t i) {
  map_work_t *work = pass->work;
  map_entry_t *blocked = NULL;
  pass->visit = ++pass->table->visit;
  for (; !find_all(pass, i, &blocked); i = 0, blocked = NULL) {
    if (pass->again) {
      forget_pass(pass);
      pass->again = false;
      pass->visit = ++pass->table->visit;
    } else if (!blocked || !wait_for_blocked(pass, blocked)) {
      if (!blocked)
        map_pass_end(pass);
      return map_fail_memory(pass->table, "unmapping data");
    }
  }
  const map_item_t *full = NULL;
  bool copies = false;
  for (i = work->item_count; i--;)
    copies = leave_quickly(&work->items[i]) ? copies : leave_item(work, &work->items[i]) || copies;
  for (i = 0; i < work->item_count && copies; i++)
    if (work->items[i].entry && !prepare_copy(work, &work->items[i]))
      full = &work->items[i];
  map_pass_end(pass);
  if (!full)
    return MAP_OK;
  map_range_t range = {full->host, full->bytes, full->name};
  return map_fail_near(pass->table, MAP_INVALID, &range, "data is in use by too many operations at once");
}

map_status_t map_end(map_work_t *work, const map_arguments_t *arguments) {
  map_pass_t pass;
  map_status_t copied = MAP_OK, status = map_check_arguments(work->table, arguments);
  if (arguments->mappers && !status)
    status = map_work_call_mappers(work, arguments);
  if (!status && !map_work_reserve(work, arguments->count))
    status = map_fail_memory(work->table, "unmapping data");
  if (status)
    return status;
  map_pass_begin(&pass, work, arguments, MAP_END);
  uint32_t first = __builtin_expect(pass.notes || arguments->mappers, 0) ? 0 : leave_front(&pass);
  if (__builtin_expect(first == arguments->count, 1)) {
    map_pass_end(&pass);
    return MAP_OK;
  }
  status = end_rest(&pass, first);
  if (work->todo & MAP_ITEM_WAIT)
    copied = map_work_await(work);
  if (work->todo & (MAP_ITEM_ZEROED | MAP_ITEM_RETRIEVE) || pass.notes) {
    map_status_t back = map_work_copy_back(work);
    copied = copied ? copied : back;
  }
  if (pass.wrong == map_insane)
    return map_fail_insane(work->table, &pass.range);
  if (pass.wrong)
    return map_fail_near(work->table, MAP_ABSENT, &pass.range, "%s for host address 0x%016llx (%lld bytes)",
                         pass.wrong, (unsigned long long)pass.range.host, (long long)pass.range.bytes);
  return status ? status : copied;
}

/* ---- the end of a work ---- */

/* Whether a part of the leader's entry is FROM. */
static bool wants_back(const map_work_t *work, uint32_t leader) {
  const map_entry_t *entry = work->items[leader].entry;
  for (uint32_t i = 0; i < work->item_count; i++) {
    const map_item_t *item = &work->items[i];
    if (item->entry == entry && item->type & MAP_FROM && item->bytes)
      return true;
  }
  return false;
}

/* Takes the last counts of a region whose kernel is over. What is ALWAYS has been copied, but maybe not as
 * the others have left it. Items of the entry that had other leaders have given their counts back. */
static bool leave_late(map_work_t *work, uint32_t leader) {
  const map_entry_t *entry = work->items[leader].entry;
  if (!take_last(&work->items[leader]))
    return false;
  for (uint32_t i = 0; i < work->item_count; i++) {
    map_item_t *item = &work->items[i];
    if (item->entry != entry)
      continue;
    item->flags &= ~(uint32_t)MAP_ITEM_RETRIEVED;
    map_follow(item, &work->items[leader]);
  }
  return true;
}

/* What a leader gives back: of a data construct that has succeeded its pins, else all. */
static inline bool keeps_counts(const map_work_t *work) {
  return work->operation == MAP_BEGIN && !(work->todo & MAP_TODO_FAILED);
}

static inline uint64_t units_to_drop(const map_work_t *work, const map_item_t *item) {
  return keeps_counts(work) ? item->units & ~MAP_COUNTS : item->units;
}

typedef enum drop { DROPPED, DROP_LAST, DROP_COPIES } drop_t;

/* Without the lock; not if the entry goes by it, nor if what it says FROM has to be copied first. */
static drop_t drop(const map_work_t *work, map_item_t *item, uint32_t index) {
  uint64_t all = units_to_drop(work, item), units, mine;
  uint64_t word = atomic_load_explicit(&item->entry->word, memory_order_relaxed);
  bool left = work->operation == MAP_LEAVE && !(work->todo & MAP_TODO_FAILED);
  do {
    units = map_units_left(word, all);
    mine = units & MAP_COUNTS;
    if (__builtin_expect(left && mine && (word & MAP_COUNTS) == mine, 0) && wants_back(work, index))
      return DROP_COPIES;
    if ((word & ~MAP_NATURE) == units)
      return DROP_LAST;
    /* Release: who removes the entry sees all that was done with it. */
  } while (!atomic_compare_exchange_weak_explicit(&item->entry->word, &word, word - units,
                                                  memory_order_acq_rel, memory_order_relaxed));
  item->units = 0;
  return DROPPED;
}

/* The same from item `i` on, as long as others have counted the entries, too: then it is neither. Returns the
 * first item of which that is not so. */
static __attribute__((noinline)) uint32_t drop_quickly(map_item_t *items, uint32_t i, uint32_t count,
                                                       uint64_t mask) {
  for (; i < count; i++) {
    uint64_t units = items[i].units & mask;
    if (!units)
      continue;
    _Atomic uint64_t *word = &items[i].entry->word;
    uint64_t now = atomic_load_explicit(word, memory_order_relaxed);
    if (!((now ^ units) & MAP_COUNTS) || !(now & MAP_COUNTS) || map_units_left(now, units) != units)
      break;
    if (!atomic_compare_exchange_strong_explicit(word, &now, now - units, memory_order_acq_rel,
                                                 memory_order_relaxed))
      break;
    items[i].units = 0;
  }
  return i;
}

/* The host's own pointers, over what came from the device. */
static void restore(const map_item_t *item) {
  const map_entry_t *entry = item->entry;
  for (uint32_t i = map_entry_shadow_at(entry, item->host); i < entry->shadow_count; i++) {
    const map_shadow_t *shadow = entry->shadows[i];
    if (shadow->host >= item->host + item->bytes)
      return;
    map_shadow_write(shadow, shadow->value, (char *)shadow->host);
  }
}

/* An entry as the listener is told that it is gone. */
static void note_gone(map_item_t *item, const map_entry_t *entry) {
  item->flags |= MAP_ITEM_GONE;
  item->host = entry->begin;
  item->bytes = entry->end - entry->begin;
  item->name = entry->name;
  item->value = atomic_load_explicit(&entry->device, memory_order_relaxed);
}

/* Gives an item's units back. What has to be released, and told, is left in the item. */
static inline void remove_item(map_work_t *work, map_item_t *item, uint64_t units) {
  map_entry_t *entry = item->entry;
  void *memory;
  item->units = 0;
  if (__builtin_expect(map_listens(work->table), 0) && entry->memory) {
    map_item_t told = *item;
    note_gone(&told, entry);
    if (map_entry_drop(work->table, entry, units, &memory))
      *item = told;
  } else {
    (void)map_entry_drop(work->table, entry, units, &memory);
  }
  item->memory = memory;
}

/* Under the lock: pointers are restored, what nobody holds any more goes, or falls asleep. Whether there may
 * be something to be released, or told. */
static void restore_and_remove(map_work_t *work) {
  uint64_t mask = keeps_counts(work) ? ~MAP_COUNTS : ~UINT64_C(0);
  map_item_t *begin = work->items, *end = begin + work->item_count;
  for (map_item_t *item = end; work->todo & MAP_TODO_RESTORE && item-- > begin;)
    if (item->flags & MAP_ITEM_RETRIEVED && item->entry->shadow_count)
      restore(item);
  for (map_item_t *item = end; item-- > begin;) {
    if (item->entry && item->units)
      remove_item(work, item, item->units & mask);
    else
      item->memory = NULL;
  }
}

/* What the work has filled is there now: nobody needs to ask for the mark any more. */
static void forget_mark(map_work_t *work) {
  for (uint32_t i = 0; i < work->item_count; i++) {
    map_mark_t mark = work->mark;
    if (work->items[i].flags & MAP_ITEM_FRESH && work->items[i].units)
      atomic_compare_exchange_strong_explicit(&work->items[i].entry->mark, &mark, 0, memory_order_release,
                                              memory_order_relaxed);
  }
  work->mark = 0;
}

/* The same, from item `i` on, which is not for the quick way. */
static __attribute__((noinline)) uint32_t drop_rest(map_work_t *work, uint32_t i, uint64_t mask) {
  uint32_t found = 0;
  for (; i < work->item_count; i = drop_quickly(work->items, i + 1, work->item_count, mask)) {
    map_item_t *item = &work->items[i];
    switch (drop(work, item, i)) {
    case DROPPED: break;
    case DROP_LAST: found |= MAP_TODO_DROP; break;
    case DROP_COPIES:
      if (leave_late(work, i)) {
        found |= MAP_ITEM_ZEROED;
        work->todo |= MAP_ITEM_ZEROED;
      } else {
        i--; /* somebody has come meanwhile: once more */
      }
    }
  }
  return found;
}

/* Looks what there is to do under the lock. ZEROED in the result: copies have to be begun first. */
static inline uint32_t drop_all(map_work_t *work) {
  uint64_t mask = keeps_counts(work) ? ~MAP_COUNTS : ~UINT64_C(0);
  uint32_t i = drop_quickly(work->items, 0, work->item_count, mask);
  return i < work->item_count ? drop_rest(work, i, mask) : 0;
}

static void note_retrieved(const map_work_t *work) {
  for (uint32_t i = work->item_count; i--;)
    if (work->items[i].flags & MAP_ITEM_RETRIEVED)
      map_work_note(work, MAP_NOTE_RETRIEVED, &work->items[i]);
}

static inline map_status_t release_all(map_work_t *work) {
  const map_configuration_t *configuration = &work->table->configuration;
  map_status_t status = MAP_OK;
  bool listens = map_listens(work->table);
  for (const map_item_t *item = work->items + work->item_count; item-- > work->items;) {
    if (listens && item->flags & MAP_ITEM_GONE)
      map_work_note(work, MAP_NOTE_REMOVED, item);
    if (item->memory && !configuration->functions->release(configuration->device, item->memory))
      status = MAP_DEVICE;
  }
  return status;
}

static inline map_status_t remove_all(map_work_t *work) {
  if (map_listens(work->table)) /* while they still say what came, and where it was on the device */
    note_retrieved(work);
  atmi_spin_lock(&work->table->lock);
  restore_and_remove(work);
  atmi_spin_unlock(&work->table->lock);
  return release_all(work);
}

static inline map_status_t clean_up(map_work_t *work, map_status_t status) {
  if (__builtin_expect(work->privates != NULL, 0))
    map_privates_free(work);
  if (__builtin_expect(work->stack != NULL, 0))
    map_stack_put(work);
  if (__builtin_expect(work->room || work->words != work->inline_words, 0))
    map_work_give_back(work);
  work->mark = 0;
  work->item_count = work->todo = work->word_count = work->held_count = 0;
  if (__builtin_expect(atomic_load_explicit(&work->table->broken, memory_order_relaxed) != NULL, 0)) {
    map_status_t collected = map_plan_collect(work->table);
    status = status ? status : collected;
  }
  return status;
}

/* The first ones of those that were held have gone. */
static __attribute__((noinline)) void make_items_but(map_work_t *work, uint32_t gone) {
  map_work_make_items(work);
  for (uint32_t i = 0; i < gone; i++)
    work->items[i].units = 0;
}

void map_work_take_held(map_work_t *work, const map_arguments_t *arguments, const map_held_t *held,
                        uint32_t gone, bool left) {
  work->operation = left ? MAP_LEAVE : MAP_ENTER;
  work->todo |= MAP_TODO_LEAVE;
  work->arguments = arguments;
  work->held_count = held->count;
  memcpy(work->held, held->entries, held->count * sizeof *held->entries);
  make_items_but(work, gone);
}

map_status_t map_work_end(map_work_t *work) {
  map_status_t status = MAP_OK;
  if (work->plan && map_plan_end(work))
    return clean_up(work, MAP_OK);
  uint32_t gone = map_drop_held(work->held, work->held_count);
  if (__builtin_expect(gone != work->held_count, 0)) {
    make_items_but(work, gone);
    return map_work_end(work);
  }
  if (work->mark && !(work->todo & MAP_TODO_GOES)) /* what goes is asked for by nobody */
    forget_mark(work);
  uint32_t found = work->todo & MAP_TODO_DROP; /* under the lock, if it is probable that all goes */
  if (found && !(work->todo & MAP_TODO_GOES))
    found = drop_all(work);
  if (__builtin_expect(found & MAP_ITEM_ZEROED, 0)) {
    /* Some may have begun also if one has failed: what they read must not go before they are over. */
    if (map_work_copy_back(work))
      work->todo |= MAP_TODO_FAILED | MAP_TODO_BROKEN;
    work->busy = true;
    return MAP_AGAIN;
  }
  if (found & MAP_TODO_DROP || work->todo & MAP_ITEM_RETRIEVED)
    status = remove_all(work);
  return clean_up(work, work->todo & MAP_TODO_BROKEN ? MAP_DEVICE : status);
}
