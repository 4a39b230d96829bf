/* Ordinary memory as a device. */
#include "map_device.h"

#include "held.h"
#include "one.h"
#include "plan.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint32_t next_random(fake_stream_t *stream) {
  uint32_t random = atomic_load(&stream->random) * 1664525u + 1013904223u;
  atomic_store(&stream->random, random);
  return random >> 16;
}

static void delay(fake_stream_t *stream) {
  uint32_t kind = next_random(stream) % 8;
  if (kind < 2)
    nanosleep(&(struct timespec){.tv_nsec = next_random(stream) % 50000}, NULL);
  else if (kind < 5)
    sched_yield();
}

static bool fails(fake_device_t *device) {
  if (atomic_load(&device->calls_left) < 0)
    return false;
  int left = atomic_fetch_sub(&device->calls_left, 1);
  if (left > 0)
    return false;
  atomic_store(&device->calls_left, 0); /* and so do all that follow */
  atomic_fetch_add(&device->failed, 1);
  return true;
}

static void trace(fake_device_t *device, char what, const void *host, const void *memory, uint64_t bytes) {
  if (device->trace)
    device->trace(device->context, what, host, memory, bytes);
}

/* A mark is a stream's number and how many operations have to be done. */
enum { MARK_SHIFT = 48 };

static void progress(fake_stream_t *stream, uint64_t count);

static void execute(fake_stream_t *stream, const fake_operation_t *operation) {
  fake_device_t *device = stream->device;
  if (device->delays)
    delay(stream);
  if (operation->wait) {
    fake_stream_t *other = device->streams[operation->wait >> MARK_SHIFT];
    uint64_t count = operation->wait & ((UINT64_C(1) << MARK_SHIFT) - 1);
    progress(other, count);
  } else if (operation->kernel) {
    operation->kernel(operation->argument);
  } else if (operation->pieces) {
    for (uint64_t i = 0; i < operation->bytes; i++)
      memcpy(operation->pieces[i].host, (const char *)operation->from + operation->pieces[i].offset,
             operation->pieces[i].bytes);
  } else {
    memcpy(operation->to, operation->from, operation->bytes);
  }
  free(operation->staged);
  free(operation->pieces);
}

/* A device gets on by itself: whoever waits for a stream does its work, if nobody else is doing it. */
static void progress(fake_stream_t *stream, uint64_t count) {
  uint64_t done;
  while ((done = atomic_load_explicit(&stream->done, memory_order_acquire)) < count) {
    if (pthread_mutex_trylock(&stream->lock)) {
      sched_yield();
      continue;
    }
    if (atomic_load_explicit(&stream->done, memory_order_relaxed) == done) {
      execute(stream, &stream->operations[done % FAKE_OPERATIONS]);
      atomic_store_explicit(&stream->done, done + 1, memory_order_release);
    }
    pthread_mutex_unlock(&stream->lock);
  }
}

void fake_synchronize(fake_stream_t *stream) {
  progress(stream, stream->begun);
}

static void begin(fake_stream_t *stream, fake_operation_t operation) {
  if (stream->device->delays)
    delay(stream);
  if (stream->begun - atomic_load_explicit(&stream->done, memory_order_acquire) == FAKE_OPERATIONS)
    fake_synchronize(stream);
  stream->operations[stream->begun++ % FAKE_OPERATIONS] = operation;
  if (stream->device->delays && next_random(stream) % 4 == 0)
    fake_synchronize(stream);
}

fake_stream_t *fake_stream(fake_device_t *device, uint32_t index) {
  if (!device->streams[index]) {
    device->streams[index] = calloc(1, sizeof(fake_stream_t));
    device->streams[index]->device = device;
    atomic_store(&device->streams[index]->random, index + 1);
    pthread_mutex_init(&device->streams[index]->lock, NULL);
  }
  return device->streams[index];
}

