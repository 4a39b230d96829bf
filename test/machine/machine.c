/* The simulated machine below the unmodified ROCr, as kernels and programs see it: compute unit masks,
 * programs without execution, and how processes end. MACHINE_KERNELS names the code object made from
 * kernels.s. With an argument that names a scenario, runs only that. Not here: copies (copies.c), and kernels
 * that fail (test/fault). */
#include "gfxsim_rocr.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { GROUPS = 208, MEMORY_BYTES = 4096 };

static setting_t *setting_make(const machine_t *machine) {
  return setting_open(machine, getenv("MACHINE_KERNELS"), MEMORY_BYTES);
}

/* Compute unit masks. */

/* Number of a compute unit, as masks count, from HW_ID: the unit's number within its engine in bits 11:8, the
 * engine's in 15:13. */
static uint32_t unit_of(uint32_t hw_id, uint32_t engines) {
  return (hw_id >> 8 & 0xF) * engines + (hw_id >> 13 & 7);
}

/* Whether a kernel's workgroups run on exactly the compute units of `mask`. */
static bool runs_on(const setting_t *s, const uint32_t mask[4]) {
  uint32_t engines = 0;
  uint32_t used[4] = {0};
  hsa_agent_get_info(s->machine->gpu[0], (hsa_agent_info_t)HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES, &engines);
  memset(s->shared, 0xFF, MEMORY_BYTES);
  if (!setting_runs(s, setting_dispatch(s, "k_place", GROUPS, 64)))
    return false;
  for (unsigned i = 0; i < GROUPS; i++) {
    const uint32_t unit = unit_of(s->shared[i], engines);
    if (unit >= 128)
      return false;
    used[unit / 32] |= UINT32_C(1) << unit % 32;
  }
  for (unsigned i = 0; i < 4; i++)
    if (used[i] != mask[i])
      fprintf(stderr, "units %u..: used 0x%08x, wanted 0x%08x\n", 32 * i, used[i], mask[i]);
  return memcmp(used, mask, sizeof used) == 0;
}

static const uint32_t all_units[4] = {0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFF};

static int scenario_cu_mask(const machine_t *machine) {
  const setting_t *s = setting_make(machine);
  static const uint32_t some[4] = {0x80010022, 0, 0x400, 0x81};
  static const uint32_t one[4] = {0, 0x20, 0, 0};
  static const uint32_t none[4] = {0};
  if (!runs_on(s, all_units))
    return 1;
  if (hsa_amd_queue_cu_set_mask(s->queue, 128, some) || !runs_on(s, some))
    return 2;
  if (hsa_amd_queue_cu_set_mask(s->queue, 64, one) || !runs_on(s, one))
    return 3;
  /* A card would never run the queue again; here the old mask stays. */
  if (hsa_amd_queue_cu_set_mask(s->queue, 128, none) == HSA_STATUS_SUCCESS || !runs_on(s, one))
    return 4;
  if (hsa_amd_queue_cu_set_mask(s->queue, 128, all_units) || !runs_on(s, all_units))
    return 5;
  return hsa_shut_down() ? 6 : 0;
}

/* Queues are born with the mask of HSA_CU_MASK. */
static int scenario_cu_mask_of_the_environment(const machine_t *machine) {
  const setting_t *s = setting_make(machine);
  static const uint32_t units[4] = {0x1E, 0, 0, 0x80};
  return runs_on(s, units) && hsa_shut_down() == HSA_STATUS_SUCCESS ? 0 : 1;
}

/* A compute unit holds two workgroups of 16 waves: two can wait for each other, three cannot. */
static int scenario_cu_mask_limits_residency(const machine_t *machine) {
  const setting_t *s = setting_make(machine);
  static const uint32_t one[1] = {1};
  if (hsa_amd_queue_cu_set_mask(s->queue, 32, one))
    return 1;
  s->shared[1] = 2;
  if (!setting_runs(s, setting_dispatch(s, "k_meet", 2, 1024)))
    return 2;
  s->shared[0] = 0;
  s->shared[1] = 3;
  hsa_signal_t done = signal_create(1);
  packet_t packet = setting_dispatch(s, "k_meet", 3, 1024);
  packet.dispatch.completion_signal = done;
  submit(s->queue, &packet);
  if (!word_becomes(&s->shared[0], 2))
    return 3;
  sleep_ms(200);
  if (__atomic_load_n(&s->shared[0], __ATOMIC_ACQUIRE) != 2 || hsa_signal_load_scacquire(done) != 1)
    return 4;
  __atomic_store_n(&s->shared[1], 2, __ATOMIC_RELEASE);
  return signal_reached_zero(done) && s->shared[0] == 3 && hsa_shut_down() == HSA_STATUS_SUCCESS ? 0 : 5;
}

