/* Making, waking and breaking plans. */
#include "plan.h"

#include "fill.h"

#include <stdlib.h>
#include <string.h>

/* A pointer in an entry, and where that is in the pack. */
typedef struct pointer {
  const map_shadow_t *shadow;
  uintptr_t device; /* what it is there */
  uint64_t offset;
  bool comes_back; /* is in what is copied back: the host's has to be restored */
} pointer_t;

/* Where nothing was mapped, to which something would happen otherwise: a zero-length section, or a pointer.
 */
typedef struct absent {
  uintptr_t host;
  bool is_section;
} absent_t;

typedef struct planned_entry {
  map_entry_t *entry;
  uint64_t word, bytes; /* once it is awake */
} planned_entry_t;

/* What a plan does. A region may run by it without waking its entries: they stay dormant, and whoever else
 * wants one of them wakes them all (map_plan_expose), being filled, as if the region had just woken them
 * itself. So it finds out only where it goes on: before it leaves, or at its end. Until then others wait for
 * it, which is not long: only a region that copies something back goes this way, and others have to wait for
 * that anyway. */
typedef enum state {
  PLAN_ASLEEP, /* is the table's */
  PLAN_AWAKE,  /* a work has it, and its entries are as all are */
  PLAN_RUNS,   /* a region runs by it */
  PLAN_LEAVES, /* and has left: others do not find its counts any more */
  PLAN_EXPOSED /* one of these two has been woken by others */
} state_t;

typedef struct map_plan {
  struct map_plan *next; /* of broken ones */
  _Atomic state_t state; /* changes under the lock; only from PLAN_RUNS to PLAN_LEAVES without */
  uint64_t used;         /* the pass that woke it last */
  uint64_t
      clear_since; /* table.news when all that is absent was clear of everything; 0: is to be looked for */
  bool was_woken;
  bool is_news;   /* to wake it is, see map_table_note_base */
  uint32_t place; /* in the table, while it sleeps */
  bool left;      /* the work that has it has taken all its counts */
  uint32_t options, todo;
  const void *names;
  uint32_t argument_count, component_count, entry_count, item_count, word_count;
  uint32_t into_count, pointer_count, out_count, absent_count;
  void *memory;
  uint64_t filled; /* what the copy to the device copies, from the beginning of the memory */
  uintptr_t out_begin;
  uint64_t out_bytes; /* of the copy back */
  map_component_t *arguments, *components;
  planned_entry_t *entries;
  map_item_t *items;
  void **words;
  atmi_piece_t *into, *out;
  pointer_t *pointers;
  absent_t *absent;
} map_plan_t;

static inline bool is_literal(uint64_t type) {
  return (type & MAP_WORD) == MAP_WORD;
}

/* ---- whether one can be made ---- */

/* What maps something, or a value: it is found, or not, by what the plan's entries are. */
static bool is_certain(const map_component_t *component) {
  return is_literal(component->type) || !(component->type & (MAP_LITERAL | MAP_PRIVATE));
}

/* A zero-length section, which maps nothing. */
static bool is_empty(const map_component_t *component) {
  return !component->size && !(component->type & (MAP_LITERAL | MAP_PRIVATE | MAP_ATTACH | MAP_PTR_AND_OBJ));
}

/* List items one after the other: the arguments without mappers, then what the mappers of the others said. */
typedef struct walk {
  const map_arguments_t *arguments;
  const map_component_t *components;
  uint32_t argument, component, component_count;
  map_component_t item;
} walk_t;

static walk_t walk_begin(const map_work_t *work, const map_arguments_t *arguments) {
  walk_t walk = {.arguments = arguments};
  walk.component_count = map_stack_all(work, &walk.components);
  return walk;
}

static const map_component_t *walk_next(walk_t *walk) {
  const map_arguments_t *arguments = walk->arguments;
  while (walk->argument < arguments->count) {
    uint32_t i = walk->argument++;
    map_argument_get(arguments, i, &walk->item);
    if (!arguments->mappers || !arguments->mappers[i] || walk->item.type & (MAP_LITERAL | MAP_PRIVATE))
      return &walk->item;
  }
  return walk->component < walk->component_count ? &walk->components[walk->component++] : NULL;
}

static inline bool is_attachment(uint64_t type) {
  return !is_literal(type) && type & (MAP_ATTACH | MAP_PTR_AND_OBJ);
}

