/* gfxsim below the unmodified ROCr: what an HSA program sees of the machine, its memory, copies, queues and
 * errors. Needs no kernels of its own. Some scenarios end the process or need a fresh one: they run in
 * children of this program. Not here: execution of kernels. */
#include "gfxsim_rocr.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECOND = 1000000000 };

static int setup(void **state) {
  static machine_t machine;
  *state = &machine;
  return machine_open(&machine) ? 0 : -1;
}

static int teardown(void **state) {
  (void)state;
  return hsa_shut_down() == HSA_STATUS_SUCCESS ? 0 : -1;
}

/* The machine. */

static void test_agent_has_name_and_limits(void **state) {
  const machine_t *machine = *state;
  char name[64];
  uint32_t cus = 0;
  assert_hsa(hsa_agent_get_info(machine->gpu[0], HSA_AGENT_INFO_NAME, name));
  assert_string_equal(name, "gfx90a");
  assert_hsa(
      hsa_agent_get_info(machine->gpu[0], (hsa_agent_info_t)HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT, &cus));
  assert_true(cus > 0);
  assert_int_not_equal(machine->fine.handle, 0);
  assert_int_not_equal(machine->coarse.handle, 0);
  assert_int_not_equal(machine->vram[0].handle, 0);
}

/* Memory. */

static void expect_pointer(const void *pointer, hsa_amd_pointer_type_t type, const void *base, size_t size) {
  hsa_amd_pointer_info_t info = {.size = sizeof info};
  assert_hsa(hsa_amd_pointer_info((void *)(uintptr_t)pointer, &info, NULL, NULL, NULL));
  assert_int_equal(info.type, type);
  if (type == HSA_EXT_POINTER_TYPE_UNKNOWN)
    return;
  assert_ptr_equal(info.agentBaseAddress, base);
  assert_int_equal(info.sizeInBytes, size);
}

static void test_pointer_info(void **state) {
  const machine_t *machine = *state;
  enum { SIZE = 8 << 20 };
  uint8_t *vram = allocate(machine->vram[0], SIZE);
  expect_pointer(vram, HSA_EXT_POINTER_TYPE_HSA, vram, SIZE);
  expect_pointer(vram + 12345, HSA_EXT_POINTER_TYPE_HSA, vram, SIZE);
  uint8_t *system = allocate(machine->fine, SIZE);
  expect_pointer(system + SIZE - 1, HSA_EXT_POINTER_TYPE_HSA, system, SIZE);
  static uint8_t program[100000];
  expect_pointer(program, HSA_EXT_POINTER_TYPE_UNKNOWN, NULL, 0);
  void *agent_pointer = NULL;
  assert_hsa(hsa_amd_memory_lock(program + 1, sizeof program - 1, NULL, 0, &agent_pointer));
  /* Thunks differ in whether devices have the same address. */
  assert_int_equal((uintptr_t)agent_pointer % 4096, (uintptr_t)(program + 1) % 4096);
  expect_pointer(program + 77, HSA_EXT_POINTER_TYPE_LOCKED, agent_pointer, sizeof program - 1);
  assert_hsa(hsa_amd_memory_unlock(program + 1));
  expect_pointer(program + 77, HSA_EXT_POINTER_TYPE_UNKNOWN, NULL, 0);
  assert_hsa(hsa_amd_memory_pool_free(vram));
  assert_hsa(hsa_amd_memory_pool_free(system));
  expect_pointer(system, HSA_EXT_POINTER_TYPE_UNKNOWN, NULL, 0);
}

static void test_device_memory_is_limited(void **state) {
  const machine_t *machine = *state;
  size_t total = 0;
  assert_hsa(hsa_amd_memory_pool_get_info(machine->vram[0], HSA_AMD_MEMORY_POOL_INFO_SIZE, &total));
  const size_t half = total / 2 & ~(((size_t)2 << 20) - 1);
  void *first = allocate(machine->vram[0], half);
  void *second = NULL;
  assert_int_not_equal(hsa_amd_memory_pool_allocate(machine->vram[0], half + (4 << 20), 0, &second),
                       HSA_STATUS_SUCCESS);
  assert_hsa(hsa_amd_memory_pool_free(first));
  second = allocate(machine->vram[0], half + (4 << 20));
  assert_hsa(hsa_amd_memory_pool_free(second));
}