void fake_fini(fake_device_t *device) {
  for (int i = 0; i < FAKE_STREAMS; i++)
    free(device->streams[i]);
}

void fake_launch(fake_stream_t *stream, void (*kernel)(void *argument), void *argument) {
  begin(stream, (fake_operation_t){.kernel = kernel, .argument = argument});
}

/* ---- the functions ---- */

static bool allocate(void *context, uint64_t bytes, const void *host, void **memory) {
  fake_device_t *device = context;
  if (fails(device))
    return false;
  if (device->delays)
    sched_yield();
  if (device->room) {
    *memory = device->room;
    device->room += (bytes + 255) / 256 * 256;
  } else {
    *memory = malloc(bytes ? bytes : 1);
  }
  memset(*memory, 0xdd, bytes);
  atomic_fetch_add(&device->live, 1);
  trace(device, 'A', host, *memory, bytes);
  return true;
}

static bool release(void *context, void *memory) {
  fake_device_t *device = context;
  trace(device, 'R', NULL, memory, 0);
  if (!device->room)
    free(memory);
  atomic_fetch_sub(&device->live, 1);
  return true;
}

static bool submit(void *context, void *stream, void *memory, const void *host, uint64_t bytes) {
  if (fails(context))
    return false;
  trace(context, 'T', host, memory, bytes);
  begin(stream, (fake_operation_t){.to = memory, .from = host, .bytes = bytes});
  return true;
}

static bool retrieve(void *context, void *stream, void *host, const void *memory, uint64_t bytes) {
  if (fails(context))
    return false;
  trace(context, 'F', host, memory, bytes);
  begin(stream, (fake_operation_t){.to = host, .from = memory, .bytes = bytes});
  return true;
}

static bool mark(void *context, void *opaque, map_mark_t *value) {
  fake_device_t *device = context;
  fake_stream_t *stream = opaque;
  map_mark_t index = 0;
  if (device->delays)
    delay(stream);
  while (device->streams[index] != stream)
    index++;
  *value = stream->begun == atomic_load(&stream->done) ? 0 : index << MARK_SHIFT | stream->begun;
  return !fails(device);
}

static bool wait_for(void *context, void *opaque, map_mark_t *value) {
  fake_device_t *device = context;
  fake_stream_t *stream = opaque, *other = device->streams[*value >> MARK_SHIFT];
  if (fails(device))
    return false;
  trace(device, 'W', NULL, NULL, 0);
  if (other == stream)
    return true; /* behind it anyway */
  if (atomic_load_explicit(&other->done, memory_order_acquire) >=
      (*value & ((UINT64_C(1) << MARK_SHIFT) - 1)))
    *value = 0;
  else
    begin(stream, (fake_operation_t){.wait = *value});
  return true;
}

static bool packs(void *context, const void *host, uint64_t bytes) {
  const fake_device_t *device = context;
  return bytes <= 4096 && host != device->unpacked;
}

static bool stage(void *context, void *stream, uint64_t bytes, void **staged) {
  (void)stream;
  if (fails(context))
    return false;
  *staged = malloc(bytes);
  memset(*staged, 0xdd, bytes); /* as fresh memory */
  return true;
}

static bool submit_staged(void *context, void *stream, void *memory, const void *staged, uint64_t bytes) {
  void *owned = (void *)(uintptr_t)staged;
  if (fails(context)) {
    free(owned);
    return false;
  }
  trace(context, 'S', NULL, memory, bytes);
  begin(stream, (fake_operation_t){.to = memory, .from = staged, .bytes = bytes, .staged = owned});
  return true;
}

static bool retrieve_pieces(void *context, void *stream, const void *memory, uint64_t bytes,
                            const atmi_piece_t *pieces, uint32_t count) {
  if (fails(context))
    return false;
  trace(context, 'G', NULL, memory, bytes);
  atmi_piece_t *copy = malloc(count * sizeof *copy);
  for (uint32_t i = 0; i < count; i++) {
    trace(context, 'F', pieces[i].host, (const char *)memory + pieces[i].offset, pieces[i].bytes);
    if (pieces[i].offset + pieces[i].bytes > bytes)
      abort();
    copy[i] = pieces[i];
  }
  begin(stream, (fake_operation_t){.from = memory, .bytes = count, .pieces = copy});
  return true;
}

