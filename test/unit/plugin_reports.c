/* What users of other plugins for AMD GPUs reported, on this one: memory that others pinned, images loaded by
 * many threads at once, images for other states of a GPU, hidden GPUs, what interop gives. Run as
 * "plugin_reports PLUGIN IMAGE OTHER_IMAGE". */
#include "plugin_driver.h"

#include <elf.h>
#include <hsa/hsa_ext_amd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char said[4096];

/* ---- memory that another user of HSA, such as HIP, allocated or pinned ---- */

static hsa_status_t find_host_pool(hsa_amd_memory_pool_t pool, void *data) {
  uint32_t flags = 0;
  hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags);
  if (!(flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED))
    return HSA_STATUS_SUCCESS;
  *(hsa_amd_memory_pool_t *)data = pool;
  return HSA_STATUS_INFO_BREAK;
}

static hsa_status_t find_agents(hsa_agent_t agent, void *data) {
  hsa_device_type_t type;
  hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
  if (type == HSA_DEVICE_TYPE_CPU || type == HSA_DEVICE_TYPE_GPU)
    ((hsa_agent_t *)data)[type == HSA_DEVICE_TYPE_GPU] = agent;
  return HSA_STATUS_SUCCESS;
}

/* To the device from one place, and back to another. */
static void copy_both_ways(char *from, char *to, size_t bytes) {
  void *memory = allocate((int64_t)bytes);
  for (size_t i = 0; i < bytes; i++) {
    from[i] = (char)(i * 31 >> 3);
    to[i] = 0;
  }
  assert_int_equal(rtl.data_submit(0, memory, from, (int64_t)bytes), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.data_retrieve(0, to, memory, (int64_t)bytes), OFFLOAD_SUCCESS);
  assert_memory_equal(from, to, bytes);
  release(memory);
}

static void memory_that_others_pinned_is_copied(void **state) {
  (void)state;
  enum { BYTES = 3 << 20 };
  hsa_agent_t agents[2] = {{0}, {0}};
  hsa_amd_memory_pool_t pool = {0};
  assert_int_equal(hsa_init(), HSA_STATUS_SUCCESS);
  hsa_iterate_agents(find_agents, agents);
  hsa_amd_agent_iterate_memory_pools(agents[0], find_host_pool, &pool);
  void *allocated, *locked;
  assert_int_equal(hsa_amd_memory_pool_allocate(pool, 2 * BYTES, 0, &allocated), HSA_STATUS_SUCCESS);
  assert_int_equal(hsa_amd_agents_allow_access(1, &agents[1], NULL, allocated), HSA_STATUS_SUCCESS);
  char *pinned = malloc(2 * BYTES);
  assert_non_null(pinned);
  assert_int_equal(hsa_amd_memory_lock(pinned, 2 * BYTES, &agents[1], 1, &locked), HSA_STATUS_SUCCESS);
  static const size_t sizes[] = {100, 1 << 20, BYTES};
  for (size_t i = 0; i < 3; i++) {
    copy_both_ways(allocated, (char *)allocated + BYTES, sizes[i]);
    copy_both_ways(pinned, pinned + BYTES, sizes[i]);
    copy_both_ways(pinned, allocated, sizes[i]);
  }
  assert_int_equal(hsa_amd_memory_unlock(pinned), HSA_STATUS_SUCCESS); /* pinned as before */
  copy_both_ways(pinned, pinned + BYTES, BYTES);
  free(pinned);
  assert_int_equal(hsa_amd_memory_pool_free(allocated), HSA_STATUS_SUCCESS);
  hsa_shut_down();
}

/* MPI libraries ask whose memory they are given. */
static void hsa_knows_what_we_allocate(void **state) {
  (void)state;
  static const int64_t sizes[] = {8, 5000, 1 << 20};
  for (size_t i = 0; i < 3; i++) {
    char *memory = allocate(sizes[i]);
    hsa_amd_pointer_info_t info = {.size = sizeof info};
    assert_int_equal(hsa_amd_pointer_info(memory + sizes[i] - 1, &info, NULL, NULL, NULL),
                     HSA_STATUS_SUCCESS);
    assert_int_equal(info.type, HSA_EXT_POINTER_TYPE_HSA);
    hsa_device_type_t type = HSA_DEVICE_TYPE_CPU;
    assert_int_equal(hsa_agent_get_info(info.agentOwner, HSA_AGENT_INFO_DEVICE, &type), HSA_STATUS_SUCCESS);
    assert_int_equal(type, HSA_DEVICE_TYPE_GPU);
    release(memory);
  }
}

/* ---- images ---- */

static size_t image_bytes(void) {
  return (size_t)((char *)given.image.ImageEnd - (char *)given.image.ImageStart);
}

