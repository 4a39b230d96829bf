/* Memory that a program puts at addresses of its choice (hsa_amd_vmem_*), as HSA documents it; for ROCr
 * from 6.1 on, whose functions are looked up, and the kernel driver's interface. Expects
 * GFXSIM_HOST_VISIBLE=1, two GPUs of a kind, and MACHINE_KERNELS. Not here: memory that is attached by
 * handles of words (sharing.c). */
#include "gfxsim_rocr.h"

#include <dlfcn.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { MIB = 1 << 20, SIZE = 2 * MIB, PINNED = 1 };

/* What headers of ROCr 5.2 do not have. */
typedef struct handle {
  uint64_t value;
} handle_t;
typedef struct access {
  hsa_access_permission_t rights;
  hsa_agent_t agent;
} access_t;

static struct {
  hsa_status_t (*reserve)(void **address, size_t size, uint64_t wanted, uint64_t flags);
  hsa_status_t (*unreserve)(void *address, size_t size);
  hsa_status_t (*create)(hsa_amd_memory_pool_t pool, size_t size, int type, uint64_t flags, handle_t *handle);
  hsa_status_t (*release)(handle_t handle);
  hsa_status_t (*map)(void *address, size_t size, size_t offset, handle_t handle, uint64_t flags);
  hsa_status_t (*unmap)(void *address, size_t size);
  hsa_status_t (*set_access)(void *address, size_t size, const access_t *list, size_t count);
  hsa_status_t (*get_access)(void *address, hsa_access_permission_t *rights, hsa_agent_t agent);
  hsa_status_t (*export)(int *file, handle_t handle, uint64_t flags);
  hsa_status_t (*import)(int file, handle_t *handle);
  hsa_status_t (*retain)(handle_t *handle, void *address);
  hsa_status_t (*properties)(handle_t handle, hsa_amd_memory_pool_t *pool, int *type);
  hsa_status_t (*export_any)(const void *address, size_t size, int *file, uint64_t *offset);
  hsa_status_t (*close_any)(int file);
} vmem;

static bool look_up(void) {
  const struct {
    const char *name;
    void *to;
  } names[] = {
      {"hsa_amd_vmem_address_reserve", &vmem.reserve},
      {"hsa_amd_vmem_address_free", &vmem.unreserve},
      {"hsa_amd_vmem_handle_create", &vmem.create},
      {"hsa_amd_vmem_handle_release", &vmem.release},
      {"hsa_amd_vmem_map", &vmem.map},
      {"hsa_amd_vmem_unmap", &vmem.unmap},
      {"hsa_amd_vmem_set_access", &vmem.set_access},
      {"hsa_amd_vmem_get_access", &vmem.get_access},
      {"hsa_amd_vmem_export_shareable_handle", &vmem.export},
      {"hsa_amd_vmem_import_shareable_handle", &vmem.import},
      {"hsa_amd_vmem_retain_alloc_handle", &vmem.retain},
      {"hsa_amd_vmem_get_alloc_properties_from_handle", &vmem.properties},
      {"hsa_amd_portable_export_dmabuf", &vmem.export_any},
      {"hsa_amd_portable_close_dmabuf", &vmem.close_any},
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    void *function = dlsym(RTLD_DEFAULT, names[i].name);
    if (!function) {
      fprintf(stderr, "this ROCr has no %s\n", names[i].name);
      return false;
    }
    memcpy(names[i].to, &function, sizeof function);
  }
  return true;
}

static int setup(void **state) {
  static machine_t machine;
  *state = &machine;
  return look_up() && machine_open(&machine) ? 0 : -1;
}

static int teardown(void **state) {
  (void)state;
  return hsa_shut_down() == HSA_STATUS_SUCCESS ? 0 : -1;
}

static void *reserve(size_t size) {
  void *address = NULL;
  assert_hsa(vmem.reserve(&address, size, 0, 0));
  return address;
}

static handle_t create(const machine_t *machine, size_t size) {
  handle_t handle = {0};
  assert_hsa(vmem.create(machine->vram[0], size, PINNED, 0, &handle));
  return handle;
}

static void allow(void *address, size_t size, hsa_agent_t agent, hsa_access_permission_t rights) {
  const access_t access = {.rights = rights, .agent = agent};
  assert_hsa(vmem.set_access(address, size, &access, 1));
}