const map_device_functions_t fake_functions = {.allocate = allocate,
                                               .release = release,
                                               .submit = submit,
                                               .retrieve = retrieve,
                                               .mark = mark,
                                               .wait = wait_for};
const map_device_functions_t fake_packing_functions = {
    allocate, release, submit, retrieve, mark, wait_for, packs, stage, submit_staged, retrieve_pieces};

map_status_t fake_update(map_work_t *work, const map_arguments_t *arguments) {
  map_one_t one;
  map_table_t *table = work->table;
  bool is_one = !table->configuration.listener.note && map_one_is(arguments, &one);
  map_entry_t *entry = is_one ? map_one_begin(table, &one) : NULL;
  if (!entry)
    return map_update(work, arguments);
  void *device = table->configuration.device;
  void *memory = (void *)map_entry_device(entry, (uintptr_t)one.host);
  bool done = one.type == MAP_TO ? submit(device, work->stream, memory, one.host, one.bytes)
                                 : retrieve(device, work->stream, one.host, memory, one.bytes);
  if (!done)
    map_one_fail(work->table, arguments, entry);
  fake_synchronize(work->stream);
  map_status_t ended = map_one_end(work->table, entry);
  return done ? ended : MAP_DEVICE;
}

static void give_back(map_work_t *like, const map_arguments_t *arguments, const map_held_t *held) {
  map_work_t work;
  uint32_t gone = map_drop_held(held->entries, held->count);
  if (gone == held->count)
    return;
  map_work_begin(&work, like->table, like->stream, like->options);
  map_work_take_held(&work, arguments, held, gone, true);
  if (fake_finish(&work))
    abort();
}

map_status_t fake_enter(map_work_t *work, const map_arguments_t *arguments) {
  map_status_t status;
  return map_plan_enter(work, arguments, &status) ? status : map_enter(work, arguments);
}

map_status_t fake_region(map_work_t *work, const map_arguments_t *arguments,
                         void (*launch)(void *context, const uint64_t *words, uint32_t count),
                         void *context) {
  map_held_t held;
  uint64_t words[MAP_WORDS_INLINE];
  if (!work->table->configuration.listener.note && map_held_may(arguments)) {
    if (map_held_begin(work->table, arguments, words, &held) == arguments->count) {
      launch(context, words, arguments->count);
      uint32_t gone = map_drop_held(held.entries, held.count);
      if (gone != held.count)
        map_work_take_held(work, arguments, &held, gone, true);
      return MAP_OK;
    }
    give_back(work, arguments, &held);
  }
  map_status_t status = fake_enter(work, arguments);
  if (status)
    return status;
  for (uint32_t i = 0; i < work->word_count && i < MAP_WORDS_INLINE; i++)
    words[i] = (uintptr_t)work->words[i];
  launch(context, words, work->word_count);
  return map_leave(work);
}

/* ---- constructs ---- */

void fake_add(fake_list_t *list, void *base, void *begin, int64_t size, uint64_t type) {
  uint32_t i = list->count++;
  list->bases[i] = base;
  list->begins[i] = begin;
  list->sizes[i] = size;
  list->types[i] = (int64_t)type;
}

map_arguments_t *fake_arguments(fake_list_t *list) {
  list->arguments =
      (map_arguments_t){list->count, list->bases, list->begins, list->sizes, list->types, NULL, NULL};
  return &list->arguments;
}

map_status_t fake_finish(map_work_t *work) {
  map_status_t end;
  do
    fake_synchronize(work->stream);
  while ((end = map_work_end(work)) == MAP_AGAIN);
  return end;
}