static void test_nested_locks(void **state) {
  (void)state;
  static uint8_t buffer[64 << 10];
  void *outer = NULL;
  void *inner = NULL;
  void *again = NULL;
  assert_hsa(hsa_amd_memory_lock(buffer + 3, 60000, NULL, 0, &outer));
  assert_hsa(hsa_amd_memory_lock(buffer + 5000, 77, NULL, 0, &inner));
  assert_hsa(hsa_amd_memory_lock(buffer + 3, 60000, NULL, 0, &again));
  assert_hsa(hsa_amd_memory_unlock(buffer + 3));
  assert_hsa(hsa_amd_memory_unlock(buffer + 5000));
  expect_pointer(buffer + 5001, HSA_EXT_POINTER_TYPE_LOCKED, outer, 60000);
  assert_hsa(hsa_amd_memory_unlock(buffer + 3));
  expect_pointer(buffer + 5001, HSA_EXT_POINTER_TYPE_UNKNOWN, NULL, 0);
}

/* Copies. */

/* The driver pins memory for writing: a program's constants can't be locked. */
static void test_read_only_memory_is_not_locked(void **state) {
  const machine_t *machine = *state;
  static const uint32_t constants[1024] = {1, 2, 3};
  void *locked = NULL;
  assert_int_not_equal(hsa_amd_memory_lock((void *)(uintptr_t)constants, sizeof constants,
                                           (hsa_agent_t *)(uintptr_t)machine->gpu, 1, &locked),
                       HSA_STATUS_SUCCESS);
}

static void test_copies_round_trip(void **state) {
  const machine_t *machine = *state;
  static const size_t sizes[] = {1, 3, 4, 255, 4096, 65537, 4194272, 4194305, 9437189};
  enum { ROOM = 10 << 20 };
  uint8_t *host = allocate(machine->fine, ROOM);
  uint8_t *back = allocate(machine->coarse, ROOM);
  uint8_t *vram = allocate(machine->vram[0], ROOM);
  assert_hsa(hsa_amd_agents_allow_access(1, &machine->gpu[0], NULL, host));
  assert_hsa(hsa_amd_agents_allow_access(1, &machine->gpu[0], NULL, back));
  for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    for (unsigned offset = 0; offset < 4; offset++) {
      const size_t size = sizes[i];
      fill_pattern(host, size + 8, i + offset);
      memset(back, 0x5a, size + 16);
      copy(vram + 3 * offset, machine->gpu[0], host + offset, machine->cpu, size);
      copy(back + 8 - offset, machine->cpu, vram + 3 * offset, machine->gpu[0], size);
      assert_memory_equal(back + 8 - offset, host + offset, size);
      assert_int_equal(back[7 - offset], 0x5a);
      assert_int_equal(back[8 - offset + size], 0x5a);
    }
  }
  hsa_amd_memory_pool_free(host);
  hsa_amd_memory_pool_free(back);
  hsa_amd_memory_pool_free(vram);
}

static void test_copy_waits_for_its_dependencies(void **state) {
  const machine_t *machine = *state;
  int *host = allocate(machine->fine, 4096);
  int *vram = allocate(machine->vram[0], 4096);
  assert_hsa(hsa_amd_agents_allow_access(1, &machine->gpu[0], NULL, host));
  host[0] = 1234;
  host[1] = 0;
  hsa_signal_t gate[2] = {signal_create(1), signal_create(1)};
  hsa_signal_t there = signal_create(1);
  hsa_signal_t back = signal_create(1);
  assert_hsa(
      hsa_amd_memory_async_copy(vram, machine->gpu[0], host, machine->cpu, sizeof *host, 2, gate, there));
  assert_hsa(hsa_amd_memory_async_copy(host + 1, machine->cpu, vram, machine->gpu[0], sizeof *host, 1, &there,
                                       back));
  hsa_signal_store_screlease(gate[1], 0);
  sleep_ms(30);
  assert_int_equal(hsa_signal_load_scacquire(there), 1);
  assert_int_equal(hsa_signal_load_scacquire(back), 1);
  host[0] = 4321;
  hsa_signal_store_screlease(gate[0], 0);
  assert_true(signal_reached_zero(back));
  assert_int_equal(host[1], 4321);
  hsa_signal_destroy(gate[0]);
  hsa_signal_destroy(gate[1]);
  hsa_signal_destroy(there);
  hsa_signal_destroy(back);
  hsa_amd_memory_pool_free(host);
  hsa_amd_memory_pool_free(vram);
}

