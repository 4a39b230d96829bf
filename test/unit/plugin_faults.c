/* What the plugin does when a device, a kernel or the machine fails, each case in a process of its own,
 * because a fault costs the device: run as "plugin_faults PLUGIN IMAGE OTHER_IMAGE", as plugin_abi. IMAGE has
 * debug information. */
#include "plugin_driver.h"

#include <hsa/hsa_ext_amd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char said[1 << 14];

#define NO_VARIABLES ((const char *const[]){NULL})
/* ROCr gives each allocation pages of its own, with nothing behind them. */
#define GAPS ((const char *const[]){"HSA_DISABLE_FRAGMENT_ALLOCATOR", "1", NULL})
/* Addresses as gfxsim tells them, and as drivers do. */
#define EXACT ((const char *const[]){"HSA_DISABLE_FRAGMENT_ALLOCATOR", "1", "GFXSIM_STRICT", "poison", NULL})
#define PAGES                                                                                                \
  ((const char *const[]){"HSA_DISABLE_FRAGMENT_ALLOCATOR", "1", "GFXSIM_STRICT", "driver:faults", NULL})

/* `said` is one message of device 0 with all of these, NULL at the end; every line has the prefix. */
static void one_message_says(const char *const *parts) {
  static const char begin[] = "AMDGPU error: device 0 (gfx90a): ", next[] = "AMDGPU error:   ";
  const char *message = strstr(said, begin);
  if (!message)
    fail_msg("no error: %s", said);
  for (const char *line = message; (line = strchr(line, '\n')) && line[1];)
    if (strncmp(++line, next, sizeof next - 1) && strncmp(line, "gfxsim: ", 8))
      fail_msg("not one message: %s", said);
  for (; *parts; parts++)
    if (!strstr(message, *parts))
      fail_msg("\"%s\" does not say \"%s\"", message, *parts);
}

#define SAYS(...) one_message_says((const char *const[]){__VA_ARGS__, NULL})

/* Launches store_kernel on the address and waits; it must fail. What was said is in `said`. */
static void store_fails(uint64_t address) {
  __tgt_async_info queue = {NULL};
  test_capture_begin();
  int32_t launched = launch_store(address, &queue);
  int64_t ended = rtl.synchronize(0, &queue);
  test_capture_end(said, sizeof said);
  assert_int_equal(launched, OFFLOAD_SUCCESS);
  assert_int_equal(ended, OFFLOAD_FAIL);
  assert_null(queue.Queue);
}

/* ---- memory faults ---- */

/* The kernel's place in the source is the line that its name ends with, not that of its first instruction. */
static void a_host_pointer(void **state) {
  (void)state;
  char place[64];
  snprintf(place, sizeof place, "image.c:%s\n", strrchr(given.store_shown, ' ') + 1);
  store_fails((uintptr_t)&array[3]);
  SAYS("memory fault at address 0x", given.store_shown, place,
       "it is an address of the host's memory (variable array)", "map what the pointer points to");
}

static void a_host_pointer_is_told_from_device_memory(void **state) {
  (void)state;
  in_child(a_host_pointer, EXACT);
}

/* Another variable may begin the page. */
static void a_page_of_the_host(void **state) {
  (void)state;
  store_fails((uintptr_t)&array[3]);
  SAYS("000 or behind it in its page: ", "it is an address of the host's memory\n",
       "map what the pointer points to");
}

static void a_host_page_is_told_from_device_memory(void **state) {
  (void)state;
  in_child(a_page_of_the_host, PAGES);
}

static void mangled_names(void **state) {
  (void)state;
  store_fails(0x4000);
  SAYS("kernel:   ", given.store_name);
}

static void kernels_are_called_as_in_the_image_if_asked(void **state) {
  (void)state;
  in_child(mangled_names, (const char *const[]){"LIBOMPTARGET_AMDGPU_MANGLED_NAMES", "1", NULL});
}

static void a_unified_pointer(void **state) {
  (void)state;
  assert_int_equal(rtl.init_requires(OMP_REQ_UNIFIED_SHARED_MEMORY), 0);
  store_fails((uintptr_t)&array[3]);
  SAYS(given.store_shown, "requires unified shared memory", "HSA_XNACK=1");
}