static inline state_t state_of(const map_plan_t *plan) {
  return atomic_load_explicit(&plan->state, memory_order_acquire);
}

static inline void set_state(map_plan_t *plan, state_t state) {
  atomic_store_explicit(&plan->state, state, memory_order_relaxed);
}

/* Whether still nothing is there, under the lock. */
static bool is_unmapped(map_table_t *table, const absent_t *absent) {
  map_entry_t *entry;
  if (absent->is_section)
    return map_table_look_up(table, absent->host, 0, &entry) == MAP_NOTHING;
  entry = map_index_before(&table->index, map_index_find(&table->index, absent->host));
  return !entry || !map_entry_is_awake(entry) || absent->host >= entry->end;
}

/* The item that attaches the pointer at that address; NULL: none does. */
static const map_item_t *attachment_of(const map_work_t *work, uintptr_t pointer) {
  for (const map_item_t *item = work->items; item < work->items + work->item_count; item++)
    if (item->flags & MAP_ITEM_ATTACH && item->host == pointer)
      return item;
  return NULL;
}

/* What has to stay absent for a list item to be certain. Returns whether there is any. */
static bool depends_on(const map_work_t *work, const map_component_t *item, absent_t *absent) {
  *absent = (absent_t){item->begin, true};
  if (is_empty(item))
    return true;
  if (!is_attachment(item->type))
    return false;
  const map_item_t *attachment = attachment_of(work, item->base);
  if (attachment)
    return attachment->word == MAP_NO_ITEM; /* what it points to */
  *absent = (absent_t){item->base, false};
  return true;
}

/* Whether all list items are certain. Zero-length sections, pointers to such, and pointers that were not
 * attached because nobody has mapped them, are so as long as nothing is there; `absent` gets these addresses,
 * if it is not NULL. */
static bool are_certain(const map_work_t *work, const map_arguments_t *arguments, uint32_t *absent_count,
                        absent_t *absent) {
  walk_t walk = walk_begin(work, arguments);
  const map_component_t *item;
  *absent_count = 0;
  while ((item = walk_next(&walk))) {
    absent_t here;
    if (!is_certain(item))
      return false;
    if (!depends_on(work, item, &here))
      continue;
    if (!is_unmapped(work->table, &here))
      return false;
    if (absent)
      absent[*absent_count] = here;
    ++*absent_count;
  }
  return true;
}

/* What a plan's parts need. */
typedef struct census {
  uint32_t entries, into, out, pointers, words, absent;
} census_t;

/* How many words are addresses in entries, if all of those are there that can be. */
static uint32_t count_words(const map_arguments_t *arguments) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < arguments->count; i++) {
    map_component_t component;
    map_argument_get(arguments, i, &component);
    bool empty = is_empty(&component) && !(arguments->mappers && arguments->mappers[i]);
    count += component.type & MAP_TARGET_PARAM && !is_literal(component.type) && !empty ? 1 : 0;
  }
  return count;
}

/* Whether all that the work has is in one pack, and was copied with that. */
static bool take_census(const map_work_t *work, const map_pack_t *pack, census_t *census) {
  for (const map_item_t *item = work->items; item < work->items + work->item_count; item++) {
    if (!item->entry || item->entry->memory != (void *)pack->memory ||
        (item->flags & (MAP_ITEM_SUBMIT | MAP_ITEM_ATTACH) && !(item->flags & MAP_ITEM_PACKED)))
      return false;
    census->entries += item->flags & MAP_ITEM_FRESH ? 1 : 0;
    census->into += item->flags & MAP_ITEM_SUBMIT ? 1 : 0;
    census->pointers += item->flags & MAP_ITEM_ATTACH ? 1 : 0;
    census->words += item->flags & MAP_ITEM_WORD ? 1 : 0;
    census->out += item->type & MAP_FROM && item->bytes ? 1 : 0;
  }
  return census->into <= MAP_PIECES && census->out <= MAP_PIECES && census->pointers <= MAP_PIECES;
}

/* ---- making one ---- */

/* A part of the plan's memory; with nothing to take it from, only counts. */
static void *take(char *memory, size_t *used, size_t count, size_t bytes) {
  void *part = memory ? memory + *used : NULL;
  *used += (count * bytes + 15) & ~(size_t)15;
  return part;
}