static void test_copy_times_are_measured(void **state) {
  const machine_t *machine = *state;
  enum { SIZE = 4 << 20 };
  uint8_t *host = allocate(machine->fine, SIZE);
  uint8_t *vram = allocate(machine->vram[0], SIZE);
  assert_hsa(hsa_amd_agents_allow_access(1, &machine->gpu[0], NULL, host));
  assert_hsa(hsa_amd_profiling_async_copy_enable(true));
  hsa_signal_t done = signal_create(1);
  assert_hsa(hsa_amd_memory_async_copy(vram, machine->gpu[0], host, machine->cpu, SIZE, 0, NULL, done));
  assert_true(signal_reached_zero(done));
  hsa_amd_profiling_async_copy_time_t time = {0};
  assert_hsa(hsa_amd_profiling_get_async_copy_time(done, &time));
  assert_true(time.start > 0);
  assert_true(time.end > time.start);
  assert_true(time.end - time.start < SECOND);
  assert_hsa(hsa_amd_profiling_async_copy_enable(false));
  hsa_signal_destroy(done);
  hsa_amd_memory_pool_free(host);
  hsa_amd_memory_pool_free(vram);
}

static void test_rectangle_copy(void **state) {
  const machine_t *machine = *state;
  enum { WIDTH = 40, HEIGHT = 12, DEPTH = 3, PITCH = 64, SLICE = PITCH * 16, SIZE = SLICE * 4 };
  uint8_t *host = allocate(machine->fine, SIZE);
  uint8_t *back = allocate(machine->fine, SIZE);
  uint8_t *vram = allocate(machine->vram[0], SIZE);
  assert_hsa(hsa_amd_agents_allow_access(1, &machine->gpu[0], NULL, host));
  assert_hsa(hsa_amd_agents_allow_access(1, &machine->gpu[0], NULL, back));
  fill_pattern(host, SIZE, 7);
  memset(back, 0, SIZE);
  const hsa_dim3_t from = {4, 2, 1};
  const hsa_dim3_t to = {8, 1, 0};
  const hsa_dim3_t range = {WIDTH, HEIGHT, DEPTH};
  hsa_pitched_ptr_t host_rect = {host, PITCH, SLICE};
  hsa_pitched_ptr_t vram_rect = {vram, PITCH, SLICE};
  hsa_pitched_ptr_t back_rect = {back, PITCH, SLICE};
  hsa_signal_t there = signal_create(1);
  hsa_signal_t done = signal_create(1);
  const hsa_status_t status = hsa_amd_memory_async_copy_rect(
      &vram_rect, &to, &host_rect, &from, &range, machine->gpu[0], hsaHostToDevice, 0, NULL, there);
  const char *sdma = getenv("HSA_ENABLE_SDMA");
  if (sdma && strcmp(sdma, "0") == 0) {
    /* ROCr has no kernel for it. */
    assert_int_equal(status, HSA_STATUS_ERROR_OUT_OF_RESOURCES);
    goto out;
  }
  assert_hsa(status);
  assert_hsa(hsa_amd_memory_async_copy_rect(&back_rect, &from, &vram_rect, &to, &range, machine->gpu[0],
                                            hsaDeviceToHost, 1, &there, done));
  assert_true(signal_reached_zero(done));
  for (unsigned z = 0; z < SIZE / SLICE; z++) {
    for (unsigned y = 0; y < SLICE / PITCH; y++) {
      for (unsigned x = 0; x < PITCH; x++) {
        const bool inside = x >= from.x && x < from.x + WIDTH && y >= from.y && y < from.y + HEIGHT &&
                            z >= from.z && z < from.z + DEPTH;
        const size_t i = z * SLICE + y * PITCH + x;
        assert_int_equal(back[i], inside ? host[i] : 0);
      }
    }
  }
out:
  hsa_signal_destroy(there);
  hsa_signal_destroy(done);
  hsa_amd_memory_pool_free(host);
  hsa_amd_memory_pool_free(back);
  hsa_amd_memory_pool_free(vram);
}

/* Packets. */

