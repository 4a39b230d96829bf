/* Arguments that no compiler writes, and devices that fail: a message and a failure, and nothing is left
 * behind. */
#include "brink.h"
#include "map_device.h"

#include "base/process_memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 5, PAGE = 4096 };

static fake_device_t device = {.calls_left = -1};
static map_table_t *table;
static char text[2000];
static int failures;

/* A struct of two pointers, what they point to, and a large array. */
static struct {
  int *p, *q;
  int n;
} pair;
static int p[16], q[16], large[1000];

typedef struct arrays {
  uint32_t count;
  void *bases[MOST], *begins[MOST];
  int64_t sizes[MOST], types[MOST];
  void *mappers[MOST];
} arrays_t;

static void note_failure(void *context, map_status_t status, const char *message) {
  (void)context;
  assert_int_not_equal(status, MAP_OK);
  strncpy(text, message, sizeof text - 1);
  failures++;
}

static int setup(void **state) {
  (void)state;
  map_configuration_t configuration = {
      .functions = &fake_functions, .device = &device, .listener = {.fail = note_failure}};
  pair.p = p;
  pair.q = q;
  table = map_table_new(&configuration);
  return !table;
}

static int teardown(void **state) {
  (void)state;
  map_table_free(table);
  fake_fini(&device);
  return 0;
}

typedef map_status_t operation_t(map_work_t *work, const map_arguments_t *arguments);

static map_status_t region(map_work_t *work, const map_arguments_t *arguments) {
  map_status_t status = map_enter(work, arguments);
  return status ? status : map_leave(work);
}

static map_status_t run_with(uint32_t options, operation_t *operation, const map_arguments_t *arguments) {
  map_work_t work;
  map_work_begin(&work, table, fake_stream(&device, 0), options);
  map_status_t status = operation(&work, arguments), end;
  do
    fake_synchronize(fake_stream(&device, 0));
  while ((end = map_work_end(&work)) == MAP_AGAIN);
  return status ? status : end;
}

static map_status_t run_raw(operation_t *operation, const map_arguments_t *arguments) {
  return run_with(0, operation, arguments);
}

static map_status_t run(operation_t *operation, arrays_t *arrays) {
  map_arguments_t arguments = {arrays->count, arrays->bases, arrays->begins, arrays->sizes,
                               arrays->types, NULL,          arrays->mappers};
  return run_raw(operation, &arguments);
}

static void add(arrays_t *arrays, void *base, void *begin, int64_t size, uint64_t type) {
  uint32_t i = arrays->count++;
  arrays->bases[i] = base;
  arrays->begins[i] = begin;
  arrays->sizes[i] = size;
  arrays->types[i] = (int64_t)type;
  arrays->mappers[i] = NULL;
}

static operation_t *const operations[] = {map_begin, map_end, map_update, region};
enum { OPERATIONS = sizeof operations / sizeof *operations };

static void expect_failure(operation_t *operation, const map_arguments_t *arguments, const char *part) {
  failures = 0;
  assert_int_equal(run_raw(operation, arguments), MAP_INVALID);
  assert_int_equal(failures, 1);
  assert_non_null(strstr(text, part));
  assert_int_equal(map_table_count(table), 0);
  assert_int_equal(atomic_load(&device.live), 0);
}

static void arrays_are_missing(void **state) {
  (void)state;
  void *base = p;
  int64_t size = 8, type = (int64_t)MAP_TO;
  const map_arguments_t damaged[] = {{1, NULL, &base, &size, &type, NULL, NULL},
                                     {1, &base, NULL, &size, &type, NULL, NULL},
                                     {1, &base, &base, NULL, &type, NULL, NULL},
                                     {1, &base, &base, &size, NULL, NULL, NULL}};
  for (int i = 0; i < OPERATIONS; i++)
    for (size_t j = 0; j < sizeof damaged / sizeof *damaged; j++)
      expect_failure(operations[i], &damaged[j], "the arguments are damaged");
  for (int i = 0; i < OPERATIONS; i++)
    assert_int_equal(run_raw(operations[i], &(map_arguments_t){0}), MAP_OK);
}

