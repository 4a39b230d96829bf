/* Streams of the core on a simulated device, with operations that stay pending: as plugin_stream IMAGE, which
 * is made of plugin_kernels.s. A signal of which the test decides when it is complete stands before
 * everything. */
#include "plugin_test.h"

#include "stream/event.h"
#include "machine/discovery.h"
#include "services/hostcall.h"
#include "services/hostcall_queue.h"
#include "stream/plan.h"
#include "stream/transfer.h"

#include <hsa/amd_hsa_signal.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *image_path;

static struct {
  atmi_env_t env;
  atmi_machine_t machine;
  atmi_device_t *device;
  void *image;
  atmi_code_object_t object;
  atmi_kernel_t add, behind;
} the;

static int open_device(void **state) {
  (void)state;
  static char *no_environment[] = {NULL};
  size_t bytes;
  atmi_env_load(no_environment, &the.env);
  assert_int_equal(atmi_machine_init(&the.env, &the.machine), ATMI_OK);
  atmi_machine_begin(&the.machine);
  the.device = atmi_machine_device(&the.machine, 0);
  assert_non_null(the.device);
  the.image = test_read_file(image_path, &bytes);
  assert_int_equal(atmi_code_object_init(the.device, the.image, bytes, &the.object), ATMI_OK);
  assert_int_equal(atmi_code_object_find_kernel(&the.object, "k_add", &the.add), ATMI_OK);
  assert_int_equal(atmi_code_object_find_kernel(&the.object, "k_behind", &the.behind), ATMI_OK);
  return 0;
}

static int close_device(void **state) {
  (void)state;
  atmi_code_object_fini(&the.object);
  atmi_machine_fini(&the.machine);
  free(the.image);
  return 0;
}

/* ---- helpers ---- */

static atmi_stream_t *take_stream(void) {
  atmi_stream_t *stream;
  assert_int_equal(atmi_stream_take(the.device, &stream), ATMI_OK);
  return stream;
}

static uint32_t *allocate(size_t bytes) {
  void *memory;
  assert_int_equal(atmi_memory_allocate(&the.device->memory, bytes, ATMI_MEMORY_DEVICE, &memory), ATMI_OK);
  return memory;
}

static void release(void *memory) {
  assert_int_equal(atmi_memory_free(&the.device->memory, memory), ATMI_OK);
}

/* Adds to a word, by a plan if there is one, as src does. */
static void add(atmi_stream_t *stream, uint32_t *word, uint64_t value) {
  void *bases[] = {word, (void *)(uintptr_t)value};
  static const ptrdiff_t offsets[2];
  const atmi_plan_key_t key = {.id = the.add.id, .words = {[4] = 2}};
  atmi_plan_t *plan = atmi_plan_find(stream->plans, key);
  if (plan && atmi_plan_hold_queue(stream)) {
    const bool first = !stream->count && stream->ready_plans;
    assert_int_equal(first ? atmi_plan_launch_first(stream, plan, bases, offsets)
                           : atmi_plan_launch(stream, plan, bases, offsets),
                     ATMI_OK);
    return;
  }
  const atmi_launch_t launch = {
      .arguments = bases, .offsets = offsets, .argument_count = 2, .groups = {1, 1, 1}, .group = {1, 1, 1}};
  assert_int_equal(atmi_stream_launch(stream, &key, &the.add, &launch), ATMI_OK);
}

static uint32_t value_of(uint32_t *word) {
  uint32_t value;
  atmi_stream_t *stream = take_stream();
  assert_int_equal(atmi_transfer_retrieve(stream, &value, word, sizeof value), ATMI_OK);
  assert_int_equal(atmi_stream_synchronize(stream), ATMI_OK);
  atmi_stream_put(stream);
  return value;
}

/* A signal that is not complete before it is opened. */
static atmi_signal_t *close_gate(void) {
  atmi_signal_t *gate;
  assert_int_equal(atmi_signal_take(&the.device->signals, &gate), ATMI_OK);
  atmi_signal_begin(gate);
  return gate;
}

static void open_gate(atmi_signal_t *gate) {
  hsa_signal_store_screlease(gate->hsa, 0);
}

static void *open_later(void *gate) {
  nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
  open_gate(gate);
  return NULL;
}

/* ---- tests ---- */

/* Nothing waits on the host, nothing happens too early, and everything in order. */
static void pending_operations_follow_each_other(void **state) {
  (void)state;
  /* Some more operations than a stream keeps places for; where kernels copy, ROCr itself waits after
   * about 40. */
  enum { ROUNDS = 12, LARGE = 3 << 20 };
  static uint32_t given[ROUNDS], results[ROUNDS];
  static char large[LARGE], back[LARGE];
  uint32_t *word = allocate(sizeof *word);
  char *block = (char *)allocate(LARGE);
  atmi_stream_t *stream = take_stream();
  atmi_signal_t *gate = close_gate();
  memset(large, 7, sizeof large);
  assert_int_equal(atmi_stream_wait_for(stream, gate), ATMI_OK);
  for (uint32_t i = 0; i < ROUNDS; i++) {
    given[i] = 1000 * i;
    assert_int_equal(atmi_transfer_submit(stream, word, &given[i], sizeof *word), ATMI_OK);
    for (uint32_t j = 0; j <= i % 3; j++)
      add(stream, word, i + 1);
    assert_int_equal(atmi_transfer_retrieve(stream, &results[i], word, sizeof *word), ATMI_OK);
  }
  assert_int_equal(atmi_transfer_submit(stream, block, large, LARGE), ATMI_OK);
  assert_int_equal(atmi_transfer_retrieve(stream, back, block, LARGE), ATMI_OK);
  assert_int_equal(atmi_signal_query(gate), ATMI_PENDING);
  assert_int_equal(atmi_stream_query(stream), ATMI_PENDING);
  assert_int_equal(results[ROUNDS - 1], 0);
  open_gate(gate);
  assert_int_equal(atmi_stream_synchronize(stream), ATMI_OK);
  for (uint32_t i = 0; i < ROUNDS; i++)
    assert_int_equal(results[i], 1000 * i + (i % 3 + 1) * (i + 1));
  assert_memory_equal(back, large, LARGE);
  atmi_stream_put(stream);
  atmi_signal_unref(gate);
  release(word);
  release(block);
}