/* Next to a GPU that cannot switch xnack, no GPU can. */
static void a_unified_pointer_in_vain(void **state) {
  (void)state;
  assert_int_equal(rtl.init_requires(OMP_REQ_UNIFIED_SHARED_MEMORY), 0);
  store_fails((uintptr_t)&array[3]);
  SAYS(given.store_shown, "requires unified shared memory", "does not have",
       "use memory of omp_target_alloc");
  assert_null(strstr(said, "HSA_XNACK"));
}

static void unified_shared_memory_gets_advice(void **state) {
  (void)state;
  in_child(a_unified_pointer, NO_VARIABLES);
  in_child(a_unified_pointer_in_vain, (const char *const[]){"GFXSIM_DEVICES", "gfx90a,gfx906", NULL});
}

static void behind_an_allocation(void **state) {
  (void)state;
  char *memory = rtl.data_alloc(0, sizeof array, array, TARGET_ALLOC_DEFAULT);
  assert_non_null(memory);
  store_fails((uintptr_t)memory + 4096);
  SAYS("3296 bytes behind the end of an allocation of 800 bytes", "the copy of the host's variable array");
}

static void the_nearest_allocation_is_named(void **state) {
  (void)state;
  in_child(behind_an_allocation, GAPS);
}

static void behind_a_variable(void **state) {
  (void)state;
  store_fails((uintptr_t)given.table->EntriesBegin[ARRAY].addr + 4096);
  SAYS("3296 bytes behind the end of variable array (800 bytes)");
}

/* The pointer that led astray is an argument of the kernel. */
static void behind_an_argument(void **state) {
  (void)state;
  __tgt_async_info queue = {NULL};
  test_capture_begin();
  int32_t launched = launch_spmd(100, (void *)(uintptr_t)0x7000, 1, &queue);
  int64_t ended = rtl.synchronize(0, &queue);
  test_capture_end(said, sizeof said);
  assert_int_equal(launched, OFFLOAD_SUCCESS);
  assert_int_equal(ended, OFFLOAD_FAIL);
  SAYS(given.spmd_shown, "argument 2 of the kernel ");
}

/* Small numbers are no pointers, whatever is below the address. */
static void behind_a_number(void **state) {
  (void)state;
  store_fails(0x700);
  assert_non_null(strstr(said, "memory fault at address 0x700")); /* and more */
  assert_null(strstr(said, "argument:"));
}

static void the_argument_is_named(void **state) {
  (void)state;
  in_child(behind_an_argument, NO_VARIABLES);
  in_child(behind_a_number, EXACT);
}

static void the_nearest_variable_is_named(void **state) {
  (void)state;
  in_child(behind_a_variable, EXACT);
}

static void the_page_behind_a_variable(void **state) {
  (void)state;
  const uintptr_t begin = (uintptr_t)given.table->EntriesBegin[ARRAY].addr;
  const uintptr_t page = (begin + 4096) & ~(uintptr_t)4095;
  char nearest[64];
  snprintf(nearest, sizeof nearest, "at least %llu bytes behind the end of variable array (800 bytes)",
           (unsigned long long)(page - begin - 800));
  store_fails(begin + 4096);
  SAYS("000 or behind it in its page: ", nearest);
}

static void the_nearest_of_a_page_is_named(void **state) {
  (void)state;
  in_child(the_page_behind_a_variable, PAGES);
}

static void near_nothing(void **state) {
  (void)state;
  store_fails(0x40000);
  SAYS("memory fault at address 0x40000", "the program has no device memory near this address",
       "is everything that the region uses mapped?");
}

static void near_null(void **state) {
  (void)state;
  store_fails(0x4000);
  SAYS("memory fault at address 0x4000", "address:  a null pointer, or near one",
       "is everything that the region uses mapped?");
}

static void an_address_near_nothing_is_called_that(void **state) {
  (void)state;
  in_child(near_nothing, NO_VARIABLES);
  in_child(near_null, NO_VARIABLES);
}

