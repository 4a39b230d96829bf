/* Which libomptarget calls, and what its versions pass: launches, and images raw or wrapped. Run as
 * "plugin_caller_abi VERSION LIBOMPTARGET ...", it asks real libraries, all in one process, instead. */
#include "plugin_test.h"

#include "image/embedded.h"
#include "openmp/device_abi.h"
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "caller_abi.h"

#include <string.h>
#include <sys/mman.h>

/* ---- versions ---- */

/* What Debian's libraries began and ceased to export with each version, as nm lists it. */
static const struct {
  int version;
  const char *const added[12], *const removed[2];
} histories[] = {
    {13,
     {"__tgt_register_lib", "__tgt_target_mapper", "llvm_omp_target_alloc_device", "omp_target_alloc"},
     {0}},
    {14,
     {"__tgt_interop_destroy", "__tgt_interop_init", "__tgt_interop_use", "llvm_omp_get_dynamic_shared",
      "omp_get_interop_int", "omp_get_interop_name", "omp_get_interop_ptr", "omp_get_interop_str",
      "omp_get_interop_type_desc"},
     {0}},
    {15,
     {"__tgt_target_kernel", "__tgt_target_kernel_nowait", "llvm_omp_target_dynamic_shared_alloc",
      "omp_get_device_num"},
     {"llvm_omp_get_dynamic_shared"}},
    {16,
     {"__tgt_target_kernel_replay", "__tgt_target_nowait_query", "llvm_omp_target_free_device",
      "llvm_omp_target_free_host", "llvm_omp_target_free_shared", "llvm_omp_target_lock_mem",
      "llvm_omp_target_unlock_mem", "omp_get_mapped_ptr"},
     {0}},
    {17, {"omp_target_memcpy_async", "omp_target_memcpy_rect_async", "ompt_libomptarget_connect"}, {0}},
    {18, {"__tgt_activate_record_replay", "omp_target_memset", "omp_target_memset_async"}, {0}},
};
enum { HISTORIES = sizeof histories / sizeof *histories };

static bool is_among(const char *const *names, size_t count, const char *name) {
  for (size_t i = 0; i < count && names[i]; i++)
    if (!strcmp(names[i], name))
      return true;
  return false;
}

static bool exported_in(const void *context, const char *name) {
  int version = *(const int *)context;
  bool exported = false;
  for (size_t i = 0; i < HISTORIES && histories[i].version <= version; i++)
    exported =
        (exported || is_among(histories[i].added, 12, name)) && !is_among(histories[i].removed, 2, name);
  return exported;
}

/* A fork that took one function over from later versions. */
static bool exported_by_a_fork(const void *context, const char *name) {
  (void)context;
  static const int fifteen = 15;
  return exported_in(&fifteen, name) || !strcmp(name, "omp_target_memcpy_rect_async");
}

static void knows_versions_by_exports(void **state) {
  (void)state;
  for (int version = 10; version <= 18; version++)
    assert_int_equal(caller_abi_version_from_exports(exported_in, &version),
                     version < CALLER_ABI_OLDEST ? CALLER_ABI_UNKNOWN : version);
  assert_int_equal(caller_abi_version_from_exports(exported_by_a_fork, NULL), 15);
}

static void does_not_take_others_for_libomptarget(void **state) {
  (void)state;
  static int variable;
  const char *name;
  caller_abi_library_t caller = caller_abi_find_caller(&variable, &name);
  assert_int_equal(caller.version, CALLER_ABI_UNKNOWN);
  assert_string_equal(name, "the program itself");
  assert_true(caller.begin <= (uintptr_t)&variable && (uintptr_t)&variable < caller.end);
  caller = caller_abi_find_caller(dlsym(RTLD_DEFAULT, "getpid"), &name); /* no sanitizer has its own */
  assert_int_equal(caller.version, CALLER_ABI_UNKNOWN);
  assert_non_null(strstr(name, "libc.so"));
  char *heap = malloc(1);
  caller = caller_abi_find_caller(heap, &name);
  free(heap);
  assert_true(caller.version == CALLER_ABI_UNKNOWN && !caller.end);
}