/* Each launch has its own arguments, however many are outstanding: the block of a plan is for one of them. */
static void pending_launches_keep_their_arguments(void **state) {
  (void)state;
  enum { LAUNCHES = 300 };
  uint32_t *words = allocate(LAUNCHES * sizeof *words);
  static const uint32_t zeros[LAUNCHES];
  static uint32_t results[LAUNCHES];
  atmi_stream_t *stream = take_stream();
  assert_int_equal(atmi_transfer_submit(stream, words, zeros, sizeof zeros), ATMI_OK);
  assert_int_equal(atmi_stream_synchronize(stream), ATMI_OK);
  for (int gated = 0; gated < 2; gated++) {
    atmi_signal_t *gate = close_gate();
    if (gated)
      assert_int_equal(atmi_stream_wait_for(stream, gate), ATMI_OK);
    for (uint32_t i = 0; i < LAUNCHES; i++)
      add(stream, &words[i], i + 1);
    open_gate(gate);
    assert_int_equal(atmi_stream_synchronize(stream), ATMI_OK);
    atmi_signal_unref(gate);
  }
  assert_int_equal(atmi_transfer_retrieve(stream, results, words, sizeof results), ATMI_OK);
  assert_int_equal(atmi_stream_synchronize(stream), ATMI_OK);
  for (uint32_t i = 0; i < LAUNCHES; i++)
    assert_int_equal(results[i], 2 * (i + 1));
  atmi_stream_put(stream);
  release(words);
}

/* A launch with an argument behind the program's is remembered with it. */
static void trailing_arguments_are_remembered(void **state) {
  (void)state;
  static const uint32_t zeros[2];
  uint32_t results[2] = {0}, *words = allocate(sizeof results);
  void *bases[] = {(void *)(uintptr_t)99, words};
  static const ptrdiff_t offsets[2];
  const atmi_plan_key_t key = {.id = the.behind.id, .words = {1, [4] = 2}};
  const atmi_launch_t launch = {.has_trailing = true,
                                .trailing = 5,
                                .arguments = bases,
                                .offsets = offsets,
                                .argument_count = 2,
                                .groups = {1, 1, 1},
                                .group = {1, 1, 1}};
  atmi_stream_t *stream = take_stream();
  assert_int_equal(atmi_transfer_submit(stream, words, zeros, sizeof zeros), ATMI_OK);
  assert_int_equal(atmi_stream_synchronize(stream), ATMI_OK);
  assert_int_equal(atmi_stream_launch(stream, &key, &the.behind, &launch), ATMI_OK);
  assert_int_equal(atmi_stream_synchronize(stream), ATMI_OK);
  for (uint64_t i = 1; i <= 3; i++) {
    atmi_plan_t *plan = atmi_plan_find(stream->plans, key);
    assert_non_null(plan);
    assert_true(atmi_plan_hold_queue(stream));
    bases[0] = (void *)(uintptr_t)(100 + i);
    assert_int_equal(atmi_plan_launch(stream, plan, bases, offsets), ATMI_OK);
  }
  assert_int_equal(atmi_transfer_retrieve(stream, results, words, sizeof results), ATMI_OK);
  assert_int_equal(atmi_stream_synchronize(stream), ATMI_OK);
  assert_int_equal(results[0], 4 * 5);
  assert_int_equal(results[1], 103);
  atmi_stream_put(stream);
  release(words);
}

/* A launch with an argument in front of the program's is remembered like any other, with that argument. */
static void leading_arguments_are_remembered(void **state) {
  (void)state;
  static const uint32_t zeros[2];
  uint32_t results[2] = {0}, *words = allocate(sizeof results);
  void *bases[] = {words, (void *)(uintptr_t)5};
  static const ptrdiff_t offsets[2];
  const atmi_plan_key_t key = {.id = the.behind.id, .words = {[4] = 2}};
  const atmi_launch_t launch = {.has_leading = true,
                                .leading = 99,
                                .arguments = bases,
                                .offsets = offsets,
                                .argument_count = 2,
                                .groups = {1, 1, 1},
                                .group = {1, 1, 1}};
  atmi_stream_t *stream = take_stream();
  assert_int_equal(atmi_transfer_submit(stream, words, zeros, sizeof zeros), ATMI_OK);
  assert_int_equal(atmi_stream_launch(stream, &key, &the.behind, &launch), ATMI_OK);
  assert_int_equal(atmi_stream_synchronize(stream), ATMI_OK);
  for (uint64_t i = 1; i <= 3; i++) {
    atmi_plan_t *plan = atmi_plan_find(stream->plans, key);
    assert_non_null(plan);
    assert_true(atmi_plan_hold_queue(stream));
    bases[1] = (void *)(uintptr_t)i;
    assert_int_equal(atmi_plan_launch(stream, plan, bases, offsets), ATMI_OK);
  }
  assert_int_equal(atmi_transfer_retrieve(stream, results, words, sizeof results), ATMI_OK);
  assert_int_equal(atmi_stream_synchronize(stream), ATMI_OK);
  assert_int_equal(results[0], 5 + 1 + 2 + 3);
  assert_int_equal(results[1], 99);
  atmi_stream_put(stream);
  release(words);
}