/* Copies that waited for the kernel may begin once it is given up. */
static void frees_behind_a_fault(void **state) {
  (void)state;
  static const int64_t sizes[] = {4096, 1 << 20}; /* for the cache, and not */
  enum { BLOCKS = sizeof sizes / sizeof *sizes };
  void *block[BLOCKS];
  hsa_amd_pointer_info_t info = {.size = sizeof info};
  for (int i = 0; i < BLOCKS; i++)
    assert_non_null(block[i] = rtl.data_alloc(0, sizes[i], NULL, TARGET_ALLOC_DEFAULT));
  store_fails(0x4000);
  for (int i = 0; i < BLOCKS; i++) {
    assert_int_equal(rtl.data_delete(0, block[i], TARGET_ALLOC_DEFAULT), OFFLOAD_SUCCESS);
    assert_int_equal(hsa_amd_pointer_info(block[i], &info, NULL, NULL, NULL), HSA_STATUS_SUCCESS);
    assert_int_equal(info.type, HSA_EXT_POINTER_TYPE_HSA);
    test_capture_begin();
    assert_int_equal(rtl.data_delete(0, block[i], TARGET_ALLOC_DEFAULT), OFFLOAD_FAIL);
    test_capture_end(said, sizeof said);
    SAYS("freed twice?");
  }
}

static void memory_of_a_lost_device_stays(void **state) {
  (void)state;
  in_child(frees_behind_a_fault, GAPS);
}

/* Work goes on in another queue when one kernel faults. */
static void beside_others(void **state) {
  (void)state;
  enum { N = 100, LAUNCHES = 50 };
  __tgt_async_info innocent = {NULL}, guilty = {NULL};
  void *memory = allocate(N * sizeof(double));
  test_capture_begin();
  int32_t first = OFFLOAD_SUCCESS;
  for (int i = 0; i < LAUNCHES; i++)
    first |= launch_spmd(N, memory, 0, &innocent);
  int32_t second = launch_store(0x4000, &guilty);
  int64_t ended = rtl.synchronize(0, &guilty);
  rtl.synchronize(0, &innocent); /* complete or given up */
  test_capture_end(said, sizeof said);
  assert_int_equal(first, OFFLOAD_SUCCESS);
  assert_int_equal(second, OFFLOAD_SUCCESS);
  assert_int_equal(ended, OFFLOAD_FAIL);
  SAYS("memory fault at address 0x4000 or behind it in its page: ", given.store_shown);
}

static void the_faulting_one_of_several_kernels_is_named(void **state) {
  (void)state;
  in_child(beside_others, NO_VARIABLES);
}

/* The first ways of operations know nothing of faults, and a fault sets all signals: what began before it is
 * not taken for complete, and nothing begins behind it. */
static void other_queues(void **state) {
  (void)state;
  enum { N = 100, TEAMS = 1 << 16 }; /* much work, within the image's data */
  int number = 1;
  void *event;
  __tgt_async_info copied = {NULL}, busy = {NULL};
  void *memory = allocate(sizeof number);
  volatile double *values = rtl.data_alloc(0, N * sizeof *values, NULL, TARGET_ALLOC_HOST);
  assert_non_null(values);
  assert_int_equal(rtl.create_event(0, &event), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.data_submit_async(0, memory, &number, sizeof number, &copied), OFFLOAD_SUCCESS);
  assert_int_equal(launch_spmd(N, (void *)(uintptr_t)values, TEAMS, &busy), OFFLOAD_SUCCESS);
  store_fails(0x4000);
  test_capture_begin();
  rtl.record_event(0, event, &busy);
  int64_t ended = rtl.synchronize(0, &busy);
  double last = values[N - 1];
  int32_t submitted = rtl.data_submit_async(0, memory, &number, sizeof number, &copied);
  int32_t retrieved = rtl.data_retrieve_async(0, &number, memory, sizeof number, &copied);
  rtl.synchronize(0, &copied);
  test_capture_end(said, sizeof said);
  if (ended == OFFLOAD_SUCCESS)
    assert_true(last == expected(N - 1, 3));
  assert_int_equal(submitted, OFFLOAD_FAIL);
  assert_int_equal(retrieved, OFFLOAD_FAIL);
  if (!strstr(said, "given up after an earlier fault"))
    fail_msg("%s", said);
}

