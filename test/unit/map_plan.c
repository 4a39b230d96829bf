/* Plans of regions whose data goes with them, and everything that has to break one: other lists of arguments,
 * other pointers, other constructs before, in between and after, and failures. */
#include "map_device.h"

#include "entry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

enum { WORDS = 8, REGIONS = 40, PLANS = 32 };

#define BOTH (MAP_TO | MAP_FROM | MAP_TARGET_PARAM)

/* Calls of the device since the last look. */
typedef struct calls {
  int allocations, releases, staged, gathered;
} calls_t;

static fake_device_t device;
static map_table_t *table;
static calls_t calls;
static uint64_t data[REGIONS][2][WORDS];

typedef struct pair {
  uint64_t *first, *second;
} pair_t;

static pair_t pair;

static void count_call(void *context, char what, const void *host, const void *memory, uint64_t bytes) {
  (void)context, (void)host, (void)memory, (void)bytes;
  calls.allocations += what == 'A';
  calls.releases += what == 'R';
  calls.staged += what == 'S';
  calls.gathered += what == 'G';
}

static calls_t take_calls(void) {
  calls_t taken = calls;
  memset(&calls, 0, sizeof calls);
  return taken;
}

static void hear_failure(void *context, map_status_t status, const char *message) {
  (void)context, (void)status, (void)message;
}

static int setup(void **state) {
  (void)state;
  device = (fake_device_t){.calls_left = -1, .trace = count_call};
  map_configuration_t configuration = {
      .functions = &fake_packing_functions, .device = &device, .listener = {.fail = hear_failure}};
  memset(data, 0, sizeof data);
  table = map_table_new(&configuration);
  (void)take_calls();
  return !table;
}

static int teardown(void **state) {
  (void)state;
  assert_int_equal(map_table_count(table), 0);
  map_table_free(table);
  assert_int_equal(device.live, 0);
  fake_fini(&device);
  return 0;
}

static void add_array(fake_list_t *list, uint64_t *array, uint64_t type) {
  fake_add(list, array, array, WORDS * sizeof *array, type);
}

static fake_list_t region_list(int region) {
  fake_list_t list = {0};
  add_array(&list, data[region][0], BOTH);
  add_array(&list, data[region][1], BOTH);
  fake_add(&list, (void *)(uintptr_t)region, NULL, 8, MAP_LITERAL | MAP_TARGET_PARAM);
  return list;
}

/* A kernel that adds to the first words of two arrays what it is given third. */
static void kernel(void *argument) {
  void *const *words = argument;
  for (int i = 0; i < 2; i++)
    *(uint64_t *)words[i] += (uintptr_t)words[2];
}

/* Whether regions run by their plans with entries that others only see when they ask. */
static bool unseen;

static map_status_t enter(map_work_t *work, fake_list_t *list, uint32_t stream) {
  map_work_begin(work, table, fake_stream(&device, stream), 0);
  return (unseen ? fake_enter : map_enter)(work, fake_arguments(list));
}

static map_status_t leave(map_work_t *work, void (*code)(void *)) {
  fake_launch(work->stream, code, work->words);
  map_status_t status = map_leave(work), end = fake_finish(work);
  return status ? status : end;
}

static map_status_t run(fake_list_t *list) {
  map_work_t work;
  map_status_t status = enter(&work, list, 0);
  if (!status)
    return leave(&work, kernel);
  map_status_t end = fake_finish(&work);
  return status ? status : end;
}

typedef map_status_t construct_t(map_work_t *work, const map_arguments_t *arguments);

static map_status_t run_data(construct_t *construct, void *begin, int64_t size, uint64_t type) {
  fake_list_t list = {0};
  map_work_t work;
  fake_add(&list, begin, begin, size, type);
  map_work_begin(&work, table, fake_stream(&device, 1), 0);
  map_status_t status = construct(&work, fake_arguments(&list)), end = fake_finish(&work);
  return status ? status : end;
}

/* The same in the middle of a region. Who asks for the entries of one that is not seen waits for it, and so
 * must be another thread. */
typedef struct meanwhile {
  construct_t *construct;
  void *begin;
  uint64_t type;
  map_status_t status;
  atomic_bool is_over;
  pthread_t thread;
} meanwhile_t;

static void *run_meanwhile(void *argument) {
  meanwhile_t *other = argument;
  other->status = run_data(other->construct, other->begin, WORDS * 8, other->type);
  atomic_store(&other->is_over, true);
  return NULL;
}

static void begin_meanwhile(meanwhile_t *other, construct_t *construct, void *begin, uint64_t type) {
  *other = (meanwhile_t){construct, begin, type, MAP_OK, false, pthread_self()};
  if (!unseen) {
    (void)run_meanwhile(other);
    return;
  }
  assert_int_equal(pthread_create(&other->thread, NULL, run_meanwhile, other), 0);
  while (!atomic_load(&table->waiting) && !atomic_load(&other->is_over))
    sched_yield();
}

static void end_meanwhile(meanwhile_t *other) {
  if (unseen)
    assert_int_equal(pthread_join(other->thread, NULL), 0);
  assert_int_equal(other->status, MAP_OK);
}

static void expect_calls(int allocations, int releases, int staged, int gathered) {
  calls_t taken = take_calls();
  assert_int_equal(taken.allocations, allocations);
  assert_int_equal(taken.releases, releases);
  assert_int_equal(taken.staged, staged);
  assert_int_equal(taken.gathered, gathered);
}

/* Runs a region whose literal is `amount`, and looks at what the host has. */
static void run_with(int region, uintptr_t amount) {
  fake_list_t list = region_list(region);
  uint64_t first = data[region][0][0], second = data[region][1][0];
  list.bases[2] = (void *)amount;
  assert_int_equal(run(&list), MAP_OK);
  assert_int_equal(data[region][0][0], first + amount);
  assert_int_equal(data[region][1][0], second + amount);
}

static void make_plan(int region) {
  run_with(region, 1);
  run_with(region, 0); /* it is of use */
  (void)take_calls();
}

/* ---- what they are for ---- */