/* Events go back to where they were made, also while their maker takes others there. */
enum { EVENTS_UNDER_WAY = 1024, EVENTS_PASSED = 150000 };
static _Atomic(atmi_event_t *) under_way[EVENTS_UNDER_WAY];

static void *put_events(void *unused) {
  (void)unused;
  for (int i = 0; i < EVENTS_PASSED; i++) {
    atmi_event_t *event;
    while (!(event = atomic_exchange(&under_way[i % EVENTS_UNDER_WAY], NULL)))
      ; /* awake, so that both threads are at it at the same time */
    atmi_event_put(event);
  }
  return NULL;
}

static void events_may_be_put_by_other_threads(void **state) {
  (void)state;
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, put_events, NULL), 0);
  for (int i = 0; i < EVENTS_PASSED; i++) {
    atmi_event_t *event, *nobodys = NULL;
    assert_int_equal(atmi_event_take(the.device, &event), ATMI_OK);
    while (!atomic_compare_exchange_weak(&under_way[i % EVENTS_UNDER_WAY], &nobodys, event))
      nobodys = NULL;
  }
  assert_int_equal(pthread_join(thread, NULL), 0);
  uint32_t kept = 0;
  for (const atmi_event_t *event = atomic_load(&atmi_stream_place(the.device)->events); event;
       event = event->next) {
    assert_ptr_not_equal(event, ATMI_EVENTS_IN_USE);
    kept++;
  }
  assert_int_equal(kept, atmi_pool_count(&the.device->events)); /* all that were ever made */
}

/* An event of pending work holds another stream back, and its signal is not used for something else before
 * that stream has looked at it. */
static void events_of_pending_work_join_streams(void **state) {
  (void)state;
  enum { ROUNDS = 40 };
  uint32_t *word = allocate(sizeof *word);
  static const uint32_t zero;
  atmi_stream_t *first = take_stream(), *second = take_stream();
  assert_int_equal(atmi_transfer_submit(first, word, &zero, sizeof zero), ATMI_OK);
  assert_int_equal(atmi_stream_synchronize(first), ATMI_OK);
  for (int round = 0; round < ROUNDS; round++) {
    atmi_event_t *event;
    uint32_t before = UINT32_MAX;
    atmi_signal_t *gate = close_gate();
    pthread_t opener;
    assert_int_equal(atmi_event_take(the.device, &event), ATMI_OK);
    assert_int_equal(atmi_stream_wait_for(first, gate), ATMI_OK);
    add(first, word, 1);
    assert_int_equal(atmi_event_record(event, first), ATMI_OK);
    assert_int_equal(atmi_event_query(event), ATMI_PENDING);
    assert_int_equal(atmi_event_wait(event, second), ATMI_OK);
    assert_int_equal(atmi_transfer_retrieve(second, &before, word, sizeof before), ATMI_OK);
    if (round % 8) {
      open_gate(gate);
    } else {
      assert_int_equal(pthread_create(&opener, NULL, open_later, gate), 0);
      assert_int_equal(atmi_event_synchronize(event), ATMI_OK); /* asleep before it is opened */
      pthread_join(opener, NULL);
    }
    assert_int_equal(atmi_stream_synchronize(first), ATMI_OK);
    /* The first stream goes on at once with the place that the event knows. */
    atmi_signal_t *later = close_gate();
    assert_int_equal(atmi_stream_wait_for(first, later), ATMI_OK);
    add(first, word, 0);
    assert_int_equal(atmi_event_query(event), ATMI_OK);
    assert_int_equal(atmi_stream_synchronize(second), ATMI_OK);
    assert_int_equal(before, round + 1);
    open_gate(later);
    assert_int_equal(atmi_stream_synchronize(first), ATMI_OK);
    atmi_event_put(event);
    atmi_signal_unref(gate);
    atmi_signal_unref(later);
  }
  atmi_stream_put(first);
  atmi_stream_put(second);
  assert_int_equal(value_of(word), ROUNDS);
  release(word);
}

/* There is no signal of the stream's own that an event could name: what it was told to wait for last is
 * waited for here. */
