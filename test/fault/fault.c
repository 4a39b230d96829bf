/* What a program is told when a kernel goes wrong: the queue error callback's status, the memory fault event
 * with address and reason, and that queues and processes end while kernels run. On the unmodified ROCr. The
 * environment variable FAULT_KERNELS names the code object made from kernels.s. */
#include "gfxsim_rocr.h"

#include <dlfcn.h>
#include <hsakmt.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The kernels, loaded on the first GPU. */
static hsa_executable_t load_kernels(const machine_t *machine) {
  return kernels_load(machine, getenv("FAULT_KERNELS"));
}

typedef struct fixture {
  machine_t machine;
  hsa_executable_t kernels;
  uint32_t *shared; /* memory of host and GPU */
} fixture_t;

static int setup(void **state) {
  static fixture_t fixture;
  *state = &fixture;
  if (!machine_open(&fixture.machine))
    return -1;
  fixture.kernels = load_kernels(&fixture.machine);
  fixture.shared = allocate(fixture.machine.fine, 4096);
  return hsa_amd_agents_allow_access(1, fixture.machine.gpu, NULL, fixture.shared) == HSA_STATUS_SUCCESS ? 0
                                                                                                         : -1;
}

static int teardown(void **state) {
  fixture_t *fixture = *state;
  hsa_amd_memory_pool_free(fixture->shared);
  hsa_executable_destroy(fixture->kernels);
  return hsa_shut_down() == HSA_STATUS_SUCCESS ? 0 : -1;
}

static packet_t dispatch(const fixture_t *f, const char *name) {
  return dispatch_of(&f->machine, f->kernels, name, (uintptr_t)f->shared);
}

static void test_good_kernels_complete(void **state) {
  const fixture_t *f = *state;
  static const char *const names[] = {"k_nothing",   "k_store",      "k_load",       "k_scalar_load",
                                      "k_flat_load", "k_private_1k", "k_private_1k", "k_nothing"};
  queue_error_t error = {0};
  hsa_queue_t *queue = queue_create(&f->machine, 64, &error);
  f->shared[0] = 7;
  for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
    hsa_signal_t done = signal_create(1);
    packet_t packet = dispatch(f, names[i]);
    packet.dispatch.completion_signal = done;
    submit(queue, &packet);
    assert_true(signal_reached_zero(done));
    hsa_signal_destroy(done);
  }
  assert_int_equal(f->shared[0], 42);
  assert_int_equal(error.calls, 0);
  assert_hsa(hsa_queue_destroy(queue));
}

/* Submits a dispatch that must put its queue into error. */
static void expect_status(const fixture_t *f, const char *what, packet_t packet, hsa_status_t status) {
  queue_error_t error = {0};
  hsa_queue_t *queue = queue_create(&f->machine, 64, &error);
  hsa_signal_t done = signal_create(1);
  packet.dispatch.completion_signal = done;
  submit(queue, &packet);
  for (int waited = 0; waited < 5000 && !error.calls; waited++)
    sleep_ms(1);
  if (error.calls != 1 || error.status != (int)status)
    fail_msg("%s: %d calls with status 0x%x, not 0x%x", what, error.calls, (unsigned)error.status, status);
  assert_int_equal(hsa_signal_load_scacquire(done), 1);
  assert_hsa(hsa_queue_destroy(queue));
  hsa_signal_destroy(done);
}

