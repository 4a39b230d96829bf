/* Drives the plugin as libomptarget 18 does, with an image like clang 18's. Run as "plugin_abi18 PLUGIN
 * IMAGE WAVE", with the lanes of the image's waves; the machine needs a device: a real one, or gfxsim through
 * LD_LIBRARY_PATH. Not here: what is the same in other versions (plugin_abi). */
#include "plugin_test.h"

#include "omptarget_amdgpu_plugin.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
  const char *path, *image_path;
  uint32_t wave; /* lanes */
  void *file;
  __tgt_device_image image;
  __tgt_device_binary binary;
} given;

/* What libomptarget 18 looks up of what is called here. */
#define ENTRY_POINTS(X)                                                                                      \
  X(init_plugin)                                                                                             \
  X(number_of_devices)                                                                                       \
  X(is_valid_binary)                                                                                         \
  X(set_device_offset)                                                                                       \
  X(init_device_info)                                                                                        \
  X(init_async_info)                                                                                         \
  X(init_requires)                                                                                           \
  X(init_device)                                                                                             \
  X(use_auto_zero_copy)                                                                                      \
  X(load_binary)                                                                                             \
  X(get_function)                                                                                            \
  X(get_global)                                                                                              \
  X(launch_kernel)                                                                                           \
  X(data_alloc)                                                                                              \
  X(data_delete)                                                                                             \
  X(data_retrieve)                                                                                           \
  X(data_submit)                                                                                             \
  X(unregister_lib)                                                                                          \
  X(initialize_record_replay)

static struct {
#define DECLARE(name) __typeof__(__tgt_rtl_##name) *name;
  ENTRY_POINTS(DECLARE)
#undef DECLARE
} rtl;