static size_t place_parts(map_plan_t *plan, char *memory) {
  size_t used = (sizeof *plan + 15) & ~(size_t)15;
  plan->arguments = take(memory, &used, plan->argument_count, sizeof *plan->arguments);
  plan->components = take(memory, &used, plan->component_count, sizeof *plan->components);
  plan->entries = take(memory, &used, plan->entry_count, sizeof *plan->entries);
  plan->items = take(memory, &used, plan->item_count, sizeof *plan->items);
  plan->words = take(memory, &used, plan->word_count, sizeof *plan->words);
  plan->into = take(memory, &used, plan->into_count, sizeof *plan->into);
  plan->out = take(memory, &used, plan->out_count, sizeof *plan->out);
  plan->pointers = take(memory, &used, plan->pointer_count, sizeof *plan->pointers);
  plan->absent = take(memory, &used, plan->absent_count, sizeof *plan->absent);
  return used;
}

static atmi_piece_t piece_of(const map_item_t *item, uintptr_t from) {
  uintptr_t device = map_entry_device(item->entry, item->host);
  return (atmi_piece_t){(void *)item->host, (uint32_t)(device - from), (uint32_t)item->bytes};
}

static void put_entries(map_plan_t *plan) {
  planned_entry_t *planned = plan->entries;
  for (const map_item_t *item = plan->items; item < plan->items + plan->item_count; item++) {
    const map_entry_t *entry = item->entry;
    if (!(item->flags & MAP_ITEM_FRESH))
      continue;
    *planned++ =
        (planned_entry_t){item->entry, item->units | MAP_FILLING | (entry->auxiliary ? MAP_SPECIAL : 0),
                          entry->end - entry->begin};
    plan->is_news |= entry->base < entry->begin;
  }
}

static inline bool comes_back(const map_item_t *item) {
  return item->type & MAP_FROM && item->bytes;
}

static void put_pieces(map_plan_t *plan) {
  atmi_piece_t *into = plan->into, *out = plan->out;
  uintptr_t memory = (uintptr_t)plan->memory, first = UINTPTR_MAX, last = 0;
  for (const map_item_t *item = plan->items; item < plan->items + plan->item_count; item++) {
    uintptr_t device = map_entry_device(item->entry, item->host);
    if (item->flags & MAP_ITEM_SUBMIT)
      *into++ = piece_of(item, memory);
    if (!comes_back(item))
      continue;
    first = device < first ? device : first;
    last = device + item->bytes > last ? device + item->bytes : last;
    *out++ = piece_of(item, memory);
  }
  plan->out_begin = first;
  plan->out_bytes = plan->out_count ? last - first : 0;
  while (out-- > plan->out)
    out->offset -= (uint32_t)(first - memory);
}

static bool is_copied_back(const map_plan_t *plan, const map_shadow_t *shadow) {
  for (uint32_t i = 0; i < plan->out_count; i++)
    if (shadow->host - (uintptr_t)plan->out[i].host < plan->out[i].bytes)
      return true;
  return false;
}

static void put_pointers(map_plan_t *plan) {
  pointer_t *pointer = plan->pointers;
  for (const map_item_t *item = plan->items; item < plan->items + plan->item_count; item++) {
    const map_shadow_t *shadow = item->shadow;
    if (item->flags & MAP_ITEM_ATTACH)
      *pointer++ =
          (pointer_t){shadow, map_shadow_value(atomic_load_explicit(&shadow->device, memory_order_relaxed)),
                      map_entry_device(item->entry, shadow->host) - (uintptr_t)plan->memory,
                      is_copied_back(plan, shadow)};
  }
}

/* What the region is, and what it has done. */
static map_plan_t *make(const map_work_t *work, const map_arguments_t *arguments, const map_pack_t *pack,
                        const census_t *census) {
  const map_component_t *components;
  map_plan_t made = {.options = work->options,
                     .todo = work->todo,
                     .names = arguments->names,
                     .state = PLAN_AWAKE,
                     .argument_count = arguments->count,
                     .component_count = map_stack_all(work, &components),
                     .entry_count = census->entries,
                     .item_count = work->item_count,
                     .word_count = work->word_count,
                     .into_count = census->into,
                     .pointer_count = census->pointers,
                     .out_count = census->out,
                     .absent_count = census->absent,
                     .memory = (void *)pack->memory,
                     .filled = pack->filled};
  map_plan_t *plan = malloc(place_parts(&made, NULL));
  if (!plan)
    return NULL;
  place_parts(&made, (char *)plan);
  *plan = made;
  for (uint32_t i = 0; i < arguments->count; i++)
    map_argument_get(arguments, i, &plan->arguments[i]);
  if (plan->component_count)
    memcpy(plan->components, components, plan->component_count * sizeof *components);
  memcpy(plan->items, work->items, work->item_count * sizeof *plan->items);
  if (work->word_count)
    memcpy(plan->words, work->words, work->word_count * sizeof *plan->words);
  put_entries(plan);
  put_pieces(plan);
  put_pointers(plan);
  (void)are_certain(work, arguments, &plan->absent_count, plan->absent); /* as before */
  return plan;
}

