/* gfxsim/thunk: topology, memory, events and queues through the exported functions, and through contexts of
 * the test's own, on GPUs that only pretend to execute. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>
#include <hsakmt.h>
#include <pthread.h>
#include <stdio.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "gfxsim_stub.h"
#include "thunk/libdrm.h"
#include "thunk/rocr6.h"
#include "thunk/thunk.h"

enum { PAGE = 4096, LARGE = 2 << 20 };

#define assert_ok(call) assert_int_equal(call, HSAKMT_STATUS_SUCCESS)

static int open_with(const char *devices) {
  memset(&gs_stub, 0, sizeof gs_stub);
  setenv("GFXSIM_DEVICES", devices, 1);
  return hsaKmtOpenKFD() == HSAKMT_STATUS_SUCCESS ? 0 : -1;
}

static int open_one(void **state) {
  (void)state;
  return open_with("gfx90a:1G");
}

static int open_two(void **state) {
  (void)state;
  return open_with("gfx90a:1G,gfx906:512M");
}

static int close_again(void **state) {
  (void)state;
  return hsaKmtCloseKFD() == HSAKMT_STATUS_SUCCESS && !gs_machine_current() ? 0 : -1;
}

/* What the GPU of `node` may do with one byte at `address`; 0 = not mapped. */
static uint32_t access_at(uint32_t node, const void *address) {
  gs_vm_reader_t reader;
  gs_vm_reader_register(gs_device_vm(gs_machine_gpu(gs_machine_current(), node)->device), &reader);
  const gs_vm_range_t *range = gs_vm_find(gs_vm_reader_enter(&reader), (uintptr_t)address);
  const uint32_t access = range ? range->access : 0;
  gs_vm_reader_unregister(&reader);
  return access;
}

/* Where the bytes are that the GPU of `node` finds at `address`. */
static uint8_t *bytes_at(uint32_t node, const void *address) {
  gs_vm_reader_t reader;
  gs_vm_reader_register(gs_device_vm(gs_machine_gpu(gs_machine_current(), node)->device), &reader);
  uint8_t *bytes = gs_vm_translate(gs_vm_reader_enter(&reader), (uintptr_t)address, 1, 0);
  gs_vm_reader_unregister(&reader);
  return bytes;
}

enum { RW = GS_VM_READ | GS_VM_WRITE };

/* Opening and closing. */

static void test_functions_need_an_open_library(void **state) {
  (void)state;
  HsaSystemProperties properties;
  assert_int_equal(hsaKmtAcquireSystemProperties(&properties), HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED);
  assert_int_equal(hsaKmtDestroyEvent(NULL), HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED);
  assert_int_equal(hsaKmtCloseKFD(), HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED);
}

static void test_opening_counts(void **state) {
  (void)state;
  assert_int_equal(open_with("gfx90a"), 0);
  assert_int_equal(hsaKmtOpenKFD(), HSAKMT_STATUS_KERNEL_ALREADY_OPENED);
  assert_ok(hsaKmtCloseKFD());
  assert_non_null(gs_machine_current());
  assert_ok(hsaKmtCloseKFD());
  assert_null(gs_machine_current());
}

static void test_bad_device_lists_fail_to_open(void **state) {
  (void)state;
  static const char *const bad[] = {"gfx1010",    "gfx90a,gfx", "gfx90a:",      "gfx90a:0",
                                    "gfx90a:4X",  "gfx90a:-1",  "gfx90a:2000G", "gfx90a:99999999999999999999",
                                    "gfx90a:1GG", "gfx90a:100"};
  for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
    setenv("GFXSIM_DEVICES", bad[i], 1);
    assert_int_equal(hsaKmtOpenKFD(), HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED);
  }
  char many[256] = "gfx900";
  for (int i = 1; i < GS_MOST_GPUS; i++)
    strcat(many, ",gfx900");
  assert_int_equal(open_with(many), 0);
  assert_int_equal(gs_machine_nodes(gs_machine_current()), GS_MOST_GPUS + 1);
  assert_ok(hsaKmtCloseKFD());
  strcat(many, ",gfx900");
  assert_int_equal(open_with(many), -1);
}

static void test_child_sees_a_closed_library(void **state) {
  (void)state;
  const pid_t child = fork();
  if (child == 0) {
    HsaVersionInfo version;
    const bool closed = hsaKmtGetVersion(&version) == HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    /* It may open one of its own. */
    _exit(closed && hsaKmtOpenKFD() == HSAKMT_STATUS_SUCCESS && hsaKmtCloseKFD() == HSAKMT_STATUS_SUCCESS
              ? 0
              : 1);
  }
  int status = -1;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  HsaVersionInfo version;
  assert_ok(hsaKmtGetVersion(&version));
  assert_int_equal(version.KernelInterfaceMajorVersion, 1);
}

static void test_contexts_are_independent(void **state) {
  (void)state;
  setenv("GFXSIM_DEVICES", "gfx908", 1);
  gs_machine_t *a = gs_machine_create();
  setenv("GFXSIM_DEVICES", "", 1);
  gs_machine_t *b = gs_machine_create();
  assert_int_equal(gs_machine_nodes(a), 2);
  assert_int_equal(gs_machine_nodes(b), 1);
  assert_string_equal(gs_machine_gpu(a, 1)->profile->name, "gfx908");
  assert_null(gs_machine_gpu(b, 1));
  gs_machine_destroy(a);
  gs_machine_destroy(b);
}

/* Nothing comes to lie right behind the doorbells, which GPUs may write to. */
static void test_doorbells_have_no_neighbour(void **state) {
  (void)state;
  setenv("GFXSIM_DEVICES", "gfx908", 1);
  gs_machine_t *machine = gs_machine_create();
  setenv("GFXSIM_DEVICES", "", 1);
  void *behind = machine->shared + 1;
  assert_ptr_equal(mmap(behind, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0),
                   MAP_FAILED);
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  assert_int_equal(write(ends[1], behind, 1), -1); /* it is not there to be read */
  close(ends[0]);
  close(ends[1]);
  gs_machine_destroy(machine);
}

/* Topology. */

static void test_topology_of_two_gpus(void **state) {
  (void)state;
  HsaSystemProperties system;
  assert_ok(hsaKmtAcquireSystemProperties(&system));
  assert_int_equal(system.NumNodes, 3);
  HsaNodeProperties cpu;
  assert_ok(hsaKmtGetNodeProperties(0, &cpu));
  assert_true(cpu.NumCPUCores > 0);
  assert_int_equal(cpu.NumFComputeCores, 0);
  assert_int_equal(cpu.NumIOLinks, 2);
  HsaNodeProperties gpu[2];
  for (uint32_t i = 0; i < 2; i++) {
    assert_ok(hsaKmtGetNodeProperties(i + 1, &gpu[i]));
    assert_int_equal(gpu[i].NumCPUCores, 0);
    assert_int_equal(gpu[i].Capability.ui32.DoorbellType, 2);
    assert_int_equal(gpu[i].NumFComputeCores % gpu[i].NumSIMDPerCU, 0);
    assert_true(gpu[i].NumShaderBanks > 0 && gpu[i].MaxSlotsScratchCU > 0 && gpu[i].NumCaches > 0);
    uint32_t xcc = 0;
    memcpy(&xcc, gpu[i].Reserved, sizeof xcc);
    assert_int_equal(xcc, 1);
  }
  assert_int_equal(gpu[0].EngineId.ui32.Major, 9);
  assert_int_equal(gpu[0].EngineId.ui32.Stepping, 10);
  assert_int_equal(gpu[1].EngineId.ui32.Stepping, 6);
  assert_int_not_equal(gpu[0].UniqueID, gpu[1].UniqueID);
  assert_int_not_equal(gpu[0].LocationId, gpu[1].LocationId);
  assert_int_equal(hsaKmtGetNodeProperties(3, &cpu), HSAKMT_STATUS_INVALID_NODE_UNIT);
}

