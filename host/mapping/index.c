/* Entries in order of their addresses: a sorted array, cut into chunks so that insertion moves little. Not
 * here: the hints that spare most searches (table.c). */
#include "entry.h"

#include <stdlib.h>
#include <string.h>

/* How many of the sorted numbers are at most `host`. Without branches that depend on them: each step halves.
 */
static inline uint32_t count_up_to(const uintptr_t *numbers, uint32_t count, uintptr_t host) {
  uint32_t first = 0;
  while (count > 1) {
    uint32_t half = count / 2;
    first += numbers[first + half - 1] <= host ? half : 0;
    count -= half;
  }
  return first + (count && numbers[first] <= host);
}

static inline uint32_t count_in(const map_chunk_t *chunk, uintptr_t host) {
  uint32_t first = 0, count = chunk->count;
  while (count > 1) {
    uint32_t half = count / 2;
    first += chunk->slots[first + half - 1].begin <= host ? half : 0;
    count -= half;
  }
  return first + (count && chunk->slots[first].begin <= host);
}

static inline uint32_t chunk_for(const map_index_t *index, uintptr_t host) {
  return index->count > 1 ? count_up_to(index->firsts + 1, index->count - 1, host) : 0;
}

map_place_t map_index_find(const map_index_t *index, uintptr_t host) {
  uint32_t chunk = chunk_for(index, host);
  return (map_place_t){chunk, index->count ? count_in(index->chunks[chunk], host) : 0};
}

map_entry_t *map_index_at(const map_index_t *index, map_place_t place) {
  while (place.chunk < index->count && place.slot >= index->chunks[place.chunk]->count)
    place = (map_place_t){place.chunk + 1, 0};
  return place.chunk < index->count ? index->chunks[place.chunk]->slots[place.slot].entry : NULL;
}

map_entry_t *map_index_before(const map_index_t *index, map_place_t place) {
  return place.slot ? index->chunks[place.chunk]->slots[place.slot - 1].entry : NULL;
}

map_place_t map_index_next(const map_index_t *index, map_place_t place) {
  while (place.chunk < index->count && place.slot >= index->chunks[place.chunk]->count)
    place = (map_place_t){place.chunk + 1, 0};
  return (map_place_t){place.chunk, place.slot + 1};
}

map_entry_t *map_index_each(const map_index_t *index, map_place_t *place) {
  map_entry_t *entry = map_index_at(index, *place);
  if (entry)
    *place = map_index_find(index, entry->begin);
  return entry;
}

static map_chunk_t *new_chunk(map_index_t *index) {
  map_chunk_t *chunk = index->spare ? index->spare : malloc(sizeof *chunk);
  index->spare = NULL;
  if (chunk)
    chunk->count = 0;
  return chunk;
}

static bool reserve(map_index_t *index) {
  if (index->count < index->capacity)
    return true;
  uint32_t capacity = index->capacity ? 2 * index->capacity : 16;
  uintptr_t *firsts = realloc(index->firsts, capacity * sizeof *firsts);
  if (firsts)
    index->firsts = firsts;
  map_chunk_t **chunks = firsts ? realloc(index->chunks, capacity * sizeof(map_chunk_t *)) : NULL;
  if (!chunks)
    return false;
  index->chunks = chunks;
  index->capacity = capacity;
  return true;
}

/* Puts an empty chunk in front of the one at `at`. */
static map_chunk_t *add_chunk(map_index_t *index, uint32_t at) {
  map_chunk_t *chunk = reserve(index) ? new_chunk(index) : NULL;
  if (!chunk)
    return NULL;
  memmove(&index->chunks[at + 1], &index->chunks[at], (index->count - at) * sizeof(map_chunk_t *));
  memmove(&index->firsts[at + 1], &index->firsts[at], (index->count - at) * sizeof *index->firsts);
  index->chunks[at] = chunk;
  index->count++;
  return chunk;
}

/* Makes room in a full chunk: moves what is behind `keep` to a new one. */
static bool split(map_index_t *index, uint32_t at, uint32_t keep) {
  map_chunk_t *behind = add_chunk(index, at + 1);
  if (!behind)
    return false;
  map_chunk_t *chunk = index->chunks[at];
  behind->count = chunk->count - keep;
  memcpy(behind->slots, chunk->slots + keep, behind->count * sizeof *chunk->slots);
  for (uint32_t i = 0; i < behind->count; i++)
    behind->slots[i].entry->chunk = behind;
  chunk->count = keep;
  if (behind->count)
    index->firsts[at + 1] = behind->slots[0].begin;
  return true;
}

static void put(map_index_t *index, map_place_t place, map_entry_t *entry) {
  map_chunk_t *chunk = index->chunks[place.chunk];
  map_slot_t *slot = &chunk->slots[place.slot];
  if (place.slot < chunk->count)
    memmove(slot + 1, slot, (chunk->count - place.slot) * sizeof *slot);
  *slot = (map_slot_t){entry->begin, entry};
  chunk->count++;
  entry->chunk = chunk;
  index->firsts[place.chunk] = chunk->slots[0].begin;
}

bool map_index_insert(map_index_t *index, map_place_t place, map_entry_t *entry) {
  if (!index->count && !add_chunk(index, 0))
    return false;
  if (index->chunks[place.chunk]->count == MAP_CHUNK_ENTRIES) {
    /* Addresses that only grow leave full chunks behind them. */
    bool at_end = place.slot == MAP_CHUNK_ENTRIES && place.chunk + 1 == index->count;
    uint32_t keep = at_end ? MAP_CHUNK_ENTRIES : MAP_CHUNK_ENTRIES / 2;
    if (!split(index, place.chunk, keep))
      return false;
    if (place.slot > keep || at_end) {
      place.chunk++;
      place.slot -= keep;
    }
  }
  put(index, place, entry);
  return true;
}

static void drop_chunk(map_index_t *index, uint32_t at) {
  free(index->spare);
  index->spare = index->chunks[at];
  index->count--;
  memmove(&index->chunks[at], &index->chunks[at + 1], (index->count - at) * sizeof(map_chunk_t *));
  memmove(&index->firsts[at], &index->firsts[at + 1], (index->count - at) * sizeof *index->firsts);
}

void map_index_remove(map_index_t *index, const map_entry_t *entry) {
  map_chunk_t *chunk = entry->chunk;
  uint32_t slot = count_in(chunk, entry->begin) - 1, behind = --chunk->count - slot;
  if (behind)
    memmove(&chunk->slots[slot], &chunk->slots[slot + 1], behind * sizeof *chunk->slots);
  if (chunk->count && slot)
    return;
  uint32_t at = chunk_for(index, entry->begin);
  if (chunk->count) /* exactly: an entry of the chunk before may reach to there some day */
    index->firsts[at] = chunk->slots[0].begin;
  else if (index->count > 1) /* the last one stays */
    drop_chunk(index, at);
}

void map_index_fini(map_index_t *index) {
  for (uint32_t i = 0; i < index->count; i++)
    free(index->chunks[i]);
  free(index->spare);
  free(index->chunks);
  free(index->firsts);
  *index = (map_index_t){0};
}