/* One handle at the start of addresses of its own, for the first GPU. */
static uint8_t *make(const machine_t *machine, handle_t *handle) {
  uint8_t *address = reserve(SIZE);
  *handle = create(machine, SIZE);
  assert_hsa(vmem.map(address, SIZE, 0, *handle, 0));
  allow(address, SIZE, machine->gpu[0], HSA_ACCESS_PERMISSION_RW);
  return address;
}

static void destroy(void *address, handle_t handle) {
  assert_hsa(vmem.unmap(address, SIZE));
  assert_hsa(vmem.release(handle));
  assert_hsa(vmem.unreserve(address, SIZE));
}

static uint8_t *allocate_host(const machine_t *machine, size_t size) {
  uint8_t *bytes = allocate(machine->fine, size);
  assert_hsa(hsa_amd_agents_allow_access(machine->gpus, machine->gpu, NULL, bytes));
  return bytes;
}

static void device_fill(const machine_t *machine, void *device, size_t size, unsigned seed) {
  uint8_t *bytes = allocate_host(machine, size);
  fill_pattern(bytes, size, seed);
  copy(device, machine->gpu[0], bytes, machine->cpu, size);
  hsa_amd_memory_pool_free(bytes);
}

static void expect_device(const machine_t *machine, unsigned gpu, const void *device, size_t size,
                          unsigned seed) {
  uint8_t *expected = malloc(size), *seen = allocate_host(machine, size);
  fill_pattern(expected, size, seed);
  copy(seen, machine->cpu, device, machine->gpu[gpu], size);
  assert_memory_equal(seen, expected, size);
  free(expected);
  hsa_amd_memory_pool_free(seen);
}

/* ---- One process ---- */

static void test_gpu_writes_and_reads(void **state) {
  const machine_t *machine = *state;
  handle_t handle;
  uint8_t *address = make(machine, &handle);
  device_fill(machine, address, SIZE, 3);
  expect_device(machine, 0, address, SIZE, 3);
  destroy(address, handle);
}

static void test_host_sees_what_it_may(void **state) {
  const machine_t *machine = *state;
  handle_t handle;
  uint8_t *address = make(machine, &handle), expected[256];
  device_fill(machine, address, SIZE, 4);
  allow(address, SIZE, machine->cpu, HSA_ACCESS_PERMISSION_RW);
  fill_pattern(expected, sizeof expected, 4);
  assert_memory_equal(address, expected, sizeof expected);
  fill_pattern(address, SIZE, 5);
  expect_device(machine, 0, address, SIZE, 5);
  destroy(address, handle);
}

/* A kernel's store goes where its addresses lead: to the second handle after the first was taken away. */
static void test_kernel_follows_the_addresses(void **state) {
  const machine_t *machine = *state;
  setting_t *s = setting_open(machine, getenv("MACHINE_KERNELS"), 4096);
  const handle_t first = create(machine, SIZE), second = create(machine, SIZE);
  uint32_t *address = reserve(SIZE), *other = reserve(SIZE);
  for (int i = 0; i < 2; i++) {
    assert_hsa(vmem.map(address, SIZE, 0, i ? second : first, 0));
    allow(address, SIZE, machine->gpu[0], HSA_ACCESS_PERMISSION_RW);
    packet_t packet = dispatch_of(machine, s->kernels, "k_store", (uintptr_t)(address + i));
    assert_true(setting_runs(s, packet));
    assert_hsa(vmem.unmap(address, SIZE));
  }
  uint32_t *seen = (uint32_t *)(void *)allocate_host(machine, 8);
  for (uint32_t i = 0; i < 2; i++) {
    assert_hsa(vmem.map(other, SIZE, 0, i ? second : first, 0));
    allow(other, SIZE, machine->gpu[0], HSA_ACCESS_PERMISSION_RW);
    copy(seen, machine->cpu, other, machine->gpu[0], 8);
    assert_int_equal(seen[i], 42);
    assert_int_equal(seen[1 - i], 0);
    assert_hsa(vmem.unmap(other, SIZE));
  }
  assert_hsa(vmem.release(first));
  assert_hsa(vmem.release(second));
  assert_hsa(vmem.unreserve(address, SIZE));
  assert_hsa(vmem.unreserve(other, SIZE));
}

