/* Entering: target enter data, the beginning of target data, and that of a target region. Not here: what is
 * done without the lock once the pass has said what (fill.c).
 *
 * The rules, in the order of the arguments: something that is mapped already is counted, unless the argument
 * is a member of one that was counted; something else becomes a fresh entry. TO copies to what this construct
 * has made, wherever in it the argument stands, and ALWAYS to the rest. */
#include "fill.h"

#include <string.h>

#define LAMBDA  (MAP_PTR_AND_OBJ | MAP_LITERAL | MAP_IMPLICIT)
#define UNUSUAL (MAP_LITERAL | MAP_PRIVATE | MAP_ATTACH | MAP_PTR_AND_OBJ)

/* What became of a list item: an entry (`item` is its item), the host's memory, or nothing. */
typedef struct found {
  map_entry_t *entry;
  uint32_t item;
} found_t;

/* ---- failures ---- */

static bool wrong(map_pass_t *pass, const map_component_t *component, const char *what) {
  pass->wrong = what;
  pass->range = (map_range_t){component->begin, (uint64_t)component->size, component->name};
  return false;
}

static const char no_memory[] = "the host has no memory left", too_many[] = "too many references",
                  not_present[] = "device mapping required by 'present' map type modifier does not exist",
                  extension[] = "explicit extension not allowed", null_pointer[] = "null pointer";

/* ---- counting ---- */

static inline uint64_t unit_of(uint64_t type) {
  return __builtin_expect(type & MAP_HOLD, 0) ? MAP_HOLD_ONE : MAP_DYNAMIC_ONE;
}

/* Takes units of an item's entry, which its leader answers for. */
static inline bool take(map_pass_t *pass, map_item_t *item, map_item_t *leader, uint64_t units) {
  uint64_t before;
  if (__builtin_expect(!map_entry_take(item->entry, units, &before), 0))
    return false;
  leader->units += units;
  item->value = before + units;
  if (leader == item && !(leader->flags & MAP_ITEM_FRESH) &&
      (before & MAP_FILLING || atomic_load_explicit(&item->entry->mark, memory_order_relaxed))) {
    leader->flags |= MAP_ITEM_WAIT;
    pass->work->todo |= MAP_ITEM_WAIT;
  }
  return true;
}

/* Makes sure that the entry stays until the work's end. */
static inline bool pin(map_pass_t *pass, uint32_t index) {
  map_work_t *work = pass->work;
  map_item_t *leader = &work->items[work->items[index].leader];
  work->todo |= MAP_TODO_DROP;
  return leader->units >= MAP_PIN_ONE || take(pass, leader, leader, MAP_PIN_ONE);
}

/* An item for an entry that is there, so that it stays; MAP_NO_ITEM without memory. */
static uint32_t touch(map_pass_t *pass, map_entry_t *entry, const map_component_t *component) {
  uint32_t index = entry->visitor;
  if (entry->visit != pass->visit) {
    map_item_t *item = map_work_add(pass->work, entry, component);
    if (!item)
      return MAP_NO_ITEM;
    item->type = 0; /* the entry is used, the list item is not mapped by this */
    item->bytes = 0;
    index = map_work_lead(pass, item)->leader;
  }
  return pin(pass, index) ? index : MAP_NO_ITEM;
}

/* Whether somebody, this work or another, has yet to fill the entry of an item. */
static inline bool is_ready(const map_work_t *work, const map_item_t *item) {
  return !(work->items[item->leader].flags & (MAP_ITEM_FRESH | MAP_ITEM_WAIT));
}

/* Whether this construct has made the entry. */
static inline bool is_fresh(const map_pass_t *pass, const map_entry_t *entry) {
  return entry->visit == pass->visit && pass->work->items[entry->visitor].flags & MAP_ITEM_FRESH;
}

/* ---- one list item ---- */