static void open_plugin(void) {
  void *library = dlopen(given.path, RTLD_NOW);
  if (!library)
    fail_msg("%s", dlerror());
#define RESOLVE(name)                                                                                        \
  *(void **)&rtl.name = dlsym(library, "__tgt_rtl_" #name);                                                  \
  assert_non_null(*(void **)&rtl.name);
  ENTRY_POINTS(RESOLVE)
#undef RESOLVE
}

enum { OFFSET = 3 };
static int first_host, second_host;
static uint64_t table_host[3];
static uint64_t constructed, destroyed_at;
/* In the order of an entry table, which is not that of addresses. */
static __tgt_offload_entry entries[] = {
    {.addr = &entries, .name = "reduces"},
    {.addr = &given, .name = "plain"},
    {.addr = &given.binary, .name = "with_workers"},
    {.addr = &given.image_path, .name = "alike"},
    {.addr = &constructed, .name = "constructed", .size = 8},
    {.addr = &destroyed_at, .name = "destroyed_at", .size = 8},
    {.addr = &second_host, .name = "indirect_second", .size = 8, .flags = OMP_DECLARE_TARGET_INDIRECT},
    {.addr = &first_host, .name = "indirect_first", .size = 8, .flags = OMP_DECLARE_TARGET_INDIRECT},
    {.addr = &given.path, .name = "bare"},
    {.addr = &given.file, .name = "reduces_23"},
    {.addr = &given.image, .name = "plain_23"},
    {.addr = table_host,
     .name = "table_pointer",
     .size = sizeof table_host,
     .flags = OMP_DECLARE_TARGET_VTABLE},
};
enum { ENTRIES = sizeof entries / sizeof *entries };

static int set_up(void **state) {
  (void)state;
  open_plugin();
  size_t bytes, image_bytes;
  given.file = test_read_file(given.image_path, &bytes);
  char *begin = (char *)(uintptr_t)test_find_image(given.file, bytes, &image_bytes);
  given.image = (__tgt_device_image){begin, begin + image_bytes, entries, entries + ENTRIES};
  assert_int_equal(rtl.init_plugin(), OFFLOAD_SUCCESS);
  assert_true(rtl.number_of_devices() >= 1);
  assert_true(rtl.is_valid_binary(&given.image));
  assert_int_equal(rtl.set_device_offset(OFFSET), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.init_requires(OMP_REQ_NONE), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.init_device(0), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.use_auto_zero_copy(0), 0);
  assert_int_equal((int32_t)rtl.load_binary(0, &given.image, &given.binary), OFFLOAD_SUCCESS);
  assert_true(given.binary.handle);
  return 0;
}

/* The destructors count in host memory that the test gives them; they run when the image is unloaded. */
static int tear_down(void **state) {
  (void)state;
  void *variable;
  uint32_t *count = rtl.data_alloc(0, sizeof *count, NULL, TARGET_ALLOC_HOST);
  assert_non_null(count);
  *count = 0;
  assert_int_equal(rtl.get_global(given.binary, 8, "destroyed_at", &variable), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.data_submit(0, variable, &count, sizeof count), OFFLOAD_SUCCESS);
  __tgt_bin_desc library = {1, &given.image, entries, entries + ENTRIES};
  assert_int_equal(rtl.unregister_lib(&library), OFFLOAD_SUCCESS);
  assert_int_equal(*count, 1);
  free(given.file);
  return 0;
}

static void *kernel(const char *name) {
  void *handle = NULL;
  assert_int_equal(rtl.get_function(given.binary, name, &handle), OFFLOAD_SUCCESS);
  assert_non_null(handle);
  return handle;
}

static int32_t launch(const char *name, void **args, uint32_t count, KernelArgsTy launch_args) {
  ptrdiff_t offsets[4] = {0};
  launch_args.Version = 2;
  launch_args.NumArgs = count;
  return rtl.launch_kernel(0, kernel(name), args, offsets, &launch_args, NULL);
}

static void *allocate(int64_t bytes) {
  void *memory = rtl.data_alloc(0, bytes, NULL, TARGET_ALLOC_DEVICE_NON_BLOCKING);
  assert_non_null(memory);
  return memory;
}

/* Lets so many teams add up their numbers from 1 on. The sum, and what the kernel was told of dynamic LDS. */
static void reduce(const char *name, void *memory, uint32_t teams, uint32_t lds, uint64_t told[2]) {
  uint64_t n = teams;
  void *args[] = {memory, (void *)(uintptr_t)n};
  told[0] = told[1] = 0;
  assert_int_equal(rtl.data_submit(0, memory, told, 16), OFFLOAD_SUCCESS);
  assert_int_equal(launch(name, args, 2, (KernelArgsTy){.NumTeams = {teams}, .DynCGroupMem = lds}),
                   OFFLOAD_SUCCESS);
  assert_int_equal(rtl.data_retrieve(0, told, memory, 16), OFFLOAD_SUCCESS);
  assert_int_equal(told[0], n * (n + 1) / 2);
}

/* Also more than once and with more teams, on whatever memory the plugin keeps for it. */
static void kernels_reduce_over_teams(void **state) {
  (void)state;
  static const uint32_t teams[] = {1, 7, 1000, 1024, 5};
  void *memory = allocate(16);
  uint64_t told[2];
  for (size_t i = 0; i < sizeof teams / sizeof *teams; i++)
    reduce("reduces", memory, teams[i], 0, told);
  /* Without clauses: no more teams than the kernel was compiled for. */
  uint64_t sum = 0;
  void *args[] = {memory, (void *)5};
  assert_int_equal(launch("reduces", args, 2, (KernelArgsTy){.Tripcount = 1000000}), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.data_retrieve(0, &sum, memory, sizeof sum), OFFLOAD_SUCCESS);
  assert_int_equal(sum, 15);
  assert_int_equal(rtl.data_delete(0, memory, TARGET_ALLOC_DEVICE_NON_BLOCKING), OFFLOAD_SUCCESS);
}

/* Their environment comes last, is as long as there are teams, and says how much dynamic LDS there is: each
 * time anew, also between launches that have none. */
static void kernels_of_23_take_their_environment_last(void **state) {
  (void)state;
  static const struct {
    uint32_t teams, lds;
  } rows[] = {{3, 0}, {3, 0}, {2000, 0}, {4, 64}, {4, 64}, {4, 128}, {4, 0}, {3000, 256}, {5, 64}, {3, 0}};
  void *memory = allocate(16);
  uint64_t told[2];
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    reduce("reduces_23", memory, rows[i].teams, rows[i].lds, told);
    assert_int_equal(told[1], rows[i].lds);
    reduce("reduces", memory, 6, 0, told);
    void *args[] = {memory, (void *)77};
    assert_int_equal(
        launch("plain_23", args, 2, (KernelArgsTy){.NumTeams = {1}, .DynCGroupMem = rows[i].lds}),
        OFFLOAD_SUCCESS);
    assert_int_equal(rtl.data_retrieve(0, told, memory, sizeof told), OFFLOAD_SUCCESS);
    assert_true(rows[i].lds ? told[1] == rows[i].lds : told[0] == UINT64_MAX);
  }
  assert_int_equal(rtl.data_delete(0, memory, TARGET_ALLOC_DEVICE_NON_BLOCKING), OFFLOAD_SUCCESS);
}

typedef struct call {
  uint64_t host, device;
} call_t;