static void a_fault_ends_what_other_queues_do(void **state) {
  (void)state;
  in_child(other_queues, NO_VARIABLES);
}

/* ---- faults that ROCr does not report ---- */

/* Launches store_kernel on a device that nobody hears from, and waits. */
static void silent_store_fails(int32_t device, __tgt_target_table *table, const char *reason) {
  void *args[] = {(void *)(uintptr_t)0x4000};
  ptrdiff_t offsets[] = {0};
  KernelArgsTy launch = {.Version = 2, .NumArgs = 1, .NumTeams = {1}};
  __tgt_async_info queue = {NULL};
  test_capture_begin();
  int32_t launched =
      rtl.launch_kernel(device, table->EntriesBegin[STORE_KERNEL].addr, args, offsets, &launch, &queue);
  int64_t ended = rtl.synchronize(device, &queue);
  __tgt_async_info later = {NULL};
  bool again =
      !rtl.launch_kernel(device, table->EntriesBegin[STORE_KERNEL].addr, args, offsets, &launch, &later) &&
      !rtl.synchronize(device, &later);
  test_capture_end(said, sizeof said);
  assert_int_equal(launched, OFFLOAD_SUCCESS);
  assert_int_equal(ended, OFFLOAD_FAIL);
  assert_false(again);
  if (!strstr(said, "the device has taken no packet for 1 s") || !strstr(said, reason))
    fail_msg("%s", said);
}

/* The first fault is reported, those of other devices are found out. */
static void both_devices(void **state) {
  (void)state;
  assert_int_equal(rtl.init_device(1), OFFLOAD_SUCCESS);
  __tgt_target_table *other = load_table(1, &given.image);
  assert_non_null(other);
  store_fails(0x4000);
  SAYS("memory fault at address 0x4000", given.store_shown);
  silent_store_fails(1, other, "reports only the first memory fault of a process");
}

static void a_second_device_s_fault_ends_the_wait(void **state) {
  (void)state;
  in_child(both_devices, (const char *const[]){"GFXSIM_DEVICES", "gfx90a,gfx90a",
                                               "LIBOMPTARGET_AMDGPU_FAULT_PATIENCE", "1", NULL});
}

static void no_device(void **state) {
  (void)state;
  silent_store_fails(0, given.table, "HSA_ENABLE_INTERRUPT=0");
}

static void a_fault_without_interrupts_ends_the_wait(void **state) {
  (void)state;
  in_child(no_device, (const char *const[]){"HSA_ENABLE_INTERRUPT", "0", "LIBOMPTARGET_AMDGPU_FAULT_PATIENCE",
                                            "1", NULL});
}

/* A device that is only busy answers. */
static void busy_device(void **state) {
  (void)state;
  enum { N = 100, BUSY_S = 3, LAUNCHES = 200 };
  __tgt_async_info queue = {NULL};
  assert_int_equal(rtl.init_device(1), OFFLOAD_SUCCESS);
  __tgt_target_table *other = load_table(1, &given.image);
  void *memory = rtl.data_alloc(1, N * sizeof(double), NULL, TARGET_ALLOC_DEFAULT);
  assert_true(other && memory);
  store_fails(0x4000);
  void *args[] = {(void *)(uintptr_t)N, memory};
  ptrdiff_t offsets[] = {0, 0};
  KernelArgsTy launch = {.Version = 2, .NumArgs = 2, .Tripcount = N};
  for (time_t end = time(NULL) + BUSY_S; time(NULL) < end;)
    for (int i = 0; i < LAUNCHES; i++)
      assert_int_equal(
          rtl.launch_kernel(1, other->EntriesBegin[SPMD_KERNEL].addr, args, offsets, &launch, &queue),
          OFFLOAD_SUCCESS);
  assert_int_equal(rtl.synchronize(1, &queue), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.data_delete(1, memory, TARGET_ALLOC_DEFAULT), OFFLOAD_SUCCESS);
}