static void an_event_behind_a_wait_comes_after_it(void **state) {
  (void)state;
  atmi_stream_t *stream = take_stream();
  atmi_signal_t *gate = close_gate();
  atmi_event_t *event;
  pthread_t opener;
  assert_int_equal(atmi_event_take(the.device, &event), ATMI_OK);
  assert_int_equal(atmi_stream_wait_for(stream, gate), ATMI_OK);
  assert_int_equal(pthread_create(&opener, NULL, open_later, gate), 0);
  assert_int_equal(atmi_event_record(event, stream), ATMI_OK);
  assert_int_equal(atmi_signal_query(gate), ATMI_OK);
  pthread_join(opener, NULL);
  assert_int_equal(atmi_event_query(event), ATMI_OK);
  assert_int_equal(atmi_stream_synchronize(stream), ATMI_OK);
  atmi_event_put(event);
  atmi_stream_put(stream);
  atmi_signal_unref(gate);
}

/* What waits for an operation may not have looked at its signal yet when that is complete: its place in the
 * list must not serve again before. */
static void places_are_kept_for_who_waits(void **state) {
  (void)state;
  static const uint32_t zero;
  uint32_t *word = allocate(sizeof *word);
  atmi_stream_t *stream = take_stream();
  atmi_signal_t *first = close_gate(), *second = close_gate();
  assert_int_equal(atmi_stream_wait_for(stream, first), ATMI_OK);
  assert_int_equal(atmi_transfer_submit(stream, word, &zero, sizeof zero), ATMI_OK);
  const atmi_signal_t *copied = stream->operations[stream->count - 1].signal;
  assert_int_equal(atmi_stream_wait_for(stream, second), ATMI_OK);
  add(stream, word, 1); /* waits for the second gate and, then, for the copy */
  open_gate(first);
  while (atmi_signal_query(copied) == ATMI_PENDING)
    sched_yield();
  /* More than there are places now. */
  const uint32_t launches = stream->capacity + 8;
  for (uint32_t i = 1; i < launches; i++)
    add(stream, word, 1);
  open_gate(second);
  assert_int_equal(atmi_stream_synchronize(stream), ATMI_OK);
  atmi_stream_put(stream);
  atmi_signal_unref(first);
  atmi_signal_unref(second);
  assert_int_equal(value_of(word), launches);
  release(word);
}

/* More than one barrier packet has room for: the last one counts as the first. */
static void many_signals_are_waited_for(void **state) {
  (void)state;
  enum { GATES = 2 * ATMI_PACKET_BARRIER_SIGNALS + 1 };
  static const uint32_t zero;
  uint32_t *word = allocate(sizeof *word);
  atmi_stream_t *stream = take_stream();
  atmi_signal_t *gates[GATES];
  assert_int_equal(atmi_transfer_submit(stream, word, &zero, sizeof zero), ATMI_OK);
  assert_int_equal(atmi_stream_synchronize(stream), ATMI_OK);
  for (unsigned left = 0; left < GATES; left += GATES / 2) {
    for (unsigned i = 0; i < GATES; i++) {
      gates[i] = close_gate();
      assert_int_equal(atmi_stream_wait_for(stream, gates[i]), ATMI_OK);
    }
    add(stream, word, 1);
    const atmi_signal_t *done = stream->operations[stream->count - 1].signal;
    for (unsigned i = 0; i < GATES; i++)
      if (i != left)
        open_gate(gates[i]);
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    assert_int_equal(atmi_signal_query(done), ATMI_PENDING);
    open_gate(gates[left]);
    assert_int_equal(atmi_stream_synchronize(stream), ATMI_OK);
    for (unsigned i = 0; i < GATES; i++)
      atmi_signal_unref(gates[i]);
  }
  atmi_stream_put(stream);
  assert_int_equal(value_of(word), 3);
  release(word);
}

/* A kernel behind a kernel also waits for what the stream was told to wait for in between. */
static void waits_between_kernels_hold(void **state) {
  (void)state;
  static const uint32_t zero;
  uint32_t *word = allocate(sizeof *word), before = 0;
  atmi_stream_t *stream = take_stream(), *other = take_stream();
  atmi_signal_t *first = close_gate(), *second = close_gate();
  assert_int_equal(atmi_transfer_submit(stream, word, &zero, sizeof zero), ATMI_OK);
  assert_int_equal(atmi_stream_synchronize(stream), ATMI_OK);
  assert_int_equal(atmi_stream_wait_for(stream, first), ATMI_OK);
  add(stream, word, 1);
  const atmi_signal_t *added = stream->operations[stream->count - 1].signal;
  assert_int_equal(atmi_stream_wait_for(stream, second), ATMI_OK);
  add(stream, word, 1);
  open_gate(first);
  while (atmi_signal_query(added) == ATMI_PENDING)
    sched_yield();
  nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
  assert_int_equal(atmi_transfer_retrieve(other, &before, word, sizeof before), ATMI_OK);
  assert_int_equal(atmi_stream_synchronize(other), ATMI_OK);
  assert_int_equal(before, 1);
  open_gate(second);
  assert_int_equal(atmi_stream_synchronize(stream), ATMI_OK);
  assert_int_equal(value_of(word), 2);
  atmi_stream_put(stream);
  atmi_stream_put(other);
  atmi_signal_unref(first);
  atmi_signal_unref(second);
  release(word);
}

