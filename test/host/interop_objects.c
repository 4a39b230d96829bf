/* Interop objects by the entry points of LLVM 22, and what both kinds of entry points do with objects that
 * are gone. libomp's part is played here. Run as "host_interop_objects IMAGE", with two devices. */
#include "driver.h"

#include "libomp.h"

#include <hsa/hsa.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FR_ID = -1, FR_NAME = -2, DEVICE_NUMBER = -5, DEVICE = -7, QUEUE = -9, EMPTY = -1, NO_TARGETSYNC = 0 };

/* ---- libomp ---- */

static int waits, waited_for;

void __kmpc_omp_wait_deps(void *where, int32_t thread, int32_t count, tgt_depend_t *list, int32_t other_count,
                          tgt_depend_t *other_list) {
  (void)where, (void)thread, (void)list, (void)other_list;
  waits++;
  waited_for += count + other_count;
}

int32_t __kmpc_global_thread_num(void *where) {
  (void)where;
  return 0;
}

/* ---- objects ---- */

static tgt_interop_t *get(int kind, int64_t device, uint32_t flags, int32_t thread) {
  const tgt_interop_context_t context = {0, flags, thread};
  return __tgt_interop_get(NULL, kind, device, 0, NULL, &context, NULL);
}

static int let_go(tgt_interop_t *object) {
  const tgt_interop_context_t context = {0, 0, 0};
  return __tgt_interop_release(NULL, object, &context, NULL);
}

static int use(tgt_interop_t *object, uint32_t flags) {
  const tgt_interop_context_t context = {0, flags, 0};
  return __tgt_interop_use60(NULL, object, &context, NULL);
}

/* Puts a barrier packet into an object's queue that waits for `until` and then completes `done`. */
static void put_packet(tgt_interop_t *object, hsa_signal_t until, hsa_signal_t done) {
  hsa_queue_t *queue = omp_get_interop_ptr(object, QUEUE, NULL);
  DRIVER_CHECK(queue != NULL);
  uint64_t index = hsa_queue_add_write_index_relaxed(queue, 1);
  hsa_barrier_and_packet_t *packet = (hsa_barrier_and_packet_t *)queue->base_address + index % queue->size;
  *packet = (hsa_barrier_and_packet_t){
      .header = HSA_PACKET_TYPE_INVALID, .dep_signal = {until}, .completion_signal = done};
  __atomic_store_n(&packet->header, (uint16_t)(HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE),
                   __ATOMIC_RELEASE);
  hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
}

static void come_and_go(void) {
  int error = 7;
  for (int device = 0; device < 2; device++) {
    tgt_interop_t *plain = get(NO_TARGETSYNC, device, 0, 0);
    tgt_interop_t *queued = get(TGT_INTEROP_TARGETSYNC, device, 0, 0);
    DRIVER_CHECK(plain && queued && plain != queued);
    DRIVER_CHECK(omp_get_interop_int(plain, DEVICE_NUMBER, &error) == device && !error);
    DRIVER_CHECK(omp_get_interop_int(plain, FR_ID, &error) == 7 && !error);
    DRIVER_CHECK(!strcmp(omp_get_interop_str(plain, FR_NAME, &error), "hsa") && !error);
    DRIVER_CHECK(omp_get_interop_ptr(plain, DEVICE, &error) && !error);
    DRIVER_CHECK(!omp_get_interop_ptr(plain, QUEUE, &error) && error);
    DRIVER_CHECK(omp_get_interop_ptr(queued, QUEUE, &error) && !error);
    DRIVER_CHECK(!omp_get_interop_str(queued, QUEUE, &error) && error);
    DRIVER_CHECK(!use(plain, 0) && !use(queued, 0) && !use(queued, TGT_INTEROP_NOWAIT));
    DRIVER_CHECK(!let_go(plain) && !let_go(queued));
  }
}

static void objects_come_and_go(void **state) {
  (void)state;
  driver_expect_success(come_and_go);
}

