/* What is mapped again and again, and what the quick ways of constructs have to leave to the general ones:
 * dormant entries, and several list items in one entry. */
#include "map_device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static fake_device_t device = {.calls_left = -1};
static map_table_t *table;
static int failures;
static _Alignas(64) char data[256];

static void note_failure(void *context, map_status_t status, const char *message) {
  (void)context, (void)status, (void)message;
  failures++;
}

static int setup(void **state) {
  (void)state;
  map_configuration_t configuration = {
      .functions = &fake_functions, .device = &device, .listener = {.fail = note_failure}};
  for (size_t i = 0; i < sizeof data; i++)
    data[i] = (char)i;
  failures = 0;
  table = map_table_new(&configuration);
  return !table;
}

static int teardown(void **state) {
  (void)state;
  assert_int_equal(map_table_count(table), 0);
  assert_int_equal(device.live, 0);
  map_table_free(table);
  fake_fini(&device);
  device = (fake_device_t){.calls_left = -1};
  return 0;
}

static fake_list_t one(char *begin, int64_t size, uint64_t type) {
  fake_list_t list = {0};
  fake_add(&list, begin, begin, size, type);
  return list;
}

typedef map_status_t step_t(map_work_t *work, const map_arguments_t *arguments);

static map_status_t run(step_t *step, fake_list_t *list) {
  map_work_t work;
  map_work_begin(&work, table, fake_stream(&device, 0), MAP_KEEP_POINTER_ARGUMENTS);
  map_status_t status = step(&work, fake_arguments(list)), end = fake_finish(&work);
  return status ? status : end;
}

static void run_one(step_t *step, char *begin, int64_t size, uint64_t type) {
  fake_list_t list = one(begin, size, type);
  assert_int_equal(run(step, &list), MAP_OK);
}

/* Leaves a dormant entry. */
static void map_and_unmap(char *begin, int64_t size) {
  run_one(map_begin, begin, size, MAP_TO);
  run_one(map_end, begin, size, MAP_TO);
  assert_int_equal(map_table_count(table), 0);
}

static char *where(const char *host) {
  void *found = NULL;
  return map_table_find(table, host, 1, &found) ? found : NULL;
}

/* ---- dormant entries ---- */

static void what_is_dormant_is_not_there(void **state) {
  (void)state;
  map_and_unmap(data, 64);
  fake_list_t present = one(data, 64, MAP_TO | MAP_PRESENT);
  assert_int_equal(run(map_begin, &present), MAP_ABSENT); /* a search would drop it: this comes first */
  assert_int_equal(failures, 1);
  map_and_unmap(data, 64);
  assert_null(where(data));
  /* Nor is it found by a pointer to what is in front of its array. */
  fake_list_t later = {0};
  fake_add(&later, data, data + 128, 64, MAP_TO);
  assert_int_equal(run(map_begin, &later), MAP_OK);
  assert_int_equal(run(map_end, &later), MAP_OK);
  fake_list_t pointer = one(data, 0, MAP_TARGET_PARAM);
  map_work_t work;
  map_work_begin(&work, table, fake_stream(&device, 0), MAP_KEEP_POINTER_ARGUMENTS);
  assert_int_equal(map_enter(&work, fake_arguments(&pointer)), MAP_OK);
  assert_ptr_equal(work.words[0], data);
  assert_int_equal(map_leave(&work), MAP_OK);
  assert_int_equal(fake_finish(&work), MAP_OK);
}

static void dormant_ranges_give_way(void **state) {
  (void)state;
  const int64_t ranges[][2] = {{0, 64}, {32, 64}, {0, 128}, {16, 8}, {0, 16}, {60, 8}, {8, 200}};
  for (int round = 0; round < 3; round++)
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
      char *begin = data + ranges[i][0];
      run_one(map_begin, begin, ranges[i][1], MAP_TO);
      assert_non_null(where(begin));
      assert_int_equal(*where(begin + ranges[i][1] - 1), begin[ranges[i][1] - 1]);
      assert_int_equal(map_table_count(table), 1);
      run_one(map_end, begin, ranges[i][1], MAP_TO);
    }
}

/* More than are kept. */
static void the_oldest_makes_room(void **state) {
  (void)state;
  static char many[400][16];
  for (int round = 0; round < 3; round++)
    for (int i = 0; i < 400; i++)
      map_and_unmap(many[i], 8 + round % 2);
}

/* A struct of which members are mapped is aligned on the device as it is on the host, also the second time.
 */
static void dormant_structs_are_padded(void **state) {
  (void)state;
  for (int round = 0; round < 2; round++) {
    fake_list_t list = {0};
    fake_add(&list, data, data + 4, 12, MAP_TARGET_PARAM);
    fake_add(&list, data, data + 4, 4, MAP_TO | MAP_FROM | UINT64_C(1) << MAP_MEMBER_SHIFT);
    assert_int_equal(run(map_begin, &list), MAP_OK);
    map_entry_view_t view;
    assert_true(map_table_nearest(table, data + 4, &view));
    assert_int_equal(view.device % 16, 4);
    assert_int_equal(run(map_end, &list), MAP_OK);
    map_and_unmap(data + 4, 12);
  }
}

