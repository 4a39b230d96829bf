/* Several small entries in one piece of memory, and their copies in one. */
#include "pack.h"

#include <string.h>

enum {
  ALIGNMENT = 256, /* of each; more than lines of caches and what programs ask for */
  PAGE = 4096,     /* what begins one, and is no trifle, is aligned on purpose and has memory of its own */
};

/* ---- memory ---- */

/* In the order in which they lie: so what is copied to the device lies together, and what is copied back
 * does. */
enum { INTO, INTO_AND_OUT_OF, OUT_OF, NEITHER, KINDS };

static inline uint32_t kind_of(const map_item_t *item) {
  static const uint8_t kinds[] = {NEITHER, INTO, OUT_OF, INTO_AND_OUT_OF};
  _Static_assert(MAP_TO == 1 && MAP_FROM == 2, "the type's bits are the table's index");
  return kinds[item->flags / MAP_ITEM_INTO & 3];
}

/* What an entry takes of the pack; its item's value is the padding in front of it. */
static inline uint64_t room_of(const map_item_t *item) {
  uint64_t bytes = item->entry->end - item->entry->begin + item->value;
  return (bytes + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1);
}

static inline bool may_be_packed(const map_item_t *item) {
  const map_entry_t *entry = item->entry;
  if (!(item->flags & MAP_ITEM_FRESH))
    return false;
  uint64_t bytes = entry->end - entry->begin;
  return bytes <= MAP_PACK_BYTES / 2 && (entry->begin % PAGE || bytes < PAGE / 2);
}

static inline bool is_for_pack(const map_work_t *work, const map_item_t *item) {
  const map_configuration_t *configuration = &work->table->configuration;
  const map_entry_t *entry = item->entry;
  return may_be_packed(item) &&
         configuration->functions->packs(configuration->device, (const void *)entry->begin,
                                         entry->end - entry->begin);
}

/* The first item from one on that may be, or the number of items. */
static inline uint32_t next_candidate(const map_work_t *work, uint32_t i) {
  while (i < work->item_count && !may_be_packed(&work->items[i]))
    i++;
  return i;
}

/* Chooses those of the next pack, from its first item on. Returns how many there are; `room` gets what each
 * kind of them takes. */
static uint32_t choose(map_work_t *work, map_pack_t *pack, uint64_t room[KINDS]) {
  uint32_t count = 0;
  pack->bytes = 0;
  for (pack->end = pack->first; pack->end < work->item_count; pack->end++) {
    map_item_t *item = &work->items[pack->end];
    if (!is_for_pack(work, item))
      continue;
    uint64_t bytes = room_of(item);
    if (pack->bytes + bytes > MAP_PACK_BYTES)
      break;
    pack->bytes += bytes;
    room[kind_of(item)] += bytes;
    item->flags |= MAP_ITEM_PACKED;
    count++;
  }
  return count;
}

/* All entries of a pack are in a ring, by which the last one of them is known. */
static inline void join_ring(map_entry_t *entry, map_entry_t *last) {
  entry->pack_next = last ? last->pack_next : entry;
  entry->pack_previous = last ? last : entry;
  entry->pack_next->pack_previous = entry;
  entry->pack_previous->pack_next = entry;
}

/* Gives each its place. */
static void lay_out(map_work_t *work, const map_pack_t *pack, const uint64_t room[KINDS]) {
  uint64_t next[KINDS] = {0, room[0], room[0] + room[1], room[0] + room[1] + room[2]};
  map_entry_t *last = NULL;
  for (map_item_t *item = &work->items[pack->first]; item < &work->items[pack->end]; item++) {
    if (!(item->flags & MAP_ITEM_PACKED))
      continue;
    map_entry_t *entry = item->entry;
    uint64_t *at = &next[kind_of(item)];
    entry->memory = (void *)pack->memory;
    entry->packed = true;
    join_ring(entry, last);
    last = entry;
    /* Release: as in fill.c. */
    atomic_store_explicit(&entry->device, pack->memory + *at + item->value, memory_order_release);
    *at += room_of(item);
  }
}

static map_status_t allocate(map_work_t *work, map_pack_t *pack, const uint64_t room[KINDS]) {
  const map_configuration_t *configuration = &work->table->configuration;
  void *memory;
  if (!configuration->functions->allocate(configuration->device, pack->bytes, NULL, &memory)) {
    const map_entry_t *entry = work->items[pack->first].entry;
    map_range_t range = {entry->begin, entry->end - entry->begin, entry->name};
    return map_fail_near(work->table, MAP_DEVICE, &range,
                         "no device memory of %llu bytes for this and others of the same construct",
                         (unsigned long long)pack->bytes);
  }
  pack->memory = (uintptr_t)memory;
  pack->filled = room[INTO] + room[INTO_AND_OUT_OF];
  lay_out(work, pack, room);
  return MAP_OK;
}

map_status_t map_packs_allocate(map_work_t *work, map_packs_t *packs) {
  map_status_t status = MAP_OK;
  uint32_t first = 0;
  packs->count = 0;
  if (!work->table->configuration.functions->packs)
    return MAP_OK;
  while (first < work->item_count && packs->count < MAP_PACKS && !status) {
    uint64_t room[KINDS] = {0};
    map_pack_t *pack = &packs->packs[packs->count];
    pack->first = next_candidate(work, first);
    if (next_candidate(work, pack->first + 1) >= work->item_count) /* one alone needs no pack */
      return MAP_OK;
    uint32_t count = choose(work, pack, room);
    first = pack->end;
    if (count > 1) {
      status = allocate(work, pack, room);
      packs->count += !status;
    } else {
      for (uint32_t i = pack->first; i < pack->end; i++)
        work->items[i].flags &= ~(uint32_t)MAP_ITEM_PACKED;
    }
  }
  return status;
}

