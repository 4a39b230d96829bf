/* Random constructs on the mapping engine and on a naive model of OpenMP's rules, which has no table but a
 * list, copies at once, and undoes what fails by having been copied before. After each construct both must
 * have the same data on host and device, the same entries and the same counts. */
#include "map_device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 1024, OBJECT = 32, OBJECTS = BYTES / OBJECT, ARGUMENTS = 6, ENTRIES = 512 };
enum { UNDEFINED = 0x100 }; /* a byte on the device that nobody has written */

static long steps = 20000;
static unsigned char host[BYTES]; /* the engine's */

typedef struct model_entry {
  int begin, end, dynamic, hold;
  bool fresh; /* made by this construct */
  bool last;  /* left for good by this construct */
  unsigned short device[2 * OBJECT];
} model_entry_t;

typedef struct model {
  int count;
  int joined[ARGUMENTS]; /* by a region: where the entries of its items begin, which it leaves; -1: none */
  model_entry_t entries[ENTRIES];
  unsigned char host[BYTES];
} model_t;

typedef struct item {
  int begin, size;
  uint64_t type;
} item_t;

typedef enum operation { BEGIN, END, UPDATE, REGION, OPERATIONS } operation_t;

/* ---- the model ---- */

/* The entry of a range, the first one if it touches several; `*whole`: it has all of it. */
static model_entry_t *model_find(model_t *model, const item_t *item, bool *whole) {
  model_entry_t *found = NULL;
  int end = item->begin + (item->size ? item->size : 1);
  for (int i = 0; i < model->count; i++) {
    model_entry_t *entry = &model->entries[i];
    if (item->begin < entry->end && entry->begin < end && (!found || entry->begin < found->begin))
      found = entry;
  }
  *whole = found && item->begin >= found->begin && end <= found->end;
  return found;
}

static void to_device(const model_t *model, model_entry_t *entry, const item_t *item) {
  for (int i = item->begin; i < item->begin + item->size; i++)
    if (i >= entry->begin && i < entry->end)
      entry->device[i - entry->begin] = model->host[i];
}

static void to_host(model_t *model, const model_entry_t *entry, const item_t *item) {
  for (int i = item->begin; i < item->begin + item->size; i++)
    if (i >= entry->begin && i < entry->end)
      model->host[i] = entry->device[i - entry->begin] == UNDEFINED
                           ? host[i]
                           : (unsigned char)entry->device[i - entry->begin];
}

static bool is_member(const item_t *item) {
  return item->type >> MAP_MEMBER_SHIFT;
}

static bool model_enter_one(model_t *model, const item_t *item, int *joined) {
  bool whole = false;
  model_entry_t *entry = model_find(model, item, &whole);
  *joined = -1;
  if (entry && !whole && !(item->type & MAP_IMPLICIT))
    return false;
  if (!entry && item->type & MAP_PRESENT)
    return false;
  if (!entry && !item->size)
    return true;
  bool made = !entry;
  if (made) {
    entry = &model->entries[model->count++];
    *entry = (model_entry_t){.begin = item->begin, .end = item->begin + item->size, .fresh = true};
    for (int i = 0; i < 2 * OBJECT; i++)
      entry->device[i] = UNDEFINED;
  }
  *joined = entry->begin;
  if (made || !is_member(item)) {
    if (item->type & MAP_HOLD)
      entry->hold++;
    else
      entry->dynamic++;
  }
  if (item->type & MAP_TO && (entry->fresh || item->type & MAP_ALWAYS))
    to_device(model, entry, item);
  return true;
}

static bool model_enter(model_t *model, const item_t *items, int count) {
  model_t before = *model;
  for (int i = 0; i < model->count; i++)
    model->entries[i].fresh = false;
  for (int i = 0; i < count; i++)
    if (!model_enter_one(model, &items[i], &model->joined[i])) {
      *model = before;
      return false;
    }
  return true;
}