static void a_busy_device_is_left_alone(void **state) {
  (void)state;
  in_child(busy_device, (const char *const[]){"GFXSIM_DEVICES", "gfx90a,gfx90a",
                                              "LIBOMPTARGET_AMDGPU_FAULT_PATIENCE", "1", NULL});
}

/* ---- debug information ---- */

/* The image as it would be without -g: nobody finds the section. */
static void without_lines(void **state) {
  (void)state;
  size_t bytes = (size_t)((char *)given.image.ImageEnd - (char *)given.image.ImageStart);
  static char *copy; /* the plugin looks into it as long as it is loaded */
  copy = malloc(bytes);
  assert_non_null(copy);
  memcpy(copy, given.image.ImageStart, bytes);
  char *name = memmem(copy, bytes, ".debug_info", sizeof ".debug_info");
  assert_non_null(name);
  memcpy(name, ".other", 6);
  __tgt_device_image image = given.image;
  image.ImageStart = copy;
  image.ImageEnd = copy + bytes;
  given.table = load_table(0, &image);
  assert_non_null(given.table);
  store_fails(0x4000);
  SAYS(given.store_shown, "source:   build with -gline-tables-only to see the file\n");
}

static void the_missing_option_is_named(void **state) {
  (void)state;
  in_child(without_lines, NO_VARIABLES);
}

/* ---- bad code ---- */

/* The image with its code overwritten: every word of .text is no instruction. */
static void illegal_instruction(void **state) {
  (void)state;
  size_t bytes = (size_t)((char *)given.image.ImageEnd - (char *)given.image.ImageStart);
  static char *copy; /* the plugin looks into it as long as it is loaded */
  copy = malloc(bytes);
  assert_non_null(copy);
  memcpy(copy, given.image.ImageStart, bytes);
  test_fill_section(copy, bytes, ".text", 0xff);
  __tgt_device_image image = given.image;
  image.ImageStart = copy;
  image.ImageEnd = copy + bytes;
  given.table = load_table(0, &image);
  assert_non_null(given.table);
  store_fails((uintptr_t)allocate(64));
  SAYS("the queue stopped: ", given.store_shown, "HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION",
       "was the program built for this device?");
}

static void an_illegal_instruction_is_said(void **state) {
  (void)state;
  in_child(illegal_instruction, NO_VARIABLES);
}

/* ---- copies ---- */

static void copies_astray(void **state) {
  (void)state;
  static char host[4096];
  void *event;
  assert_int_equal(rtl.create_event(0, &event), OFFLOAD_SUCCESS);
  test_capture_begin();
  int32_t copied = rtl.data_submit(0, (void *)(uintptr_t)0x123456780000, host, sizeof host);
  test_capture_end(said, sizeof said);
  assert_int_equal(copied, OFFLOAD_FAIL);
  SAYS("0x123456780000");
}

static void a_copy_to_nowhere_fails_with_its_address(void **state) {
  (void)state;
  in_child(copies_astray, NO_VARIABLES);
}

/* ---- memory pressure ---- */

static void fills_the_device(void **state) {
  (void)state;
  enum { BLOCKS = 12, BLOCK = 4 << 20, LARGE = 40 << 20 };
  void *blocks[BLOCKS];
  for (int i = 0; i < BLOCKS; i++)
    blocks[i] = allocate(BLOCK);
  for (int i = 0; i < BLOCKS; i++)
    release(blocks[i]); /* kept for reuse: 48 of 64 MB */
  release(allocate(LARGE));
  test_capture_begin();
  void *huge = rtl.data_alloc(0, INT64_C(1) << 32, array, TARGET_ALLOC_DEFAULT);
  test_capture_end(said, sizeof said);
  assert_null(huge);
  SAYS("cannot allocate 4294967296 bytes of device memory", "the device has 6",
       ", of which the program holds 0;", "HSA_STATUS");
  release(allocate(BLOCK)); /* and the device is as good as before */
}

static void memory_pressure_empties_the_cache(void **state) {
  (void)state;
  in_child(fills_the_device,
           (const char *const[]){"GFXSIM_DEVICES", "gfx90a:64M", "LIBOMPTARGET_MEMORY_MANAGER_THRESHOLD",
                                 "0x1000000", NULL});
}

