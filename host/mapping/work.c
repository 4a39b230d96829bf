/* What all operations share: items, checks, waiting, copies, notes. */
#include "work.h"

#include "base/process_memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

static map_room_t *take_room(map_table_t *table, size_t bytes) {
  map_room_t *room = atomic_exchange_explicit(&table->spare_room, NULL, memory_order_acquire);
  if (room && room->bytes >= bytes)
    return room;
  free(room);
  room = malloc(sizeof *room + bytes);
  if (room)
    room->bytes = bytes;
  return room;
}

static void put_room(map_table_t *table, map_room_t *room) {
  free(atomic_exchange_explicit(&table->spare_room, room, memory_order_acq_rel));
}

bool map_work_reserve(map_work_t *work, uint32_t count) {
  if (__builtin_expect(count <= work->item_capacity, 1))
    return true;
  uint32_t capacity = 2 * work->item_capacity > count ? 2 * work->item_capacity : count;
  map_room_t *room = take_room(work->table, capacity * sizeof(map_item_t));
  if (!room)
    return false;
  map_item_t *items = (map_item_t *)(void *)(room + 1);
  memcpy(items, work->items, work->item_count * sizeof *items);
  if (work->room)
    put_room(work->table, work->room);
  work->room = room;
  work->items = items;
  work->item_capacity = (uint32_t)(room->bytes / sizeof *items);
  return true;
}

void map_work_give_back(map_work_t *work) {
  if (work->room)
    put_room(work->table, work->room);
  if (work->words != work->inline_words)
    free(work->words);
  work->room = NULL;
  work->items = work->inline_items;
  work->words = work->inline_words;
  work->item_count = work->todo = work->word_count = 0;
}

void map_work_make_items(map_work_t *work) {
  const map_arguments_t *arguments = work->arguments;
  for (uint32_t i = 0, held = 0; held < work->held_count; i++) {
    map_component_t component;
    map_argument_get(arguments, i, &component);
    if ((component.type & MAP_WORD) == MAP_WORD)
      continue;
    map_item_t *item = map_work_add(work, work->held[held++], &component);
    item->units = MAP_HELD_UNITS;
  }
  work->held_count = 0;
  work->todo |= MAP_TODO_DROP;
}

void map_work_keep(map_work_t *work) {
  if (work->held_count)
    map_work_make_items(work);
}

/* ---- checks ---- */

const char map_insane[] = "the arguments are damaged";

map_status_t map_fail_insane(map_table_t *table, const map_range_t *range) {
  if ((int64_t)range->bytes < 0)
    return map_fail_near(table, MAP_INVALID, &(map_range_t){range->host, 0, range->name},
                         "a list item of %lld bytes: %s", (long long)range->bytes, map_insane);
  return map_fail_near(table, MAP_INVALID, range, "a list item reaches beyond the end of all memory");
}

/* Names and mappers are not there in most programs. */
static bool are_there(const map_arguments_t *arguments) {
  const void *const arrays[] = {arguments->bases, arguments->begins, arguments->sizes,
                                arguments->types, arguments->names,  arguments->mappers};
  _Static_assert(sizeof(void *) == sizeof(int64_t), "all arrays are as long");
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
    if (arrays[i] && !atmi_process_memory_is_there(arrays[i], arguments->count * sizeof(void *)))
      return false;
  return true;
}

map_status_t map_check_arrays(map_table_t *table, const map_arguments_t *arguments) {
  uint32_t count = arguments->count;
  if (count > MAP_ARGUMENTS_MOST)
    return map_fail(table, MAP_INVALID, "%u list items: %s", count, map_insane);
  if (!arguments->bases || !arguments->begins || !arguments->sizes || !arguments->types)
    return map_fail(table, MAP_INVALID, "%u list items, but no arrays for them: %s", count, map_insane);
  if (!are_there(arguments))
    return map_fail(table, MAP_INVALID, "%u list items, but arrays of fewer: %s", count, map_insane);
  return MAP_OK;
}

map_status_t map_work_make_words(map_work_t *work, uint32_t count) {
  void **words = malloc((size_t)count * sizeof *words);
  if (!words)
    return map_fail_memory(work->table, "a region's arguments");
  work->words = words;
  return MAP_OK;
}

/* ---- steps ---- */

map_status_t map_work_fail(const map_work_t *work, const map_item_t *item, const char *what) {
  map_range_t range = {item->host, item->bytes, item->name};
  if (!range.name && item->entry)
    range.name = item->entry->name;
  return map_fail_near(work->table, MAP_DEVICE, &range, "%s", what);
}