/* Nobody sleeps on it, and ROCr makes a signal without an interrupt if it is told that. */
static void the_doorbell_of_host_calls_raises_no_interrupt(void **state) {
  (void)state;
  atmi_queue_t *queue;
  hsa_signal_t other;
  assert_int_equal(atmi_device_acquire_first_queue(the.device, &queue), ATMI_OK);
  assert_int_equal(atmi_hostcall_prepare(queue), ATMI_OK);
  const atmi_hostcall_buffer_t *buffer = queue->hostcall_buffer;
  const amd_signal_t *doorbell = (const amd_signal_t *)(uintptr_t)buffer->doorbell;
  assert_int_equal(doorbell->event_mailbox_ptr, 0);
  /* Others do, unless ROCr works without any. */
  const char *interrupts = getenv("HSA_ENABLE_INTERRUPT");
  assert_int_equal(hsa_signal_create(1, 0, NULL, &other), HSA_STATUS_SUCCESS);
  assert_true(((const amd_signal_t *)(uintptr_t)other.handle)->event_mailbox_ptr ||
              (interrupts && !strcmp(interrupts, "0")));
  hsa_signal_destroy(other);
  atmi_queue_release(queue);
}

/* Puts a kernel that adds to a word behind all others that must run alone; its argument block may be made too
 * long to be had, so that the launch fails after the stream has changed its queue. */
static atmi_status_t add_alone(atmi_stream_t *stream, uint32_t *word, bool fails) {
  void *bases[] = {word, (void *)1};
  static const ptrdiff_t offsets[2];
  static atmi_kernel_metadata_t metadata; /* both are looked at until the kernel is complete */
  static atmi_kernel_t kernel;
  metadata = *the.add.metadata;
  kernel = the.add;
  kernel.alone = true;
  kernel.metadata = &metadata;
  if (fails)
    metadata.kernarg_bytes = UINT32_MAX;
  const atmi_launch_t launch = {
      .arguments = bases, .offsets = offsets, .argument_count = 2, .groups = {1, 1, 1}, .group = {1, 1, 1}};
  return atmi_stream_launch(stream, NULL, &kernel, &launch);
}

static void a_kernel_on_another_queue_is_waited_for_after_a_failed_launch(void **state) {
  (void)state;
  char said[512];
  uint32_t *word = allocate(sizeof *word), zero = 0;
  atmi_stream_t *first = take_stream(), *stream = take_stream();
  atmi_signal_t *gate = close_gate();
  assert_int_equal(atmi_transfer_submit(first, word, &zero, sizeof zero), ATMI_OK);
  add(first, word, 1); /* holds the first queue */
  assert_int_equal(atmi_stream_synchronize(first), ATMI_OK);
  assert_int_equal(atmi_stream_wait_for(stream, gate), ATMI_OK);
  add(stream, word, 1);
  assert_false(atmi_device_is_first_queue(the.device, stream->queue));
  test_capture_begin();
  atmi_status_t failed = add_alone(stream, word, true);
  test_capture_end(said, sizeof said);
  assert_int_equal(failed, ATMI_UNSUPPORTED);
  assert_true(atmi_device_is_first_queue(the.device, stream->queue));
  assert_int_equal(add_alone(stream, word, false), ATMI_OK);
  nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
  assert_int_equal(atmi_signal_query(stream->operations[stream->count - 1].signal), ATMI_PENDING);
  open_gate(gate);
  assert_int_equal(atmi_stream_synchronize(stream), ATMI_OK);
  atmi_signal_unref(gate);
  atmi_stream_put(stream);
  atmi_stream_put(first);
  assert_int_equal(value_of(word), 3);
  release(word);
}

/* The header of the packet that the queue got last. */
static uint16_t last_header(const atmi_stream_t *stream) {
  uint64_t index = hsa_queue_load_write_index_relaxed(stream->queue->hsa) - 1;
  const hsa_kernel_dispatch_packet_t *ring =
      (const hsa_kernel_dispatch_packet_t *)(void *)stream->queue->ring;
  return __atomic_load_n(&ring[index & stream->queue->mask].header, __ATOMIC_RELAXED);
}

/* A device may begin a packet before the one in front of it is complete, unless the barrier bit is set. */
static void kernels_behind_others_have_the_barrier_bit(void **state) {
  (void)state;
  uint32_t *word = allocate(sizeof *word);
  atmi_stream_t *stream = take_stream();
  add(stream, word, 1);
  assert_int_equal(atmi_stream_synchronize(stream), ATMI_OK);
  assert_true(atmi_plan_hold_queue(stream));
  /* Nothing of the queue goes on, so that packets stay as they are. */
  atmi_signal_t *gate = close_gate();
  assert_int_equal(atmi_queue_wait(stream->queue, &gate, 1), ATMI_OK);
  for (int i = 0; i < 4; i++) {
    add(stream, word, 1);
    assert_int_equal(last_header(stream) >> HSA_PACKET_HEADER_BARRIER & 1, i > 0);
  }
  /* Behind a packet that waits for something, which has none itself, the first one has it, too. */
  atmi_stream_t *other = take_stream();
  assert_int_equal(atmi_stream_wait_for(other, gate), ATMI_OK);
  add(other, word, 0);
  assert_int_equal(last_header(other) >> HSA_PACKET_HEADER_BARRIER & 1, 1);
  open_gate(gate);
  assert_int_equal(atmi_stream_synchronize(stream), ATMI_OK);
  assert_int_equal(atmi_stream_synchronize(other), ATMI_OK);
  atmi_stream_put(stream);
  atmi_stream_put(other);
  atmi_signal_unref(gate);
  release(word);
}