static int compare_calls(const void *left, const void *right) {
  const call_t *a = left, *b = right;
  return (a->host > b->host) - (a->host < b->host);
}

/* Functions, and each word of a table of them. */
static void check_calls(const uint64_t *told) {
  call_t want[] = {{(uintptr_t)&first_host, 111},
                   {(uintptr_t)&second_host, 222},
                   {(uintptr_t)&table_host[0], 5000},
                   {(uintptr_t)&table_host[1], 5008},
                   {(uintptr_t)&table_host[2], 5016}};
  qsort(want, sizeof want / sizeof *want, sizeof *want, compare_calls);
  assert_memory_equal(told, want, sizeof want);
}

static void the_runtime_is_told_about_its_device(void **state) {
  (void)state;
  uint64_t out[20] = {0};
  void *memory = allocate(sizeof out);
  void *args[] = {memory};
  assert_int_equal(launch("plain", args, 1, (KernelArgsTy){.NumTeams = {1}}), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.data_retrieve(0, out, memory, sizeof out), OFFLOAD_SUCCESS);
  assert_true(out[0] == UINT64_MAX); /* it reduces nothing */
  assert_int_equal(out[1], rtl.number_of_devices());
  assert_int_equal(out[2], OFFSET);
  assert_int_not_equal(out[5], 0);
  assert_int_equal(out[4], 5);
  assert_true(out[6]);
  assert_int_equal(out[7], 1 << 20);
  assert_int_equal(out[8], UINT32_MAX);
  assert_int_equal(out[9], 42); /* the constructors ran once */
  check_calls(&out[10]);
}

static void launches_have_three_dimensions(void **state) {
  (void)state;
  enum { WIDTH = 64 * 3, HEIGHT = 2 * 4, DEPTH = 2 * 5 };
  static uint32_t out[DEPTH][HEIGHT][WIDTH];
  void *memory = allocate(sizeof out);
  void *args[] = {memory};
  const KernelArgsTy dimensions = {.NumTeams = {3, 4, 5}, .ThreadLimit = {64, 2, 2}};
  assert_int_equal(launch("bare", args, 1, dimensions), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.data_retrieve(0, out, memory, sizeof out), OFFLOAD_SUCCESS);
  for (uint32_t z = 0; z < DEPTH; z++)
    for (uint32_t y = 0; y < HEIGHT; y++)
      for (uint32_t x = 0; x < WIDTH; x++)
        assert_int_equal(out[z][y][x], x + 1000 * y + 100000 * z);
  char text[512];
  test_capture_begin();
  int32_t result = launch("bare", args, 1, (KernelArgsTy){.NumTeams = {1, 1, 1}, .ThreadLimit = {64, 8, 4}});
  test_capture_end(text, sizeof text);
  assert_int_equal(result, OFFLOAD_FAIL);
  assert_non_null(strstr(text, "teams of 64 x 8 x 4 threads are asked for"));
}

/* By the width of the kernel's waves, which need not be what the device has by default. */
static void teams_are_made_of_the_kernel_s_waves(void **state) {
  (void)state;
  static const struct {
    const char *name;
    KernelArgsTy asked;
    uint32_t threads, waves; /* in a team */
  } rows[] = {
      {"with_workers", {.NumTeams = {1}, .ThreadLimit = {64}}, 64, 1}, /* the main thread's wave */
      {"with_workers", {.NumTeams = {1}, .ThreadLimit = {1}}, 1, 1},
      {"alike", {.Tripcount = 20}, 0, 1}, /* few iterations: no less than a wave */
      {"alike", {.NumTeams = {1}, .ThreadLimit = {96}}, 96, 0},
  };
  uint64_t out[3];
  void *memory = allocate(sizeof out);
  void *args[] = {memory};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    assert_int_equal(launch(rows[i].name, args, 1, rows[i].asked), OFFLOAD_SUCCESS);
    assert_int_equal(rtl.data_retrieve(0, out, memory, sizeof out), OFFLOAD_SUCCESS);
    assert_int_equal(out[1], given.wave);
    assert_int_equal(out[0], rows[i].threads + rows[i].waves * out[1]);
    assert_int_equal(out[2], out[0] < out[1] ? out[0] : out[1]);
  }
  assert_int_equal(rtl.data_delete(0, memory, TARGET_ALLOC_DEVICE_NON_BLOCKING), OFFLOAD_SUCCESS);
}

