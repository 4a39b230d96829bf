/* The rules of mapping, as rows: a sequence of constructs, and for each one what the device is asked for, the
 * state of the table, and what a kernel would get. From OpenMP 5.2 (5.8 map clause, 13.8 target, 13.9 target
 * update) and 6.0, and where these leave it open from what LLVM does. */
#include "map_device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the host's memory: places are offsets in it ---- */

/* A struct {p, q, n} at 512, whose pointers point to 1024 and 2048; a pointer variable at 600, to 1024; a
 * lambda at 704 with a pointer to 1024 in it. */
enum { S = 512, S_P = 512, S_Q = 520, S_N = 528, POINTER = 600, LAMBDA = 704, P = 1024, Q = 2048, NONE = -1 };

static _Alignas(4096) union { /* what is private is as far behind a multiple of 16 as its place is */
  char bytes[4096];
  uintptr_t words[512];
} host;

static uintptr_t at(int place) {
  return place == NONE ? 0 : (uintptr_t)host.bytes + (uintptr_t)place;
}

static void set_host(void) {
  for (size_t i = 0; i < sizeof host.bytes; i++)
    host.bytes[i] = (char)i;
  host.words[S_P / 8] = host.words[POINTER / 8] = host.words[LAMBDA / 8] = at(P);
  host.words[S_Q / 8] = at(Q);
}

/* ---- what happens, in words ---- */

typedef struct text {
  char text[1024];
  size_t length;
} text_t;

static void add_values(text_t *text, const char *format, va_list values) {
  text->length +=
      (size_t)vsnprintf(text->text + text->length, sizeof text->text - text->length, format, values);
}

static void add(text_t *text, const char *format, ...) {
  va_list values;
  va_start(values, format);
  add_values(text, format, values);
  va_end(values);
}

/* Another word. */
static void say(text_t *text, const char *format, ...) {
  va_list values;
  va_start(values, format);
  if (text->length && text->length < sizeof text->text - 2)
    text->text[text->length++] = ' ';
  add_values(text, format, values);
  va_end(values);
}

typedef struct block {
  uintptr_t begin, end;
} block_t;

enum { BLOCKS = 64 };

typedef struct bench {
  fake_device_t device;
  map_table_t *table;
  text_t trace, message;
  block_t blocks[BLOCKS];
} bench_t;

static bool is_host(uintptr_t address) {
  return address - at(0) < sizeof host.bytes;
}

/* ---- the device's addresses, as places ---- */

typedef struct search {
  uintptr_t device;
  int place;
} search_t;

static void match(void *context, const map_entry_view_t *entry) {
  search_t *search = context;
  if (entry->device && search->device - entry->device < entry->end - entry->begin)
    search->place = (int)(search->device - entry->device + entry->begin - at(0));
}

static int place_of(bench_t *bench, uintptr_t device) {
  search_t search = {device, NONE};
  map_table_visit(bench->table, match, &search);
  return search.place;
}

static bool is_block(const bench_t *bench, uintptr_t device) {
  for (int i = 0; i < BLOCKS; i++)
    if (device - bench->blocks[i].begin < bench->blocks[i].end - bench->blocks[i].begin)
      return true;
  return false;
}

static void trace(void *context, char what, const void *from, const void *memory, uint64_t bytes) {
  bench_t *bench = context;
  uintptr_t address = (uintptr_t)from, value = 0;
  for (int i = 0; i < BLOCKS && (what == 'A' || what == 'R'); i++) {
    uintptr_t wanted = what == 'A' ? 0 : (uintptr_t)memory;
    if (bench->blocks[i].begin != wanted)
      continue;
    bench->blocks[i] =
        what == 'A' ? (block_t){(uintptr_t)memory, (uintptr_t)memory + bytes} : (block_t){0, 0};
    break;
  }
  if (what == 'R' || what == 'W') {
    say(&bench->trace, "%c", what);
  } else if (what == 'S' || what == 'G') {
    say(&bench->trace, "%c%d", what, (int)bytes);
  } else if (is_host(address)) {
    say(&bench->trace, "%c%d+%d", what, (int)(address - at(0)), (int)bytes);
  } else if (what == 'A') {
    say(&bench->trace, "A%d", (int)bytes);
  } else if (bytes == sizeof value && place_of(bench, (uintptr_t)memory) != NONE) {
    memcpy(&value, from, sizeof value);
    say(&bench->trace, "P%d=", place_of(bench, (uintptr_t)memory));
    if (value)
      add(&bench->trace, "%d", place_of(bench, value));
    else
      add(&bench->trace, "null");
  } else {
    say(&bench->trace, "%cprivate+%d", what, (int)bytes);
    for (uint64_t i = 0; i + sizeof value <= bytes; i += sizeof value) { /* pointers in it */
      memcpy(&value, (const char *)from + i, sizeof value);
      if (place_of(bench, value) != NONE)
        say(&bench->trace, "=%d", place_of(bench, value));
    }
  }
}