static void test_topology_links_join_all_nodes(void **state) {
  (void)state;
  for (uint32_t node = 0; node < 3; node++) {
    HsaIoLinkProperties link[3] = {{.NodeTo = 77}, {.NodeTo = 77}, {.NodeTo = 77}};
    assert_ok(hsaKmtGetNodeIoLinkProperties(node, 2, link));
    for (unsigned i = 0; i < 2; i++) {
      assert_int_equal(link[i].NodeFrom, node);
      assert_int_not_equal(link[i].NodeTo, node);
      assert_true(link[i].NodeTo < 3);
      assert_true(link[i].Weight > 0);
      assert_int_equal(link[i].IoLinkType, HSA_IOLINKTYPE_PCIEXPRESS);
    }
    assert_int_not_equal(link[0].NodeTo, link[1].NodeTo);
    assert_int_equal(link[2].NodeTo, 77);
  }
}

static void test_topology_banks_and_caches(void **state) {
  (void)state;
  HsaNodeProperties properties;
  HsaMemoryProperties bank[8];
  HsaCacheProperties cache[8];
  assert_ok(hsaKmtGetNodeMemoryProperties(0, 1, bank));
  assert_int_equal(bank[0].HeapType, HSA_HEAPTYPE_SYSTEM);
  assert_true(bank[0].SizeInBytes > 0);
  assert_ok(hsaKmtGetNodeProperties(2, &properties));
  assert_ok(hsaKmtGetNodeMemoryProperties(2, properties.NumMemoryBanks, bank));
  uint64_t size = 0;
  uint64_t lds = 0;
  uint64_t scratch = 0;
  volatile uint32_t *hdp = NULL;
  for (uint32_t i = 0; i < properties.NumMemoryBanks; i++) {
    if (bank[i].HeapType == HSA_HEAPTYPE_FRAME_BUFFER_PRIVATE)
      size = bank[i].SizeInBytes;
    else if (bank[i].HeapType == HSA_HEAPTYPE_GPU_LDS)
      lds = bank[i].VirtualBaseAddress;
    else if (bank[i].HeapType == HSA_HEAPTYPE_GPU_SCRATCH)
      scratch = bank[i].VirtualBaseAddress;
    else if (bank[i].HeapType == HSA_HEAPTYPE_MMIO_REMAP)
      hdp = (volatile uint32_t *)(uintptr_t)bank[i].VirtualBaseAddress;
  }
  assert_int_equal(size, 512 << 20);
  assert_int_equal(lds, UINT64_C(1) << 48);
  assert_int_equal(scratch, UINT64_C(2) << 48);
  assert_non_null(hdp);
  hdp[0] = hdp[1] = 1;
  assert_ok(hsaKmtGetNodeCacheProperties(2, 0, 0, NULL));
  assert_ok(hsaKmtGetNodeCacheProperties(2, 0, properties.NumCaches, cache));
  assert_true(cache[0].CacheType.ui32.HSACU && !cache[0].CacheType.ui32.Instruction && cache[0].CacheSize);
}

/* Both are of one moment: each reading ahead of its predecessor for want of time makes the GPU's at most one
 * later. */
static void test_clocks_never_repeat(void **state) {
  (void)state;
  HsaClockCounters before = {0};
  for (int i = 0; i < 10000; i++) {
    HsaClockCounters now;
    assert_ok(hsaKmtGetClockCounters((uint32_t)i % 2, &now));
    assert_true(now.GPUClockCounter > before.GPUClockCounter);
    assert_true(now.SystemClockCounter >= before.SystemClockCounter);
    assert_int_equal(now.SystemClockFrequencyHz, 1000000000);
    assert_true(now.GPUClockCounter >= now.SystemClockCounter / 10);
    assert_true(now.GPUClockCounter <= now.SystemClockCounter / 10 + (uint64_t)i + 1);
    before = now;
  }
  assert_int_equal(hsaKmtGetClockCounters(2, &before), HSAKMT_STATUS_INVALID_NODE_UNIT);
}

/* Memory. */

static const HsaMemFlags system_flags = {.Value = 0x40};
static const HsaMemFlags executable_flags = {.Value = 0x21040};
static const HsaMemFlags hidden_vram_flags = {.Value = 0x2081};
static const HsaMemFlags visible_vram_flags = {.Value = 0x20C1};
static const HsaMemFlags scratch_flags = {.Value = 0x240};
static const HsaMemFlags lock_flags = {.Value = 0x2040};

static void *allocate(uint32_t node, uint64_t size, HsaMemFlags flags) {
  void *address = NULL;
  assert_ok(hsaKmtAllocMemory(node, size, flags, &address));
  assert_non_null(address);
  return address;
}

static void map_to(void *address, uint64_t size, uint32_t count, uint32_t first, uint32_t second) {
  uint64_t alternate = 99;
  uint32_t nodes[2] = {first, second};
  const HsaMemMapFlags flags = {0};
  assert_ok(hsaKmtMapMemoryToGPUNodes(address, size, &alternate, flags, count, nodes));
  assert_int_equal(alternate, (uintptr_t)address);
}

static void test_memory_is_mapped_per_gpu(void **state) {
  (void)state;
  /* A page on either side that is never mapped: what lies behind an allocation may belong to another. */
  uint8_t *base = allocate(0, 6 * PAGE, system_flags);
  uint8_t *memory = base + PAGE;
  memory[0] = 1;
  assert_int_equal(access_at(1, memory), 0);
  map_to(memory, 4 * PAGE, 1, 2, 0);
  assert_int_equal(access_at(1, memory), 0);
  assert_int_equal(access_at(2, memory), RW);
  assert_int_equal(access_at(2, memory + 4 * PAGE - 1), RW);
  assert_int_equal(access_at(2, memory + 4 * PAGE), 0);
  assert_int_equal(access_at(2, memory - 1), 0);
  /* The list of nodes replaces the former one. */
  map_to(memory, 4 * PAGE, 1, 1, 0);
  assert_int_equal(access_at(1, memory), RW);
  assert_int_equal(access_at(2, memory), 0);
  assert_ok(hsaKmtUnmapMemoryToGPU(memory));
  assert_int_equal(access_at(1, memory), 0);
  assert_ok(hsaKmtUnmapMemoryToGPU(memory));
  uint64_t alternate = 0;
  assert_ok(hsaKmtMapMemoryToGPU(memory, 4 * PAGE, &alternate));
  assert_int_equal(access_at(1, memory), RW);
  assert_int_equal(access_at(2, memory), RW);
  assert_ok(hsaKmtFreeMemory(base, 6 * PAGE));
  assert_int_equal(access_at(1, memory), 0);
  assert_int_equal(access_at(2, memory), 0);
}

static void test_memory_access_rights(void **state) {
  (void)state;
  void *code = allocate(0, PAGE, executable_flags);
  map_to(code, PAGE, 1, 1, 0);
  assert_int_equal(access_at(1, code), RW | GS_VM_EXECUTE);
  HsaMemFlags flags = {.Value = 0x40};
  flags.ui32.ReadOnly = 1;
  void *constant = allocate(0, PAGE, flags);
  map_to(constant, PAGE, 1, 1, 0);
  assert_int_equal(access_at(1, constant), GS_VM_READ);
  void *data = allocate(0, PAGE, system_flags);
  uint32_t node = 1;
  HsaMemMapFlags read_only = {0};
  read_only.ui32.ReadOnly = 1;
  assert_ok(hsaKmtMapMemoryToGPUNodes(data, PAGE, NULL, read_only, 1, &node));
  assert_int_equal(access_at(1, data), GS_VM_READ);
  assert_ok(hsaKmtFreeMemory(code, PAGE));
  assert_ok(hsaKmtFreeMemory(constant, PAGE));
  assert_ok(hsaKmtFreeMemory(data, PAGE));
}