/* A copy that has the signal of a kernel that ended is not that kernel, for who reports a fault. */
static void an_ended_kernel_is_not_taken_for_running(void **state) {
  (void)state;
  static const uint32_t zero;
  uint32_t *word = allocate(sizeof *word);
  atmi_stream_t *stream = take_stream();
  atmi_status_t status;
  atmi_running_t running;
  assert_int_equal(atmi_transfer_submit(stream, word, &zero, sizeof zero), ATMI_OK);
  assert_int_equal(atmi_stream_synchronize(stream), ATMI_OK);
  add(stream, word, 1);
  assert_int_equal(atmi_stream_synchronize(stream), ATMI_OK);
  assert_true(atmi_transfer_submit_small(stream, word, &zero, sizeof zero, &status));
  assert_false(atmi_queue_running(stream->queue, &running));
  assert_int_equal(status, ATMI_OK);
  assert_int_equal(atmi_stream_synchronize(stream), ATMI_OK);
  atmi_stream_put(stream);
  release(word);
}

/* As a region does it whose data goes to the device and comes back: none of the three waits on the host, and
 * the kernel has its plan's own block, though it is not the first. */
static void planned_launch_follows_what_its_region_began(void **state) {
  (void)state;
  static const uint32_t first = 100;
  uint32_t result = 0, *word = allocate(sizeof *word);
  void *bases[] = {word, (void *)(uintptr_t)5};
  const atmi_plan_key_t key = {.id = the.add.id, .words = {[4] = 2}};
  atmi_stream_t *stream = take_stream();
  add(stream, word, 1);
  assert_int_equal(atmi_stream_synchronize(stream), ATMI_OK);
  const atmi_plan_t *plan = atmi_plan_find(stream->plans, key);
  for (int pending = 0; pending < 2; pending++) {
    atmi_signal_t *gate = close_gate();
    if (pending)
      assert_int_equal(atmi_stream_wait_for(stream, gate), ATMI_OK);
    else
      open_gate(gate);
    assert_int_equal(atmi_transfer_submit(stream, word, &first, sizeof first), ATMI_OK);
    while (!pending && !atmi_signal_is_complete(stream->operations[stream->count - 1].signal))
      sched_yield();
    stream->planned = NULL;
    assert_int_equal(atmi_plan_launch_behind(stream, plan, bases), ATMI_OK);
    assert_ptr_equal(stream->planned, plan);
    assert_int_equal(last_header(stream) >> HSA_PACKET_HEADER_BARRIER & 1, pending);
    assert_int_equal(atmi_transfer_retrieve(stream, &result, word, sizeof result), ATMI_OK);
    if (pending) {
      assert_int_equal(atmi_stream_query(stream), ATMI_PENDING);
      open_gate(gate);
    }
    assert_int_equal(atmi_stream_synchronize(stream), ATMI_OK);
    assert_int_equal(result, 105);
    atmi_signal_unref(gate);
  }
  atmi_stream_put(stream);
  release(word);
}

/* Of two launches of one kernel that differ in more than their arguments, the second takes the place of the
 * first among the plans, but not its arguments while the device may still read them. */
static void leave_plan_alone(bool is_new) {
  static const uint32_t zeros[2];
  uint32_t results[2], *words = allocate(sizeof results);
  void *bases[] = {words + 1, (void *)(uintptr_t)20};
  static const ptrdiff_t offsets[2];
  const atmi_plan_key_t other = {.id = the.add.id, .words = {1, [4] = 2}};
  const atmi_launch_t launch = {
      .arguments = bases, .offsets = offsets, .argument_count = 2, .groups = {1, 1, 1}, .group = {1, 1, 1}};
  const atmi_plan_key_t fresh = {.id = the.add.id, .words = {9, [4] = 2}};
  void *fresh_bases[] = {words, (void *)(uintptr_t)3};
  atmi_launch_t fresh_launch = launch;
  fresh_launch.arguments = fresh_bases;
  const atmi_plan_key_t another = {.id = the.behind.id, .words = {2, [4] = 2}};
  void *behind_bases[] = {NULL, words};
  const atmi_launch_t behind = {.has_trailing = true,
                                .arguments = behind_bases,
                                .offsets = offsets,
                                .argument_count = 2,
                                .groups = {1, 1, 1},
                                .group = {1, 1, 1}};
  atmi_stream_t *stream = take_stream();
  add(stream, words, 0);
  assert_int_equal(atmi_stream_synchronize(stream), ATMI_OK);
  /* Now another plan's block was the last one in use. */
  assert_int_equal(atmi_stream_launch(stream, &another, &the.behind, &behind), ATMI_OK);
  assert_int_equal(atmi_stream_synchronize(stream), ATMI_OK);
  assert_int_equal(atmi_transfer_submit(stream, words, zeros, sizeof zeros), ATMI_OK);
  assert_int_equal(atmi_stream_synchronize(stream), ATMI_OK);
  assert_true(atmi_plan_hold_queue(stream));
  atmi_signal_t *gate = close_gate();
  assert_int_equal(atmi_queue_wait(stream->queue, &gate, 1), ATMI_OK);
  if (is_new) {
    stream->planned = NULL; /* by chance it may be the right one */
    assert_int_equal(atmi_stream_launch(stream, &fresh, &the.add, &fresh_launch), ATMI_OK);
  } else
    add(stream, words, 3);
  assert_int_equal(atmi_stream_launch(stream, &other, &the.add, &launch), ATMI_OK);
  open_gate(gate);
  assert_int_equal(atmi_transfer_retrieve(stream, results, words, sizeof results), ATMI_OK);
  assert_int_equal(atmi_stream_synchronize(stream), ATMI_OK);
  assert_int_equal(results[0], 3);
  assert_int_equal(results[1], 20);
  atmi_stream_put(stream);
  atmi_signal_unref(gate);
  release(words);
}