/* Of a struct of which members are mapped, the device's memory is aligned as the whole struct would be. */
static uint64_t padding_of(const map_pass_t *pass, const map_component_t *component, uint32_t i) {
  uint64_t next = 0;
  if (pass->components && i + 1 < pass->component_count)
    next = pass->components[i + 1].type;
  else if (!pass->components && i + 1 < pass->arguments->count)
    next = (uint64_t)pass->arguments->types[i + 1];
  if (component->type & MAP_MEMBER_OF || next >> MAP_MEMBER_SHIFT != i + 1)
    return 0;
  uintptr_t alignment = component->base & (0 - component->base);
  if (pass->table->configuration.old_padding)
    alignment = 8;
  else if (!alignment || alignment > 16)
    alignment = 16;
  return component->begin % alignment;
}

/* A new entry, to be filled behind the pass. */
static bool make(map_pass_t *pass, const map_component_t *component, uint32_t argument, found_t *found) {
  map_work_t *work = pass->work;
  map_item_t *item = map_work_next(work);
  uintptr_t end = component->begin + (uint64_t)component->size;
  map_entry_t *entry = item ? map_table_add(pass->table, component->begin, end) : NULL;
  if (!entry)
    return wrong(pass, component, no_memory);
  entry->base = component->base;
  entry->name = component->name;
  item = map_work_add(work, entry, component);
  item->argument = argument;
  item->flags = MAP_ITEM_FRESH | (component->type & MAP_TO ? MAP_ITEM_SUBMIT : 0);
  item->units = unit_of(component->type) + MAP_PIN_ONE;
  item->value = padding_of(pass, component, argument);
  atomic_store_explicit(&entry->word, item->units | MAP_FILLING, memory_order_relaxed);
  map_work_lead(pass, item);
  work->todo |= item->flags | MAP_TODO_DROP;
  *found = (found_t){entry, item->leader};
  return true;
}

/* TO for something that is there already. */
static bool submit_again(map_pass_t *pass, uint32_t index, bool fresh) {
  map_work_t *work = pass->work;
  work->items[index].flags |= MAP_ITEM_SUBMIT;
  work->todo |= MAP_ITEM_SUBMIT;
  if (!pin(pass, index))
    return false;
  return fresh || !work->items[index].entry->shadow_count || map_pass_keep_shadows(pass, &work->items[index]);
}

/* Of a list item that reaches beyond an entry only that part can be copied. */
static map_component_t clipped(const map_component_t *component, const map_entry_t *entry) {
  map_component_t part = *component;
  uintptr_t end = component->begin + (uint64_t)component->size;
  if (end > entry->end)
    end = entry->end;
  if (part.begin < entry->begin)
    part.begin = entry->begin;
  part.size = (int64_t)(end - part.begin);
  return part;
}

/* Counts something that is there. */
static inline bool join(map_pass_t *pass, map_entry_t *entry, const map_component_t *component,
                        uint32_t argument, bool counts, found_t *found) {
  map_item_t *item = map_work_add(pass->work, entry, component);
  if (__builtin_expect(!item, 0))
    return wrong(pass, component, no_memory);
  item->argument = argument;
  item->value = 0;
  map_item_t *leader = map_work_lead(pass, item);
  uint64_t units = counts ? unit_of(component->type) : 0;
  if (__builtin_expect(entry->infinite, 0))
    units &= MAP_HOLD_MASK;
  if (pass->region && leader == item)
    units += MAP_PIN_ONE;
  if (!take(pass, item, leader, units))
    return wrong(pass, component, too_many);
  uint32_t index = pass->work->item_count - 1;
  if (__builtin_expect(pass->notes, 0))
    item->flags |= MAP_ITEM_FOUND | (counts && !entry->infinite ? MAP_ITEM_COUNTED : 0);
  bool ready = is_ready(pass->work, item);
  if (!ready && !pin(pass, index))
    return wrong(pass, component, too_many);
  *found = (found_t){entry, index};
  if (__builtin_expect(component->type & MAP_TO, 0) && component->size &&
      (component->type & MAP_ALWAYS || leader->flags & MAP_ITEM_FRESH)) {
    if (!submit_again(pass, index, leader->flags & MAP_ITEM_FRESH))
      return wrong(pass, component, no_memory);
  }
  return true;
}