static void fail_note(void *context, map_status_t status, const char *text) {
  bench_t *bench = context;
  say(&bench->message, "%d:%s", (int)status, text);
}

static void say_state(void *context, const map_entry_view_t *entry) {
  text_t *text = context;
  int place = (int)(entry->begin - at(0)), bytes = (int)(entry->end - entry->begin);
  if (entry->infinite)
    say(text, "%d+%d:inf", place, bytes);
  else
    say(text, "%d+%d:%d", place, bytes, (int)entry->dynamic_count);
  if (entry->hold_count)
    say(text, "hold%d", (int)entry->hold_count);
}

typedef struct saying {
  bench_t *bench;
  text_t *text;
} saying_t;

static void say_word(bench_t *bench, text_t *text, uintptr_t word) {
  int place = place_of(bench, word);
  if (place != NONE)
    say(text, "d%d", place);
  else if (is_block(bench, word))
    say(text, "p%d", (int)(word % 16));
  else if (is_host(word))
    say(text, "h%d", (int)(word - at(0)));
  else if (place_of(bench, word + 40) != NONE)
    say(text, "d%d-40", place_of(bench, word + 40));
  else
    say(text, "%d", (int)word);
}

static void say_words(void *context, const uint64_t *words, uint32_t count) {
  saying_t *saying = context;
  for (uint32_t i = 0; i < count; i++)
    say_word(saying->bench, saying->text, words[i]);
}

/* ---- rows ---- */

#define TO           MAP_TO
#define FROM         MAP_FROM
#define ALWAYS       MAP_ALWAYS
#define BOTH         (MAP_TO | MAP_FROM)
#define PARAM        MAP_TARGET_PARAM
#define PAO          MAP_PTR_AND_OBJ
#define MEMBER       MEMBER_OF(1)
#define MEMBER_OF(n) ((uint64_t)(n) << MAP_MEMBER_SHIFT)

typedef enum kind {
  END_OF_ROWS,
  ENTER_DATA,
  EXIT_DATA,
  UPDATE,
  REGION,
  ASSOCIATE,    /* begin, size: with memory of the test's */
  DISASSOCIATE, /* begin */
  GLOBAL,       /* begin, size */
  SET_WORD,     /* begin: of the host's memory, becomes the address of `base` */
} kind_t;

enum {
  UNIFIED = 1,
  ZERO_COPY = 2,
  OLD_PADDING = 4,
  NEW_DEVICE_POINTERS = 8,
  FAILS = 16,
  NEW_ARGUMENTS = 32,
  PACKS = 64
};

typedef struct argument {
  int base, begin, size;
  uint64_t type;
} argument_t;

enum { ARGUMENTS = 6 };

typedef struct row {
  const char *scenario; /* NULL: goes on with the one above */
  kind_t kind;
  argument_t arguments[ARGUMENTS];
  const char *trace, *state;
  const char *words; /* of a region, or bases that RETURN_PARAM has set; or a part of the failure's text */
  int options;
} row_t;

#include "map_rules.inc"

static void setup_row(bench_t *bench, const row_t *row, bool packs) {
  map_table_free(bench->table);
  assert_int_equal(atomic_load(&bench->device.live), 0);
  memset(bench->blocks, 0, sizeof bench->blocks);
  bench->device.trace = trace;
  bench->device.context = bench;
  atomic_store(&bench->device.calls_left, -1);
  set_host();
  map_configuration_t configuration = {.functions = packs ? &fake_packing_functions : &fake_functions,
                                       .device = &bench->device,
                                       .listener = {.context = bench, .fail = fail_note},
                                       .unified = row->options & UNIFIED,
                                       .zero_copy = row->options & ZERO_COPY,
                                       .old_padding = row->options & OLD_PADDING};
  bench->table = map_table_new(&configuration);
  assert_non_null(bench->table);
}

typedef struct arrays {
  uint32_t count;
  void *bases[ARGUMENTS], *begins[ARGUMENTS];
  int64_t sizes[ARGUMENTS], types[ARGUMENTS];
} arrays_t;

