/* What the plugin takes from HSA and from the system when a program repeats itself: nothing. This program
 * stands between the plugin and ROCr, by having functions of the same names, and counts the calls that
 * acquire something, or lock. plugin_growth LAUNCHES CYCLES PLUGIN IMAGE OTHER_IMAGE Launches, and cycles of
 * mapping, copying both ways and unmapping. Ten times the numbers take ten times as long. */
#include "plugin_driver.h"

#include <dlfcn.h>
#include <hsa/hsa_ext_amd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static atomic_long acquired, pinned, executables;
static long launches, cycles;

#define SEEN __attribute__((visibility("default")))

/* The function of this name behind ours. */
#define BEHIND(name) ((__typeof__(&name))(uintptr_t)dlsym(RTLD_NEXT, #name))

SEEN hsa_status_t hsa_amd_memory_pool_allocate(hsa_amd_memory_pool_t pool, size_t bytes, uint32_t flags,
                                               void **memory) {
  atomic_fetch_add(&acquired, 1);
  return BEHIND(hsa_amd_memory_pool_allocate)(pool, bytes, flags, memory);
}

SEEN hsa_status_t hsa_amd_agents_allow_access(uint32_t count, const hsa_agent_t *agents,
                                              const uint32_t *flags, const void *memory) {
  atomic_fetch_add(&acquired, 1);
  return BEHIND(hsa_amd_agents_allow_access)(count, agents, flags, memory);
}

SEEN hsa_status_t hsa_amd_memory_lock(void *host, size_t bytes, hsa_agent_t *agents, int count,
                                      void **address) {
  atomic_fetch_add(&acquired, 1);
  atomic_fetch_add(&pinned, 1);
  return BEHIND(hsa_amd_memory_lock)(host, bytes, agents, count, address);
}

SEEN hsa_status_t hsa_amd_memory_unlock(void *host) {
  atomic_fetch_sub(&pinned, 1);
  return BEHIND(hsa_amd_memory_unlock)(host);
}

SEEN hsa_status_t hsa_signal_create(hsa_signal_value_t value, uint32_t count, const hsa_agent_t *consumers,
                                    hsa_signal_t *signal) {
  atomic_fetch_add(&acquired, 1);
  return BEHIND(hsa_signal_create)(value, count, consumers, signal);
}

SEEN hsa_status_t hsa_queue_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                                   void (*callback)(hsa_status_t, hsa_queue_t *, void *), void *data,
                                   uint32_t private_bytes, uint32_t group_bytes, hsa_queue_t **queue) {
  atomic_fetch_add(&acquired, 1);
  return BEHIND(hsa_queue_create)(agent, size, type, callback, data, private_bytes, group_bytes, queue);
}

SEEN hsa_status_t hsa_executable_create_alt(hsa_profile_t profile, hsa_default_float_rounding_mode_t rounding,
                                            const char *options, hsa_executable_t *executable) {
  atomic_fetch_add(&executables, 1);
  return BEHIND(hsa_executable_create_alt)(profile, rounding, options, executable);
}

SEEN hsa_status_t hsa_executable_destroy(hsa_executable_t executable) {
  atomic_fetch_sub(&executables, 1);
  return BEHIND(hsa_executable_destroy)(executable);
}

/* ---- locks ---- */

/* Locks that the plugin takes in threads that watch. ROCr takes some where a thread goes to sleep. */
static atomic_long locked;
static _Thread_local bool watches;

static bool is_plugin(const void *address) {
  Dl_info info;
  return dladdr(address, &info) && info.dli_fname && strstr(info.dli_fname, "libomptarget.rtl.amdgpu");
}

SEEN int pthread_mutex_lock(pthread_mutex_t *mutex) {
  static int (*_Atomic behind)(pthread_mutex_t *);
  if (!atomic_load(&behind))
    atomic_store(&behind, BEHIND(pthread_mutex_lock));
  if (watches && is_plugin(__builtin_return_address(0)))
    atomic_fetch_add(&locked, 1);
  return atomic_load(&behind)(mutex);
}

