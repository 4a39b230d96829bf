/* What versions of libomptarget pass: launches, and images raw or wrapped. */
#include "plugin_test.h"

#include "device_abi.h"
#include "host_abi.h"

#include <string.h>

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
  host_abi_launch_t launch = host_abi_launch_from_kernel_args(arguments, offsets, &args);
  assert_ptr_equal(launch.arguments, arguments);
  assert_ptr_equal(launch.offsets, offsets);
  assert_int_equal(launch.argument_count, 2);
  assert_int_equal(launch.num_teams, 7);
  assert_int_equal(launch.thread_limit, -1);
  assert_int_equal(launch.tripcount, UINT64_C(1) << 40);
  assert_int_equal(launch.dynamic_lds_bytes, 512);
  launch = host_abi_launch_from_team_region(arguments, offsets, 2, 3, 4, 5);
  assert_true(launch.argument_count == 2 && launch.num_teams == 3 && launch.thread_limit == 4);
  assert_true(launch.tripcount == 5 && launch.dynamic_lds_bytes == 0);
  launch = host_abi_launch_from_region(arguments, offsets, 1);
  assert_true(launch.argument_count == 1 && launch.num_teams == 1 && launch.thread_limit == 0 &&
              !launch.tripcount);
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
  assert_true(host_abi_unwrap(bytes, WRAPPED, &elf, &elf_bytes, &arch));
  assert_ptr_equal(elf, bytes + 104);
  assert_int_equal(elf_bytes, 16);
  assert_string_equal(arch, "gfx90a");
  /* Cut anywhere, the image is not inside any more. */
  for (size_t length = 0; length < WRAPPED; length++)
    assert_false(host_abi_unwrap(bytes, length, &elf, &elf_bytes, &arch));
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
    assert_false(host_abi_unwrap(bytes, WRAPPED, &elf, &elf_bytes, &arch));
  }
  /* Wrong strings cost only the arch. */
  unsigned char bytes[WRAPPED];
  const void *elf;
  size_t elf_bytes;
  const char *arch;
  make_wrapped(bytes);
  put(bytes, 72, 8, UINT64_MAX);
  assert_true(host_abi_unwrap(bytes, WRAPPED, &elf, &elf_bytes, &arch));
  assert_null(arch);
}

static void passes_raw_elf_on(void **state) {
  (void)state;
  static const char elf_image[] = "\x7f"
                                  "ELFxyz";
  const void *elf;
  size_t bytes;
  const char *arch;
  assert_true(host_abi_unwrap(elf_image, sizeof elf_image, &elf, &bytes, &arch));
  assert_ptr_equal(elf, elf_image);
  assert_int_equal(bytes, sizeof elf_image);
  assert_null(arch);
  assert_false(host_abi_unwrap("BC\xc0\xde", 4, &elf, &bytes, &arch)); /* bitcode */
  assert_false(host_abi_unwrap("", 0, &elf, &bytes, &arch));
}

static void numbers_execution_modes_by_compiler(void **state) {
  (void)state;
  static const device_abi_t old = {.clang13 = true}, new = {.clang13 = false};
  static const struct {
    const device_abi_t *abi;
    uint8_t byte;
    int mode; /* 0: no compiler writes it */
  } rows[] = {
      {&old, 0, RTL_MODE_SPMD},
      {&old, 1, RTL_MODE_GENERIC},
      {&old, 2, RTL_MODE_GENERIC_SPMD},
      {&old, 3, 0},
      {&new, 0, 0},
      {&new, 1, RTL_MODE_GENERIC},
      {&new, 2, RTL_MODE_SPMD},
      {&new, 3, RTL_MODE_GENERIC_SPMD},
      {&new, 4, 0},
      {&new, 255, 0},
      {&old, 255, 0},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    rtl_mode_t mode = RTL_MODE_SPMD;
    bool known = device_abi_mode_from_byte(rows[i].abi, rows[i].byte, &mode);
    assert_int_equal(known, rows[i].mode != 0);
    if (known) {
      assert_int_equal(mode, rows[i].mode);
      assert_int_equal(device_abi_mode_number(rows[i].abi, mode), rows[i].byte);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(has_the_layouts_of_libomptarget),
      cmocka_unit_test(translates_launches),
      cmocka_unit_test(unwraps_offload_binaries),
      cmocka_unit_test(refuses_what_contradicts_itself),
      cmocka_unit_test(passes_raw_elf_on),
      cmocka_unit_test(numbers_execution_modes_by_compiler),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