/* All workgroups of a grid meet, six times; also when a chance decides which runs when. */
static int scenario_grid_barrier(const machine_t *machine) {
  enum { MEETING = 40, TIMES = 3, RESULTS = 4 };
  setting_t *s = setting_make(machine);
  s->shared[1] = MEETING - 1;
  if (!setting_runs(s, setting_dispatch(s, "k_grid_init", 1, 64)) ||
      !setting_runs(s, setting_dispatch(s, "k_grid", MEETING, 64)))
    return 1;
  for (uint32_t i = 0; i < MEETING * TIMES; i++)
    if (s->shared[RESULTS + i] != (i % TIMES + 1) * MEETING)
      return 2;
  return hsa_shut_down() == HSA_STATUS_SUCCESS ? 0 : 3;
}

/* What the barrier orders is no race; nor would the kernel find what it loads without it. */
static int scenario_grid_pass(const machine_t *machine) {
  enum { MEETING = 40, RESULTS = 68 };
  setting_t *s = setting_make(machine);
  s->shared[1] = MEETING - 1;
  if (!setting_runs(s, setting_dispatch(s, "k_grid_init", 1, 64)) ||
      !setting_runs(s, setting_dispatch(s, "k_grid_pass", MEETING, 64)))
    return 1;
  for (uint32_t i = 0; i < MEETING; i++)
    if (s->shared[RESULTS + i] != (i + 1) % MEETING)
      return 2;
  return hsa_shut_down() == HSA_STATUS_SUCCESS ? 0 : 3;
}

/* Copies: only with access. */

static _Atomic uint64_t fault_address;

static hsa_status_t on_system_event(const hsa_amd_event_t *event, void *data) {
  (void)data;
  if (event->event_type == HSA_AMD_GPU_MEMORY_FAULT_EVENT)
    fault_address = event->memory_fault.virtual_address;
  return HSA_STATUS_SUCCESS;
}

/* Copies a page, which must be a fault. Returns the number of the page where, or 0. */
static uint64_t faulting_copy(void *to, hsa_agent_t to_agent, const void *from, hsa_agent_t from_agent) {
  assert_hsa(hsa_amd_register_system_event_handler(on_system_event, NULL));
  hsa_signal_t done = signal_create(1);
  assert_hsa(hsa_amd_memory_async_copy(to, to_agent, from, from_agent, 4096, 0, NULL, done));
  for (int waited = 0; waited < 5000 && !fault_address; waited++)
    sleep_ms(1);
  return hsa_signal_load_scacquire(done) == 1 ? fault_address / 4096 : 0;
}

static int scenario_peer_copy_without_access(const machine_t *machine) {
  if (machine->gpus != 2)
    return 1;
  uint8_t *a = allocate(machine->vram[0], 1 << 21);
  uint8_t *b = allocate(machine->vram[1], 1 << 21);
  const uint64_t page = faulting_copy(b, machine->gpu[1], a, machine->gpu[0]);
  return page == (uintptr_t)a / 4096 || page == (uintptr_t)b / 4096 ? 0 : 2;
}