static void test_barriers_wait_for_signals(void **state) {
  const machine_t *machine = *state;
  queue_error_t error = {0};
  hsa_queue_t *queue = queue_create(machine, 64, &error);
  hsa_signal_t a = signal_create(1);
  hsa_signal_t b = signal_create(1);
  hsa_signal_t done_and = signal_create(1);
  hsa_signal_t done_or = signal_create(1);
  packet_t and = {.barrier = {.header = header_of(HSA_PACKET_TYPE_BARRIER_AND),
                              .dep_signal = {a, {0}, b},
                              .completion_signal = done_and}};
  packet_t or = {.barrier = {.header = header_of(HSA_PACKET_TYPE_BARRIER_OR),
                             .dep_signal = {{0}, a, b},
                             .completion_signal = done_or}};
  submit(queue, & or);
  submit(queue, &and);
  sleep_ms(20);
  assert_int_equal(hsa_signal_load_scacquire(done_or), 1);
  hsa_signal_store_screlease(b, 0);
  assert_true(signal_reached_zero(done_or));
  sleep_ms(20);
  assert_int_equal(hsa_signal_load_scacquire(done_and), 1);
  hsa_signal_store_screlease(a, 0);
  assert_true(signal_reached_zero(done_and));
  assert_int_equal(error.calls, 0);
  assert_hsa(hsa_queue_destroy(queue));
  hsa_signal_destroy(a);
  hsa_signal_destroy(b);
  hsa_signal_destroy(done_and);
  hsa_signal_destroy(done_or);
}

static void test_barrier_value_compares(void **state) {
  const machine_t *machine = *state;
  static const struct {
    hsa_signal_condition_t condition;
    int64_t blocked, open; /* values of the signal; compared with 5 after masking with 0xff */
  } row[] = {
      {HSA_SIGNAL_CONDITION_EQ, 4, 0x105},
      {HSA_SIGNAL_CONDITION_NE, 0x205, 6},
      {HSA_SIGNAL_CONDITION_LT, 5, 0x104},
      {HSA_SIGNAL_CONDITION_GTE, 0x104, 5},
  };
  queue_error_t error = {0};
  hsa_queue_t *queue = queue_create(machine, 64, &error);
  for (unsigned i = 0; i < sizeof row / sizeof *row; i++) {
    hsa_signal_t watched = signal_create(row[i].blocked);
    hsa_signal_t done = signal_create(1);
    packet_t packet = {.value = {.header = {.header = header_of(HSA_PACKET_TYPE_VENDOR_SPECIFIC),
                                            .AmdFormat = HSA_AMD_PACKET_TYPE_BARRIER_VALUE},
                                 .signal = watched,
                                 .value = 5,
                                 .mask = 0xff,
                                 .cond = row[i].condition,
                                 .completion_signal = done}};
    submit(queue, &packet);
    sleep_ms(5);
    assert_int_equal(hsa_signal_load_scacquire(done), 1);
    hsa_signal_store_screlease(watched, row[i].open);
    assert_true(signal_reached_zero(done));
    hsa_signal_destroy(watched);
    hsa_signal_destroy(done);
  }
  assert_int_equal(error.calls, 0);
  assert_hsa(hsa_queue_destroy(queue));
}

enum { PRODUCERS = 2, PACKETS_EACH = 50000, STRICT_PACKETS_EACH = 5000 };

typedef struct producer {
  pthread_t thread;
  unsigned packets;
  hsa_queue_t *queue;
  hsa_signal_t done;
} producer_t;

static void *produce(void *data) {
  const producer_t *producer = data;
  const packet_t packet = {
      .barrier = {.header = header_of(HSA_PACKET_TYPE_BARRIER_AND), .completion_signal = producer->done}};
  for (unsigned i = 0; i < producer->packets; i++)
    submit(producer->queue, &packet);
  return NULL;
}

static void test_two_producers_on_a_small_queue(void **state) {
  const machine_t *machine = *state;
  queue_error_t error = {0};
  hsa_queue_t *queue = queue_create(machine, 64, &error);
  /* An unlucky processor sleeps behind each. */
  const unsigned packets = getenv("GFXSIM_STRICT") ? STRICT_PACKETS_EACH : PACKETS_EACH,
                 all = PRODUCERS * packets;
  hsa_signal_t done = signal_create(all);
  producer_t producer[PRODUCERS];
  for (int i = 0; i < PRODUCERS; i++) {
    producer[i] = (producer_t){.packets = packets, .queue = queue, .done = done};
    assert_int_equal(pthread_create(&producer[i].thread, NULL, produce, &producer[i]), 0);
  }
  for (int i = 0; i < PRODUCERS; i++)
    pthread_join(producer[i].thread, NULL);
  assert_true(signal_reached_zero(done));
  /* The index may move after the signal. */
  for (int waited = 0; waited < 1000 && hsa_queue_load_read_index_scacquire(queue) < all; waited++)
    sleep_ms(1);
  assert_int_equal(hsa_queue_load_read_index_scacquire(queue), all);
  assert_int_equal(error.calls, 0);
  assert_hsa(hsa_queue_destroy(queue));
  hsa_signal_destroy(done);
}