static void test_memory_hidden_from_the_host(void **state) {
  (void)state;
  uint8_t *hidden = allocate(1, LARGE, hidden_vram_flags);
  assert_int_equal((uintptr_t)hidden % LARGE, 0);
  map_to(hidden, LARGE, 2, 1, 2);
  uint8_t *bytes = bytes_at(1, hidden + 5);
  assert_non_null(bytes);
  assert_ptr_not_equal(bytes, hidden + 5);
  *bytes = 42;
  assert_int_equal(*bytes_at(2, hidden + 5), 42);
  /* The program's view has no rights: the kernel refuses to read from it. */
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  assert_int_equal(write(ends[1], hidden, 1), -1);
  uint8_t *visible = allocate(1, LARGE, visible_vram_flags);
  map_to(visible, LARGE, 1, 1, 0);
  assert_ptr_equal(bytes_at(1, visible), visible);
  visible[0] = 1;
  close(ends[0]);
  close(ends[1]);
  assert_ok(hsaKmtFreeMemory(hidden, LARGE));
  assert_ok(hsaKmtFreeMemory(visible, LARGE));
}

static void test_memory_limits(void **state) {
  (void)state;
  const uint64_t total = 1 << 30;
  void *most = allocate(1, total - LARGE, hidden_vram_flags);
  void *more = NULL;
  assert_int_equal(hsaKmtAllocMemory(1, LARGE + PAGE, hidden_vram_flags, &more), HSAKMT_STATUS_NO_MEMORY);
  assert_int_equal(gs_memory_available(&gs_machine_current()->memory, 1), LARGE);
  more = allocate(1, LARGE, hidden_vram_flags);
  /* The other GPU has memory of its own. */
  void *other = allocate(2, LARGE, hidden_vram_flags);
  assert_ok(hsaKmtFreeMemory(most, 0));
  assert_ok(hsaKmtFreeMemory(more, 0));
  assert_ok(hsaKmtFreeMemory(other, 0));
  assert_int_equal(gs_memory_available(&gs_machine_current()->memory, 1), total);
  assert_int_equal(hsaKmtAllocMemory(0, UINT64_C(1) << 60, system_flags, &more), HSAKMT_STATUS_NO_MEMORY);
  /* Addresses only, but more than there are: with alignment and a gap the size would pass 2^64. */
  for (unsigned pages = 1; pages <= 1024; pages++)
    assert_int_equal(hsaKmtAllocMemory(1, -(uint64_t)pages * PAGE, scratch_flags, &more),
                     HSAKMT_STATUS_NO_MEMORY);
}