__attribute__((cold)) void map_plan_record(map_work_t *work, const map_arguments_t *arguments,
                                           const map_packs_t *packs) {
  census_t census = {0};
  const map_component_t *components;
  const uint32_t most = MAP_PLAN_ITEMS;
  if (packs->count != 1 || work->item_count > most || arguments->count > most ||
      map_stack_all(work, &components) > most || !take_census(work, &packs->packs[0], &census) ||
      census.words != count_words(arguments))
    return;
  atmi_spin_lock(&work->table->lock);
  if (are_certain(work, arguments, &census.absent, NULL))
    work->plan = make(work, arguments, &packs->packs[0], &census);
  atmi_spin_unlock(&work->table->lock);
}

/* ---- waking one ---- */

/* Arguments as they were; but literals have the values of this time. */
static inline bool has_same_arguments(const map_plan_t *plan, const map_arguments_t *arguments,
                                      void **words) {
  const size_t count = plan->argument_count;
  const map_component_t *was = plan->arguments;
  void *const *bases = arguments->bases, *const *begins = arguments->begins, *const *planned = plan->words;
  const int64_t *types = arguments->types, *sizes = arguments->sizes;
  if (arguments->count != count || arguments->names != plan->names)
    return false;
  for (size_t i = 0; i < count; i++, was++) {
    uint64_t type = (uint64_t)types[i];
    if (type != was->type)
      return false;
    if (is_literal(type)) {
      *words++ = bases[i];
      planned++;
      continue;
    }
    if ((uintptr_t)begins[i] != was->begin || sizes[i] != was->size || (uintptr_t)bases[i] != was->base)
      return false;
    if (type & MAP_TARGET_PARAM)
      *words++ = *planned++;
  }
  return true;
}

static bool has_same_components(const map_plan_t *plan, const map_work_t *work) {
  const map_component_t *components;
  if (!work->stack)
    return !plan->component_count;
  uint32_t count = map_stack_all(work, &components);
  return count == plan->component_count &&
         (!count || !memcmp(components, plan->components, count * sizeof *components));
}

/* What the program's pointers point to. */
static bool has_same_pointers(const map_plan_t *plan) {
  const pointer_t *end = plan->pointers + plan->pointer_count;
  for (const pointer_t *pointer = plan->pointers; pointer < end; pointer++) {
    const map_shadow_t *shadow = pointer->shadow;
    const char *host = (const char *)shadow->host;
    uintptr_t value;
    memcpy(&value, host, sizeof value);
    if (value != shadow->value ||
        (shadow->rest && memcmp(shadow->rest, host + sizeof value, shadow->bytes - sizeof value) != 0))
      return false;
  }
  return true;
}

static inline void leave_place(map_table_t *table, const map_plan_t *plan) {
  table->plans[plan->place] = NULL;
  table->plan_vacant = plan->place;
  table->plan_count--;
}

/* Whether what is absent stays so until the next news: the address is in no entry, and in none that is
 * dormant; and no entry behind it is the rest of an array that it could be in. Of these only the next ones
 * are looked at. */
static bool is_clear(const map_table_t *table, const absent_t *absent) {
  const uintptr_t host = absent->host;
  map_place_t place = map_index_find(&table->index, host);
  const map_entry_t *entry = map_index_before(&table->index, place);
  if (entry && host - entry->begin < entry->end - entry->begin + entry->dormant_bytes)
    return false;
  for (uint32_t i = 0; absent->is_section && i < MAP_DORMANT_MOST; i++) {
    if (!(entry = map_index_at(&table->index, place)))
      return true;
    if (!entry->dormant_bytes && entry->base <= host)
      return false;
    place = map_index_next(&table->index, place);
  }
  return !absent->is_section;
}

