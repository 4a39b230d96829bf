/* Attributes of the program's own memory (hsa_amd_svm_*), below the kernel driver's interface with
 * GFXSIM_SVM=1: what ROCr answers, and what kernels may access for them. Expects two GPUs of a kind and
 * MACHINE_KERNELS. Not here: memory that ROCr allocates, and GPUs that reach everything (XNACK). */
#include "gfxsim_rocr.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, PAGES = 16, SIZE = PAGES * PAGE };

typedef hsa_amd_svm_attribute_pair_t pair_t;

static uint8_t *map_pages(size_t size) {
  uint8_t *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(pages != MAP_FAILED);
  return pages;
}

static hsa_status_t set(void *address, size_t size, uint64_t attribute, uint64_t value) {
  pair_t pair = {.attribute = attribute, .value = value};
  return hsa_amd_svm_attributes_set(address, size, &pair, 1);
}

static uint64_t get(void *address, size_t size, uint64_t attribute) {
  pair_t pair = {.attribute = attribute, .value = 77};
  assert_hsa(hsa_amd_svm_attributes_get(address, size, &pair, 1));
  return pair.value;
}

/* How an agent may access all of it. */
static uint64_t access_of(void *address, size_t size, hsa_agent_t agent) {
  pair_t pair = {.attribute = HSA_AMD_SVM_ATTRIB_ACCESS_QUERY, .value = agent.handle};
  assert_hsa(hsa_amd_svm_attributes_get(address, size, &pair, 1));
  return pair.attribute;
}

static int setup(void **state) {
  static machine_t machine;
  *state = &machine;
  return machine_open(&machine) ? 0 : -1;
}

static int teardown(void **state) {
  (void)state;
  return hsa_shut_down() == HSA_STATUS_SUCCESS ? 0 : -1;
}

static void test_machine_says_so(void **state) {
  bool has = false, by_default = true;
  (void)state;
  assert_hsa(hsa_system_get_info((hsa_system_info_t)HSA_AMD_SYSTEM_INFO_SVM_SUPPORTED, &has));
  assert_hsa(
      hsa_system_get_info((hsa_system_info_t)HSA_AMD_SYSTEM_INFO_SVM_ACCESSIBLE_BY_DEFAULT, &by_default));
  assert_true(has && !by_default);
}

static void test_what_nobody_has_set(void **state) {
  const machine_t *machine = *state;
  uint8_t *pages = map_pages(SIZE);
  assert_int_equal(get(pages, SIZE, HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG), HSA_AMD_SVM_GLOBAL_FLAG_FINE_GRAINED);
  assert_int_equal(get(pages, SIZE, HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION), 0);
  assert_int_equal(get(pages, SIZE, HSA_AMD_SVM_ATTRIB_READ_ONLY), 0);
  assert_int_equal(access_of(pages, SIZE, machine->gpu[0]), HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS);
  assert_int_equal(access_of(pages, SIZE, machine->cpu), HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE);
  munmap(pages, SIZE);
}

/* Pages have attributes of their own: of several, what they have in common is answered. */
static void test_parts(void **state) {
  const machine_t *machine = *state;
  uint8_t *pages = map_pages(SIZE), *middle = pages + 4 * PAGE;
  const size_t part = 4 * PAGE;
  assert_hsa(set(pages, SIZE, HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION, machine->gpu[0].handle));
  assert_hsa(set(pages, SIZE, HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE, machine->gpu[0].handle));
  assert_int_equal(get(pages, SIZE, HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION), machine->gpu[0].handle);
  assert_hsa(set(middle, part, HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION, machine->gpu[1].handle));
  assert_hsa(set(middle, part, HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE_IN_PLACE, machine->gpu[0].handle));
  assert_hsa(set(middle, part, HSA_AMD_SVM_ATTRIB_READ_ONLY, true));
  assert_hsa(set(middle, part, HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG, HSA_AMD_SVM_GLOBAL_FLAG_COARSE_GRAINED));
  assert_hsa(set(middle, part, HSA_AMD_SVM_ATTRIB_MIGRATION_GRANULARITY, 3));
  assert_int_equal(get(pages, SIZE, HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION), 0);
  assert_int_equal(get(pages, part, HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION), machine->gpu[0].handle);
  assert_int_equal(get(middle, part, HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION), machine->gpu[1].handle);
  assert_int_equal(get(middle + part, PAGE, HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION), machine->gpu[0].handle);
  assert_int_equal(access_of(middle, part, machine->gpu[0]), HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE_IN_PLACE);
  assert_int_equal(access_of(middle + part, part, machine->gpu[0]), HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE);
  assert_int_equal(access_of(pages, SIZE, machine->gpu[0]),
                   HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS); /* of no kind alike */
  assert_int_equal(get(pages, SIZE, HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG), HSA_AMD_SVM_GLOBAL_FLAG_INDETERMINATE);
  assert_int_equal(get(pages, SIZE, HSA_AMD_SVM_ATTRIB_MIGRATION_GRANULARITY), 3);
  assert_true(get(middle, part, HSA_AMD_SVM_ATTRIB_READ_ONLY) != 0);
  assert_int_equal(get(pages, SIZE, HSA_AMD_SVM_ATTRIB_READ_ONLY), 0);
  munmap(pages, SIZE);
}