static void fill_arrays(const row_t *row, arrays_t *arrays) {
  arrays->count = 0;
  for (int i = 0; i < ARGUMENTS; i++) {
    const argument_t *argument = &row->arguments[i];
    if (!argument->type && !argument->base && !argument->begin && !argument->size)
      continue; /* the beginning of the host's memory is not used */
    uint32_t n = arrays->count++;
    bool literal = argument->type & MAP_LITERAL && !(argument->type & PAO);
    arrays->bases[n] = (void *)(literal ? (uintptr_t)argument->base : at(argument->base));
    arrays->begins[n] = (void *)(literal ? (uintptr_t)argument->base : at(argument->begin));
    arrays->sizes[n] = argument->size;
    arrays->types[n] = (int64_t)argument->type;
  }
}

static map_status_t construct(bench_t *bench, const row_t *row, text_t *words) {
  arrays_t arrays;
  fill_arrays(row, &arrays);
  map_arguments_t arguments = {arrays.count, arrays.bases, arrays.begins, arrays.sizes,
                               arrays.types, NULL,         NULL};
  fake_stream_t *stream = fake_stream(&bench->device, 0);
  map_work_t work;
  map_status_t status;
  map_work_begin(&work, bench->table, stream,
                 (row->options & NEW_DEVICE_POINTERS ? MAP_KEEP_HOST_POINTERS : 0u) |
                     (row->options & NEW_ARGUMENTS ? MAP_KEEP_POINTER_ARGUMENTS : 0u));
  switch (row->kind) {
  case ENTER_DATA: status = map_begin(&work, &arguments); break;
  case EXIT_DATA: status = map_end(&work, &arguments); break;
  case UPDATE: status = fake_update(&work, &arguments); break;
  default: status = fake_region(&work, &arguments, say_words, &(saying_t){bench, words});
  }
  for (uint32_t i = 0; i < arrays.count && !status && row->kind == ENTER_DATA; i++)
    if (arrays.types[i] & (int64_t)MAP_RETURN_PARAM)
      say_word(bench, words, (uintptr_t)arrays.bases[i]);
  fake_synchronize(stream);
  map_status_t end = map_work_end(&work);
  assert_int_equal(end, MAP_OK);
  return status;
}

static map_status_t other(bench_t *bench, const row_t *row) {
  static char memory[4096];
  const argument_t *argument = &row->arguments[0];
  void *begin = (void *)at(argument->begin), *device = memory + argument->base;
  uintptr_t value = at(argument->base);
  switch (row->kind) {
  case ASSOCIATE: return map_table_associate(bench->table, begin, device, (uint64_t)argument->size);
  case GLOBAL: return map_table_add_global(bench->table, begin, device, (uint64_t)argument->size, "global");
  case DISASSOCIATE: return map_table_disassociate(bench->table, begin);
  default: memcpy(begin, &value, sizeof value); return MAP_OK;
  }
}

static void compare(const char *scenario, int line, const char *what, const char *is, const char *expected) {
  if (!strcmp(is, expected))
    return;
  print_error("%s, row %d: %s is \"%s\", not \"%s\"\n", scenario, line, what, is, expected);
  fail();
}

static void check_row(bench_t *bench, const char *scenario, const row_t *row, int line, bool traced) {
  text_t words = {.length = 0}, state = {.length = 0};
  memset(&bench->trace, 0, sizeof bench->trace);
  memset(&bench->message, 0, sizeof bench->message);
  map_status_t status = row->kind >= ASSOCIATE ? other(bench, row) : construct(bench, row, &words);
  map_table_visit(bench->table, say_state, &state);
  bool failed = status != MAP_OK;
  if (failed != !!(row->options & FAILS))
    print_error("%s, row %d: %s\n", scenario, line, bench->message.text);
  assert_int_equal(failed, !!(row->options & FAILS));
  if (traced)
    compare(scenario, line, "trace", bench->trace.text, row->trace);
  compare(scenario, line, "state", state.text, row->state ? row->state : "");
  if (failed && row->words && !strstr(bench->message.text, row->words))
    compare(scenario, line, "message", bench->message.text, row->words);
  else if (!failed)
    compare(scenario, line, "result", words.text, row->words ? row->words : "");
}

/* All rows with a device that packs, or does not; what it is asked for is that of the rows which are meant
 * for it.
 */
