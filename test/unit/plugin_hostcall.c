/* The hostcall server against a model of a wave, with good requests and hostile ones; and how long the
 * service thread sleeps. */
#include "plugin_test.h"

#include "base/service.h"
#include "services/hostcall.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PACKETS = 5 };

typedef struct model {
  atmi_hostcall_t hostcall;
  atmi_hostcall_buffer_t *buffer;
  uint64_t allocated, released;
} model_t;

static uint64_t model_allocate(void *context, uint64_t bytes) {
  ((model_t *)context)->allocated = bytes;
  return 0x5000;
}

static bool model_release(void *context, uint64_t address) {
  ((model_t *)context)->released = address;
  return address == 0x5000;
}

static void begin(model_t *model) {
  *model = (model_t){0};
  const atmi_rpc_host_t host = {.context = model, .allocate = model_allocate, .release = model_release};
  size_t bytes = atmi_hostcall_bytes(PACKETS);
  model->buffer = aligned_alloc(64, (bytes + 63) / 64 * 64);
  assert_non_null(model->buffer);
  memset(model->buffer, 0, bytes);
  atmi_hostcall_init("model", model->buffer, PACKETS, 77, &host, &model->hostcall);
}

static void end(model_t *model) {
  atmi_hostcall_fini(&model->hostcall);
  free(model->buffer);
}

static atmi_hostcall_header_t *header_at(const model_t *model, uint64_t entry) {
  return (atmi_hostcall_header_t *)(uintptr_t)model->buffer->headers + (entry & model->buffer->index_mask);
}

static uint64_t *slot_at(const model_t *model, uint64_t entry, uint32_t lane) {
  return (uint64_t *)(uintptr_t)model->buffer->payloads +
         ((entry & model->buffer->index_mask) * 64 + lane) * 8;
}

/* The device's half: pop a free packet ... */
static uint64_t pop(model_t *model) {
  uint64_t entry = atomic_load(&model->buffer->free_stack);
  assert_true(entry != 0);
  atomic_store(&model->buffer->free_stack, header_at(model, entry)->next);
  return entry;
}

/* ... and push it. */
static void push(const model_t *model, _Atomic uint64_t *stack, uint64_t entry) {
  header_at(model, entry)->next = atomic_load(stack);
  atomic_store(stack, entry);
}

/* A whole request of one lane; its answer is in the first two words. */
static void request(model_t *model, uint32_t service, uint64_t words[8]) {
  uint64_t entry = pop(model);
  atmi_hostcall_header_t *header = header_at(model, entry);
  header->service = service;
  header->active_mask = UINT64_C(1) << 63;
  atomic_store(&header->control, 1);
  memcpy(slot_at(model, entry, 63), words, 64);
  push(model, &model->buffer->ready_stack, entry);
  assert_true(atmi_hostcall_poll(&model->hostcall));
  assert_int_equal(atomic_load(&header->control) & 1, 0);
  memcpy(words, slot_at(model, entry, 63), 64);
  push(model, &model->buffer->free_stack, entry + model->buffer->index_mask + 1); /* with the next tag */
}

typedef struct served {
  model_t model;
  atomic_bool stop;
} served_t;

static void *serve(void *argument) {
  served_t *served = argument;
  while (!atomic_load_explicit(&served->stop, memory_order_relaxed))
    if (!atmi_hostcall_poll(&served->model.hostcall))
      sched_yield();
  return NULL;
}

/* Device and host at the same time: what each writes is there when the other is told, and by nothing else. */
static void requests_and_answers_arrive_whole(void **state) {
  (void)state;
  static served_t served;
  model_t *model = &served.model;
  pthread_t server;
  begin(model);
  const uint64_t entry = pop(model);
  atmi_hostcall_header_t *header = header_at(model, entry);
  uint64_t *slot = slot_at(model, entry, 63);
  assert_int_equal(pthread_create(&server, NULL, serve, &served), 0);
  for (uint64_t i = 0; i < 1000; i++) {
    header->service = 3;
    header->active_mask = UINT64_C(1) << 63;
    header->next = 0;
    slot[0] = 0;
    slot[1] = 100 + i;
    atomic_store_explicit(&header->control, 1, memory_order_relaxed);
    atomic_store_explicit(&model->buffer->ready_stack, entry, memory_order_release);
    while (atomic_load_explicit(&header->control, memory_order_acquire) & 1)
      sched_yield();
    assert_int_equal(slot[0], 0x5000);
  }
  atomic_store(&served.stop, true);
  pthread_join(server, NULL);
  end(model);
}

static void every_packet_is_free_once(void **state) {
  (void)state;
  model_t model;
  unsigned seen = 0;
  begin(&model);
  assert_int_equal(model.buffer->index_mask, 7);
  for (int i = 0; i < PACKETS; i++)
    seen |= 1u << (pop(&model) & 7);
  assert_int_equal(seen, (1u << PACKETS) - 1);
  assert_int_equal(atomic_load(&model.buffer->free_stack), 0);
  assert_false(atmi_hostcall_poll(&model.hostcall));
  end(&model);
}