static __attribute__((noinline)) bool are_unmapped(map_table_t *table, map_plan_t *plan) {
  bool clear = true;
  for (uint32_t i = 0; i < plan->absent_count; i++) {
    if (!is_unmapped(table, &plan->absent[i]))
      return false;
    clear = clear && is_clear(table, &plan->absent[i]);
  }
  plan->clear_since = clear ? table->news : 0;
  return true;
}

static inline bool are_still_absent(map_table_t *table, map_plan_t *plan) {
  return !plan->absent_count || plan->clear_since == table->news || are_unmapped(table, plan);
}

/* Loops over what a plan has keep its end in a register: what they write could be the plan for all that the
 * compiler knows. */
static inline void set_words(const map_plan_t *plan, bool left) {
  const planned_entry_t *end = plan->entries + plan->entry_count;
  for (const planned_entry_t *planned = plan->entries; planned < end; planned++)
    atomic_store_explicit(&planned->entry->word, left ? planned->word & ~MAP_COUNTS : planned->word,
                          memory_order_relaxed);
}

static inline void wake_entries(const map_plan_t *plan) {
  const planned_entry_t *end = plan->entries + plan->entry_count;
  for (const planned_entry_t *planned = plan->entries; planned < end; planned++) {
    map_entry_t *entry = planned->entry;
    entry->end = entry->begin + planned->bytes;
    entry->dormant_bytes = 0;
    entry->plan = NULL;
  }
}

static inline void take_from(map_table_t *table, map_plan_t *plan, state_t state) {
  set_state(plan, state);
  /* News for others; what this plan knows of them is without its own entries. */
  plan->clear_since += plan->is_news && plan->clear_since == table->news;
  table->news += plan->is_news;
  table->count += plan->entry_count;
  leave_place(table, plan);
  table->plan_doubt = 0;
  plan->was_woken = true;
}

static void wake(map_table_t *table, map_plan_t *plan) {
  take_from(table, plan, PLAN_AWAKE);
  set_words(plan, false);
  wake_entries(plan);
}

bool map_plan_runs(const map_plan_t *plan) {
  state_t state = state_of(plan);
  return state == PLAN_RUNS || state == PLAN_LEAVES;
}

/* Release: the region that finds itself exposed finds the words, too. */
bool map_plan_expose(map_plan_t *plan) {
  state_t state = state_of(plan);
  do {
    if (state != PLAN_RUNS && state != PLAN_LEAVES)
      return false;
    set_words(plan, state == PLAN_LEAVES);
  } while (!atomic_compare_exchange_strong_explicit(&plan->state, &state, PLAN_EXPOSED, memory_order_acq_rel,
                                                    memory_order_acquire));
  wake_entries(plan);
  return true;
}

/* The plan that the first argument with data begins an entry of. Its hint may be another entry's. */
static map_plan_t *find(const map_table_t *table, const map_arguments_t *arguments, uint32_t first) {
  if (!table->plan_count)
    return NULL;
  while (first + 1 < arguments->count && !arguments->sizes[first])
    first++;
  uintptr_t host = (uintptr_t)arguments->begins[first];
  const map_entry_t *entry = *map_table_hint(table, host);
  if (!entry || entry->begin != host) {
    entry = map_index_before(&table->index, map_index_find(&table->index, host));
    if (!entry || entry->begin != host)
      return NULL;
    *map_table_hint(table, host) = (map_entry_t *)(uintptr_t)entry;
  }
  return entry->plan;
}

/* A sleeping plan for this region, which is the work's then, with its words. */
static map_plan_t *take_plan(map_work_t *work, const map_arguments_t *arguments, uint32_t first) {
  map_table_t *table = work->table;
  const map_configuration_t *configuration = &table->configuration;
  map_plan_t *plan = find(table, arguments, first);
  if (!plan || state_of(plan) != PLAN_ASLEEP || plan->options != work->options || configuration->unified ||
      configuration->zero_copy || !configuration->functions->packs ||
      !has_same_arguments(plan, arguments, work->words) || !has_same_components(plan, work) ||
      !has_same_pointers(plan) || !are_still_absent(table, plan) ||
      (plan->item_count > work->item_capacity && !map_work_reserve(work, plan->item_count)))
    return NULL;
  work->word_count = plan->word_count;
  work->todo = plan->todo;
  work->plan = plan;
  return plan;
}