static model_entry_t *model_mapped(model_t *model, const item_t *item, const int *joined, bool *failed) {
  bool whole = false;
  for (int i = 0; i < model->count && joined; i++)
    if (model->entries[i].begin == *joined)
      return &model->entries[i];
  if (joined)
    return NULL;
  model_entry_t *entry = model_find(model, item, &whole);
  if (entry && (whole || item->type & MAP_IMPLICIT))
    return entry;
  if (item->type & MAP_PRESENT)
    *failed = true;
  return NULL;
}

/* A member counts nothing, but leaves no more than one count when it is deleted. */
static void model_uncount(model_entry_t *entry, const item_t *item) {
  int *count = item->type & MAP_HOLD ? &entry->hold : &entry->dynamic;
  if (is_member(item)) {
    if (item->type & MAP_DELETE && *count)
      *count = 1;
    return;
  }
  if (*count)
    *count = item->type & MAP_DELETE ? 0 : *count - 1;
  entry->last = !entry->dynamic && !entry->hold;
}

/* A region gives back what it has taken: members that have made entries, too. */
static bool model_end(model_t *model, const item_t *items, int count, bool region) {
  bool failed = false;
  for (int i = 0; i < model->count; i++)
    model->entries[i].last = false;
  for (int i = count; i--;) {
    model_entry_t *entry = model_mapped(model, &items[i], region ? &model->joined[i] : NULL, &failed);
    if (entry)
      model_uncount(entry, &items[i]);
  }
  for (int i = 0; i < model->count && region; i++) /* a member's own */
    if (model->entries[i].fresh && !model->entries[i].last)
      model->entries[i].last = true;
  for (int i = 0; i < count; i++) {
    model_entry_t *entry = model_mapped(model, &items[i], region ? &model->joined[i] : NULL, &failed);
    if (entry && items[i].type & MAP_FROM && (entry->last || items[i].type & MAP_ALWAYS))
      to_host(model, entry, &items[i]);
  }
  int kept = 0;
  for (int i = 0; i < model->count; i++)
    if (!model->entries[i].last)
      model->entries[kept++] = model->entries[i];
  model->count = kept;
  return !failed;
}

static bool model_update(model_t *model, const item_t *items, int count) {
  bool failed = false;
  for (int i = 0; i < count; i++) {
    bool whole = false;
    model_entry_t *entry = model_find(model, &items[i], &whole);
    if (!entry || !whole) {
      failed = failed || items[i].type & MAP_PRESENT;
      continue;
    }
    if (items[i].type & MAP_TO)
      to_device(model, entry, &items[i]);
    if (items[i].type & MAP_FROM)
      to_host(model, entry, &items[i]);
  }
  return !failed;
}

static void model_kernel(model_t *model, const item_t *items, int count) {
  for (int i = 0; i < count; i++)
    for (int j = items[i].begin; j < items[i].begin + items[i].size; j++) {
      bool whole = false;
      model_entry_t *entry = model_find(model, &(item_t){j, 1, 0}, &whole);
      if (entry && entry->device[j - entry->begin] != UNDEFINED)
        entry->device[j - entry->begin] = (entry->device[j - entry->begin] + 1) & 0xff;
    }
}

/* ---- the engine ---- */

static uint64_t seed;

static uint32_t any(uint32_t bound) {
  seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
  return (uint32_t)(seed >> 33) % bound;
}

typedef struct launch {
  fake_stream_t *stream;
  map_table_t *table;
  const item_t *items;
  int count;
} launch_t;

/* Every word is the device's address of its item's beginning. */
static void kernel(void *argument) {
  const launch_t *launch = argument;
  for (int i = 0; i < launch->count; i++)
    for (int j = 0; j < launch->items[i].size; j++) {
      void *byte;
      if (map_table_find(launch->table, host + launch->items[i].begin + j, 1, &byte))
        ++*(unsigned char *)byte;
    }
}