static long resident_pages(void) {
  long total = 0, resident = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  assert_non_null(file);
  assert_int_equal(fscanf(file, "%ld %ld", &total, &resident), 2);
  fclose(file);
  return resident;
}

static void launch_often(long count) {
  for (long i = 0; i < count; i++) {
    __tgt_async_info queue = {NULL};
    assert_int_equal(launch_spmd(0, array, 1, &queue), OFFLOAD_SUCCESS);
    /* Every other time a second one behind it, which goes another way. */
    if (i % 2)
      assert_int_equal(launch_spmd(0, array, 1, &queue), OFFLOAD_SUCCESS);
    assert_int_equal(rtl.synchronize(0, &queue), OFFLOAD_SUCCESS);
  }
}

static void map_often(long count) {
  for (long i = 0; i < count; i++) {
    __tgt_async_info queue = {NULL};
    void *event, *memory = rtl.data_alloc(0, sizeof array, array, TARGET_ALLOC_DEFAULT);
    assert_non_null(memory);
    assert_int_equal(rtl.data_submit_async(0, memory, array, sizeof array, &queue), OFFLOAD_SUCCESS);
    assert_int_equal(rtl.create_event(0, &event), OFFLOAD_SUCCESS);
    assert_int_equal(rtl.record_event(0, event, &queue), OFFLOAD_SUCCESS);
    assert_int_equal(launch_spmd(0, memory, 1, &queue), OFFLOAD_SUCCESS);
    assert_int_equal(rtl.data_retrieve_async(0, array, memory, sizeof array, &queue), OFFLOAD_SUCCESS);
    assert_int_equal(rtl.synchronize(0, &queue), OFFLOAD_SUCCESS);
    assert_int_equal(rtl.destroy_event(0, event), OFFLOAD_SUCCESS);
    assert_int_equal(rtl.data_delete(0, memory, TARGET_ALLOC_DEFAULT), OFFLOAD_SUCCESS);
  }
}

/* Operations behind others that are not complete yet, which need more than those of an idle queue. */
static void pile_up(void) {
  enum { OPERATIONS = 30 };
  __tgt_async_info queue = {NULL};
  void *memory = rtl.data_alloc(0, sizeof array, array, TARGET_ALLOC_DEFAULT);
  assert_non_null(memory);
  for (int i = 0; i < OPERATIONS; i++) {
    assert_int_equal(launch_spmd(100, memory, 1, &queue), OFFLOAD_SUCCESS);
    assert_int_equal(rtl.data_submit_async(0, memory, array, sizeof array, &queue), OFFLOAD_SUCCESS);
  }
  assert_int_equal(rtl.synchronize(0, &queue), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.data_delete(0, memory, TARGET_ALLOC_DEFAULT), OFFLOAD_SUCCESS);
}

/* Both, long enough for everything to exist; then as often as asked for. */
static void takes_nothing_more(void (*repeat)(long), long count) {
  enum { WARM_UP = 500, TOLERATED_PAGES = 32 };
  pile_up();
  repeat(WARM_UP);
  long calls = atomic_load(&acquired), pages = resident_pages();
  assert_true(calls > 0); /* we do stand in between */
  repeat(count);
  assert_int_equal(atomic_load(&acquired) - calls, 0);
  if (resident_pages() - pages > TOLERATED_PAGES)
    fail_msg("grew by %ld pages", resident_pages() - pages);
}

static void launches_take_nothing(void **state) {
  (void)state;
  takes_nothing_more(launch_often, launches);
}