static void unified_memory_wakes_nothing(void **state) {
  (void)state;
  map_and_unmap(data, 64);
  map_table_set_unified(table, true);
  run_one(map_begin, data, 64, MAP_TO);
  assert_null(where(data));
}

/* ---- several list items in one entry ---- */

static void spoil(void *device_memory) {
  char *memory = device_memory;
  for (int i = 0; i < 128; i++)
    memory[i] = (char)(100 + i % 10);
}

/* A region's two list items are the last ones only when its kernel is over: what is FROM comes home. */
static void leave_two(uint64_t second_type, int bytes_back) {
  fake_list_t region = {0};
  fake_add(&region, data, data, 64, MAP_TARGET_PARAM | MAP_FROM);
  fake_add(&region, data + 64, data + 64, 64, MAP_TARGET_PARAM | second_type);
  run_one(map_begin, data, 128, MAP_TO);
  map_work_t work;
  map_work_begin(&work, table, fake_stream(&device, 0), 0);
  assert_int_equal(map_enter(&work, fake_arguments(&region)), MAP_OK);
  fake_launch(fake_stream(&device, 0), spoil, work.words[0]);
  assert_int_equal(map_leave(&work), MAP_OK);
  run_one(map_end, data, 128, MAP_TO);
  assert_int_equal(fake_finish(&work), MAP_OK);
  for (int i = 0; i < 128; i++)
    assert_int_equal(data[i], i < bytes_back ? 100 + i % 10 : i);
}

static void late_ends_copy_all(void **state) {
  (void)state;
  leave_two(MAP_TO, 64);
  leave_two(MAP_FROM, 128);
}

/* ---- who listens ---- */

static char told[64];

/* A letter for each note of an entry's end. */
static void note_end(void *context, const map_note_t *note) {
  static const char letters[] = {[MAP_NOTE_LEFT] = 'L', [MAP_NOTE_RETRIEVE] = 'F', [MAP_NOTE_REMOVED] = 'R'};
  size_t length = strlen(told);
  (void)context;
  if ((size_t)note->kind < sizeof letters && letters[note->kind] && length + 1 < sizeof told)
    told[length] = letters[note->kind];
}

/* A region's list items are left once each, also when they turn out to be the last ones at its end. */
static void leaving_is_told_once(void **state) {
  (void)state;
  memset(told, 0, sizeof told);
  map_table_listen(table, note_end);
  leave_two(MAP_FROM, 128);
  /* The region leaves its items, then the other construct leaves; then the copies back, and the end. */
  assert_string_equal(told, "LL"
                            "L"
                            "FFR");
}

/* The same if the task does not keep the program's arrays. */
static void kept_regions_need_no_arguments(void **state) {
  (void)state;
  fake_list_t region = {0};
  fake_add(&region, data, data, 128, MAP_TARGET_PARAM | MAP_FROM);
  run_one(map_begin, data, 128, MAP_TO);
  map_work_t work;
  map_work_begin(&work, table, fake_stream(&device, 0), 0);
  assert_int_equal(map_enter(&work, fake_arguments(&region)), MAP_OK);
  fake_launch(fake_stream(&device, 0), spoil, work.words[0]);
  assert_int_equal(map_leave(&work), MAP_OK);
  map_work_keep(&work);
  region = (fake_list_t){0};
  run_one(map_end, data, 128, MAP_TO);
  assert_int_equal(fake_finish(&work), MAP_OK);
  assert_int_equal(data[127], 107);
}

/* The end of two list items in an entry that was counted twice: only the second takes the last count. */
static void ends_copy_all(void **state) {
  (void)state;
  run_one(map_begin, data, 128, MAP_TO);
  run_one(map_begin, data, 128, MAP_TO);
  spoil(where(data));
  fake_list_t list = {0};
  fake_add(&list, data, data, 64, MAP_FROM);
  fake_add(&list, data + 64, data + 64, 64, MAP_FROM);
  assert_int_equal(run(map_end, &list), MAP_OK);
  for (int i = 0; i < 128; i++)
    assert_int_equal(data[i], 100 + i % 10);
}

/* What was counted in front of a list item that fails is not counted afterwards. */
static void failures_count_nothing(void **state) {
  (void)state;
  run_one(map_begin, data, 128, MAP_TO);
  fake_list_t list = {0};
  fake_add(&list, data, data, 64, MAP_TO);
  fake_add(&list, data + 200, data + 200, 8, MAP_TO | MAP_PRESENT);
  assert_int_equal(run(map_begin, &list), MAP_ABSENT);
  assert_int_equal(run(map_enter, &list), MAP_ABSENT);
  run_one(map_end, data, 128, MAP_TO);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(what_is_dormant_is_not_there),   TEST(dormant_ranges_give_way),
      TEST(the_oldest_makes_room),          TEST(dormant_structs_are_padded),
      TEST(unified_memory_wakes_nothing),   TEST(late_ends_copy_all),
      TEST(kept_regions_need_no_arguments), TEST(ends_copy_all),
      TEST(failures_count_nothing),         TEST(leaving_is_told_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