static void ranges_cannot_be(void **state) {
  (void)state;
  static const struct {
    uintptr_t begin;
    int64_t size;
    uint64_t type;
    const char *part;
  } rows[] = {{0x1000, -8, MAP_TO, "damaged"},
              {UINTPTR_MAX - 8, 100, MAP_TO, "beyond the end of all memory"},
              {0x1000, INT64_MIN, MAP_TO | MAP_IMPLICIT, "damaged"},
              {0, 64, MAP_TO, "null pointer"},
              {0, 64, MAP_PTR_AND_OBJ | MAP_TO, "null pointer"},
              {0x1000, 4, MAP_ATTACH, "null pointer"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    void *begin = (void *)rows[i].begin;
    int64_t type = (int64_t)rows[i].type;
    map_arguments_t arguments = {1, &begin, &begin, &rows[i].size, &type, NULL, NULL};
    expect_failure(map_begin, &arguments, rows[i].part);
    expect_failure(region, &arguments, rows[i].part);
  }
}

static void sections_are_damaged(void **state) {
  (void)state;
  static map_dimension_t rows[][2] = {{{0, 0, 8}, {0, 1, 4}},
                                      {{0, 4, 0}, {0, 1, 4}},
                                      {{UINT64_MAX, 4, 8}, {0, 1, 4}},
                                      {{0, UINT64_MAX, 8}, {0, 1, 4}},
                                      {{0, UINT64_MAX / 8, 8}, {0, 1, 4}},
                                      {{0, 4, 8}, {0, UINT64_MAX, 4}}};
  void *base = large;
  int64_t size = 2, type = (int64_t)(MAP_TO | MAP_NON_CONTIGUOUS);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    void *begin = rows[i];
    expect_failure(map_update, &(map_arguments_t){1, &base, &begin, &size, &type, NULL, NULL}, "damaged");
  }
  void *begin = rows[0];
  for (size = -1; size < 100; size += 100)
    expect_failure(map_update, &(map_arguments_t){1, &base, &begin, &size, &type, NULL, NULL}, "damaged");
}

/* ---- memory that is not there ---- */

static char *brink(void) {
  char *end = test_brink(64);
  assert_non_null(end);
  return end;
}

/* Of counts as no program has them the arrays are looked at, all of them. */
static void arrays_are_shorter_than_their_count(void **state) {
  (void)state;
  enum { THERE = 200, COUNT = 201 };
  static void *pointers[COUNT];
  static int64_t numbers[COUNT];
  void *short_pointers = brink() - THERE * sizeof(void *);
  int64_t *short_numbers = (int64_t *)(void *)(brink() - THERE * sizeof *short_numbers);
  for (int which = 0; which < 6; which++) {
    map_arguments_t arguments = {COUNT,
                                 which == 0 ? short_pointers : pointers,
                                 which == 1 ? short_pointers : pointers,
                                 which == 2 ? short_numbers : numbers,
                                 which == 3 ? short_numbers : numbers,
                                 which == 4 ? short_pointers : NULL,
                                 which == 5 ? short_pointers : NULL};
    for (int i = 0; i < OPERATIONS; i++)
      expect_failure(operations[i], &arguments,
                     "201 list items, but arrays of fewer: the arguments are damaged");
    arguments.count = THERE;
    for (int i = 0; i < OPERATIONS; i++)
      assert_int_equal(run_raw(operations[i], &arguments), MAP_OK);
  }
}

/* What has data to be copied must be there when it is mapped first, whichever way it goes; what has none need
 * not be. */
static void hosts_have_no_such_memory(void **state) {
  (void)state;
  char *end = brink();
  static const struct {
    int64_t before, size; /* the end of what there is */
  } ranges[] = {{0, 8}, {8, 16}, {PAGE, PAGE + 1}, {-PAGE, 40 * PAGE}};
  void *name = (char *)";lost;dir/f.c;3;5;;";
  for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
    for (uint64_t way = MAP_TO; way <= (MAP_TO | MAP_FROM); way++)
      for (uint64_t implicit = 0; implicit <= MAP_IMPLICIT; implicit += MAP_IMPLICIT) {
        void *begin = end - ranges[i].before;
        int64_t type = (int64_t)(way | implicit | MAP_TARGET_PARAM);
        map_arguments_t arguments = {1, &begin, &begin, &ranges[i].size, &type, &name, NULL};
        expect_failure(map_begin, &arguments, "the host has no memory, or only some, in the ");
        assert_non_null(strstr(text, "variable lost, dir/f.c line 3: host 0x"));
        expect_failure(region, &arguments, "the host has no memory, or only some, in the ");
      }
  void *begin = end;
  int64_t size = 40, type = 0;
  map_arguments_t arguments = {1, &begin, &begin, &size, &type, NULL, NULL};
  assert_int_equal(run_raw(map_begin, &arguments), MAP_OK);
  assert_int_equal(run_raw(map_end, &arguments), MAP_OK);
}