static map_status_t await_one(map_work_t *work, const map_item_t *item) {
  const map_configuration_t *configuration = &work->table->configuration;
  map_entry_t *entry = item->entry;
  /* What this work has taken the last count of is MAP_FILLING by itself. */
  if (!(item->flags & MAP_ITEM_ZEROED) && !map_entry_await(work->table, entry)) {
    return map_work_fail(work, item, "another thread that maps the same data has failed");
  }
  map_mark_t mark = atomic_load_explicit(&entry->mark, memory_order_acquire), reached = mark;
  if (!mark)
    return MAP_OK;
  if (!configuration->functions->wait(configuration->device, work->stream, &reached))
    return MAP_DEVICE;
  if (reached)
    work->busy = true;
  else /* release: who finds no mark finds what was copied */
    atomic_compare_exchange_strong_explicit(&entry->mark, &mark, 0, memory_order_release,
                                            memory_order_relaxed);
  return MAP_OK;
}

map_status_t map_work_await(map_work_t *work) {
  map_status_t status = MAP_OK;
  for (uint32_t i = 0; i < work->item_count && !status; i++)
    if (work->items[i].flags & MAP_ITEM_WAIT)
      status = await_one(work, &work->items[i]);
  return status;
}

void map_work_note_part(const map_work_t *work, map_note_kind_t kind, const map_item_t *item, uintptr_t host,
                        uint64_t bytes) {
  map_item_t part[1];
  part[0] = *item;
  part->host = host;
  part->bytes = bytes;
  part->behind = 0;
  map_work_note(work, kind, part);
}

bool map_pass_keep_shadows(map_pass_t *pass, const map_item_t *item) {
  map_work_t *work = pass->work;
  map_entry_t *entry = item->entry;
  uintptr_t begin = item->host, end = item->host + item->bytes;
  uint32_t leader = map_index(work, map_leader(item));
  for (uint32_t i = map_entry_shadow_at(entry, begin); i < entry->shadow_count; i++) {
    if (entry->shadows[i]->host >= end)
      break;
    map_component_t pointer = {0, entry->shadows[i]->host, sizeof(void *), 0, NULL};
    map_item_t *again = map_work_add(work, entry, &pointer);
    if (!again)
      return false;
    map_follow(again, &work->items[leader]);
    again->flags = MAP_ITEM_AGAIN;
    again->shadow = entry->shadows[i];
    work->todo |= MAP_ITEM_AGAIN;
  }
  return true;
}

/* ---- notes ---- */

void map_work_note(const map_work_t *work, map_note_kind_t kind, const map_item_t *item) {
  const map_listener_t *listener = &work->table->configuration.listener;
  void (*told)(void *, const map_note_t *) = __atomic_load_n(&listener->note, __ATOMIC_ACQUIRE);
  if (!told) /* it went in the middle of the operation */
    return;
  map_entry_t *entry = kind == MAP_NOTE_REMOVED ? NULL : item->entry;
  map_note_t note = {.kind = kind,
                     .operation = work->operation,
                     .type = item->type,
                     .name = kind == MAP_NOTE_ATTACHED ? item->entry->name : item->name,
                     .host = item->host,
                     .bytes = item->bytes,
                     .hold = item->type & MAP_HOLD,
                     .counted = item->flags & (MAP_ITEM_COUNTED | MAP_ITEM_FRESH),
                     .last = item->entry && map_leader(item)->flags & MAP_ITEM_ZEROED};
  if (kind == MAP_NOTE_REMOVED)
    note.device = (uintptr_t)item->value;
  if (entry) {
    bool snapshot = kind == MAP_NOTE_FOUND || kind == MAP_NOTE_LEFT;
    uint64_t word = snapshot ? item->value : kind == MAP_NOTE_CREATED ? item->units : map_entry_word(entry);
    note.base = entry->base;
    note.begin = entry->begin;
    note.end = entry->end;
    note.device = map_entry_device(entry, item->host);
    note.allocation = entry->memory ? map_entry_device(entry, entry->begin) - entry->padding : 0;
    note.dynamic_count = map_word_dynamic(word);
    note.hold_count = map_word_hold(word);
    note.infinite = entry->infinite;
    note.entry_name = entry->name;
    if (!note.name)
      note.name = entry->name;
  }
  told(listener->context, &note);
}
