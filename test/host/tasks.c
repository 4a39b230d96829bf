/* Constructs that are left to a task, by a libomp that the test stands in for: until the task asks for them,
 * and when the program ends. */
#include "driver.h"
#include "libomp.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void *handle; /* the task's */
static atomic_bool is_over;

/* What libomp says of the thread: it works on a task that can be put back. */
int __kmpc_global_thread_num(void *where) {
  (void)where;
  return 0;
}

bool __kmpc_omp_has_task_team(int32_t thread) {
  return thread == 0;
}

void **__kmpc_omp_get_target_async_handle_ptr(int32_t thread) {
  return thread == 0 ? &handle : NULL;
}

/* Of clang 19 or later, whose libraries are unregistered by exit handlers. */
static void begin_as_newer(void) {
  atomic_store(&tgt_runtime()->newest_version, 19);
}

static void map_without_waiting(void) {
  void *items[] = {array};
  int64_t sizes[] = {sizeof array}, types[] = {TGT_MAP_TO};
  __tgt_target_data_update_nowait_mapper(NULL, 0, 1, items, items, sizes, types, NULL, NULL, 0, NULL, 0,
                                         NULL);
}

/* The task is taken up again. */
static void *ask(void *unused) {
  (void)unused;
  nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
  while (__atomic_load_n(&handle, __ATOMIC_ACQUIRE))
    __tgt_target_nowait_query(&handle);
  atomic_store(&is_over, true);
  return NULL;
}

static void a_task_asks_until_it_is_done(void) {
  map_without_waiting();
  DRIVER_CHECK(handle);
  ask(NULL);
  DRIVER_CHECK(!atomic_load(&tgt_runtime()->tasks));
}

static void check_over(void) {
  DRIVER_CHECK(atomic_load(&is_over));
}

/* Handlers run in the opposite order: this one behind the runtime's, which comes with the first use. */
static void the_end_waits_for_tasks(void) {
  pthread_t thread;
  begin_as_newer();
  DRIVER_CHECK(!atexit(check_over));
  map_without_waiting();
  DRIVER_CHECK(handle && !pthread_create(&thread, NULL, ask, NULL));
  exit(0);
}

static void map_late(void) {
  map_without_waiting();
  DRIVER_CHECK(!handle);
}

static void a_construct_at_the_end_waits_itself(void) {
  begin_as_newer();
  DRIVER_CHECK(!atexit(map_late) && driver_runs());
  exit(0);
}

/* Nobody takes it up: the program ends all the same. */
static void the_end_does_not_wait_for_ever(void) {
  begin_as_newer();
  map_without_waiting();
  DRIVER_CHECK(handle);
  alarm(20);
  exit(0);
}

static void tasks(void **state) {
  (void)state;
  driver_expect_success(a_task_asks_until_it_is_done);
  driver_expect_success(the_end_waits_for_tasks);
  driver_expect_success(a_construct_at_the_end_waits_itself);
  driver_expect_success(the_end_does_not_wait_for_ever);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(tasks)};
  if (argc < 2)
    return 2;
  driver.path = argv[1];
  driver_read();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