static void follow(bool packs) {
  static bench_t bench;
  const char *scenario = NULL;
  int line = 0;
  for (const row_t *row = rows; row->kind != END_OF_ROWS; row++) {
    if (row->scenario) {
      setup_row(&bench, row, packs);
      scenario = row->scenario;
      line = 0;
    }
    check_row(&bench, scenario, row, ++line, packs == !!(row->options & PACKS));
  }
  map_table_free(bench.table);
  assert_int_equal(atomic_load(&bench.device.live), 0);
  fake_fini(&bench.device);
  memset(&bench, 0, sizeof bench);
}

static void follows_the_rules(void **state) {
  (void)state;
  follow(false);
}

static void follows_them_when_it_packs(void **state) {
  (void)state;
  follow(true);
}

/* ---- many entries ---- */

enum { OBJECTS = 3000, OBJECT = 16 };

/* Each object once, in an order that looks like none. */
static int nth(int i, int turn) {
  return (i * (turn ? 1009 : 1601) + 7) % OBJECTS;
}

static void map_range(map_table_t *table, fake_stream_t *stream, void *base, int64_t size, bool begin) {
  int64_t type = (int64_t)MAP_TO;
  map_arguments_t arguments = {1, &base, &base, &size, &type, NULL, NULL};
  map_work_t work;
  map_work_begin(&work, table, stream, 0);
  assert_int_equal(begin ? map_begin(&work, &arguments) : map_end(&work, &arguments), MAP_OK);
  fake_synchronize(stream);
  assert_int_equal(map_work_end(&work), MAP_OK);
}

static void map_object(map_table_t *table, fake_stream_t *stream, char *objects, int n, bool begin) {
  map_range(table, stream, objects + n * OBJECT, OBJECT - 4, begin);
}

/* One entry in the place of many, where one chunk ended and the next began. */
static void map_over_chunks(map_table_t *table, fake_stream_t *stream, char *objects) {
  enum { FIRST = 60, LAST = 70 };
  for (int n = FIRST; n <= LAST; n++)
    map_object(table, stream, objects, n, false);
  map_range(table, stream, objects + FIRST * OBJECT, (LAST + 1 - FIRST) * OBJECT, true);
  for (int i = FIRST * OBJECT; i < (LAST + 1) * OBJECT; i++) {
    void *device;
    assert_true(map_table_find(table, objects + i, 1, &device));
    assert_memory_equal(device, objects + i, 1);
  }
  map_range(table, stream, objects + FIRST * OBJECT, (LAST + 1 - FIRST) * OBJECT, false);
  for (int n = FIRST; n <= LAST; n++)
    map_object(table, stream, objects, n, true);
}

static void check_objects(map_table_t *table, const char *objects, const bool *mapped, int count) {
  assert_int_equal(map_table_count(table), count);
  for (int i = 0; i < OBJECTS; i++) {
    void *device = NULL;
    const char *object = objects + i * OBJECT;
    assert_int_equal(map_table_find(table, object + 5, 1, &device), mapped[i]);
    if (mapped[i])
      assert_memory_equal((char *)device - 5, object, OBJECT - 4);
    assert_false(map_table_find(table, object + OBJECT - 4, 1, &device));
  }
}

/* In ascending and in other orders, so that chunks are split in both ways and go. */
static void finds_among_many(void **state) {
  (void)state;
  static fake_device_t device = {.calls_left = -1};
  static char objects[OBJECTS * OBJECT];
  static bool mapped[OBJECTS];
  map_configuration_t configuration = {
      .functions = &fake_functions, .device = &device, .listener = {.fail = fail_note}};
  map_table_t *table = map_table_new(&configuration);
  fake_stream_t *stream = fake_stream(&device, 0);
  for (int i = 0; i < OBJECTS * OBJECT; i++)
    objects[i] = (char)(i / 7);
  for (int turn = 0; turn < 3; turn++) {
    for (int i = 0; i < OBJECTS; i++) {
      int n = turn == 2 ? i : nth(i, turn);
      map_object(table, stream, objects, n, mapped[n] = true);
    }
    map_over_chunks(table, stream, objects);
    check_objects(table, objects, mapped, OBJECTS);
    for (int i = 0; i < OBJECTS; i++) {
      int n = nth(i, !turn);
      map_object(table, stream, objects, n, mapped[n] = false);
      if (i == OBJECTS / 3 || i == OBJECTS - 2)
        check_objects(table, objects, mapped, OBJECTS - 1 - i);
    }
  }
  map_table_free(table);
  assert_int_equal(atomic_load(&device.live), 0);
  fake_fini(&device);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(follows_the_rules),
                                     cmocka_unit_test(follows_them_when_it_packs),
                                     cmocka_unit_test(finds_among_many)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