/* ---- to the device ---- */

/* Where in its pack something of an entry is. */
static inline uint64_t place_in(const map_pack_t *pack, const map_entry_t *entry, uintptr_t host) {
  return map_entry_device(entry, host) - pack->memory;
}

static inline bool is_in(const map_pack_t *pack, const map_entry_t *entry) {
  return (uintptr_t)entry->memory == pack->memory;
}

static inline void put_data(const map_work_t *work, const map_pack_t *pack, char *staged) {
  map_item_t *end = work->items + work->item_count;
  for (map_item_t *item = &work->items[pack->first]; item < end; item++) {
    if (!(item->flags & MAP_ITEM_SUBMIT) || !is_in(pack, item->entry))
      continue;
    memcpy(staged + place_in(pack, item->entry, item->host), (const void *)item->host, item->bytes);
    item->flags |= MAP_ITEM_PACKED;
  }
}

/* Over the data, which has the host's values there. */
static __attribute__((noinline)) void put_pointers(const map_work_t *work, const map_pack_t *pack,
                                                   char *staged) {
  map_item_t *end = work->items + work->item_count;
  for (map_item_t *item = &work->items[pack->first]; item < end; item++) {
    if (!(item->flags & MAP_ITEM_ATTACH) || !is_in(pack, item->entry))
      continue;
    map_shadow_t *shadow = item->shadow;
    const map_entry_t *pointee = item->word == MAP_NO_ITEM ? NULL : work->items[item->word].entry;
    char *to = staged + place_in(pack, item->entry, shadow->host);
    if (pointee && !atomic_load_explicit(&pointee->device, memory_order_relaxed))
      continue; /* is large, and has no memory yet */
    uintptr_t state = pointee ? map_entry_device(pointee, shadow->value) : item->value;
    atomic_store_explicit(&shadow->device, state, memory_order_release);
    map_shadow_write(shadow, map_shadow_value(state), to);
    item->flags |= MAP_ITEM_PACKED;
  }
}

static map_status_t submit(map_work_t *work, const map_pack_t *pack) {
  const map_configuration_t *configuration = &work->table->configuration;
  const map_device_functions_t *functions = configuration->functions;
  void *device = configuration->device, *stream = work->stream, *staged;
  if (!pack->filled)
    return MAP_OK;
  bool done = functions->stage(device, stream, pack->filled, &staged);
  if (done) {
    put_data(work, pack, staged);
    if (work->todo & MAP_ITEM_ATTACH)
      put_pointers(work, pack, staged);
    work->busy = true;
    done = functions->submit_staged(device, stream, (void *)pack->memory, staged, pack->filled);
  }
  return done ? MAP_OK : map_work_fail(work, &work->items[pack->first], "a copy to the device has failed");
}

map_status_t map_packs_submit(map_work_t *work, const map_packs_t *packs) {
  map_status_t status = MAP_OK;
  for (uint32_t i = 0; i < packs->count && !status; i++)
    status = submit(work, &packs->packs[i]);
  return status;
}

/* ---- to the host ---- */

map_status_t map_pieces_retrieve(map_work_t *work, const map_item_t *item, uintptr_t from, uint64_t bytes,
                                 const atmi_piece_t *pieces, uint32_t count) {
  const map_configuration_t *configuration = &work->table->configuration;
  const map_device_functions_t *functions = configuration->functions;
  void *device = configuration->device, *stream = work->stream;
  const void *memory = (const void *)from;
  work->busy = true;
  bool done = count == 1 ? functions->retrieve(device, stream, pieces->host, memory, bytes)
                         : functions->retrieve_pieces(device, stream, memory, bytes, pieces, count);
  return done ? MAP_OK : map_work_fail(work, item, "a copy to the host has failed");
}

static map_status_t begin_one(map_gather_t *gather) {
  uint32_t count = gather->count, into = (uint32_t)(gather->begin - (uintptr_t)gather->memory);
  for (uint32_t i = 0; i < count; i++)
    gather->pieces[i].offset -= into;
  gather->count = 0;
  return map_pieces_retrieve(gather->work, gather->item, gather->begin, gather->end - gather->begin,
                             gather->pieces, count);
}

map_status_t map_gather_end(map_gather_t *gather) {
  return gather->count ? begin_one(gather) : MAP_OK;
}

/* Whether there is little or nothing between it and what is gathered already. What there is is read in vain.
 */
static inline bool is_near(const map_gather_t *gather, uintptr_t begin, uintptr_t end) {
  return gather->count < MAP_PIECES && end + ALIGNMENT >= gather->begin && begin <= gather->end + ALIGNMENT;
}

map_status_t map_gather_add(map_gather_t *gather, const map_item_t *item) {
  const map_entry_t *entry = item->entry;
  uintptr_t begin = map_entry_device(entry, item->host), end = begin + item->bytes;
  map_status_t status = MAP_OK;
  if (!entry->packed)
    return map_work_retrieve(gather->work, item, item->host, item->bytes);
  bool joins = gather->count && gather->memory == entry->memory && is_near(gather, begin, end);
  if (!joins) {
    status = map_gather_end(gather);
    gather->item = item;
    gather->memory = entry->memory;
    gather->begin = begin;
    gather->end = end;
  }
  gather->begin = begin < gather->begin ? begin : gather->begin;
  gather->end = end > gather->end ? end : gather->end;
  gather->pieces[gather->count++] =
      (atmi_piece_t){(void *)item->host, (uint32_t)(begin - (uintptr_t)entry->memory), (uint32_t)item->bytes};
  if (map_listens(gather->work->table))
    map_work_note_part(gather->work, MAP_NOTE_RETRIEVE, item, item->host, item->bytes);
  return status;
}