/* Each thread has libraries of its own, which come, compute, and go. */
static void *come_and_go(void *failed) {
  char *copy = malloc(image_bytes());
  bool right = copy != NULL;
  for (int round = 0; right && round < 6; round++) {
    memcpy(copy, given.image.ImageStart, image_bytes());
    __tgt_offload_entry entries[ENTRY_COUNT];
    memcpy(entries, given.entries, sizeof entries);
    __tgt_device_image image = {copy, copy + image_bytes(), entries, entries + ENTRY_COUNT};
    __tgt_bin_desc library = {1, &image, entries, entries + ENTRY_COUNT};
    rtl.register_lib(&library);
    __tgt_target_table *table = load_table(0, &image);
    double result[64] = {0}, *memory = rtl.data_alloc(0, sizeof result, NULL, TARGET_ALLOC_DEFAULT);
    right = table && memory && !rtl.data_submit(0, memory, result, sizeof result);
    if (right) {
      void *args[] = {(void *)(uintptr_t)64, memory};
      ptrdiff_t offsets[] = {0, 0};
      KernelArgsTy launch = {.Version = 2, .NumArgs = 2, .Tripcount = 64};
      right = !rtl.launch_kernel(0, table->EntriesBegin[SPMD_KERNEL].addr, args, offsets, &launch, NULL) &&
              !rtl.data_retrieve(0, result, memory, sizeof result);
    }
    for (int i = 0; right && i < 64; i++)
      right = result[i] == expected(i, 3);
    rtl.data_delete(0, memory, TARGET_ALLOC_DEFAULT);
    rtl.unregister_lib(&library);
  }
  free(copy);
  if (!right)
    *(atomic_bool *)failed = true;
  return NULL;
}

static void many_threads_load_images_at_once(void **state) {
  (void)state;
  enum { THREADS = 8 };
  pthread_t threads[THREADS];
  atomic_bool failed = false;
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, come_and_go, &failed), 0);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  assert_false(failed);
}

/* The given image, made for another state of its processor: e_flags of code object v4. */
static bool runs_with_flags(uint32_t flags) {
  char *copy = malloc(image_bytes());
  assert_non_null(copy);
  memcpy(copy, given.image.ImageStart, image_bytes());
  memcpy(copy + offsetof(Elf64_Ehdr, e_flags), &flags, sizeof flags);
  __tgt_offload_entry entries[ENTRY_COUNT];
  memcpy(entries, given.entries, sizeof entries);
  __tgt_device_image image = {copy, copy + image_bytes(), entries, entries + ENTRY_COUNT};
  __tgt_bin_desc library = {1, &image, entries, entries + ENTRY_COUNT};
  test_capture_begin();
  rtl.register_lib(&library);
  bool valid = rtl.is_valid_binary(&image);
  bool loaded = load_table(0, &image) != NULL;
  rtl.unregister_lib(&library);
  test_capture_end(said, sizeof said);
  assert_int_equal(valid, loaded);
  free(copy);
  return loaded;
}

/* gfxsim's gfx90a is gfx90a:sramecc+:xnack-. */
static void images_for_other_states_are_refused_with_the_reason(void **state) {
  (void)state;
  enum { GFX90A = 0x3f, XNACK_ANY = 0x100, XNACK_OFF = 0x200, XNACK_ON = 0x300 };
  enum { SRAMECC_ANY = 0x400, SRAMECC_OFF = 0x800, SRAMECC_ON = 0xc00 };
  assert_true(runs_with_flags(GFX90A | XNACK_ANY | SRAMECC_ANY));
  assert_string_equal(said, "");
  assert_true(runs_with_flags(GFX90A | XNACK_OFF | SRAMECC_ON));
  assert_string_equal(said, "");
  assert_false(runs_with_flags(GFX90A | XNACK_ON | SRAMECC_ANY));
  assert_non_null(strstr(said, "the program is built for gfx90a:xnack+"));
  assert_non_null(strstr(said, "xnack is on in the image and off on the device"));
  assert_non_null(strstr(said, "HSA_XNACK=1"));
  assert_non_null(strstr(said, "gfxsim-run --usm"));
  assert_false(runs_with_flags(GFX90A | XNACK_ANY | SRAMECC_OFF));
  assert_non_null(strstr(said, "sramecc is off in the image and on on the device"));
  assert_non_null(strstr(said, "--offload-arch=gfx90a"));
}

/* ---- GPUs that the environment hides ---- */

/* What a process says that has such a variable, and finds no device. */
static void look_for_devices(const char *visible, const char *debug) {
  int ends[2], status = -1;
  assert_int_equal(pipe(ends), 0);
  pid_t child = fork();
  assert_true(child >= 0);
  if (!child) {
    dup2(ends[1], STDERR_FILENO);
    setenv("ROCR_VISIBLE_DEVICES", visible, 1);
    setenv("LIBOMPTARGET_DEBUG", debug, 1);
    open_plugin();
    _exit(rtl.number_of_devices() != 0);
  }
  close(ends[1]);
  size_t length = 0;
  ssize_t got;
  while ((got = read(ends[0], said + length, sizeof said - 1 - length)) > 0)
    length += (size_t)got;
  said[length] = 0;
  close(ends[0]);
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
}