bool map_plan_wake(map_work_t *work, const map_arguments_t *arguments, uint32_t first) {
  map_plan_t *plan = take_plan(work, arguments, first);
  if (!plan)
    return false;
  wake(work->table, plan);
  return true;
}

void map_plan_drop(map_work_t *work) {
  const map_plan_t *plan = work->plan;
  if (!plan)
    return;
  work->item_count = plan->item_count;
  memcpy(work->items, plan->items, plan->item_count * sizeof *plan->items);
  for (map_item_t *item = work->items; item < work->items + work->item_count && plan->left; item++) {
    item->units &= ~MAP_COUNTS;
    item->flags |= comes_back(item) ? MAP_ITEM_RETRIEVED : 0;
  }
  if (plan->left)
    work->todo |= MAP_TODO_GOES | (plan->out_count ? MAP_ITEM_RETRIEVED | MAP_TODO_RESTORE : 0);
  free(work->plan);
  work->plan = NULL;
}

/* ---- copies ---- */

static inline void put(const map_plan_t *plan, char *staged) {
  const atmi_piece_t *end = plan->into + plan->into_count;
  for (const atmi_piece_t *piece = plan->into; piece < end; piece++)
    memcpy(staged + piece->offset, piece->host, piece->bytes);
  const pointer_t *last = plan->pointers + plan->pointer_count;
  for (const pointer_t *pointer = plan->pointers; pointer < last; pointer++)
    map_shadow_write(pointer->shadow, pointer->device, staged + pointer->offset);
}

static inline map_status_t submit(map_work_t *work) {
  const map_plan_t *plan = work->plan;
  const map_configuration_t *configuration = &work->table->configuration;
  const map_device_functions_t *functions = configuration->functions;
  void *device = configuration->device, *staged;
  bool done = functions->stage(device, work->stream, plan->filled, &staged);
  if (done) {
    put(plan, staged);
    work->busy = true;
    done = functions->submit_staged(device, work->stream, plan->memory, staged, plan->filled);
  }
  return done ? MAP_OK : map_work_fail(work, plan->items, "a copy to the device has failed");
}

/* A mark of the work's copies, if there are any. */
static inline bool mark_copies(const map_work_t *work, bool copies, map_mark_t *mark) {
  const map_configuration_t *configuration = &work->table->configuration;
  *mark = 0;
  return !copies || configuration->functions->mark(configuration->device, work->stream, mark);
}

/* Lets others have all entries, behind the mark. */
static inline void publish(map_work_t *work, map_mark_t mark) {
  const map_plan_t *plan = work->plan;
  map_table_t *table = work->table;
  const planned_entry_t *end = plan->entries + plan->entry_count;
  for (const planned_entry_t *planned = plan->entries; planned < end; planned++)
    map_entry_filled(table, planned->entry, mark);
}

map_status_t map_plan_fill(map_work_t *work) {
  map_status_t status = work->plan->filled ? submit(work) : MAP_OK;
  if (!status && !mark_copies(work, work->plan->filled, &work->mark))
    status = MAP_DEVICE;
  if (status)
    return map_work_publish(work, status);
  publish(work, work->mark);
  return MAP_OK;
}

/* ---- running by one ---- */

/* Others see the entries from now on, being filled, if they do not already. */
static __attribute__((noinline, cold)) void wake_up(map_work_t *work) {
  atmi_spin_lock(&work->table->lock);
  (void)map_plan_expose(work->plan);
  atmi_spin_unlock(&work->table->lock);
  set_state(work->plan, PLAN_AWAKE);
}

/* And filled. Describes; the work is given up after a failure. */
static __attribute__((noinline, cold)) map_status_t wake_up_filled(map_work_t *work) {
  wake_up(work);
  if (!mark_copies(work, work->plan->filled, &work->mark))
    return map_work_publish(work, MAP_DEVICE);
  publish(work, work->mark);
  return MAP_OK;
}

/* As map_plan_fill, but others need not see it. */
static inline map_status_t fill_unseen(map_work_t *work) {
  map_status_t status = work->plan->filled ? submit(work) : MAP_OK;
  if (__builtin_expect(!status, 1))
    return MAP_OK;
  wake_up(work);
  return map_work_publish(work, status);
}