static void gives_and_takes_memory(void **state) {
  (void)state;
  model_t model;
  char text[256];
  begin(&model);
  for (int i = 0; i < 20; i++) {
    uint64_t words[8] = {0, 100 + (uint64_t)i};
    request(&model, 3, words);
    assert_int_equal(words[0], 0x5000);
    assert_int_equal(model.allocated, 100 + i);
    request(&model, 3, words);
    assert_int_equal(model.released, 0x5000);
    assert_int_equal(words[0], 0);
  }
  test_capture_begin();
  uint64_t words[8] = {0x1234};
  request(&model, 3, words);
  test_capture_end(text, sizeof text);
  assert_non_null(strstr(text, "to free memory"));
  end(&model);
}

static void prints_messages_of_pieces(void **state) {
  (void)state;
  model_t model;
  char text[512];
  begin(&model);
  test_capture_begin();
  uint64_t words[8] = {1 | 1 << 5, 1}; /* begin, one word: to stderr */
  request(&model, 2, words);
  assert_int_equal(words[0] & 3, 0);
  uint64_t id = words[0] & ~UINT64_C(0xff);
  memset(words, 0, sizeof words);
  words[0] = id | 2 << 5;
  memcpy(&words[1], "%d and %s\n", 11);
  request(&model, 2, words);
  uint64_t last[8] = {id | 2 | 2 << 5, 42};
  memcpy(&last[2], "text", 5);
  request(&model, 2, last);
  test_capture_end(text, sizeof text);
  assert_string_equal(text, "42 and text\n");
  assert_int_equal(last[0], 12);
  end(&model);
}

static void hostile_requests(void **state) {
  (void)state;
  model_t model;
  char text[2048];
  begin(&model);
  test_capture_begin();
  uint64_t unknown[8] = {1, 2}, orphan[8] = {UINT64_C(77) << 8 | 2}, call[8] = {0x1000}, empty[8] = {3};
  request(&model, 99, unknown);
  assert_int_equal(unknown[0], 0);
  request(&model, 2, orphan); /* a piece of a message that was not begun */
  request(&model, 1, call);
  request(&model, 2, empty); /* begun and ended at once */
  assert_int_equal(empty[0], UINT64_MAX);
  /* A format without an end, and strings that are missing. */
  uint64_t endless[8] = {3 | 2 << 5, 1, UINT64_C(0x7878787878787878)};
  request(&model, 2, endless);
  assert_int_equal(endless[0], UINT64_MAX);
  uint64_t missing[8] = {3 | 3 << 5, 1};
  memcpy(&missing[2], "%s%s%d%n%ls\n", 13);
  request(&model, 2, missing);
  /* Indices that are none, circles, and noise in the buffer's own fields. */
  model.buffer->headers = model.buffer->payloads = 0x10;
  atomic_store(&model.buffer->ready_stack, 7);
  assert_true(atmi_hostcall_poll(&model.hostcall));
  atomic_store(&model.buffer->ready_stack, 2);
  ((atmi_hostcall_header_t *)(void *)((char *)model.buffer + 64))[2].next = 2;
  assert_true(atmi_hostcall_poll(&model.hostcall));
  test_capture_end(text, sizeof text);
  assert_non_null(strstr(text, "a service that is not known"));
  assert_non_null(strstr(text, "not begun"));
  assert_non_null(strstr(text, "where no code is"));
  assert_non_null(strstr(text, "damaged packets"));
  end(&model);
}

/* ---- the service thread ---- */

static atomic_int sleeps;
static atomic_long longest_ns;

/* In the C library's place: says how long it was to be, and is over. */
int nanosleep(const struct timespec *wanted, struct timespec *left) {
  (void)left;
  if (wanted->tv_sec || wanted->tv_nsec > longest_ns)
    longest_ns = wanted->tv_sec * 1000000000L + wanted->tv_nsec;
  sleeps++;
  return sched_yield();
}

/* A request that comes after a long silence waits for that long at most. */
static void sleeps_for_8_ms_at_most(void **state) {
  (void)state;
  atmi_service_t service;
  sleeps = 0;
  longest_ns = 0;
  atmi_service_init(&service);
  assert_int_equal(atmi_service_begin(&service, "model"), ATMI_OK);
  while (sleeps < 2000)
    sched_yield();
  atmi_service_end(&service, 1);
  atmi_service_fini(&service);
  assert_int_equal(longest_ns, 8000000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(requests_and_answers_arrive_whole),
      cmocka_unit_test(every_packet_is_free_once),
      cmocka_unit_test(gives_and_takes_memory),
      cmocka_unit_test(prints_messages_of_pieces),
      cmocka_unit_test(hostile_requests),
      cmocka_unit_test(sleeps_for_8_ms_at_most),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