/* What is constant need not be writable as long as it is not copied back, as a whole or at one end. */
static void hosts_may_not_touch_such_memory(void **state) {
  (void)state;
  enum { BYTES = 2 * PAGE, GUARD = 3 * PAGE };
  char *memory = test_remote(4 * PAGE);
  assert_true(memory && !test_remote_close(memory, BYTES, true) &&
              !test_remote_close(memory + GUARD, PAGE, false));
  static const struct {
    int64_t at, size;
    uint64_t type;
    const char *words;
  } rows[] = {
      {0, 8, MAP_TO, NULL},
      {BYTES - 8, 16, MAP_TO, NULL},
      {BYTES, PAGE, MAP_TO | MAP_FROM, NULL},
      {0, 8, MAP_TO | MAP_FROM, "the host may not write the 8 bytes at"},
      {0, BYTES, MAP_FROM, "the host may not write"},
      {BYTES - 8, 16, MAP_TO | MAP_FROM, "the host may not write"},
      {GUARD - 8, 16, MAP_FROM, "the host may not write"},
      {GUARD, 8, MAP_TO, "the host may not read the 8 bytes at"},
      {GUARD - 8, 16, MAP_TO, "the host may not read"},
      {GUARD, 8, 0, NULL},
  };
  void *name = (char *)";table;dir/f.c;3;5;;";
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    void *begin = memory + rows[i].at;
    int64_t size = rows[i].size, type = (int64_t)(rows[i].type | MAP_TARGET_PARAM);
    map_arguments_t arguments = {1, &begin, &begin, &size, &type, &name, NULL};
    if (!rows[i].words) {
      assert_int_equal(run_raw(map_begin, &arguments), MAP_OK);
      assert_int_equal(run_raw(map_end, &arguments), MAP_OK);
      continue;
    }
    expect_failure(map_begin, &arguments, rows[i].words);
    assert_non_null(strstr(text, "variable table, dir/f.c line 3: host 0x"));
    expect_failure(region, &arguments, rows[i].words);
  }
}

/* A page that the kernel cannot have ready, as those of devices: of the process's own, the clock's. */
static void pages_of_devices_may_be_read(void **state) {
  (void)state;
  FILE *maps = fopen("/proc/self/maps", "re");
  char line[200];
  void *page = NULL;
  while (maps && !page && fgets(line, sizeof line, maps))
    if (strstr(line, "[vvar]"))
      page = (void *)(uintptr_t)strtoull(line, NULL, 16);
  if (maps)
    fclose(maps);
  if (!page)
    skip();
  int64_t size = 8, type = MAP_TO;
  map_arguments_t arguments = {1, &page, &page, &size, &type, NULL, NULL};
  assert_true(atmi_process_memory_allows(page, 1, ATMI_PROCESS_READS));
  type = MAP_FROM;
  expect_failure(map_begin, &arguments, "the host may not write");
}

/* Among others that are there: nothing of the construct stays. */
static void one_of_several_is_not_there(void **state) {
  (void)state;
  char *end = brink();
  arrays_t arrays = {0};
  add(&arrays, p, p, sizeof p, MAP_TO | MAP_FROM | MAP_TARGET_PARAM);
  add(&arrays, end, end, 64, MAP_FROM | MAP_TARGET_PARAM);
  add(&arrays, q, q, sizeof q, MAP_TO | MAP_TARGET_PARAM);
  map_arguments_t arguments = {arrays.count, arrays.bases, arrays.begins, arrays.sizes,
                               arrays.types, NULL,         NULL};
  expect_failure(map_begin, &arguments, "the host has no memory");
  expect_failure(region, &arguments, "the host has no memory");
}

/* Names are only read for messages, and these do without them. */
static void names_cannot_be_read(void **state) {
  (void)state;
  char *end = brink();
  void *begin = NULL, *unended = memset(end - 8, 'x', 8), *const names[] = {end, (void *)8, unended};
  int64_t size = 8, type = (int64_t)MAP_TO;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    expect_failure(
        map_begin, &(map_arguments_t){1, &begin, &begin, &size, &type, (void **)&names[i], NULL},
        "a null pointer cannot be mapped with 8 bytes\na variable whose name cannot be read: host");
  }
}

static void descriptors_of_sections_are_not_there(void **state) {
  (void)state;
  char *end = brink();
  void *base = large, *begins[] = {end, end - sizeof(map_dimension_t), (void *)8};
  int64_t size = 2, type = (int64_t)(MAP_TO | MAP_NON_CONTIGUOUS);
  for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
    expect_failure(map_update, &(map_arguments_t){1, &base, &begins[i], &size, &type, NULL, NULL}, "damaged");
}

/* A section in pieces, in one entry and in two. */
static void sections_in_pieces(void **state) {
  (void)state;
  arrays_t arrays = {0}, update = {0};
  add(&arrays, large, large, 80, MAP_TO);
  add(&arrays, large + 20, large + 20, 80, MAP_TO);
  assert_int_equal(run(map_begin, &arrays), MAP_OK);
  static map_dimension_t one[] = {{1, 4, 16}, {0, 2, 4}}, both[] = {{0, 10, 16}, {1, 1, 4}};
  add(&update, large, one, 2, MAP_FROM | MAP_NON_CONTIGUOUS);
  add(&update, large, both, 2, MAP_FROM | MAP_NON_CONTIGUOUS);
  for (int i = 0; i < 40; i++)
    large[i] = i + 1;
  assert_int_equal(run(map_update, &update), MAP_OK);
  for (int i = 0; i < 40; i++) {
    bool copied = (i >= 4 && i < 20 && i % 4 < 2) || i % 4 == 1;
    assert_int_equal(large[i], copied ? 0 : i + 1);
  }
  assert_int_equal(run(map_end, &arrays), MAP_OK);
  memset(large, 0, sizeof large);
}