static void ask_for_others(void) {
  DRIVER_CHECK(!get(TGT_INTEROP_TARGETSYNC, 17, 0, 0));
  DRIVER_CHECK(!get(TGT_INTEROP_TARGETSYNC, 17, TGT_INTEROP_IMPLICIT, 0));
  DRIVER_CHECK(!get(NO_TARGETSYNC, -7, 0, 0));
  DRIVER_CHECK(!get(NO_TARGETSYNC, tgt_runtime_device_count(tgt_runtime()), 0, 0)); /* the host */
  DRIVER_CHECK(!tgt_runtime()->interops);
  DRIVER_CHECK(use(NULL, 0) == ~0 && let_go(NULL) == ~0);
  /* Without what comes with a request. */
  tgt_interop_t *object = __tgt_interop_get(NULL, TGT_INTEROP_TARGETSYNC, 0, 0, NULL, NULL, NULL);
  DRIVER_CHECK(object && !__tgt_interop_use60(NULL, object, NULL, NULL));
  DRIVER_CHECK(!__tgt_interop_release(NULL, object, NULL, NULL));
  /* The old entry points make an object nevertheless, which says that it has nothing. */
  int error = 0;
  __tgt_interop_init(NULL, 0, &object, TGT_INTEROP_OLD_TARGETSYNC, 17, 0, NULL, 0);
  DRIVER_CHECK(object && !omp_get_interop_ptr(object, QUEUE, &error) && error == 1);
  __tgt_interop_use(NULL, 0, &object, 17, 0, NULL, 0);
  __tgt_interop_destroy(NULL, 0, &object, 17, 0, NULL, 0);
  DRIVER_CHECK(!object);
  __tgt_interop_init(NULL, 0, NULL, TGT_INTEROP_OLD_TARGETSYNC, 0, 0, NULL, 0);
  __tgt_interop_use(NULL, 0, NULL, 0, 0, NULL, 0);
  __tgt_interop_destroy(NULL, 0, NULL, 0, 0, NULL, 0);
}

static void other_devices_have_none(void **state) {
  (void)state;
  char text[DRIVER_TEXT];
  int status = driver_in_child(ask_for_others, text);
  if (status || !strstr(text, "Device number '17' out of range, only 2 devices available"))
    driver_fail(status, "out of range", text);
}

static void use_what_is_gone(void) {
  tgt_interop_t *object = get(TGT_INTEROP_TARGETSYNC, 0, 0, 0), *copy;
  int error = 0;
  DRIVER_CHECK(!let_go(object));
  DRIVER_CHECK(use(object, 0) == ~0 && use(object, TGT_INTEROP_NOWAIT) == ~0 && let_go(object) == ~0);
  DRIVER_CHECK(!omp_get_interop_ptr(object, QUEUE, &error) && error == EMPTY);
  DRIVER_CHECK(!omp_get_interop_int(object, FR_ID, &error) && error == EMPTY);
  DRIVER_CHECK(!omp_get_interop_str(object, FR_NAME, &error) && error == EMPTY);
  DRIVER_CHECK(!omp_get_interop_name(object, QUEUE) && !omp_get_interop_type_desc(object, QUEUE));
  DRIVER_CHECK(ompx_interop_add_completion_callback(object, NULL, NULL) != 0);
  __tgt_interop_init(NULL, 0, &object, TGT_INTEROP_OLD_TARGETSYNC, 0, 0, NULL, 0);
  copy = object;
  __tgt_interop_destroy(NULL, 0, &object, 0, 0, NULL, 0);
  __tgt_interop_use(NULL, 0, &copy, 0, 0, NULL, 0);
  __tgt_interop_destroy(NULL, 0, &copy, 0, 0, NULL, 0);
  DRIVER_CHECK(!copy);
}