/* ROCr gives each DMA engine a ring of a MiB, of which gfxsim holds what was used since it was made. */
static void go_around_rings(void) {
  enum { TIMES = 300, COPIES = 40 }; /* of each engine, of more than 90 bytes in its ring */
  void *memory = rtl.data_alloc(0, sizeof array, array, TARGET_ALLOC_DEFAULT);
  assert_non_null(memory);
  for (int i = 0; i < TIMES; i++) {
    __tgt_async_info queue = {NULL};
    for (int k = 0; k < COPIES; k++) {
      assert_int_equal(rtl.data_submit_async(0, memory, array, sizeof array, &queue), OFFLOAD_SUCCESS);
      assert_int_equal(rtl.data_retrieve_async(0, array, memory, sizeof array, &queue), OFFLOAD_SUCCESS);
    }
    assert_int_equal(rtl.synchronize(0, &queue), OFFLOAD_SUCCESS);
  }
  assert_int_equal(rtl.data_delete(0, memory, TARGET_ALLOC_DEFAULT), OFFLOAD_SUCCESS);
}

static void cycles_take_nothing(void **state) {
  (void)state;
  go_around_rings();
  takes_nothing_more(map_often, cycles);
}

/* A library that is closed takes its image along, and nobody else's. */
static void libraries_leave_nothing(void **state) {
  (void)state;
  __tgt_offload_entry entries[ENTRY_COUNT];
  memcpy(entries, given.entries, sizeof entries);
  __tgt_device_image image = given.image;
  image.EntriesBegin = entries;
  image.EntriesEnd = entries + ENTRY_COUNT;
  __tgt_bin_desc library = {1, &image, entries, entries + ENTRY_COUNT};
  long before = atomic_load(&executables);
  assert_true(before > 0); /* we do stand in between */
  for (int i = 0; i < 3; i++) {
    rtl.register_lib(&library);
    assert_non_null(load_table(0, &image));
    assert_int_equal(atomic_load(&executables), before + 1);
    rtl.unregister_lib(&library);
    assert_int_equal(atomic_load(&executables), before);
  }
  launch_often(2); /* the first one's */
}

static pthread_barrier_t warm;

static void *launch_and_watch(void *count) {
  enum { WARM_UP = 100 };
  launch_often(WARM_UP);
  /* All at once, so that each has had a queue: making one takes a lock. */
  __tgt_async_info queue = {NULL};
  assert_int_equal(launch_spmd(0, array, 1, &queue), OFFLOAD_SUCCESS);
  pthread_barrier_wait(&warm);
  assert_int_equal(rtl.synchronize(0, &queue), OFFLOAD_SUCCESS);
  watches = true;
  launch_often(*(const long *)count);
  watches = false;
  return NULL;
}

/* Threads that launch take no lock, neither one that they share nor one of their own. */
static void launches_lock_nothing(void **state) {
  (void)state;
  enum { THREADS = 4 };
  pthread_t thread[THREADS];
  long count = launches / 4;
  assert_int_equal(pthread_barrier_init(&warm, NULL, THREADS), 0);
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&thread[i], NULL, launch_and_watch, &count), 0);
  for (int i = 0; i < THREADS; i++)
    pthread_join(thread[i], NULL);
  pthread_barrier_destroy(&warm);
  assert_int_equal(atomic_load(&locked), 0);
  /* We do see locks. */
  void *address;
  watches = true;
  assert_int_equal(rtl.data_lock(0, array, sizeof array, &address), OFFLOAD_SUCCESS);
  watches = false;
  assert_true(atomic_load(&locked) > 0);
  assert_int_equal(rtl.data_unlock(0, array), OFFLOAD_SUCCESS);
}

/* ---- large copies ---- */

enum { LARGE = 4 << 20 };

static void submit(void *memory, const char *host, size_t bytes) {
  __tgt_async_info queue = {NULL};
  assert_int_equal(rtl.data_submit_async(0, memory, (void *)(uintptr_t)host, (int64_t)bytes, &queue),
                   OFFLOAD_SUCCESS);
  assert_int_equal(rtl.synchronize(0, &queue), OFFLOAD_SUCCESS);
}