static void plans_in_use_are_left_alone(void **state) {
  (void)state;
  leave_plan_alone(false);
  leave_plan_alone(true);
}

/* A device may be wrong about the order: an earlier operation that is not complete is waited for all the
 * same. */
static void every_operation_is_waited_for(void **state) {
  (void)state;
  pthread_t opener;
  uint32_t *word = allocate(sizeof *word);
  atmi_stream_t *stream = take_stream();
  atmi_signal_t *gate = close_gate();
  assert_int_equal(atmi_stream_wait_for(stream, gate), ATMI_OK);
  add(stream, word, 1);
  atmi_signal_t *first = stream->operations[stream->count - 1].signal;
  add(stream, word, 1);
  const atmi_signal_t *last = stream->operations[stream->count - 1].signal;
  open_gate(gate);
  while (atmi_signal_query(last) == ATMI_PENDING)
    sched_yield();
  hsa_signal_store_screlease(first->hsa, 1);
  assert_int_equal(pthread_create(&opener, NULL, open_later, first), 0);
  assert_int_equal(atmi_stream_synchronize(stream), ATMI_OK);
  assert_int_equal(atmi_signal_query(first), ATMI_OK);
  pthread_join(opener, NULL);
  atmi_stream_put(stream);
  atmi_signal_unref(gate);
  release(word);
}

/* A copy that the engine reports as failed: the stream says so, what waits for it does not wait for ever, and
 * the stream works again. */
static void a_failed_copy_ends_its_stream_s_wait(void **state) {
  (void)state;
  char said[512];
  uint32_t *word = allocate(sizeof *word), value = 3, result = 0;
  atmi_stream_t *stream = take_stream();
  atmi_signal_t *gate = close_gate();
  assert_int_equal(atmi_transfer_submit(stream, word, &value, sizeof value), ATMI_OK);
  assert_int_equal(atmi_stream_synchronize(stream), ATMI_OK);
  assert_int_equal(atmi_stream_wait_for(stream, gate), ATMI_OK);
  assert_int_equal(atmi_transfer_submit(stream, word, &value, sizeof value), ATMI_OK);
  atmi_operation_t *copy = &stream->operations[stream->count - 1];
  add(stream, word, 1);
  /* As HSA does when a copy fails; the engine's own decrement is to be over as well. */
  hsa_signal_store_screlease(copy->signal->hsa, -1);
  open_gate(gate);
  while (hsa_signal_load_relaxed(copy->signal->hsa) != -2)
    sched_yield();
  test_capture_begin();
  assert_int_equal(atmi_signal_query(copy->signal), ATMI_HSA_FAILED);
  atmi_status_t status = atmi_stream_synchronize(stream);
  test_capture_end(said, sizeof said);
  assert_int_equal(status, ATMI_HSA_FAILED);
  assert_non_null(strstr(said, "the DMA engine reported an error"));
  add(stream, word, 1);
  assert_int_equal(atmi_transfer_retrieve(stream, &result, word, sizeof result), ATMI_OK);
  assert_int_equal(atmi_stream_synchronize(stream), ATMI_OK);
  assert_true(result > 3);
  atmi_stream_put(stream);
  atmi_signal_unref(gate);
  release(word);
}

/* Bytes are gathered for a copy when the host has what the stream retrieved before. */
static void gathering_comes_after_what_was_retrieved(void **state) {
  (void)state;
  static const uint32_t given = 815;
  uint32_t got = 0, *word = allocate(sizeof *word);
  void *staged;
  pthread_t opener;
  atmi_stream_t *stream = take_stream();
  atmi_signal_t *gate = close_gate();
  assert_int_equal(atmi_transfer_submit(stream, word, &given, sizeof given), ATMI_OK);
  assert_int_equal(atmi_stream_wait_for(stream, gate), ATMI_OK);
  assert_int_equal(atmi_transfer_retrieve(stream, &got, word, sizeof got), ATMI_OK);
  assert_int_equal(pthread_create(&opener, NULL, open_later, gate), 0);
  assert_int_equal(atmi_transfer_stage(stream, sizeof got, &staged), ATMI_OK);
  assert_int_equal(got, given);
  pthread_join(opener, NULL);
  assert_int_equal(atmi_stream_synchronize(stream), ATMI_OK);
  atmi_stream_put(stream);
  atmi_signal_unref(gate);
  release(word);
}

/* ---- what only the order of one word hands over: for ThreadSanitizer ---- */

typedef struct finder {
  atomic_bool made; /* relaxed */
  atmi_queue_t *found;
  uint64_t mask;
} finder_t;

static void *find_queue(void *argument) {
  finder_t *finder = argument;
  while (!atomic_load_explicit(&finder->made, memory_order_relaxed))
    sched_yield();
  if (!atmi_device_acquire_queue(the.device, NULL, &finder->found))
    finder->mask = finder->found->mask;
  return NULL;
}