static void what_is_gone_is_refused(void **state) {
  (void)state;
  char text[DRIVER_TEXT];
  int status = driver_in_child(use_what_is_gone, text);
  if (status || !strstr(text, "cannot use an interop object: it was destroyed, or never made") ||
      !strstr(text, "cannot destroy an interop object: it was destroyed, or never made"))
    driver_fail(status, "cannot use, cannot destroy", text);
}

/* ---- waiting ---- */

static char calls[16];

static void call(tgt_interop_t *object, void *data) {
  (void)object;
  strcat(calls, data);
}

static hsa_signal_t signal_of(hsa_signal_value_t value) {
  hsa_signal_t signal;
  DRIVER_CHECK(hsa_signal_create(value, 0, NULL, &signal) == HSA_STATUS_SUCCESS);
  return signal;
}

/* Lets a packet go on after a while. */
static void *open_later(void *signal) {
  nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
  hsa_signal_store_screlease(*(hsa_signal_t *)signal, 0);
  return NULL;
}

/* What ends the waiting of `done` returns when the packet is complete, which it is after a while. */
static void wait_by(int (*end)(tgt_interop_t *), bool is_done) {
  tgt_interop_t *object = get(TGT_INTEROP_TARGETSYNC, 1, 0, 0);
  hsa_signal_t gate = signal_of(1), done = signal_of(1);
  pthread_t thread;
  *calls = 0;
  DRIVER_CHECK(!ompx_interop_add_completion_callback(object, call, (char[]){"a"}));
  DRIVER_CHECK(!ompx_interop_add_completion_callback(object, call, (char[]){"b"}));
  put_packet(object, gate, done);
  DRIVER_CHECK(!pthread_create(&thread, NULL, open_later, &gate));
  DRIVER_CHECK(!end(object));
  DRIVER_CHECK(hsa_signal_load_scacquire(done) == !is_done);
  DRIVER_CHECK(!strcmp(calls, is_done ? "ab" : ""));
  pthread_join(thread, NULL);
  if (end != let_go)
    DRIVER_CHECK(!let_go(object));
  DRIVER_CHECK(!hsa_signal_load_scacquire(done) && !strcmp(calls, "ab"));
  hsa_signal_destroy(gate);
  hsa_signal_destroy(done);
}

static int use_and_wait(tgt_interop_t *object) {
  return use(object, 0);
}

static int use_nowait(tgt_interop_t *object) {
  return use(object, TGT_INTEROP_NOWAIT);
}

static int use_old(tgt_interop_t *object) {
  __tgt_interop_use(NULL, 0, &object, 1, 0, NULL, 0);
  return 0;
}

static void wait_by_all(void) {
  wait_by(use_and_wait, true);
  wait_by(use_old, true);
  wait_by(let_go, true);
  wait_by(use_nowait, false);
}

static void use_waits_for_the_queue(void **state) {
  (void)state;
  driver_expect_success(wait_by_all);
}

static void depend(void) {
  const tgt_interop_context_t context = {0, 0, 0};
  const tgt_depend_pack_t pack = {2, 1, &waits, &waits};
  tgt_interop_t *object = __tgt_interop_get(NULL, TGT_INTEROP_TARGETSYNC, 0, 0, NULL, &context, &pack);
  DRIVER_CHECK(waits == 1 && waited_for == 3);
  DRIVER_CHECK(!__tgt_interop_use60(NULL, object, &context, &pack) && waits == 2 && waited_for == 6);
  DRIVER_CHECK(!__tgt_interop_release(NULL, object, &context, &pack) && waits == 3 && waited_for == 9);
}

static void dependences_are_waited_for(void **state) {
  (void)state;
  driver_expect_success(depend);
}

/* ---- implicit objects ---- */