/* The kernel looks addresses up, which is over when the region is left. */
static void run_kernel(void *context, const uint64_t *words, uint32_t count) {
  launch_t *launch = context;
  (void)words, (void)count;
  fake_launch(launch->stream, kernel, launch);
  fake_synchronize(launch->stream);
}

static int failures;

static void count_failure(void *context, map_status_t status, const char *text) {
  (void)context;
  (void)status;
  failures += *text != 0;
}

static bool run(map_table_t *table, fake_stream_t *stream, operation_t operation, const item_t *items,
                int count) {
  void *bases[ARGUMENTS], *begins[ARGUMENTS];
  int64_t sizes[ARGUMENTS], types[ARGUMENTS];
  for (int i = 0; i < count; i++) {
    bases[i] = begins[i] = host + items[i].begin;
    sizes[i] = items[i].size;
    types[i] = (int64_t)items[i].type;
  }
  map_arguments_t arguments = {(uint32_t)count, bases, begins, sizes, types, NULL, NULL};
  launch_t launch = {stream, table, items, count};
  map_work_t work;
  map_status_t status;
  map_work_begin(&work, table, stream, 0);
  switch (operation) {
  case BEGIN: status = map_begin(&work, &arguments); break;
  case END: status = map_end(&work, &arguments); break;
  case UPDATE: status = fake_update(&work, &arguments); break;
  default: status = fake_region(&work, &arguments, run_kernel, &launch);
  }
  if (work.busy)
    fake_synchronize(stream);
  assert_int_equal(map_work_end(&work), MAP_OK);
  return !status;
}

/* ---- both ---- */

enum { LAST = 4 };

static uint64_t any_type(operation_t operation) {
  uint64_t type = any(4); /* TO, FROM, both, none */
  if (operation == UPDATE)
    type = 1 + any(2);
  type |= any(8) ? 0 : MAP_ALWAYS;
  type |= any(12) ? 0 : MAP_PRESENT;
  type |= any(8) ? 0 : MAP_IMPLICIT;
  type |= any(10) ? 0 : MAP_HOLD;
  if (operation == END && !any(6))
    type |= MAP_DELETE;
  return type;
}

static int make_items(operation_t operation, item_t *items) {
  int count = 1 + (int)any(ARGUMENTS - 1);
  for (int i = 0; i < count; i++) {
    int object = (int)any(OBJECTS - 1);
    item_t *item = &items[i];
    *item = (item_t){object * OBJECT, OBJECT, any_type(operation)};
    switch (any(8)) {
    case 0: item->begin += (int)any(16), item->size = 1 + (int)any(16); break; /* a part */
    case 1: item->size = 0; break;
    case 2: item->size = 2 * OBJECT - 8; break; /* two objects, not all of the second */
    default: break;
    }
    /* A struct and a member of it. */
    if (item->size == OBJECT && i + 1 < count && !any(4)) {
      item->type &= ~(MAP_TO | MAP_FROM);
      items[i + 1] = (item_t){item->begin + 8, 8,
                              (any_type(operation) & ~MAP_HOLD) | (uint64_t)(i + 1) << MAP_MEMBER_SHIFT};
      i++;
    }
  }
  return count;
}

static bool run_model(model_t *model, operation_t operation, const item_t *items, int count) {
  switch (operation) {
  case BEGIN: return model_enter(model, items, count);
  case END: return model_end(model, items, count, false);
  case UPDATE: return model_update(model, items, count);
  default: break;
  }
  if (!model_enter(model, items, count))
    return false;
  model_kernel(model, items, count);
  return model_end(model, items, count, true);
}

typedef struct comparison {
  const model_t *model;
  int count;
  bool same;
} comparison_t;

static bool is_same(const unsigned short *expected, const unsigned char *device, size_t bytes) {
  for (size_t i = 0; i < bytes; i++)
    if (expected[i] != UNDEFINED && expected[i] != device[i])
      return false;
  return true;
}

