/* Helpers of the HSA test programs. */
#include "gfxsim_rocr.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static hsa_status_t add_agent(hsa_agent_t agent, void *data) {
  machine_t *machine = data;
  hsa_device_type_t type;
  hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
  if (type == HSA_DEVICE_TYPE_CPU)
    machine->cpu = agent;
  else
    machine->gpu[machine->gpus++] = agent;
  return HSA_STATUS_SUCCESS;
}

typedef struct pool_search {
  uint32_t flags;
  hsa_amd_memory_pool_t found;
} pool_search_t;

static hsa_status_t match_pool(hsa_amd_memory_pool_t pool, void *data) {
  pool_search_t *search = data;
  hsa_amd_segment_t segment;
  uint32_t flags = 0;
  hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment);
  if (segment != HSA_AMD_SEGMENT_GLOBAL)
    return HSA_STATUS_SUCCESS;
  hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags);
  if (flags == search->flags)
    search->found = pool;
  return HSA_STATUS_SUCCESS;
}

static hsa_amd_memory_pool_t find_pool(hsa_agent_t agent, uint32_t flags) {
  pool_search_t search = {.flags = flags};
  hsa_amd_agent_iterate_memory_pools(agent, match_pool, &search);
  return search.found;
}

bool machine_open(machine_t *machine) {
  memset(machine, 0, sizeof *machine);
  if (hsa_init() != HSA_STATUS_SUCCESS)
    return false;
  hsa_iterate_agents(add_agent, machine);
  machine->fine = find_pool(machine->cpu, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED);
  machine->coarse = find_pool(machine->cpu, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED);
  for (unsigned i = 0; i < machine->gpus; i++)
    machine->vram[i] = find_pool(machine->gpu[i], HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED);
  return machine->gpus > 0;
}

void *allocate(hsa_amd_memory_pool_t pool, size_t size) {
  void *memory = NULL;
  assert_hsa(hsa_amd_memory_pool_allocate(pool, size, 0, &memory));
  return memory;
}

hsa_signal_t signal_create(hsa_signal_value_t value) {
  hsa_signal_t signal;
  assert_hsa(hsa_signal_create(value, 0, NULL, &signal));
  return signal;
}

bool signal_reached_zero(hsa_signal_t signal) {
  uint64_t frequency = 0;
  hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &frequency);
  return hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_EQ, 0, 60 * frequency,
                                   HSA_WAIT_STATE_BLOCKED) == 0;
}

void sleep_ms(long ms) {
  const struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
  nanosleep(&pause, NULL);
}

void copy(void *to, hsa_agent_t to_agent, const void *from, hsa_agent_t from_agent, size_t size) {
  hsa_signal_t done = signal_create(1);
  assert_hsa(hsa_amd_memory_async_copy(to, to_agent, from, from_agent, size, 0, NULL, done));
  assert_true(signal_reached_zero(done));
  assert_hsa(hsa_signal_destroy(done));
}

void fill_pattern(uint8_t *bytes, size_t size, unsigned seed) {
  for (size_t i = 0; i < size; i++)
    bytes[i] = (uint8_t)((i * 2654435761U + seed) >> 7);
}

uint16_t header_of(unsigned type) {
  return (uint16_t)(type << HSA_PACKET_HEADER_TYPE | 1 << HSA_PACKET_HEADER_BARRIER |
                    HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                    HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE);
}

void submit(hsa_queue_t *queue, const packet_t *packet) {
  const uint64_t index = hsa_queue_add_write_index_scacq_screl(queue, 1);
  while (index - hsa_queue_load_read_index_scacquire(queue) >= queue->size)
    sched_yield();
  packet_t *slot = (packet_t *)queue->base_address + index % queue->size;
  memcpy((char *)slot + 4, (const char *)packet + 4, sizeof *packet - 4);
  const uint32_t head = packet->any.header | (uint32_t)packet->any.setup << 16;
  __atomic_store_n((uint32_t *)(void *)slot, head, __ATOMIC_RELEASE);
  hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
}

static void on_queue_error(hsa_status_t status, hsa_queue_t *queue, void *data) {
  (void)queue;
  queue_error_t *error = data;
  error->status = (int)status;
  error->calls++;
}

hsa_queue_t *queue_create(const machine_t *machine, uint32_t size, queue_error_t *error) {
  hsa_queue_t *queue = NULL;
  assert_hsa(
      hsa_queue_create(machine->gpu[0], size, HSA_QUEUE_TYPE_MULTI, on_queue_error, error, 0, 0, &queue));
  return queue;
}

hsa_executable_t kernels_load(const machine_t *machine, const char *path) {
  assert_non_null(path);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  assert_true(file >= 0);
  hsa_code_object_reader_t reader;
  hsa_executable_t executable;
  assert_hsa(hsa_code_object_reader_create_from_file(file, &reader));
  assert_hsa(
      hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR, NULL, &executable));
  assert_hsa(hsa_executable_load_agent_code_object(executable, machine->gpu[0], reader, NULL, NULL));
  assert_hsa(hsa_executable_freeze(executable, NULL));
  hsa_code_object_reader_destroy(reader);
  close(file);
  return executable;
}