/* For the listener. */
static bool tell_missing(map_pass_t *pass, const map_component_t *component, uint32_t argument,
                         uint32_t flag) {
  if (!pass->notes)
    return true;
  map_item_t *item = map_work_add(pass->work, NULL, component);
  if (!item)
    return wrong(pass, component, no_memory);
  item->argument = argument;
  item->flags = flag;
  return true;
}

/* Something that is not there, or not all of it. */
static bool enter_missing(map_pass_t *pass, const map_component_t *component, uint32_t argument,
                          found_t *found) {
  const map_configuration_t *configuration = &pass->table->configuration;
  found->entry = NULL;
  if (configuration->zero_copy || (configuration->unified && !(component->type & MAP_CLOSE)))
    return tell_missing(pass, component, argument, MAP_ITEM_HOST);
  if (component->type & MAP_PRESENT)
    return wrong(pass, component, not_present);
  if (!component->size)
    return tell_missing(pass, component, argument, MAP_ITEM_ABSENT);
  if (!component->begin)
    return wrong(pass, component, null_pointer);
  return make(pass, component, argument, found);
}

static inline bool enter_data(map_pass_t *pass, const map_component_t *component, uint32_t argument,
                              bool counts, found_t *found) {
  map_entry_t *entry;
  map_relation_t relation =
      map_table_look_up(pass->table, component->begin, (uint64_t)component->size, &entry);
  if (__builtin_expect(relation == MAP_CONTAINED, 1))
    return join(pass, entry, component, argument, counts, found);
  if (!map_component_is_sane(component))
    return wrong(pass, component, map_insane);
  if (relation == MAP_NOTHING)
    return enter_missing(pass, component, argument, found);
  if (!(component->type & MAP_IMPLICIT)) {
    pass->other = (map_range_t){entry->begin, entry->end - entry->begin, entry->name};
    return wrong(pass, component, extension);
  }
  map_component_t part = clipped(component, entry);
  return join(pass, entry, &part, argument, counts, found);
}

/* ---- what the construct gets back ---- */

/* The address of `base` on the device, for the kernel or the program. */
static void give_word(map_pass_t *pass, uintptr_t base, found_t found, bool by_host) {
  map_work_t *work = pass->work;
  uint32_t word = work->word_count++;
  work->words[word] = (void *)base;
  work->offsets[word] = 0;
  if (!found.entry) {
    if (!by_host)
      work->words[word] = NULL;
    return;
  }
  map_item_t *item = &work->items[found.item];
  if (is_ready(work, item)) {
    work->offsets[word] = (ptrdiff_t)(map_entry_device(found.entry, 0));
    return;
  }
  item->flags |= MAP_ITEM_WORD;
  item->word = word;
  work->todo |= MAP_ITEM_WORD;
}

static bool uses_host(const map_table_t *table) {
  return table->configuration.unified || table->configuration.zero_copy;
}

static void give_back(map_pass_t *pass, const map_component_t *component, uint32_t argument, found_t found) {
  map_work_t *work = pass->work;
  void **base = &pass->arguments->bases[argument];
  if (!found.entry) {
    if (uses_host(pass->table) || work->options & MAP_KEEP_HOST_POINTERS)
      *base = (void *)component->base;
    else
      *base = (void *)(component->base - component->begin);
    return;
  }
  map_item_t *item = &work->items[found.item];
  if (is_ready(work, item)) {
    *base = (void *)(map_entry_device(found.entry, component->base));
    return;
  }
  item->flags |= MAP_ITEM_RETURN;
  item->argument = argument;
  work->todo |= MAP_ITEM_RETURN;
  *base = (void *)component->base; /* to which the difference is added when it is known */
}

