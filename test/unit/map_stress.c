/* Threads that map the same data without asking each other, on a device with random delays. Each kernel adds
 * 1 to what its region maps, so in the end the host must have the sum, whoever copied what in between; and
 * nothing may be left. Under ThreadSanitizer a copy that is not ordered with another thread's is a failure as
 * well. Of one array, which others map and unmap meanwhile, each thread updates a word of its own. And who
 * finds the address of what another thread is mapping may use the memory there. */
#include "map_device.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { THREADS = 4, ELEMENTS = 4, WORDS = 16, MOST = 3, LATE = 3 };

static fake_device_t device = {.calls_left = -1, .delays = true};
static map_table_t *table;
static uint64_t elements[ELEMENTS][WORDS]; /* the shared data */
static uint64_t own_words[THREADS];        /* likewise, but each of another thread */
static atomic_uint_least64_t added[ELEMENTS];
static atomic_int failures;
static long rounds = 2000;

typedef struct launch {
  uint32_t count;
  uint64_t *data[MOST];
} launch_t;

/* A region or data construct under way. */
typedef struct construct {
  map_work_t work;
  map_arguments_t arguments;
  launch_t launch;
  uint32_t chosen[MOST];
  void *bases[MOST], *begins[MOST];
  int64_t sizes[MOST], types[MOST];
  bool running;
} construct_t;

typedef struct thread {
  pthread_t handle;
  uint32_t index, random;
  construct_t late[LATE]; /* nowait: their ends come later */
} thread_t;

static uint32_t any(thread_t *thread, uint32_t bound) {
  thread->random = thread->random * 1664525u + 1013904223u;
  return (thread->random >> 16) % bound;
}

static void complain(void *context, map_status_t status, const char *text) {
  (void)context;
  fprintf(stderr, "failure %d: %s\n", (int)status, text);
  atomic_fetch_add(&failures, 1);
}

static void require(bool holds, const char *what) {
  if (holds)
    return;
  fprintf(stderr, "not so: %s\n", what);
  atomic_fetch_add(&failures, 1);
}

/* Kernels of several threads may run on the same data at once. */
static void add_one(void *argument) {
  const launch_t *launch = argument;
  for (uint32_t i = 0; i < launch->count; i++)
    for (int j = 0; j < WORDS; j++)
      __atomic_fetch_add(&launch->data[i][j], 1, __ATOMIC_RELAXED);
}

static void set_arguments(construct_t *construct, uint32_t count, uint32_t first, uint32_t step) {
  for (uint32_t i = 0; i < count; i++) {
    uint32_t element = (first + i * step) % ELEMENTS;
    construct->chosen[i] = element;
    construct->bases[i] = construct->begins[i] = elements[element];
    construct->sizes[i] = sizeof elements[element];
    construct->types[i] = MAP_TO | MAP_FROM | MAP_TARGET_PARAM;
  }
  construct->arguments = (map_arguments_t){
      count, construct->bases, construct->begins, construct->sizes, construct->types, NULL, NULL};
}

/* Some of the elements, each once, in any order. */
static void choose(thread_t *thread, construct_t *construct) {
  uint32_t count = 1 + any(thread, MOST), first = any(thread, ELEMENTS), step = 1 + 2 * any(thread, 2);
  set_arguments(construct, count, first, step);
}

static void finish_work(fake_stream_t *stream, map_work_t *work) {
  map_status_t status;
  do
    fake_synchronize(stream);
  while ((status = map_work_end(work)) == MAP_AGAIN);
  require(status == MAP_OK, "a work ends");
}

static void finish(fake_stream_t *stream, construct_t *construct) {
  finish_work(stream, &construct->work);
  construct->running = false;
}

typedef map_status_t operation_t(map_work_t *work, const map_arguments_t *arguments);

static void begin_region(fake_stream_t *stream, construct_t *construct, operation_t *enter) {
  map_work_t *work = &construct->work;
  map_work_begin(work, table, stream, 0);
  require(enter(work, &construct->arguments) == MAP_OK, "a region is entered");
  construct->launch.count = work->word_count;
  for (uint32_t i = 0; i < work->word_count; i++) {
    construct->launch.data[i] = work->words[i];
    atomic_fetch_add(&added[construct->chosen[i]], 1);
  }
  fake_launch(stream, add_one, &construct->launch);
  require(map_leave(work) == MAP_OK, "a region is left");
  construct->running = true;
}