/* The inner dimension has no gap, but begins later. */
static void sections_that_begin_later(void **state) {
  (void)state;
  arrays_t arrays = {0}, update = {0};
  add(&arrays, large, large, 80, MAP_TO);
  assert_int_equal(run(map_begin, &arrays), MAP_OK);
  static map_dimension_t later[] = {{0, 2, 16}, {1, 4, 4}}, whole[] = {{2, 2, 16}, {0, 4, 4}};
  add(&update, large, later, 2, MAP_FROM | MAP_NON_CONTIGUOUS);
  add(&update, large, whole, 2, MAP_FROM | MAP_NON_CONTIGUOUS);
  for (int i = 0; i < 20; i++)
    large[i] = i + 1;
  assert_int_equal(run(map_update, &update), MAP_OK);
  for (int i = 0; i < 20; i++)
    assert_int_equal(large[i], (i >= 1 && i < 16) ? 0 : i + 1);
  assert_int_equal(run(map_end, &arrays), MAP_OK);
  memset(large, 0, sizeof large);
}

/* As clang 23 has them: offsets of any dimension in bytes, and a last dimension for the bytes of an element.
 */
static void sections_with_offsets_in_bytes(void **state) {
  (void)state;
  arrays_t arrays = {0};
  add(&arrays, large, large, 80, MAP_TO);
  assert_int_equal(run(map_begin, &arrays), MAP_OK);
  map_dimension_t dimensions[] = {{16, 3, 16}, {4, 2, 4}, {0, 4, 1}};
  void *base = large, *begin = dimensions;
  int64_t count = 3, type = (int64_t)(MAP_FROM | MAP_NON_CONTIGUOUS);
  const map_arguments_t update = {1, &base, &begin, &count, &type, NULL, NULL};
  for (int i = 0; i < 20; i++)
    large[i] = i + 1;
  assert_int_equal(run_with(MAP_OFFSETS_IN_BYTES, map_update, &update), MAP_OK);
  for (int i = 0; i < 20; i++) {
    bool copied = i >= 4 && i < 16 && (i % 4 == 1 || i % 4 == 2);
    assert_int_equal(large[i], copied ? 0 : i + 1);
  }
  assert_int_equal(run(map_end, &arrays), MAP_OK);
  memset(large, 0, sizeof large);
}

/* A message says which variable, where in the source, both ranges, and what is mapped there or nearest. */
static void messages_say_where(void **state) {
  (void)state;
  void *base = p, *beyond = q, *name = (char *)";wide;a.c;7;3;;", *other = (char *)";small;b.c;9;1;;";
  int64_t size = 8, wide = 32, type = (int64_t)MAP_TO, present = (int64_t)(MAP_TO | MAP_PRESENT);
  map_arguments_t small = {1, &base, &base, &size, &type, &other, NULL};
  assert_int_equal(run_raw(map_begin, &small), MAP_OK);
  assert_int_equal(run_raw(map_begin, &(map_arguments_t){1, &base, &base, &wide, &type, &name, NULL}),
                   MAP_INVALID);
  char expected[200];
  snprintf(
      expected, sizeof expected,
      "explicit extension not allowed: host address specified is 0x%016llx (32 bytes), but device allocation "
      "maps to host at 0x%016llx (8 bytes)\n",
      (unsigned long long)(uintptr_t)p, (unsigned long long)(uintptr_t)p);
  assert_memory_equal(text, expected, strlen(expected));
  assert_non_null(strstr(text, "\nvariable wide, a.c line 7: host 0x"));
  assert_non_null(strstr(text, "\nmapped there is variable small, b.c line 9: host 0x"));
  assert_int_equal(run_raw(region, &(map_arguments_t){1, &beyond, &beyond, &wide, &present, NULL, NULL}),
                   MAP_ABSENT);
  assert_non_null(
      strstr(text, "a variable whose name is not known (compile with -gline-tables-only): host 0x"));
  assert_non_null(strstr(text, "\nnearest of what is mapped is variable small, b.c line 9: host 0x"));
  assert_int_equal(run_raw(map_end, &small), MAP_OK);
  assert_int_equal(run_raw(region, &(map_arguments_t){1, &beyond, &beyond, &wide, &present, NULL, NULL}),
                   MAP_ABSENT);
  assert_non_null(strstr(text, "\nnothing is mapped"));
}