static void region_is_run_by_its_plan(void **state) {
  (void)state;
  run_with(0, 1);
  expect_calls(1, 0, 1, 1);
  for (uintptr_t i = 0; i < 5; i++) {
    data[0][0][0] += 100; /* the host's new values go to the device */
    run_with(0, i);
    expect_calls(0, 0, 1, 1);
  }
  assert_int_equal(data[0][0][0], 511);
}

static void plan_keeps_its_memory_to_the_end(void **state) {
  (void)state;
  make_plan(0);
  assert_int_equal(device.live, 1);
  assert_int_equal(map_table_count(table), 0);
}

static void many_plans_make_room(void **state) {
  (void)state;
  for (int i = 0; i < REGIONS; i++)
    run_with(i, 1);
  assert_in_range(device.live, PLANS - 2, PLANS);
  /* Of the last ones no plans may have been made, as those that had to go were of no use. */
  for (int i = 0, runs = 0; i < 2; runs++) {
    assert_in_range(runs, 0, 1000);
    run_with(REGIONS - 1, 1);
    i += !take_calls().allocations;
  }
  assert_in_range(device.live, PLANS - 2, PLANS);
}

/* ---- other arguments ---- */

static void sizes_and_types_matter(void **state) {
  (void)state;
  fake_list_t list = region_list(0);
  make_plan(0);
  list.sizes[0] -= 8;
  assert_int_equal(run(&list), MAP_OK);
  expect_calls(1, 1, 1, 1);
  list.types[1] = MAP_TO | MAP_TARGET_PARAM;
  uint64_t before = data[0][1][0];
  assert_int_equal(run(&list), MAP_OK);
  assert_int_equal(data[0][1][0], before); /* does not come back */
}

static void fewer_arguments_matter(void **state) {
  (void)state;
  fake_list_t list = {0};
  make_plan(0);
  add_array(&list, data[0][0], BOTH);
  fake_add(&list, NULL, NULL, 8, MAP_LITERAL | MAP_TARGET_PARAM);
  fake_add(&list, NULL, NULL, 8, MAP_LITERAL | MAP_TARGET_PARAM);
  map_work_t work;
  assert_int_equal(enter(&work, &list, 0), MAP_OK);
  assert_int_equal(work.word_count, 3);
  assert_null(work.words[1]);
  assert_int_equal(map_leave(&work), MAP_OK);
  assert_int_equal(fake_finish(&work), MAP_OK);
}

/* ---- pointers ---- */

static fake_list_t pair_list(void) {
  fake_list_t list = {0};
  fake_add(&list, &pair, &pair, sizeof pair, MAP_TARGET_PARAM);
  fake_add(&list, &pair.first, pair.first, WORDS * 8, MAP_TO | MAP_FROM | MAP_PTR_AND_OBJ | MAP_MEMBER_ONE);
  fake_add(&list, &pair.second, pair.second, WORDS * 8, MAP_TO | MAP_FROM | MAP_PTR_AND_OBJ | MAP_MEMBER_ONE);
  return list;
}

static void add_by_pointers(void *argument) {
  const pair_t *mapped = *(void *const *)argument;
  mapped->first[0] += 1;
  mapped->second[0] += 2;
}

static void run_pair(void) {
  fake_list_t list = pair_list();
  map_work_t work;
  uint64_t first = pair.first[0], second = pair.second[0];
  assert_int_equal(enter(&work, &list, 0), MAP_OK);
  assert_int_equal(leave(&work, add_by_pointers), MAP_OK);
  assert_int_equal(pair.first[0], first + 1);
  assert_int_equal(pair.second[0], second + 2);
}

static void pointers_are_attached_in_the_copy(void **state) {
  (void)state;
  pair = (pair_t){data[0][0], data[0][1]};
  for (int i = 0; i < 3; i++) {
    run_pair();
    expect_calls(!i, 0, 1, 1);
  }
  pair.second = data[1][0]; /* other data: other pieces, other pointers */
  run_pair();
  expect_calls(1, 1, 1, 1);
  assert_int_equal(data[0][1][0], 6);
}

/* The program's pointer has changed, what is mapped has not: the device's is not what it was. */
static void changed_pointer_breaks_the_plan(void **state) {
  (void)state;
  pair = (pair_t){data[0][0], data[0][1]};
  fake_list_t list = pair_list();
  run_pair();
  pair.first = data[0][0] + 1;
  map_work_t work;
  assert_int_equal(enter(&work, &list, 0), MAP_OK);
  const pair_t *mapped = work.words[0];
  fake_synchronize(work.stream);
  void *there;
  assert_true(map_table_find(table, data[0][0], 8, &there));
  assert_ptr_equal(mapped->first, (uint64_t *)there + 1);
  assert_int_equal(leave(&work, add_by_pointers), MAP_OK);
  assert_ptr_equal(pair.first, data[0][0] + 1); /* the host's own has come to no harm */
  assert_int_equal(data[0][0][1], 1);
}

/* The struct comes back, too; its pointers are the host's then. */
static void pointers_come_back_as_the_hosts(void **state) {
  (void)state;
  pair = (pair_t){data[0][0], data[0][1]};
  for (int i = 0; i < 3; i++) {
    fake_list_t list = pair_list();
    list.types[0] = BOTH;
    map_work_t work;
    assert_int_equal(enter(&work, &list, 0), MAP_OK);
    assert_int_equal(leave(&work, add_by_pointers), MAP_OK);
    assert_ptr_equal(pair.first, data[0][0]);
    assert_ptr_equal(pair.second, data[0][1]);
    expect_calls(!i, 0, 1, 1);
  }
}

/* ---- mappers and names ---- */

static int64_t mapped_words;

/* `declare mapper` of a pair: the first words of what it points to. */
static void map_pair(void *handle, void *base, void *begin, int64_t size, int64_t type, void *name) {
  (void)base, (void)size, (void)type, (void)name;
  const pair_t *object = begin;
  map_mapper_push(handle, begin, begin, sizeof pair, 0, NULL);
  map_mapper_push(handle, (void *)(uintptr_t)&object->first, object->first, mapped_words * 8,
                  (int64_t)(MAP_TO | MAP_FROM | MAP_PTR_AND_OBJ | MAP_MEMBER_ONE), NULL);
}