/* A page of the program's with these rights. */
static void *program_page(int rights) {
  void *page = mmap(NULL, 4096, rights, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(page != MAP_FAILED);
  return page;
}

/* The program's memory, which nobody locked or pinned: with XNACK the GPU reaches it. */
static int scenario_copy_of_program_memory(const machine_t *machine) {
  enum { BYTES = 3000001 };
  uint8_t *from = malloc(BYTES);
  uint8_t *to = malloc(BYTES);
  uint8_t *device = allocate(machine->vram[0], BYTES);
  assert_non_null(from);
  assert_non_null(to);
  fill_pattern(from, BYTES, 4);
  copy(device, machine->gpu[0], from, machine->cpu, BYTES);
  copy(to, machine->cpu, device, machine->gpu[0], BYTES);
  const bool same = memcmp(from, to, BYTES) == 0;
  free(to);
  free(from);
  return same && !hsa_shut_down() ? 0 : 1;
}

static int scenario_copy_of_program_memory_without_xnack(const machine_t *machine) {
  uint8_t *page = program_page(PROT_READ | PROT_WRITE);
  void *device = allocate(machine->vram[0], 4096);
  return faulting_copy(device, machine->gpu[0], page, machine->cpu) == (uintptr_t)page / 4096 ? 0 : 1;
}

static int scenario_copy_without_rights(const machine_t *machine) {
  uint8_t *page = program_page(PROT_NONE);
  void *device = allocate(machine->vram[0], 4096);
  return faulting_copy(device, machine->gpu[0], page, machine->cpu) == (uintptr_t)page / 4096 ? 0 : 1;
}

static int scenario_copy_to_constant(const machine_t *machine) {
  uint8_t *page = program_page(PROT_READ);
  void *device = allocate(machine->vram[0], 4096);
  return faulting_copy(page, machine->cpu, device, machine->gpu[0]) == (uintptr_t)page / 4096 ? 0 : 1;
}

static int scenario_peer_copy_with_access(const machine_t *machine) {
  enum { BYTES = 300001 };
  uint8_t *host = allocate(machine->fine, 2 * BYTES);
  uint8_t *a = allocate(machine->vram[0], BYTES);
  uint8_t *b = allocate(machine->vram[1], BYTES);
  assert_hsa(hsa_amd_agents_allow_access(2, machine->gpu, NULL, host));
  assert_hsa(hsa_amd_agents_allow_access(2, machine->gpu, NULL, a));
  assert_hsa(hsa_amd_agents_allow_access(2, machine->gpu, NULL, b));
  fill_pattern(host, BYTES, 9);
  copy(a, machine->gpu[0], host, machine->cpu, BYTES);
  copy(b, machine->gpu[1], a, machine->gpu[0], BYTES);
  copy(host + BYTES, machine->cpu, b, machine->gpu[1], BYTES);
  return memcmp(host, host + BYTES, BYTES) || hsa_shut_down() ? 1 : 0;
}

/* Number of this process's threads whose names start like this. */
static unsigned threads_called(const char *start) {
  unsigned count = 0;
  DIR *tasks = opendir("/proc/self/task");
  assert_non_null(tasks);
  for (const struct dirent *task; (task = readdir(tasks));) {
    char path[sizeof "/proc/self/task//comm" + sizeof task->d_name];
    char name[32] = "";
    snprintf(path, sizeof path, "/proc/self/task/%s/comm", task->d_name);
    FILE *file = fopen(path, "r");
    if (!file)
      continue;
    count += fgets(name, sizeof name, file) && strncmp(name, start, strlen(start)) == 0;
    fclose(file);
  }
  closedir(tasks);
  return count;
}

/* The devices that the environment asks for. */

static bool is_called(hsa_agent_t agent, const char *wanted) {
  char name[64] = "";
  return hsa_agent_get_info(agent, HSA_AGENT_INFO_NAME, name) == HSA_STATUS_SUCCESS &&
         strcmp(name, wanted) == 0;
}

static size_t pool_size(hsa_amd_memory_pool_t pool) {
  size_t size = 0;
  assert_hsa(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SIZE, &size));
  return size;
}

static int scenario_memory_sizes(const machine_t *machine) {
  enum { MIB = 1 << 20 };
  void *first = NULL;
  void *second = NULL;
  if (machine->gpus != 3 || !is_called(machine->gpu[0], "gfx90a") || !is_called(machine->gpu[1], "gfx90a") ||
      !is_called(machine->gpu[2], "gfx906"))
    return 1;
  if (pool_size(machine->vram[2]) != (size_t)256 * MIB || pool_size(machine->vram[0]) < (size_t)60 << 30)
    return 2;
  assert_hsa(hsa_amd_memory_pool_allocate(machine->vram[2], (size_t)200 * MIB, 0, &first));
  if (hsa_amd_memory_pool_allocate(machine->vram[2], (size_t)100 * MIB, 0, &second) !=
      HSA_STATUS_ERROR_OUT_OF_RESOURCES)
    return 3;
  assert_hsa(hsa_amd_memory_pool_allocate(machine->vram[1], (size_t)100 * MIB, 0, &second));
  assert_hsa(hsa_amd_memory_pool_free(first));
  assert_hsa(hsa_amd_memory_pool_allocate(machine->vram[2], (size_t)100 * MIB, 0, &second));
  return hsa_shut_down() ? 4 : 0;
}

