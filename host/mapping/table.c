/* The table: making it, finding and adding entries, waiting for others to fill them, and what is asked and
 * added outside of constructs. Not here: constructs (enter.c, leave.c, update.c). */
#include "entry.h"
#include "message.h"
#include "plan.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { SLAB_OBJECTS = 64 };

/* ---- making it ---- */

map_table_t *map_table_new(const map_configuration_t *configuration) {
  map_table_t *table = calloc(1, sizeof *table);
  if (!table)
    return NULL;
  table->configuration = *configuration;
  table->hints = table->first_hints;
  table->hint_shift = 64 - MAP_HINTS_FEWEST_LOG2;
  table->news = 1;
  if (pthread_mutex_init(&table->filled_lock, NULL))
    goto no_lock;
  if (pthread_cond_init(&table->filled, NULL))
    goto no_condition;
  return table;
no_condition:
  pthread_mutex_destroy(&table->filled_lock);
no_lock:
  free(table);
  return NULL;
}

static bool release(map_table_t *table, void *memory) {
  return !memory || table->configuration.functions->release(table->configuration.device, memory);
}

static void free_shadows(map_entry_t *entry) {
  for (uint32_t i = 0; i < entry->shadow_count; i++)
    free(entry->shadows[i]->rest);
  entry->shadow_count = 0;
}

/* Returns an entry's memory if no others are in it. */
static inline void *leave_pack(map_entry_t *entry) {
  map_entry_t *next = entry->pack_next;
  if (!next)
    return entry->memory;
  next->pack_previous = entry->pack_previous;
  entry->pack_previous->pack_next = next;
  if (next->pack_next == next)
    next->pack_next = NULL;
  entry->pack_next = NULL;
  return NULL;
}

void map_table_free(map_table_t *table) {
  if (!table)
    return;
  map_entry_t *entry;
  map_place_t place = {0, 0};
  map_plan_break_all(table);
  map_status_t collected = map_plan_collect(table); /* as below */
  (void)collected;
  while ((entry = map_index_each(&table->index, &place))) {
    free_shadows(entry);
    free(entry->shadows);
    (void)release(table, leave_pack(entry)); /* a failure has been described, there is nothing else to do */
  }
  for (entry = table->free_entries; entry; entry = entry->next_free)
    free(entry->shadows);
  while (table->slabs) {
    void *next = *(void **)table->slabs;
    free(table->slabs);
    table->slabs = next;
  }
  map_index_fini(&table->index);
  if (table->hints != table->first_hints)
    free(table->hints);
  free(atomic_load_explicit(&table->spare_room, memory_order_relaxed));
  map_stack_free(atomic_load_explicit(&table->spare_stack, memory_order_relaxed));
  pthread_cond_destroy(&table->filled);
  pthread_mutex_destroy(&table->filled_lock);
  free(table);
}

void map_table_set_unified(map_table_t *table, bool unified) {
  table->configuration.unified = unified;
}

void map_table_listen(map_table_t *table, void (*note)(void *context, const map_note_t *note)) {
  __atomic_store_n(&table->configuration.listener.note, note, __ATOMIC_RELEASE);
}

void map_table_set_functions(map_table_t *table, const map_device_functions_t *functions) {
  table->configuration.functions = functions;
}

/* ---- entries ---- */

/* Room for some objects that is given back with the table only. */
static char *new_slab(map_table_t *table, size_t bytes) {
  void **slab = calloc(1, 16 + SLAB_OBJECTS * bytes);
  if (!slab)
    return NULL;
  *slab = table->slabs;
  table->slabs = slab;
  return (char *)slab + 16;
}

static map_entry_t *take_entry(map_table_t *table) {
  if (!table->free_entries) {
    map_entry_t *entries = (map_entry_t *)(void *)new_slab(table, sizeof *entries);
    for (int i = 0; entries && i < SLAB_OBJECTS; i++) {
      entries[i].next_free = table->free_entries;
      table->free_entries = &entries[i];
    }
  }
  map_entry_t *entry = table->free_entries;
  if (entry)
    table->free_entries = entry->next_free;
  return entry;
}