/* A range of which a part is mapped is not present: that is said too. */
static void extensions_are_not_present(void **state) {
  (void)state;
  void *base = p;
  int64_t size = 8, wide = 32, type = (int64_t)MAP_TO, present = (int64_t)(MAP_TO | MAP_PRESENT);
  map_arguments_t small = {1, &base, &base, &size, &type, NULL, NULL};
  assert_int_equal(run_raw(map_begin, &small), MAP_OK);
  operation_t *const begins[] = {map_begin, map_enter};
  for (int i = 0; i < 2; i++) {
    assert_int_equal(run_raw(begins[i], &(map_arguments_t){1, &base, &base, &wide, &present, NULL, NULL}),
                     MAP_ABSENT);
    assert_memory_equal(text, "explicit extension not allowed: host address specified is 0x", 60);
    char expected[200];
    snprintf(expected, sizeof expected,
             "(8 bytes)\ndevice mapping required by 'present' map type modifier does not exist for host "
             "address 0x%016llx (32 bytes)\n",
             (unsigned long long)(uintptr_t)p);
    assert_non_null(strstr(text, expected));
  }
  assert_int_equal(run_raw(map_end, &small), MAP_OK);
}

/* A handle of a program's own: the three words of a C++ vector, empty at first, and what is pushed. */
static void mappers_of_programs_push_to_vectors(void **state) {
  (void)state;
  typedef struct component {
    void *base, *begin;
    int64_t size, type;
    void *name;
  } component_t;
  struct {
    component_t *begin, *end, *limit;
  } vector = {0};
  for (int i = 0; i < 100; i++) {
    assert_int_equal(map_mapper_count(&vector), i);
    map_mapper_push(&vector, p, &p[i % 16], i, MAP_TO, &vector);
  }
  assert_int_equal(vector.end - vector.begin, 100);
  assert_true(vector.limit >= vector.end);
  for (int i = 0; i < 100; i++) {
    const component_t *pushed = &vector.begin[i];
    assert_ptr_equal(pushed->base, p);
    assert_ptr_equal(pushed->begin, &p[i % 16]);
    assert_int_equal(pushed->size, i);
    assert_int_equal(pushed->type, MAP_TO);
    assert_ptr_equal(pushed->name, &vector);
  }
  free(vector.begin);
}

/* ---- what messages say ---- */

typedef struct message_row {
  const char *what;
  operation_t *operation;
  void *base, *begin;
  int64_t size;
  uint64_t type;
  int calls; /* of the device that succeed; negative: all */
  map_status_t status;
  const char *words; /* the first line begins so */
  bool is_there;     /* the item itself has its memory already */
} message_row_t;

#define BOTH (MAP_TO | MAP_FROM)

/* Each way that a construct can fail in and that is about a list item. `q` is mapped, as other. */
static const message_row_t message_rows[] = {
    {"present, data", map_begin, p, p, 64, MAP_TO | MAP_PRESENT, -1, MAP_ABSENT,
     "device mapping required by 'present' map type modifier does not exist for host address 0x", false},
    {"present, region", region, p, p, 64, BOTH | MAP_PRESENT, -1, MAP_ABSENT,
     "device mapping required by 'present' map type modifier does not exist for host address 0x", false},
    {"present, end", map_end, p, p, 64, MAP_FROM | MAP_PRESENT, -1, MAP_ABSENT,
     "device mapping required by 'present' map type modifier does not exist for host address 0x", false},
    {"present, update", map_update, p, p, 64, MAP_TO | MAP_PRESENT, -1, MAP_ABSENT,
     "device mapping required by 'present' motion modifier does not exist for host address 0x", false},
    {"extension", map_begin, q, q, 128, MAP_TO, -1, MAP_INVALID,
     "explicit extension not allowed: host address specified is 0x", false},
    {"negative size", map_begin, p, p, -8, MAP_TO, -1, MAP_INVALID, "a list item of -8 bytes: the arguments",
     false},
    {"negative size, end", map_end, p, p, -8, MAP_TO, -1, MAP_INVALID, "a list item of -8 bytes: the argum",
     false},
    {"negative size, update", map_update, p, p, -8, MAP_TO, -1, MAP_INVALID, "a list item of -8 bytes: the",
     false},
    {"beyond all memory", map_begin, (void *)(UINTPTR_MAX - 7), (void *)(UINTPTR_MAX - 7), 64, MAP_TO, -1,
     MAP_INVALID, "a list item reaches beyond the end of all memory", false},
    {"null pointer", map_begin, NULL, NULL, 64, MAP_TO, -1, MAP_INVALID,
     "a null pointer cannot be mapped with 64 bytes", false},
    {"section", map_update, q, NULL, 2, MAP_TO | MAP_NON_CONTIGUOUS, -1, MAP_INVALID,
     "the descriptor of a section that is not contiguous is damaged", false},
    {"no device memory", map_begin, p, p, 64, MAP_TO, 0, MAP_DEVICE, "no device memory of 64 bytes", false},
    {"copy to", map_begin, p, p, 64, MAP_TO, 1, MAP_DEVICE, "a copy to the device has failed", true},
    {"copy back", region, p, p, 64, MAP_FROM | MAP_TARGET_PARAM, 1, MAP_DEVICE, "a copy to the host has fai",
     true},
    {"copy to, update", map_update, q, q, 64, MAP_TO, 0, MAP_DEVICE, "a copy to the device has failed",
     false},
    {"copy back, update", map_update, q, q, 64, MAP_FROM, 0, MAP_DEVICE, "a copy to the host has failed",
     false},
    {"pointer", map_begin, &pair.p, p, 64, MAP_PTR_AND_OBJ, 2, MAP_DEVICE,
     "a pointer could not be written on the device", true},
    {"private", region, p, p, 64, MAP_TO | MAP_PRIVATE | MAP_TARGET_PARAM, 0, MAP_DEVICE,
     "no device memory for private data", false},
    {"firstprivate", region, p, p, 64, MAP_TO | MAP_PRIVATE | MAP_TARGET_PARAM, 1, MAP_DEVICE,
     "a copy of firstprivate data to the device has failed", false},
    {"large firstprivate", region, large, large, sizeof large, MAP_TO | MAP_PRIVATE | MAP_TARGET_PARAM, 1,
     MAP_DEVICE, "a copy of firstprivate data to the device has failed", false},
};