/* ---- mapped memory is pinned on request ---- */

/* Whether HSA knows the memory as pinned: a copy of it then needs no buffer, and a lock takes a reference
 * only. */
static void pins_what_it_can(void **state) {
  (void)state;
  size_t bytes = 8 << 20;
  char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *constants;
  constants = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(memory != MAP_FAILED && constants != MAP_FAILED);
  void *whole, *part;
  assert_int_equal(rtl.data_notify_mapped(0, memory, 4 << 20), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.data_notify_mapped(0, memory + 4096, 4096), OFFLOAD_SUCCESS); /* inside */
  assert_int_equal(rtl.data_notify_mapped(0, memory + (1 << 20), 5 << 20),
                   OFFLOAD_SUCCESS); /* across the end */
  assert_int_equal(rtl.data_notify_mapped(0, memory + (7 << 20), 0), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.data_notify_mapped(0, constants, (int64_t)bytes),
                   OFFLOAD_SUCCESS); /* may not be pinned */
  assert_int_equal(rtl.data_lock(0, memory, 4 << 20, &whole), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.data_unlock(0, memory), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.data_notify_unmapped(0, memory + (1 << 20)), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.data_notify_unmapped(0, memory + (7 << 20)), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.data_notify_unmapped(0, constants), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.data_notify_unmapped(0, memory), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.data_lock(0, memory + 8, 8, &part), OFFLOAD_SUCCESS); /* one mapping is left */
  assert_ptr_equal(part, (char *)whole + 8);
  assert_int_equal(rtl.data_unlock(0, memory + 8), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.data_notify_unmapped(0, memory + 4096), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.data_notify_unmapped(0, memory + 4096),
                   OFFLOAD_SUCCESS); /* nobody said it was mapped */
  test_capture_begin();
  int32_t unlocked = rtl.data_unlock(0, memory);
  test_capture_end(said, sizeof said);
  assert_int_equal(unlocked, OFFLOAD_FAIL); /* all references are gone */
}

static void mapped_memory_is_pinned_if_asked(void **state) {
  (void)state;
  in_child(pins_what_it_can, (const char *const[]){"LIBOMPTARGET_LOCK_MAPPED_HOST_BUFFERS", "on", NULL});
}

static void insists_on_pinning(void **state) {
  (void)state;
  static char memory[64];
  assert_int_equal(rtl.data_notify_mapped(0, memory + 16, 32), OFFLOAD_SUCCESS);
  test_capture_begin();
  int32_t mapped = rtl.data_notify_mapped(0, memory, 32);
  test_capture_end(said, sizeof said);
  assert_int_equal(mapped, OFFLOAD_FAIL);
  assert_non_null(strstr(said, "cannot lock 32 bytes"));
  assert_int_equal(rtl.data_notify_unmapped(0, memory + 16), OFFLOAD_SUCCESS);
}

static void pinning_can_be_mandatory(void **state) {
  (void)state;
  in_child(insists_on_pinning,
           (const char *const[]){"LIBOMPTARGET_LOCK_MAPPED_HOST_BUFFERS", "mandatory", NULL});
}

static void leaves_memory_alone(void **state) {
  (void)state;
  static char memory[64];
  assert_int_equal(rtl.data_notify_mapped(0, memory, 64), OFFLOAD_SUCCESS);
  test_capture_begin();
  int32_t unlocked = rtl.data_unlock(0, memory);
  test_capture_end(said, sizeof said);
  assert_int_equal(unlocked, OFFLOAD_FAIL);
  assert_int_equal(rtl.data_notify_unmapped(0, memory), OFFLOAD_SUCCESS);
}

static void mapped_memory_is_left_alone_by_default(void **state) {
  (void)state;
  in_child(leaves_memory_alone, NO_VARIABLES);
}

/* ---- the end ---- */

static void *launch_for_ever(void *unused) {
  (void)unused;
  static double data[2000];
  for (;;) {
    __tgt_async_info queue = {NULL};
    void *memory = rtl.data_alloc(0, sizeof data, NULL, TARGET_ALLOC_DEFAULT);
    if (!memory || rtl.data_submit_async(0, memory, data, sizeof data, &queue) ||
        launch_spmd(100, memory, 0, &queue) ||
        rtl.data_retrieve_async(0, data, memory, sizeof data, &queue) || rtl.synchronize(0, &queue) ||
        rtl.data_delete(0, memory, TARGET_ALLOC_DEFAULT))
      return NULL; /* the plugin has stopped */
  }
}