static int scenario_visible_devices(const machine_t *machine) {
  return machine->gpus == 2 && is_called(machine->gpu[0], "gfx908") && is_called(machine->gpu[1], "gfx900") &&
                 !hsa_shut_down()
             ? 0
             : 1;
}

/* A kernel of many workgroups, and as many threads as the environment says. */
static int scenario_workers(const machine_t *machine) {
  const char *wanted = getenv("WANTED_WORKERS");
  const setting_t *s = setting_make(machine);
  if (!wanted || !runs_on(s, all_units))
    return 1;
  return threads_called("gfxsim-worker") == (unsigned)atoi(wanted) && !hsa_shut_down() ? 0 : 2;
}

/* The times of a kernel that runs for 50 ms, on the host's clock. */
static int scenario_dispatch_times(const machine_t *machine) {
  const setting_t *s = setting_make(machine);
  uint64_t frequency = 0;
  uint64_t before = 0;
  uint64_t after = 0;
  assert_hsa(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &frequency));
  assert_hsa(hsa_amd_profiling_set_profiler_enabled(s->queue, 1));
  packet_t packet = setting_dispatch(s, "k_meet", 1, 64);
  hsa_signal_t done = signal_create(1);
  packet.dispatch.completion_signal = done;
  s->shared[1] = 2;
  hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &before);
  submit(s->queue, &packet);
  if (!word_becomes(s->shared, 1))
    return 1;
  sleep_ms(50);
  __atomic_store_n(&s->shared[1], 1, __ATOMIC_RELEASE);
  if (!signal_reached_zero(done))
    return 2;
  hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &after);
  hsa_amd_profiling_dispatch_time_t time = {0};
  assert_hsa(hsa_amd_profiling_get_dispatch_time(machine->gpu[0], done, &time));
  const uint64_t slack = frequency / 500; /* ROCr converts ticks with a rate that it has measured */
  return time.start + slack >= before && time.end <= after + slack &&
                 time.end - time.start + slack >= frequency / 20 && !hsa_shut_down()
             ? 0
             : 3;
}

/* GFXSIM_EXECUTE=0: copies and fills happen, the program's kernels do not. */
static int scenario_without_execution(const machine_t *machine) {
  const setting_t *s = setting_make(machine);
  enum { BYTES = 1 << 20 };
  uint8_t *host = allocate(machine->fine, BYTES);
  uint8_t *a = allocate(machine->vram[0], BYTES);
  uint8_t *b = allocate(machine->vram[0], BYTES);
  assert_hsa(hsa_amd_agents_allow_access(1, machine->gpu, NULL, host));
  fill_pattern(host, BYTES / 2, 1);
  copy(a, machine->gpu[0], host, machine->cpu, BYTES / 2);
  copy(b, machine->gpu[0], a, machine->gpu[0], BYTES / 2);
  copy(host + BYTES / 2, machine->cpu, b, machine->gpu[0], BYTES / 2);
  if (memcmp(host, host + BYTES / 2, BYTES / 2))
    return 1;
  assert_hsa(hsa_amd_memory_fill(a, 0xABCD1234, 1000));
  copy(host, machine->cpu, a, machine->gpu[0], 4000);
  for (unsigned i = 0; i < 1000; i++)
    if (((uint32_t *)(void *)host)[i] != 0xABCD1234)
      return 2;
  packet_t packet = setting_dispatch(s, "k_store", 1, 64);
  packet.dispatch.private_segment_size = 100000; /* needs no scratch memory when it does not run */
  for (int i = 0; i < 100; i++)
    if (!setting_runs(s, packet))
      return 3;
  return s->shared[0] == 0 && s->error.calls == 0 && hsa_shut_down() == HSA_STATUS_SUCCESS ? 0 : 4;
}

/* With GFXSIM_DETERMINISTIC=1 as well: everything that can be done is done when the doorbell's store returns.
 */

static bool is_zero_now(hsa_signal_t signal) {
  return hsa_signal_load_scacquire(signal) == 0;
}

static int synchronous_kernels(const setting_t *s) {
  packet_t packet = setting_dispatch(s, "k_store", 1, 64);
  for (int i = 0; i < 200; i++) {
    hsa_signal_t done = signal_create(1);
    packet.dispatch.completion_signal = done;
    submit(s->queue, &packet);
    if (!is_zero_now(done))
      return 1;
    hsa_signal_destroy(done);
  }
  return s->shared[0] || threads_called("gfxsim-queue") ? 2 : 0;
}