/* What each version expects of load_binary. */
static void answers_load_binary(void **state) {
  (void)state;
  static __tgt_target_table table;
  int loaded;
  for (int version = CALLER_ABI_OLDEST; version <= CALLER_ABI_NEWEST; version++) {
    __tgt_device_binary binary = {0}, *out = version < 18 ? (__tgt_device_binary *)&loaded + 1000 : &binary;
    uintptr_t good = caller_abi_answer_load(version, &table, &loaded, out);
    uintptr_t bad = caller_abi_answer_load(version, NULL, NULL, out);
    assert_int_equal(good, version < 18 ? (uintptr_t)&table : 0);
    assert_int_equal(version < 18 ? (int64_t)bad : (int32_t)bad, version < 18 ? 0 : OFFLOAD_FAIL);
    assert_int_equal(binary.handle, version < 18 ? 0 : (uintptr_t)&loaded);
  }
}

static int real_count;
static char **real_arguments;

/* From 16 on libomptarget asks libomp for its policy as soon as it is loaded, and dies if there is none. */
static void open_libomp(const char *libomptarget) {
  const char *slash = strrchr(libomptarget, '/');
  assert_non_null(slash);
  char path[4096];
  snprintf(path, sizeof path, "%.*s/libomp.so", (int)(slash - libomptarget), libomptarget);
  if (!dlopen(path, RTLD_NOW | RTLD_GLOBAL))
    fail_msg("%s", dlerror());
}

/* All at once: each is known by its own code's address, and what is no libomptarget counts as a helper of the
 * first one. */
static void knows_real_libraries(void **state) {
  (void)state;
  const char *name;
  open_libomp(real_arguments[1]);
  for (int i = 0; i + 1 < real_count; i += 2) {
    void *handle = dlopen(real_arguments[i + 1], RTLD_NOW | RTLD_LOCAL);
    if (!handle)
      fail_msg("%s", dlerror());
    caller_abi_library_t caller = caller_abi_find_caller(dlsym(handle, "__tgt_register_lib"), &name);
    assert_int_equal(caller.version, strtol(real_arguments[i], NULL, 10));
    assert_non_null(strstr(name, "libomptarget.so"));
    caller = caller_abi_find_caller(dlsym(RTLD_DEFAULT, "getpid"), &name); /* no sanitizer has its own */
    assert_int_equal(caller.version, strtol(real_arguments[0], NULL, 10));
  }
}

/* ---- what is passed ---- */

/* Layouts that libomptarget's compiled code relies on, from its headers, on LP64. */
static void has_the_layouts_of_libomptarget(void **state) {
  (void)state;
  assert_int_equal(sizeof(__tgt_offload_entry), 32);
  assert_int_equal(offsetof(__tgt_offload_entry, flags), 24);
  assert_int_equal(sizeof(__tgt_device_image), 32);
  assert_int_equal(sizeof(__tgt_target_table), 16);
  assert_int_equal(sizeof(__tgt_bin_desc), 32);
  assert_int_equal(sizeof(__tgt_image_info), 8);
  assert_int_equal(sizeof(__tgt_device_info), 16);
  assert_int_equal(sizeof(__tgt_device_binary), 8);
  assert_int_equal(sizeof(__tgt_async_info), 8);
  assert_int_equal(sizeof(KernelArgsTy), 104);
  assert_int_equal(offsetof(KernelArgsTy, Tripcount), 56);
  assert_int_equal(offsetof(KernelArgsTy, Flags), 64);
  assert_int_equal(offsetof(KernelArgsTy, NumTeams), 72);
  assert_int_equal(offsetof(KernelArgsTy, ThreadLimit), 84);
  assert_int_equal(offsetof(KernelArgsTy, DynCGroupMem), 96);
}

