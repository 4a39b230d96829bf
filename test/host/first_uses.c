/* Threads that use the first device at once, all of them for the first time: each gets it. Without ROCr,
 * which was asked long before. Not here: first uses after a fork (wake.c). */
#include "plugin_test.h"

#include "openmp/use.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { THREADS = 4, ROUNDS = 2000 };

static atmi_omp_device_t device;
static pthread_barrier_t together;
static atomic_int refused, answered;

/* One device was found, and nobody has used it yet. */
static void begin(void) {
  atmi_context_t *context = atmi_context();
  pthread_mutex_lock(&context->lock);
  context->devices = &device;
  context->device_count = 1;
  context->state = ATMI_CONTEXT_IDLE;
  atmi_context_count_devices(context);
  pthread_mutex_unlock(&context->lock);
}

static void use(void) {
  if (atmi_context_device(atmi_context(), 0, "use the device") != &device)
    atomic_fetch_add(&refused, 1);
  atomic_fetch_add(&answered, 1);
}

static void *use_once(void *argument) {
  use();
  return argument;
}

static void *use_in_rounds(void *argument) {
  for (int i = 0; i < ROUNDS; i++) {
    if (pthread_barrier_wait(&together) == PTHREAD_BARRIER_SERIAL_THREAD)
      begin();
    pthread_barrier_wait(&together);
    use();
  }
  return argument;
}

static void all_at_once(void **state) {
  (void)state;
  pthread_t threads[THREADS];
  atomic_store(&refused, 0);
  assert_int_equal(pthread_barrier_init(&together, NULL, THREADS), 0);
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, use_in_rounds, NULL), 0);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  pthread_barrier_destroy(&together);
  assert_int_equal(atomic_load(&refused), 0);
}

/* The first one has the lock and has said that devices are used, but has not counted them; another one comes,
 * and gets time enough to be refused. */
static void between_the_state_and_the_count(void **state) {
  (void)state;
  atmi_context_t *context = atmi_context();
  pthread_t thread;
  begin();
  atomic_store(&refused, 0);
  atomic_store(&answered, 0);
  pthread_mutex_lock(&context->lock);
  context->state = ATMI_CONTEXT_RUNNING;
  assert_int_equal(pthread_create(&thread, NULL, use_once, NULL), 0);
  for (int i = 0; i < 200 && !atomic_load(&answered); i++)
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  atmi_context_count_devices(context);
  pthread_mutex_unlock(&context->lock);
  pthread_join(thread, NULL);
  assert_int_equal(atomic_load(&refused), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(between_the_state_and_the_count),
      cmocka_unit_test(all_at_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