bool map_plan_enter(map_work_t *work, const map_arguments_t *arguments, map_status_t *status) {
  map_table_t *table = work->table;
  uint32_t first = 0;
  if (!map_held_may(arguments) || map_listens(table))
    return false;
  while (first + 1 < arguments->count && is_literal((uint64_t)arguments->types[first]))
    first++;
  atmi_spin_lock(&table->lock);
  map_plan_t *plan = take_plan(work, arguments, first);
  bool unseen = plan && plan->out_count;
  if (unseen)
    take_from(table, plan, PLAN_RUNS);
  else if (plan)
    wake(table, plan);
  table->visit += plan != NULL;
  atmi_spin_unlock(&table->lock);
  if (!plan)
    return false;
  work->operation = MAP_ENTER;
  work->todo |= MAP_TODO_LEAVE;
  *status = unseen ? fill_unseen(work) : map_plan_fill(work);
  return true;
}

/* ---- leaving ---- */

static inline map_status_t copy_back(map_work_t *work) {
  map_plan_t *plan = work->plan;
  plan->left = true;
  return plan->out_count ? map_pieces_retrieve(work, plan->items, plan->out_begin, plan->out_bytes, plan->out,
                                               plan->out_count)
                         : MAP_OK;
}

static inline bool take_counts(const planned_entry_t *planned) {
  uint64_t held = planned->word & ~MAP_FILLING;
  return atomic_compare_exchange_strong_explicit(&planned->entry->word, &held,
                                                 (held & ~MAP_COUNTS) | MAP_FILLING, memory_order_acq_rel,
                                                 memory_order_relaxed);
}

/* Somebody else has counted an entry: those in front are as they were. */
static void return_counts(const map_work_t *work, uint32_t taken) {
  const map_plan_t *plan = work->plan;
  for (uint32_t i = 0; i < taken; i++) {
    map_entry_t *entry = plan->entries[i].entry;
    atomic_fetch_add_explicit(&entry->word, plan->entries[i].word & MAP_COUNTS, memory_order_relaxed);
    map_entry_filled(work->table, entry, atomic_load_explicit(&entry->mark, memory_order_relaxed));
  }
}

static __attribute__((noinline)) bool leave_seen(map_work_t *work, map_status_t *status) {
  map_plan_t *plan = work->plan;
  map_mark_t mark;
  const planned_entry_t *end = plan->entries + plan->entry_count;
  for (const planned_entry_t *planned = plan->entries; planned < end; planned++)
    if (!take_counts(planned)) {
      return_counts(work, (uint32_t)(planned - plan->entries));
      map_plan_drop(work);
      return false;
    }
  *status = copy_back(work);
  if (!mark_copies(work, plan->out_count && !*status, &mark))
    *status = MAP_DEVICE;
  /* Without a copy back the one to the device may still be under way: who comes next waits for that. */
  publish(work, mark ? mark : work->mark);
  return true;
}

bool map_plan_leave(map_work_t *work, map_status_t *status) {
  state_t state = PLAN_RUNS;
  /* Acquire pairs with map_plan_expose. */
  if (__builtin_expect(atomic_compare_exchange_strong_explicit(&work->plan->state, &state, PLAN_LEAVES,
                                                               memory_order_acq_rel, memory_order_acquire),
                       1)) {
    *status = copy_back(work);
    return true;
  }
  if (state == PLAN_EXPOSED && (*status = wake_up_filled(work)) != MAP_OK)
    return true;
  return leave_seen(work, status);
}

/* ---- sleeping ---- */

static inline bool is_alone(const map_plan_t *plan) {
  const planned_entry_t *end = plan->entries + plan->entry_count;
  for (const planned_entry_t *planned = plan->entries; planned < end; planned++)
    if ((map_entry_word(planned->entry) & ~MAP_NATURE) != MAP_PIN_ONE)
      return false;
  return true;
}

/* A place in the table, that of the one that was not woken for longest if all are taken. */
static uint32_t find_room(map_table_t *table) {
  uint32_t found = 0;
  if (!table->plans[table->plan_vacant])
    return table->plan_vacant;
  for (uint32_t i = 0; i < MAP_PLANS; i++) {
    const map_plan_t *plan = table->plans[i];
    if (!plan)
      return i;
    if (plan->used < table->plans[found]->used)
      found = i;
  }
  map_plan_break(table, table->plans[found]);
  return found;
}

/* The host's own pointers, over what came from the device. */
static inline void restore(const map_plan_t *plan) {
  const pointer_t *end = plan->pointers + plan->pointer_count;
  for (const pointer_t *pointer = plan->pointers; pointer < end; pointer++)
    if (pointer->comes_back)
      map_shadow_write(pointer->shadow, pointer->shadow->value, (char *)pointer->shadow->host);
}