/* For absent ones the word keeps the distance of the base from the beginning, which is 0 in most programs. */
static void give_param(map_pass_t *pass, const map_component_t *component, found_t found) {
  bool by_host = uses_host(pass->table) || pass->work->options & MAP_KEEP_POINTER_ARGUMENTS;
  give_word(pass, component->base, found, by_host);
  if (!found.entry && !by_host)
    pass->work->offsets[pass->work->word_count - 1] = (ptrdiff_t)(component->base - component->begin);
}

static inline void give(map_pass_t *pass, const map_component_t *component, uint32_t argument,
                        found_t found) {
  if (component->type & MAP_TARGET_PARAM && pass->region && !pass->components)
    give_param(pass, component, found);
  if (__builtin_expect(component->type & MAP_RETURN_PARAM, 0) && !pass->region && !pass->components)
    give_back(pass, component, argument, found);
}

/* ---- pointers ---- */

/* What the program's pointer is; a descriptor's other bytes. True if the record says something else. */
static bool read_pointer(map_shadow_t *shadow) {
  const char *host = (const char *)shadow->host;
  uintptr_t value;
  memcpy(&value, host, sizeof value);
  bool changed = shadow->value != value;
  shadow->value = value;
  if (shadow->rest && memcmp(shadow->rest, host + sizeof value, shadow->bytes - sizeof value)) {
    memcpy(shadow->rest, host + sizeof value, shadow->bytes - sizeof value);
    changed = true;
  }
  return changed;
}

/* Makes the pointer at `component->base`, which is in the first entry, point to `component->begin` in the
 * second one's device memory. Its record says whether it does already; where that is not known yet, fill.c
 * looks. */
static bool attach(map_pass_t *pass, const map_component_t *component, found_t pointer, found_t pointee,
                   uint64_t bytes) {
  map_work_t *work = pass->work;
  map_shadow_t *shadow = map_entry_shadow(pass->table, pointer.entry, component->base, bytes);
  if (!shadow)
    return wrong(pass, component, no_memory);
  if (read_pointer(shadow))
    atomic_store_explicit(&shadow->device, 0, memory_order_relaxed);
  if (is_ready(work, &work->items[pointer.item]) && is_ready(work, &work->items[pointee.item]) &&
      atomic_load_explicit(&shadow->device, memory_order_relaxed) ==
          map_entry_device(pointee.entry, shadow->value))
    return true;
  map_item_t *item = map_work_add(work, pointer.entry, component);
  if (!item || !pin(pass, pointer.item) || !pin(pass, pointee.item))
    return wrong(pass, component, no_memory);
  item->leader = work->items[pointer.item].leader;
  item->type = 0;
  item->flags = MAP_ITEM_ATTACH;
  item->host = component->base;
  item->bytes = bytes;
  item->shadow = shadow;
  item->word = pointee.item;
  work->todo |= MAP_ITEM_ATTACH;
  return true;
}

/* The pointer of a PTR_AND_OBJ. Mostly it is in a struct that was mapped before it. Where nobody has mapped
 * it, an auxiliary entry serves, which goes with the last such map. */
static bool enter_pointer(map_pass_t *pass, const map_component_t *component, uint32_t argument,
                          found_t *found) {
  map_component_t pointer = {component->base, component->base, sizeof(void *),
                             component->type & (MAP_IMPLICIT | MAP_CLOSE | MAP_PRESENT), NULL};
  map_entry_t *entry;
  found->entry = NULL;
  switch (map_table_look_up(pass->table, pointer.begin, sizeof(void *), &entry)) {
  case MAP_CONTAINED:
    if (entry->auxiliary)
      return join(pass, entry, &pointer, argument, !(component->type & MAP_MEMBER_OF), found);
    *found = (found_t){entry, touch(pass, entry, &pointer)};
    return found->item != MAP_NO_ITEM || wrong(pass, component, no_memory);
  case MAP_NOTHING:
    if (!enter_missing(pass, &pointer, argument, found))
      return false;
    if (found->entry)
      found->entry->special = found->entry->auxiliary = true;
    return true;
  default:
    pass->other = (map_range_t){entry->begin, entry->end - entry->begin, entry->name};
    return wrong(pass, &pointer, extension);
  }
}

