/* HSA as it may be elsewhere: other than the one here, or with a tool in between. This program stands between
 * the plugin and ROCr and changes what single functions do, or takes libdw away, each case in a process of
 * its own. Run as "plugin_changed_hsa PLUGIN IMAGE OTHER_IMAGE", as plugin_abi. */
#include "plugin_driver.h"

#include <dlfcn.h>
#include <hsa/hsa_ext_amd.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char said[1 << 14];

#define EXPORT __attribute__((visibility("default")))

/* The real function; the program itself is linked with ROCr, so it comes next in the search. */
#define REAL(name)                                                                                           \
  __typeof__(&(name)) next;                                                                                  \
  void *found = dlsym(RTLD_NEXT, #name);                                                                     \
  memcpy(&next, &found, sizeof next)

/* ---- what is changed ---- */

static atomic_bool signals_lie, queues_are_longer, rings_are_remote;
static hsa_amd_system_event_callback_t handler;
static void *handler_data;
static hsa_agent_t gpu;

static uint32_t chip; /* of a device that is said to be a gfx942 with xnack; 0: nothing is changed */

EXPORT hsa_status_t hsa_agent_get_info(hsa_agent_t agent, hsa_agent_info_t attribute, void *value) {
  REAL(hsa_agent_get_info);
  hsa_status_t status = next(agent, attribute, value);
  if (chip && attribute == (hsa_agent_info_t)HSA_AMD_AGENT_INFO_CHIP_ID)
    memcpy(value, &chip, sizeof chip);
  return status;
}

EXPORT hsa_status_t hsa_isa_get_info_alt(hsa_isa_t isa, hsa_isa_info_t attribute, void *value) {
  REAL(hsa_isa_get_info_alt);
  const char *name = "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack+";
  hsa_status_t status = next(isa, attribute, value);
  if (chip && attribute == HSA_ISA_INFO_NAME)
    memcpy(value, name, strlen(name) + 1);
  return status;
}

EXPORT hsa_signal_value_t hsa_signal_load_relaxed(hsa_signal_t signal) {
  REAL(hsa_signal_load_relaxed);
  return next(signal) + signals_lie;
}

EXPORT hsa_status_t hsa_queue_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                                     void (*callback)(hsa_status_t, hsa_queue_t *, void *), void *data,
                                     uint32_t private_bytes, uint32_t group_bytes, hsa_queue_t **queue) {
  REAL(hsa_queue_create);
  return next(agent, queues_are_longer ? 4096 : size, type, callback, data, private_bytes, group_bytes,
              queue);
}

EXPORT hsa_status_t hsa_amd_pointer_info(const void *pointer, hsa_amd_pointer_info_t *info,
                                         void *(*make)(size_t), uint32_t *count, hsa_agent_t **agents) {
  REAL(hsa_amd_pointer_info);
  hsa_status_t status = next(pointer, info, make, count, agents);
  if (rings_are_remote) {
    info->type = HSA_EXT_POINTER_TYPE_HSA;
    info->agentOwner = gpu;
  }
  return status;
}

EXPORT hsa_status_t hsa_amd_register_system_event_handler(hsa_amd_system_event_callback_t callback,
                                                          void *data) {
  REAL(hsa_amd_register_system_event_handler);
  handler = callback;
  handler_data = data;
  return next(callback, data);
}

EXPORT hsa_status_t hsa_amd_agent_iterate_memory_pools(hsa_agent_t agent,
                                                       hsa_status_t (*visit)(hsa_amd_memory_pool_t, void *),
                                                       void *data) {
  REAL(hsa_amd_agent_iterate_memory_pools);
  gpu = agent; /* the last one looked at, which is the last GPU */
  return next(agent, visit, data);
}

/* A machine without the reader of debug information. */
EXPORT void *dlopen(const char *path, int mode) {
  REAL(dlopen);
  return path && !strcmp(path, "libdw.so.1") ? NULL : next(path, mode);
}

/* ---- cases ---- */

