/* Fuzz target: the arguments of constructs, as the mapping engine gets them: counts, addresses, sizes, types,
 * names and descriptors of sections that no compiler writes. What is mapped by address is in an arena, half
 * in it, or nowhere. Not here: arrays of arguments that are too short (unit/mapping/damage), and what the
 * engine is not protected against: see list_item. */
#include "fuzz.h"

#include "brink.h"
#include "map_device.h"

#include <string.h>

enum { ARENA_PAGES = 16, ARENA_BYTES = ARENA_PAGES * 4096, ITEMS = 4, DESCRIPTOR_BYTES = 48 };
enum { IN_ARENA, AT_ITS_END, ANYWHERE, NOWHERE, PLACES };

/* A list item of the input. */
typedef struct raw_item {
  uint64_t begin, type;
  int64_t size;
  uint16_t offset; /* of the base, in front of the beginning */
  uint8_t place, name;
  uint32_t unused;
} raw_item_t;

typedef struct raw_construct {
  uint8_t operation, count, packs /* of the first construct: of all */, options;
  uint32_t unused;
  raw_item_t items[ITEMS];
} raw_construct_t;

static fake_device_t device = {.calls_left = -1};
static char *arena;
static int failures;

static void note_failure(void *context, map_status_t status, const char *message) {
  (void)context;
  FUZZ_CHECK(status && message && *message);
  failures++;
}

static char *place_of(const raw_item_t *item) {
  switch (item->place % PLACES) {
  case IN_ARENA: return arena + item->begin % ARENA_BYTES;
  case AT_ITS_END: return arena + ARENA_BYTES - item->begin % 64;
  case ANYWHERE: return (char *)(uintptr_t)item->begin;
  default: return NULL;
  }
}

/* What is read as it is: a pointer that is mapped, private data, and what lambdas have captured are read
 * where the program's own code has just read them; and who maps without copies may map anything, and copy it
 * later. */
#define BELIEVED (MAP_PTR_AND_OBJ | MAP_PRIVATE | MAP_LITERAL | MAP_ATTACH)

static void list_item(const raw_item_t *item, bool is_new, fake_list_t *list) {
  uint64_t type = item->type;
  char *begin = place_of(item), *base = (char *)((uintptr_t)begin - item->offset % 32);
  int64_t size = item->size;
  if (type & BELIEVED) {
    begin = arena + 64 + item->begin % (ARENA_BYTES / 2);
    base = type & (MAP_PTR_AND_OBJ | MAP_ATTACH) ? arena + (item->offset & 0xff8) : begin;
    size = (uint64_t)size % (ARENA_BYTES / 4);
    type &= ~MAP_NON_CONTIGUOUS;
  } else if (is_new) {
    uint64_t into = (uint64_t)(uintptr_t)begin - (uintptr_t)arena;
    bool is_whole = into < ARENA_BYTES && (uint64_t)size <= ARENA_BYTES - into;
    type |= is_whole ? 0 : MAP_TO;
  }
  if (type & MAP_NON_CONTIGUOUS)
    begin = item->place % 2 ? arena : begin;
  fake_add(list, base, begin, size, type);
}

static map_status_t run(map_work_t *work, const map_arguments_t *arguments, uint8_t operation) {
  map_status_t status;
  switch (operation % 4) {
  case 0: return map_begin(work, arguments);
  case 1: return map_end(work, arguments);
  case 2: return map_update(work, arguments);
  default: status = map_enter(work, arguments); return status ? status : map_leave(work);
  }
}

static void construct(map_table_t *table, const raw_construct_t *raw) {
  static char readable[] = ";variable;file.c;1;2;;";
  fake_list_t list = {.count = 0};
  void *names[ITEMS];
  map_work_t work;
  for (uint32_t i = 0; i < raw->count % (ITEMS + 1u); i++) {
    list_item(&raw->items[i], raw->operation % 4 != 1 && raw->operation % 4 != 2, &list);
    names[i] = raw->items[i].name % 2 ? readable : arena + ARENA_BYTES + raw->items[i].begin % ARENA_BYTES;
  }
  map_arguments_t *arguments = fake_arguments(&list);
  arguments->names = raw->options & 4 ? names : NULL;
  failures = 0;
  map_work_begin(&work, table, fake_stream(&device, 0), raw->options % 4);
  map_status_t status = run(&work, arguments, raw->operation);
  map_status_t ended = fake_finish(&work);
  FUZZ_CHECK((status == MAP_OK && ended == MAP_OK) == (failures == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const map_configuration_t configuration = {
      .functions = &fake_functions, .device = &device, .listener = {.fail = note_failure}};
  map_table_t *table = map_table_new(&configuration);
  if (!arena && (arena = test_brink(ARENA_PAGES)))
    arena -= ARENA_BYTES;
  FUZZ_CHECK(table && arena);
  memset(arena, 0, ARENA_BYTES);
  memcpy(arena, data, size < DESCRIPTOR_BYTES ? size : DESCRIPTOR_BYTES);
  for (size_t at = DESCRIPTOR_BYTES; at + sizeof(raw_construct_t) <= size; at += sizeof(raw_construct_t)) {
    raw_construct_t raw;
    memcpy(&raw, data + at, sizeof raw);
    if (at == DESCRIPTOR_BYTES) /* for good: what is packed is copied by those functions */
      map_table_set_functions(table, raw.packs % 2 ? &fake_packing_functions : &fake_functions);
    construct(table, &raw);
  }
  map_table_free(table);
  FUZZ_CHECK(!atomic_load(&device.live));
  return 0;
}

/* Data that begins and ends, a region that it is in, and updates, of which one is in pieces. */
size_t fuzz_seed(unsigned number, uint8_t *data, size_t capacity) {
  static const map_dimension_t section[] = {{1, 4, 64}, {0, 2, 8}};
  const uint64_t both = MAP_TO | MAP_FROM, word = both | MAP_TARGET_PARAM;
  const raw_construct_t constructs[] = {
      {.count = 2, .packs = 1, .items = {{4096, both, 4096, 0, 0, 1, 0}, {16, MAP_TO, 64, 8, 0, 1, 0}}},
      {.operation = 3,
       .count = 4,
       .options = 4,
       .items = {{4096, word, 256, 0, 0, 1, 0},
                 {20000, word, 80, 0, 0, 1, 0},
                 {30000, word, 80, 0, 0, 1, 0},
                 {64, MAP_PRIVATE | MAP_TO | MAP_TARGET_PARAM, 40, 0, 0, 1, 0}}},
      {.operation = 2,
       .count = 2,
       .options = 4,
       .items = {{4096, MAP_TO, 8, 0, 0, 1, 0}, {4096, MAP_FROM | MAP_NON_CONTIGUOUS, 2, 0, 1, 1, 0}}},
      {.operation = 3, .count = 2, .items = {{20000, word, 80, 0, 0, 0, 0}, {30000, word, 80, 0, 0, 0, 0}}},
      {.operation = 1,
       .count = 2,
       .items = {{4096, both, 4096, 0, 0, 1, 0}, {16, MAP_DELETE, 64, 8, 0, 1, 0}}},
  };
  if (number || capacity < DESCRIPTOR_BYTES + sizeof constructs)
    return 0;
  memcpy(data, section, DESCRIPTOR_BYTES);
  memcpy(data + DESCRIPTOR_BYTES, constructs, sizeof constructs);
  return DESCRIPTOR_BYTES + sizeof constructs;
}