static bool enter_pointer_and_object(map_pass_t *pass, const map_component_t *component, uint32_t argument) {
  found_t pointer, pointee;
  if (!component->base)
    return wrong(pass, component, null_pointer);
  if (!enter_pointer(pass, component, argument, &pointer))
    return false;
  map_component_t object = *component;
  memcpy(&object.base, (const void *)component->base, sizeof object.base);
  if (!enter_data(pass, &object, argument, true, &pointee))
    return false;
  give(pass, &object, argument, pointee);
  return !pointer.entry || !pointee.entry || attach(pass, component, pointer, pointee, sizeof(void *));
}

/* ATTACH, of clang 22 on, once all else of the construct is mapped. */
static bool enter_attachment(map_pass_t *pass, const map_component_t *component) {
  found_t pointer, pointee;
  if (component->size < (int64_t)sizeof(void *) || !component->base)
    return wrong(pass, component, null_pointer);
  if (map_table_look_up(pass->table, component->base, (uint64_t)component->size, &pointer.entry) !=
          MAP_CONTAINED ||
      map_table_look_up(pass->table, component->begin, 0, &pointee.entry) != MAP_CONTAINED)
    return true;
  if (!(component->type & MAP_ALWAYS) && !is_fresh(pass, pointer.entry) && !is_fresh(pass, pointee.entry))
    return true;
  pointer.item = touch(pass, pointer.entry, component);
  pointee.item = touch(pass, pointee.entry, component);
  if (pointer.item == MAP_NO_ITEM || pointee.item == MAP_NO_ITEM)
    return wrong(pass, component, no_memory);
  return attach(pass, component, pointer, pointee, (uint64_t)component->size);
}

/* ---- what is not mapped ---- */

/* A private one gets memory of its own (private.c); of a pointer that is private and attached, the value is
 * what its pointee is on the device. */
static bool enter_private(map_pass_t *pass, const map_component_t *component, uint32_t argument) {
  map_work_t *work = pass->work;
  map_entry_t *entry = NULL;
  if (!(component->type & MAP_TARGET_PARAM))
    return true;
  if (component->type & MAP_ATTACH && component->begin &&
      map_table_look_up(pass->table, component->begin, 0, &entry) == MAP_CONTAINED &&
      touch(pass, entry, component) == MAP_NO_ITEM)
    return wrong(pass, component, no_memory);
  map_item_t *item = map_work_add(work, entry, component);
  if (!item)
    return wrong(pass, component, no_memory);
  if (entry)
    item->leader = entry->visitor;
  item->argument = argument;
  item->flags = MAP_ITEM_PRIVATE;
  item->word = work->word_count;
  work->words[work->word_count] = (void *)component->base;
  work->offsets[work->word_count++] = 0;
  work->todo |= MAP_ITEM_PRIVATE;
  return true;
}

/* What a lambda has captured by reference: its pointer there is to be what the variable is on the device. */
static bool enter_lambda(map_pass_t *pass, const map_component_t *component, uint32_t argument) {
  map_work_t *work = pass->work;
  uint64_t parent = component->type >> MAP_MEMBER_SHIFT;
  found_t found;
  if (!parent || parent > argument ||
      map_table_look_up(pass->table, component->begin, (uint64_t)component->size, &found.entry) !=
          MAP_CONTAINED)
    return true;
  if (touch(pass, found.entry, component) == MAP_NO_ITEM)
    return wrong(pass, component, no_memory);
  map_item_t *item = map_work_add(work, found.entry, component);
  if (!item)
    return wrong(pass, component, no_memory);
  item->leader = found.entry->visitor;
  item->argument = argument;
  item->flags = MAP_ITEM_LAMBDA;
  item->type = 0;
  work->todo |= MAP_ITEM_LAMBDA;
  return true;
}