static void test_memory_arguments(void **state) {
  (void)state;
  void *address = NULL;
  assert_int_equal(hsaKmtAllocMemory(0, PAGE + 1, system_flags, &address), HSAKMT_STATUS_INVALID_PARAMETER);
  assert_int_equal(hsaKmtAllocMemory(0, 0, system_flags, &address), HSAKMT_STATUS_INVALID_PARAMETER);
  assert_int_equal(hsaKmtAllocMemory(0, PAGE, system_flags, NULL), HSAKMT_STATUS_INVALID_PARAMETER);
  assert_int_equal(hsaKmtAllocMemory(9, PAGE, system_flags, &address), HSAKMT_STATUS_INVALID_NODE_UNIT);
  HsaMemFlags flags = system_flags;
  flags.ui32.FixedAddress = 1;
  assert_int_equal(hsaKmtAllocMemory(0, PAGE, flags, &address), HSAKMT_STATUS_INVALID_PARAMETER);
  uint8_t *free_pages = mmap(NULL, 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(free_pages, 2 * PAGE);
  address = free_pages;
  assert_ok(hsaKmtAllocMemory(0, PAGE, flags, &address));
  assert_ptr_equal(address, free_pages);
  assert_int_equal(hsaKmtAllocMemory(0, PAGE, flags, &address), HSAKMT_STATUS_NO_MEMORY); /* taken */
  assert_int_equal(hsaKmtFreeMemory(free_pages + PAGE, PAGE), HSAKMT_STATUS_INVALID_PARAMETER);
  uint32_t cpu = 0;
  const HsaMemMapFlags map_flags = {0};
  assert_int_equal(hsaKmtMapMemoryToGPUNodes(address, PAGE, NULL, map_flags, 1, &cpu),
                   HSAKMT_STATUS_INVALID_NODE_UNIT);
  uint32_t gpu = 1;
  assert_int_equal(hsaKmtMapMemoryToGPUNodes(address, 2 * PAGE, NULL, map_flags, 1, &gpu),
                   HSAKMT_STATUS_INVALID_PARAMETER);
  assert_int_equal(hsaKmtUnmapMemoryToGPU(free_pages + PAGE), HSAKMT_STATUS_INVALID_PARAMETER);
  assert_ok(hsaKmtFreeMemory(address, PAGE));
  assert_int_equal(hsaKmtFreeMemory(address, PAGE), HSAKMT_STATUS_INVALID_PARAMETER);
}

static void test_scratch_is_mapped_in_parts(void **state) {
  (void)state;
  const uint64_t reservation = UINT64_C(4) << 30;
  uint8_t *scratch = allocate(1, reservation, scratch_flags);
  gs_memory_t *memory = &gs_machine_current()->memory;
  const uint64_t total = 1 << 30;
  assert_int_equal(gs_memory_available(memory, 1), total);
  uint64_t alternate = 0;
  assert_ok(hsaKmtMapMemoryToGPU(scratch + LARGE, LARGE, &alternate));
  assert_ok(hsaKmtMapMemoryToGPU(scratch + 3 * LARGE, 4 * LARGE, &alternate));
  assert_int_equal(gs_memory_available(memory, 1), total - 5 * (uint64_t)LARGE);
  assert_int_equal(access_at(1, scratch + LARGE - 1), 0);
  assert_int_equal(access_at(1, scratch + LARGE), RW);
  assert_int_equal(access_at(1, scratch + 2 * LARGE), 0);
  assert_int_equal(access_at(1, scratch + 6 * LARGE), RW);
  assert_int_equal(access_at(2, scratch + LARGE), 0);
  assert_int_equal(hsaKmtMapMemoryToGPU(scratch + 8 * LARGE, total, &alternate), HSAKMT_STATUS_NO_MEMORY);
  assert_ok(hsaKmtUnmapMemoryToGPU(scratch + LARGE));
  assert_int_equal(access_at(1, scratch + LARGE), 0);
  assert_int_equal(access_at(1, scratch + 3 * LARGE), RW);
  assert_int_equal(gs_memory_available(memory, 1), total - 4 * (uint64_t)LARGE);
  assert_ok(hsaKmtFreeMemory(scratch, reservation));
  assert_int_equal(gs_memory_available(memory, 1), total);
}

static void lock(void *address, uint64_t size) {
  assert_ok(hsaKmtRegisterMemoryWithFlags(address, size, lock_flags));
  map_to(address, size, 1, 1, 0);
}

static void unlock(void *address) {
  assert_ok(hsaKmtUnmapMemoryToGPU(address));
  assert_ok(hsaKmtDeregisterMemory(address));
}

static void test_registered_memory_overlaps(void **state) {
  (void)state;
  uint8_t *pages = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  lock(pages + 100, 2 * PAGE);            /* pages 0, 1, 2 */
  lock(pages + 2 * PAGE + 500, 2 * PAGE); /* pages 2, 3, 4 */
  lock(pages + 2 * PAGE + 500, 10);       /* page 2, the same start */
  lock(pages + 100, 2 * PAGE);            /* once more */
  for (unsigned i = 0; i < 8; i++)
    assert_int_equal(access_at(1, pages + i * PAGE), i < 5 ? RW : 0);
  assert_ptr_equal(bytes_at(1, pages + 3 * PAGE + 7), pages + 3 * PAGE + 7);
  unlock(pages + 100);
  for (unsigned i = 0; i < 5; i++)
    assert_int_equal(access_at(1, pages + i * PAGE), RW);
  unlock(pages + 2 * PAGE + 500); /* the newest: 10 bytes */
  assert_int_equal(access_at(1, pages + 4 * PAGE), RW);
  unlock(pages + 100);
  for (unsigned i = 0; i < 5; i++)
    assert_int_equal(access_at(1, pages + i * PAGE), i < 2 ? 0 : RW);
  unlock(pages + 2 * PAGE + 500);
  for (unsigned i = 0; i < 5; i++)
    assert_int_equal(access_at(1, pages + i * PAGE), 0);
  assert_int_equal(hsaKmtDeregisterMemory(pages + 100), HSAKMT_STATUS_MEMORY_NOT_REGISTERED);
  munmap(pages, 8 * PAGE);
  assert_int_equal(hsaKmtRegisterMemoryWithFlags(pages, PAGE, lock_flags), HSAKMT_STATUS_INVALID_PARAMETER);
  assert_int_equal(hsaKmtRegisterMemoryWithFlags(NULL, PAGE, lock_flags), HSAKMT_STATUS_INVALID_PARAMETER);
}

static void test_registration_inside_an_allocation(void **state) {
  (void)state;
  uint8_t *vram = allocate(1, LARGE, hidden_vram_flags);
  map_to(vram, LARGE, 1, 1, 0);
  lock(vram + PAGE + 8, 100);
  /* Still the bytes of the allocation, and still mapped after the registration ends. */
  assert_ptr_equal(bytes_at(1, vram + PAGE), bytes_at(1, vram) + PAGE);
  unlock(vram + PAGE + 8);
  assert_int_equal(access_at(1, vram + PAGE), RW);
  lock(vram + PAGE + 8, 100);
  assert_ok(hsaKmtFreeMemory(vram, LARGE));
  assert_int_equal(access_at(1, vram + PAGE), 0);
  assert_ok(hsaKmtDeregisterMemory(vram + PAGE + 8));
}

static void test_pointer_info(void **state) {
  (void)state;
  HsaPointerInfo info;
  memset(&info, 0xff, sizeof info);
  assert_int_not_equal(hsaKmtQueryPointerInfo(&info, &info), HSAKMT_STATUS_SUCCESS);
  assert_int_equal(info.Type, HSA_POINTER_UNKNOWN);
  uint8_t *vram = allocate(1, LARGE, hidden_vram_flags);
  map_to(vram, LARGE, 2, 2, 1);
  assert_ok(hsaKmtSetMemoryUserData(vram + 9, &info));
  assert_ok(hsaKmtQueryPointerInfo(vram + 12345, &info));
  assert_int_equal(info.Type, HSA_POINTER_ALLOCATED);
  assert_int_equal(info.Node, 1);
  assert_int_equal(info.MemFlags.Value, hidden_vram_flags.Value);
  assert_int_equal(info.GPUAddress, (uintptr_t)vram);
  assert_ptr_equal(info.CPUAddress, vram);
  assert_int_equal(info.SizeInBytes, LARGE);
  assert_int_equal(info.NMappedNodes, 2);
  assert_int_equal(info.MappedNodes[0] + info.MappedNodes[1], 3);
  assert_ptr_equal(info.UserData, &info);
  static uint8_t program[100];
  assert_ok(hsaKmtRegisterMemoryWithFlags(program + 1, 50, lock_flags));
  assert_ok(hsaKmtQueryPointerInfo(program + 50, &info));
  assert_int_equal(info.Type, HSA_POINTER_REGISTERED_USER);
  assert_ptr_equal(info.CPUAddress, program + 1);
  assert_int_equal(info.SizeInBytes, 50);
  assert_int_equal(info.NMappedNodes, 0);
  assert_int_not_equal(hsaKmtQueryPointerInfo(program + 51, &info), HSAKMT_STATUS_SUCCESS);
  assert_ok(hsaKmtDeregisterMemory(program + 1));
  assert_ok(hsaKmtFreeMemory(vram, LARGE));
}

/* Events. */

static HsaEvent *create_event(HSA_EVENTTYPE type, bool manual_reset) {
  HsaEventDescriptor descriptor = {.EventType = type};
  HsaEvent *event = NULL;
  assert_ok(hsaKmtCreateEvent(&descriptor, manual_reset, false, &event));
  assert_int_not_equal(event->EventId, 0);
  assert_int_not_equal(event->EventData.HWData2, 0);
  return event;
}

static void test_events_are_sticky(void **state) {
  (void)state;
  HsaEvent *event = create_event(HSA_EVENTTYPE_SIGNAL, false);
  assert_int_equal(hsaKmtWaitOnEvent(event, 0), HSAKMT_STATUS_WAIT_TIMEOUT);
  assert_int_equal(hsaKmtWaitOnEvent(event, 5), HSAKMT_STATUS_WAIT_TIMEOUT);
  assert_ok(hsaKmtSetEvent(event));
  assert_ok(hsaKmtWaitOnEvent(event, HSA_EVENTTIMEOUT_INFINITE));
  assert_int_equal(hsaKmtWaitOnEvent(event, 0), HSAKMT_STATUS_WAIT_TIMEOUT);
  gs_events_raise(&gs_machine_current()->events, event->EventId);
  assert_ok(hsaKmtWaitOnEvent(event, 0xFFFFFFFE));
  assert_ok(hsaKmtDestroyEvent(event));
  HsaEvent *manual = create_event(HSA_EVENTTYPE_SIGNAL, true);
  assert_ok(hsaKmtSetEvent(manual));
  assert_ok(hsaKmtWaitOnEvent(manual, 0));
  assert_ok(hsaKmtWaitOnEvent(manual, 0));
  assert_ok(hsaKmtDestroyEvent(manual));
  assert_int_equal(hsaKmtDestroyEvent(NULL), HSAKMT_STATUS_INVALID_HANDLE);
  HsaEvent *fault = create_event(HSA_EVENTTYPE_MEMORY, true);
  assert_int_equal(hsaKmtSetEvent(fault), HSAKMT_STATUS_ERROR);
  assert_ok(hsaKmtDestroyEvent(fault));
}

static void test_events_wait_for_any_or_all(void **state) {
  (void)state;
  HsaEvent *events[40];
  for (unsigned i = 0; i < 40; i++)
    events[i] = create_event(HSA_EVENTTYPE_SIGNAL, i % 2);
  assert_int_equal(hsaKmtWaitOnMultipleEvents(events, 40, false, 2), HSAKMT_STATUS_WAIT_TIMEOUT);
  assert_ok(hsaKmtSetEvent(events[33]));
  assert_ok(hsaKmtSetEvent(events[12]));
  assert_ok(hsaKmtWaitOnMultipleEvents(events, 40, false, HSA_EVENTTIMEOUT_INFINITE));
  assert_int_equal(hsaKmtWaitOnEvent(events[12], 0), HSAKMT_STATUS_WAIT_TIMEOUT); /* was taken */
  assert_int_equal(hsaKmtWaitOnMultipleEvents(events, 40, true, 2), HSAKMT_STATUS_WAIT_TIMEOUT);
  for (unsigned i = 0; i < 40; i++)
    assert_ok(hsaKmtSetEvent(events[i]));
  assert_ok(hsaKmtWaitOnMultipleEvents(events, 40, true, 0));
  for (unsigned i = 0; i < 40; i++)
    assert_ok(hsaKmtDestroyEvent(events[i]));
}

typedef struct waiting {
  pthread_t thread;
  HsaEvent *event;
  _Atomic pid_t id; /* Linux's, once it runs */
  HSAKMT_STATUS status;
} waiting_t;

static void *poll_event(void *data) {
  waiting_t *waiting = data;
  waiting->status = hsaKmtWaitOnEvent(waiting->event, 0);
  return NULL;
}

static void *wait_on_event(void *data) {
  waiting_t *waiting = data;
  waiting->id = (pid_t)syscall(SYS_gettid);
  waiting->status = hsaKmtWaitOnEvent(waiting->event, 10000);
  return NULL;
}

static HSAKMT_STATUS elsewhere(HsaEvent *event) {
  waiting_t waiting = {.event = event};
  assert_int_equal(pthread_create(&waiting.thread, NULL, poll_event, &waiting), 0);
  assert_int_equal(pthread_join(waiting.thread, NULL), 0);
  return waiting.status;
}

/* An event that one thread has taken is told to another one, once: it may be the one that it was set for. */
static void test_events_are_not_taken_from_others(void **state) {
  (void)state;
  HsaEvent *event = create_event(HSA_EVENTTYPE_SIGNAL, false);
  assert_ok(hsaKmtSetEvent(event));
  assert_ok(hsaKmtWaitOnEvent(event, 0));
  assert_int_equal(hsaKmtWaitOnEvent(event, 0), HSAKMT_STATUS_WAIT_TIMEOUT);
  assert_ok(elsewhere(event));
  assert_int_equal(elsewhere(event), HSAKMT_STATUS_WAIT_TIMEOUT);
  assert_ok(hsaKmtSetEvent(event));
  assert_ok(elsewhere(event)); /* which is told the news once, too */
  assert_ok(hsaKmtWaitOnEvent(event, 0));
  assert_int_equal(hsaKmtWaitOnEvent(event, 0), HSAKMT_STATUS_WAIT_TIMEOUT);
  assert_ok(hsaKmtDestroyEvent(event));
}

/* On a busy machine a thread may lose its processor before it comes to wait. */
static bool is_asleep(const waiting_t *waiting) {
  char path[64], state = 0;
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)waiting->id);
  FILE *file = waiting->id ? fopen(path, "r") : NULL;
  const bool known = file && fscanf(file, "%*d (%*[^)]) %c", &state) == 1;
  if (file)
    fclose(file);
  return known && state == 'S';
}