static void run_mapped(void) {
  fake_list_t list = {0};
  fake_add(&list, &pair, &pair, sizeof pair, MAP_TARGET_PARAM | MAP_TO | MAP_FROM);
  (void)fake_arguments(&list);
  map_mapper_t *function = map_pair;
  void *mappers[1];
  memcpy(mappers, &function, sizeof function);
  list.arguments.mappers = mappers;
  map_work_t work;
  map_work_begin(&work, table, fake_stream(&device, 0), 0);
  assert_int_equal(map_enter(&work, &list.arguments), MAP_OK);
  void *there;
  assert_true(map_table_find(table, data[0][0] + mapped_words - 1, 8, &there));
  assert_int_equal(map_leave(&work), MAP_OK);
  assert_int_equal(fake_finish(&work), MAP_OK);
}

static void components_of_mappers_matter(void **state) {
  (void)state;
  pair = (pair_t){data[0][0], data[0][1]};
  mapped_words = 4;
  run_mapped();
  expect_calls(1, 0, 1, 0);
  run_mapped();
  expect_calls(0, 0, 1, 0);
  mapped_words = 6;
  run_mapped();
  expect_calls(1, 1, 1, 0);
}

/* What is passed to the kernel is not what the mapper maps, and may be mapped the next time. */
static void map_pointees(void *handle, void *base, void *begin, int64_t size, int64_t type, void *name) {
  (void)base, (void)size, (void)type, (void)name;
  const pair_t *object = begin;
  map_mapper_push(handle, object->first, object->first, WORDS * 8, (int64_t)MAP_TO, NULL);
  map_mapper_push(handle, object->second, object->second, WORDS * 8, (int64_t)MAP_TO, NULL);
}

static void *word_of_pair(void) {
  fake_list_t list = {0};
  add_array(&list, data[1][0], BOTH);
  fake_add(&list, &pair, &pair, sizeof pair, MAP_TARGET_PARAM | MAP_TO | MAP_FROM);
  (void)fake_arguments(&list);
  map_mapper_t *function = map_pointees;
  void *mappers[2] = {NULL};
  memcpy(&mappers[1], &function, sizeof function);
  list.arguments.mappers = mappers;
  map_work_t work;
  map_work_begin(&work, table, fake_stream(&device, 0), 0);
  assert_int_equal(map_enter(&work, &list.arguments), MAP_OK);
  void *word = work.words[1];
  assert_int_equal(map_leave(&work), MAP_OK);
  assert_int_equal(fake_finish(&work), MAP_OK);
  return word;
}

static void parameters_of_mappers_matter(void **state) {
  (void)state;
  void *there;
  pair = (pair_t){data[0][0], data[0][1]};
  for (int i = 0; i < 2; i++)
    assert_null(word_of_pair());
  assert_int_equal(run_data(map_begin, &pair, sizeof pair, MAP_TO), MAP_OK);
  assert_true(map_table_find(table, &pair, sizeof pair, &there));
  assert_ptr_equal(word_of_pair(), there);
  assert_int_equal(run_data(map_end, &pair, sizeof pair, 0), MAP_OK);
}

static void expect_name(void *context, const map_entry_view_t *entry) {
  assert_string_equal(entry->name, context);
}

static void names_are_those_of_the_construct(void **state) {
  (void)state;
  static char names[][8] = {"one", "one", "other"};
  make_plan(0);
  for (int i = 0; i < 3; i++) {
    fake_list_t list = region_list(0);
    (void)fake_arguments(&list);
    static void *lists[2][3];
    lists[i / 2][0] = lists[i / 2][1] = lists[i / 2][2] = names[i];
    list.arguments.names = lists[i / 2];
    map_work_t work;
    map_work_begin(&work, table, fake_stream(&device, 0), 0);
    assert_int_equal(map_enter(&work, &list.arguments), MAP_OK);
    assert_true(map_table_visit(table, expect_name, names[i]));
    assert_int_equal(map_leave(&work), MAP_OK);
    assert_int_equal(fake_finish(&work), MAP_OK);
  }
}

/* ---- what is not there ---- */

static uint64_t nowhere[4 * WORDS];

/* Runs a region with a plan that gets a zero-length section, too; and returns what its kernel gets. */
static void *word_of_section(void) {
  fake_list_t list = {0};
  map_work_t work;
  add_array(&list, data[0][0], BOTH);
  add_array(&list, data[0][1], BOTH);
  fake_add(&list, nowhere, nowhere, 0, MAP_TARGET_PARAM);
  assert_int_equal(enter(&work, &list, 0), MAP_OK);
  void *word = work.words[2];
  assert_int_equal(map_leave(&work), MAP_OK);
  assert_int_equal(fake_finish(&work), MAP_OK);
  return word;
}

/* Every other time in the general way. */
static void run_section(construct_t *construct, uint64_t *base, uint64_t *begin) {
  static int times;
  void *mappers[1] = {NULL};
  fake_list_t list = {0};
  map_work_t work;
  fake_add(&list, base, begin, 8, MAP_TO);
  map_work_begin(&work, table, fake_stream(&device, 1), 0);
  (void)fake_arguments(&list);
  if (times++ / 2 % 2)
    list.arguments.mappers = mappers;
  assert_int_equal(construct(&work, &list.arguments), MAP_OK);
  assert_int_equal(fake_finish(&work), MAP_OK);
}

/* Maps a section of the array, whose base is given, and expects the zero-length one in front to be found. */
static void expect_found(uint64_t *base, uint64_t *begin) {
  void *there;
  run_section(map_begin, base, begin);
  assert_true(map_table_find(table, begin, 8, &there));
  assert_ptr_equal(word_of_section(), (uint64_t *)there - (begin - nowhere));
  run_section(map_end, base, begin);
  for (int i = 0; i < 3; i++)
    assert_null(word_of_section());
}