static void test_queue_errors(void **state) {
  const fixture_t *f = *state;
  packet_t packet = dispatch(f, "k_illegal");
  expect_status(f, "illegal instruction", packet, (hsa_status_t)HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION);
  packet = dispatch(f, "k_abort");
  expect_status(f, "abort", packet, HSA_STATUS_ERROR_EXCEPTION);
  packet = dispatch_of(&f->machine, f->kernels, "k_flat_load", UINT64_C(1) << 63);
  expect_status(f, "address outside of the apertures", packet,
                (hsa_status_t)HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION);
  packet = dispatch(f, "k_private_huge");
  expect_status(f, "too much private memory", packet, HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  packet = dispatch(f, "k_nothing");
  packet.dispatch.kernel_object = 0;
  expect_status(f, "no kernel", packet, HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
  /* Its code is where nothing is. */
  uint8_t *object = (uint8_t *)f->shared + 5;
  const int64_t code = (int64_t)(UINT64_C(0x123456789000) - (uintptr_t)object);
  memcpy(object + 16, &code, sizeof code);
  packet.dispatch.kernel_object = (uintptr_t)object;
  expect_status(f, "kernel that is not aligned", packet, HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
  packet.dispatch.kernel_object = UINT64_C(0x123456789000);
  expect_status(f, "kernel where nothing is", packet, HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
  packet = dispatch(f, "k_nothing");
  packet.dispatch.group_segment_size = (64 << 10) + 1;
  expect_status(f, "too much group memory", packet, HSA_STATUS_ERROR_INVALID_ALLOCATION);
  packet = dispatch(f, "k_nothing");
  packet.dispatch.workgroup_size_y = 32;
  packet.dispatch.grid_size_y = 32;
  packet.dispatch.setup = 2;
  expect_status(f, "work-group of 2048", packet, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  packet = dispatch(f, "k_nothing");
  packet.dispatch.grid_size_x = 0;
  expect_status(f, "empty grid", packet, HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS);
  packet = dispatch(f, "k_nothing");
  packet.dispatch.setup = 0;
  expect_status(f, "no dimensions", packet, HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS);
}

/* Other kinds of packets: their statuses, and that the error names the packet's queue. */
static void test_packet_errors(void **state) {
  const fixture_t *f = *state;
  packet_t packet = dispatch(f, "k_nothing");
  packet.any.header = header_of(HSA_PACKET_TYPE_AGENT_DISPATCH);
  expect_status(f, "agent dispatch", packet, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT);
  packet.any.header = header_of(200);
  expect_status(f, "unknown type", packet, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT);
  packet.any.header = header_of(HSA_PACKET_TYPE_VENDOR_SPECIFIC);
  packet.any.setup = 77;
  expect_status(f, "unknown vendor format", packet, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT);
  packet = dispatch(f, "k_many_registers");
  packet.dispatch.workgroup_size_x = 1024;
  packet.dispatch.grid_size_x = 1024;
  /* HSA_STATUS_ERROR_OUT_OF_REGISTERS came with ROCr 6. */
  const bool is_rocr_5 = dlsym(RTLD_DEFAULT, "hsa_amd_vmem_handle_create") == NULL;
  /* The exception has no such status. */
  const bool exceptions = dlopen("libgfxsim-kfd.so", RTLD_LAZY | RTLD_NOLOAD) != NULL;
  expect_status(f, "too many registers", packet,
                is_rocr_5 || exceptions ? HSA_STATUS_ERROR_INVALID_ISA : (hsa_status_t)45);
}

/* Waits until k_spin has said that it runs. */
static bool spins(const uint32_t *word) {
  return word_becomes(word, 42);
}

static void test_queue_with_an_endless_kernel_can_be_destroyed(void **state) {
  const fixture_t *f = *state;
  queue_error_t error = {0};
  hsa_queue_t *queue = queue_create(&f->machine, 64, &error);
  f->shared[0] = 0;
  const packet_t packet = dispatch(f, "k_spin");
  submit(queue, &packet);
  assert_true(spins(f->shared));
  assert_hsa(hsa_queue_destroy(queue));
  assert_int_equal(error.calls, 0);
}

/* Memory faults: each in a process of its own, since the event comes once. */

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

static int expect_fault_of(const machine_t *machine, packet_t packet, const char *kernel, uint64_t address,
                           uint32_t reason) {
  static queue_error_t error;
  assert_hsa(hsa_amd_register_system_event_handler(on_system_event, NULL));
  hsa_queue_t *queue = queue_create(machine, 64, &error);
  hsa_signal_t done = signal_create(1);
  packet.dispatch.completion_signal = done;
  submit(queue, &packet);
  for (int waited = 0; waited < 5000 && !fault_address; waited++)
    sleep_ms(1);
  if (fault_address / 4096 != address / 4096 || fault_reason != reason) {
    fprintf(stderr, "%s at 0x%llx: told 0x%llx, reason %u\n", kernel, (unsigned long long)address,
            (unsigned long long)fault_address, fault_reason);
    return 1;
  }
  if (hsa_signal_load_scacquire(done) != 1 || error.calls)
    return 2;
  return hsa_queue_destroy(queue) || hsa_shut_down() ? 3 : 0;
}

/* Runs a kernel on a bad address. 0 when the process is told so, with this reason. */
static int expect_fault(const machine_t *machine, const char *kernel, uint64_t address, uint32_t reason) {
  const packet_t packet = dispatch_of(machine, load_kernels(machine), kernel, address);
  return expect_fault_of(machine, packet, kernel, address, reason);
}

static int scenario_store_to_unmapped(const machine_t *machine) {
  return expect_fault(machine, "k_store", UINT64_C(0x123456789000), HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT);
}

static int scenario_store_in_function(const machine_t *machine) {
  return expect_fault(machine, "k_call", UINT64_C(0x123456789000), HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT);
}

static int scenario_load_from_unmapped(const machine_t *machine) {
  return expect_fault(machine, "k_load", UINT64_C(0x123456789000), HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT);
}

static int scenario_scalar_load_from_unmapped(const machine_t *machine) {
  return expect_fault(machine, "k_scalar_load", UINT64_C(0x123456789000),
                      HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT);
}

static int scenario_null_pointer(const machine_t *machine) {
  return expect_fault(machine, "k_flat_load", 0x10000, HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT);
}

/* Memory of the host that no GPU was given access to. */
static int scenario_load_without_access(const machine_t *machine) {
  const void *memory = allocate(machine->fine, 4096);
  return expect_fault(machine, "k_load", (uintptr_t)memory, HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT);
}

static int scenario_load_from_program_memory(const machine_t *machine) {
  static uint32_t word;
  return expect_fault(machine, "k_load", (uintptr_t)&word, HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT);
}

/* Large, as others may get a part of the place before the kernel comes: the process maps from the top down.
 */
static int scenario_store_to_freed(const machine_t *machine) {
  void *memory = allocate(machine->vram[0], 256 << 20);
  const uint64_t address = (uintptr_t)memory;
  assert_hsa(hsa_amd_memory_pool_free(memory));
  return expect_fault(machine, "k_store", address, HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT);
}

/* Allocations do not touch each other. */
static int scenario_store_behind_the_end(const machine_t *machine) {
  enum { BYTES = 20480, ALLOCATIONS = 64 };
  uint8_t *memory[ALLOCATIONS];
  for (unsigned i = 0; i < ALLOCATIONS; i++)
    memory[i] = allocate(machine->vram[0], BYTES);
  for (unsigned i = 0; i < ALLOCATIONS; i++)
    for (unsigned other = 0; other < ALLOCATIONS; other++)
      if (memory[i] + BYTES == memory[other])
        return 9;
  return expect_fault(machine, "k_store", (uintptr_t)(memory[ALLOCATIONS / 2] + BYTES),
                      HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT);
}

static int scenario_execute_data(const machine_t *machine) {
  void *memory = allocate(machine->vram[0], 1 << 20);
  return expect_fault(machine, "k_jump", (uintptr_t)memory, HSA_AMD_MEMORY_FAULT_NX);
}

static int scenario_execute_nothing(const machine_t *machine) {
  return expect_fault(machine, "k_jump", UINT64_C(0x123456789000), HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT);
}

/* One lane of one of many workgroups. */
static int scenario_one_lane(const machine_t *machine) {
  const uint64_t address = UINT64_C(0x123456789000);
  packet_t packet = dispatch_of(machine, load_kernels(machine), "k_store_once", address);
  packet.dispatch.workgroup_size_x = 128;
  packet.dispatch.grid_size_x = 8 * 128;
  return expect_fault_of(machine, packet, "k_store_once", address, HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT);
}

static int expect_illegal_instruction(const machine_t *machine, const char *kernel) {
  queue_error_t error = {0};
  hsa_queue_t *queue = queue_create(machine, 64, &error);
  const packet_t packet = dispatch_of(machine, load_kernels(machine), kernel, 0);
  submit(queue, &packet);
  for (int waited = 0; waited < 5000 && !error.calls; waited++)
    sleep_ms(1);
  const bool told = error.calls == 1 && error.status == HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION;
  return hsa_queue_destroy(queue) != HSA_STATUS_SUCCESS || !told;
}

/* The part has images, and gfxsim has none. */
static int scenario_image(const machine_t *machine) {
  return expect_illegal_instruction(machine, "k_image");
}

/* gfx90a wants pairs of vector registers to begin at even numbers. */
static int scenario_misaligned(const machine_t *machine) {
  return expect_illegal_instruction(machine, "k_misaligned");
}

/* The pages behind a code object, whose last variable is k_table. */
static int scenario_store_behind_a_variable(const machine_t *machine) {
  hsa_executable_t kernels = load_kernels(machine);
  hsa_executable_symbol_t symbol;
  uint64_t table = 0;
  assert_hsa(hsa_executable_get_symbol_by_name(kernels, "k_table", machine->gpu, &symbol));
  assert_hsa(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS, &table));
  const uint64_t behind = (table + 4096) / 4096 * 4096;
  const packet_t packet = dispatch_of(machine, kernels, "k_store", behind);
  return expect_fault_of(machine, packet, "k_store", behind, HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT);
}

/* Memory that the driver mapped for reading only. ROCr has no such pool: so the thunk, which it has opened,
 * is asked. */
static int scenario_store_to_read_only(const machine_t *machine) {
  __typeof__(hsaKmtAllocMemory) *allocate_memory = NULL;
  __typeof__(hsaKmtMapMemoryToGPUNodes) *map_memory = NULL;
  *(void **)&allocate_memory = dlsym(RTLD_DEFAULT, "hsaKmtAllocMemory");
  *(void **)&map_memory = dlsym(RTLD_DEFAULT, "hsaKmtMapMemoryToGPUNodes");
  assert_non_null(allocate_memory);
  assert_non_null(map_memory);
  const HsaMemFlags flags = {.ui32 = {.NonPaged = 1, .ReadOnly = 1}};
  void *memory = NULL;
  HSAuint64 alternative = 0;
  HSAuint32 node = 1;
  if (allocate_memory(1, 4096, flags, &memory) ||
      map_memory(memory, 4096, &alternative, (HsaMemMapFlags){0}, 1, &node))
    return 8;
  packet_t load = dispatch_of(machine, load_kernels(machine), "k_load", (uintptr_t)memory);
  hsa_signal_t done = signal_create(1);
  load.dispatch.completion_signal = done;
  submit(queue_create(machine, 64, &(queue_error_t){0}), &load);
  if (!signal_reached_zero(done))
    return 9;
  return expect_fault(machine, "k_store", (uintptr_t)memory, HSA_AMD_MEMORY_FAULT_READ_ONLY);
}

/* Locked memory that the program has unmapped since. */
static int scenario_store_to_lost_memory(const machine_t *machine) {
  void *memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  void *locked = NULL;
  assert_true(memory != MAP_FAILED);
  assert_hsa(hsa_amd_memory_lock(memory, 8192, (hsa_agent_t *)(uintptr_t)machine->gpu, 1, &locked));
  /* Nothing else may get these addresses. */
  assert_true(mmap(memory, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == memory);
  return expect_fault(machine, "k_store", (uintptr_t)locked, HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT);
}

/* A page of the program's with these rights. */
static void *program_page(int rights) {
  void *page = mmap(NULL, 4096, rights, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(page != MAP_FAILED);
  return page;
}

static void *take_away(void *page) {
  if (!word_becomes(page, 42))
    return NULL;
  sleep_ms(20);
  return mmap(page, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

/* The program unmaps what a wave reads over and over: between check and access, as often as not. Devices have
 * the page at `address`. */
static int lose_while_reading(const machine_t *machine, void *page, const void *address) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, take_away, page))
    return 8;
  const int status =
      expect_fault(machine, "k_reread", (uintptr_t)address, HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT);
  return pthread_join(thread, NULL) ? 9 : status;
}

static int scenario_lost_while_reading(const machine_t *machine) {
  void *page = program_page(PROT_READ | PROT_WRITE);
  void *locked = NULL;
  assert_hsa(hsa_amd_memory_lock(page, 4096, (hsa_agent_t *)(uintptr_t)machine->gpu, 1, &locked));
  return lose_while_reading(machine, page, locked);
}

/* With XNACK kernels have the program's rights, no more. */

static int scenario_xnack_lost_while_reading(const machine_t *machine) {
  void *page = program_page(PROT_READ | PROT_WRITE);
  return lose_while_reading(machine, page, page);
}

static int scenario_xnack_load_without_rights(const machine_t *machine) {
  return expect_fault(machine, "k_load", (uintptr_t)program_page(PROT_NONE),
                      HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT);
}

static int scenario_xnack_scalar_load_without_rights(const machine_t *machine) {
  return expect_fault(machine, "k_scalar_load", (uintptr_t)program_page(PROT_NONE),
                      HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT);
}

static int scenario_xnack_store_to_constant(const machine_t *machine) {
  void *page = program_page(PROT_READ);
  hsa_signal_t done = signal_create(1);
  packet_t load = dispatch_of(machine, load_kernels(machine), "k_load", (uintptr_t)page);
  load.dispatch.completion_signal = done;
  submit(queue_create(machine, 64, &(queue_error_t){0}), &load);
  if (!signal_reached_zero(done))
    return 9;
  return expect_fault(machine, "k_store", (uintptr_t)page, HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT);
}

static int scenario_xnack_null_pointer(const machine_t *machine) {
  return expect_fault(machine, "k_store", 8, HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT);
}

/* The program's own code, which the GPU can read. */
static int scenario_xnack_execute_program(const machine_t *machine) {
  return expect_fault(machine, "k_jump", (uintptr_t)program_page & ~UINT64_C(4095),
                      HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT);
}

/* Memory is a GPU's as long as it is locked, page by page. */
static int scenario_store_to_unlocked(const machine_t *machine) {
  static uint8_t program[4 * 4096] __attribute__((aligned(4096)));
  uint32_t *word = (uint32_t *)(void *)(program + 4096 + 400);
  void *locked = NULL;
  assert_hsa(hsa_amd_memory_lock(word, 4, (hsa_agent_t *)(uintptr_t)machine->gpu, 1, &locked));
  hsa_executable_t kernels = load_kernels(machine);
  hsa_queue_t *queue = queue_create(machine, 64, &(queue_error_t){0});
  /* The page of what was locked, from its start to its end. */
  for (unsigned at = 0; at < 4096; at += 1024) {
    packet_t packet = dispatch_of(machine, kernels, "k_store", (uintptr_t)locked - 400 + at);
    hsa_signal_t done = signal_create(1);
    packet.dispatch.completion_signal = done;
    submit(queue, &packet);
    if (!signal_reached_zero(done) || program[4096 + at] != 42)
      return 9;
  }
  assert_hsa(hsa_amd_memory_unlock(word));
  return expect_fault(machine, "k_store", (uintptr_t)locked, HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT);
}

static int scenario_store_next_to_locked(const machine_t *machine) {
  static uint8_t program[4 * 4096] __attribute__((aligned(4096)));
  void *locked = NULL;
  assert_hsa(hsa_amd_memory_lock(program + 4096, 4096, (hsa_agent_t *)(uintptr_t)machine->gpu, 1, &locked));
  return expect_fault(machine, "k_store", (uintptr_t)locked + 4096, HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT);
}

/* Memory of another GPU needs the access that hsa_amd_agents_allow_access gives. */
static int scenario_store_to_a_peer(const machine_t *machine) {
  uint32_t *memory = allocate(machine->vram[1], 1 << 21);
  return machine->gpus == 2
             ? expect_fault(machine, "k_store", (uintptr_t)memory, HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT)
             : 9;
}

static int scenario_store_to_a_peer_with_access(const machine_t *machine) {
  uint32_t *memory = allocate(machine->vram[1], 1 << 21);
  uint32_t *host = allocate(machine->fine, 4096);
  assert_hsa(hsa_amd_agents_allow_access(2, machine->gpu, NULL, memory));
  assert_hsa(hsa_amd_agents_allow_access(2, machine->gpu, NULL, host));
  packet_t packet = dispatch_of(machine, load_kernels(machine), "k_store", (uintptr_t)memory);
  hsa_signal_t done = signal_create(1);
  packet.dispatch.completion_signal = done;
  submit(queue_create(machine, 64, &(queue_error_t){0}), &packet);
  if (machine->gpus != 2 || !signal_reached_zero(done))
    return 1;
  copy(host, machine->cpu, memory, machine->gpu[1], 4);
  if (*host != 42)
    return 2;
  /* What was given can be taken away. */
  assert_hsa(hsa_amd_agents_allow_access(1, machine->gpu + 1, NULL, memory));
  return expect_fault(machine, "k_store", (uintptr_t)memory, HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT);
}

/* The driver takes all queues of the process off the GPU, those that come later too; other GPUs go on. */
static int scenario_fault_ends_all_queues(const machine_t *machine) {
  enum { QUEUES = 3 };
  static queue_error_t error;
  machine_t other = *machine;
  other.gpu[0] = machine->gpu[1];
  hsa_queue_t *queues[QUEUES] = {queue_create(machine, 64, &error)};
  const packet_t store = dispatch_of(machine, load_kernels(machine), "k_store", 0x5000);
  assert_hsa(hsa_amd_register_system_event_handler(on_system_event, NULL));
  submit(queue_create(machine, 64, &error), &store);
  for (int waited = 0; waited < 5000 && !fault_address; waited++)
    sleep_ms(1);
  sleep_ms(500);
  queues[1] = queue_create(machine, 64, &error);
  queues[2] = queue_create(&other, 64, &error);
  hsa_signal_t done[QUEUES];
  for (int i = 0; i < QUEUES; i++) {
    packet_t packet = {.barrier = {.header = HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE}};
    done[i] = packet.barrier.completion_signal = signal_create(1);
    submit(queues[i], &packet);
  }
  if (machine->gpus != 2 || !signal_reached_zero(done[2]))
    return 1;
  sleep_ms(100);
  return hsa_signal_load_scacquire(done[0]) != 1 || hsa_signal_load_scacquire(done[1]) != 1;
}

/* Scratch memory comes out of device memory. When that is short, ROCr gives a kernel less than it could use,
 * and refuses when even that is not there; the queue error says so, and the rest of the machine goes on. */
static int scenario_scratch_in_short_memory(const machine_t *machine) {
  enum { MIB = 1 << 20 };
  static queue_error_t error;
  void *rest = NULL;
  hsa_executable_t kernels = load_kernels(machine);
  hsa_queue_t *queue = queue_create(machine, 64, &error);
  packet_t packet = dispatch_of(machine, kernels, "k_private_64k", 0);
  hsa_signal_t done = signal_create(1);
  packet.dispatch.completion_signal = done;
  submit(queue, &packet);
  if (!signal_reached_zero(done) || error.calls)
    return 1;
  /* Takes all memory that is left, also what ROCr gives back a little after the kernel. */
  for (int round = 0; round < 5; round++, sleep_ms(50))
    for (size_t size = (size_t)64 * MIB; size >= 4096; size /= 2)
      while (hsa_amd_memory_pool_allocate(machine->vram[0], size, 0, &rest) == HSA_STATUS_SUCCESS) {
      }
  hsa_signal_store_screlease(done, 1);
  submit(queue, &packet);
  for (int waited = 0; waited < 5000 && !error.calls && hsa_signal_load_scacquire(done); waited++)
    sleep_ms(1);
  if (error.calls != 1 || error.status != HSA_STATUS_ERROR_OUT_OF_RESOURCES)
    return 2;
  hsa_queue_t *other = queue_create(machine, 64, &(queue_error_t){0});
  packet = dispatch_of(machine, kernels, "k_nothing", 0);
  packet.dispatch.completion_signal = done;
  submit(other, &packet);
  return signal_reached_zero(done) && !hsa_shut_down() ? 0 : 3;
}

/* Without interrupts nothing tells ROCr of memory faults: the queue stands still. */
static int scenario_fault_without_interrupts(const machine_t *machine) {
  static queue_error_t error;
  hsa_queue_t *queue = queue_create(machine, 64, &error);
  hsa_signal_t done = signal_create(1);
  packet_t packet = dispatch_of(machine, load_kernels(machine), "k_store", 0x5000);
  packet.dispatch.completion_signal = done;
  submit(queue, &packet);
  sleep_ms(300);
  if (hsa_signal_load_scacquire(done) != 1 || error.calls)
    return 1;
  return hsa_queue_destroy(queue) || hsa_shut_down() ? 2 : 0;
}

/* Ends of the process while a kernel runs. */

static void start_spinning(const machine_t *machine) {
  static queue_error_t error;
  hsa_executable_t kernels = load_kernels(machine);
  hsa_queue_t *queue = queue_create(machine, 64, &error);
  uint32_t *word = allocate(machine->fine, 4096);
  assert_hsa(hsa_amd_agents_allow_access(1, machine->gpu, NULL, word));
  *word = 0;
  const packet_t packet = dispatch_of(machine, kernels, "k_spin", (uintptr_t)word);
  submit(queue, &packet);
  assert_true(spins(word));
}

static int scenario_exit_while_running(const machine_t *machine) {
  start_spinning(machine);
  return 0;
}

static int scenario_killed_while_running(const machine_t *machine) {
  start_spinning(machine);
  raise(SIGTERM);
  return 1;
}

static int scenario_fault_without_handler(const machine_t *machine) {
  static queue_error_t error;
  hsa_executable_t kernels = load_kernels(machine);
  hsa_queue_t *queue = queue_create(machine, 64, &error);
  const packet_t packet = dispatch_of(machine, kernels, "k_store", 0x5000);
  submit(queue, &packet);
  sleep_ms(10000);
  return 1; /* ROCr ends the process */
}

#define INTERRUPTS        "HSA_ENABLE_INTERRUPT=1"
#define WHOLE_ALLOCATIONS INTERRUPTS " HSA_DISABLE_FRAGMENT_ALLOCATOR=1"
#define XNACK             INTERRUPTS " HSA_XNACK=1"
#define TWO_GPUS          INTERRUPTS " GFXSIM_DEVICES=gfx90a,gfx90a"

static const scenario_t scenario_table[] = {
    {"store_to_unmapped", scenario_store_to_unmapped, INTERRUPTS, 0},
    {"store_in_function", scenario_store_in_function, INTERRUPTS, 0},
    {"load_from_unmapped", scenario_load_from_unmapped, INTERRUPTS, 0},
    {"scalar_load_from_unmapped", scenario_scalar_load_from_unmapped, INTERRUPTS, 0},
    {"null_pointer", scenario_null_pointer, INTERRUPTS, 0},
    {"load_without_access", scenario_load_without_access, INTERRUPTS, 0},
    {"load_from_program_memory", scenario_load_from_program_memory, INTERRUPTS, 0},
    {"store_to_freed", scenario_store_to_freed, WHOLE_ALLOCATIONS, 0},
    {"store_behind_the_end", scenario_store_behind_the_end, WHOLE_ALLOCATIONS, 0},
    {"store_behind_a_variable", scenario_store_behind_a_variable, WHOLE_ALLOCATIONS, 0},
    {"store_to_read_only", scenario_store_to_read_only, INTERRUPTS, 0},
    {"store_to_lost_memory", scenario_store_to_lost_memory, INTERRUPTS, 0},
    {"lost_while_reading", scenario_lost_while_reading, INTERRUPTS, 0},
    {"xnack_lost_while_reading", scenario_xnack_lost_while_reading, XNACK, 0},
    {"xnack_load_without_rights", scenario_xnack_load_without_rights, XNACK, 0},
    {"xnack_scalar_load_without_rights", scenario_xnack_scalar_load_without_rights, XNACK, 0},
    {"xnack_store_to_constant", scenario_xnack_store_to_constant, XNACK, 0},
    {"xnack_null_pointer", scenario_xnack_null_pointer, XNACK, 0},
    {"xnack_execute_program", scenario_xnack_execute_program, XNACK, 0},
    {"store_to_unlocked", scenario_store_to_unlocked, INTERRUPTS, 0},
    {"store_next_to_locked", scenario_store_next_to_locked, INTERRUPTS, 0},
    {"store_to_a_peer", scenario_store_to_a_peer, TWO_GPUS, 0},
    {"store_to_a_peer_with_access", scenario_store_to_a_peer_with_access, TWO_GPUS, 0},
    {"fault_ends_all_queues", scenario_fault_ends_all_queues, TWO_GPUS, 0},
    {"one_lane", scenario_one_lane, INTERRUPTS, 0},
    {"image", scenario_image, INTERRUPTS, 0},
    {"misaligned", scenario_misaligned, INTERRUPTS, 0},
    {"execute_data", scenario_execute_data, INTERRUPTS, 0},
    {"execute_nothing", scenario_execute_nothing, INTERRUPTS, 0},
    {"scratch_in_short_memory", scenario_scratch_in_short_memory, "GFXSIM_DEVICES=gfx90a:96M", 0},
    {"exit_while_running", scenario_exit_while_running, NULL, 0},
    {"killed_while_running", scenario_killed_while_running, NULL, SIGTERM},
    {"fault_without_handler", scenario_fault_without_handler, INTERRUPTS, SIGABRT},
    {"fault_without_interrupts", scenario_fault_without_interrupts, "HSA_ENABLE_INTERRUPT=0", 0},
};

enum { SCENARIOS = sizeof scenario_table / sizeof *scenario_table };

int main(int argc, char **argv) {
  if (argc > 1)
    return scenario_run(scenario_table, SCENARIOS, argv[1]);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_good_kernels_complete),
      cmocka_unit_test(test_queue_errors),
      cmocka_unit_test(test_packet_errors),
      cmocka_unit_test(test_queue_with_an_endless_kernel_can_be_destroyed),
  };
  int failed = cmocka_run_group_tests_name("errors of kernels", tests, setup, teardown);
  failed += scenario_run_all("faults of kernels", scenario_table, SCENARIOS);
  return failed;
}