static inline void put_to_sleep(map_table_t *table, map_plan_t *plan) {
  plan->place = find_room(table);
  plan->used = table->visit;
  plan->left = false;
  table->plans[plan->place] = plan;
  table->plan_count++;
  table->count -= plan->entry_count;
  set_state(plan, PLAN_ASLEEP);
}

static inline void put_entries_to_sleep(map_plan_t *plan) {
  const planned_entry_t *end = plan->entries + plan->entry_count;
  for (const planned_entry_t *planned = plan->entries; planned < end; planned++) {
    map_entry_t *entry = planned->entry;
    atomic_store_explicit(&entry->word, 0, memory_order_relaxed);
    entry->dormant_bytes = planned->bytes;
    entry->end = entry->begin;
    entry->plan = plan;
  }
}

/* The end of a region that ran by it, and that nobody has seen. */
static inline bool end_unseen(map_table_t *table, map_plan_t *plan) {
  atmi_spin_lock(&table->lock);
  bool sleeps = state_of(plan) == PLAN_LEAVES;
  if (__builtin_expect(sleeps, 1)) {
    restore(plan);
    put_to_sleep(table, plan);
  }
  atmi_spin_unlock(&table->lock);
  return sleeps;
}

static __attribute__((noinline)) bool end_seen(map_table_t *table, map_plan_t *plan) {
  atmi_spin_lock(&table->lock);
  bool sleeps = is_alone(plan);
  if (sleeps) {
    restore(plan);
    put_to_sleep(table, plan);
    put_entries_to_sleep(plan);
  }
  atmi_spin_unlock(&table->lock);
  return sleeps;
}

/* A region that ran by it did not come to its leaving. */
static __attribute__((noinline, cold)) void end_early(map_work_t *work) {
  if (state_of(work->plan) == PLAN_AWAKE || !wake_up_filled(work))
    map_plan_drop(work);
}

bool map_plan_end(map_work_t *work) {
  map_table_t *table = work->table;
  map_plan_t *plan = work->plan;
  bool sleeps = false;
  if (!plan->left) {
    end_early(work);
    return false;
  }
  if (state_of(plan) != PLAN_AWAKE)
    sleeps = end_unseen(table, plan);
  if (!sleeps && state_of(plan) == PLAN_EXPOSED) {
    set_state(plan, PLAN_AWAKE);
    publish(work, 0); /* the stream was waited for */
  }
  if (!sleeps)
    sleeps = end_seen(table, plan);
  if (__builtin_expect(!sleeps, 0)) {
    map_plan_drop(work);
    return false;
  }
  work->plan = NULL;
  return true;
}

/* ---- breaking ---- */

/* Who makes plans for nothing makes fewer of them. */
static void doubt(map_table_t *table, const map_plan_t *plan) {
  if (!plan->was_woken && table->plan_doubt < MAP_DOUBTS_MOST)
    table->plan_doubt++;
}

bool map_plan_is_likely(const map_table_t *table) {
  return !table->plan_doubt || !(table->visit * UINT64_C(0x9e3779b97f4a7c15) >> (64 - table->plan_doubt));
}

void map_plan_break(map_table_t *table, map_plan_t *plan) {
  doubt(table, plan);
  leave_place(table, plan);
  for (uint32_t i = 0; i < plan->entry_count; i++)
    map_table_forget_plan(table, plan->entries[i].entry);
  plan->next = table->broken;
  atomic_store_explicit(&table->broken, plan, memory_order_relaxed);
}

void map_plan_break_all(map_table_t *table) {
  for (uint32_t i = 0; i < MAP_PLANS; i++)
    if (table->plans[i])
      map_plan_break(table, table->plans[i]);
}

map_status_t map_plan_collect(map_table_t *table) {
  const map_configuration_t *configuration = &table->configuration;
  map_status_t status = MAP_OK;
  atmi_spin_lock(&table->lock);
  map_plan_t *plan = table->broken;
  atomic_store_explicit(&table->broken, NULL, memory_order_relaxed);
  atmi_spin_unlock(&table->lock);
  while (plan) {
    map_plan_t *next = plan->next;
    if (!configuration->functions->release(configuration->device, plan->memory))
      status = MAP_DEVICE;
    free(plan);
    plan = next;
  }
  return status;
}