static void expect_message(const message_row_t *row) {
  void *base = row->base, *begin = row->begin, *name = (char *)";item;dir/f.c;3;5;;";
  int64_t size = row->size, type = (int64_t)row->type;
  uint64_t shown = row->size > 0 && !(row->type & MAP_NON_CONTIGUOUS) ? (uint64_t)size : 0;
  char line[200];
  failures = 0;
  atomic_store(&device.calls_left, row->calls);
  map_arguments_t arguments = {1, &base, &begin, &size, &type, &name, NULL};
  assert_int_equal(run_raw(row->operation, &arguments), row->status);
  atomic_store(&device.calls_left, -1);
  if (failures != 1 || strncmp(text, row->words, strlen(row->words)))
    print_message("%s: %s\n", row->what, text);
  assert_int_equal(failures, 1);
  assert_memory_equal(text, row->words, strlen(row->words));
  snprintf(line, sizeof line, "\nvariable item, dir/f.c line 3: host 0x%016llx, %llu bytes\n",
           (unsigned long long)(uintptr_t)(row->type & (MAP_PTR_AND_OBJ | MAP_NON_CONTIGUOUS) ? base : begin),
           (unsigned long long)(row->type & MAP_PTR_AND_OBJ ? sizeof(void *) : shown));
  assert_non_null(strstr(text, line));
  bool is_there = row->is_there || row->begin == q || row->base == q;
  const char *by = !row->is_there                ? "variable other, g.c line 9: "
                   : row->type & MAP_PTR_AND_OBJ ? "a variable whose name is not known"
                                                 : "variable item, dir/f.c line 3: ";
  snprintf(line, sizeof line, "\n%s is %s", is_there ? "mapped there" : "nearest of what is mapped", by);
  assert_non_null(strstr(text, line));
  const char *last = strrchr(text, '\n');
  assert_non_null(strstr(last, " bytes, device 0x"));
}

static void all_messages_say_where(void **state) {
  (void)state;
  void *base = q, *name = (char *)";other;g.c;9;1;;";
  int64_t size = sizeof q, type = (int64_t)MAP_TO;
  map_arguments_t other = {1, &base, &base, &size, &type, &name, NULL};
  assert_int_equal(run_raw(map_begin, &other), MAP_OK);
  for (size_t i = 0; i < sizeof message_rows / sizeof *message_rows; i++)
    expect_message(&message_rows[i]);
  assert_int_equal(run_raw(map_end, &other), MAP_OK);
  assert_int_equal(atomic_load(&device.live), 0);
}

/* What the API is about has no name. */
static void api_messages_say_where(void **state) {
  (void)state;
  assert_int_equal(map_table_associate(table, p, large, sizeof p), MAP_OK);
  assert_int_equal(map_table_associate(table, p, large + 8, sizeof p), MAP_INVALID);
  assert_non_null(strstr(text, "omp_target_associate_ptr: other data is mapped there already\n"));
  assert_non_null(strstr(text, "\nmapped there is a variable whose name is not known"));
  assert_int_equal(map_table_associate(table, q, large, 0), MAP_INVALID);
  assert_non_null(strstr(text, "omp_target_associate_ptr: there is no memory of 0 bytes at 0x"));
  assert_non_null(strstr(text, "\nnearest of what is mapped is a variable"));
  assert_int_equal(map_table_disassociate(table, q), MAP_INVALID);
  assert_non_null(strstr(text, "the address is not of an associated pointer\n"));
  assert_non_null(strstr(text, "\nnearest of what is mapped is a variable"));
  assert_int_equal(map_table_disassociate(table, p), MAP_OK);
}