static int synchronous_copies(const setting_t *s) {
  const machine_t *machine = s->machine;
  enum { BYTES = 100000 };
  uint8_t *host = allocate(machine->fine, 2 * BYTES);
  uint8_t *device = allocate(machine->vram[0], BYTES);
  assert_hsa(hsa_amd_agents_allow_access(1, machine->gpu, NULL, host));
  fill_pattern(host, BYTES, 3);
  hsa_signal_t first = signal_create(1);
  hsa_signal_t second = signal_create(1);
  assert_hsa(hsa_amd_memory_async_copy(device, machine->gpu[0], host, machine->cpu, BYTES, 0, NULL, first));
  if (!is_zero_now(first))
    return 1;
  assert_hsa(hsa_amd_memory_async_copy(host + BYTES, machine->cpu, device, machine->gpu[0], BYTES, 1, &first,
                                       second));
  return is_zero_now(second) && memcmp(host, host + BYTES, BYTES) == 0 ? 0 : 2;
}

/* A packet that waits: for a packet of another queue, then for the program, which sleeps or spins. */
static int synchronous_waits(const setting_t *s) {
  hsa_queue_t *other = queue_create(s->machine, 64, &(queue_error_t){0});
  packet_t barrier = {.barrier.header = header_of(HSA_PACKET_TYPE_BARRIER_AND)};
  packet_t trigger = barrier;
  hsa_signal_t gate = signal_create(1);
  hsa_signal_t done = signal_create(1);
  barrier.barrier.dep_signal[0] = gate;
  barrier.barrier.completion_signal = done;
  trigger.barrier.completion_signal = gate;
  submit(s->queue, &barrier);
  if (is_zero_now(done))
    return 1;
  submit(other, &trigger);
  if (!is_zero_now(done))
    return 2;
  for (int i = 0; i < 20; i++) {
    hsa_signal_store_screlease(gate, 1);
    hsa_signal_store_screlease(done, 1);
    submit(s->queue, &barrier);
    if (is_zero_now(done))
      return 3;
    hsa_signal_store_screlease(gate, 0);
    const hsa_wait_state_t how = i % 2 ? HSA_WAIT_STATE_ACTIVE : HSA_WAIT_STATE_BLOCKED;
    if (hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_EQ, 0, UINT64_MAX, how))
      return 4;
  }
  return 0;
}

/* What test/machine/instruction_counts.sh counts: a kernel and a copy each way, several times. */
__attribute__((noinline)) bool counted_operations(const setting_t *s, packet_t packet, uint8_t *device,
                                                  long count);

bool counted_operations(const setting_t *s, packet_t packet, uint8_t *device, long count) {
  const machine_t *machine = s->machine;
  hsa_signal_t done = signal_create(1);
  packet.dispatch.completion_signal = done;
  while (count-- > 0) {
    hsa_signal_store_screlease(done, 1);
    submit(s->queue, &packet);
    if (!signal_reached_zero(done))
      return false;
    copy(device, machine->gpu[0], s->shared, machine->cpu, MEMORY_BYTES);
    copy(s->shared, machine->cpu, device, machine->gpu[0], MEMORY_BYTES);
  }
  return true;
}

/* What test/machine/costs.sh counts besides: the program's memory, pinned; two pages and a byte each time. */
static bool counted_pins(const machine_t *machine, long count) {
  enum { PAGE_BYTES = 4096, BYTES = 2 * PAGE_BYTES + 1 };
  uint8_t *bytes = aligned_alloc(PAGE_BYTES, 3 * PAGE_BYTES);
  bool done = bytes != NULL;
  while (done && count-- > 0) {
    void *locked = NULL;
    hsa_agent_t gpu = machine->gpu[0];
    done = !hsa_amd_memory_lock(bytes, BYTES, &gpu, 1, &locked) && !hsa_amd_memory_unlock(bytes);
  }
  free(bytes);
  return done;
}

static int scenario_counted(const machine_t *machine) {
  const char *count = getenv("COUNTED_OPERATIONS");
  const setting_t *s = setting_make(machine);
  uint8_t *device = allocate(machine->vram[0], MEMORY_BYTES);
  const packet_t packet = setting_dispatch(s, "k_store", 1, 64);
  const long times = count ? atol(count) : 0;
  const bool done = counted_operations(s, packet, device, times) && counted_pins(machine, times);
  return done && !hsa_shut_down() ? 0 : 1;
}