static void what_was_absent_may_be_mapped(void **state) {
  (void)state;
  for (int i = 0; i < 3; i++)
    assert_null(word_of_section());
  run_section(map_begin, nowhere + 4, nowhere + 4);
  for (int i = 0; i < 2; i++)
    assert_null(word_of_section()); /* that is another array */
  run_section(map_end, nowhere + 4, nowhere + 4);
  for (int i = 0; i < 4; i++) {
    expect_found(nowhere, nowhere);     /* new, and dormant */
    expect_found(nowhere, nowhere + 4); /* dormant with another base, and with this */
    run_section(map_begin, nowhere + 4, nowhere + 4);
    run_section(map_end, nowhere + 4, nowhere + 4);
    for (int j = 0; j < 2; j++)
      assert_null(word_of_section());
  }
  expect_found(nowhere, nowhere + 8);
  /* Another array in front of the section hides it, as long as it is there. */
  run_section(map_begin, nowhere + 4, nowhere + 4);
  run_section(map_begin, nowhere, nowhere + 8);
  for (int i = 0; i < 3; i++)
    assert_null(word_of_section());
  run_section(map_end, nowhere + 4, nowhere + 4);
  assert_non_null(word_of_section());
  run_section(map_end, nowhere, nowhere + 8);
}

/* Another thread's region in the middle of one. */
typedef struct answer {
  void *(*question)(void);
  void *word;
  atomic_bool is_there;
} answer_t;

static void *ask(void *argument) {
  answer_t *answer = argument;
  answer->word = answer->question();
  atomic_store(&answer->is_there, true);
  return NULL;
}

static bool has_waited; /* for the region */

static void *ask_while_running(fake_list_t *list, void *(*question)(void)) {
  map_work_t work;
  answer_t answer = {.question = question};
  pthread_t thread;
  assert_int_equal(enter(&work, list, 1), MAP_OK);
  assert_int_equal(pthread_create(&thread, NULL, ask, &answer), 0);
  while (!atomic_load(&table->waiting) && !atomic_load(&answer.is_there))
    sched_yield();
  has_waited = !atomic_load(&answer.is_there);
  assert_int_equal(map_leave(&work), MAP_OK);
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_int_equal(fake_finish(&work), MAP_OK);
  return answer.word;
}

/* A pointer that is to be attached if somebody has mapped it. */
static uint64_t *pointer;

static void *pointer_on_device(void) {
  void *there = NULL;
  uint64_t *value;
  if (!map_table_find(table, &pointer, sizeof pointer, &there))
    return NULL;
  memcpy(&value, there, sizeof value);
  return value;
}

/* Returns what the pointer is on the device then. */
static void *run_attaching(void) {
  fake_list_t list = {0};
  map_work_t work;
  pointer = data[0][0];
  add_array(&list, data[0][0], BOTH);
  add_array(&list, data[0][1], BOTH);
  fake_add(&list, &pointer, data[0][0], sizeof pointer, MAP_ATTACH);
  assert_int_equal(enter(&work, &list, 0), MAP_OK);
  fake_synchronize(work.stream);
  void *there = map_table_count(table) > 2 ? pointer_on_device() : NULL; /* to ask makes others forget it */
  assert_true(!there || there == work.words[0]);
  assert_int_equal(map_leave(&work), MAP_OK);
  assert_int_equal(fake_finish(&work), MAP_OK);
  return there;
}

static void map_pointer(construct_t *construct) {
  assert_int_equal(run_data(construct, &pointer, sizeof pointer, MAP_TO), MAP_OK);
}

static void absent_pointer_may_be_mapped(void **state) {
  (void)state;
  for (int dormant = 0; dormant < 2; dormant++) {
    for (int i = 0; i < 3; i++)
      assert_null(run_attaching());
    if (dormant)
      map_pointer(map_begin), map_pointer(map_end);
    assert_null(run_attaching());
    map_pointer(map_begin);
    assert_non_null(run_attaching());
    map_pointer(map_end);
  }
  for (int i = 0; i < 3; i++)
    assert_null(run_attaching());
  fake_list_t list = {0};
  fake_add(&list, &pointer, &pointer, sizeof pointer, BOTH);
  fake_add(&list, data[1][0], data[1][0], 8, BOTH);
  for (int i = 0; i < 3; i++) {
    map_work_t work;
    assert_int_equal(enter(&work, &list, 1), MAP_OK);
    assert_int_equal(map_leave(&work), MAP_OK);
    assert_int_equal(fake_finish(&work), MAP_OK);
  }
  (void)ask_while_running(&list, run_attaching);
  assert_true(has_waited || !unseen); /* until it is known whether it is there */
}

/* A struct with a pointer to a section of length 0. */
static struct { uint64_t *pointer, *same; } holder;

/* What the pointer is on the device when a region has mapped the struct; it comes back as it was. */
static uint64_t *run_holder(void) {
  const uint64_t member = MAP_TO | MAP_FROM | (uint64_t)1 << MAP_MEMBER_SHIFT;
  fake_list_t list = {0};
  map_work_t work;
  holder.pointer = holder.same = nowhere;
  fake_add(&list, &holder, &holder, sizeof holder, MAP_TARGET_PARAM);
  fake_add(&list, &holder, &holder, sizeof holder, member);
  fake_add(&list, &holder.pointer, nowhere, 0, MAP_PTR_AND_OBJ | member);
  add_array(&list, data[0][0], BOTH);
  assert_int_equal(enter(&work, &list, 0), MAP_OK);
  fake_synchronize(work.stream);
  uint64_t *there[2];
  memcpy(there, work.words[0], sizeof there);
  assert_ptr_equal(there[1], nowhere);
  assert_int_equal(map_leave(&work), MAP_OK);
  assert_int_equal(fake_finish(&work), MAP_OK);
  assert_ptr_equal(holder.pointer, nowhere);
  return there[0];
}

static void pointers_to_nothing_are_null(void **state) {
  (void)state;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 4; j++)
      assert_null(run_holder());
    assert_int_not_equal(table->plan_count, 0);
    run_section(map_begin, nowhere, nowhere);
    for (int j = 0; j < 3; j++)
      assert_non_null(run_holder());
    run_section(map_end, nowhere, nowhere);
  }
}