static bool enter_unusual(map_pass_t *pass, const map_component_t *component, uint32_t argument) {
  map_work_t *work = pass->work;
  if (component->type & MAP_LITERAL) {
    if (!pass->region || pass->components)
      return true;
    if (component->type & MAP_TARGET_PARAM) {
      work->words[work->word_count] = (void *)component->base;
      work->offsets[work->word_count++] = 0;
      return true;
    }
    return (component->type & LAMBDA) != LAMBDA || enter_lambda(pass, component, argument);
  }
  if (component->type & MAP_PRIVATE)
    return !pass->region || pass->components || enter_private(pass, component, argument);
  if (component->type & MAP_ATTACH) {
    work->todo |= MAP_ITEM_ATTACH;
    return true;
  }
  return enter_pointer_and_object(pass, component, argument);
}

static inline bool enter_one(map_pass_t *pass, const map_component_t *component, uint32_t argument) {
  if (__builtin_expect(component->type & UNUSUAL, 0))
    return enter_unusual(pass, component, argument);
  found_t found;
  if (!enter_data(pass, component, argument, !(component->type & MAP_MEMBER_OF), &found))
    return false;
  give(pass, component, argument, found);
  return true;
}

/* ---- all of them ---- */

/* The components of an argument's mapper; then the argument itself is where they are. */
static bool enter_mapped(map_pass_t *pass, const map_component_t *component, uint32_t argument) {
  pass->component_count = map_stack_of(pass->work, argument, &pass->components);
  bool done = true;
  for (uint32_t i = 0; done && i < pass->component_count; i++)
    done = enter_one(pass, &pass->components[i], i);
  pass->components = NULL;
  if (!done || !pass->region || !(component->type & MAP_TARGET_PARAM))
    return done;
  map_component_t whole = *component;
  if (component->type & MAP_PTR_AND_OBJ && component->base)
    memcpy(&whole.base, (const void *)component->base, sizeof whole.base);
  found_t found = {NULL, 0};
  if (map_table_look_up(pass->table, component->begin, (uint64_t)component->size, &found.entry) !=
      MAP_NOTHING) {
    uint32_t leader = touch(pass, found.entry, component);
    map_item_t *item = leader == MAP_NO_ITEM ? NULL : map_work_add(pass->work, found.entry, component);
    if (!item)
      return wrong(pass, component, no_memory);
    item->leader = leader;
    item->type = 0;
    found.item = pass->work->item_count - 1;
  } else {
    found.entry = NULL;
  }
  give_param(pass, &whole, found);
  return true;
}

static inline bool has_mapper(const map_arguments_t *arguments, uint32_t i) {
  return arguments->mappers && arguments->mappers[i] &&
         !((uint64_t)arguments->types[i] & (MAP_LITERAL | MAP_PRIVATE));
}

static bool attach_all(map_pass_t *pass) {
  const map_arguments_t *arguments = pass->arguments;
  map_component_t component;
  for (uint32_t i = 0; i < arguments->count; i++) {
    map_argument_get(arguments, i, &component);
    if (has_mapper(arguments, i)) {
      const map_component_t *components;
      uint32_t count = map_stack_of(pass->work, i, &components);
      for (uint32_t j = 0; j < count; j++)
        if ((components[j].type & (MAP_ATTACH | MAP_PRIVATE)) == MAP_ATTACH &&
            !enter_attachment(pass, &components[j]))
          return false;
    } else if ((component.type & (MAP_ATTACH | MAP_PRIVATE | MAP_LITERAL)) == MAP_ATTACH &&
               !enter_attachment(pass, &component)) {
      return false;
    }
  }
  return true;
}

/* What the quick way is for. */
#define PLAIN (MAP_TO | MAP_FROM | MAP_TARGET_PARAM | MAP_IMPLICIT | MAP_CLOSE | MAP_PRESENT)