static void put_entry(map_table_t *table, map_entry_t *entry) {
  entry->begin = entry->end = 0; /* so that a hint that is left contains nothing */
  entry->next_free = table->free_entries;
  table->free_entries = entry;
}

/* Several hints for each entry, so that few share one; without memory those that are there have to do. */
static void grow_hints(map_table_t *table) {
  uint32_t log2 = 64 - table->hint_shift + 3;
  map_entry_t **hints = calloc((size_t)1 << log2, sizeof(map_entry_t *));
  if (!hints)
    return;
  if (table->hints != table->first_hints)
    free(table->hints);
  table->hints = hints;
  table->hint_shift = 64 - log2;
}

map_entry_t *map_table_add(map_table_t *table, uintptr_t begin, uintptr_t end) {
  map_entry_t *entry = take_entry(table);
  if (!entry)
    return NULL;
  entry->begin = entry->base = begin;
  entry->end = end;
  if (!map_index_insert(&table->index, table->vacant, entry)) {
    put_entry(table, entry);
    return NULL;
  }
  entry->linked = true;
  table->news++;
  if (++table->count > (size_t)1 << (64 - table->hint_shift) >> 2)
    grow_hints(table);
  *map_table_hint(table, begin) = entry;
  return entry;
}

static void free_entry_shadows(map_table_t *table, map_entry_t *entry) {
  for (uint32_t i = 0; i < entry->shadow_count; i++) {
    map_shadow_t *shadow = entry->shadows[i];
    free(shadow->rest);
    shadow->rest = NULL;
    shadow->next_free = table->free_shadows;
    table->free_shadows = shadow;
  }
  entry->shadow_count = 0;
}

/* As one is that was never used, but for its range. */
static inline void clear_entry(map_table_t *table, map_entry_t *entry) {
  if (entry->shadow_count)
    free_entry_shadows(table, entry);
  atomic_store_explicit(&entry->word, 0, memory_order_relaxed);
  atomic_store_explicit(&entry->device, 0, memory_order_relaxed);
  atomic_store_explicit(&entry->mark, 0, memory_order_relaxed);
  entry->visit = 0;
  entry->infinite = entry->associated = entry->auxiliary = entry->packed = false;
  entry->padding = 0;
  entry->name = NULL;
  entry->memory = NULL;
}

/* Out of the index; hints that lead here still must not find anything. */
static void remove_entry(map_table_t *table, map_entry_t *entry) {
  map_index_remove(&table->index, entry);
  map_entry_t **hint = map_table_hint(table, entry->begin);
  if (*hint == entry)
    *hint = NULL;
  entry->end = entry->begin;
  entry->linked = false;
}

void map_table_unlink(map_table_t *table, map_entry_t *entry) {
  if (!entry->linked)
    return;
  remove_entry(table, entry);
  table->count--;
}

/* A dormant entry goes for good. */
static void forget(map_table_t *table, map_entry_t *entry) {
  if (entry->plan)
    map_plan_break(table, entry->plan);
  entry->dormant_bytes = 0;
  remove_entry(table, entry);
  put_entry(table, entry);
}

/* A dormant entry's place in the ring. The oldest one makes room, unless it is awake again, or is dormant
 * elsewhere in the ring, or by a plan. */
static inline void enter_ring(map_table_t *table, map_entry_t *entry) {
  uint32_t at = table->dormant_next++ % MAP_DORMANT_MOST;
  map_entry_t *oldest = table->dormant[at];
  if (oldest && oldest != entry && oldest->dormant_bytes && oldest->dormant_at == at && !oldest->plan)
    forget(table, oldest);
  table->dormant[at] = entry;
  entry->dormant_at = at;
}