/* By a region that runs by a plan, too: its entries are no news to the table's index. */
static void what_was_absent_may_run(void **state) {
  (void)state;
  for (int shift = 0; shift < 8; shift += 4) {
    fake_list_t list = {0};
    map_work_t work;
    fake_add(&list, nowhere, nowhere + shift, 8, BOTH);
    fake_add(&list, data[1][0], data[1][0], 8, BOTH);
    for (int i = 0; i < 2; i++) {
      assert_int_equal(enter(&work, &list, 1), MAP_OK);
      assert_int_equal(map_leave(&work), MAP_OK);
      assert_int_equal(fake_finish(&work), MAP_OK);
    }
    for (int i = 0; i < 3; i++)
      assert_null(word_of_section());
    assert_non_null(ask_while_running(&list, word_of_section));
  }
}

/* ---- other constructs ---- */

static void other_maps_break_the_plan(void **state) {
  (void)state;
  make_plan(0);
  assert_int_equal(run_data(map_begin, data[0][0], WORDS * 8, MAP_TO), MAP_OK); /* the same range */
  expect_calls(1, 1, 0, 0);
  run_with(0, 0); /* what is mapped by somebody else does not come back, and has not changed */
  assert_int_equal(run_data(map_end, data[0][0], WORDS * 8, MAP_FROM), MAP_OK);
  make_plan(0);
  assert_int_equal(run_data(map_begin, data[0][1] + 2, 8, MAP_TO), MAP_OK); /* a part */
  assert_int_equal(take_calls().releases, 1);
  fake_list_t list = region_list(0);
  assert_int_equal(run(&list), MAP_INVALID); /* reaches beyond that */
  assert_int_equal(run_data(map_end, data[0][1] + 2, 8, MAP_FROM), MAP_OK);
  run_with(0, 3);
}

/* Others count an entry between the region's beginning and its end. */
static void what_others_count_stays(void **state) {
  (void)state;
  fake_list_t list = region_list(0);
  map_work_t work;
  meanwhile_t other;
  make_plan(0);
  assert_int_equal(enter(&work, &list, 0), MAP_OK);
  begin_meanwhile(&other, map_begin, data[0][1], MAP_TO);
  work.words[2] = (void *)5;
  assert_int_equal(leave(&work, kernel), MAP_OK);
  end_meanwhile(&other);
  assert_int_equal(data[0][0][0], 6); /* comes back: 1, and 5 */
  assert_int_equal(data[0][1][0], 1); /* does not yet */
  assert_int_equal(map_table_count(table), 1);
  assert_int_equal(run_data(map_end, data[0][1], WORDS * 8, MAP_FROM), MAP_OK);
  assert_int_equal(data[0][1][0], 6);
  assert_int_equal(device.live, 0);
}

/* The same behind the copies back, before the region has ended. */
static void what_others_count_late_stays(void **state) {
  (void)state;
  fake_list_t list = region_list(0);
  map_work_t work;
  meanwhile_t other;
  make_plan(0);
  assert_int_equal(enter(&work, &list, 0), MAP_OK);
  work.words[2] = (void *)5;
  fake_launch(work.stream, kernel, work.words);
  assert_int_equal(map_leave(&work), MAP_OK);
  begin_meanwhile(&other, map_begin, data[0][0], MAP_TO);
  assert_int_equal(fake_finish(&work), MAP_OK);
  end_meanwhile(&other);
  assert_int_equal(data[0][0][0], 6);
  assert_int_equal(data[0][1][0], 6);
  assert_int_equal(map_table_count(table), 1);
  assert_int_equal(device.live, 1);
  assert_int_equal(run_data(map_end, data[0][0], WORDS * 8, MAP_FROM | MAP_DELETE), MAP_OK);
  assert_int_equal(device.live, 0);
}

/* So do its pointers come back as the host's. */
static void pointers_come_back_after_all(void **state) {
  (void)state;
  pair = (pair_t){data[0][0], data[0][1]};
  for (int i = 0; i < 2; i++) {
    fake_list_t list = pair_list();
    list.types[0] = BOTH;
    map_work_t work;
    meanwhile_t other;
    assert_int_equal(enter(&work, &list, 0), MAP_OK);
    fake_launch(work.stream, add_by_pointers, work.words);
    assert_int_equal(map_leave(&work), MAP_OK);
    if (i)
      begin_meanwhile(&other, map_begin, data[0][0], MAP_TO);
    assert_int_equal(fake_finish(&work), MAP_OK);
    if (i)
      end_meanwhile(&other);
    assert_ptr_equal(pair.first, data[0][0]);
    assert_ptr_equal(pair.second, data[0][1]);
  }
  assert_int_equal(run_data(map_end, data[0][0], WORDS * 8, MAP_DELETE), MAP_OK);
}

static uint64_t seen;

static void look(void *argument) {
  seen = **(uint64_t *const *)argument;
}

/* The copy to the device may still be under way when the region is left and nothing comes back. */
static void others_wait_for_the_copy_to_the_device(void **state) {
  (void)state;
  fake_list_t list = region_list(0), joining = {0};
  map_work_t work, other;
  list.types[0] = list.types[1] = MAP_TO | MAP_TARGET_PARAM;
  for (int i = 0; i < 2; i++) {
    assert_int_equal(enter(&work, &list, 0), MAP_OK);
    assert_int_equal(leave(&work, kernel), MAP_OK);
  }
  data[0][0][0] = 77;
  assert_int_equal(enter(&work, &list, 0), MAP_OK);
  assert_int_equal(map_leave(&work), MAP_OK);
  add_array(&joining, data[0][0], MAP_TO | MAP_TARGET_PARAM);
  assert_int_equal(enter(&other, &joining, 1), MAP_OK);
  assert_int_equal(leave(&other, look), MAP_OK);
  assert_int_equal(seen, 77);
  assert_int_equal(fake_finish(&work), MAP_OK);
}

/* Who deletes takes others' counts, not their pins. A thread that waited for the region may find its counts
 * taken already: then there is nothing to delete, all comes back, and the plan may sleep on. */