static void compare_entry(void *context, const map_entry_view_t *view) {
  comparison_t *comparison = context;
  int begin = (int)(view->begin - (uintptr_t)host);
  for (int i = 0; i < comparison->model->count; i++) {
    const model_entry_t *entry = &comparison->model->entries[i];
    if (entry->begin != begin)
      continue;
    size_t bytes = (size_t)(entry->end - entry->begin);
    comparison->same = comparison->same && view->end - view->begin == bytes &&
                       (int)view->dynamic_count == entry->dynamic && (int)view->hold_count == entry->hold &&
                       is_same(entry->device, (const unsigned char *)view->device, bytes);
    comparison->count++;
  }
}

/* For who has to find out what is wrong: the construct behind which both differ, and what the model has. */
static void explain(const model_t *model, long step, operation_t operation, const item_t *items, int count) {
  static const char *const names[] = {"begin", "end", "update", "region"};
  print_error("step %ld: %s\n", step, names[operation]);
  for (int i = 0; i < count; i++)
    print_error("  %d+%d type 0x%llx\n", items[i].begin, items[i].size, (unsigned long long)items[i].type);
  for (int i = 0; i < model->count; i++)
    print_error("  model: %d..%d %d/%d\n", model->entries[i].begin, model->entries[i].end,
                model->entries[i].dynamic, model->entries[i].hold);
}

typedef struct construct {
  operation_t operation;
  int count;
  item_t items[ARGUMENTS];
} construct_t;

/* A new one, or one of the last ones again. */
static construct_t any_construct(construct_t *last) {
  construct_t *kept = &last[any(LAST)];
  if (kept->count && !any(3))
    return *kept;
  construct_t made = {.operation = any(OPERATIONS)};
  made.count = make_items(made.operation, made.items);
  return *kept = made;
}

static void agrees(const map_device_functions_t *functions) {
  static fake_device_t device;
  static model_t model;
  construct_t last[LAST] = {{0}};
  map_configuration_t configuration = {
      .functions = functions, .device = &device, .listener = {.fail = count_failure}};
  device = (fake_device_t){.calls_left = -1};
  memset(&model, 0, sizeof model);
  memset(host, 0, sizeof host);
  failures = 0;
  map_table_t *table = map_table_new(&configuration);
  int failed = 0;
  for (long step = 0; step < steps; step++) {
    construct_t now = any_construct(last);
    int byte = (int)any(BYTES);
    host[byte] = model.host[byte] = (unsigned char)any(256);
    bool done = run(table, fake_stream(&device, 0), now.operation, now.items, now.count);
    bool expected = run_model(&model, now.operation, now.items, now.count);
    failed += !done;
    assert_int_equal(failures, failed);
    comparison_t comparison = {&model, 0, true};
    map_table_visit(table, compare_entry, &comparison);
    bool same = done == expected && comparison.same && comparison.count == model.count &&
                !memcmp(host, model.host, BYTES);
    if (!same)
      explain(&model, step, now.operation, now.items, now.count);
    assert_true(same);
    assert_int_equal(map_table_count(table), model.count);
    if (!functions->packs)
      assert_int_equal(atomic_load(&device.live), model.count);
  }
  assert_true(failed > steps / 20 && failed < steps / 2); /* both happen */
  map_table_free(table);
  assert_int_equal(atomic_load(&device.live), 0);
  fake_fini(&device);
}

static void agrees_with_the_model(void **state) {
  (void)state;
  agrees(&fake_functions);
}

static void agrees_when_it_packs(void **state) {
  (void)state;
  agrees(&fake_packing_functions);
}

/* map_model [STEPS [SEED]] */
int main(int count, char **arguments) {
  if (count > 1)
    steps = atol(arguments[1]);
  seed = count > 2 ? strtoull(arguments[2], NULL, 0) : 1;
  const struct CMUnitTest tests[] = {cmocka_unit_test(agrees_with_the_model),
                                     cmocka_unit_test(agrees_when_it_packs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