packet_t dispatch_of(const machine_t *machine, hsa_executable_t kernels, const char *name, uint64_t address) {
  static uint64_t *arguments;
  if (!arguments) {
    arguments = allocate(machine->fine, 4096);
    assert_hsa(hsa_amd_agents_allow_access(1, machine->gpu, NULL, arguments));
  }
  char symbol_name[64];
  hsa_executable_symbol_t symbol;
  packet_t packet = {.dispatch = {.header = header_of(HSA_PACKET_TYPE_KERNEL_DISPATCH),
                                  .setup = 1,
                                  .workgroup_size_x = 64,
                                  .workgroup_size_y = 1,
                                  .workgroup_size_z = 1,
                                  .grid_size_x = 64,
                                  .grid_size_y = 1,
                                  .grid_size_z = 1,
                                  .kernarg_address = arguments}};
  snprintf(symbol_name, sizeof symbol_name, "%s.kd", name);
  assert_hsa(hsa_executable_get_symbol_by_name(kernels, symbol_name, machine->gpu, &symbol));
  assert_hsa(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT,
                                            &packet.dispatch.kernel_object));
  assert_hsa(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE,
                                            &packet.dispatch.private_segment_size));
  arguments[0] = address;
  return packet;
}

setting_t *setting_open(const machine_t *machine, const char *kernels, size_t bytes) {
  static setting_t setting;
  setting.machine = machine;
  setting.kernels = kernels_load(machine, kernels);
  setting.queue = queue_create(machine, 64, &setting.error);
  setting.shared = allocate(machine->fine, bytes);
  assert_hsa(hsa_amd_agents_allow_access(1, machine->gpu, NULL, setting.shared));
  memset(setting.shared, 0, bytes);
  return &setting;
}

packet_t setting_dispatch(const setting_t *s, const char *name, uint32_t groups, uint16_t group_size) {
  packet_t packet = dispatch_of(s->machine, s->kernels, name, (uintptr_t)s->shared);
  packet.dispatch.workgroup_size_x = group_size;
  packet.dispatch.grid_size_x = groups * group_size;
  return packet;
}

bool setting_runs(const setting_t *s, packet_t packet) {
  hsa_signal_t done = signal_create(1);
  packet.dispatch.completion_signal = done;
  submit(s->queue, &packet);
  const bool ended = signal_reached_zero(done);
  hsa_signal_destroy(done);
  return ended;
}

bool word_becomes(const uint32_t *word, uint32_t value) {
  for (int waited = 0; waited < 5000; waited++) {
    if (__atomic_load_n(word, __ATOMIC_ACQUIRE) == value)
      return true;
    sleep_ms(1);
  }
  return false;
}

int scenario_run(const scenario_t *table, unsigned count, const char *name) {
  enum { CHILD_SECONDS = 30 };
  const struct rlimit no_core = {0, 0};
  alarm(CHILD_SECONDS);
  setrlimit(RLIMIT_CORE, &no_core);
  signal(SIGINT, SIG_DFL); /* a shell has what it runs in the background ignore it */
  machine_t machine;
  if (!machine_open(&machine))
    return 99;
  for (unsigned i = 0; i < count; i++)
    if (strcmp(table[i].name, name) == 0)
      return table[i].run(&machine);
  return 98;
}

enum { MOST_VARIABLES = 8, LIST_BYTES = 256 };

/* Takes a list of variables apart, in place: name[i] is followed by its value[i]. Returns their number. */
static unsigned split_variables(char *list, char *name[MOST_VARIABLES], char *value[MOST_VARIABLES]) {
  unsigned count = 0;
  char *rest = NULL;
  for (char *item = strtok_r(list, " ", &rest); item; item = strtok_r(NULL, " ", &rest)) {
    assert_true(count < MOST_VARIABLES);
    name[count] = item;
    value[count] = strchr(item, '=');
    assert_non_null(value[count]);
    *value[count++]++ = '\0';
  }
  return count;
}

static pid_t spawn_scenario(const scenario_t *scenario) {
  char self[] = "/proc/self/exe";
  char *arguments[] = {self, (char *)(uintptr_t)scenario->name, NULL};
  char list[LIST_BYTES] = "";
  char *name[MOST_VARIABLES];
  char *value[MOST_VARIABLES];
  if (scenario->environment) {
    assert_true(strlen(scenario->environment) < sizeof list);
    strcpy(list, scenario->environment);
  }
  const unsigned count = split_variables(list, name, value);
  for (unsigned i = 0; i < count; i++)
    assert_int_equal(setenv(name[i], value[i], 1), 0);
  pid_t child = 0;
  assert_int_equal(posix_spawn(&child, self, NULL, NULL, arguments, environ), 0);
  for (unsigned i = 0; i < count; i++)
    unsetenv(name[i]);
  return child;
}

static void test_scenario(void **state) {
  const scenario_t *scenario = *state;
  const pid_t child = spawn_scenario(scenario);
  int status = -1;
  assert_int_equal(waitpid(child, &status, 0), child);
  if (scenario->signal ? !WIFSIGNALED(status) || WTERMSIG(status) != scenario->signal : status != 0)
    fail_msg("%s ended with wait status 0x%x", scenario->name, (unsigned)status);
}

/* Whether $SCENARIOS_WITHOUT, a list of words, has this one. */
static bool is_left_out(const char *name) {
  const char *list = getenv("SCENARIOS_WITHOUT");
  const size_t length = strlen(name);
  for (const char *at = list; at && (at = strstr(at, name)); at += length)
    if ((at == list || at[-1] == ' ') && (!at[length] || at[length] == ' '))
      return true;
  return false;
}

int scenario_run_all(const char *group, const scenario_t *table, unsigned count) {
  struct CMUnitTest *tests = calloc(count, sizeof *tests);
  if (!tests)
    return 1;
  unsigned wanted = 0;
  for (unsigned i = 0; i < count; i++) {
    if (is_left_out(table[i].name)) {
      fprintf(stderr, "left out: %s\n", table[i].name);
      continue;
    }
    tests[wanted].name = table[i].name;
    tests[wanted].test_func = test_scenario;
    tests[wanted++].initial_state = (void *)(uintptr_t)&table[i];
  }
  const int failed = _cmocka_run_group_tests(group, tests, wanted, NULL, NULL);
  free(tests);
  return failed;
}