static void what_others_delete_is_not_missed(void **state) {
  (void)state;
  fake_list_t list = region_list(0);
  map_work_t work;
  meanwhile_t other;
  make_plan(0);
  assert_int_equal(enter(&work, &list, 0), MAP_OK);
  begin_meanwhile(&other, map_end, data[0][0], MAP_DELETE);
  work.words[2] = (void *)5;
  assert_int_equal(leave(&work, kernel), MAP_OK);
  end_meanwhile(&other);
  bool came_back = data[0][0][0] == 6;
  assert_true(came_back ? unseen : data[0][0][0] == 1);
  assert_int_equal(data[0][1][0], 6);
  assert_int_equal(map_table_count(table), 0);
  assert_in_range(device.live, 0, came_back);
  run_with(0, 1);
}

/* A listener wants to be told of each thing. */
static void note(void *context, const map_note_t *told) {
  (void)told;
  ++*(int *)context;
}

static void listener_is_told_all(void **state) {
  (void)state;
  int notes = 0;
  map_configuration_t configuration = {.functions = &fake_packing_functions,
                                       .device = &device,
                                       .listener = {.fail = hear_failure, .context = &notes}};
  map_table_free(table);
  table = map_table_new(&configuration);
  make_plan(0);
  map_table_listen(table, note);
  run_with(0, 1);
  assert_true(notes >= 8); /* two each are made, copied, copied back, gone */
  map_table_listen(table, NULL);
  int before = notes;
  run_with(0, 1);
  run_with(0, 1);
  assert_int_equal(notes, before);
}

static void unified_memory_has_no_use_for_plans(void **state) {
  (void)state;
  fake_list_t list = region_list(0);
  map_work_t work;
  make_plan(0);
  map_table_set_unified(table, true);
  assert_int_equal(enter(&work, &list, 0), MAP_OK);
  assert_ptr_equal(work.words[0], data[0][0]);
  assert_int_equal(leave(&work, kernel), MAP_OK);
}

static void what_does_not_pack_has_no_use_for_plans(void **state) {
  (void)state;
  make_plan(0);
  map_table_set_functions(table, &fake_functions);
  run_with(0, 1);
  expect_calls(2, 3, 0, 0);
}

/* ---- packs ---- */

enum { ARRAYS = 200, ARRAY_WORDS = 64 };

static uint64_t arrays[ARRAYS][ARRAY_WORDS];

static map_status_t run_arrays(construct_t *construct, int first, int count, uint64_t type, int64_t bytes) {
  static void *begins[ARRAYS];
  static int64_t sizes[ARRAYS], types[ARRAYS];
  for (int i = 0; i < count; i++) {
    begins[i] = arrays[first + i];
    sizes[i] = bytes;
    types[i] = (int64_t)type;
  }
  map_arguments_t arguments = {(uint32_t)count, begins, begins, sizes, types, NULL, NULL};
  map_work_t work;
  map_work_begin(&work, table, fake_stream(&device, 0), 0);
  map_status_t status = construct(&work, &arguments), end = fake_finish(&work);
  return status ? status : end;
}

static void fill_arrays(void) {
  for (int i = 0; i < ARRAYS; i++)
    for (int j = 0; j < ARRAY_WORDS; j++)
      arrays[i][j] = (uint64_t)(i * 1000 + j);
}

static void expect_arrays(int count, int words) {
  for (int i = 0; i < count; i++)
    for (int j = 0; j < words; j++)
      assert_int_equal(arrays[i][j], i * 1000 + j);
}

/* More than one pack holds. */
static void many_need_several_packs(void **state) {
  (void)state;
  fill_arrays();
  assert_int_equal(run_arrays(map_begin, 0, ARRAYS, MAP_TO, sizeof arrays[0]), MAP_OK);
  expect_calls(3, 0, 3, 0);
  memset(arrays, 0, sizeof arrays);
  assert_int_equal(run_arrays(map_end, 0, ARRAYS, MAP_FROM, sizeof arrays[0]), MAP_OK);
  expect_arrays(ARRAYS, ARRAY_WORDS);
  expect_calls(0, 3, 0, 3);
}

/* More pieces than one copy takes. */
static void many_need_several_copies_back(void **state) {
  (void)state;
  fill_arrays();
  assert_int_equal(run_arrays(map_begin, 0, ARRAYS - 10, MAP_TO, 8), MAP_OK);
  expect_calls(1, 0, 1, 0);
  memset(arrays, 0, sizeof arrays);
  assert_int_equal(run_arrays(map_end, 0, ARRAYS - 10, MAP_FROM, 8), MAP_OK);
  expect_arrays(ARRAYS - 10, 1);
  expect_calls(0, 1, 0, 2);
}

/* Two packs that lie one behind the other are copied by themselves. */
static void neighbours_are_not_one_pack(void **state) {
  (void)state;
  static char room[1 << 16];
  device.room = room;
  fill_arrays();
  assert_int_equal(run_arrays(map_begin, 0, 2, MAP_TO, sizeof arrays[0]), MAP_OK);
  assert_int_equal(run_arrays(map_begin, 2, 2, MAP_TO, sizeof arrays[0]), MAP_OK);
  memset(arrays, 0, sizeof arrays);
  (void)take_calls();
  assert_int_equal(run_arrays(map_end, 0, 4, MAP_FROM, sizeof arrays[0]), MAP_OK);
  expect_arrays(4, ARRAY_WORDS);
  expect_calls(0, 2, 0, 2);
}

/* Dormant entries make room for others in turn, those of broken plans, too, wherever they were dormant
 * before. */
static void broken_plans_are_dormant_like_others(void **state) {
  (void)state;
  for (int others = 0; others < 70; others++) {
    for (int i = 0; i < 2; i++) {
      assert_int_equal(run_data(map_begin, data[0][i], WORDS * 8, MAP_TO), MAP_OK);
      assert_int_equal(run_data(map_end, data[0][i], WORDS * 8, MAP_TO), MAP_OK);
    }
    run_with(0, 1);
    run_with(0, 1);
    for (int i = 0; i < others; i++) {
      assert_int_equal(run_data(map_begin, arrays[i], 8, MAP_TO), MAP_OK);
      assert_int_equal(run_data(map_end, arrays[i], 8, MAP_TO), MAP_OK);
    }
    assert_int_equal(run_data(map_begin, data[0][1] + 1, 8, MAP_TO), MAP_OK);
    assert_int_equal(run_data(map_end, data[0][1] + 1, 8, MAP_TO), MAP_OK);
    assert_int_equal(map_table_count(table), 0);
  }
}