static void translates_launches(void **state) {
  (void)state;
  void *arguments[2] = {NULL, NULL};
  ptrdiff_t offsets[2] = {0, 0};
  const KernelArgsTy args = {.Version = 2,
                             .NumArgs = 2,
                             .Tripcount = UINT64_C(1) << 40,
                             .NumTeams = {7, 8, 9},
                             .ThreadLimit = {UINT32_MAX, 0, 0},
                             .DynCGroupMem = 512};
  atmi_omp_request_t launch = caller_abi_launch_from_kernel_args(arguments, offsets, &args);
  assert_ptr_equal(launch.arguments, arguments);
  assert_ptr_equal(launch.offsets, offsets);
  assert_int_equal(launch.shape.argument_count, 2);
  assert_int_equal(launch.shape.num_teams, 7);
  assert_int_equal(launch.shape.thread_limit, -1);
  assert_int_equal(launch.shape.tripcount, UINT64_C(1) << 40);
  assert_true(launch.shape.more_teams[0] == 8 && launch.shape.more_teams[1] == 9);
  assert_true(launch.shape.more_threads[0] <= 1 && launch.shape.more_threads[1] <= 1);
  assert_int_equal(launch.shape.dynamic_lds_bytes, 512);
  launch = caller_abi_launch_from_team_region(arguments, offsets, 2, 3, 4, 5);
  assert_true(launch.shape.argument_count == 2 && launch.shape.num_teams == 3 &&
              launch.shape.thread_limit == 4);
  assert_true(launch.shape.tripcount == 5 && launch.shape.dynamic_lds_bytes == 0);
  assert_true(launch.shape.more_teams[0] <= 1 && launch.shape.more_threads[1] <= 1);
  /* Clauses of -1 and 0 are different words, though they mean the same; the words are those of the shape. */
  atmi_omp_words_t words = caller_abi_words_from_team_region(2, 3, 4, 5);
  assert_memory_equal(&words, &launch.shape, sizeof words);
  launch = caller_abi_launch_from_kernel_args(arguments, offsets, &args);
  words = caller_abi_words_from_kernel_args(&args);
  assert_memory_equal(&words, &launch.shape, sizeof words);
}

/* An offload binary as clang 15 and 16 write it: header, entry, one pair of strings, an image of 16 bytes. */
enum { WRAPPED = 32 + 40 + 16 + 16 + 16 };

static void put(unsigned char *bytes, size_t at, size_t width, uint64_t value) {
  for (size_t i = 0; i < width; i++)
    bytes[at + i] = (unsigned char)(value >> 8 * i);
}

static void make_wrapped(unsigned char bytes[WRAPPED]) {
  memset(bytes, 0, WRAPPED);
  memcpy(bytes, "\x10\xff\x10\xad", 4);
  put(bytes, 4, 4, 1);
  put(bytes, 8, 8, WRAPPED);
  put(bytes, 16, 8, 32);
  put(bytes, 24, 8, 40);
  put(bytes, 32, 2, 1);
  put(bytes, 34, 2, 1);
  put(bytes, 40, 8, 72); /* strings */
  put(bytes, 48, 8, 1);
  put(bytes, 56, 8, 104); /* image */
  put(bytes, 64, 8, 16);
  put(bytes, 72, 8, 88);
  put(bytes, 80, 8, 93);
  memcpy(bytes + 88, "arch\0gfx90a", 12);
  memcpy(bytes + 104, "the image itself", 16);
}

static void unwraps_offload_binaries(void **state) {
  (void)state;
  unsigned char bytes[WRAPPED];
  const void *elf;
  size_t elf_bytes;
  const char *arch;
  make_wrapped(bytes);
  assert_true(atmi_embedded_unwrap(bytes, WRAPPED, &elf, &elf_bytes, &arch));
  assert_ptr_equal(elf, bytes + 104);
  assert_int_equal(elf_bytes, 16);
  assert_string_equal(arch, "gfx90a");
  /* Cut anywhere, the image is not inside any more. */
  for (size_t length = 0; length < WRAPPED; length++)
    assert_false(atmi_embedded_unwrap(bytes, length, &elf, &elf_bytes, &arch));
}

static void count_sibling(const void *elf, size_t bytes, void *context) {
  assert_non_null(elf);
  assert_true(bytes > 0);
  ++*(int *)context;
}

/* All images of a library, wherever they lie in its mapping; nobody else's. */
static void finds_the_images_next_to_one(void **state) {
  (void)state;
  size_t bytes = 1 << 20;
  int count = 0;
  unsigned char *library = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_ptr_not_equal(library, MAP_FAILED);
  /* Guards, lest the kernel merges it with a neighbour. */
  assert_int_equal(mprotect(library, 4096, PROT_NONE) | mprotect(library + bytes - 4096, 4096, PROT_NONE), 0);
  assert_null(atmi_embedded_find_beside(library + 5000, count_sibling, &count));
  make_wrapped(library + 4096);
  make_wrapped(library + 70000);
  make_wrapped(library + 300008);
  assert_ptr_equal(atmi_embedded_find_beside(library + 70100, count_sibling, &count), library + 4096);
  assert_int_equal(count, 3);
  assert_null(atmi_embedded_find_beside(library, count_sibling, &count)); /* not readable */
  assert_null(atmi_embedded_find_beside(NULL, count_sibling, &count));
  assert_int_equal(count, 3);
  munmap(library, bytes);
  assert_true(caller_abi_registers_libraries(17) && !caller_abi_registers_libraries(18));
}

