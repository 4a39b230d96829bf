/* What an entering operation does behind its pass, without the lock. */
#include "fill.h"

#include "plan.h"

#include "base/process_memory.h"

#include <string.h>

void map_work_abandon(map_work_t *work) {
  work->todo |= MAP_TODO_FAILED | MAP_TODO_DROP;
  for (uint32_t i = 0; i < work->item_count; i++) {
    map_item_t *item = &work->items[i];
    if (!(item->flags & MAP_ITEM_FRESH))
      continue;
    atomic_fetch_or_explicit(&item->entry->word, MAP_FAILED, memory_order_acq_rel);
    map_table_unlink(work->table, item->entry);
  }
}

void map_work_give_up(map_work_t *work) {
  for (uint32_t i = 0; i < work->item_count; i++)
    if (work->items[i].flags & MAP_ITEM_FRESH)
      map_entry_filled(work->table, work->items[i].entry, 0);
  work->word_count = 0;
}

/* Before anything is read for the program: whether the host has what is mapped for the first time, and may
 * read it, or write what comes back. A wild pointer is found here, and a constant, whose crash in this
 * library would say nothing of the program. What was mapped lately is not asked for again. */
static map_status_t check_host(const map_work_t *work) {
  const map_configuration_t *configuration = &work->table->configuration;
  for (const map_item_t *item = work->items, *end = item + work->item_count; item < end; item++) {
    const map_entry_t *entry = item->entry;
    if (!(item->flags & MAP_ITEM_FRESH) || !(item->flags & (MAP_ITEM_INTO | MAP_ITEM_OUT_OF)))
      continue;
    map_range_t range = {entry->begin, entry->end - entry->begin, entry->name};
    const atmi_process_access_t access =
        item->flags & MAP_ITEM_OUT_OF ? ATMI_PROCESS_WRITES : ATMI_PROCESS_READS;
    const char *remedy;
    const char *flaw = atmi_process_memory_flaw((const void *)range.host, range.bytes, access, &remedy);
    if (flaw &&
        !(configuration->reaches && configuration->reaches(configuration->device, (const void *)range.host)))
      return map_fail_near(work->table, MAP_INVALID, &range, "the host %s the %llu bytes at 0x%016llx: %s",
                           flaw, (unsigned long long)range.bytes, (unsigned long long)range.host, remedy);
  }
  return MAP_OK;
}

/* What most constructs need not do. */
static __attribute__((noinline)) map_status_t await_and_check(map_work_t *work) {
  map_status_t status = work->todo & MAP_ITEM_WAIT ? map_work_await(work) : MAP_OK;
  return status || !(work->todo & MAP_TODO_NEW) ? status : check_host(work);
}

/* Memory for what an item has made. An entry's first address is as far behind a multiple of the alignment as
 * the host's. */
static inline map_status_t allocate(map_work_t *work, const map_item_t *item) {
  const map_configuration_t *configuration = &work->table->configuration;
  map_entry_t *entry = item->entry;
  void *memory = NULL;
  uint64_t padding = item->value, bytes = entry->end - entry->begin;
  unsigned long long needed = bytes + padding;
  if (!configuration->functions->allocate(configuration->device, needed, (const void *)entry->begin,
                                          &memory)) {
    map_range_t range = {entry->begin, bytes, entry->name};
    return map_fail_near(work->table, MAP_DEVICE, &range, "no device memory of %llu bytes", needed);
  }
  entry->memory = memory;
  /* Release: who finds it in map_table_find without waiting may use it. */
  atomic_store_explicit(&entry->device, (uintptr_t)memory + padding, memory_order_release);
  return MAP_OK;
}

/* A pointer's value on the device; the item keeps it until the copy is over. What another thread has written
 * already is not written again: then it was written before the entry was filled, for which this work has
 * waited. */
static map_status_t attach(map_work_t *work, map_item_t *item) {
  map_shadow_t *shadow = item->shadow;
  uintptr_t device = item->word == MAP_NO_ITEM
                         ? item->value
                         : map_entry_device(work->items[item->word].entry, shadow->value);
  map_status_t status = MAP_OK;
  if (!(item->flags & MAP_ITEM_PACKED)) {
    if (atomic_exchange_explicit(&shadow->device, device, memory_order_acq_rel) == device)
      return MAP_OK;
    status = map_work_write_shadow(work, item);
  }
  if (map_listens(work->table) && !status)
    map_work_note(work, MAP_NOTE_ATTACHED, item);
  return status;
}

map_status_t map_work_write_shadow(map_work_t *work, map_item_t *item) {
  map_shadow_t *shadow = item->shadow;
  uintptr_t device = map_entry_device(item->entry, shadow->host);
  item->value = atomic_load_explicit(&shadow->device, memory_order_acquire);
  if (!item->value)
    return MAP_OK; /* another thread is about to write it for the first time */
  item->value = map_shadow_value(item->value);
  map_status_t status = map_work_submit_to(work, device, &item->value, sizeof(void *));
  if (shadow->rest && !status)
    status = map_work_submit_to(work, device + sizeof(void *), shadow->rest, shadow->bytes - sizeof(void *));
  if (status)
    return map_work_fail(work, item, "a pointer could not be written on the device");
  return MAP_OK;
}