/* The quick way has counted what nobody else counts, or was left by its last one at this moment, or has too
 * many references. */
static bool settle_quick(map_pass_t *pass, map_item_t *item, uint64_t word) {
  map_work_t *work = pass->work;
  map_component_t component = {item->host, item->host, (int64_t)item->bytes, item->type, item->name};
  work->todo |= MAP_TODO_SOLE | MAP_TODO_DROP;
  if (word & MAP_OVERFLOWS)
    return wrong(pass, &component, too_many);
  if (!(word & MAP_FILLING))
    return true;
  item->flags |= MAP_ITEM_WAIT;
  work->todo |= MAP_ITEM_WAIT;
  if (pass->region && item->type & MAP_TARGET_PARAM) {
    item->flags |= MAP_ITEM_WORD;
    work->todo |= MAP_ITEM_WORD;
  }
  return pin(pass, item->leader) || wrong(pass, &component, too_many);
}

/* List items from `i` on that are mapped already and only counted, as long as they come. Returns the first
 * other one; `*done`: whether all went well. */
static inline __attribute__((always_inline)) uint32_t enter_quickly(map_pass_t *pass, uint32_t i, bool region,
                                                                    bool *done) {
  map_work_t *work = pass->work;
  const uint64_t units = MAP_DYNAMIC_ONE + (region ? MAP_PIN_ONE : 0);
  uint32_t count = pass->arguments->count, room = work->item_capacity - work->item_count;
  uint32_t end = count - i < room ? count : i + room, words = work->word_count;
  void **word = work->words, *const *bases = pass->arguments->bases;
  ptrdiff_t *offset = work->offsets;
  map_quick_t quick = map_quick_begin(pass);
  for (; i < end; i++) {
    uint64_t type = (uint64_t)quick.types[i];
    map_entry_t *entry = type & ~PLAIN ? NULL : map_quick_next(&quick, i, type, units);
    if (!entry)
      break;
    if (region && type & MAP_TARGET_PARAM) {
      quick.item[-1].word = words;
      word[words] = bases[i];
      offset[words++] = (ptrdiff_t)map_entry_device(entry, 0);
    }
    uint64_t now = atomic_fetch_add_explicit(&entry->word, units, memory_order_acq_rel) + units;
    if (__builtin_expect(!((now ^ units) & MAP_COUNTS) || now & (MAP_OVERFLOWS | MAP_FILLING), 0))
      *done = *done && settle_quick(pass, &quick.item[-1], now);
  }
  work->item_count = quick.index;
  work->word_count = words;
  return i;
}

static __attribute__((noinline)) uint32_t enter_region_quickly(map_pass_t *pass, uint32_t i, bool *done) {
  return enter_quickly(pass, i, true, done);
}

static __attribute__((noinline)) uint32_t enter_data_quickly(map_pass_t *pass, uint32_t i, bool *done) {
  return enter_quickly(pass, i, false, done);
}

static __attribute__((noinline)) bool enter_generally(map_pass_t *pass, uint32_t i) {
  map_component_t component;
  map_argument_get(pass->arguments, i, &component);
  pass->work->todo |= MAP_TODO_SOLE;
  return __builtin_expect(has_mapper(pass->arguments, i), 0) ? enter_mapped(pass, &component, i)
                                                             : enter_one(pass, &component, i);
}

static bool enter_all(map_pass_t *pass) {
  const map_arguments_t *arguments = pass->arguments;
  bool quick = !pass->notes && !arguments->mappers, done = true;
  for (uint32_t i = 0; i < arguments->count && done; i++) {
    uint32_t before = i;
    if (quick)
      i = pass->region ? enter_region_quickly(pass, i, &done) : enter_data_quickly(pass, i, &done);
    quick = i > before; /* what is new does not come alone */
    if (i < arguments->count && done)
      done = enter_generally(pass, i);
  }
  return done && (!(pass->work->todo & MAP_ITEM_ATTACH) || attach_all(pass));
}