/* A queue that one thread has made is another one's. */
static void a_queue_is_handed_over_whole(void **state) {
  (void)state;
  enum { MOST = 4 };
  static finder_t finder;
  atmi_queue_t *held[MOST];
  pthread_t thread;
  uint32_t count = 0, before;
  assert_int_equal(pthread_create(&thread, NULL, find_queue, &finder), 0);
  do {
    assert_true(count < MOST);
    before = atomic_load(&the.device->queue_count);
    assert_int_equal(atmi_device_acquire_queue(the.device, NULL, &held[count++]), ATMI_OK);
  } while (atomic_load(&the.device->queue_count) == before);
  atmi_queue_release(held[--count]);
  atomic_store_explicit(&finder.made, true, memory_order_relaxed);
  pthread_join(thread, NULL);
  assert_ptr_equal(finder.found, held[count]);
  assert_int_equal(finder.mask, held[count]->mask);
  atmi_queue_release(finder.found);
  while (count)
    atmi_queue_release(held[--count]);
}

typedef struct returned {
  atmi_event_t *event;
  atomic_bool put; /* relaxed */
} returned_t;

static void *put_for_another(void *argument) {
  returned_t *returned = argument;
  atmi_event_put(returned->event);
  atomic_store_explicit(&returned->put, true, memory_order_relaxed);
  return NULL;
}

/* An event goes home from whichever thread has it, with all that was written into it. */
static void an_event_comes_back_whole(void **state) {
  (void)state;
  static returned_t returned;
  atmi_event_t *again;
  pthread_t other;
  assert_int_equal(atmi_event_take(the.device, &returned.event), ATMI_OK);
  assert_int_equal(pthread_create(&other, NULL, put_for_another, &returned), 0);
  while (!atomic_load_explicit(&returned.put, memory_order_relaxed))
    sched_yield();
  assert_int_equal(atmi_event_take(the.device, &again), ATMI_OK);
  assert_ptr_equal(again, returned.event);
  atmi_event_put(again);
  pthread_join(other, NULL);
}

typedef struct handover {
  _Atomic(atmi_stream_place_t *) place; /* of who waits for the stream */
  atmi_stream_t *taken;
} handover_t;

static void *take_it_over(void *argument) {
  handover_t *handover = argument;
  atomic_store_explicit(&handover->place, atmi_stream_place(the.device), memory_order_relaxed);
  while (!(handover->taken = atmi_stream_take_own(the.device)))
    sched_yield();
  handover->taken->moved = !handover->taken->moved;
  atmi_stream_put(handover->taken);
  return NULL;
}

/* Threads that share a place find each other's streams there. */
static void a_stream_is_handed_over_whole(void **state) {
  (void)state;
  static handover_t handover;
  atmi_stream_place_t *place;
  pthread_t taker;
  atmi_stream_t *stream = take_stream();
  assert_int_equal(pthread_create(&taker, NULL, take_it_over, &handover), 0);
  while (!(place = atomic_load_explicit(&handover.place, memory_order_relaxed)))
    sched_yield();
  stream->place = place;
  stream->moved = !stream->moved;
  atmi_stream_put(stream);
  pthread_join(taker, NULL);
  assert_ptr_equal(handover.taken, stream);
}

int main(int count, char **arguments) {
  if (count != 2 && (count != 3 || strcmp(arguments[2], "failures") != 0)) {
    fprintf(stderr, "usage: %s IMAGE [failures]\n", arguments[0]);
    return 2;
  }
  image_path = arguments[1];
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(places_are_kept_for_who_waits), /* first: with few places */
      cmocka_unit_test(a_queue_is_handed_over_whole),  /* while not all are made */
      cmocka_unit_test(pending_operations_follow_each_other),
      cmocka_unit_test(pending_launches_keep_their_arguments),
      cmocka_unit_test(leading_arguments_are_remembered),
      cmocka_unit_test(trailing_arguments_are_remembered),
      cmocka_unit_test(events_may_be_put_by_other_threads),
      cmocka_unit_test(events_of_pending_work_join_streams),
      cmocka_unit_test(an_event_behind_a_wait_comes_after_it),
      cmocka_unit_test(many_signals_are_waited_for),
      cmocka_unit_test(waits_between_kernels_hold),
      cmocka_unit_test(kernels_behind_others_have_the_barrier_bit),
      cmocka_unit_test(a_kernel_on_another_queue_is_waited_for_after_a_failed_launch),
      cmocka_unit_test(an_ended_kernel_is_not_taken_for_running),
      cmocka_unit_test(the_doorbell_of_host_calls_raises_no_interrupt),
      cmocka_unit_test(planned_launch_follows_what_its_region_began),
      cmocka_unit_test(plans_in_use_are_left_alone),
      cmocka_unit_test(every_operation_is_waited_for),
      cmocka_unit_test(gathering_comes_after_what_was_retrieved),
      cmocka_unit_test(an_event_comes_back_whole),
      cmocka_unit_test(a_stream_is_handed_over_whole),
  };
  const struct CMUnitTest failures[] = {cmocka_unit_test(a_failed_copy_ends_its_stream_s_wait)};
  if (count == 3)
    return cmocka_run_group_tests(failures, open_device, close_device);
  return cmocka_run_group_tests(tests, open_device, close_device);
}
