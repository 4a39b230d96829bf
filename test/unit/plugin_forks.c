/* Forks: which processes have devices, and what the others are told. This program stands between the plugin
 * and ROCr and counts how often that is shut down. Each case has a process of its own, which opens the plugin
 * as libomptarget does before main. Run as "plugin_forks PLUGIN IMAGE OTHER_IMAGE", with two devices. */
#include "plugin_driver.h"

#include <dlfcn.h>
#include <hsa/hsa.h>
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char said[1 << 14];
static int shut_downs;

/* The real function; the program itself is linked with ROCr, so it comes next in the search. */
__attribute__((visibility("default"))) hsa_status_t hsa_shut_down(void);
hsa_status_t hsa_shut_down(void) {
  hsa_status_t (*next)(void);
  void *found = dlsym(RTLD_NEXT, "hsa_shut_down");
  memcpy(&next, &found, sizeof next);
  shut_downs++;
  return next();
}

/* ---- processes ---- */

static int end_of(pid_t child) {
  int status = -1;
  assert_int_equal(waitpid(child, &status, 0), child);
  return status;
}

/* A child that runs this and ends with its result, with all destructors. */
static pid_t begin(int (*run)(void)) {
  fflush(NULL);
  pid_t child = fork();
  assert_true(child >= 0);
  if (!child)
    exit(run() != 0); /* of a status, only the lower bits would be left */
  return child;
}

static void in_fresh_process(int (*run)(void)) {
  assert_int_equal(end_of(begin(run)), 0);
}