/* In a child process, without an image. */
static void in_fresh_child(void (*run)(void)) {
  int status = -1;
  fflush(NULL);
  pid_t child = fork();
  assert_true(child >= 0);
  if (!child) {
    run();
    exit(0);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
}

static void lying_signals(void) {
  signals_lie = true;
  open_plugin();
  test_capture_begin();
  int32_t devices = rtl.init_plugin() ? 0 : rtl.number_of_devices();
  test_capture_end(said, sizeof said);
  if (devices || !strstr(said, "no GPU is used") || !strstr(said, "values of signals"))
    exit(1);
}

static void signals_with_values_elsewhere_are_refused(void **state) {
  (void)state;
  in_fresh_child(lying_signals);
}

static void as_mi300a(void) {
  chip = 0x74a0;
  open_plugin();
  if (rtl.init_plugin() || rtl.number_of_devices() < 1 || rtl.init_device(0) || !rtl.use_auto_zero_copy(0))
    exit(1);
}

static void as_mi300x(void) {
  chip = 0x74a1;
  open_plugin();
  if (rtl.init_plugin() || rtl.number_of_devices() < 1 || rtl.init_device(0) || rtl.use_auto_zero_copy(0))
    exit(1);
}

static void apus_use_the_host_s_memory(void **state) {
  (void)state;
  in_fresh_child(as_mi300a);
  in_fresh_child(as_mi300x);
}

/* More launches than the plugin asked packets for, each with a result. */
static void launches_often(void **state) {
  (void)state;
  enum { N = 100, LAUNCHES = 300 };
  double result[N] = {0};
  __tgt_async_info queue = {NULL};
  void *memory = allocate(sizeof result);
  assert_int_equal(rtl.data_submit(0, memory, result, sizeof result), OFFLOAD_SUCCESS);
  for (int i = 0; i < LAUNCHES; i++)
    assert_int_equal(launch_spmd(N, memory, 0, &queue), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.synchronize(0, &queue), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.data_retrieve(0, result, memory, sizeof result), OFFLOAD_SUCCESS);
  for (int i = 0; i < N; i++)
    assert_true(result[i] == LAUNCHES * expected(i, 3));
  release(memory);
}

static void on_longer_queues(void **state) {
  queues_are_longer = true;
  launches_often(state);
}

static void queues_are_as_long_as_they_are(void **state) {
  (void)state;
  in_child(on_longer_queues, (const char *const[]){"LIBOMPTARGET_AMDGPU_HSA_QUEUE_SIZE", "64", NULL});
}

static void remote_rings(void **state) {
  (void)state;
  __tgt_async_info queue = {NULL};
  rings_are_remote = true;
  test_capture_begin();
  int32_t launched = launch_spmd(100, (void *)(uintptr_t)0x1000, 0, &queue);
  test_capture_end(said, sizeof said);
  rings_are_remote = false;
  rtl.synchronize(0, &queue);
  assert_int_equal(launched, OFFLOAD_FAIL);
  assert_non_null(strstr(said, "unset HSA_ALLOCATE_QUEUE_DEV_MEM"));
}

static void packets_in_device_memory_are_refused(void **state) {
  (void)state;
  in_child(remote_rings, (const char *const[]){NULL});
}

/* As hsa_amd_event_t of newer versions of ROCr. */
typedef struct event {
  uint32_t type;
  struct {
    hsa_agent_t agent;
    uint32_t reset_type, reset_cause;
  } exception;
} event_t;

/* A device that hung and was reset. */
static void reset(void **state) {
  (void)state;
  event_t event = {.type = 1, .exception = {gpu, 1, 1}};
  __tgt_async_info queue = {NULL};
  test_capture_begin();
  hsa_status_t answer = handler((const hsa_amd_event_t *)(const void *)&event, handler_data);
  int32_t launched = launch_spmd(100, (void *)(uintptr_t)0x1000, 0, &queue);
  int64_t ended = rtl.synchronize(0, &queue);
  test_capture_end(said, sizeof said);
  assert_int_equal(answer, HSA_STATUS_SUCCESS);
  assert_true(launched == OFFLOAD_FAIL || ended == OFFLOAD_FAIL);
  assert_non_null(strstr(said, "device 0 (gfx90a): the driver has reset the device"));
  assert_non_null(strstr(said, "it hung"));
  event.exception.agent.handle = 12345; /* of somebody else */
  assert_int_equal(handler((const hsa_amd_event_t *)(const void *)&event, handler_data), HSA_STATUS_ERROR);
  event.type = 77;
  event.exception.agent = gpu;
  assert_int_equal(handler((const hsa_amd_event_t *)(const void *)&event, handler_data), HSA_STATUS_ERROR);
}

static void a_reset_is_called_that(void **state) {
  (void)state;
  in_child(reset, (const char *const[]){NULL});
}

/* Memory that cannot be freed is said, and costs nothing else. */
static void unfreed(void **state) {
  struct {
    uint32_t type;
    hsa_agent_t agent;
    uint64_t address;
    uint32_t reasons;
  } event = {2, gpu, 0x123456000, 1};
  test_capture_begin();
  hsa_status_t answer = handler((const hsa_amd_event_t *)(const void *)&event, handler_data);
  test_capture_end(said, sizeof said);
  assert_int_equal(answer, HSA_STATUS_SUCCESS);
  assert_non_null(strstr(said, "the memory at 0x123456000 is still in use"));
  launches_often(state);
}

static void memory_that_cannot_be_freed_is_said(void **state) {
  (void)state;
  in_child(unfreed, (const char *const[]){NULL});
}

static void fault_without_libdw(void **state) {
  (void)state;
  __tgt_async_info queue = {NULL};
  test_capture_begin();
  launch_store(0x4000, &queue);
  int64_t ended = rtl.synchronize(0, &queue);
  test_capture_end(said, sizeof said);
  assert_int_equal(ended, OFFLOAD_FAIL);
  assert_non_null(strstr(said, given.store_shown));
  assert_non_null(strstr(said, "source:   install libdw to see the file: the package libdw1 of Debian"));
}

static void a_missing_libdw_is_named(void **state) {
  (void)state;
  in_child(fault_without_libdw, (const char *const[]){NULL});
}

int main(int count, char **arguments) {
  if (!take_arguments(count, arguments))
    return 2;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(signals_with_values_elsewhere_are_refused),
      cmocka_unit_test(apus_use_the_host_s_memory),
      cmocka_unit_test(queues_are_as_long_as_they_are),
      cmocka_unit_test(packets_in_device_memory_are_refused),
      cmocka_unit_test(a_reset_is_called_that),
      cmocka_unit_test(a_missing_libdw_is_named),
      cmocka_unit_test(memory_that_cannot_be_freed_is_said),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