typedef struct waiting {
  fake_stream_t *stream;
  construct_t *construct;
} waiting_t;

static void run_words(void *context, const uint64_t *words, uint32_t count) {
  waiting_t *waiting = context;
  construct_t *construct = waiting->construct;
  construct->launch.count = count;
  for (uint32_t i = 0; i < count; i++) {
    construct->launch.data[i] = (void *)(uintptr_t)words[i];
    atomic_fetch_add(&added[construct->chosen[i]], 1);
  }
  fake_launch(waiting->stream, add_one, &construct->launch);
  fake_synchronize(waiting->stream);
}

/* As most regions are: the thread waits. */
static void whole_region(fake_stream_t *stream, construct_t *construct) {
  waiting_t waiting = {stream, construct};
  map_work_begin(&construct->work, table, stream, 0);
  require(fake_region(&construct->work, &construct->arguments, run_words, &waiting) == MAP_OK,
          "a region runs");
  finish(stream, construct);
}

static void data_region(thread_t *thread, fake_stream_t *stream) {
  construct_t outer, inner;
  choose(thread, &outer);
  map_work_begin(&outer.work, table, stream, 0);
  require(map_begin(&outer.work, &outer.arguments) == MAP_OK, "target data begins");
  finish(stream, &outer);
  choose(thread, &inner);
  whole_region(stream, &inner);
  map_work_begin(&outer.work, table, stream, 0);
  require(map_end(&outer.work, &outer.arguments) == MAP_OK, "target data ends");
  finish(stream, &outer);
}

static void update_own(thread_t *thread, fake_stream_t *stream, int64_t type) {
  void *word = &own_words[thread->index];
  int64_t size = sizeof(uint64_t);
  map_arguments_t arguments = {1, &word, &word, &size, &type, NULL, NULL};
  map_work_t work;
  map_work_begin(&work, table, stream, 0);
  require(fake_update(&work, &arguments) == MAP_OK, "an update");
  fake_synchronize(stream);
  require(map_work_end(&work) == MAP_OK, "an update ends");
}

/* What is mapped keeps what was written there; what is not mapped may be for a moment. */
static void update(thread_t *thread, fake_stream_t *stream) {
  void *all = own_words;
  int64_t size = sizeof own_words, type = 0;
  map_arguments_t arguments = {1, &all, &all, &size, &type, NULL, NULL};
  uint64_t *word = &own_words[thread->index], value = any(thread, 1000);
  map_work_t work;
  map_work_begin(&work, table, stream, 0);
  require(map_begin(&work, &arguments) == MAP_OK, "enter data");
  finish_work(stream, &work);
  *word = value;
  update_own(thread, stream, MAP_TO);
  *word = 0;
  update_own(thread, stream, MAP_FROM);
  require(*word == value, "an update brings back what another one took there");
  map_work_begin(&work, table, stream, 0);
  require(map_end(&work, &arguments) == MAP_OK, "exit data");
  finish_work(stream, &work);
  update_own(thread, stream, MAP_TO);
}

/* Others look meanwhile. */
static void look(thread_t *thread) {
  void *where;
  map_entry_view_t entry;
  if (map_table_find(table, elements[any(thread, ELEMENTS)], sizeof elements[0], &where))
    require(where != NULL, "an address");
  (void)map_table_nearest(table, elements[any(thread, ELEMENTS)], &entry);
}

static void *run(void *argument) {
  thread_t *thread = argument;
  fake_stream_t *stream = device.streams[thread->index * (LATE + 1)];
  for (long round = 0; round < rounds; round++) {
    uint32_t slot = any(thread, LATE);
    construct_t *late = &thread->late[slot], now;
    fake_stream_t *own = device.streams[thread->index * (LATE + 1) + 1 + slot];
    switch (any(thread, 5)) {
    case 0: /* nowait, on a stream of its own */
      if (late->running)
        finish(own, late);
      choose(thread, late);
      begin_region(own, late, map_enter);
      break;
    case 1: data_region(thread, stream); break;
    case 2: look(thread); break;
    case 3: update(thread, stream); break;
    default:
      choose(thread, &now);
      begin_region(stream, &now, any(thread, 4) ? fake_enter : map_enter);
      finish(stream, &now);
    }
  }
  for (uint32_t slot = 0; slot < LATE; slot++)
    if (thread->late[slot].running)
      finish(device.streams[thread->index * (LATE + 1) + 1 + slot], &thread->late[slot]);
  return NULL;
}