static void *wait_on_two_events(void *data) {
  waiting_t *waiting = data;
  HsaEvent *other = create_event(HSA_EVENTTYPE_SIGNAL, false), *both[] = {waiting->event, other};
  waiting->id = (pid_t)syscall(SYS_gettid);
  waiting->status = hsaKmtWaitOnMultipleEvents(both, 2, false, 10000);
  assert_ok(hsaKmtDestroyEvent(other));
  return NULL;
}

static bool is_past(const struct timespec *begin, long ns) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (now.tv_sec - begin->tv_sec) * 1000000000L + now.tv_nsec - begin->tv_nsec >= ns;
}

/* Who sets the event of a thread that serves several goes on when that has come away, or after a moment. An
 * event that is set again is there to be taken if nobody waits for it any more. */
static void test_who_wakes_a_servant_lets_it_go(void **state) {
  (void)state;
  enum { ROUNDS = 20, MOMENT_NS = 1000 * 1000 };
  for (int round = 0; round < ROUNDS; round++) {
    HsaEvent *event = create_event(HSA_EVENTTYPE_SIGNAL, false);
    waiting_t waiting = {.event = event};
    assert_int_equal(pthread_create(&waiting.thread, NULL, wait_on_two_events, &waiting), 0);
    while (!is_asleep(&waiting))
      usleep(100);
    struct timespec begin;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    assert_ok(hsaKmtSetEvent(event));
    const bool waited = is_past(&begin, MOMENT_NS);
    assert_ok(hsaKmtSetEvent(event));
    assert_true(waited || hsaKmtWaitOnEvent(event, 0) == HSAKMT_STATUS_SUCCESS);
    pthread_join(waiting.thread, NULL);
    assert_ok(waiting.status);
    assert_ok(hsaKmtDestroyEvent(event));
  }
}

/* Signals share events: whoever sleeps on one must wake when it is set. */
static void test_events_wake_every_waiter(void **state) {
  (void)state;
  enum { WAITERS = 4, ROUNDS = 50 };
  for (int round = 0; round < ROUNDS; round++) {
    HsaEvent *event = create_event(HSA_EVENTTYPE_SIGNAL, false);
    waiting_t waiting[WAITERS];
    for (int i = 0; i < WAITERS; i++) {
      waiting[i] = (waiting_t){.event = event};
      assert_int_equal(pthread_create(&waiting[i].thread, NULL, wait_on_event, &waiting[i]), 0);
    }
    for (int i = 0; i < WAITERS; i++)
      while (!is_asleep(&waiting[i]))
        usleep(100);
    if (round % 2)
      assert_ok(hsaKmtSetEvent(event));
    else
      assert_ok(hsaKmtDestroyEvent(event)); /* ends waits as well */
    for (int i = 0; i < WAITERS; i++) {
      pthread_join(waiting[i].thread, NULL);
      assert_ok(waiting[i].status);
    }
    if (round % 2)
      assert_ok(hsaKmtDestroyEvent(event));
  }
}

typedef struct ping {
  HsaEvent *there, *back;
  int rounds;
} ping_t;

static void *answer(void *data) {
  const ping_t *ping = data;
  for (int i = 0; i < ping->rounds; i++)
    if (hsaKmtWaitOnEvent(ping->there, 10000) || hsaKmtSetEvent(ping->back))
      return data;
  return NULL;
}

static void test_events_lose_no_wake_up(void **state) {
  (void)state;
  ping_t ping = {create_event(HSA_EVENTTYPE_SIGNAL, false), create_event(HSA_EVENTTYPE_SIGNAL, false), 20000};
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, answer, &ping), 0);
  for (int i = 0; i < ping.rounds; i++) {
    assert_ok(hsaKmtSetEvent(ping.there));
    assert_ok(hsaKmtWaitOnEvent(ping.back, 10000));
  }
  void *failed = NULL;
  pthread_join(thread, &failed);
  assert_null(failed);
  assert_ok(hsaKmtDestroyEvent(ping.there));
  assert_ok(hsaKmtDestroyEvent(ping.back));
}

static void test_events_raised_by_mailbox(void **state) {
  (void)state;
  gs_events_t *events = &gs_machine_current()->events;
  HsaEvent *a = create_event(HSA_EVENTTYPE_SIGNAL, false);
  HsaEvent *b = create_event(HSA_EVENTTYPE_SIGNAL, false);
  uint64_t *mailbox = (uint64_t *)(uintptr_t)b->EventData.HWData2;
  assert_int_equal(access_at(1, mailbox), RW);
  gs_events_raise_announced(events);
  assert_int_equal(hsaKmtWaitOnEvent(b, 0), HSAKMT_STATUS_WAIT_TIMEOUT);
  *mailbox = b->EventId;
  gs_events_raise_announced(events);
  assert_ok(hsaKmtWaitOnEvent(b, 0));
  assert_int_equal(hsaKmtWaitOnEvent(a, 0), HSAKMT_STATUS_WAIT_TIMEOUT);
  gs_events_raise_announced(events);
  assert_int_equal(hsaKmtWaitOnEvent(b, 0), HSAKMT_STATUS_WAIT_TIMEOUT);
  gs_events_raise(events, 0);
  gs_events_raise(events, GS_MOST_EVENTS + 1);
  assert_ok(hsaKmtDestroyEvent(a));
  assert_ok(hsaKmtDestroyEvent(b));
}