static inline void sleep_entry(map_table_t *table, map_entry_t *entry) {
  enter_ring(table, entry);
  entry->dormant_bytes = entry->end - entry->begin;
  entry->end = entry->begin;
  table->count--;
}

void map_table_forget_plan(map_table_t *table, map_entry_t *entry) {
  entry->plan = NULL;
  entry->pack_next = NULL;
  clear_entry(table, entry);
  enter_ring(table, entry);
}

void *map_table_retire(map_table_t *table, map_entry_t *entry) {
  void *memory = leave_pack(entry);
  clear_entry(table, entry);
  if (entry->linked)
    sleep_entry(table, entry);
  else
    put_entry(table, entry);
  return memory;
}

map_status_t map_unpin(map_table_t *table, map_entry_t *entry) {
  if (map_entry_drop_some(entry, MAP_PIN_ONE))
    return MAP_OK;
  atmi_spin_lock(&table->lock);
  void *memory;
  (void)map_entry_drop(table, entry, MAP_PIN_ONE, &memory);
  atmi_spin_unlock(&table->lock);
  return release(table, memory) ? MAP_OK : MAP_DEVICE;
}

/* Where the range would be; the dormant ones that have a part of it go, or wake if they are in use. */
static map_place_t find_place(map_table_t *table, uintptr_t host, uint64_t bytes) {
  for (;;) {
    map_place_t place = map_index_find(&table->index, host);
    map_entry_t *before = map_index_before(&table->index, place), *at = map_index_at(&table->index, place);
    map_entry_t *met = NULL;
    if (before && before->dormant_bytes > host - before->begin)
      met = before;
    else if (at && at->dormant_bytes && at->begin - host < bytes)
      met = at;
    else
      return place;
    if (!map_entry_is_awake(met))
      forget(table, met);
  }
}

/* The first one from a place on that is not dormant, or NULL. */
static map_entry_t *next_awake(const map_table_t *table, map_place_t place) {
  map_entry_t *entry;
  while ((entry = map_index_at(&table->index, place)) && !map_entry_is_awake(entry))
    place = map_index_next(&table->index, place);
  return entry;
}

/* Without a hint. */
map_relation_t map_table_search(map_table_t *table, uintptr_t host, uint64_t bytes, map_entry_t **entry) {
  map_place_t place = find_place(table, host, bytes);
  map_entry_t *before = map_index_before(&table->index, place);
  if (before && host < before->end) {
    *entry = before;
    if (bytes > before->end - host)
      return MAP_EXTENDED;
    *map_table_hint(table, host) = before;
    return MAP_CONTAINED;
  }
  map_entry_t *next = bytes ? map_index_at(&table->index, place) : next_awake(table, place);
  *entry = next;
  if (next && bytes && next->begin - host < bytes)
    return MAP_EXTENDED;
  /* A pointer to an array of which only a later section is mapped. */
  if (next && !bytes && next->base <= host)
    return MAP_CONTAINED;
  *entry = NULL;
  table->vacant = place;
  return MAP_NOTHING;
}

/* ---- filling ---- */

void map_entry_filled(map_table_t *table, map_entry_t *entry, map_mark_t mark) {
  atomic_store_explicit(&entry->mark, mark, memory_order_relaxed);
  /* Sequentially consistent, as the waiting thread's two accesses: it sees the bit gone, or is seen waiting.
   */
  atomic_fetch_and(&entry->word, ~MAP_FILLING);
  if (!atomic_load(&table->waiting))
    return;
  pthread_mutex_lock(&table->filled_lock);
  pthread_cond_broadcast(&table->filled);
  pthread_mutex_unlock(&table->filled_lock);
}