static void refuses_what_contradicts_itself(void **state) {
  (void)state;
  static const struct {
    size_t at;
    uint64_t value;
  } damages[] = {{16, WRAPPED},    {16, UINT64_MAX}, {56, UINT64_MAX - 8},
                 {64, UINT64_MAX}, {48, UINT64_MAX}, {0, 0}};
  for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
    unsigned char bytes[WRAPPED];
    const void *elf;
    size_t elf_bytes;
    const char *arch;
    make_wrapped(bytes);
    put(bytes, damages[i].at, 8, damages[i].value);
    assert_false(atmi_embedded_unwrap(bytes, WRAPPED, &elf, &elf_bytes, &arch));
  }
  /* Wrong strings cost only the arch. */
  unsigned char bytes[WRAPPED];
  const void *elf;
  size_t elf_bytes;
  const char *arch;
  make_wrapped(bytes);
  put(bytes, 72, 8, UINT64_MAX);
  assert_true(atmi_embedded_unwrap(bytes, WRAPPED, &elf, &elf_bytes, &arch));
  assert_null(arch);
}

static void passes_raw_elf_on(void **state) {
  (void)state;
  static const char elf_image[] = "\x7f"
                                  "ELFxyz";
  const void *elf;
  size_t bytes;
  const char *arch;
  assert_true(atmi_embedded_unwrap(elf_image, sizeof elf_image, &elf, &bytes, &arch));
  assert_ptr_equal(elf, elf_image);
  assert_int_equal(bytes, sizeof elf_image);
  assert_null(arch);
  assert_false(atmi_embedded_unwrap("BC\xc0\xde", 4, &elf, &bytes, &arch)); /* bitcode */
  assert_false(atmi_embedded_unwrap("", 0, &elf, &bytes, &arch));
}

static void numbers_execution_modes_by_compiler(void **state) {
  (void)state;
  static const atmi_device_abi_t old = {.clang13 = true}, new = {.clang13 = false};
  static const struct {
    const atmi_device_abi_t *abi;
    uint8_t byte;
    int mode; /* 0: no compiler writes it */
  } rows[] = {
      {&old, 0, ATMI_MODE_SPMD},
      {&old, 1, ATMI_MODE_GENERIC},
      {&old, 2, ATMI_MODE_GENERIC_SPMD},
      {&old, 3, 0},
      {&new, 0, 0},
      {&new, 1, ATMI_MODE_GENERIC},
      {&new, 2, ATMI_MODE_SPMD},
      {&new, 3, ATMI_MODE_GENERIC_SPMD},
      {&new, 4, 0},
      {&new, 255, 0},
      {&old, 255, 0},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    atmi_mode_t mode = ATMI_MODE_SPMD;
    bool known = atmi_device_abi_mode_from_byte(rows[i].abi, rows[i].byte, &mode);
    assert_int_equal(known, rows[i].mode != 0);
    if (known) {
      assert_int_equal(mode, rows[i].mode);
      assert_int_equal(atmi_device_abi_mode_number(rows[i].abi, mode), rows[i].byte);
    }
  }
}

int main(int count, char **arguments) {
  if (count > 1) {
    real_count = count - 1;
    real_arguments = arguments + 1;
    const struct CMUnitTest real[] = {cmocka_unit_test(knows_real_libraries)};
    return cmocka_run_group_tests(real, NULL, NULL);
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(knows_versions_by_exports),
      cmocka_unit_test(does_not_take_others_for_libomptarget),
      cmocka_unit_test(answers_load_binary),
      cmocka_unit_test(has_the_layouts_of_libomptarget),
      cmocka_unit_test(translates_launches),
      cmocka_unit_test(unwraps_offload_binaries),
      cmocka_unit_test(finds_the_images_next_to_one),
      cmocka_unit_test(refuses_what_contradicts_itself),
      cmocka_unit_test(passes_raw_elf_on),
      cmocka_unit_test(numbers_execution_modes_by_compiler),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