/* One handle at two places, and two handles side by side. */
static void test_places(void **state) {
  const machine_t *machine = *state;
  const handle_t handle[2] = {create(machine, SIZE), create(machine, SIZE)};
  uint8_t *address = reserve((size_t)3 * SIZE);
  for (size_t i = 0; i < 3; i++)
    assert_hsa(vmem.map(address + i * SIZE, SIZE, 0, handle[i % 2], 0));
  allow(address, (size_t)3 * SIZE, machine->gpu[0], HSA_ACCESS_PERMISSION_RW);
  device_fill(machine, address + SIZE / 2, SIZE, 6); /* over the border */
  expect_device(machine, 0, address + SIZE / 2, SIZE, 6);
  device_fill(machine, address, SIZE, 8);
  expect_device(machine, 0, address + (size_t)2 * SIZE, SIZE, 8);
  for (size_t i = 0; i < 3; i++)
    assert_hsa(vmem.unmap(address + i * SIZE, SIZE));
  assert_hsa(vmem.release(handle[0]));
  assert_hsa(vmem.release(handle[1]));
  assert_hsa(vmem.unreserve(address, (size_t)3 * SIZE));
}

static void test_second_gpu(void **state) {
  const machine_t *machine = *state;
  handle_t handle;
  hsa_access_permission_t rights = HSA_ACCESS_PERMISSION_RO;
  assert_true(machine->gpus == 2);
  uint8_t *address = make(machine, &handle);
  device_fill(machine, address, SIZE, 9);
  assert_hsa(vmem.get_access(address, &rights, machine->gpu[1]));
  assert_int_equal(rights, 0); /* none */
  allow(address, SIZE, machine->gpu[1], HSA_ACCESS_PERMISSION_RW);
  assert_hsa(vmem.get_access(address, &rights, machine->gpu[1]));
  assert_int_equal(rights, HSA_ACCESS_PERMISSION_RW);
  expect_device(machine, 1, address, SIZE, 9);
  destroy(address, handle);
}

/* Released first, the memory stays as long as it is mapped. */
static void test_order_of_the_end(void **state) {
  const machine_t *machine = *state;
  handle_t handle, again;
  uint8_t *address = make(machine, &handle);
  assert_hsa(vmem.retain(&again, address));
  assert_int_equal(again.value, handle.value);
  assert_hsa(vmem.release(again));
  assert_hsa(vmem.release(handle));
  device_fill(machine, address, SIZE, 10);
  expect_device(machine, 0, address, SIZE, 10);
  assert_int_equal(vmem.unreserve(address, SIZE), HSA_STATUS_ERROR_RESOURCE_FREE);
  assert_hsa(vmem.unmap(address, SIZE));
  assert_hsa(vmem.unreserve(address, SIZE));
  assert_int_equal(vmem.release(handle), HSA_STATUS_ERROR_INVALID_ALLOCATION);
}

static uint64_t available(hsa_agent_t gpu) {
  enum { AGENT_INFO_MEMORY_AVAIL = 0xA015 };
  uint64_t bytes = 0;
  assert_hsa(hsa_agent_get_info(gpu, (hsa_agent_info_t)AGENT_INFO_MEMORY_AVAIL, &bytes));
  return bytes;
}

static void test_memory_is_charged_once(void **state) {
  const machine_t *machine = *state;
  const uint64_t before = available(machine->gpu[0]);
  handle_t handle;
  uint8_t *address = make(machine, &handle);
  allow(address, SIZE, machine->gpu[1], HSA_ACCESS_PERMISSION_RW);
  assert_int_equal(before - available(machine->gpu[0]), SIZE);
  destroy(address, handle);
  assert_int_equal(before, available(machine->gpu[0]));
}