/* A packet that must put its queue into error. */
typedef struct bad_packet {
  const char *what;
  packet_t packet;
  hsa_status_t status;
} bad_packet_t;

static void test_bad_packets_reach_the_error_callback(void **state) {
  const machine_t *machine = *state;
  const uint16_t dispatch = header_of(HSA_PACKET_TYPE_KERNEL_DISPATCH);
  const bad_packet_t bad[] = {
      {"unknown type", {.any = {.header = header_of(77)}}, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT},
      {"agent dispatch",
       {.any = {.header = header_of(HSA_PACKET_TYPE_AGENT_DISPATCH)}},
       HSA_STATUS_ERROR_INVALID_PACKET_FORMAT},
      {"unknown vendor format",
       {.any = {.header = header_of(HSA_PACKET_TYPE_VENDOR_SPECIFIC), .setup = 99}},
       HSA_STATUS_ERROR_INVALID_PACKET_FORMAT},
      {"no kernel",
       {.dispatch = {.header = dispatch,
                     .setup = 1,
                     .workgroup_size_x = 64,
                     .workgroup_size_y = 1,
                     .workgroup_size_z = 1,
                     .grid_size_x = 64,
                     .grid_size_y = 1,
                     .grid_size_z = 1}},
       HSA_STATUS_ERROR_INVALID_CODE_OBJECT},
  };
  for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
    queue_error_t error = {0};
    hsa_queue_t *queue = queue_create(machine, 64, &error);
    hsa_signal_t done = signal_create(1);
    packet_t packet = bad[i].packet;
    packet.barrier.completion_signal = done;
    submit(queue, &packet);
    for (int waited = 0; waited < 2000 && !error.calls; waited++)
      sleep_ms(1);
    if (error.calls != 1 || error.status != (int)bad[i].status)
      fail_msg("%s: %d calls with status 0x%x", bad[i].what, error.calls, error.status);
    assert_int_equal(hsa_signal_load_scacquire(done), 1);
    assert_hsa(hsa_queue_destroy(queue));
    hsa_signal_destroy(done);
  }
}

static void test_destroying_a_blocked_queue(void **state) {
  const machine_t *machine = *state;
  queue_error_t error = {0};
  hsa_queue_t *queue = queue_create(machine, 64, &error);
  hsa_signal_t never = signal_create(1);
  const packet_t packet = {
      .barrier = {.header = header_of(HSA_PACKET_TYPE_BARRIER_AND), .dep_signal = {never}}};
  submit(queue, &packet);
  sleep_ms(5);
  assert_hsa(hsa_queue_destroy(queue));
  hsa_signal_destroy(never);
}

/* Time and idleness. */

/* Processor time of all threads of the simulator so far (ROCr's own thread spins when it has no interrupts).
 */
static double simulator_seconds(void) {
  double seconds = 0;
  DIR *tasks = opendir("/proc/self/task");
  assert_non_null(tasks);
  for (struct dirent *task = readdir(tasks); task; task = readdir(tasks)) {
    char path[300];
    char name[32] = "";
    unsigned long long ns = 0;
    snprintf(path, sizeof path, "/proc/self/task/%s/comm", task->d_name);
    FILE *file = fopen(path, "r");
    const bool named = file && fgets(name, sizeof name, file);
    if (file)
      fclose(file);
    if (!named || strncmp(name, "gfxsim-", 7) != 0)
      continue;
    snprintf(path, sizeof path, "/proc/self/task/%s/schedstat", task->d_name);
    file = fopen(path, "r");
    if (file && fscanf(file, "%llu", &ns) == 1)
      seconds += (double)ns * 1e-9;
    if (file)
      fclose(file);
  }
  closedir(tasks);
  return seconds;
}