/* ---- failures, when the lock is free ---- */

static map_status_t describe(const map_pass_t *pass) {
  map_table_t *table = pass->table;
  const map_range_t *range = &pass->range;
  unsigned long long host = range->host, other = pass->other.host;
  long long bytes = (long long)range->bytes, other_bytes = (long long)pass->other.bytes;
  if (pass->wrong == no_memory)
    return map_fail_memory(table, "mapping data");
  if (pass->wrong == not_present)
    return map_fail_near(table, MAP_ABSENT, range, "%s for host address 0x%016llx (%lld bytes)", not_present,
                         host, bytes);
  if (pass->wrong == extension)
    return map_fail_near(
        table, MAP_INVALID, range,
        "%s: host address specified is 0x%016llx (%lld bytes), but device allocation maps to "
        "host at 0x%016llx (%lld bytes)",
        extension, host, bytes, other, other_bytes);
  if (pass->wrong == map_insane)
    return map_fail_insane(table, range);
  if (pass->wrong == null_pointer)
    return map_fail_near(table, MAP_INVALID, range, "a null pointer cannot be mapped with %lld bytes", bytes);
  return map_fail_near(table, MAP_INVALID, range, "this is mapped too many times at once");
}

/* The pass, and what is to be done behind it. */
static map_status_t enter(map_work_t *work, const map_arguments_t *arguments, map_operation_t operation) {
  map_pass_t pass;
  map_pass_begin(&pass, work, arguments, operation);
  bool done = enter_all(&pass);
  if (__builtin_expect(!done, 0))
    map_work_abandon(work);
  map_pass_end(&pass);
  if (__builtin_expect(!done, 0)) {
    map_work_give_up(work);
    return describe(&pass);
  }
  if (__builtin_expect(!(work->todo & ~(uint32_t)(MAP_TODO_DROP | MAP_TODO_LEAVE | MAP_TODO_SOLE)), 1) &&
      !pass.notes)
    return MAP_OK;
  return map_work_fill(work, arguments);
}

static inline map_status_t prepare(map_work_t *work, const map_arguments_t *arguments) {
  map_status_t status = map_check_arguments(work->table, arguments);
  if (__builtin_expect(arguments->mappers != NULL, 0) && !status)
    status = map_work_call_mappers(work, arguments);
  if (__builtin_expect(arguments->count > work->item_capacity, 0) && !status &&
      !map_work_reserve(work, arguments->count))
    status = map_fail_memory(work->table, "mapping data");
  return status;
}

map_status_t map_begin(map_work_t *work, const map_arguments_t *arguments) {
  map_status_t status = prepare(work, arguments);
  return status ? status : enter(work, arguments, MAP_BEGIN);
}

/* How many arguments in front are what they are: they take no lock. */
static uint32_t literals(map_work_t *work, const map_arguments_t *arguments) {
  const uint64_t bits = MAP_LITERAL | MAP_TARGET_PARAM;
  uint32_t i = 0;
  for (; i < arguments->count && ((uint64_t)arguments->types[i] & bits) == bits; i++) {
    work->words[i] = arguments->bases[i];
    work->offsets[i] = 0;
  }
  work->word_count = i;
  return i;
}

map_status_t map_enter(map_work_t *work, const map_arguments_t *arguments) {
  work->operation = MAP_ENTER;
  if (!arguments->count)
    return MAP_OK;
  map_status_t status = map_check_arguments(work->table, arguments);
  if (__builtin_expect(arguments->count > MAP_WORDS_INLINE, 0) && !status)
    status = map_work_make_words(work, arguments->count);
  if (status)
    return status;
  if (literals(work, arguments) == arguments->count)
    return MAP_OK;
  work->word_count = 0;
  status = prepare(work, arguments);
  if (status)
    return status;
  work->todo |= MAP_TODO_LEAVE | MAP_TODO_DROP;
  return enter(work, arguments, MAP_ENTER);
}