static void test_calls_that_are_wrong(void **state) {
  const machine_t *machine = *state;
  handle_t handle;
  hsa_amd_memory_pool_t pool;
  int type = 7;
  uint8_t *address = make(machine, &handle);
  assert_hsa(vmem.properties(handle, &pool, &type));
  assert_true(pool.handle == machine->vram[0].handle && type == PINNED);
  assert_int_equal(vmem.map(address, SIZE, 0, handle, 0), HSA_STATUS_ERROR_INVALID_ARGUMENT); /* in use */
  /* ROCr 7 says so of any piece that is not all of a mapping. */
  const hsa_status_t piece = vmem.unmap(address, SIZE / 2);
  assert_true(piece == HSA_STATUS_ERROR_INVALID_ARGUMENT || piece == HSA_STATUS_ERROR_INVALID_ALLOCATION);
  assert_int_equal(vmem.unmap(address + 4096, SIZE), HSA_STATUS_ERROR_INVALID_ALLOCATION);
  assert_int_equal(vmem.unreserve(address, SIZE / 2), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  handle_t odd;
  assert_int_equal(vmem.create(machine->vram[0], SIZE - 1, PINNED, 0, &odd),
                   HSA_STATUS_ERROR_INVALID_ARGUMENT);
  destroy(address, handle);
  assert_int_equal(vmem.map(address, SIZE, 0, handle, 0),
                   HSA_STATUS_ERROR_INVALID_ARGUMENT); /* not reserved */
}

/* What is no longer mapped is a fault: ROCr ends the process. */
static int use_unmapped(const machine_t *machine) {
  handle_t handle;
  if (!look_up())
    return 1;
  setting_t *s = setting_open(machine, getenv("MACHINE_KERNELS"), 4096);
  uint8_t *address = make(machine, &handle);
  const packet_t packet = dispatch_of(machine, s->kernels, "k_store", (uintptr_t)address);
  if (!setting_runs(s, packet) || vmem.unmap(address, SIZE))
    return 2;
  setting_runs(s, packet);
  return 3;
}

static const scenario_t scenarios[] = {{.name = "use_unmapped", .run = use_unmapped, .signal = 6}};

/* ---- Another process ---- */

/* It has the descriptor with the number of its first argument. */
static int be_peer(const char *number) {
  machine_t machine;
  handle_t handle;
  alarm(60);
  if (!look_up() || !machine_open(&machine) || vmem.import(atoi(number), &handle))
    return 1;
  uint8_t *address = reserve(SIZE);
  if (vmem.map(address, SIZE, 0, handle, 0))
    return 2;
  allow(address, SIZE, machine.gpu[0], HSA_ACCESS_PERMISSION_RW);
  expect_device(&machine, 0, address, SIZE, 11);
  device_fill(&machine, address, SIZE, 12);
  destroy(address, handle);
  return hsa_shut_down() ? 3 : 0;
}

static void expect_peer(int file) {
  char number[16], self[] = "/proc/self/exe", flag[] = "--peer";
  char *arguments[] = {self, flag, number, NULL};
  const int copied = dup(file); /* which the other process inherits */
  pid_t child = -1;
  int status = -1;
  snprintf(number, sizeof number, "%d", copied);
  assert_int_equal(posix_spawn(&child, self, NULL, NULL, arguments, environ), 0);
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  close(copied);
}

static void test_other_process(void **state) {
  const machine_t *machine = *state;
  handle_t handle;
  int file = -1;
  uint8_t *address = make(machine, &handle);
  device_fill(machine, address, SIZE, 11);
  assert_hsa(vmem.export(&file, handle, 0));
  expect_peer(file);
  expect_device(machine, 0, address, SIZE, 12);
  close(file);
  destroy(address, handle);
}

/* Any allocation may be exported; what is cut from a larger one says where it begins. */
static void test_export_of_an_allocation(void **state) {
  const machine_t *machine = *state;
  uint8_t *device = allocate(machine->vram[0], SIZE);
  int file = -1;
  uint64_t offset = 1;
  device_fill(machine, device, SIZE, 11);
  assert_hsa(vmem.export_any(device, SIZE, &file, &offset));
  assert_int_equal(offset, 0);
  expect_peer(file);
  expect_device(machine, 0, device, SIZE, 12);
  assert_hsa(vmem.close_any(file));
  assert_hsa(vmem.export_any(device + 4096, 4096, &file, &offset));
  assert_int_equal(offset, 4096);
  assert_hsa(vmem.close_any(file));
  hsa_amd_memory_pool_free(device);
}

int main(int argc, char **argv) {
  if (argc == 3 && !strcmp(argv[1], "--peer"))
    return be_peer(argv[2]);
  if (argc == 2)
    return scenario_run(scenarios, sizeof scenarios / sizeof *scenarios, argv[1]);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_gpu_writes_and_reads),
      cmocka_unit_test(test_host_sees_what_it_may),
      cmocka_unit_test(test_kernel_follows_the_addresses),
      cmocka_unit_test(test_places),
      cmocka_unit_test(test_second_gpu),
      cmocka_unit_test(test_order_of_the_end),
      cmocka_unit_test(test_memory_is_charged_once),
      cmocka_unit_test(test_calls_that_are_wrong),
      cmocka_unit_test(test_other_process),
      cmocka_unit_test(test_export_of_an_allocation),
  };
  const int failed = cmocka_run_group_tests_name("memory by addresses", tests, setup, teardown);
  return failed + scenario_run_all("faults of it", scenarios, sizeof scenarios / sizeof *scenarios);
}