static void retrieve(char *host, void *memory, size_t bytes) {
  __tgt_async_info queue = {NULL};
  assert_int_equal(rtl.data_retrieve_async(0, host, memory, (int64_t)bytes, &queue), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.synchronize(0, &queue), OFFLOAD_SUCCESS);
}

/* Mapped memory is pinned once, as a whole, until its end; other memory for each copy. */
static void mapped_memory_stays_pinned(void **state) {
  (void)state;
  char *host = malloc(LARGE), *other = malloc(LARGE);
  assert_true(host && other);
  long before = atomic_load(&pinned);
  char *memory = rtl.data_alloc(0, LARGE, host, TARGET_ALLOC_DEFAULT);
  assert_non_null(memory);
  assert_int_equal(atomic_load(&pinned), before);
  /* A part of it first. */
  memset(host, 1, LARGE);
  submit(memory + LARGE / 2, host + LARGE / 2, LARGE / 2);
  assert_int_equal(atomic_load(&pinned), before + 1);
  long calls = atomic_load(&acquired);
  for (int i = 2; i < 50; i++) {
    memset(host, i, LARGE);
    submit(memory, host, LARGE);
    memset(host, 0, LARGE);
    retrieve(host + LARGE / 4, memory + LARGE / 4, LARGE / 2);
    assert_int_equal(host[LARGE / 4 - 1], 0);
    assert_int_equal(host[LARGE / 4], i);
    assert_int_equal(host[3 * LARGE / 4 - 1], i);
    assert_int_equal(host[3 * LARGE / 4], 0);
  }
  assert_int_equal(atomic_load(&acquired), calls);
  /* From elsewhere, and to another place of the same memory: not the mapping's. */
  memset(other, 77, LARGE);
  submit(memory, other, LARGE);
  assert_int_equal(atomic_load(&acquired), calls + 1);
  retrieve(host, memory, LARGE);
  assert_memory_equal(host, other, LARGE);
  assert_int_equal(atomic_load(&pinned), before + 1);
  release(memory);
  assert_int_equal(atomic_load(&pinned), before);
  free(host);
  free(other);
}

static char *shared;
static atomic_bool over;

static void *copy_it_elsewhere(void *memory) {
  while (!atomic_load(&over))
    submit(memory, shared, LARGE);
  return NULL;
}

/* A copy may use what a mapping has pinned, and outlive the mapping. */
static void copies_outlive_mappings(void **state) {
  (void)state;
  pthread_t thread;
  long before = atomic_load(&pinned);
  shared = malloc(LARGE);
  void *elsewhere = allocate(LARGE);
  assert_non_null(shared);
  memset(shared, 5, LARGE);
  assert_int_equal(pthread_create(&thread, NULL, copy_it_elsewhere, elsewhere), 0);
  for (int i = 0; i < 200; i++) {
    void *memory = rtl.data_alloc(0, LARGE, shared, TARGET_ALLOC_DEFAULT);
    assert_non_null(memory);
    submit(memory, shared, LARGE / 2);
    release(memory);
  }
  atomic_store(&over, true);
  pthread_join(thread, NULL);
  release(elsewhere);
  free(shared);
  assert_int_equal(atomic_load(&pinned), before);
}

/* ---- how long pins are kept ---- */

/* Each copy pins, and nothing stays. */
static void no_pin_is_kept(void **state) {
  (void)state;
  char *host = malloc(LARGE);
  assert_non_null(host);
  char *memory = rtl.data_alloc(0, LARGE, host, TARGET_ALLOC_DEFAULT);
  assert_non_null(memory);
  long before = atomic_load(&pinned), calls = atomic_load(&acquired);
  for (int i = 0; i < 10; i++) {
    memset(host, i, LARGE);
    submit(memory, host, LARGE);
    assert_int_equal(atomic_load(&pinned), before);
  }
  assert_true(atomic_load(&acquired) - calls >= 10);
  release(memory);
  free(host);
}

