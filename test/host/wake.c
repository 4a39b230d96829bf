/* A thread uses a device for the first time after the process has forked, and ROCr begins in it, with a tool
 * that asks the dynamic linker; another thread opens a library whose constructor registers device code. Each
 * has what the other one is going to want, and both are to get on. Run as "host_wake IMAGE LIBRARY", with
 * HSA_TOOLS_LIB naming the tool. Not here: forks themselves (unit/plugin/forks). */
#include "driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 5, RANDOM_ROUNDS = 20, SECONDS = 30 };

static const char *library_path;
static sem_t in_rocr, in_constructor;
static bool is_armed; /* the next beginning of ROCr is the one */
static bool meets;    /* both threads wait for each other, or they come as they come */
static unsigned random_state = 1;
static tgt_descriptor_t second;

static void wait_for(sem_t *other) {
  struct timespec end;
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_sec += SECONDS / 2;
  DRIVER_CHECK(!sem_timedwait(other, &end));
}

static void delay(unsigned most_us) {
  nanosleep(&(struct timespec){.tv_nsec = (long)((unsigned)rand_r(&random_state) % most_us) * 1000}, NULL);
}

/* By the tool, when ROCr has loaded it. */
__attribute__((visibility("default"))) void host_wake_in_rocr(void);
void host_wake_in_rocr(void) {
  if (!is_armed)
    return;
  if (meets) {
    sem_post(&in_rocr);
    wait_for(&in_constructor);
    delay(20000);
  } else {
    delay(2000);
  }
  DRIVER_CHECK(dlopen(NULL, RTLD_LAZY));
}

/* By the library's constructor and destructor: with the dynamic linker's lock. */
__attribute__((visibility("default"))) void host_wake_in_library(int begins);
void host_wake_in_library(int begins) {
  if (begins && meets)
    sem_post(&in_constructor);
  if (begins) {
    second = driver.descriptor;
    __tgt_register_lib(&second);
  } else {
    __tgt_unregister_lib(&second);
  }
}

static void *open_library(void *argument) {
  if (meets)
    wait_for(&in_rocr);
  else
    delay(4000);
  void *handle = dlopen(library_path, RTLD_NOW);
  DRIVER_CHECK(handle);
  delay(1000);
  DRIVER_CHECK(!dlclose(handle));
  return argument;
}

static void both(void) {
  pthread_t thread;
  sem_init(&in_rocr, 0, 0);
  sem_init(&in_constructor, 0, 0);
  alarm(SECONDS); /* a hang is a failure */
  pid_t child = fork();
  if (!child)
    _exit(0);
  DRIVER_CHECK(child > 0 && waitpid(child, NULL, 0) == child);
  is_armed = true;
  DRIVER_CHECK(!pthread_create(&thread, NULL, open_library, NULL));
  if (!meets)
    delay(4000);
  DRIVER_CHECK(driver_runs());
  DRIVER_CHECK(!pthread_join(thread, NULL));
  DRIVER_CHECK(!meets || sem_trywait(&in_rocr)); /* taken: the tool was there */
  is_armed = false;
  DRIVER_CHECK(driver_runs());
}

static void a_use_and_a_constructor_meet(void **state) {
  (void)state;
  meets = true;
  for (int i = 0; i < ROUNDS; i++, random_state++)
    driver_expect_success(both);
}

static void uses_and_constructors_come_at_any_time(void **state) {
  (void)state;
  meets = false;
  for (int i = 0; i < RANDOM_ROUNDS; i++, random_state++)
    driver_expect_success(both);
}

int main(int count, char **arguments) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_use_and_a_constructor_meet),
      cmocka_unit_test(uses_and_constructors_come_at_any_time),
  };
  if (count != 3) {
    fprintf(stderr, "usage: %s IMAGE LIBRARY\n", arguments[0]);
    return 2;
  }
  driver.path = arguments[1];
  library_path = arguments[2];
  driver_read();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