/* A small struct whose pointer leads to what has memory of its own, which it gets later. */
static void pointers_to_large_data_follow(void **state) {
  (void)state;
  static uint64_t large[1 << 13];
  memset(large, 0, sizeof large);
  pair = (pair_t){data[0][0], large};
  for (uint64_t i = 1; i <= 2; i++) {
    fake_list_t list = pair_list();
    list.sizes[2] = sizeof large;
    map_work_t work;
    assert_int_equal(enter(&work, &list, 0), MAP_OK);
    assert_int_equal(leave(&work, add_by_pointers), MAP_OK);
    assert_int_equal(large[0], 2 * i);
    assert_int_equal(data[0][0][0], i);
  }
}

/* ---- failures ---- */

/* A copy back that the end of a region begins, since others have left meanwhile, fails: that is said once
 * what has begun is over. */
static void late_copy_that_fails_is_told(void **state) {
  (void)state;
  fake_list_t list = region_list(0);
  map_work_t work;
  assert_int_equal(run_data(map_begin, data[0][0], WORDS * 8, MAP_TO), MAP_OK);
  assert_int_equal(run_data(map_begin, data[0][1], WORDS * 8, MAP_TO), MAP_OK);
  assert_int_equal(enter(&work, &list, 0), MAP_OK);
  assert_int_equal(map_leave(&work), MAP_OK);
  assert_int_equal(run_data(map_end, data[0][0], WORDS * 8, MAP_TO), MAP_OK);
  assert_int_equal(run_data(map_end, data[0][1], WORDS * 8, MAP_TO), MAP_OK);
  fake_synchronize(work.stream);
  atomic_store(&device.calls_left, 1); /* one copy begins, the other does not */
  int live = atomic_load(&device.live);
  assert_int_equal(map_work_end(&work), MAP_AGAIN);
  atomic_store(&device.calls_left, -1);
  assert_int_equal(device.live, live); /* the first one reads it */
  fake_synchronize(work.stream);
  assert_int_equal(map_work_end(&work), MAP_DEVICE);
  assert_int_equal(device.live, 0);
}

/* The n-th call of the device and all that follow fail. */
static void failures_leave_nothing(void **state) {
  (void)state;
  for (int n = 0; n < 6; n++) {
    fake_list_t list = region_list(0);
    memset(data, 0, sizeof data);
    make_plan(1); /* so that plans are looked for afterwards */
    make_plan(0);
    atomic_store(&device.calls_left, n);
    map_status_t status = run(&list);
    atomic_store(&device.calls_left, -1);
    /* to the device: staging, copy, mark; back: copy, mark; and no marks of what nobody sees */
    assert_int_equal(status, n < (unseen ? 3 : 5) ? MAP_DEVICE : MAP_OK);
    assert_int_equal(map_table_count(table), 0);
    run_with(0, 2);
    run_with(0, 2);
  }
}

/* A region that was entered and not launched. */
static void region_that_is_not_left_gives_back(void **state) {
  (void)state;
  fake_list_t list = region_list(0);
  map_work_t work;
  make_plan(0);
  assert_int_equal(enter(&work, &list, 0), MAP_OK);
  assert_int_equal(map_table_count(table), 2);
  assert_int_equal(fake_finish(&work), MAP_OK);
  assert_int_equal(map_table_count(table), 0);
  run_with(0, 2);
}

/* Plans that are of no use are made less and less often: what is run once each time costs as if there were
 * none. */
static void useless_plans_become_rare(void **state) {
  (void)state;
  int slept = 0;
  for (int i = 0; i < 200; i++) {
    fake_list_t list = region_list(0);
    list.sizes[0] = 8 + 8 * (i % WORDS);
    int live = atomic_load(&device.live);
    assert_int_equal(run(&list), MAP_OK);
    slept += atomic_load(&device.live) > live;
  }
  assert_true(slept < 20);
  run_with(0, 1);
}

/* ---- regions that nobody sees ---- */

/* Each way of asking shows a region that runs. */
static bool is_found(void) {
  void *there;
  return map_table_find(table, data[1][1] + 1, 8, &there) && there;
}

static void count_one(void *context, const map_entry_view_t *entry) {
  if (entry->dynamic_count == 1 && entry->end - entry->begin == WORDS * 8)
    ++*(int *)context;
}

static bool is_visited(void) {
  int count = 0;
  return map_table_visit(table, count_one, &count) && count == 2;
}

static bool is_nearest(void) {
  map_entry_view_t entry;
  return map_table_nearest(table, data[1][1] + WORDS, &entry) && entry.begin == (uintptr_t)data[1][1];
}

/* That has an address of the device, or is next to it on either side. */
static bool is_nearest_there(void) {
  const uintptr_t bytes = WORDS * sizeof **data[1];
  map_entry_view_t entry, before, behind;
  void *there;
  if (!map_table_find(table, data[1][0], 8, &there) ||
      !map_table_nearest_on_device(table, (uintptr_t)there + 9, &entry) ||
      !map_table_nearest_on_device(table, (uintptr_t)there - 1, &before) ||
      !map_table_nearest_on_device(table, (uintptr_t)there + bytes, &behind))
    return false;
  const bool is_before =
      before.device == (uintptr_t)there || before.device + (before.end - before.begin) == (uintptr_t)there;
  const bool is_behind = behind.device == (uintptr_t)there || behind.device == (uintptr_t)there + bytes;
  return entry.begin == (uintptr_t)data[1][0] && entry.device == (uintptr_t)there && is_before && is_behind;
}

static bool is_there(void) {
  map_entry_view_t entry;
  return map_table_nearest_on_device(table, UINTPTR_MAX, &entry);
}

static bool is_first(void) {
  map_entry_view_t entry;
  return map_table_first_in(table, data[1][1] + 2, 8, &entry) && entry.begin == (uintptr_t)data[1][1];
}

static bool is_first_behind(void) {
  map_entry_view_t entry;
  return map_table_first_in(table, (char *)data[1][0] - 8, 16, &entry) &&
         entry.begin == (uintptr_t)data[1][0];
}