static void test_events_run_out(void **state) {
  (void)state;
  static HsaEvent *all[GS_MOST_EVENTS];
  for (unsigned i = 0; i < GS_MOST_EVENTS; i++)
    all[i] = create_event(HSA_EVENTTYPE_SIGNAL, false);
  HsaEventDescriptor descriptor = {.EventType = HSA_EVENTTYPE_SIGNAL};
  HsaEvent *one_more = NULL;
  assert_int_equal(hsaKmtCreateEvent(&descriptor, false, false, &one_more), HSAKMT_STATUS_NO_MEMORY);
  assert_ok(hsaKmtDestroyEvent(all[77]));
  assert_ok(hsaKmtCreateEvent(&descriptor, false, true, &one_more));
  assert_int_equal(one_more->EventId, 78);
  assert_ok(hsaKmtWaitOnEvent(one_more, 0));
  all[77] = one_more;
  for (unsigned i = 0; i < GS_MOST_EVENTS; i++)
    assert_ok(hsaKmtDestroyEvent(all[i]));
}

static void test_memory_fault_event(void **state) {
  (void)state;
  static const struct {
    gs_fault_t fault;
    bool hang;
    unsigned not_present, read_only, no_execute, gpu_access, error_type;
  } row[] = {
      {{0x1234, GS_VM_READ, true}, false, 1, 0, 0, 0, 0},
      {{0x1234, GS_VM_WRITE, false}, false, 0, 1, 0, 0, 0},
      {{0x1234, GS_VM_EXECUTE, false}, false, 0, 0, 1, 0, 0},
      {{0x1234, GS_VM_READ, false}, false, 0, 0, 0, 1, 0},
      {{0}, true, 0, 0, 0, 0, 3},
  };
  gs_gpu_t *gpu = gs_machine_gpu(gs_machine_current(), 1);
  for (unsigned i = 0; i < sizeof row / sizeof *row; i++) {
    HsaEvent *event = create_event(HSA_EVENTTYPE_MEMORY, true);
    if (row[i].hang)
      gpu->packet_ops.engine_hang(gpu->packet_ops.context);
    else
      gpu->packet_ops.memory_fault(gpu->packet_ops.context, &row[i].fault);
    assert_ok(hsaKmtWaitOnEvent(event, 0));
    const HsaMemoryAccessFault fault = event->EventData.EventData.MemoryAccessFault;
    assert_int_equal(fault.NodeId, 1);
    assert_int_equal(fault.VirtualAddress, row[i].fault.address);
    assert_int_equal(fault.Flags, HSA_EVENTID_MEMORY_FATAL_PROCESS);
    assert_int_equal(fault.Failure.NotPresent, row[i].not_present);
    assert_int_equal(fault.Failure.ReadOnly, row[i].read_only);
    assert_int_equal(fault.Failure.NoExecute, row[i].no_execute);
    assert_int_equal(fault.Failure.GpuAccess, row[i].gpu_access);
    assert_int_equal(fault.Failure.ErrorType, row[i].error_type);
    assert_ok(hsaKmtDestroyEvent(event));
  }
}

/* Queues. */

enum { RING_BYTES = PAGE };

typedef struct host_queue {
  HsaQueueResource resource;
  amd_queue_t *queue; /* in memory that the GPU can access */
  hsa_kernel_dispatch_packet_t *ring;
} host_queue_t;

static host_queue_t create_aql(uint32_t node) {
  host_queue_t host = {.queue = allocate(0, PAGE, system_flags),
                       .ring = allocate(0, RING_BYTES, executable_flags)};
  map_to(host.queue, PAGE, 1, node, 0);
  map_to(host.ring, RING_BYTES, 1, node, 0);
  for (unsigned i = 0; i < RING_BYTES / sizeof *host.ring; i++)
    host.ring[i].header = HSA_PACKET_TYPE_INVALID;
  host.resource.Queue_read_ptr_aql = (uint64_t *)(uintptr_t)&host.queue->read_dispatch_id;
  host.resource.Queue_write_ptr_aql = (uint64_t *)(uintptr_t)&host.queue->write_dispatch_id;
  assert_ok(hsaKmtCreateQueue(node, HSA_QUEUE_COMPUTE_AQL, 100, HSA_QUEUE_PRIORITY_NORMAL, host.ring,
                              RING_BYTES, NULL, &host.resource));
  return host;
}

static void destroy_aql(host_queue_t *host) {
  assert_ok(hsaKmtDestroyQueue(host->resource.QueueId));
  assert_ok(hsaKmtFreeMemory(host->queue, PAGE));
  assert_ok(hsaKmtFreeMemory(host->ring, RING_BYTES));
}

static void test_queue_raises_the_event_of_a_signal(void **state) {
  (void)state;
  host_queue_t host = create_aql(1);
  assert_int_not_equal(host.resource.QueueId, 0);
  assert_int_equal(access_at(1, host.resource.Queue_DoorBell_aql), RW);
  HsaEvent *event = create_event(HSA_EVENTTYPE_SIGNAL, false);
  amd_signal_t *signal = (amd_signal_t *)(void *)((char *)host.queue + 1024);
  signal->value = 1;
  signal->event_id = event->EventId;
  signal->event_mailbox_ptr = event->EventData.HWData2;
  hsa_kernel_dispatch_packet_t *packet = &host.ring[0];
  packet->completion_signal.handle = (uintptr_t)signal;
  __atomic_store_n(&host.queue->write_dispatch_id, 1, __ATOMIC_RELEASE);
  __atomic_store_n(&packet->header, HSA_PACKET_TYPE_KERNEL_DISPATCH, __ATOMIC_RELEASE);
  __atomic_store_n(host.resource.Queue_DoorBell_aql, 0, __ATOMIC_RELEASE);
  assert_ok(hsaKmtWaitOnEvent(event, 5000));
  assert_int_equal(__atomic_load_n(&signal->value, __ATOMIC_ACQUIRE), 0);
  destroy_aql(&host);
  assert_ok(hsaKmtDestroyEvent(event));
}