static int scenario_synchronous(const machine_t *machine) {
  const setting_t *s = setting_make(machine);
  int status = synchronous_kernels(s);
  if (status)
    return status;
  status = synchronous_copies(s);
  if (status)
    return 10 + status;
  status = synchronous_waits(s);
  if (status)
    return 20 + status;
  return hsa_shut_down() ? 30 : 0;
}

/* Ends of processes. */

static setting_t *start_spinning(const machine_t *machine) {
  setting_t *s = setting_make(machine);
  const packet_t packet = setting_dispatch(s, "k_spin", 3, 256);
  submit(s->queue, &packet);
  if (!word_becomes(s->shared, 42))
    exit(97);
  return s;
}

/* For tests of what is printed at the end: one kernel is done, another one runs, and nothing is shut down. */
static int scenario_exit_while_running(const machine_t *machine) {
  const setting_t *s = setting_make(machine);
  if (!setting_runs(s, setting_dispatch(s, "k_place", 4, 64)))
    return 1;
  hsa_queue_t *other = queue_create(machine, 64, &(queue_error_t){0});
  memset(s->shared, 0, MEMORY_BYTES);
  const packet_t packet = setting_dispatch(s, "k_spin", 3, 256);
  submit(other, &packet);
  return word_becomes(s->shared, 42) ? 0 : 2;
}

/* A kernel that would not end runs for three seconds: one wave of each workgroup, for which the other fifteen
 * wait. */
static int scenario_spin_for_seconds(const machine_t *machine) {
  const setting_t *s = setting_make(machine);
  const packet_t packet = setting_dispatch(s, "k_spin_first", 3, 1024);
  submit(s->queue, &packet);
  if (!word_becomes(s->shared, 42))
    return 1;
  sleep(3);
  return 0;
}

/* Of 2^26 workgroups, each done in no time: what is left of them does not begin. */
static int scenario_destroy_between_workgroups(const machine_t *machine) {
  const setting_t *s = setting_make(machine);
  const packet_t packet = setting_dispatch(s, "k_store", UINT32_C(1) << 26, 1);
  submit(s->queue, &packet);
  if (!word_becomes(s->shared, 42))
    return 1;
  alarm(20);
  assert_hsa(hsa_queue_destroy(s->queue));
  alarm(0);
  return hsa_shut_down() == HSA_STATUS_SUCCESS ? 0 : 2;
}

static int scenario_shut_down_while_running(const machine_t *machine) {
  start_spinning(machine);
  return hsa_shut_down() ? 1 : 0;
}

static int scenario_abort_while_running(const machine_t *machine) {
  start_spinning(machine);
  abort();
}

/* ROCr ends the process when nobody handles a memory fault. */
static int scenario_abort_after_a_fault(const machine_t *machine) {
  const setting_t *s = setting_make(machine);
  const packet_t packet = dispatch_of(machine, s->kernels, "k_store", 0x5000);
  submit(s->queue, &packet);
  sleep_ms(10000);
  return 1;
}

static int scenario_quick_exit_while_running(const machine_t *machine) {
  start_spinning(machine);
  _exit(0);
}

static void *exit_now(void *unused) {
  (void)unused;
  exit(0);
}

/* One thread waits for a kernel that never ends while another exits. */
static int scenario_exit_by_another_thread(const machine_t *machine) {
  setting_t *s = start_spinning(machine);
  hsa_signal_t never = signal_create(1);
  pthread_t thread;
  (void)s;
  if (pthread_create(&thread, NULL, exit_now, NULL))
    return 1;
  hsa_signal_wait_scacquire(never, HSA_SIGNAL_CONDITION_EQ, 0, UINT64_MAX, HSA_WAIT_STATE_BLOCKED);
  return 2;
}

static int scenario_killed_while_running(const machine_t *machine) {
  start_spinning(machine);
  raise(SIGKILL);
  return 1;
}

static int scenario_interrupted_while_running(const machine_t *machine) {
  start_spinning(machine);
  raise(SIGINT);
  return 1;
}

#if !defined(__SANITIZE_THREAD__)
/* When this process began, by the clock of file systems. */
static struct timespec began;

/* Whether `path` is a file in a folder for temporary ones that did not exist when this process began: the
 * test itself may lie there, too. */