/* ---- interop ---- */

/* The program's own packet in the queue that OpenMP gave it. */
static void put_barrier(hsa_queue_t *queue, hsa_signal_t done) {
  uint64_t index = hsa_queue_add_write_index_relaxed(queue, 1);
  hsa_barrier_and_packet_t *packet =
      (hsa_barrier_and_packet_t *)queue->base_address + (index & (queue->size - 1));
  /* All but the header, which stays invalid until the rest is there. */
  const hsa_barrier_and_packet_t filled = {.completion_signal = done};
  memcpy((char *)packet + sizeof packet->header, (const char *)&filled + sizeof packet->header,
         sizeof filled - sizeof packet->header);
  __atomic_store_n(&packet->header, (uint16_t)HSA_PACKET_TYPE_BARRIER_AND, __ATOMIC_RELEASE);
  hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
}

static void interop_gives_agent_and_hsa_queue(void **state) {
  (void)state;
  hsa_agent_t agents[2] = {{0}, {0}};
  __tgt_device_info info = {NULL, NULL};
  const char *error;
  hsa_signal_t done;
  hsa_iterate_agents(find_agents, agents);
  assert_int_equal(rtl.init_device_info(0, &info, &error), OFFLOAD_SUCCESS);
  assert_int_equal((uintptr_t)info.Device, agents[1].handle);
  void *first = NULL;
  assert_int_equal(hsa_signal_create(0, 0, NULL, &done), HSA_STATUS_SUCCESS);
  for (int round = 0; round < 200; round++) { /* more than a device has queues: nobody gives them back */
    __tgt_async_info *object = NULL;
    assert_int_equal(rtl.init_async_info(0, &object), OFFLOAD_SUCCESS);
    first = first ? first : object->Queue;
    assert_ptr_equal(object->Queue, first);
    hsa_signal_store_relaxed(done, 1);
    put_barrier(object->Queue, done);
    assert_int_equal(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_C(10000000000),
                                               HSA_WAIT_STATE_BLOCKED),
                     0);
  }
  hsa_signal_destroy(done);
}

/* As with any queue object, though its Queue stays what the program was given; or without any object. */
static void operations_need_no_stream(void **state) {
  (void)state;
  enum { WORDS = 1000 };
  static int from[WORDS], to[WORDS];
  __tgt_async_info *object = NULL;
  void *event = NULL, *memory = rtl.data_alloc(0, sizeof from, NULL, 0);
  assert_non_null(memory);
  for (int i = 0; i < WORDS; i++)
    from[i] = i * i;
  assert_int_equal(rtl.init_async_info(0, &object), OFFLOAD_SUCCESS);
  void *queue = object->Queue;
  assert_int_equal(rtl.data_submit_async(0, memory, from, sizeof from, object), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.create_event(0, &event), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.record_event(0, event, object), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.wait_event(0, event, object), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.data_retrieve_async(0, to, memory, sizeof to, object), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.query_async(0, object), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.synchronize(0, object), OFFLOAD_SUCCESS);
  assert_memory_equal(to, from, sizeof to);
  assert_ptr_equal(object->Queue, queue);
  memset(to, 0, sizeof to);
  from[1] = -1;
  assert_int_equal(rtl.data_submit_async(0, memory, from, sizeof from, NULL), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.data_retrieve_async(0, to, memory, sizeof to, NULL), OFFLOAD_SUCCESS);
  assert_memory_equal(to, from, sizeof to);
  assert_int_equal(rtl.destroy_event(0, event), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.data_delete(0, memory, 0), OFFLOAD_SUCCESS);
}

static void hidden_devices_are_no_error(void **state) {
  (void)state;
  static const char *const values[] = {"99", "garbage", "GPU-0", "-1"};
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    look_for_devices(values[i], "0");
    assert_string_equal(said, "");
    look_for_devices(values[i], "1");
    assert_non_null(strstr(said, "does ROCR_VISIBLE_DEVICES hide it?"));
  }
}

int main(int count, char **arguments) {
  if (!take_arguments(count, arguments))
    return 2;
  const struct CMUnitTest without_device[] = {cmocka_unit_test(hidden_devices_are_no_error)};
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(memory_that_others_pinned_is_copied),
      cmocka_unit_test(hsa_knows_what_we_allocate),
      cmocka_unit_test(interop_gives_agent_and_hsa_queue),
      cmocka_unit_test(operations_need_no_stream),
      cmocka_unit_test(many_threads_load_images_at_once),
      cmocka_unit_test(images_for_other_states_are_refused_with_the_reason),
  };
  int failed = cmocka_run_group_tests(without_device, NULL, NULL);
  return failed ? failed : cmocka_run_group_tests(tests, set_up, tear_down);
}