static void push_damage(void *handle, void *base, void *begin, int64_t size, int64_t type, void *name) {
  assert_int_equal(map_mapper_count(handle), 0);
  map_mapper_push(handle, base, begin, size, type, name);
  for (int i = 0; i < 200; i++)
    map_mapper_push(handle, base, begin, i == 199 ? -1 : 4, type | (int64_t)(UINT64_C(1) << MAP_MEMBER_SHIFT),
                    name);
  assert_int_equal(map_mapper_count(handle), 201);
}

static void mappers_push_damage(void **state) {
  (void)state;
  arrays_t arrays = {0};
  add(&arrays, p, p, sizeof p, MAP_TO);
  map_mapper_t *mapper = push_damage;
  memcpy(&arrays.mappers[0], &mapper, sizeof mapper);
  for (int i = 0; i < OPERATIONS; i++) {
    bool ignores = operations[i] == map_end || operations[i] == map_update;
    map_arguments_t arguments = {arrays.count, arrays.bases, arrays.begins, arrays.sizes,
                                 arrays.types, NULL,         arrays.mappers};
    if (!ignores)
      expect_failure(operations[i], &arguments, "damaged");
  }
}

/* All kinds of things at once. */
static void make_struct(arrays_t *arrays, uint64_t more) {
  uint64_t member = UINT64_C(1) << MAP_MEMBER_SHIFT, both = MAP_TO | MAP_FROM;
  add(arrays, &pair, &pair, sizeof pair, more & MAP_TARGET_PARAM);
  add(arrays, &pair.p, p, sizeof p, both | MAP_PTR_AND_OBJ | member);
  add(arrays, &pair.q, q, sizeof q, both | MAP_PTR_AND_OBJ | member);
  add(arrays, large, large, sizeof large, MAP_TO | more);
}

/* The device fails at each call there is, and from then on; nothing is left of the construct. */
static void devices_fail(void **state) {
  (void)state;
  for (int kind = 0; kind < 3; kind++)
    for (int call = 0, failed = 1; failed; call++) {
      arrays_t arrays = {0};
      make_struct(&arrays, kind == 2 ? MAP_TARGET_PARAM | MAP_PRIVATE : kind ? MAP_TARGET_PARAM : 0);
      failures = 0;
      atomic_store(&device.calls_left, call);
      atomic_store(&device.failed, 0);
      failed = run(kind ? region : map_begin, &arrays) != MAP_OK;
      atomic_store(&device.calls_left, -1);
      assert_int_equal(failed, atomic_load(&device.failed) != 0);
      if (!failed && !kind)
        assert_int_equal(run(map_end, &arrays), MAP_OK);
      assert_int_equal(map_table_count(table), 0);
      assert_int_equal(atomic_load(&device.live), 0);
      assert_true(call < 100);
    }
}

/* A data construct counts what is present in front before it maps the rest, which may fail. */
static void what_was_counted_in_front_is_given_back(void **state) {
  (void)state;
  void *bases[] = {p, q};
  int64_t sizes[] = {sizeof p, sizeof q}, types[] = {(int64_t)MAP_TO, (int64_t)MAP_TO};
  map_arguments_t first = {1, bases, bases, sizes, types, NULL, NULL}, both = first;
  both.count = 2;
  for (int call = 0; call < 3; call++) { /* allocate, copy, mark */
    assert_int_equal(run_raw(map_begin, &first), MAP_OK);
    atomic_store(&device.calls_left, call);
    assert_int_not_equal(run_raw(map_begin, &both), MAP_OK);
    atomic_store(&device.calls_left, -1);
    assert_int_equal(map_table_count(table), 1);
    assert_int_equal(run_raw(map_end, &first), MAP_OK);
    assert_int_equal(map_table_count(table), 0);
    assert_int_equal(atomic_load(&device.live), 0);
  }
}

static void count_waits(void *context, char what, const void *host, const void *there, uint64_t bytes) {
  (void)host, (void)there, (void)bytes;
  *(int *)context += what == 'W';
}

/* A region that copies nothing back may end before its copy to the device has; the next one waits for that.
 */