static void test_prefetch(void **state) {
  const machine_t *machine = *state;
  uint8_t *pages = map_pages(SIZE);
  hsa_signal_t first = signal_create(1), done = signal_create(1);
  fill_pattern(pages, SIZE, 3);
  assert_hsa(hsa_amd_svm_prefetch_async(pages, SIZE, machine->gpu[1], 1, &first, done));
  assert_int_equal(hsa_signal_load_scacquire(done), 1); /* it waits */
  hsa_signal_store_screlease(first, 0);
  assert_true(signal_reached_zero(done));
  assert_int_equal(get(pages, SIZE, HSA_AMD_SVM_ATTRIB_PREFETCH_LOCATION), machine->gpu[1].handle);
  uint8_t expected[SIZE];
  fill_pattern(expected, SIZE, 3);
  assert_memory_equal(pages, expected, SIZE);
  hsa_signal_destroy(first);
  hsa_signal_destroy(done);
  munmap(pages, SIZE);
}

/* What was given up is forgotten, also by who gets the addresses next. */
static void test_end_of_memory(void **state) {
  const machine_t *machine = *state;
  uint8_t *pages = map_pages(SIZE);
  assert_hsa(set(pages, SIZE, HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE, machine->gpu[0].handle));
  munmap(pages + PAGE, PAGE);
  uint8_t *again = mmap(pages + PAGE, PAGE, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  assert_ptr_equal(again, pages + PAGE);
  assert_int_equal(access_of(pages, PAGE, machine->gpu[0]), HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE);
  assert_int_equal(access_of(again, PAGE, machine->gpu[0]), HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS);
  assert_int_equal(access_of(again + PAGE, PAGE, machine->gpu[0]), HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE);
  munmap(pages, SIZE);
}

/* All pages that are named go, the last one too, of which only a part is; and so do those that others take
 * the place of. What the kernel refuses takes nothing away. */
static void test_end_of_parts(void **state) {
  const machine_t *machine = *state;
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS;
  uint8_t *pages = map_pages(SIZE), *last = pages + 2 * PAGE, *replaced = pages + 6 * PAGE;
  assert_hsa(set(pages, SIZE, HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE, machine->gpu[0].handle));
  assert_int_equal(munmap(pages + 100, SIZE - PAGE), -1);
  assert_int_equal(access_of(pages, SIZE, machine->gpu[0]), HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE);
  assert_ptr_equal(mmap(pages, SIZE, PROT_READ, MAP_PRIVATE | MAP_FIXED, -1, 0), MAP_FAILED);
  assert_int_equal(access_of(pages, SIZE, machine->gpu[0]), HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE);
  assert_int_equal(munmap(pages, 3 * PAGE - 100), 0);
  assert_ptr_equal(mmap(pages, 3 * PAGE, PROT_READ | PROT_WRITE, flags | MAP_FIXED_NOREPLACE, -1, 0), pages);
  assert_int_equal(access_of(last, PAGE, machine->gpu[0]), HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS);
  assert_int_equal(access_of(last + PAGE, PAGE, machine->gpu[0]), HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE);
  assert_ptr_equal(mmap(replaced, PAGE, PROT_READ | PROT_WRITE, flags | MAP_FIXED, -1, 0), replaced);
  assert_int_equal(access_of(replaced, PAGE, machine->gpu[0]), HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS);
  assert_int_equal(access_of(replaced + PAGE, PAGE, machine->gpu[0]), HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE);
  munmap(pages, SIZE);
}

static void test_calls_that_are_wrong(void **state) {
  const machine_t *machine = *state;
  uint8_t *pages = map_pages(SIZE);
  munmap(pages + PAGE, PAGE);
  assert_int_equal(set(pages, SIZE, HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE, machine->gpu[0].handle),
                   HSA_STATUS_ERROR);
  assert_int_equal(access_of(pages, PAGE, machine->gpu[0]),
                   HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS); /* nothing was set */
  assert_int_equal(set(pages, PAGE, 0x7777, 0), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  munmap(pages, SIZE);
}

/* Kernels, each in a process of its own: a fault ends it. */

typedef enum step { ALLOWED, NOT_ALLOWED, READ_ONLY, NO_LONGER, GIVEN_UP } step_t;

/* One that stores 42 into the last page. Returns 0 if it arrives. */
static int store(const machine_t *machine, step_t step) {
  setting_t *s = setting_open(machine, getenv("MACHINE_KERNELS"), PAGE);
  uint8_t *pages = map_pages(SIZE);
  uint32_t *word = (uint32_t *)(void *)(pages + SIZE - PAGE);
  const packet_t packet = dispatch_of(machine, s->kernels, "k_store", (uintptr_t)word);
  const uint64_t gpu = machine->gpu[0].handle;
  if (step != NOT_ALLOWED && set(pages, SIZE, HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE_IN_PLACE, gpu))
    return 1;
  if (step == READ_ONLY && set(pages + SIZE / 2, SIZE / 2, HSA_AMD_SVM_ATTRIB_READ_ONLY, true))
    return 2;
  if (step >= NO_LONGER && (!setting_runs(s, packet) || *word != 42))
    return 3;
  if (step == NO_LONGER && set(word, PAGE, HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS, gpu))
    return 4;
  if (step == GIVEN_UP)
    munmap(word, PAGE);
  if (!setting_runs(s, packet) || *word != 42)
    return 5;
  return hsa_shut_down() == HSA_STATUS_SUCCESS ? 0 : 6;
}

#define DEFINE(name, step)                                                                                   \
  static int name(const machine_t *machine) {                                                                \
    return store(machine, step);                                                                             \
  }
DEFINE(store_allowed, ALLOWED)
DEFINE(store_not_allowed, NOT_ALLOWED)
DEFINE(store_read_only, READ_ONLY)
DEFINE(store_no_longer_allowed, NO_LONGER)
DEFINE(store_given_up, GIVEN_UP)

enum { ABORTED = 6 };
static const scenario_t scenarios[] = {
    {.name = "store_allowed", .run = store_allowed},
    {.name = "store_not_allowed", .run = store_not_allowed, .signal = ABORTED},
    {.name = "store_read_only", .run = store_read_only, .signal = ABORTED},
    {.name = "store_no_longer_allowed", .run = store_no_longer_allowed, .signal = ABORTED},
    {.name = "store_given_up", .run = store_given_up, .signal = ABORTED},
};

int main(int argc, char **argv) {
  const unsigned count = sizeof scenarios / sizeof *scenarios;
  if (argc > 1)
    return scenario_run(scenarios, count, argv[1]);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_machine_says_so),
      cmocka_unit_test(test_what_nobody_has_set),
      cmocka_unit_test(test_parts),
      cmocka_unit_test(test_prefetch),
      cmocka_unit_test(test_end_of_memory),
      cmocka_unit_test(test_end_of_parts),
      cmocka_unit_test(test_calls_that_are_wrong),
  };
  const int failed = cmocka_run_group_tests_name("attributes of memory", tests, setup, teardown);
  return failed + scenario_run_all("kernels and attributes", scenarios, count);
}