bool map_entry_await(map_table_t *table, map_entry_t *entry) {
  for (int i = 0; i < 16 && map_entry_word(entry) & MAP_FILLING; i++)
    sched_yield();
  if (map_entry_word(entry) & MAP_FILLING) {
    atomic_fetch_add(&table->waiting, 1);
    pthread_mutex_lock(&table->filled_lock);
    while (atomic_load(&entry->word) & MAP_FILLING)
      pthread_cond_wait(&table->filled, &table->filled_lock);
    pthread_mutex_unlock(&table->filled_lock);
    atomic_fetch_sub(&table->waiting, 1);
  }
  return !(map_entry_word(entry) & MAP_FAILED);
}

/* ---- shadows ---- */

static map_shadow_t *take_shadow(map_table_t *table, uint64_t bytes) {
  if (!table->free_shadows) {
    map_shadow_t *shadows = (map_shadow_t *)(void *)new_slab(table, sizeof *shadows);
    for (int i = 0; shadows && i < SLAB_OBJECTS; i++) {
      shadows[i].next_free = table->free_shadows;
      table->free_shadows = &shadows[i];
    }
  }
  map_shadow_t *shadow = table->free_shadows;
  char *rest = shadow && bytes > sizeof(void *) ? calloc(1, bytes - sizeof(void *)) : NULL;
  if (!shadow || (bytes > sizeof(void *) && !rest))
    return NULL;
  table->free_shadows = shadow->next_free;
  shadow->rest = rest;
  return shadow;
}

