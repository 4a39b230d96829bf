/* Every HSA call can fail. This program stands between the plugin and ROCr, and lets one call of one function
 * fail: a process each for the first, second, ... call of every function. The plugin must not crash or hang,
 * must say what happened if it passes the failure on, must give right results if it does not, and must be as
 * good as before afterwards. Run as "plugin_hsa_failures PLUGIN IMAGE OTHER_IMAGE", with two devices. */
#include "plugin_driver.h"

#include <dlfcn.h>
#include <hsa/hsa_ext_amd.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- failing on request ---- */

static const char *failing; /* the function */
static int failing_call;    /* its n-th call, counted from 1 */
static atomic_int *calls;   /* so far; shared with the parent, which looks when the child has ended */

static bool fails(const char *name) {
  return failing && !strcmp(failing, name) && atomic_fetch_add(calls, 1) + 1 == failing_call;
}

/* The real function; the program itself is linked with ROCr, so it comes next in the search. */
static void *real(const char *name) {
  void *function = dlsym(RTLD_NEXT, name);
  if (!function)
    abort();
  return function;
}

#define EXPORT __attribute__((visibility("default")))
#define STAND_IN(name, parameters, arguments)                                                                \
  EXPORT hsa_status_t name parameters {                                                                      \
    static hsa_status_t(*_Atomic next) parameters;                                                           \
    if (fails(#name))                                                                                        \
      return HSA_STATUS_ERROR_OUT_OF_RESOURCES;                                                              \
    if (!next) {                                                                                             \
      void *found = real(#name);                                                                             \
      hsa_status_t(*function) parameters;                                                                    \
      memcpy(&function, &found, sizeof function);                                                            \
      next = function;                                                                                       \
    }                                                                                                        \
    return next arguments;                                                                                   \
  }

EXPORT hsa_status_t hsa_init(void); /* declared without parameters in hsa.h */
STAND_IN(hsa_init, (void), ())
STAND_IN(hsa_iterate_agents, (hsa_status_t(*visit)(hsa_agent_t, void *), void *data), (visit, data))
STAND_IN(hsa_agent_get_info, (hsa_agent_t agent, hsa_agent_info_t what, void *value), (agent, what, value))
STAND_IN(hsa_isa_get_info_alt, (hsa_isa_t isa, hsa_isa_info_t what, void *value), (isa, what, value))
STAND_IN(hsa_system_get_info, (hsa_system_info_t what, void *value), (what, value))
STAND_IN(hsa_amd_agent_iterate_memory_pools,
         (hsa_agent_t agent, hsa_status_t (*visit)(hsa_amd_memory_pool_t, void *), void *data),
         (agent, visit, data))
STAND_IN(hsa_amd_memory_pool_get_info,
         (hsa_amd_memory_pool_t pool, hsa_amd_memory_pool_info_t what, void *value), (pool, what, value))
STAND_IN(hsa_amd_agent_memory_pool_get_info,
         (hsa_agent_t agent, hsa_amd_memory_pool_t pool, hsa_amd_agent_memory_pool_info_t what, void *value),
         (agent, pool, what, value))
STAND_IN(hsa_amd_register_system_event_handler, (hsa_amd_system_event_callback_t handler, void *data),
         (handler, data))
STAND_IN(hsa_queue_create,
         (hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
          void (*error)(hsa_status_t, hsa_queue_t *, void *), void *data, uint32_t private_bytes,
          uint32_t group_bytes, hsa_queue_t **queue),
         (agent, size, type, error, data, private_bytes, group_bytes, queue))
STAND_IN(hsa_queue_destroy, (hsa_queue_t * queue), (queue))
STAND_IN(hsa_signal_create,
         (hsa_signal_value_t value, uint32_t count, const hsa_agent_t *consumers, hsa_signal_t *signal),
         (value, count, consumers, signal))
STAND_IN(hsa_signal_destroy, (hsa_signal_t signal), (signal))
STAND_IN(hsa_amd_memory_pool_allocate,
         (hsa_amd_memory_pool_t pool, size_t bytes, uint32_t flags, void **memory),
         (pool, bytes, flags, memory))
STAND_IN(hsa_amd_memory_pool_free, (void *memory), (memory))
STAND_IN(hsa_amd_agents_allow_access,
         (uint32_t count, const hsa_agent_t *agents, const uint32_t *flags, const void *memory),
         (count, agents, flags, memory))
STAND_IN(hsa_amd_memory_async_copy,
         (void *destination, hsa_agent_t to, const void *source, hsa_agent_t from, size_t bytes,
          uint32_t count, const hsa_signal_t *signals, hsa_signal_t done),
         (destination, to, source, from, bytes, count, signals, done))
STAND_IN(hsa_memory_copy, (void *destination, const void *source, size_t bytes), (destination, source, bytes))
STAND_IN(hsa_amd_memory_lock, (void *host, size_t bytes, hsa_agent_t *agents, int count, void **address),
         (host, bytes, agents, count, address))
STAND_IN(hsa_amd_memory_unlock, (void *host), (host))
STAND_IN(hsa_amd_pointer_info,
         (const void *pointer, hsa_amd_pointer_info_t *info, void *(*allocate_list)(size_t), uint32_t *count,
          hsa_agent_t **agents),
         (pointer, info, allocate_list, count, agents))
STAND_IN(hsa_code_object_reader_create_from_memory,
         (const void *image, size_t bytes, hsa_code_object_reader_t *reader), (image, bytes, reader))
STAND_IN(hsa_executable_create_alt,
         (hsa_profile_t profile, hsa_default_float_rounding_mode_t mode, const char *options,
          hsa_executable_t *executable),
         (profile, mode, options, executable))
STAND_IN(hsa_executable_load_agent_code_object,
         (hsa_executable_t executable, hsa_agent_t agent, hsa_code_object_reader_t reader,
          const char *options, hsa_loaded_code_object_t *loaded),
         (executable, agent, reader, options, loaded))
STAND_IN(hsa_executable_freeze, (hsa_executable_t executable, const char *options), (executable, options))
STAND_IN(hsa_executable_get_symbol_by_name,
         (hsa_executable_t executable, const char *name, const hsa_agent_t *agent,
          hsa_executable_symbol_t *symbol),
         (executable, name, agent, symbol))
STAND_IN(hsa_executable_symbol_get_info,
         (hsa_executable_symbol_t symbol, hsa_executable_symbol_info_t what, void *value),
         (symbol, what, value))
STAND_IN(hsa_executable_destroy, (hsa_executable_t executable), (executable))
STAND_IN(hsa_code_object_reader_destroy, (hsa_code_object_reader_t reader), (reader))

static const char *const functions[] = {
    "hsa_init",
    "hsa_iterate_agents",
    "hsa_agent_get_info",
    "hsa_isa_get_info_alt",
    "hsa_system_get_info",
    "hsa_amd_agent_iterate_memory_pools",
    "hsa_amd_memory_pool_get_info",
    "hsa_amd_agent_memory_pool_get_info",
    "hsa_amd_register_system_event_handler",
    "hsa_queue_create",
    "hsa_queue_destroy",
    "hsa_signal_create",
    "hsa_signal_destroy",
    "hsa_amd_memory_pool_allocate",
    "hsa_amd_memory_pool_free",
    "hsa_amd_agents_allow_access",
    "hsa_amd_memory_async_copy",
    "hsa_amd_memory_lock",
    "hsa_amd_memory_unlock",
    "hsa_amd_pointer_info",
    "hsa_code_object_reader_create_from_memory",
    "hsa_executable_create_alt",
    "hsa_executable_load_agent_code_object",
    "hsa_executable_freeze",
    "hsa_executable_get_symbol_by_name",
    "hsa_executable_symbol_get_info",
    "hsa_executable_destroy",
    "hsa_code_object_reader_destroy",
};

/* ---- what a program does ---- */

enum { SMALL = 100, LARGE = 400000 }; /* staged, and pinned */

/* Copies there, launches, copies back through another queue that waits for an event; true if no call failed.
 * Then the result must be right. */
static bool compute(int device, size_t count) {
  double *data = calloc(count, sizeof *data);
  int64_t bytes = (int64_t)(count * sizeof *data);
  __tgt_async_info first = {NULL}, second = {NULL};
  void *event = NULL, *memory = rtl.data_alloc(device, bytes, data, TARGET_ALLOC_DEFAULT);
  bool good =
      data && memory && !rtl.create_event(device, &event) &&
      !rtl.data_submit_async(device, memory, data, bytes, &first) &&
      (device || (!launch_spmd(SMALL, memory, 0, &first) && !launch_spmd(SMALL, memory, 0, &first))) &&
      !rtl.record_event(device, event, &first) && !rtl.wait_event(device, event, &second) &&
      !rtl.data_retrieve_async(device, data, memory, bytes, &second);
  /* In any case, and more than once, as libomptarget does. */
  good = !rtl.synchronize(device, &second) && good;
  good = !rtl.synchronize(device, &first) && good;
  if (first.Queue || second.Queue)
    abort();
  if (event)
    good = !rtl.destroy_event(device, event) && good;
  if (memory)
    good = !rtl.data_delete(device, memory, TARGET_ALLOC_DEFAULT) && good;
  for (int i = 0; good && !device && i < SMALL; i++)
    if (data[i] != 2 * expected(i, 3))
      abort();
  free(data);
  return good;
}

static bool exchange(void) {
  int out[1000], in[1000] = {0};
  for (int i = 0; i < 1000; i++)
    out[i] = 7 * i;
  void *from = rtl.data_alloc(0, sizeof out, NULL, TARGET_ALLOC_DEFAULT);
  void *to = rtl.data_alloc(1, sizeof in, NULL, TARGET_ALLOC_DEFAULT);
  bool good = from && to && !rtl.data_submit(0, from, out, sizeof out) &&
              !rtl.data_exchange(0, from, 1, to, sizeof out) && !rtl.data_retrieve(1, in, to, sizeof in);
  if (good && memcmp(in, out, sizeof in) != 0)
    abort();
  if (from)
    good = !rtl.data_delete(0, from, TARGET_ALLOC_DEFAULT) && good;
  if (to)
    good = !rtl.data_delete(1, to, TARGET_ALLOC_DEFAULT) && good;
  return good;
}

static bool lock(void) {
  static double memory[SMALL];
  void *address;
  memset(memory, 0, sizeof memory);
  if (rtl.data_lock(0, memory, sizeof memory, &address))
    return false;
  bool good = !launch_spmd(SMALL, address, 0, NULL);
  if (good && memory[2] != expected(2, 3))
    abort();
  return !rtl.data_unlock(0, memory) && good;
}

static bool work(void) {
  void *host = rtl.data_alloc(0, 5000, NULL, TARGET_ALLOC_HOST);
  bool good = host && !rtl.data_delete(0, host, TARGET_ALLOC_HOST);
  good = compute(0, SMALL) && good;
  good = compute(0, LARGE) && good;
  good = compute(1, SMALL) && good;
  good = exchange() && good;
  return lock() && good;
}

/* Opens the plugin and loads the image; false if there are not both devices, or it cannot be loaded. */
static bool begin(void) {
  void *unused;
  given.image = image_of(given.image_path, &unused);
  describe_entries();
  open_plugin();
  if (rtl.init_plugin() || rtl.number_of_devices() < 2 || rtl.init_requires(OMP_REQ_NONE) ||
      rtl.init_device(0) || rtl.init_device(1))
    return false;
  given.table = load_table(0, &given.image);
  return given.table;
}

/* ---- a process per failure ---- */

enum { SURVIVED = 10, PASSED_ON, NO_DEVICES, STAYED_BROKEN };

static int child(const char *function, int call) {
  alarm(60);
  may_leak = strstr(function, "_destroy");
  failing = function;
  failing_call = call;
  bool begun = begin(), good = begun && work();
  if (atomic_load(calls) < call)
    return good ? SURVIVED : STAYED_BROKEN; /* the failure comes at the end of the process, or never */
  if (!begun && !given.table && rtl.number_of_devices() < 2)
    return NO_DEVICES;
  /* The failure was one call's: what comes after works, loading included. */
  if (!begun && !(given.table = load_table(0, &given.image)))
    return STAYED_BROKEN;
  if (!work())
    return STAYED_BROKEN;
  return good ? SURVIVED : PASSED_ON;
}

/* What became of the n-th call's failure; `said` gets the child's stderr. */
static int outcome(const char *function, int call, char *said, size_t size) {
  FILE *file = tmpfile();
  int status = -1;
  assert_non_null(file);
  fflush(NULL);
  atomic_store(calls, 0);
  pid_t pid = fork();
  assert_true(pid >= 0);
  if (!pid) {
    dup2(fileno(file), STDERR_FILENO);
    exit(child(function, call));
  }
  assert_int_equal(waitpid(pid, &status, 0), pid);
  rewind(file);
  said[fread(said, 1, size - 1, file)] = 0;
  fclose(file);
  if (!WIFEXITED(status))
    fail_msg("call %d of %s fails: the process ended by signal %d: %s", call, function, WTERMSIG(status),
             said);
  return WEXITSTATUS(status);
}

static void any_call_may_fail(void **state) {
  const char *function = *state;
  static char said[1 << 16];
  enum { MOST = 12 };
  int reached = 0;
  for (int call = 1; call <= MOST; call++) {
    int end = outcome(function, call, said, sizeof said);
    reached += atomic_load(calls) >= call;
    if (end != SURVIVED && end != PASSED_ON && end != NO_DEVICES)
      fail_msg("call %d of %s fails: it stays broken (%d): %s", call, function, end, said);
    if (end != SURVIVED && !strstr(said, "AMDGPU "))
      fail_msg("call %d of %s fails, and nothing is said about it: %s", call, function, said);
    if (atomic_load(calls) < call)
      break;
  }
  if (!reached)
    fail_msg("%s is never called", function);
}

int main(int count, char **arguments) {
  enum { COUNT = sizeof functions / sizeof *functions };
  struct CMUnitTest tests[COUNT];
  if (!take_arguments(count, arguments))
    return 2;
  calls = mmap(NULL, sizeof *calls, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (calls == MAP_FAILED)
    return 2;
  setenv("LIBOMPTARGET_DEBUG", "1", 1);
  setenv("LIBOMPTARGET_AMDGPU_MAX_ASYNC_COPY_BYTES", "65536", 1);
  for (size_t i = 0; i < COUNT; i++)
    tests[i] = (struct CMUnitTest){.name = functions[i],
                                   .test_func = any_call_may_fail,
                                   .initial_state = (void *)(uintptr_t)functions[i]};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