static void test_idle_queues_cost_no_processor_time(void **state) {
  const machine_t *machine = *state;
  enum { QUEUES = 6 };
  hsa_queue_t *queue[QUEUES];
  queue_error_t error = {0};
  for (int i = 0; i < QUEUES; i++)
    queue[i] = queue_create(machine, 64, &error);
  sleep_ms(1000);
  const double before = simulator_seconds();
  assert_true(before > 0);
  sleep_ms(1000);
  const double spent = simulator_seconds() - before;
  for (int i = 0; i < QUEUES; i++)
    hsa_queue_destroy(queue[i]);
  print_message("%d idle queues used %.2f ms of processor time in a second\n", QUEUES, spent * 1e3);
  /* A thread that does not sleep takes a second, or its share of a busy machine's; looking at the rings takes
   * some milliseconds, several times that under a sanitizer. */
  assert_true(spent < 0.1);
}

/* Scenarios in children. Each ends with an exit code; 0 is what the parent expects. */

static _Atomic uint64_t fault_address;
static _Atomic uint32_t fault_reason;

static hsa_status_t on_system_event(const hsa_amd_event_t *event, void *data) {
  (void)data;
  if (event->event_type != HSA_AMD_GPU_MEMORY_FAULT_EVENT)
    return HSA_STATUS_ERROR;
  fault_reason = event->memory_fault.fault_reason_mask;
  fault_address = event->memory_fault.virtual_address;
  return HSA_STATUS_SUCCESS;
}

static const hsa_signal_t unmapped_signal = {UINT64_C(0x123450000040)};

static void submit_faulting_packet(const machine_t *machine) {
  static queue_error_t error;
  hsa_queue_t *queue = queue_create(machine, 64, &error);
  const packet_t packet = {
      .barrier = {.header = header_of(HSA_PACKET_TYPE_BARRIER_AND), .dep_signal = {unmapped_signal}}};
  submit(queue, &packet);
}

static int scenario_fault_is_handled(const machine_t *machine) {
  if (hsa_amd_register_system_event_handler(on_system_event, NULL) != HSA_STATUS_SUCCESS)
    return 1;
  submit_faulting_packet(machine);
  for (int waited = 0; waited < 5000 && !fault_address; waited++)
    sleep_ms(1);
  if (fault_address / 4096 != unmapped_signal.handle / 4096) /* a card knows the page */
    return 2;
  if (fault_reason != HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT)
    return 3;
  return hsa_shut_down() == HSA_STATUS_SUCCESS ? 0 : 4;
}

static int scenario_fault_aborts(const machine_t *machine) {
  submit_faulting_packet(machine);
  sleep_ms(5000);
  return 1; /* ROCr ends the process */
}

static int scenario_exit_without_shut_down(const machine_t *machine) {
  static queue_error_t error;
  hsa_queue_t *queue = queue_create(machine, 64, &error);
  hsa_signal_t never = signal_create(1);
  const packet_t packet = {
      .barrier = {.header = header_of(HSA_PACKET_TYPE_BARRIER_AND), .dep_signal = {never}}};
  submit(queue, &packet);
  return 0;
}

static int scenario_fork(const machine_t *machine) {
  (void)machine;
  const pid_t child = fork();
  if (child == 0) {
    /* The library is closed here: nothing can be allocated, and nothing crashes or hangs. */
    void *memory = NULL;
    const hsa_status_t status = hsa_amd_memory_pool_allocate(machine->fine, 1 << 20, 0, &memory);
    _exit(status == HSA_STATUS_SUCCESS ? 1 : 0);
  }
  int status = -1;
  if (waitpid(child, &status, 0) != child || status != 0)
    return 1;
  void *memory = NULL;
  if (hsa_amd_memory_pool_allocate(machine->vram[0], 1 << 20, 0, &memory) != HSA_STATUS_SUCCESS)
    return 2;
  return hsa_shut_down() == HSA_STATUS_SUCCESS ? 0 : 3;
}

static int scenario_init_again(const machine_t *machine) {
  (void)machine;
  for (int i = 0; i < 3; i++) {
    machine_t again;
    if (hsa_shut_down() != HSA_STATUS_SUCCESS || !machine_open(&again))
      return 1;
  }
  return hsa_shut_down() == HSA_STATUS_SUCCESS ? 0 : 2;
}

