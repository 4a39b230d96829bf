/* The lock-free pool: recycling, growth over segments, failure, and eight threads at once. */
#include "plugin_test.h"

#include "base/pool.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct {
  atmi_pool_link_t link;
  _Atomic int owners; /* must never be 2 */
  unsigned uses;      /* what owners write, one after the other */
  int value;
} object_t;

typedef struct {
  _Atomic int made, destroyed;
  int most;
} shop_t;

static atmi_status_t make(void *object, void *context) {
  shop_t *shop = context;
  object_t *made = object;
  assert_int_equal(made->value, 0);
  if (atomic_fetch_add(&shop->made, 1) >= shop->most) {
    atomic_fetch_sub(&shop->made, 1);
    return ATMI_NO_MEMORY;
  }
  made->value = 42;
  return ATMI_OK;
}

static void destroy(void *object, void *context) {
  assert_int_equal(((object_t *)object)->value, 42);
  atomic_fetch_add(&((shop_t *)context)->destroyed, 1);
}

static void recycles_the_last_one_first(void **state) {
  (void)state;
  shop_t shop = {.most = 10};
  atmi_pool_t pool;
  atmi_pool_init(&pool, sizeof(object_t), make, destroy, &shop);
  void *a, *b, *c;
  assert_int_equal(atmi_pool_take(&pool, &a), ATMI_OK);
  assert_int_equal(atmi_pool_take(&pool, &b), ATMI_OK);
  assert_ptr_not_equal(a, b);
  atmi_pool_put(&pool, a);
  atmi_pool_put(&pool, b);
  assert_int_equal(atmi_pool_take(&pool, &c), ATMI_OK);
  assert_ptr_equal(b, c);
  assert_int_equal(shop.made, 2);
  atmi_pool_fini(&pool); /* also what was not put back */
  assert_int_equal(shop.destroyed, 2);
}

static void grows_without_moving(void **state) {
  (void)state;
  enum { COUNT = 1000 };
  static object_t *objects[COUNT];
  shop_t shop = {.most = COUNT};
  atmi_pool_t pool;
  atmi_pool_init(&pool, sizeof(object_t), make, destroy, &shop);
  for (int i = 0; i < COUNT; i++) {
    void *object;
    assert_int_equal(atmi_pool_take(&pool, &object), ATMI_OK);
    objects[i] = object;
    assert_int_equal(atomic_fetch_add(&objects[i]->owners, 1), 0);
  }
  void *none;
  assert_int_equal(atmi_pool_take(&pool, &none), ATMI_NO_MEMORY);
  assert_int_equal(atmi_pool_count(&pool), COUNT);
  for (uint32_t i = 0; i < COUNT; i++)
    assert_ptr_equal(atmi_pool_at(&pool, i), objects[i]);
  atmi_pool_put(&pool, objects[500]);
  assert_int_equal(atmi_pool_take(&pool, &none), ATMI_OK);
  assert_ptr_equal(none, objects[500]);
  atmi_pool_fini(&pool);
  assert_int_equal(shop.destroyed, COUNT);
}

static void accepts_a_zeroed_pool(void **state) {
  (void)state;
  atmi_pool_t pool = {0};
  atmi_pool_fini(&pool);
}

enum { THREADS = 8, ROUNDS = 20000, HELD = 4 };

static void *hammer(void *argument) {
  atmi_pool_t *pool = argument;
  object_t *held[HELD] = {NULL};
  for (int round = 0; round < ROUNDS; round++) {
    object_t **slot = &held[round % HELD];
    if (*slot) {
      /* Relaxed: nothing but the pool orders one owner before the next, which ThreadSanitizer looks at. */
      (*slot)->uses++;
      atomic_fetch_sub_explicit(&(*slot)->owners, 1, memory_order_relaxed);
      atmi_pool_put(pool, *slot);
    }
    void *object;
    if (atmi_pool_take(pool, &object))
      return (void *)1;
    *slot = object;
    if (atomic_fetch_add_explicit(&(*slot)->owners, 1, memory_order_relaxed))
      return (void *)2;
  }
  return NULL;
}

/* Looks at all objects while others are made: each that is counted has been made. */
static void *visit_all(void *argument) {
  atmi_pool_t *pool = argument;
  for (uint32_t count = 0; count < HELD;) {
    count = atmi_pool_count(pool);
    for (uint32_t i = 0; i < count; i++)
      if (((object_t *)atmi_pool_at(pool, i))->value != 42)
        return (void *)1;
  }
  return NULL;
}

static void gives_an_object_to_one_thread_at_a_time(void **state) {
  (void)state;
  shop_t shop = {.most = THREADS * HELD};
  atmi_pool_t pool;
  pthread_t visitor;
  void *seen;
  atmi_pool_init(&pool, sizeof(object_t), make, destroy, &shop);
  pthread_t threads[THREADS];
  assert_int_equal(pthread_create(&visitor, NULL, visit_all, &pool), 0);
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, hammer, &pool), 0);
  pthread_join(visitor, &seen);
  assert_null(seen);
  for (int i = 0; i < THREADS; i++) {
    void *result;
    pthread_join(threads[i], &result);
    assert_null(result);
  }
  assert_in_range(shop.made, HELD, THREADS * HELD);
  atmi_pool_fini(&pool);
}

typedef struct handover {
  atmi_pool_t pool;
  atomic_bool put; /* relaxed: only the pool orders the threads */
  object_t *taken;
} handover_t;