static void who_asks_sees_it(void **state) {
  bool (*const questions[])(void) = {is_found, is_visited,      is_nearest,      is_there,
                                     is_first, is_first_behind, is_nearest_there};
  (void)state;
  make_plan(1);
  for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
    fake_list_t list = region_list(1);
    map_work_t work;
    uint64_t before = data[1][0][0];
    list.bases[2] = (void *)5;
    assert_false(questions[i]()); /* it sleeps */
    if (map_table_count(table) || i < 2)
      make_plan(1); /* the question was for its range */
    before = data[1][0][0];
    assert_int_equal(enter(&work, &list, 0), MAP_OK);
    assert_int_equal(map_table_count(table), 2);
    assert_true(questions[i]());
    assert_int_equal(leave(&work, kernel), MAP_OK);
    assert_int_equal(data[1][0][0], before + 5);
    assert_int_equal(map_table_count(table), 0);
    (void)take_calls();
    run_with(1, 1); /* sleeps again, and runs by its plan */
    expect_calls(0, 0, 1, 1);
  }
}

/* The same calls fail when others have seen it: those of marks, and the copy back. */
static void failures_leave_nothing_when_seen(void **state) {
  (void)state;
  for (int n = 0; n < 4; n++) {
    fake_list_t list = region_list(1);
    map_work_t work;
    make_plan(1);
    assert_int_equal(enter(&work, &list, 0), MAP_OK);
    assert_true(is_visited());
    atomic_store(&device.calls_left, n);
    map_status_t status = leave(&work, kernel);
    atomic_store(&device.calls_left, -1);
    assert_int_equal(status, n < 3 ? MAP_DEVICE : MAP_OK);
    assert_int_equal(map_table_count(table), 0);
    memset(data, 0, sizeof data);
    run_with(1, 2);
  }
}

/* A second thread runs the region that runs already: it has entries that are there. */
static void *run_same(void *argument) {
  fake_list_t list = region_list(0);
  map_work_t work;
  list.bases[2] = (void *)5;
  map_status_t status = enter(&work, &list, 1);
  *(map_status_t *)argument = status ? status : leave(&work, kernel);
  return NULL;
}

static void plan_is_for_one_at_a_time(void **state) {
  (void)state;
  fake_list_t list = region_list(0);
  map_work_t work;
  pthread_t thread;
  map_status_t status;
  make_plan(1);
  make_plan(0);
  list.bases[2] = (void *)3;
  assert_int_equal(enter(&work, &list, 0), MAP_OK);
  assert_int_equal(pthread_create(&thread, NULL, run_same, &status), 0);
  while (!atomic_load(&table->waiting))
    sched_yield();
  assert_int_equal(leave(&work, kernel), MAP_OK);
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_int_equal(status, MAP_OK);
  assert_int_equal(data[0][0][0], 1 + 3 + 5);
  assert_int_equal(map_table_count(table), 0);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
  const struct CMUnitTest tests[] = {
      TEST(region_is_run_by_its_plan),
      TEST(plan_keeps_its_memory_to_the_end),
      TEST(many_plans_make_room),
      TEST(sizes_and_types_matter),
      TEST(fewer_arguments_matter),
      TEST(pointers_are_attached_in_the_copy),
      TEST(pointers_come_back_as_the_hosts),
      TEST(components_of_mappers_matter),
      TEST(parameters_of_mappers_matter),
      TEST(pointers_come_back_after_all),
      TEST(names_are_those_of_the_construct),
      TEST(others_wait_for_the_copy_to_the_device),
      TEST(changed_pointer_breaks_the_plan),
      TEST(what_was_absent_may_be_mapped),
      TEST(what_was_absent_may_run),
      TEST(pointers_to_nothing_are_null),
      TEST(absent_pointer_may_be_mapped),
      TEST(other_maps_break_the_plan),
      TEST(what_others_count_stays),
      TEST(what_others_count_late_stays),
      TEST(what_others_delete_is_not_missed),
      TEST(listener_is_told_all),
      TEST(unified_memory_has_no_use_for_plans),
      TEST(what_does_not_pack_has_no_use_for_plans),
      TEST(many_need_several_packs),
      TEST(many_need_several_copies_back),
      TEST(neighbours_are_not_one_pack),
      TEST(broken_plans_are_dormant_like_others),
      TEST(pointers_to_large_data_follow),
      TEST(late_copy_that_fails_is_told),
      TEST(failures_leave_nothing),
      TEST(region_that_is_not_left_gives_back),
      TEST(useless_plans_become_rare),
  };
  const struct CMUnitTest unseen_tests[] = {
      TEST(region_is_run_by_its_plan),
      TEST(plan_keeps_its_memory_to_the_end),
      TEST(many_plans_make_room),
      TEST(sizes_and_types_matter),
      TEST(fewer_arguments_matter),
      TEST(pointers_are_attached_in_the_copy),
      TEST(pointers_come_back_as_the_hosts),
      TEST(pointers_come_back_after_all),
      TEST(others_wait_for_the_copy_to_the_device),
      TEST(changed_pointer_breaks_the_plan),
      TEST(what_was_absent_may_be_mapped),
      TEST(what_was_absent_may_run),
      TEST(pointers_to_nothing_are_null),
      TEST(absent_pointer_may_be_mapped),
      TEST(other_maps_break_the_plan),
      TEST(what_others_count_stays),
      TEST(what_others_count_late_stays),
      TEST(what_others_delete_is_not_missed),
      TEST(many_need_several_packs),
      TEST(many_need_several_copies_back),
      TEST(neighbours_are_not_one_pack),
      TEST(broken_plans_are_dormant_like_others),
      TEST(pointers_to_large_data_follow),
      TEST(late_copy_that_fails_is_told),
      TEST(failures_leave_nothing),
      TEST(region_that_is_not_left_gives_back),
      TEST(useless_plans_become_rare),
      TEST(who_asks_sees_it),
      TEST(failures_leave_nothing_when_seen),
      TEST(plan_is_for_one_at_a_time),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  unseen = true;
  return failed + cmocka_run_group_tests(unseen_tests, NULL, NULL);
}