static void test_queue_arguments(void **state) {
  (void)state;
  host_queue_t host = create_aql(1);
  HsaQueueResource resource = host.resource;
  void *ring = host.ring;
  assert_int_equal(hsaKmtCreateQueue(0, HSA_QUEUE_COMPUTE_AQL, 100, 0, ring, PAGE, NULL, &resource),
                   HSAKMT_STATUS_INVALID_NODE_UNIT);
  assert_int_equal(hsaKmtCreateQueue(1, HSA_QUEUE_MULTIMEDIA_DECODE, 100, 0, ring, PAGE, NULL, &resource),
                   HSAKMT_STATUS_NOT_SUPPORTED);
  assert_int_equal(hsaKmtCreateQueue(1, HSA_QUEUE_COMPUTE_AQL, 100, 0, ring, PAGE + 64, NULL, &resource),
                   HSAKMT_STATUS_INVALID_PARAMETER);
  assert_int_equal(hsaKmtCreateQueue(1, HSA_QUEUE_COMPUTE_AQL, 100, 0, ring, 2 * PAGE, NULL, &resource),
                   HSAKMT_STATUS_INVALID_PARAMETER);
  assert_int_equal(hsaKmtCreateQueue(1, HSA_QUEUE_COMPUTE_AQL, 101, 0, ring, PAGE, NULL, &resource),
                   HSAKMT_STATUS_INVALID_PARAMETER);
  /* The other GPU has no access to this ring. */
  assert_int_equal(hsaKmtCreateQueue(2, HSA_QUEUE_COMPUTE_AQL, 100, 0, ring, PAGE, NULL, &resource),
                   HSAKMT_STATUS_INVALID_PARAMETER);
  const HSA_QUEUEID id = host.resource.QueueId;
  assert_ok(hsaKmtUpdateQueue(id, 0, HSA_QUEUE_PRIORITY_NORMAL, ring, PAGE, NULL));
  assert_ok(hsaKmtUpdateQueue(id, 100, HSA_QUEUE_PRIORITY_MAXIMUM, ring, PAGE, NULL));
  assert_int_equal(hsaKmtUpdateQueue(id + 1, 100, 0, ring, PAGE, NULL), HSAKMT_STATUS_INVALID_PARAMETER);
  uint32_t mask[2] = {~0U, ~0U};
  assert_ok(hsaKmtSetQueueCUMask(id, 64, mask));
  assert_int_equal(hsaKmtSetQueueCUMask(id, 33, mask), HSAKMT_STATUS_INVALID_PARAMETER);
  assert_int_equal(hsaKmtSetQueueCUMask(id, 64, (uint32_t[]){0, 0}), HSAKMT_STATUS_INVALID_PARAMETER);
  assert_int_equal(hsaKmtSetQueueCUMask(id + 1, 64, mask), HSAKMT_STATUS_INVALID_PARAMETER);
  host_queue_t other = create_aql(1);
  uint32_t first = 7;
  assert_ok(hsaKmtAllocQueueGWS(id, 1, &first));
  assert_int_equal(first, 0);
  assert_int_equal(hsaKmtAllocQueueGWS(other.resource.QueueId, 1, NULL), HSAKMT_STATUS_OUT_OF_RESOURCES);
  assert_int_equal(hsaKmtAllocQueueGWS(id, 65, NULL), HSAKMT_STATUS_INVALID_PARAMETER);
  assert_ok(hsaKmtAllocQueueGWS(id, 0, NULL));
  assert_ok(hsaKmtAllocQueueGWS(other.resource.QueueId, 64, NULL));
  destroy_aql(&other);
  destroy_aql(&host);
  assert_int_equal(hsaKmtDestroyQueue(id), HSAKMT_STATUS_INVALID_PARAMETER);
}

static void test_sdma_queue_copies(void **state) {
  (void)state;
  uint32_t *ring = allocate(0, 1 << 20, executable_flags);
  uint8_t *data = allocate(0, PAGE, system_flags);
  map_to(ring, 1 << 20, 1, 1, 0);
  map_to(data, PAGE, 1, 1, 0);
  HsaQueueResource resource = {0};
  assert_ok(
      hsaKmtCreateQueue(1, HSA_QUEUE_SDMA, 100, HSA_QUEUE_PRIORITY_MAXIMUM, ring, 1 << 20, NULL, &resource));
  strcpy((char *)data, "through the ring");
  const uint64_t from = (uintptr_t)data;
  const uint64_t to = from + 1000;
  HsaEvent *event = create_event(HSA_EVENTTYPE_SIGNAL, false);
  const uint32_t commands[] = {1,
                               31,
                               0,
                               (uint32_t)from,
                               (uint32_t)(from >> 32),
                               (uint32_t)to,
                               (uint32_t)(to >> 32),
                               6,
                               event->EventId};
  memcpy(ring, commands, sizeof commands);
  __atomic_store_n(resource.Queue_write_ptr_aql, sizeof commands, __ATOMIC_RELEASE);
  __atomic_store_n(resource.Queue_DoorBell_aql, sizeof commands, __ATOMIC_RELEASE);
  assert_ok(hsaKmtWaitOnEvent(event, 5000));
  assert_string_equal((char *)data + 1000, "through the ring");
  assert_ok(hsaKmtDestroyQueue(resource.QueueId));
  assert_int_equal(*resource.Queue_read_ptr_aql, sizeof commands);
  assert_ok(hsaKmtDestroyEvent(event));
  assert_ok(hsaKmtFreeMemory(ring, 1 << 20));
  assert_ok(hsaKmtFreeMemory(data, PAGE));
}

static void test_sdma_queues_are_limited(void **state) {
  (void)state;
  const uint32_t most = gs_machine_gpu(gs_machine_current(), 1)->profile->sdma_engines * 8;
  void *ring = allocate(0, PAGE, executable_flags);
  map_to(ring, PAGE, 2, 1, 2);
  HsaQueueResource resource[64];
  for (uint32_t i = 0; i < most; i++)
    assert_ok(hsaKmtCreateQueue(1, HSA_QUEUE_SDMA, 100, 0, ring, PAGE, NULL, &resource[i]));
  assert_int_equal(hsaKmtCreateQueue(1, HSA_QUEUE_SDMA, 100, 0, ring, PAGE, NULL, &resource[most]),
                   HSAKMT_STATUS_NO_MEMORY);
  assert_ok(hsaKmtCreateQueue(2, HSA_QUEUE_SDMA, 100, 0, ring, PAGE, NULL, &resource[most]));
  for (uint32_t i = 0; i <= most; i++)
    assert_ok(hsaKmtDestroyQueue(resource[i].QueueId));
  assert_ok(hsaKmtFreeMemory(ring, PAGE));
}

/* What ROCr has cleared for a DMA engine takes no memory until somebody writes there; the rest is kept. */
static void test_empty_pages_of_rings_take_no_memory(void **state) {
  (void)state;
  enum { PAGES = 16, FIRST = 3, LAST = PAGES - 1 };
  unsigned char there[PAGES];
  uint8_t *ring = allocate(0, PAGES * PAGE, executable_flags);
  map_to(ring, PAGES * PAGE, 1, 1, 0);
  memset(ring, 0, PAGES * PAGE);
  ring[FIRST * PAGE] = 1;
  ring[LAST * PAGE + PAGE - 1] = 2;
  HsaQueueResource resource = {0};
  assert_ok(hsaKmtCreateQueue(1, HSA_QUEUE_SDMA, 100, 0, ring, PAGES * PAGE, NULL, &resource));
  assert_int_equal(mincore(ring, PAGES * PAGE, there), 0);
  for (unsigned i = 0; i < PAGES; i++)
    assert_int_equal(there[i] & 1, i == FIRST || i == LAST);
  for (unsigned i = 0; i < PAGES * PAGE; i++)
    assert_int_equal(ring[i], i == FIRST * PAGE ? 1 : i == LAST * PAGE + PAGE - 1 ? 2 : 0);
  assert_ok(hsaKmtDestroyQueue(resource.QueueId));
  assert_ok(hsaKmtFreeMemory(ring, PAGES * PAGE));
}

/* Closing with everything still in use: what a program does that never shuts down. */
static void test_closing_ends_queues(void **state) {
  (void)state;
  host_queue_t host = create_aql(1);
  gs_stub.until_stopped = true;
  host.ring[0].completion_signal.handle = 0;
  __atomic_store_n(&host.queue->write_dispatch_id, 1, __ATOMIC_RELEASE);
  __atomic_store_n(&host.ring[0].header, HSA_PACKET_TYPE_KERNEL_DISPATCH, __ATOMIC_RELEASE);
  for (int waited = 0; waited < 5000 && !gs_stub.running; waited++)
    usleep(1000);
  assert_int_equal(gs_stub.running, 1);
  free(create_event(HSA_EVENTTYPE_SIGNAL, false)); /* the host's object of it, as nobody destroys it */
  allocate(1, LARGE, hidden_vram_flags);
  /* Closed by the teardown; the program's own memory stays. */
}

/* One mode for all GPUs of the process; with it they reach memory that nobody mapped, and what is mapped
 * stays as it is. */