static void who_comes_next_waits_for_the_copy(void **state) {
  (void)state;
  void *base = p;
  int64_t size = sizeof p, type = (int64_t)(MAP_TO | MAP_TARGET_PARAM);
  map_arguments_t arguments = {1, &base, &base, &size, &type, NULL, NULL};
  map_work_t work[2];
  int waits = 0;
  device.trace = count_waits;
  device.context = &waits;
  for (int i = 0; i < 2; i++) {
    map_work_begin(&work[i], table, fake_stream(&device, (uint32_t)i), 0);
    assert_int_equal(map_enter(&work[i], &arguments), MAP_OK);
    assert_int_equal(map_leave(&work[i]), MAP_OK);
    assert_int_equal(waits, i);
  }
  device.trace = NULL;
  for (int i = 0; i < 2; i++) {
    do
      fake_synchronize(fake_stream(&device, (uint32_t)i));
    while (map_work_end(&work[i]) == MAP_AGAIN);
  }
  assert_int_equal(map_table_count(table), 0);
}

/* A region goes on with what is deleted meanwhile, and finds its own count gone at its end. */
static void deleting_leaves_regions_their_memory(void **state) {
  (void)state;
  void *base = p;
  int64_t size = sizeof p, to = (int64_t)(MAP_TO | MAP_TARGET_PARAM), delete = (int64_t)MAP_DELETE;
  map_arguments_t arguments = {1, &base, &base, &size, &to, NULL, NULL};
  for (int counts = 0; counts < 3; counts++) { /* others' */
    map_work_t region_work;
    for (int i = 0; i < counts; i++)
      assert_int_equal(run_raw(map_begin, &arguments), MAP_OK);
    map_work_begin(&region_work, table, fake_stream(&device, 1), 0);
    assert_int_equal(map_enter(&region_work, &arguments), MAP_OK);
    map_arguments_t end = arguments;
    end.types = &delete;
    assert_int_equal(run_raw(map_end, &end), MAP_OK);
    assert_int_equal(atomic_load(&device.live), 1);
    assert_int_equal(map_leave(&region_work), MAP_OK);
    do
      fake_synchronize(fake_stream(&device, 1));
    while (map_work_end(&region_work) == MAP_AGAIN);
    assert_int_equal(map_table_count(table), 0);
    assert_int_equal(atomic_load(&device.live), 0);
  }
}

/* What could not be mapped is not found by others, who map it themselves before the failure has been cleaned
 * up. */
static void others_do_not_find_what_failed(void **state) {
  (void)state;
  void *base = p, *where = NULL;
  int64_t size = sizeof p, type = (int64_t)MAP_TO;
  map_arguments_t arguments = {1, &base, &base, &size, &type, NULL, NULL};
  map_work_t failed;
  for (int call = 0; call < 3; call++) { /* allocate, copy, mark */
    map_work_begin(&failed, table, fake_stream(&device, 0), 0);
    atomic_store(&device.calls_left, call);
    assert_int_not_equal(map_begin(&failed, &arguments), MAP_OK);
    atomic_store(&device.calls_left, -1);
    assert_false(map_table_find(table, p, sizeof p, &where));
    assert_int_equal(run_raw(map_begin, &arguments), MAP_OK);
    assert_true(map_table_find(table, p, sizeof p, &where));
    fake_synchronize(fake_stream(&device, 0));
    assert_int_equal(map_work_end(&failed), MAP_OK);
    assert_int_equal(map_table_count(table), 1);
    assert_int_equal(atomic_load(&device.live), 1);
    assert_int_equal(run_raw(map_end, &arguments), MAP_OK);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(arrays_are_missing),
                                     cmocka_unit_test(ranges_cannot_be),
                                     cmocka_unit_test(sections_are_damaged),
                                     cmocka_unit_test(arrays_are_shorter_than_their_count),
                                     cmocka_unit_test(hosts_have_no_such_memory),
                                     cmocka_unit_test(hosts_may_not_touch_such_memory),
                                     cmocka_unit_test(pages_of_devices_may_be_read),
                                     cmocka_unit_test(one_of_several_is_not_there),
                                     cmocka_unit_test(names_cannot_be_read),
                                     cmocka_unit_test(descriptors_of_sections_are_not_there),
                                     cmocka_unit_test(sections_in_pieces),
                                     cmocka_unit_test(sections_that_begin_later),
                                     cmocka_unit_test(sections_with_offsets_in_bytes),
                                     cmocka_unit_test(messages_say_where),
                                     cmocka_unit_test(extensions_are_not_present),
                                     cmocka_unit_test(mappers_of_programs_push_to_vectors),
                                     cmocka_unit_test(all_messages_say_where),
                                     cmocka_unit_test(api_messages_say_where),
                                     cmocka_unit_test(mappers_push_damage),
                                     cmocka_unit_test(devices_fail),
                                     cmocka_unit_test(what_was_counted_in_front_is_given_back),
                                     cmocka_unit_test(who_comes_next_waits_for_the_copy),
                                     cmocka_unit_test(deleting_leaves_regions_their_memory),
                                     cmocka_unit_test(others_do_not_find_what_failed)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