static bool is_left_behind(const char *path) {
  struct stat file;
  /* What the driver's own thunk shares among all processes, and the semaphore for that before it has its
   * name: where another process was faster it stays mapped under the name that the C library made up. */
  if (strncmp(path, "/dev/shm/hsakmt_", 16) == 0 || strncmp(path, "/dev/shm/sem.", 13) == 0)
    return false;
  if (strncmp(path, "/dev/shm/", 9) == 0 || strncmp(path, "/SYSV", 5) == 0)
    return true;
  if (strncmp(path, "/tmp/", 5) != 0 || stat(path, &file))
    return false;
  return file.st_ctim.tv_sec > began.tv_sec ||
         (file.st_ctim.tv_sec == began.tv_sec && file.st_ctim.tv_nsec >= began.tv_nsec);
}

/* Whether a line of `path` names a file that stays behind when this process is killed. */
static bool names_a_file_left_behind(const char *path) {
  char line[4096];
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  bool found = false;
  while (!found && fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = '\0';
    const char *name = strchr(line, '/');
    found = name && is_left_behind(name);
  }
  fclose(file);
  return found;
}

/* What is killed now leaves nothing: memory is of the process alone, and so is what its descriptors name.
 * (Not asked of ThreadSanitizer, whose shadow memory is a file.) */
static int scenario_nothing_is_left_behind(const machine_t *machine) {
  start_spinning(machine);
  if (names_a_file_left_behind("/proc/self/maps"))
    return 1;
  DIR *files = opendir("/proc/self/fd");
  assert_non_null(files);
  for (const struct dirent *entry; (entry = readdir(files));) {
    char path[sizeof "/proc/self/fd/" + sizeof entry->d_name];
    char target[4096] = "";
    snprintf(path, sizeof path, "/proc/self/fd/%s", entry->d_name);
    /* The first three are the test's own. */
    if (atoi(entry->d_name) > 2 && readlink(path, target, sizeof target - 1) > 0 && is_left_behind(target))
      return 2;
  }
  closedir(files);
  return hsa_shut_down() ? 3 : 0;
}
#endif

/* Parent and child each have a machine of their own, when the parent has none at the time of the fork. */
static int scenario_fork_after_shut_down(const machine_t *machine) {
  (void)machine;
  if (hsa_shut_down())
    return 1;
  const pid_t child = fork();
  machine_t own;
  if (!machine_open(&own))
    return 2;
  const setting_t *s = setting_make(&own);
  if (!setting_runs(s, setting_dispatch(s, "k_store", 1, 64)) || s->shared[0] != 42 || hsa_shut_down())
    return 3;
  int status = 0;
  return child && (waitpid(child, &status, 0) != child || status) ? 4 : 0;
}

/* The child has no GPU, and ends like any program; the parent's kernel runs on. */
static int scenario_forked_child_exits(const machine_t *machine) {
  start_spinning(machine);
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    void *memory = NULL;
    exit(hsa_amd_memory_pool_allocate(machine->vram[0], 1 << 20, 0, &memory) == HSA_STATUS_SUCCESS);
  }
  int status = -1;
  if (waitpid(child, &status, 0) != child || status)
    return 1;
  return hsa_shut_down() ? 2 : 0;
}

/* A child that uses a queue of its parent's ends at once, and not never. */
static int scenario_forked_child_submits(const machine_t *machine) {
  const setting_t *s = setting_make(machine);
  const packet_t packet = setting_dispatch(s, "k_store", 1, 64);
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    submit(s->queue, &packet);
    _exit(0);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFSIGNALED(status) || WTERMSIG(status) != SIGSEGV)
    return 1;
  return setting_runs(s, packet) && s->shared[0] == 42 && !hsa_shut_down() ? 0 : 2;
}

static const char two_gpus[] = "GFXSIM_DEVICES=gfx90a,gfx906 HSA_ENABLE_INTERRUPT=1";
static const char with_xnack[] = "HSA_XNACK=1 HSA_ENABLE_INTERRUPT=1";