/* Neither waits for anything nor frees anything. */
static int middle_launches;
static void ends_in_the_middle(void **state) {
  (void)state;
  enum { THREADS = 3 };
  pthread_t threads[THREADS];
  __tgt_async_info queue = {NULL};
  void *memory = allocate(1 << 20);
  for (int i = 0; i < THREADS; i++) {
    assert_int_equal(pthread_create(&threads[i], NULL, launch_for_ever, NULL), 0);
    assert_int_equal(pthread_detach(threads[i]), 0);
  }
  nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
  for (int i = 0; i < middle_launches; i++)
    assert_int_equal(launch_spmd(100, memory, 0, &queue), OFFLOAD_SUCCESS);
  may_leak = true;
  exit(0);
}

static void a_program_may_end_in_the_middle_of_work(void **state) {
  (void)state;
  for (int i = 0; i < 6; i++) {
    middle_launches = i % 2 * 20; /* work of this thread, or of the others only */
    in_child(ends_in_the_middle, NO_VARIABLES);
  }
}

/* ---- forks ---- */

static void forks(void **state) {
  (void)state;
  void *memory = allocate(64);
  pid_t child = fork();
  assert_true(child >= 0);
  if (!child) {
    test_capture_begin();
    void *none = rtl.data_alloc(0, 64, NULL, TARGET_ALLOC_DEFAULT);
    test_capture_end(said, sizeof said);
    may_leak = true;
    exit(none || !strstr(said, "cannot allocate memory: this process was forked")); /* with all destructors */
  }
  int ended;
  assert_int_equal(waitpid(child, &ended, 0), child);
  assert_int_equal(ended, 0);
  __tgt_async_info queue = {NULL};
  assert_int_equal(launch_spmd(1, memory, 0, &queue), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.synchronize(0, &queue), OFFLOAD_SUCCESS);
  release(memory);
}

static void a_forked_child_has_no_device_and_its_parent_keeps_it(void **state) {
  (void)state;
  in_child(forks, NO_VARIABLES);
}

int main(int count, char **arguments) {
  if (!take_arguments(count, arguments))
    return 2;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_host_pointer_is_told_from_device_memory),
      cmocka_unit_test(unified_shared_memory_gets_advice),
      cmocka_unit_test(the_nearest_allocation_is_named),
      cmocka_unit_test(the_argument_is_named),
      cmocka_unit_test(the_nearest_variable_is_named),
      cmocka_unit_test(a_host_page_is_told_from_device_memory),
      cmocka_unit_test(the_nearest_of_a_page_is_named),
      cmocka_unit_test(an_address_near_nothing_is_called_that),
      cmocka_unit_test(memory_of_a_lost_device_stays),
      cmocka_unit_test(the_faulting_one_of_several_kernels_is_named),
      cmocka_unit_test(a_fault_ends_what_other_queues_do),
      cmocka_unit_test(kernels_are_called_as_in_the_image_if_asked),
      cmocka_unit_test(the_missing_option_is_named),
      cmocka_unit_test(a_second_device_s_fault_ends_the_wait),
      cmocka_unit_test(a_fault_without_interrupts_ends_the_wait),
      cmocka_unit_test(a_busy_device_is_left_alone),
      cmocka_unit_test(an_illegal_instruction_is_said),
      cmocka_unit_test(a_copy_to_nowhere_fails_with_its_address),
      cmocka_unit_test(memory_pressure_empties_the_cache),
      cmocka_unit_test(mapped_memory_is_pinned_if_asked),
      cmocka_unit_test(pinning_can_be_mandatory),
      cmocka_unit_test(mapped_memory_is_left_alone_by_default),
      cmocka_unit_test(a_program_may_end_in_the_middle_of_work),
      cmocka_unit_test(a_forked_child_has_no_device_and_its_parent_keeps_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