/* Two GPUs of different kinds, with peer copies after access was granted. */
static int scenario_two_gpus(const machine_t *machine) {
  char name[64];
  if (machine->gpus != 2 || hsa_agent_get_info(machine->gpu[1], HSA_AGENT_INFO_NAME, name) ||
      strcmp(name, "gfx906"))
    return 1;
  size_t size = 0;
  hsa_amd_memory_pool_get_info(machine->vram[1], HSA_AMD_MEMORY_POOL_INFO_SIZE, &size);
  if (size != (size_t)8 << 30)
    return 2;
  uint8_t *host = allocate(machine->fine, 1 << 20);
  uint8_t *a = allocate(machine->vram[0], 1 << 20);
  uint8_t *b = allocate(machine->vram[1], 1 << 20);
  if (hsa_amd_agents_allow_access(2, machine->gpu, NULL, host) ||
      hsa_amd_agents_allow_access(2, machine->gpu, NULL, a) ||
      hsa_amd_agents_allow_access(2, machine->gpu, NULL, b))
    return 3;
  fill_pattern(host, 1 << 19, 3);
  memset(host + (1 << 19), 0, 1 << 19);
  copy(a, machine->gpu[0], host, machine->cpu, 1 << 19);
  copy(b, machine->gpu[1], a, machine->gpu[0], 1 << 19);
  copy(host + (1 << 19), machine->cpu, b, machine->gpu[1], 1 << 19);
  if (memcmp(host, host + (1 << 19), 1 << 19))
    return 4;
  return hsa_shut_down() == HSA_STATUS_SUCCESS ? 0 : 5;
}

/* The host has no access to device memory unless it was made visible. */
static int scenario_device_memory_is_private(const machine_t *machine) {
  volatile uint8_t *vram = allocate(machine->vram[0], 1 << 20);
  vram[0] = 1;
  return 1; /* the store must have ended the process */
}

static int scenario_device_memory_is_visible(const machine_t *machine) {
  volatile uint8_t *vram = allocate(machine->vram[0], 1 << 20);
  vram[12345] = 77;
  return vram[12345] == 77 && hsa_shut_down() == HSA_STATUS_SUCCESS ? 0 : 1;
}

static const scenario_t scenario_table[] = {
    {"fault_is_handled", scenario_fault_is_handled, "HSA_ENABLE_INTERRUPT=1", 0},
    {"fault_aborts", scenario_fault_aborts, "HSA_ENABLE_INTERRUPT=1", SIGABRT},
    {"exit_without_shut_down", scenario_exit_without_shut_down, NULL, 0},
    {"fork", scenario_fork, NULL, 0},
    {"init_again", scenario_init_again, NULL, 0},
    {"two_gpus", scenario_two_gpus, "GFXSIM_DEVICES=gfx90a,gfx906:8G", 0},
    {"device_memory_is_private", scenario_device_memory_is_private, "GFXSIM_HOST_VISIBLE=0", SIGSEGV},
    {"device_memory_is_visible", scenario_device_memory_is_visible, "GFXSIM_HOST_VISIBLE=1", 0},
};

enum { SCENARIOS = sizeof scenario_table / sizeof *scenario_table };

int main(int argc, char **argv) {
  if (argc > 1)
    return scenario_run(scenario_table, SCENARIOS, argv[1]);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_agent_has_name_and_limits),
      cmocka_unit_test(test_pointer_info),
      cmocka_unit_test(test_device_memory_is_limited),
      cmocka_unit_test(test_nested_locks),
      cmocka_unit_test(test_read_only_memory_is_not_locked),
      cmocka_unit_test(test_copies_round_trip),
      cmocka_unit_test(test_copy_waits_for_its_dependencies),
      cmocka_unit_test(test_copy_times_are_measured),
      cmocka_unit_test(test_rectangle_copy),
      cmocka_unit_test(test_barriers_wait_for_signals),
      cmocka_unit_test(test_barrier_value_compares),
      cmocka_unit_test(test_two_producers_on_a_small_queue),
      cmocka_unit_test(test_bad_packets_reach_the_error_callback),
      cmocka_unit_test(test_destroying_a_blocked_queue),
      cmocka_unit_test(test_idle_queues_cost_no_processor_time),
  };
  int failed = cmocka_run_group_tests_name("ROCr on gfxsim", tests, setup, teardown);
  failed += scenario_run_all("ROCr on gfxsim, in processes of their own", scenario_table, SCENARIOS);
  return failed;
}