static const scenario_t scenario_table[] = {
    {"grid_barrier", scenario_grid_barrier, NULL, 0},
    {"grid_barrier", scenario_grid_barrier, "GFXSIM_DETERMINISTIC=1", 0},
    {"grid_barrier", scenario_grid_barrier, "GFXSIM_STRICT=schedule", 0},
    {"grid_pass", scenario_grid_pass, "GFXSIM_CHECK=race GFXSIM_CHECK_FAIL=1", 0},
    {"cu_mask", scenario_cu_mask, NULL, 0},
    {"cu_mask_of_the_environment", scenario_cu_mask_of_the_environment, "HSA_CU_MASK=0:1-4,103", 0},
    {"cu_mask_limits_residency", scenario_cu_mask_limits_residency, NULL, 0},
    {"peer_copy_without_access", scenario_peer_copy_without_access, two_gpus, 0},
    {"peer_copy_with_access", scenario_peer_copy_with_access, two_gpus, 0},
    {"copy_of_program_memory", scenario_copy_of_program_memory, "HSA_XNACK=1", 0},
    {"copy_of_program_memory_without_xnack", scenario_copy_of_program_memory_without_xnack,
     "HSA_ENABLE_INTERRUPT=1", 0},
    {"copy_without_rights", scenario_copy_without_rights, with_xnack, 0},
    {"copy_to_constant", scenario_copy_to_constant, with_xnack, 0},
    {"memory_sizes", scenario_memory_sizes, "GFXSIM_DEVICES=gfx90a,gfx90a,gfx906:256M", 0},
    {"visible_devices", scenario_visible_devices,
     "GFXSIM_DEVICES=gfx900,gfx906,gfx908 ROCR_VISIBLE_DEVICES=2,0", 0},
    {"workers", scenario_workers, "GFXSIM_WORKERS=4 WANTED_WORKERS=3", 0},
    {"workers", scenario_workers, "GFXSIM_WORKERS=1 WANTED_WORKERS=0", 0},
    {"workers", scenario_workers, "GFXSIM_WORKERS=4 GFXSIM_DETERMINISTIC=1 WANTED_WORKERS=0", 0},
    {"dispatch_times", scenario_dispatch_times, NULL, 0},
    {"without_execution", scenario_without_execution, "GFXSIM_EXECUTE=0", 0},
    {"synchronous", scenario_synchronous, "GFXSIM_EXECUTE=0 GFXSIM_DETERMINISTIC=1", 0},
    {"synchronous", scenario_synchronous, "GFXSIM_EXECUTE=0 GFXSIM_DETERMINISTIC=1 HSA_ENABLE_SDMA=0", 0},
    {"synchronous", scenario_synchronous, "GFXSIM_EXECUTE=0 GFXSIM_DETERMINISTIC=1 HSA_ENABLE_INTERRUPT=0",
     0},
    {"counted", scenario_counted, "GFXSIM_EXECUTE=0 COUNTED_OPERATIONS=10", 0},
    {"exit_while_running", scenario_exit_while_running, NULL, 0},
    {"spin_for_seconds", scenario_spin_for_seconds, NULL, 0},
    {"destroy_between_workgroups", scenario_destroy_between_workgroups, NULL, 0},
    {"shut_down_while_running", scenario_shut_down_while_running, NULL, 0},
    {"abort_while_running", scenario_abort_while_running, NULL, SIGABRT},
    {"abort_after_a_fault", scenario_abort_after_a_fault, "HSA_ENABLE_INTERRUPT=1", SIGABRT},
    {"quick_exit_while_running", scenario_quick_exit_while_running, NULL, 0},
    {"exit_by_another_thread", scenario_exit_by_another_thread, NULL, 0},
    {"killed_while_running", scenario_killed_while_running, NULL, SIGKILL},
    {"interrupted_while_running", scenario_interrupted_while_running, NULL, SIGINT},
#if !defined(__SANITIZE_THREAD__)
    {"nothing_is_left_behind", scenario_nothing_is_left_behind, NULL, 0},
#endif
    {"fork_after_shut_down", scenario_fork_after_shut_down, NULL, 0},
    {"forked_child_submits", scenario_forked_child_submits, NULL, 0},
    {"forked_child_exits", scenario_forked_child_exits, NULL, 0},
};

enum { SCENARIOS = sizeof scenario_table / sizeof *scenario_table };

int main(int argc, char **argv) {
#if !defined(__SANITIZE_THREAD__)
  clock_gettime(CLOCK_REALTIME_COARSE, &began);
#endif
  if (argc > 1)
    return scenario_run(scenario_table, SCENARIOS, argv[1]);
  return scenario_run_all("the machine", scenario_table, SCENARIOS);
}