#define EXPECT(condition)                                                                                    \
  do {                                                                                                       \
    if (!(condition)) {                                                                                      \
      fprintf(stderr, "%s:%d: process %d: not so: %s\n", __FILE__, __LINE__, (int)getpid(), #condition);     \
      return 1;                                                                                              \
    }                                                                                                        \
  } while (0)

/* ---- what processes do ---- */

/* As libomptarget 13 to 17 before main, and 18, which initialises devices, too. */
static int opens(void) {
  if (!given.file) { /* a child may ask once more */
    given.image = image_of(given.image_path, &given.file);
    describe_entries();
  }
  open_plugin();
  EXPECT(!rtl.init_plugin() && rtl.number_of_devices() == 2 && rtl.is_valid_binary(&given.image));
  return 0;
}

static int opens_like_18(void) {
  if (opens())
    return 1;
  EXPECT(!rtl.init_requires(OMP_REQ_NONE) && !rtl.init_device(0) && !rtl.init_device(1));
  return 0;
}

/* A first region with its result, on both devices, and another look at the image. */
static int offloads(void) {
  enum { N = 100 };
  EXPECT(rtl.number_of_devices() == 2 && rtl.is_valid_binary(&given.image));
  for (int32_t device = 1; device >= 0; device--) {
    double result[N] = {0};
    __tgt_async_info queue = {NULL};
    EXPECT(!rtl.init_requires(OMP_REQ_NONE) && !rtl.init_device(device));
    EXPECT((given.table = load_table(device, &given.image)));
    void *memory = rtl.data_alloc(device, sizeof result, NULL, TARGET_ALLOC_DEFAULT);
    EXPECT(memory && !rtl.data_submit(device, memory, result, sizeof result));
    if (device == 0)
      EXPECT(!launch_spmd(N, memory, 0, &queue));
    EXPECT(!rtl.synchronize(device, &queue) && !rtl.data_retrieve(device, result, memory, sizeof result));
    for (int i = 0; i < N && device == 0; i++)
      EXPECT(result[i] == expected(i, 3));
    EXPECT(!rtl.data_delete(device, memory, TARGET_ALLOC_DEFAULT));
  }
  return 0;
}

/* Everything of it fails with this. */
static int is_refused(const char *why) {
  test_capture_begin();
  void *memory = rtl.data_alloc(0, 64, NULL, TARGET_ALLOC_DEFAULT);
  void *table = load_table(1, &given.image); /* takes the plugin's lock */
  test_capture_end(said, sizeof said);
  may_leak = true;
  EXPECT(!memory && !table);
  char *text = strstr(said, "cannot allocate memory: ");
  EXPECT(text && !strncmp(text + strlen("cannot allocate memory: "), why, strlen(why)));
  return 0;
}

static int is_refused_as_used(void) {
  return is_refused("this process was forked from one that had used the GPU, and has none; let it execute a "
                    "program (exec, posix_spawn), or fork before the first use of a device\n");
}

/* ---- cases ---- */

static int offloads_or_its_child_does(void) {
  pid_t child = begin(offloads);
  EXPECT(!offloads());
  return end_of(child);
}

static int forks_before_any_use(void) {
  if (opens_like_18())
    return 1;
  pid_t first = begin(offloads), second = begin(offloads_or_its_child_does);
  EXPECT(shut_downs == 1);
  pid_t idle = begin(opens); /* asks, and ends without a use */
  EXPECT(!offloads() && !end_of(first) && !end_of(second) && !end_of(idle));
  EXPECT(!end_of(begin(is_refused_as_used)));
  return offloads();
}

static void children_have_devices_before_any_use(void **state) {
  (void)state;
  in_fresh_process(forks_before_any_use);
}

static int never_uses_any(void) {
  return opens() || end_of(begin(opens));
}

static void nobody_has_to_use_them(void **state) {
  (void)state;
  in_fresh_process(never_uses_any);
}

/* What is no use of a device must not need one; nor must processes that only execute a program. */
static int spawns(void) {
  char *const arguments[] = {(char *)(uintptr_t) "true", NULL};
  pid_t child;
  if (opens())
    return 1;
  EXPECT(!posix_spawnp(&child, "true", NULL, NULL, arguments, NULL) && !end_of(child));
#if !defined(__SANITIZE_THREAD__) /* which makes it a fork */
  child = vfork();
  if (!child)
    _exit(0);
  EXPECT(!end_of(child));
#endif
  EXPECT(shut_downs == 0);
  return offloads();
}

static void spawning_releases_nothing(void **state) {
  (void)state;
  in_fresh_process(spawns);
}

static int lets_another_hold_rocr(void) {
  static const char why[] =
      "this process was forked from one in which something else than OpenMP had ROCr open, "
      "and has no GPU; let it execute a program (exec, posix_spawn), or fork before the "
      "other library opens ROCr\n";
  if (opens())
    return 1;
  EXPECT(hsa_init() == HSA_STATUS_SUCCESS);
  pid_t child = fork();
  if (!child)
    exit(is_refused(why));
  EXPECT(!end_of(child) && !offloads() && hsa_shut_down() == HSA_STATUS_SUCCESS);
  return end_of(begin(is_refused_as_used)); /* what counts now */
}

static int lets_another_go(void) {
  if (opens())
    return 1;
  EXPECT(hsa_init() == HSA_STATUS_SUCCESS && hsa_shut_down() == HSA_STATUS_SUCCESS);
  return end_of(begin(offloads)) || offloads();
}

static void others_who_hold_rocr_are_noticed(void **state) {
  (void)state;
  in_fresh_process(lets_another_hold_rocr);
  in_fresh_process(lets_another_go);
}

static int has_fewer_devices(void) {
  setenv("ROCR_VISIBLE_DEVICES", "1", 1);
  EXPECT(
      !is_refused("the program found 2 AMD devices when it began, and 1 or others when it looked again after "
                  "it had forked; set what hides devices, such as ROCR_VISIBLE_DEVICES, before the program "
                  "begins, or let the child execute a program (exec, posix_spawn)\n"));
  EXPECT(rtl.number_of_devices() == 2);
  return end_of(begin(opens));
}

static int forks_a_child_with_fewer(void) {
  return opens() || end_of(begin(has_fewer_devices)) || offloads();
}

static void devices_that_went_away_are_noticed(void **state) {
  (void)state;
  in_fresh_process(forks_a_child_with_fewer);
}

/* TSan ends children with threads of a parent with threads. GCC's ASan forks with the locks of its allocator
 * as they are, and the child then waits for those that the other thread held. */
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
/* A thread begins while another forks: children either have devices, or were forked too late. */
static void *begin_later(void *delay) {
  nanosleep(&(struct timespec){.tv_nsec = (long)(intptr_t)delay}, NULL);
  return (void *)(intptr_t)offloads();
}

static int offloads_or_is_refused(void) {
  test_capture_begin();
  void *memory = rtl.data_alloc(0, 64, NULL, TARGET_ALLOC_DEFAULT);
  test_capture_end(said, sizeof said);
  may_leak = true;
  if (memory)
    return offloads();
  if (strstr(said, "had used the GPU"))
    return 0;
  fputs(said, stderr);
  return 1;
}

static long delay_ns;

static int forks_while_another_begins(void) {
  enum { CHILDREN = 4 };
  pid_t children[CHILDREN];
  pthread_t thread;
  void *result;
  if (opens())
    return 1;
  EXPECT(!pthread_create(&thread, NULL, begin_later, (void *)(intptr_t)delay_ns));
  for (int i = 0; i < CHILDREN; i++)
    children[i] = begin(offloads_or_is_refused);
  EXPECT(!pthread_join(thread, &result) && !result);
  for (int i = 0; i < CHILDREN; i++)
    EXPECT(!end_of(children[i]));
  return 0;
}

static void a_fork_while_another_thread_begins_is_one_or_the_other(void **state) {
  (void)state;
  for (delay_ns = 0; delay_ns <= 40000000; delay_ns += 10000000)
    in_fresh_process(forks_while_another_begins);
}
#endif

/* Threads that hold the plugin's lock now and then are not in the child, which needs the lock. */
static atomic_bool stop_asking;

static void *ask(void *unused) {
  (void)unused;
  while (!stop_asking)
    rtl.set_info_flag(0);
  return NULL;
}

static int forks_while_others_ask(void) {
  enum { CHILDREN = 30 };
  pthread_t thread;
  if (opens() || offloads())
    return 1;
  EXPECT(!pthread_create(&thread, NULL, ask, NULL));
  for (int i = 0; i < CHILDREN; i++)
    EXPECT(!end_of(begin(is_refused_as_used)));
  stop_asking = true;
  return pthread_join(thread, NULL);
}

static void a_child_never_waits_for_its_parents_threads(void **state) {
  (void)state;
  in_fresh_process(forks_while_others_ask);
}

/* ---- the timeline ---- */

static char timeline[64];

static int has_no_timeline(void) {
  test_capture_begin();
  int failed = offloads();
  test_capture_end(said, sizeof said);
  EXPECT(!failed && strstr(said, "a forked process writes no timeline: ") && strstr(said, timeline));
  return 0;
}

static int forks_with_a_timeline(void) {
  struct stat before, after;
  setenv("LIBOMPTARGET_AMDGPU_TIMELINE", timeline, 1);
  if (opens())
    return 1;
  /* The child begins after its parent has written. */
  int started[2];
  EXPECT(!pipe(started));
  pid_t child = fork();
  if (!child) {
    char byte;
    exit(read(started[0], &byte, 1) != 1 || has_no_timeline());
  }
  EXPECT(!offloads() && !stat(timeline, &before) && write(started[1], "", 1) == 1);
  EXPECT(!end_of(child) && !stat(timeline, &after) && before.st_size > 1000 &&
         before.st_size == after.st_size);
  return 0;
}

static void a_child_leaves_its_parents_timeline_alone(void **state) {
  (void)state;
  snprintf(timeline, sizeof timeline, "/tmp/plugin_forks.%d.json", (int)getpid());
  in_fresh_process(forks_with_a_timeline);
  unlink(timeline);
}

int main(int count, char **arguments) {
  if (!take_arguments(count, arguments))
    return 2;
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(children_have_devices_before_any_use),
    cmocka_unit_test(nobody_has_to_use_them),
    cmocka_unit_test(spawning_releases_nothing),
    cmocka_unit_test(others_who_hold_rocr_are_noticed),
    cmocka_unit_test(devices_that_went_away_are_noticed),
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
    cmocka_unit_test(a_fork_while_another_thread_begins_is_one_or_the_other),
#endif
    cmocka_unit_test(a_child_never_waits_for_its_parents_threads),
    cmocka_unit_test(a_child_leaves_its_parents_timeline_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