static void test_xnack(void **state) {
  (void)state;
  int32_t xnack = 7;
  int variable = 0;
  uint8_t *mapped = allocate(1, LARGE, hidden_vram_flags);
  HSAuint64 alternate = 0;
  assert_ok(hsaKmtMapMemoryToGPU(mapped, LARGE, &alternate));
  const uint32_t access = access_at(1, mapped);
  assert_int_equal(access_at(1, &variable), 0);
  assert_ok(hsaKmtSetXNACKMode(1));
  assert_ok(hsaKmtGetXNACKMode(&xnack));
  assert_int_equal(xnack, 1);
  assert_int_equal(access_at(1, &variable), GS_VM_READ | GS_VM_WRITE);
  assert_int_equal(access_at(1, NULL), 0);
  assert_int_equal(access_at(1, mapped), access);
  assert_ok(hsaKmtUnmapMemoryToGPU(mapped));
  assert_int_equal(access_at(1, mapped), GS_VM_READ | GS_VM_WRITE);
  assert_ok(hsaKmtSetXNACKMode(0));
  assert_int_equal(access_at(1, &variable), 0);
  assert_int_equal(access_at(1, mapped), 0);
  assert_ok(hsaKmtFreeMemory(mapped, LARGE));
  host_queue_t queue = create_aql(1);
  assert_int_equal(hsaKmtSetXNACKMode(1), HSAKMT_STATUS_ERROR); /* it is too late */
  assert_int_equal(access_at(1, &variable), 0);
  destroy_aql(&queue);
  assert_ok(hsaKmtSetXNACKMode(0));
}

static void test_xnack_needs_all_gpus(void **state) {
  (void)state;
  int variable = 0;
  assert_int_equal(hsaKmtSetXNACKMode(1), HSAKMT_STATUS_NOT_SUPPORTED);
  assert_int_equal(access_at(1, &variable), 0);
}

static void test_unsupported_functions_say_so(void **state) {
  (void)state;
  assert_int_equal(hsaKmtRuntimeEnable(NULL, false), HSAKMT_STATUS_NOT_SUPPORTED);
  assert_ok(hsaKmtRuntimeDisable());
  int32_t xnack = 7;
  assert_ok(hsaKmtGetXNACKMode(&xnack));
  assert_int_equal(xnack, 0);
  assert_ok(hsaKmtSetXNACKMode(0));
  assert_int_equal(hsaKmtSVMSetAttr(NULL, 0, 0, NULL), HSAKMT_STATUS_NOT_SUPPORTED);
  assert_ok(hsaKmtSetTrapHandler(1, NULL, 0, NULL, 0));
  assert_ok(hsaKmtSetMemoryPolicy(1, 0, 0, NULL, 0));
}

/* What ROCr 6.1 needs besides. */

static void test_later_functions(void **state) {
  (void)state;
  uint64_t before = 0;
  uint64_t after = 0;
  assert_ok(hsaKmtAvailableMemory(2, &before));
  void *memory = allocate(2, LARGE, hidden_vram_flags);
  assert_ok(hsaKmtAvailableMemory(2, &after));
  assert_int_equal(before - after, LARGE);
  assert_ok(hsaKmtFreeMemory(memory, LARGE));
  assert_int_equal(hsaKmtAvailableMemory(0, &after), HSAKMT_STATUS_INVALID_NODE_UNIT);
  uint32_t capabilities = 77;
  assert_ok(hsaKmtGetRuntimeCapabilities(&capabilities));
  assert_int_equal(capabilities, 0);
  void *handle[2] = {NULL, NULL};
  assert_ok(hsaKmtGetAMDGPUDeviceHandle(1, &handle[0]));
  assert_ok(hsaKmtGetAMDGPUDeviceHandle(2, &handle[1]));
  assert_ptr_not_equal(handle[0], handle[1]);
  assert_int_equal(hsaKmtGetAMDGPUDeviceHandle(0, &handle[0]), HSAKMT_STATUS_INVALID_NODE_UNIT);
  gs_drm_gpu_info_t info = {.counter_khz = 0};
  assert_int_equal(amdgpu_query_gpu_info(handle[1], &info), 0);
  assert_int_equal(info.counter_khz, 100000);
  assert_int_equal(amdgpu_bo_import(handle[1], 0, 0, NULL), -ENOSYS);
  /* Not a device of ours, and this program has no libdrm. */
  assert_int_equal(amdgpu_query_gpu_info(&info, &info), -ENOSYS);
  assert_int_equal(drmCommandWriteRead(-1, 0, NULL, 0), -ENOSYS);
  assert_int_equal(hsaKmtDbgEnable(NULL, NULL), HSAKMT_STATUS_NOT_SUPPORTED);
}

static void test_later_waits(void **state) {
  (void)state;
  const HsaEventDescriptor descriptor = {.EventType = HSA_EVENTTYPE_SIGNAL};
  HsaEvent *event = NULL;
  uint64_t age = 5;
  assert_ok(hsaKmtCreateEvent((HsaEventDescriptor *)(uintptr_t)&descriptor, false, false, &event));
  assert_int_equal(hsaKmtWaitOnEvent_Ext(event, 1, &age), HSAKMT_STATUS_WAIT_TIMEOUT);
  assert_ok(hsaKmtSetEvent(event));
  assert_ok(hsaKmtWaitOnMultipleEvents_Ext(&event, 1, false, 1000, &age));
  assert_int_equal(hsaKmtWaitOnMultipleEvents_Ext(&event, 1, false, 0, NULL), HSAKMT_STATUS_WAIT_TIMEOUT);
  assert_int_equal(age, 5);
  assert_ok(hsaKmtDestroyEvent(event));
}

#define with_one(test) cmocka_unit_test_setup_teardown(test, open_one, close_again)
#define with_two(test) cmocka_unit_test_setup_teardown(test, open_two, close_again)

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_functions_need_an_open_library),
      cmocka_unit_test(test_opening_counts),
      cmocka_unit_test(test_bad_device_lists_fail_to_open),
      with_one(test_child_sees_a_closed_library),
      cmocka_unit_test(test_contexts_are_independent),
      cmocka_unit_test(test_doorbells_have_no_neighbour),
      with_two(test_topology_of_two_gpus),
      with_two(test_topology_links_join_all_nodes),
      with_two(test_topology_banks_and_caches),
      with_one(test_clocks_never_repeat),
      with_two(test_memory_is_mapped_per_gpu),
      with_one(test_memory_access_rights),
      with_two(test_memory_hidden_from_the_host),
      with_two(test_memory_limits),
      with_one(test_memory_arguments),
      with_two(test_scratch_is_mapped_in_parts),
      with_one(test_registered_memory_overlaps),
      with_one(test_registration_inside_an_allocation),
      with_two(test_pointer_info),
      with_one(test_events_are_sticky),
      with_one(test_events_wait_for_any_or_all),
      with_one(test_events_are_not_taken_from_others),
      with_one(test_who_wakes_a_servant_lets_it_go),
      with_one(test_events_wake_every_waiter),
      with_one(test_events_lose_no_wake_up),
      with_one(test_events_raised_by_mailbox),
      with_one(test_events_run_out),
      with_one(test_memory_fault_event),
      with_one(test_queue_raises_the_event_of_a_signal),
      with_two(test_queue_arguments),
      with_two(test_empty_pages_of_rings_take_no_memory),
      with_one(test_sdma_queue_copies),
      with_two(test_sdma_queues_are_limited),
      with_one(test_closing_ends_queues),
      with_one(test_xnack),
      with_two(test_xnack_needs_all_gpus),
      with_one(test_unsupported_functions_say_so),
      with_two(test_later_functions),
      with_one(test_later_waits),
  };
  return cmocka_run_group_tests_name("gfxsim thunk", tests, NULL, NULL);
}