static void *take_what_was_put(void *argument) {
  handover_t *handover = argument;
  void *object = NULL;
  while (!atomic_load_explicit(&handover->put, memory_order_relaxed))
    sched_yield();
  if (!atmi_pool_take(&handover->pool, &object)) {
    handover->taken = object;
    handover->taken->uses++;
  }
  return NULL;
}

/* Also to a thread that has never had one of the pool. */
static void hands_an_object_over(void **state) {
  (void)state;
  shop_t shop = {.most = 1};
  static handover_t handover;
  pthread_t taker;
  void *object;
  atmi_pool_init(&handover.pool, sizeof(object_t), make, destroy, &shop);
  assert_int_equal(pthread_create(&taker, NULL, take_what_was_put, &handover), 0);
  assert_int_equal(atmi_pool_take(&handover.pool, &object), ATMI_OK);
  ((object_t *)object)->uses++;
  atmi_pool_put(&handover.pool, object);
  atomic_store_explicit(&handover.put, true, memory_order_relaxed);
  pthread_join(taker, NULL);
  assert_ptr_equal(handover.taken, object);
  assert_int_equal(handover.taken->uses, 2);
  atmi_pool_fini(&handover.pool);
}

#ifndef __SANITIZE_THREAD__
/* What another thread may do when one that takes has seen what is next, and has yet to write so: the pool
 * cannot be written to then, and who tries is interrupted there. */
static struct {
  atmi_pool_t *pool;
  size_t bytes; /* of its pages */
  void *kept;
} interruption;

static void interrupt(int number) {
  void *first = NULL;
  (void)number;
  if (mprotect(interruption.pool, interruption.bytes, PROT_READ | PROT_WRITE) ||
      atmi_pool_take(interruption.pool, &first) || atmi_pool_take(interruption.pool, &interruption.kept))
    abort();
  atmi_pool_put(interruption.pool, first);
}

static void an_object_that_went_and_came_back_is_another_head(void **state) {
  (void)state;
  enum { OBJECTS = 4 };
  shop_t shop = {.most = OBJECTS};
  void *objects[OBJECTS], *first, *second;
  struct sigaction before;
  interruption.bytes = (sizeof(atmi_pool_t) / (size_t)getpagesize() + 1) * (size_t)getpagesize();
  interruption.pool =
      mmap(NULL, interruption.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_ptr_not_equal(interruption.pool, MAP_FAILED);
  atmi_pool_init(interruption.pool, sizeof(object_t), make, destroy, &shop);
  for (int i = 0; i < OBJECTS; i++)
    assert_int_equal(atmi_pool_take(interruption.pool, &objects[i]), ATMI_OK);
  for (int i = 0; i < OBJECTS; i++)
    atmi_pool_put(interruption.pool, objects[i]);
  assert_int_equal(sigaction(SIGSEGV, &(struct sigaction){.sa_handler = interrupt}, &before), 0);
  assert_int_equal(mprotect(interruption.pool, interruption.bytes, PROT_READ), 0);
  assert_int_equal(atmi_pool_take(interruption.pool, &first), ATMI_OK);
  assert_int_equal(sigaction(SIGSEGV, &before, NULL), 0);
  assert_int_equal(atmi_pool_take(interruption.pool, &second), ATMI_OK);
  assert_ptr_equal(first, objects[OBJECTS - 1]);
  assert_ptr_equal(interruption.kept, objects[OBJECTS - 2]);
  assert_ptr_equal(second, objects[OBJECTS - 3]);
  atmi_pool_fini(interruption.pool);
  munmap(interruption.pool, interruption.bytes);
}
#endif

/* In place of the C library's, for the pool's segments. */
static bool is_exhausted;

void *aligned_alloc(size_t alignment, size_t bytes) {
  void *memory = NULL;
  return is_exhausted || posix_memalign(&memory, alignment, bytes) ? NULL : memory;
}

static void says_what_there_is_no_memory_for(void **state) {
  (void)state;
  static const char label[] = "device 7", objects[] = "staging buffers";
  shop_t shop = {.most = 100};
  atmi_pool_t pool;
  void *object;
  char said[300];
  for (int named = 0; named < 2; named++) {
    atmi_pool_init(&pool, sizeof(object_t), make, destroy, &shop);
    if (named)
      atmi_pool_name(&pool, label, objects);
    for (int i = 0; i < 32; i++) /* the first segment */
      assert_int_equal(atmi_pool_take(&pool, &object), ATMI_OK);
    is_exhausted = true;
    test_capture_begin();
    assert_int_equal(atmi_pool_take(&pool, &object), ATMI_NO_MEMORY);
    test_capture_end(said, sizeof said);
    is_exhausted = false;
    assert_int_equal(said[0] != 0, named);
    if (named)
      assert_true(strstr(said, "device 7: cannot have more staging buffers than 32: out of host memory"));
    assert_int_equal(atmi_pool_take(&pool, &object), ATMI_OK); /* and then there is some again */
    atmi_pool_fini(&pool);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(recycles_the_last_one_first),
      cmocka_unit_test(grows_without_moving),
      cmocka_unit_test(accepts_a_zeroed_pool),
      cmocka_unit_test(says_what_there_is_no_memory_for),
      cmocka_unit_test(gives_an_object_to_one_thread_at_a_time),
      cmocka_unit_test(hands_an_object_over),
#ifndef __SANITIZE_THREAD__ /* which holds a lock of its own over each change of an atomic */
      cmocka_unit_test(an_object_that_went_and_came_back_is_another_head),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