static void share(void) {
  tgt_interop_t *one = get(TGT_INTEROP_TARGETSYNC, 0, TGT_INTEROP_IMPLICIT, 1);
  DRIVER_CHECK(one && one == get(TGT_INTEROP_TARGETSYNC, 0, TGT_INTEROP_IMPLICIT, 1));
  DRIVER_CHECK(one == get(TGT_INTEROP_TARGETSYNC, -1, TGT_INTEROP_IMPLICIT, 1)); /* the default device */
  DRIVER_CHECK(one != get(TGT_INTEROP_TARGETSYNC, 1, TGT_INTEROP_IMPLICIT, 1));
  DRIVER_CHECK(one != get(TGT_INTEROP_TARGETSYNC, 0, TGT_INTEROP_IMPLICIT, 2));
  DRIVER_CHECK(one != get(NO_TARGETSYNC, 0, TGT_INTEROP_IMPLICIT, 1));
  DRIVER_CHECK(one != get(TGT_INTEROP_TARGETSYNC, 0, 0, 1));
  /* It stays when it is released. */
  DRIVER_CHECK(!let_go(one) && !use(one, 0) &&
               one == get(TGT_INTEROP_TARGETSYNC, 0, TGT_INTEROP_IMPLICIT, 1));
  *calls = 0;
  DRIVER_CHECK(!ompx_interop_add_completion_callback(one, call, (char[]){"x"}));
  __tgt_target_sync(NULL, 2, NULL, NULL); /* another thread's task */
  DRIVER_CHECK(!*calls);
  __tgt_target_sync(NULL, 1, NULL, NULL);
  DRIVER_CHECK(!strcmp(calls, "x"));
  __tgt_target_sync(NULL, 1, NULL, NULL);
  DRIVER_CHECK(!strcmp(calls, "x"));
}

static void implicit_objects_are_the_threads(void **state) {
  (void)state;
  driver_expect_success(share);
}

enum { THREADS = 4, ROUNDS = 200 };
static atomic_int synced, wrong;

static void count(tgt_interop_t *object, void *data) {
  (void)object, (void)data;
  atomic_fetch_add(&synced, 1);
}

/* Explicit objects come and go in front of and behind the implicit ones of all threads. */
static void *work(void *number) {
  int thread = *(int *)number;
  tgt_interop_t *first = NULL;
  for (int i = 0; i < ROUNDS; i++) {
    tgt_interop_t *implicit = get(TGT_INTEROP_TARGETSYNC, thread % 2, TGT_INTEROP_IMPLICIT, thread);
    tgt_interop_t *object = get(i % 2, i % 2, 0, thread);
    first = first ? first : implicit;
    int failed = ompx_interop_add_completion_callback(implicit, count, NULL);
    failed |= use(object, i % 3 ? TGT_INTEROP_NOWAIT : 0);
    __tgt_target_sync(NULL, thread, NULL, NULL);
    atomic_fetch_add(&wrong, failed || implicit != first || let_go(object));
  }
  return NULL;
}

static void work_together(void) {
  pthread_t threads[THREADS];
  int numbers[THREADS];
  for (int i = 0; i < THREADS; i++) {
    numbers[i] = i;
    DRIVER_CHECK(!pthread_create(&threads[i], NULL, work, &numbers[i]));
  }
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  DRIVER_CHECK(!wrong && synced == THREADS * ROUNDS);
  int objects = 0;
  for (const void *at = tgt_runtime()->interops; at; at = *(void *const *)at) /* `next` comes first */
    objects++;
  DRIVER_CHECK(objects == THREADS);
}

static void threads_do_not_meet(void **state) {
  (void)state;
  driver_expect_success(work_together);
}

int main(int count_of, char **arguments) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(objects_come_and_go),        cmocka_unit_test(other_devices_have_none),
      cmocka_unit_test(what_is_gone_is_refused),    cmocka_unit_test(use_waits_for_the_queue),
      cmocka_unit_test(dependences_are_waited_for), cmocka_unit_test(implicit_objects_are_the_threads),
      cmocka_unit_test(threads_do_not_meet),
  };
  if (count_of != 2) {
    fprintf(stderr, "usage: %s IMAGE\n", arguments[0]);
    return 2;
  }
  driver.path = arguments[1];
  driver_read();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