static void look_ups_find_what_is_there(void **state) {
  (void)state;
  void *address = NULL;
  uint64_t value = 0;
  char text[1024];
  assert_int_equal(rtl.get_global(given.binary, 8, "constructed", &address), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.data_retrieve(0, &value, address, sizeof value), OFFLOAD_SUCCESS);
  assert_int_equal(value, 42);
  test_capture_begin();
  int32_t results[] = {rtl.get_global(given.binary, 4, "constructed", &address),
                       rtl.get_global(given.binary, 8, "plain", &address),
                       rtl.get_function(given.binary, "constructed", &address),
                       rtl.get_function(given.binary, "no_such_kernel", &address),
                       (int32_t)rtl.load_binary(0, &given.image, NULL),
                       rtl.get_global(given.binary, 8, "constructed", NULL),
                       rtl.get_function(given.binary, "no_such_kernel", NULL)};
  test_capture_end(text, sizeof text);
  for (size_t i = 0; i < sizeof results / sizeof *results; i++)
    assert_int_equal(results[i], OFFLOAD_FAIL);
  assert_non_null(strstr(text, "cannot load a device image: the program passes no address for the result"));
  assert_non_null(strstr(text, "cannot find a variable: the program passes no address for the result"));
  assert_non_null(strstr(text, "cannot find a kernel: the program passes no address for the result"));
  assert_non_null(strstr(text, "variable constructed of 4 bytes: the one in the device image has 8"));
  assert_non_null(strstr(text, "cannot find kernel no_such_kernel"));
}

/* Interop counts devices as OpenMP does. */
static void interop_takes_openmp_s_number(void **state) {
  (void)state;
  const char *error;
  char text[512];
  __tgt_device_info first = {NULL, NULL}, second = {NULL, NULL};
  __tgt_async_info *queue = NULL;
  assert_int_equal(rtl.init_device_info(OFFSET, &first, &error), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.init_async_info(OFFSET, &queue), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.init_device_info(OFFSET + 1, &second, &error), OFFLOAD_SUCCESS);
  assert_ptr_not_equal(first.Device, second.Device);
  test_capture_begin();
  int64_t before = rtl.init_device_info(OFFSET - 1, &second, &error);
  int64_t after = rtl.init_async_info(OFFSET + 2, &queue);
  test_capture_end(text, sizeof text);
  assert_int_equal((int32_t)before, OFFLOAD_FAIL);
  assert_int_equal((int32_t)after, OFFLOAD_FAIL);
}

static void recording_is_refused(void **state) {
  (void)state;
  uint64_t offset = 0;
  char text[512];
  test_capture_begin();
  int32_t result = rtl.initialize_record_replay(0, 1 << 30, NULL, true, false, &offset);
  test_capture_end(text, sizeof text);
  assert_int_equal(result, OFFLOAD_FAIL);
  assert_non_null(strstr(text, "cannot record kernels"));
}

static void a_bad_image_fails_to_load(void **state) {
  (void)state;
  static __tgt_offload_entry wrong[] = {{.addr = &given, .name = "no_such_kernel"}};
  size_t bytes, image_bytes;
  void *file = test_read_file(given.image_path, &bytes);
  char *begin = (char *)(uintptr_t)test_find_image(file, bytes, &image_bytes), text[512];
  __tgt_device_image image = {begin, begin + image_bytes, wrong, wrong + 1};
  __tgt_device_binary binary = {7};
  test_capture_begin();
  int32_t result = (int32_t)rtl.load_binary(0, &image, &binary);
  test_capture_end(text, sizeof text);
  assert_int_equal(result, OFFLOAD_FAIL);
  assert_int_equal(binary.handle, 7);
  assert_non_null(strstr(text, "no kernel no_such_kernel"));
  free(file);
}

int main(int count, char **arguments) {
  if (count != 4) {
    fprintf(stderr, "usage: %s PLUGIN IMAGE WAVE\n", arguments[0]);
    return 2;
  }
  setenv("LIBOMPTARGET_AMDGPU_HOST_ABI", "18", 1);
  setenv("LIBOMPTARGET_HEAP_SIZE", "1048576", 1);
  given.path = arguments[1];
  given.image_path = arguments[2];
  given.wave = (uint32_t)strtoul(arguments[3], NULL, 10);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(kernels_reduce_over_teams),
      cmocka_unit_test(kernels_of_23_take_their_environment_last),
      cmocka_unit_test(the_runtime_is_told_about_its_device),
      cmocka_unit_test(launches_have_three_dimensions),
      cmocka_unit_test(teams_are_made_of_the_kernel_s_waves),
      cmocka_unit_test(look_ups_find_what_is_there),
      cmocka_unit_test(interop_takes_openmp_s_number),
      cmocka_unit_test(recording_is_refused),
      cmocka_unit_test(a_bad_image_fails_to_load),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