/* Copies to the device that wait until another thread has found where they go. The way there is relaxed: only
 * the table orders the two. */
static struct {
  const map_device_functions_t *functions;
  atomic_bool is_under_way, is_found;
} meeting;

static void meet(void) {
  atomic_store_explicit(&meeting.is_under_way, true, memory_order_relaxed);
  while (!atomic_load_explicit(&meeting.is_found, memory_order_acquire))
    sched_yield();
}

static bool submit_late(void *context, void *stream, void *memory, const void *host, uint64_t bytes) {
  meet();
  return meeting.functions->submit(context, stream, memory, host, bytes);
}

static bool submit_staged_late(void *context, void *stream, void *memory, const void *staged,
                               uint64_t bytes) {
  meet();
  return meeting.functions->submit_staged(context, stream, memory, staged, bytes);
}

static void *find_early(void *found) {
  void *memory = NULL;
  while (!atomic_load_explicit(&meeting.is_under_way, memory_order_relaxed))
    sched_yield();
  if (map_table_find(table, elements[0], sizeof elements[0], &memory))
    *(uint8_t *)found = *(const uint8_t *)memory;
  atomic_store_explicit(&meeting.is_found, true, memory_order_release);
  return NULL;
}

/* Fresh memory of the device has 0xdd in it. */
static void find_while_mapped(const map_device_functions_t *functions) {
  map_device_functions_t late = *functions;
  map_configuration_t configuration = {.functions = &late, .device = &device, .listener = {.fail = complain}};
  pthread_t finder;
  construct_t construct;
  uint8_t found = 0;
  late.submit = submit_late;
  if (functions->submit_staged)
    late.submit_staged = submit_staged_late;
  meeting.functions = functions;
  atomic_store(&meeting.is_under_way, false);
  atomic_store(&meeting.is_found, false);
  device = (fake_device_t){.calls_left = -1};
  table = map_table_new(&configuration);
  set_arguments(&construct, 2, 0, 1); /* one alone is not packed */
  pthread_create(&finder, NULL, find_early, &found);
  begin_region(fake_stream(&device, 0), &construct, map_enter);
  pthread_join(finder, NULL);
  require(found == 0xdd, "memory is found as it was allocated");
  finish(device.streams[0], &construct);
  map_table_free(table);
  fake_fini(&device);
}

static void run_all(const map_device_functions_t *functions) {
  thread_t threads[THREADS] = {{0}};
  map_configuration_t configuration = {
      .functions = functions, .device = &device, .listener = {.fail = complain}};
  device = (fake_device_t){.calls_left = -1, .delays = true};
  memset(elements, 0, sizeof elements);
  memset(own_words, 0, sizeof own_words);
  memset(added, 0, sizeof added);
  table = map_table_new(&configuration);
  for (uint32_t i = 0; i < THREADS * (LATE + 1); i++)
    (void)fake_stream(&device, i);
  for (uint32_t i = 0; i < THREADS; i++) {
    threads[i].index = i;
    threads[i].random = i * 77 + 1;
    pthread_create(&threads[i].handle, NULL, run, &threads[i]);
  }
  for (uint32_t i = 0; i < THREADS; i++)
    pthread_join(threads[i].handle, NULL);
  for (int i = 0; i < ELEMENTS; i++)
    for (int j = 0; j < WORDS; j++)
      require(elements[i][j] == atomic_load(&added[i]), "each kernel's addition comes home");
  require(!map_table_count(table), "nothing stays mapped");
  require(functions->packs || !atomic_load(&device.live), "no memory stays allocated");
  map_table_free(table);
  require(!atomic_load(&device.live), "no memory stays allocated without a table");
  fake_fini(&device);
}

/* map_stress [ROUNDS] */
int main(int count, char **arguments) {
  if (count > 1)
    rounds = atol(arguments[1]);
  run_all(&fake_functions);
  run_all(&fake_packing_functions);
  find_while_mapped(&fake_functions);
  find_while_mapped(&fake_packing_functions);
  return atomic_load(&failures) != 0;
}