enum { KEPT_MS = 200 };

static void wait_longer_than_kept(void) {
  nanosleep(&(struct timespec){.tv_nsec = 2 * KEPT_MS * 1000000L}, NULL);
}

/* What no copy has used for long is unpinned by a copy of something else, and pinned again by its next one.
 */
static void unused_pins_end(void **state) {
  (void)state;
  char *host[2], *memory[2];
  for (int i = 0; i < 2; i++) {
    host[i] = malloc(LARGE);
    assert_non_null(host[i]);
    memory[i] = rtl.data_alloc(0, LARGE, host[i], TARGET_ALLOC_DEFAULT);
    assert_non_null(memory[i]);
  }
  long before = atomic_load(&pinned);
  for (int round = 0; round < 6; round++) {
    memset(host[round % 2], round, LARGE);
    submit(memory[round % 2], host[round % 2], LARGE);
    assert_int_equal(atomic_load(&pinned), before + 1);
    memset(host[round % 2], 77, LARGE);
    retrieve(host[round % 2], memory[round % 2], LARGE);
    assert_int_equal(host[round % 2][LARGE - 1], round);
    wait_longer_than_kept();
  }
  /* One of them is over, and its end gives nothing back that is another's. */
  release(memory[0]);
  assert_int_equal(atomic_load(&pinned), before + 1);
  release(memory[1]);
  assert_int_equal(atomic_load(&pinned), before);
  free(host[0]);
  free(host[1]);
}

/* Two mappings of the same memory keep one pin. */
static void mappings_share_a_pin(void **state) {
  (void)state;
  char *host = malloc(LARGE), *memory[2];
  assert_non_null(host);
  long before = atomic_load(&pinned);
  for (int i = 0; i < 2; i++) {
    memory[i] = rtl.data_alloc(0, LARGE, host, TARGET_ALLOC_DEFAULT);
    assert_non_null(memory[i]);
    submit(memory[i], host, LARGE);
  }
  release(memory[0]);
  submit(memory[1], host, LARGE);
  release(memory[1]);
  assert_int_equal(atomic_load(&pinned), before);
  free(host);
}

static void pins_are_kept_as_the_user_wants(void **state) {
  (void)state;
  char kept[16];
  snprintf(kept, sizeof kept, "%d", KEPT_MS);
  in_child(no_pin_is_kept, (const char *const[]){"LIBOMPTARGET_AMDGPU_KEEP_PINNED", "0", NULL});
  in_child(unused_pins_end, (const char *const[]){"LIBOMPTARGET_AMDGPU_KEEP_PINNED", kept, NULL});
}

int main(int argc, char **argv) {
  /* Before this process has a GPU. */
  const struct CMUnitTest in_children[] = {cmocka_unit_test(pins_are_kept_as_the_user_wants)};
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(launches_take_nothing),      cmocka_unit_test(cycles_take_nothing),
      cmocka_unit_test(libraries_leave_nothing),    cmocka_unit_test(launches_lock_nothing),
      cmocka_unit_test(mapped_memory_stays_pinned), cmocka_unit_test(copies_outlive_mappings),
      cmocka_unit_test(mappings_share_a_pin)};
  if (argc != 6) {
    fprintf(stderr, "usage: plugin_growth LAUNCHES CYCLES PLUGIN IMAGE OTHER_IMAGE\n");
    return 2;
  }
  launches = strtol(argv[1], NULL, 10);
  cycles = strtol(argv[2], NULL, 10);
  given.plugin = argv[3];
  given.image_path = argv[4];
  given.other_path = argv[5];
  setenv("LIBOMPTARGET_AMDGPU_HOST_ABI", "16", 1);
  return cmocka_run_group_tests(in_children, NULL, NULL) + cmocka_run_group_tests(tests, set_up, tear_down);
}