static void tell(const map_work_t *work, const map_item_t *item) {
  if (item->flags & MAP_ITEM_FRESH)
    map_work_note(work, MAP_NOTE_CREATED, item);
  else if (item->flags & MAP_ITEM_FOUND)
    map_work_note(work, MAP_NOTE_FOUND, item);
  else if (item->flags & MAP_ITEM_HOST)
    map_work_note(work, MAP_NOTE_HOST, item);
  else if (item->flags & MAP_ITEM_ABSENT)
    map_work_note(work, MAP_NOTE_ABSENT, item);
}

/* Where an item's base is on the device, now that it is known. */
static inline void set_address(map_work_t *work, const map_arguments_t *arguments, const map_item_t *item) {
  if (item->flags & MAP_ITEM_WORD)
    work->words[item->word] = (void *)map_entry_device(item->entry, (uintptr_t)work->words[item->word]);
  if (__builtin_expect((item->flags & MAP_ITEM_RETURN) != 0, 0)) {
    void **base = &arguments->bases[item->argument];
    *base = (void *)map_entry_device(item->entry, (uintptr_t)*base);
  }
}

/* Pointers, which data that is copied after them would overwrite. */
static __attribute__((noinline)) map_status_t copy_pointers(map_work_t *work) {
  map_status_t status = MAP_OK;
  for (uint32_t i = 0; i < work->item_count && !status; i++) {
    if (work->items[i].flags & MAP_ITEM_AGAIN)
      status = map_work_write_shadow(work, &work->items[i]);
    else if (work->items[i].flags & MAP_ITEM_ATTACH)
      status = attach(work, &work->items[i]);
  }
  return status;
}

/* What is copied by a pack was told to nobody yet: it comes in the order of all. */
static inline map_status_t submit(map_work_t *work, const map_item_t *item) {
  if (!(item->flags & MAP_ITEM_PACKED))
    return map_work_submit(work, item, item->host, item->bytes);
  if (map_listens(work->table))
    map_work_note_part(work, MAP_NOTE_SUBMIT, item, item->host, item->bytes);
  return MAP_OK;
}

/* Memory and data, first of what is small, then item by item: the item that made an entry comes before others
 * that are in it, and the copies of one run while there is memory to be had for the next. */
static inline map_status_t copy(map_work_t *work, const map_arguments_t *arguments, map_packs_t *packs) {
  map_status_t status = MAP_OK;
  bool listens = map_listens(work->table);
  if (work->todo & MAP_ITEM_FRESH && !(status = map_packs_allocate(work, packs)))
    status = map_packs_submit(work, packs);
  const map_item_t *end = work->items + work->item_count;
  for (map_item_t *item = work->items; item < end && !status; item++) {
    if ((item->flags & (MAP_ITEM_FRESH | MAP_ITEM_PACKED)) == MAP_ITEM_FRESH &&
        (status = allocate(work, item)) != MAP_OK)
      return status;
    if (item->flags & (MAP_ITEM_WORD | MAP_ITEM_RETURN))
      set_address(work, arguments, item);
    if (listens)
      tell(work, item);
    if (item->flags & MAP_ITEM_SUBMIT)
      status = submit(work, item);
  }
  return status || !(work->todo & (MAP_ITEM_ATTACH | MAP_ITEM_AGAIN)) ? status : copy_pointers(work);
}

/* What the kernel is going to get. */
static void tell_parameters(const map_work_t *work) {
  for (uint32_t i = 0; i < work->item_count; i++) {
    const map_item_t *item = &work->items[i];
    if (item->entry && item->type & MAP_TARGET_PARAM && item->flags & (MAP_ITEM_FRESH | MAP_ITEM_FOUND))
      map_work_note(work, MAP_NOTE_PARAMETER, item);
  }
}

/* Lets others have what is filled. */
static map_status_t publish(map_work_t *work) {
  const map_configuration_t *configuration = &work->table->configuration;
  if (work->busy && !configuration->functions->mark(configuration->device, work->stream, &work->mark))
    return MAP_DEVICE;
  const map_item_t *end = work->items + work->item_count;
  for (const map_item_t *item = work->items; item < end; item++)
    if (item->flags & MAP_ITEM_FRESH)
      map_entry_filled(work->table, item->entry, work->mark);
  return MAP_OK;
}

map_status_t map_work_publish(map_work_t *work, map_status_t status) {
  if (work->todo & MAP_ITEM_FRESH && !status)
    status = publish(work);
  if (!status)
    return MAP_OK;
  map_plan_drop(work); /* which has the items */
  atmi_spin_lock(&work->table->lock);
  map_work_abandon(work);
  atmi_spin_unlock(&work->table->lock);
  map_work_give_up(work);
  return status;
}

map_status_t map_work_fill(map_work_t *work, const map_arguments_t *arguments) {
  map_packs_t packs;
  map_status_t status = MAP_OK;
  if (work->todo & (MAP_ITEM_WAIT | MAP_TODO_NEW))
    status = await_and_check(work);
  if (!status)
    status = copy(work, arguments, &packs);
  if (map_listens(work->table) && work->operation == MAP_ENTER && !status)
    tell_parameters(work);
  if (work->todo & (MAP_ITEM_PRIVATE | MAP_ITEM_LAMBDA) && !status)
    status = map_work_fill_privates(work, arguments);
  if ((work->todo & (MAP_TODO_PLAN | MAP_ITEM_FRESH)) == (MAP_TODO_PLAN | MAP_ITEM_FRESH) && !status)
    map_plan_record(work, arguments, &packs);
  return map_work_publish(work, status);
}