uint32_t map_entry_shadow_at(const map_entry_t *entry, uintptr_t host) {
  uint32_t first = 0, count = entry->shadow_count;
  while (count) {
    uint32_t half = count / 2;
    if (entry->shadows[first + half]->host < host) {
      first += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return first;
}

map_shadow_t *map_entry_shadow(map_table_t *table, map_entry_t *entry, uintptr_t host, uint64_t bytes) {
  uint32_t at = map_entry_shadow_at(entry, host);
  if (at < entry->shadow_count && entry->shadows[at]->host == host && entry->shadows[at]->bytes >= bytes)
    return entry->shadows[at];
  if (entry->shadow_count == entry->shadow_capacity) {
    uint32_t capacity = entry->shadow_capacity ? 2 * entry->shadow_capacity : 4;
    map_shadow_t **shadows = realloc(entry->shadows, capacity * sizeof(map_shadow_t *));
    if (!shadows)
      return NULL;
    entry->shadows = shadows;
    entry->shadow_capacity = capacity;
  }
  map_shadow_t *shadow = take_shadow(table, bytes);
  if (!shadow)
    return NULL;
  memmove(&entry->shadows[at + 1], &entry->shadows[at], (entry->shadow_count - at) * sizeof(map_shadow_t *));
  entry->shadows[at] = shadow;
  entry->shadow_count++;
  shadow->host = host;
  shadow->bytes = bytes;
  shadow->value = 0;
  atomic_store_explicit(&shadow->device, 0, memory_order_relaxed);
  return shadow;
}

/* ---- outside of constructs ---- */

static bool is_range_of(const map_entry_t *entry, const map_range_t *range) {
  return entry->begin == range->host && entry->end == range->host + range->bytes;
}

static map_status_t add_infinite(map_table_t *table, const map_range_t *range, void *device, bool associated,
                                 const char *what) {
  map_entry_t *entry;
  map_status_t status = MAP_OK;
  atmi_spin_lock(&table->lock);
  map_relation_t relation = map_table_search(table, range->host, range->bytes, &entry);
  if (relation == MAP_NOTHING && !(entry = map_table_add(table, range->host, range->host + range->bytes))) {
    status = MAP_NO_MEMORY;
  } else if (relation == MAP_NOTHING) {
    entry->infinite = true;
    entry->associated = associated;
    entry->name = range->name;
    atomic_store_explicit(&entry->device, (uintptr_t)device, memory_order_relaxed);
    atomic_store_explicit(&entry->word, MAP_DYNAMIC_ONE | MAP_SPECIAL, memory_order_release);
  } else if (relation == MAP_EXTENDED || !entry->infinite || (associated && !is_range_of(entry, range)) ||
             map_entry_device(entry, range->host) != (uintptr_t)device) {
    status = MAP_INVALID;
  }
  atmi_spin_unlock(&table->lock);
  if (status == MAP_NO_MEMORY)
    return map_fail_memory(table, what);
  if (status)
    return map_fail_near(table, status, range, "%s: other data is mapped there already", what);
  return MAP_OK;
}

static map_status_t check_range(map_table_t *table, const map_range_t *range, const char *what) {
  if (range->host && range->bytes && range->host + range->bytes > range->host)
    return MAP_OK;
  return map_fail_near(table, MAP_INVALID, range, "%s: there is no memory of %llu bytes at 0x%016llx", what,
                       (unsigned long long)range->bytes, (unsigned long long)range->host);
}

map_status_t map_table_add_global(map_table_t *table, const void *host, void *device, uint64_t bytes,
                                  const char *name) {
  map_range_t range = {(uintptr_t)host, bytes, name};
  map_status_t status = check_range(table, &range, "a global variable of an image");
  return status ? status : add_infinite(table, &range, device, false, "a global variable of an image");
}

map_status_t map_table_associate(map_table_t *table, const void *host, void *device, uint64_t bytes) {
  map_range_t range = {(uintptr_t)host, bytes, NULL};
  map_status_t status = check_range(table, &range, "omp_target_associate_ptr");
  return status ? status : add_infinite(table, &range, device, true, "omp_target_associate_ptr");
}

void map_table_remove_global(map_table_t *table, const void *host) {
  map_entry_t *entry;
  atmi_spin_lock(&table->lock);
  if (map_table_search(table, (uintptr_t)host, 1, &entry) == MAP_CONTAINED && entry->infinite &&
      !entry->associated) {
    void *none; /* its memory is the image's */
    entry->infinite = false;
    (void)map_entry_drop(table, entry, MAP_DYNAMIC_ONE, &none);
  }
  atmi_spin_unlock(&table->lock);
}

map_status_t map_table_disassociate(map_table_t *table, const void *host) {
  map_range_t range = {(uintptr_t)host, 1, NULL};
  map_entry_t *entry = NULL;
  map_status_t status = MAP_OK;
  atmi_spin_lock(&table->lock);
  bool found = map_table_search(table, range.host, 1, &entry) == MAP_CONTAINED;
  if (found && map_word_hold(map_entry_word(entry)))
    status = MAP_HELD;
  else if (!found || !entry->associated || entry->begin != range.host)
    status = MAP_INVALID;
  else {
    void *none; /* its memory is the program's */
    entry->infinite = entry->associated = false;
    (void)map_entry_drop(table, entry, MAP_DYNAMIC_ONE, &none);
  }
  atmi_spin_unlock(&table->lock);
  if (status)
    return map_fail_near(table, status, &range, "omp_target_disassociate_ptr: %s",
                         status == MAP_HELD ? "a construct with ompx_hold holds what is mapped there"
                                            : "the address is not of an associated pointer");
  return MAP_OK;
}

bool map_table_find(map_table_t *table, const void *host, uint64_t bytes, void **device) {
  map_entry_t *entry;
  uintptr_t address = (uintptr_t)host;
  uint64_t before = 0;
  atmi_spin_lock(&table->lock);
  bool found = map_table_look_up(table, address, bytes ? bytes : 1, &entry) == MAP_CONTAINED &&
               map_entry_word(entry) & MAP_COUNTS;
  /* Acquire: the memory is there, though what will be in it may not be yet. */
  bool ready = found && atomic_load_explicit(&entry->device, memory_order_acquire);
  if (ready)
    *device = (void *)map_entry_device(entry, address);
  else if (found)
    found = map_entry_take(entry, MAP_PIN_ONE, &before);
  atmi_spin_unlock(&table->lock);
  if (ready || !found)
    return found;
  found = map_entry_await(table, entry);
  if (found)
    *device = (void *)map_entry_device(entry, address);
  return !map_unpin(table, entry) && found;
}

static map_entry_view_t view_of(const map_entry_t *entry) {
  uint64_t word = map_entry_word(entry);
  return (map_entry_view_t){.base = entry->base,
                            .begin = entry->begin,
                            .end = entry->end,
                            .device = atomic_load_explicit(&entry->device, memory_order_relaxed),
                            .name = entry->name,
                            .dynamic_count = map_word_dynamic(word),
                            .hold_count = map_word_hold(word),
                            .infinite = entry->infinite,
                            .associated = entry->associated};
}

bool map_table_visit(map_table_t *table, void (*visit)(void *context, const map_entry_view_t *entry),
                     void *context) {
  size_t room = map_table_count(table) + 64, count = 0;
  map_entry_view_t *views = malloc(room * sizeof *views);
  if (!views)
    return false;
  atmi_spin_lock(&table->lock);
  map_place_t place = {0, 0};
  map_entry_t *entry;
  while (count < room && (entry = map_index_each(&table->index, &place)))
    if (map_entry_is_awake(entry))
      views[count++] = view_of(entry);
  atmi_spin_unlock(&table->lock);
  for (size_t i = 0; i < count; i++)
    visit(context, &views[i]);
  free(views);
  return true;
}

/* Of those that sleep by a plan it is nobody's. */
static bool has_memory(const map_entry_t *entry) {
  return map_entry_is_awake(entry) && atomic_load_explicit(&entry->device, memory_order_relaxed);
}

bool map_table_nearest(map_table_t *table, const void *host, map_entry_view_t *view) {
  uintptr_t address = (uintptr_t)host;
  atmi_spin_lock(&table->lock);
  const map_index_t *index = &table->index;
  map_place_t place = map_index_find(index, address);
  map_entry_t *before = map_index_before(index, place), *nearest = map_index_at(index, place);
  while (before && !has_memory(before))
    before = map_index_before(index, map_index_find(index, before->begin - 1));
  while (nearest && !has_memory(nearest))
    nearest = map_index_at(index, map_index_find(index, nearest->begin));
  if (!nearest || (before && (address < before->end || address - before->end < nearest->begin - address)))
    nearest = before;
  if (nearest)
    *view = view_of(nearest);
  atmi_spin_unlock(&table->lock);
  return nearest != NULL;
}

bool map_table_nearest_on_device(map_table_t *table, uintptr_t device, map_entry_view_t *view) {
  map_place_t place = {0, 0};
  uintptr_t nearest = UINTPTR_MAX;
  atmi_spin_lock(&table->lock);
  for (map_entry_t *entry; (entry = map_index_each(&table->index, &place));) {
    uintptr_t begin = has_memory(entry) ? map_entry_device(entry, entry->begin) : 0;
    uintptr_t end = begin + (entry->end - entry->begin);
    uintptr_t distance = device < begin ? begin - device : device < end ? 0 : device - end + 1;
    if (begin && distance < nearest) {
      nearest = distance;
      *view = view_of(entry);
    }
  }
  atmi_spin_unlock(&table->lock);
  return nearest != UINTPTR_MAX;
}

bool map_table_first_in(map_table_t *table, const void *host, uint64_t bytes, map_entry_view_t *view) {
  uintptr_t address = (uintptr_t)host;
  atmi_spin_lock(&table->lock);
  map_place_t place = map_index_find(&table->index, address);
  map_entry_t *entry = map_index_before(&table->index, place);
  if (!entry || !map_entry_is_awake(entry) || address >= entry->end)
    entry = next_awake(table, place);
  bool found = entry && (address >= entry->begin || entry->begin - address < bytes);
  if (found)
    *view = view_of(entry);
  atmi_spin_unlock(&table->lock);
  return found;
}

size_t map_table_count(map_table_t *table) {
  atmi_spin_lock(&table->lock);
  size_t count = table->count;
  atmi_spin_unlock(&table->lock);
  return count;
}
