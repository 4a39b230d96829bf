/* Entering: target enter data, the beginning of target data, and that of a target region. Not here: what is
 * done without the lock once the pass has said what (fill.c).
 *
 * The rules, in the order of the arguments: something that is mapped already is counted, unless the argument
 * is a member of one that was counted; something else becomes a fresh entry. TO copies to what this construct
 * has made, wherever in it the argument stands, and ALWAYS to the rest. */
#include "fill.h"
#include "plan.h"

#include <stdio.h>
#include <string.h>

#define LAMBDA  (MAP_PTR_AND_OBJ | MAP_LITERAL | MAP_IMPLICIT)
#define UNUSUAL (MAP_LITERAL | MAP_PRIVATE | MAP_ATTACH | MAP_PTR_AND_OBJ)

/* What became of a list item: an entry (`item` is its item), the host's memory, or nothing. */
typedef struct found {
  map_entry_t *entry;
  uint32_t item;
} found_t;

/* ---- failures ---- */

static __attribute__((noinline, cold)) bool wrong(map_pass_t *pass, const map_component_t *component,
                                                  const char *what) {
  pass->wrong = what;
  pass->wants_present = component->type & MAP_PRESENT;
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
      (before & MAP_FILLING || atomic_load_explicit(&item->entry->mark, memory_order_acquire))) {
    leader->flags |= MAP_ITEM_WAIT;
    pass->work->todo |= MAP_ITEM_WAIT;
  }
  return true;
}

/* Makes sure that the entry stays until the work's end. */
static inline bool pin(map_pass_t *pass, uint32_t index) {
  map_work_t *work = pass->work;
  map_item_t *leader = map_leader(&work->items[index]);
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
    index = map_index(pass->work, map_work_lead(pass, item));
  }
  return pin(pass, index) ? index : MAP_NO_ITEM;
}

/* Whether somebody, this work or another, has yet to fill the entry of an item. */
static inline bool is_ready(const map_item_t *item) {
  return !(map_leader(item)->flags & (MAP_ITEM_FRESH | MAP_ITEM_WAIT));
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

/* Which ways the data goes, for who lays fresh entries out. */
static inline uint32_t ways_of(uint64_t type) {
  _Static_assert(MAP_ITEM_INTO / MAP_TO == MAP_ITEM_OUT_OF / MAP_FROM, "the type's bits, shifted");
  return (uint32_t)(type & (MAP_TO | MAP_FROM)) * MAP_ITEM_INTO;
}

/* A new entry, to be filled behind the pass. */
static bool make(map_pass_t *pass, const map_component_t *component, uint32_t argument, found_t *found) {
  map_work_t *work = pass->work;
  map_item_t *item = map_work_next(work);
  uintptr_t begin = component->begin, end = begin + (uint64_t)component->size;
  map_entry_t *entry = *map_table_hint(pass->table, begin);
  if (item && map_entry_is_dormant(entry, begin, end - begin)) {
    map_table_wake(pass->table, entry);
  } else {
    if (!item || !(entry = map_table_add(pass->table, begin, end)))
      return wrong(pass, component, no_memory);
    work->todo |= MAP_TODO_NEW;
  }
  entry->base = component->base;
  entry->name = component->name;
  map_table_note_base(pass->table, entry);
  item = map_work_add(work, entry, component);
  item->argument = argument;
  item->flags = MAP_ITEM_FRESH | (component->type & MAP_TO ? MAP_ITEM_SUBMIT : 0) | ways_of(component->type);
  item->units = unit_of(component->type) + MAP_PIN_ONE;
  item->value = entry->padding = (uint8_t)padding_of(pass, component, argument);
  atomic_store_explicit(&entry->word, item->units | MAP_FILLING, memory_order_relaxed);
  map_work_lead(pass, item);
  work->todo |= item->flags | MAP_TODO_DROP;
  *found = (found_t){entry, map_index(work, item)};
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
static __attribute__((noinline, cold)) map_component_t clipped(const map_component_t *component,
                                                               const map_entry_t *entry) {
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
  pass->work->todo |= pass->region ? MAP_TODO_DROP : 0;
  if (!take(pass, item, leader, units))
    return wrong(pass, component, too_many);
  leader->flags |= ways_of(component->type);
  uint32_t index = pass->work->item_count - 1;
  if (__builtin_expect(pass->notes, 0))
    item->flags |= MAP_ITEM_FOUND | (counts && !entry->infinite ? MAP_ITEM_COUNTED : 0);
  bool ready = is_ready(item);
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
static __attribute__((cold)) bool tell_missing(map_pass_t *pass, const map_component_t *component,
                                               uint32_t argument, uint32_t flag) {
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
      map_table_look_up_new(pass->table, component->begin, (uint64_t)component->size, &entry);
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
  if (!found.entry) {
    if (!by_host)
      work->words[word] = NULL;
    return;
  }
  map_item_t *item = &work->items[found.item];
  if (is_ready(item)) {
    work->words[word] = (void *)map_entry_device(found.entry, base);
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
  if (is_ready(item)) {
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
    pass->work->words[pass->work->word_count - 1] = (void *)(component->base - component->begin);
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
 * second one's device memory. Without that, which is a section of length 0 that nobody has mapped, it becomes
 * NULL, or as far from it as the pointer is from the section: kernels ask for that, and the data that is
 * copied need not have it. Its record says whether it does already; where that is not known yet, fill.c
 * looks. */
static __attribute__((cold)) bool attach(map_pass_t *pass, const map_component_t *component, found_t pointer,
                                         found_t pointee, uint64_t bytes) {
  map_work_t *work = pass->work;
  map_shadow_t *shadow = map_entry_shadow(pass->table, pointer.entry, component->base, bytes);
  if (!shadow)
    return wrong(pass, component, no_memory);
  if (read_pointer(shadow))
    atomic_store_explicit(&shadow->device, 0, memory_order_relaxed);
  uintptr_t aim = pointee.entry ? map_entry_device(pointee.entry, shadow->value)
                                : map_shadow_state(shadow->value - component->begin);
  uint32_t second = pointee.entry ? pointee.item : pointer.item;
  if (is_ready(&work->items[pointer.item]) && is_ready(&work->items[second]) &&
      atomic_load_explicit(&shadow->device, memory_order_relaxed) == aim)
    return true;
  map_item_t *item = map_work_add(work, pointer.entry, component);
  if (!item || !pin(pass, pointer.item) || !pin(pass, second))
    return wrong(pass, component, no_memory);
  map_item_t *leader = map_leader(&work->items[pointer.item]);
  map_follow(item, leader);
  leader->flags |= MAP_ITEM_INTO;
  item->type = 0;
  item->flags = MAP_ITEM_ATTACH;
  item->host = component->base;
  item->bytes = bytes;
  item->shadow = shadow;
  item->word = pointee.entry ? second : MAP_NO_ITEM;
  item->value = aim;
  work->todo |= MAP_ITEM_ATTACH;
  return true;
}

static void become_auxiliary(map_entry_t *entry) {
  entry->auxiliary = true;
  atomic_fetch_or_explicit(&entry->word, MAP_SPECIAL, memory_order_relaxed);
}

/* The pointer of a PTR_AND_OBJ. Mostly it is in a struct that was mapped before it. Where nobody has mapped
 * it, an auxiliary entry serves, which goes with the last such map. */
static bool enter_pointer(map_pass_t *pass, const map_component_t *component, uint32_t argument,
                          found_t *found) {
  map_component_t pointer = {component->base, component->base, sizeof(void *),
                             component->type & (MAP_IMPLICIT | MAP_CLOSE | MAP_PRESENT), NULL};
  map_entry_t *entry;
  found->entry = NULL;
  switch (map_table_look_up_new(pass->table, pointer.begin, sizeof(void *), &entry)) {
  case MAP_CONTAINED:
    if (entry->auxiliary)
      return join(pass, entry, &pointer, argument, !(component->type & MAP_MEMBER_OF), found);
    *found = (found_t){entry, touch(pass, entry, &pointer)};
    return found->item != MAP_NO_ITEM || wrong(pass, component, no_memory);
  case MAP_NOTHING:
    if (!enter_missing(pass, &pointer, argument, found))
      return false;
    if (found->entry)
      become_auxiliary(found->entry);
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
  if (!pointer.entry || (!pointee.entry && uses_host(pass->table)))
    return true;
  return attach(pass, component, pointer, pointee, sizeof(void *));
}

/* ATTACH, of clang 22 on, once all else of the construct is mapped. */
static __attribute__((cold)) bool enter_attachment(map_pass_t *pass, const map_component_t *component) {
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
    map_follow(item, &work->items[entry->visitor]);
  item->argument = argument;
  item->flags = MAP_ITEM_PRIVATE;
  item->word = work->word_count;
  work->words[work->word_count++] = (void *)component->base;
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
  map_follow(item, &work->items[found.entry->visitor]);
  item->argument = argument;
  item->flags = MAP_ITEM_LAMBDA;
  item->type = 0;
  work->todo |= MAP_ITEM_LAMBDA;
  return true;
}

static __attribute__((noinline, cold)) bool enter_unusual(map_pass_t *pass, const map_component_t *component,
                                                          uint32_t argument) {
  map_work_t *work = pass->work;
  if (component->type & MAP_LITERAL) {
    if (!pass->region || pass->components)
      return true;
    if (component->type & MAP_TARGET_PARAM) {
      work->words[work->word_count++] = (void *)component->base;
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
static __attribute__((noinline, cold)) bool enter_mapped(map_pass_t *pass, const map_component_t *component,
                                                         uint32_t argument) {
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
    map_follow(item, &pass->work->items[leader]);
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

static __attribute__((noinline, cold)) bool attach_all(map_pass_t *pass) {
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

/* List items of a region from `i` on that are mapped already and only counted, and literals, as long as they
 * come. Returns the first other one. The entries do not know of the pass: other items of them have leaders of
 * their own, of which the last one answers for all (leave_late). */
static __attribute__((noinline)) uint32_t count_in_region(map_work_t *work, const map_arguments_t *arguments,
                                                          size_t i) {
  void **word = work->words + i, *const *bases = arguments->bases;
  map_entry_t **held = work->held;
  const map_quick_t quick = map_quick_begin(work, arguments);
  const size_t count = arguments->count;
  for (; i < count; i++) {
    uint64_t type = (uint64_t)quick.types[i];
    if (__builtin_expect(!map_is_plain(type), 0)) {
      if ((type & MAP_WORD) != MAP_WORD)
        break;
      *word++ = bases[i];
      continue;
    }
    uintptr_t host = (uintptr_t)quick.begins[i];
    map_entry_t *entry = map_quick_hint(&quick, host);
    if (!entry || !map_entry_contains(entry, host, (uint64_t)quick.sizes[i]) ||
        !map_entry_join_quickly(entry, MAP_HELD_UNITS))
      break;
    *held++ = entry;
    if (__builtin_expect(type & MAP_TARGET_PARAM, 1))
      *word++ = (void *)map_entry_device(entry, (uintptr_t)bases[i]);
  }
  work->arguments = arguments;
  work->held_count = (uint32_t)(held - work->held);
  work->word_count = (uint32_t)(word - work->words);
  return (uint32_t)i;
}

/* The same for those in front of a data construct, which need no items: only if it fails somebody asks for
 * them. */
static inline __attribute__((always_inline)) uint32_t count_in_front(map_work_t *work,
                                                                     const map_arguments_t *arguments) {
  uint32_t i = 0, count = arguments->count;
  map_quick_t quick = map_quick_begin(work, arguments);
  for (; i < count; i++) {
    uintptr_t host = (uintptr_t)quick.begins[i];
    map_entry_t *entry = map_quick_hint(&quick, host);
    if (!map_is_plain((uint64_t)quick.types[i]) || !entry ||
        !map_entry_contains(entry, host, (uint64_t)quick.sizes[i]) ||
        !map_entry_join_quickly(entry, MAP_DYNAMIC_ONE))
      break;
  }
  return i;
}

/* The construct has failed: what it has counted in front is to be given back, too. It is there as long as it
 * is counted. */
static __attribute__((cold)) void recall_front(map_pass_t *pass) {
  for (uint32_t i = 0; i < pass->in_front; i++) {
    map_component_t component;
    map_entry_t *entry;
    map_argument_get(pass->arguments, i, &component);
    if (map_table_look_up(pass->table, component.begin, (uint64_t)component.size, &entry) != MAP_CONTAINED)
      continue;
    map_item_t *item = map_work_add(pass->work, entry, &component);
    if (item)
      item->units = MAP_DYNAMIC_ONE;
    else
      (void)map_entry_drop_some(entry, MAP_DYNAMIC_ONE);
  }
}

/* Makes an entry of a dormant one. */
static inline void wake(map_pass_t *pass, map_entry_t *entry, uint32_t i, map_item_t *item) {
  const map_arguments_t *arguments = pass->arguments;
  map_table_wake(pass->table, entry);
  entry->base = (uintptr_t)arguments->bases[i];
  map_table_note_base(pass->table, entry);
  entry->name = item->name = arguments->names ? arguments->names[i] : NULL;
  entry->visit = pass->visit;
  entry->visitor = map_index(pass->work, item);
  item->value = 0;
  atomic_store_explicit(&entry->word, item->units | MAP_FILLING, memory_order_relaxed);
}

/* List items from `i` on that were mapped until lately, and are new again, as long as they come. Returns the
 * first other one. */
static __attribute__((noinline)) uint32_t wake_dormant(map_pass_t *pass, uint32_t i) {
  map_work_t *work = pass->work;
  const uint64_t units = MAP_DYNAMIC_ONE + MAP_PIN_ONE;
  uint32_t count = pass->arguments->count, words = work->word_count, todo = 0;
  map_quick_t quick = map_quick_begin(work, pass->arguments);
  for (; i < count && quick.item < work->items + work->item_capacity; i++) {
    uint64_t type = (uint64_t)quick.types[i];
    uintptr_t host = (uintptr_t)quick.begins[i];
    map_entry_t *entry = map_quick_hint(&quick, host);
    bool has_members = i + 1 < count && (uint64_t)quick.types[i + 1] >= MAP_MEMBER_ONE;
    if (!map_is_plain(type) || type & MAP_PRESENT || has_members ||
        !map_entry_is_dormant(entry, host, (uint64_t)quick.sizes[i]))
      break;
    uint32_t flags = MAP_ITEM_FRESH | (type & MAP_TO ? MAP_ITEM_SUBMIT : 0) | ways_of(type);
    bool is_word = pass->region && type & MAP_TARGET_PARAM;
    flags |= is_word ? MAP_ITEM_WORD : 0;
    map_item_t *item = map_quick_add(&quick, entry, i, type, units, flags);
    item->word = words;
    wake(pass, entry, i, item);
    work->words[words] = pass->arguments->bases[i];
    words += is_word;
    todo |= flags | MAP_TODO_DROP | MAP_TODO_SOLE;
  }
  map_quick_end(work, &quick);
  work->word_count = words;
  work->todo |= todo;
  return i;
}

static __attribute__((noinline)) bool enter_generally(map_pass_t *pass, uint32_t i) {
  map_component_t component;
  map_argument_get(pass->arguments, i, &component);
  pass->work->todo |= MAP_TODO_SOLE;
  return __builtin_expect(has_mapper(pass->arguments, i), 0) ? enter_mapped(pass, &component, i)
                                                             : enter_one(pass, &component, i);
}

/* The list items from `i` on, which is not for the quickest way. What is new does not come alone: where the
 * quick ways do not help they are not tried again. */
static bool enter_all(map_pass_t *pass, uint32_t i) {
  const map_configuration_t *configuration = &pass->table->configuration;
  uint32_t count = pass->arguments->count;
  bool wakes =
      !pass->notes && !pass->arguments->mappers && !configuration->unified && !configuration->zero_copy;
  map_work_keep(pass->work);
  while (i < count) {
    uint32_t before = i;
    if (wakes)
      i = wake_dormant(pass, i);
    wakes = i > before;
    if (i < count && !enter_generally(pass, i++))
      return false;
  }
  return !(pass->work->todo & MAP_ITEM_ATTACH) || attach_all(pass);
}

/* ---- failures, when the lock is free ---- */

/* What is mapped in part is not present, either. */
static map_status_t describe_extension(const map_pass_t *pass) {
  unsigned long long host = pass->range.host, other = pass->other.host;
  long long bytes = (long long)pass->range.bytes, other_bytes = (long long)pass->other.bytes;
  char absent[160] = "";
  if (pass->wants_present)
    snprintf(absent, sizeof absent, "\n%s for host address 0x%016llx (%lld bytes)", not_present, host, bytes);
  return map_fail_near(pass->table, pass->wants_present ? MAP_ABSENT : MAP_INVALID, &pass->range,
                       "%s: host address specified is 0x%016llx (%lld bytes), but device allocation maps to "
                       "host at 0x%016llx (%lld bytes)%s",
                       extension, host, bytes, other, other_bytes, absent);
}

static map_status_t describe(const map_pass_t *pass) {
  map_table_t *table = pass->table;
  const map_range_t *range = &pass->range;
  unsigned long long host = range->host;
  long long bytes = (long long)range->bytes;
  if (pass->wrong == no_memory)
    return map_fail_memory(table, "mapping data");
  if (pass->wrong == not_present)
    return map_fail_near(table, MAP_ABSENT, range, "%s for host address 0x%016llx (%lld bytes)", not_present,
                         host, bytes);
  if (pass->wrong == extension)
    return describe_extension(pass);
  if (pass->wrong == map_insane)
    return map_fail_insane(table, range);
  if (pass->wrong == null_pointer)
    return map_fail_near(table, MAP_INVALID, range, "a null pointer cannot be mapped with %lld bytes", bytes);
  return map_fail_near(table, MAP_INVALID, range, "this is mapped too many times at once");
}

static __attribute__((noinline, cold)) map_status_t fail(map_pass_t *pass) {
  recall_front(pass);
  map_work_abandon(pass->work);
  map_pass_end(pass);
  map_work_give_up(pass->work);
  return describe(pass);
}

/* From an argument on, under the lock, and what is to be done behind that. */
static __attribute__((noinline)) map_status_t enter_rest(map_work_t *work, const map_arguments_t *arguments,
                                                         map_operation_t operation, uint32_t i) {
  map_pass_t pass;
  map_pass_resume(&pass, work, arguments, operation);
  if (operation == MAP_ENTER && !pass.notes && !work->held_count) {
    if (map_plan_wake(work, arguments, i)) {
      map_pass_end(&pass);
      return map_plan_fill(work);
    }
    work->todo |= map_plan_is_likely(work->table) ? MAP_TODO_PLAN : 0;
  }
  pass.in_front = operation == MAP_BEGIN ? i : 0;
  if (!enter_all(&pass, i))
    return fail(&pass);
  map_pass_end(&pass);
  if (!(work->todo & ~(uint32_t)(MAP_TODO_DROP | MAP_TODO_LEAVE | MAP_TODO_SOLE | MAP_TODO_PLAN)) &&
      !pass.notes)
    return MAP_OK;
  map_status_t status = map_work_fill(work, arguments);
  if (__builtin_expect(status && pass.in_front, 0)) {
    atmi_spin_lock(&pass.table->lock);
    recall_front(&pass);
    map_pass_end(&pass);
  }
  return status;
}

static inline __attribute__((always_inline)) map_status_t
enter(map_work_t *work, const map_arguments_t *arguments, map_operation_t operation, uint32_t i) {
  map_table_t *table = work->table;
  bool front = !map_listens(table) && !arguments->mappers;
  atmi_spin_lock(&table->lock);
  if (operation == MAP_ENTER)
    i = front && arguments->count <= MAP_WORDS_INLINE ? count_in_region(work, arguments, i) : i;
  else
    i = front ? count_in_front(work, arguments) : i;
  if (__builtin_expect(i < arguments->count, 0))
    return enter_rest(work, arguments, operation, i);
  atmi_spin_unlock(&table->lock);
  return MAP_OK;
}

static inline map_status_t prepare(map_work_t *work, const map_arguments_t *arguments) {
  map_status_t status = MAP_OK;
  if (__builtin_expect(arguments->mappers != NULL, 0) && !status)
    status = map_work_call_mappers(work, arguments);
  if (__builtin_expect(arguments->count > work->item_capacity, 0) && !status &&
      !map_work_reserve(work, arguments->count))
    status = map_fail_memory(work->table, "mapping data");
  return status;
}

map_status_t map_begin(map_work_t *work, const map_arguments_t *arguments) {
  map_status_t status = map_check_arguments(work->table, arguments);
  if (!status)
    status = prepare(work, arguments);
  return status ? status : enter(work, arguments, MAP_BEGIN, 0);
}

/* How many arguments in front are what they are: they take no lock. */
static inline uint32_t literals(map_work_t *work, const map_arguments_t *arguments) {
  uint32_t i = 0;
  for (; i < arguments->count && ((uint64_t)arguments->types[i] & MAP_WORD) == MAP_WORD; i++)
    work->words[i] = arguments->bases[i];
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
  uint32_t first = literals(work, arguments);
  if (first == arguments->count)
    return MAP_OK;
  status = prepare(work, arguments);
  if (status)
    return status;
  work->todo |= MAP_TODO_LEAVE;
  return enter(work, arguments, MAP_ENTER, first);
}
