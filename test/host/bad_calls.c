/* Entry points called with what no compiler passes: null arrays, counts that lie, versions and regions that
 * nobody knows, devices that are not there, memory that is gone. A message and a failure, never a crash, and
 * the runtime is as good as before. And those that compilers called long ago, which work. Run as
 * "host_bad_calls IMAGE", with two devices. */
#include "driver.h"

#include "api.h"
#include "brink.h"

#include <dlfcn.h>
#include <hsa/hsa_ext_amd.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* An argument that is as it should be; cases spoil one thing of it. */
static struct {
  void *bases[2], *begins[2];
  int64_t sizes[2], types[2];
} good;
static double data[8];

static const void *spmd;

static tgt_kernel_args_t args(void) {
  good.bases[0] = good.begins[0] = (void *)8;
  good.bases[1] = good.begins[1] = data;
  good.sizes[0] = 8;
  good.sizes[1] = sizeof data;
  good.types[0] = TGT_MAP_PARAM | TGT_MAP_LITERAL;
  good.types[1] = TGT_MAP_PARAM | TGT_MAP_TO | TGT_MAP_FROM;
  spmd = &driver.regions[DRIVER_SPMD];
  return (tgt_kernel_args_t){.version = 2,
                             .count = 2,
                             .bases = good.bases,
                             .begins = good.begins,
                             .sizes = good.sizes,
                             .types = good.types,
                             .tripcount = 8};
}

static void *unreadable(void) {
  void *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  DRIVER_CHECK(page != MAP_FAILED);
  return page;
}

/* The region was launched before, so the short ways are taken, or not. */
static bool warm;

static void launch(const tgt_kernel_args_t *with, const void *id) {
  if (warm)
    DRIVER_CHECK(driver_runs());
  __tgt_target_kernel(NULL, 0, 0, 0, id, with);
}

/* ---- regions: each of these is to end the program ---- */

static void no_args(void) {
  args();
  launch(NULL, spmd);
}
static void old_version(void) {
  tgt_kernel_args_t bad = args();
  bad.version = 0;
  launch(&bad, spmd);
}
static void new_version(void) {
  tgt_kernel_args_t bad = args();
  bad.version = 77;
  launch(&bad, spmd);
}
static void no_types(void) {
  tgt_kernel_args_t bad = args();
  bad.types = NULL;
  launch(&bad, spmd);
}
static void no_bases(void) {
  tgt_kernel_args_t bad = args();
  bad.bases = NULL;
  launch(&bad, spmd);
}
static void no_bases_of_values(void) {
  tgt_kernel_args_t bad = args();
  bad.bases = NULL;
  good.types[1] = good.types[0];
  launch(&bad, spmd);
}
static void no_begins(void) {
  tgt_kernel_args_t bad = args();
  bad.begins = NULL;
  launch(&bad, spmd);
}
static void no_sizes(void) {
  tgt_kernel_args_t bad = args();
  bad.sizes = NULL;
  launch(&bad, spmd);
}
static void endless_count(void) {
  tgt_kernel_args_t bad = args();
  bad.count = UINT32_MAX;
  launch(&bad, spmd);
}
static void large_count(void) {
  tgt_kernel_args_t bad = args();
  bad.count = 1 << 24;
  launch(&bad, spmd);
}
static void shorter_arrays(void) {
  tgt_kernel_args_t bad = args();
  bad.count = 1000;
  bad.sizes = (int64_t *)(void *)(test_brink(1) - 16);
  launch(&bad, spmd);
}
static void too_few_values(void) {
  tgt_kernel_args_t bad = args();
  bad.count = 1;
  launch(&bad, spmd);
}
static void too_many_values(void) {
  tgt_kernel_args_t bad = args();
  static void *values[60];
  static int64_t sizes[60], types[60];
  for (int i = 0; i < 60; i++)
    types[i] = good.types[0];
  bad.count = 60;
  bad.bases = bad.begins = values;
  bad.sizes = sizes;
  bad.types = types;
  launch(&bad, spmd);
}
static void no_region(void) {
  tgt_kernel_args_t same = args();
  launch(&same, NULL);
}
static void other_region(void) {
  tgt_kernel_args_t same = args();
  launch(&same, data);
}
static void gone_region(void) {
  tgt_kernel_args_t same = args();
  launch(&same, (void *)1);
}
static void negative_size(void) {
  tgt_kernel_args_t bad = args();
  good.sizes[1] = -8;
  launch(&bad, spmd);
}
static void size_beyond_all(void) {
  tgt_kernel_args_t bad = args();
  good.sizes[1] = INT64_MAX;
  launch(&bad, spmd);
}
static void null_pointer(void) {
  tgt_kernel_args_t bad = args();
  good.bases[1] = good.begins[1] = NULL;
  launch(&bad, spmd);
}
static void wrong_device(void) {
  tgt_kernel_args_t same = args();
  __tgt_target_kernel(NULL, 77, 0, 0, spmd, &same);
}
static void negative_device(void) {
  tgt_kernel_args_t same = args();
  __tgt_target_kernel(NULL, -77, 0, 0, spmd, &same);
}
static void huge_device(void) {
  tgt_kernel_args_t same = args();
  __tgt_target_kernel(NULL, INT64_C(1) << 32, 0, 0, spmd, &same);
}
static void old_without_arrays(void) {
  args();
  __tgt_target_teams_mapper(NULL, 0, spmd, 2, NULL, NULL, NULL, NULL, NULL, NULL, 1, 1);
}
static void oldest_without_arrays(void) {
  args();
  __tgt_target_nowait(0, spmd, 2, NULL, NULL, NULL, NULL, 0, NULL, 0, NULL);
}

/* ---- data constructs ---- */

typedef void construct_t(const tgt_ident_t *where, int64_t device, TGT_MAPS);
static construct_t *construct;

static void data_without(int which) {
  args();
  construct(NULL, 0, 1, which == 0 ? NULL : good.bases + 1, which == 1 ? NULL : good.begins + 1,
            which == 2 ? NULL : good.sizes + 1, which == 3 ? NULL : good.types + 1, NULL, NULL);
}
static void data_without_bases(void) {
  data_without(0);
}
static void data_without_begins(void) {
  data_without(1);
}
static void data_without_sizes(void) {
  data_without(2);
}
static void data_without_types(void) {
  data_without(3);
}
static void data_count_lies(void) {
  DRIVER_CHECK(driver_runs());
  args();
  construct(NULL, 0, INT_MAX, good.bases, good.begins, good.sizes, good.types, NULL, NULL);
}
static void data_size_negative(void) {
  args();
  good.sizes[1] = -1;
  construct(NULL, 0, 1, good.bases + 1, good.begins + 1, good.sizes + 1, good.types + 1, NULL, NULL);
}
static void data_device_wrong(void) {
  args();
  construct(NULL, 77, 1, good.bases + 1, good.begins + 1, good.sizes + 1, good.types + 1, NULL, NULL);
}

static const struct {
  const char *name;
  void (*run)(void);
  const char *words;
} regions[] = {
    {"no_args", no_args, "the program passes no arguments"},
    {"old_version", old_version, "its arguments are of version 0, known are 1 to 5"},
    {"new_version", new_version, "its arguments are of version 77, known are 1 to 5"},
    {"no_types", no_types, "2 list items, but no arrays for them: the arguments are damaged"},
    {"no_bases", no_bases, "2 list items, but no arrays for them"},
    {"no_bases_of_values", no_bases_of_values, "2 list items, but no arrays for them"},
    {"no_begins", no_begins, "2 list items, but no arrays for them"},
    {"no_sizes", no_sizes, "2 list items, but no arrays for them"},
    {"endless_count", endless_count, "4294967295 list items: the arguments are damaged"},
    {"large_count", large_count, "16777216 list items: the arguments are damaged"},
    {"shorter_arrays", shorter_arrays, "1000 list items, but arrays of fewer: the arguments are damaged"},
    {"too_few_values", too_few_values, "a null pointer, or near one"},
    {"too_many_values", too_many_values, "argument"},
    {"no_region", no_region, "does not have a matching target pointer"},
    {"other_region", other_region, "does not have a matching target pointer"},
    {"gone_region", gone_region, "does not have a matching target pointer"},
    {"negative_size", negative_size, "a list item of -8 bytes: the arguments are damaged"},
    {"size_beyond_all", size_beyond_all, "bytes"},
    {"null_pointer", null_pointer, "a null pointer cannot be mapped with 64 bytes"},
    {"wrong_device", wrong_device, "Device number '77' out of range, only 2 devices available"},
    {"negative_device", negative_device, "Device number '-77' out of range"},
    {"huge_device", huge_device, "Device number '4294967296' out of range"},
    {"old_without_arrays", old_without_arrays, "2 list items, but no arrays for them"},
    {"oldest_without_arrays", oldest_without_arrays, "2 list items, but no arrays for them"},
};

static void regions_fail_with_a_message(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof regions / sizeof *regions; i++)
    for (int is_warm = 0; is_warm < 2; is_warm++) {
      warm = is_warm;
      print_message("             %s\n", regions[i].name);
      driver_expect_failure(regions[i].run, regions[i].words);
    }
}

/* ---- copies that HSA refuses ---- */

static bool copies_fail;

/* In the place of ROCr's, which follows it. */
#undef hsa_amd_memory_async_copy
__attribute__((visibility("default"))) hsa_status_t
hsa_amd_memory_async_copy(void *to, hsa_agent_t to_agent, const void *from, hsa_agent_t from_agent,
                          size_t bytes, uint32_t count, const hsa_signal_t *signals, hsa_signal_t done) {
  static __typeof__(&hsa_amd_memory_async_copy) next;
  if (copies_fail)
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  if (!next)
    *(void **)&next =
        dlsym(dlopen("libhsa-runtime64.so.1", RTLD_LAZY | RTLD_NOLOAD), "hsa_amd_memory_async_copy");
  return next(to, to_agent, from, from_agent, bytes, count, signals, done);
}

static char large[4 << 20];

/* An update of one list item, which goes the short way, or with another one. */
static void update_fails(int64_t type, int32_t items) {
  void *begins[] = {large, large + sizeof large / 2};
  void *names[] = {(char[]){";large;dir/file.c;7;3;;"}, (char[]){";large;dir/file.c;7;3;;"}};
  int64_t whole = sizeof large, sizes[] = {sizeof large / 2, sizeof large / 2}, types[] = {type, type};
  __tgt_target_data_begin_mapper(NULL, 0, 1, begins, begins, &whole, (int64_t[]){TGT_MAP_TO}, names, NULL);
  __tgt_target_data_update_mapper(NULL, 0, items, begins, begins, sizes, types, names, NULL);
  copies_fail = true;
  __tgt_target_data_update_mapper(NULL, 0, items, begins, begins, sizes, types, names, NULL);
}

static void update_to_fails(void) {
  update_fails(TGT_MAP_TO, 1);
}
static void update_from_fails(void) {
  update_fails(TGT_MAP_FROM, 1);
}
static void updates_fail(void) {
  update_fails(TGT_MAP_TO, 2);
}

static void failing_updates_name_their_variable(void **state) {
  (void)state;
  static void (*const updates[])(void) = {update_to_fails, update_from_fails, updates_fail};
  static const char *const copies[] = {"a copy to the device has failed", "a copy to the host has failed",
                                       "a copy to the device has failed"};
  for (size_t i = 0; i < 3; i++) {
    driver_expect_failure(updates[i], copies[i]);
    driver_expect_failure(updates[i], "message: variable large, dir/file.c line 7: host 0x");
  }
}

/* ---- host memory that is not there ---- */

/* Copied through the stream's own memory, through a block of staging memory, and pinned. */
static const size_t gone_sizes[] = {4096, 256 << 10, 4 << 20};
enum { GONE_SIZES = sizeof gone_sizes / sizeof *gone_sizes, GONE_PAGES = 2048 };
static size_t gone_bytes;

static void one_item(construct_t *call, void *begin, int64_t type) {
  static char name_text[] = ";gone;dir/file.c;7;3;;"; /* entries keep it */
  void *name = name_text;
  int64_t bytes = (int64_t)gone_bytes;
  call(NULL, 0, 1, &begin, &begin, &bytes, &type, &name, NULL);
}

static void map_what_never_was(void) {
  one_item(__tgt_target_data_begin_mapper, test_brink(GONE_PAGES), TGT_MAP_TO);
}
static void map_half_of_it(void) {
  one_item(__tgt_target_data_begin_mapper, test_brink(GONE_PAGES) - gone_bytes / 2, TGT_MAP_FROM);
}
static void region_of_what_never_was(void) {
  tgt_kernel_args_t bad = args();
  void *name = (char[]){";gone;dir/file.c;7;3;;"}, *names[] = {NULL, name};
  bad.names = names;
  good.bases[1] = good.begins[1] = test_brink(GONE_PAGES);
  good.sizes[1] = (int64_t)gone_bytes;
  launch(&bad, spmd);
}

/* Mapped while it is there. */
static void *map_and_free(void) {
  void *memory = test_remote(gone_bytes);
  DRIVER_CHECK(memory);
  one_item(__tgt_target_data_begin_mapper, memory, TGT_MAP_TO);
  one_item(__tgt_target_data_update_mapper, memory, TGT_MAP_TO);
  one_item(__tgt_target_data_update_mapper, memory, TGT_MAP_FROM);
  DRIVER_CHECK(!test_remote_free(memory, gone_bytes));
  return memory;
}
static void update_of_what_was_freed(void) {
  one_item(__tgt_target_data_update_mapper, map_and_free(), TGT_MAP_TO);
}
static void update_from_what_was_freed(void) {
  one_item(__tgt_target_data_update_mapper, map_and_free(), TGT_MAP_FROM);
}
static void end_of_what_was_freed(void) {
  one_item(__tgt_target_data_end_mapper, map_and_free(), TGT_MAP_FROM);
}
/* Its entry is dormant then. */
static void map_again_what_was_freed(void) {
  void *memory = map_and_free();
  one_item(__tgt_target_data_end_mapper, memory, (int64_t)MAP_DELETE);
  one_item(__tgt_target_data_begin_mapper, memory, TGT_MAP_TO);
}

/* The small ones of the lower half are copied by memcpy, as the program might do it: see doc/host-runtime.md.
 */
static const struct {
  const char *name;
  void (*run)(void);
  size_t from; /* of gone_sizes */
} gone_rows[] = {
    {"map_what_never_was", map_what_never_was, 0},
    {"map_half_of_it", map_half_of_it, 0},
    {"region_of_what_never_was", region_of_what_never_was, 0},
    {"update_of_what_was_freed", update_of_what_was_freed, 1},
    {"update_from_what_was_freed", update_from_what_was_freed, 1},
    {"end_of_what_was_freed", end_of_what_was_freed, 1},
    {"map_again_what_was_freed", map_again_what_was_freed, 1},
};

/* What may not be written is copied to the device, but not back. */
static void *constants(void) {
  void *memory = test_remote(gone_bytes);
  DRIVER_CHECK(memory && !test_remote_close(memory, gone_bytes, true));
  return memory;
}
static void map_constants(void) {
  one_item(__tgt_target_data_begin_mapper, constants(), TGT_MAP_TO | TGT_MAP_FROM);
}
static void update_constants(void) {
  void *memory = constants();
  one_item(__tgt_target_data_begin_mapper, memory, TGT_MAP_TO);
  one_item(__tgt_target_data_update_mapper, memory, TGT_MAP_TO);
  one_item(__tgt_target_data_update_mapper, memory, TGT_MAP_FROM);
}
static void end_of_constants(void) {
  void *memory = constants();
  one_item(__tgt_target_data_begin_mapper, memory, TGT_MAP_TO);
  one_item(__tgt_target_data_end_mapper, memory, TGT_MAP_FROM);
}

/* It has memory on the device only, until it is updated. In front of it is what the stream has copied lately.
 */
static void update_what_may_not_be_read(void) {
  enum { PAGE = 4096 };
  size_t bytes = gone_bytes;
  char *memory = aligned_alloc(PAGE, PAGE + bytes);
  DRIVER_CHECK(memory && !test_remote_close(memory + PAGE, bytes, false));
  gone_bytes = PAGE;
  one_item(__tgt_target_data_begin_mapper, memory, TGT_MAP_TO);
  for (int i = 0; i < 3; i++)
    one_item(__tgt_target_data_update_mapper, memory, TGT_MAP_TO);
  gone_bytes = bytes;
  one_item(__tgt_target_data_begin_mapper, memory + PAGE, 0);
  one_item(__tgt_target_data_update_mapper, memory + PAGE, TGT_MAP_TO);
}

static void constants_are_not_written(void **state) {
  (void)state;
  static void (*const runs[])(void) = {map_constants, update_constants, end_of_constants};
  for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
    for (size_t j = 0; j < GONE_SIZES; j++) {
      gone_bytes = gone_sizes[j];
      driver_expect_failure(runs[i], "the host may not write the ");
      driver_expect_failure(runs[i], "variable gone, dir/file.c line 7: host 0x");
    }
  for (size_t j = 0; j < GONE_SIZES; j++) {
    gone_bytes = gone_sizes[j];
    driver_expect_failure(update_what_may_not_be_read, "the host may not read the ");
  }
}

static void memory_that_is_gone_is_named(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof gone_rows / sizeof *gone_rows; i++)
    for (size_t j = gone_rows[i].from; j < GONE_SIZES; j++) {
      gone_bytes = gone_sizes[j];
      print_message("             %s %zu\n", gone_rows[i].name, gone_bytes);
      driver_expect_failure(gone_rows[i].run, "the host has no memory, or only some, in the ");
      driver_expect_failure(gone_rows[i].run, "variable gone, dir/file.c line 7: host 0x");
    }
}

static const struct {
  const char *name;
  void (*run)(void);
  const char *words;
} constructs[] = {
    {"data_without_bases", data_without_bases, "1 list items, but no arrays for them"},
    {"data_without_begins", data_without_begins, "1 list items, but no arrays for them"},
    {"data_without_sizes", data_without_sizes, "1 list items, but no arrays for them"},
    {"data_without_types", data_without_types, "1 list items, but no arrays for them"},
    {"data_count_lies", data_count_lies, "2147483647 list items: the arguments are damaged"},
    {"data_size_negative", data_size_negative, "a list item of -1 bytes: the arguments are damaged"},
    {"data_device_wrong", data_device_wrong, "Device number '77' out of range, only 2 devices available"},
};

static void data_constructs_fail_with_a_message(void **state) {
  (void)state;
  construct_t *const all[] = {__tgt_target_data_begin_mapper, __tgt_target_data_end_mapper,
                              __tgt_target_data_update_mapper};
  for (size_t i = 0; i < sizeof constructs / sizeof *constructs; i++)
    for (size_t j = 0; j < 3; j++) {
      construct = all[j];
      print_message("             %s %zu\n", constructs[i].name, j);
      driver_expect_failure(constructs[i].run, constructs[i].words);
    }
}

/* ---- what is refused, and the program goes on ---- */

static void register_others(void) {
  tgt_descriptor_t gone = {1, unreadable(), NULL, NULL};
  __tgt_register_lib(NULL);
  __tgt_unregister_lib(NULL);
  __tgt_register_lib(unreadable());
  __tgt_register_lib(&gone);
  __tgt_unregister_lib(&gone);
  __tgt_unregister_lib(unreadable());
  gone = (tgt_descriptor_t){INT_MAX, &driver.image, NULL, NULL};
  __tgt_register_lib(&gone);
  gone = (tgt_descriptor_t){1, &driver.image, driver.entries + DRIVER_ENTRIES, driver.entries};
  __tgt_register_lib(&gone);
  tgt_image_t reversed = {driver.image.end, driver.image.begin, NULL, NULL};
  gone = (tgt_descriptor_t){1, &reversed, NULL, NULL};
  __tgt_register_lib(&gone);
  char *holed = test_brink(GONE_PAGES) - 8192;
  memcpy(holed, driver.image.begin, 8192);
  tgt_image_t short_image = {holed, holed + ((char *)driver.image.end - (char *)driver.image.begin), NULL,
                             NULL};
  gone = (tgt_descriptor_t){1, &short_image, NULL, NULL};
  __tgt_register_lib(&gone);
  DRIVER_CHECK(driver_runs());
  __tgt_register_lib(&driver.descriptor); /* a second time */
  DRIVER_CHECK(driver_runs());
  __tgt_unregister_lib(&driver.descriptor);
  __tgt_unregister_lib(&driver.descriptor);
  __tgt_register_lib(&driver.descriptor);
  DRIVER_CHECK(driver_runs());
}

static void constructs_of_nothing(void) {
  for (int count = 0; count > -3; count--) {
    __tgt_target_data_begin_mapper(NULL, 0, count, NULL, NULL, NULL, NULL, NULL, NULL);
    __tgt_target_data_update_mapper(NULL, 0, count, NULL, NULL, NULL, NULL, NULL, NULL);
    __tgt_target_data_end_nowait_mapper(NULL, 0, count, NULL, NULL, NULL, NULL, NULL, NULL, -1, NULL, 0,
                                        NULL);
  }
  __tgt_target_nowait_query(NULL);
  void *handle = NULL;
  __tgt_target_nowait_query(&handle);
  DRIVER_CHECK(!__tgt_mapper_num_components(NULL));
  __tgt_push_mapper_component(NULL, NULL, NULL, 0, 0, NULL);
  __tgt_print_device_info(77);
  __tgt_print_device_info(-77);
  DRIVER_CHECK(driver_runs());
}

/* Memory that is not there any more, or was never, or is another device's. */
static void free_others(void) {
  char *one = omp_target_alloc(4096, 0), *other = omp_target_alloc(4096, 1), host[64];
  DRIVER_CHECK(one && other);
  omp_target_free(one + 64, 0);
  omp_target_free(host, 0);
  omp_target_free(other, 0);
  DRIVER_CHECK(!omp_target_memcpy(host, other, sizeof host, 0, 0, 2, 1));
  omp_target_free(one, 0);
  omp_target_free(one, 0);
  omp_target_free((void *)16, 0);
  llvm_omp_target_free_host(host, 1);
  llvm_omp_target_unlock_mem(host, 0);
  DRIVER_CHECK(!llvm_omp_target_lock_mem(unreadable(), 4096, 0));
  DRIVER_CHECK(!omp_target_alloc(SIZE_MAX, 0) && !omp_target_alloc(SIZE_MAX / 2, 1));
  DRIVER_CHECK(!llvm_omp_target_alloc_host(SIZE_MAX - 4095, 0));
  DRIVER_CHECK(!omp_target_is_accessible(host, SIZE_MAX, 0));
  DRIVER_CHECK(!omp_target_is_accessible(host, SIZE_MAX - (uintptr_t)host, 0));
  DRIVER_CHECK(omp_target_is_accessible(host, 0, 0) && !omp_target_is_accessible(NULL, 0, 0));
  omp_target_free(other, 1);
  DRIVER_CHECK(driver_runs());
}

static void copy_others(void) {
  size_t huge = SIZE_MAX / 2, one = 1, none = 0, ten = 10;
  char *memory = omp_target_alloc(64, 0), host[64] = {0};
  DRIVER_CHECK(omp_target_memcpy_rect(memory, host, 1, INT_MIN, &one, &none, &none, &one, &one, 0, 2));
  DRIVER_CHECK(omp_target_memcpy_rect(memory, host, huge, 1, &ten, &none, &none, &ten, &ten, 0, 2));
  DRIVER_CHECK(omp_target_memcpy_rect(memory, host, 4, 1, &ten, &huge, &none, &ten, &ten, 0, 2));
  DRIVER_CHECK(omp_target_memcpy(memory, host, SIZE_MAX, 0, 0, 0, 2));
  DRIVER_CHECK(omp_target_memcpy_async(memory, host, 64, 0, 0, 0, 77, -3, NULL));
  DRIVER_CHECK(!omp_target_memcpy_async(memory, host, 64, 0, 0, 0, 2, 5, NULL));
  DRIVER_CHECK(omp_target_memcpy_rect_async(memory, host, 1, INT_MAX, NULL, &none, &none, &one, &one, 0, 2, 0,
                                            NULL) == TGT_FAILED);
  DRIVER_CHECK(omp_target_memset_async(memory, 1, 64, 0, -1, NULL) == memory);
  omp_target_memset(memory, 1, 64, 77);
  DRIVER_CHECK(omp_target_associate_ptr(host, memory, SIZE_MAX, 0, 0) == TGT_FAILED);
  DRIVER_CHECK(omp_target_associate_ptr(host, memory, 64, SIZE_MAX - 8, 77) == TGT_FAILED);
  DRIVER_CHECK(omp_get_device_from_uid(NULL) == TGT_INVALID_DEVICE && !omp_get_uid_from_device(77));
  const char *uid = omp_get_uid_from_device(1); /* as LLVM has it, and as HSA does */
  DRIVER_CHECK(!strncmp(uid, "AMDGPU-GPU-", 11) && omp_get_device_from_uid(uid) == 1 &&
               omp_get_device_from_uid(uid + 7) == 1);
  DRIVER_CHECK(!omp_get_mapped_ptr(host, 77) && !omp_get_mapped_ptr(NULL, 0));
  omp_target_free(memory, 0);
  char *end = test_brink(GONE_PAGES), *more = omp_target_alloc(4 << 20, 0);
  for (size_t bytes = 256 << 10; bytes <= 4 << 20; bytes <<= 4) {
    DRIVER_CHECK(omp_target_memcpy(more, end, bytes, 0, 0, 0, 2));
    DRIVER_CHECK(omp_target_memcpy(end - 8, more, bytes, 0, 0, 2, 0));
  }
  static const char constant[32];
  void *nothing = (void *)(uintptr_t)40;
  DRIVER_CHECK(omp_target_memcpy((void *)(uintptr_t)constant, more, sizeof constant, 0, 0, 2, 0));
  DRIVER_CHECK(!omp_target_memcpy(more, constant, sizeof constant, 0, 0, 0, 2));
  DRIVER_CHECK(omp_target_memcpy(nothing, more, 8, 0, 0, 2, 0));
  DRIVER_CHECK(omp_target_memcpy(more, nothing, 8, 0, 0, 0, 2));
  omp_target_free(more, 0);
  DRIVER_CHECK(driver_runs());
}

static void call_for_other_machines(void) {
  DRIVER_CHECK(__tgt_activate_record_replay(0) == TGT_FAILED);
  DRIVER_CHECK(__tgt_target_kernel_replay(NULL) == TGT_FAILED);
  DRIVER_CHECK(__llvmPushCallConfiguration() && __llvmPopCallConfiguration() && llvmLaunchKernel());
  __tgt_register_rpc_callback(NULL);
  DRIVER_CHECK(omp_get_gprivate_limit(0, 0) == 0);
  DRIVER_CHECK(driver_runs());
}

/* ---- what clang 11 and older called ---- */

enum { OLD_REGIONS = 4, OLD_ITEMS = 10 };

static int run_oldest(int which, void **items, int64_t *sizes, int64_t *types) {
  switch (which) {
  case 0: return __tgt_target(0, spmd, 2, items, items, sizes, types);
  case 1: return __tgt_target_nowait(0, spmd, 2, items, items, sizes, types, 0, NULL, 0, NULL);
  case 2: return __tgt_target_teams(0, spmd, 2, items, items, sizes, types, 0, 0);
  default: return __tgt_target_teams_nowait(0, spmd, 2, items, items, sizes, types, 0, 0, 0, NULL, 0, NULL);
  }
}

static void run_oldest_regions(void) {
  args();
  for (int which = 0; which < OLD_REGIONS; which++) {
    double out[OLD_ITEMS] = {0};
    void *items[] = {(void *)OLD_ITEMS, out};
    int64_t sizes[] = {sizeof(int64_t), sizeof out}, types[] = {good.types[0], good.types[1]};
    __kmpc_push_target_tripcount(0, OLD_ITEMS);
    DRIVER_CHECK(!run_oldest(which, items, sizes, types));
    for (int i = 0; i < OLD_ITEMS; i++)
      DRIVER_CHECK(out[i] == i * 3 + 5 + (double)array[i]);
  }
}

/* What the second value was when the device got it comes back. */
static void run_oldest_data(bool waits) {
  void *items[] = {data};
  int64_t sizes[] = {sizeof data}, both[] = {TGT_MAP_TO | TGT_MAP_FROM}, to[] = {TGT_MAP_TO};
  data[0] = 1;
  if (waits)
    __tgt_target_data_begin(0, 1, items, items, sizes, both);
  else
    __tgt_target_data_begin_nowait(0, 1, items, items, sizes, both, 0, NULL, 0, NULL);
  DRIVER_CHECK(omp_target_is_present(data, 0));
  ompx_dump_mapping_tables();
  data[0] = 2;
  if (waits)
    __tgt_target_data_update(0, 1, items, items, sizes, to);
  else
    __tgt_target_data_update_nowait(0, 1, items, items, sizes, to, 0, NULL, 0, NULL);
  data[0] = 3;
  if (waits)
    __tgt_target_data_end(0, 1, items, items, sizes, both);
  else
    __tgt_target_data_end_nowait(0, 1, items, items, sizes, both, 0, NULL, 0, NULL);
  DRIVER_CHECK(data[0] == 2 && !omp_target_is_present(data, 0));
}

static void call_as_long_ago(void) {
  run_oldest_regions();
  run_oldest_data(true);
  run_oldest_data(false);
}

/* With some of the words that are said. */
static const struct {
  void (*run)(void);
  const char *words[4];
} parts[] = {
    {register_others,
     {"its descriptor cannot be read", "its list of images cannot be read",
      "one of its images cannot be read", "registered again before it is unregistered"}},
    {constructs_of_nothing, {"a mapper was called without what it is to add", "there is no device -77"}},
    {free_others, {"cannot free", "cannot lock", "cannot unlock"}},
    {copy_others,
     {"more than there are addresses", "reaches beyond the end of all memory",
      "cannot copy to the device: the host has no memory, or only some, in the 262144 bytes at",
      "cannot copy from the device: the host has no memory, or only some, in the 4194304 bytes at"}},
    {call_for_other_machines,
     {"cannot record or replay kernels",
      "cannot configure a launch: the program was built for CUDA's launches",
      "cannot call the program for device code"}},
    {call_as_long_ago, {"OpenMP Host-Device pointer mappings"}},
};

static void nothing_bad_stays(void **state) {
  (void)state;
  char text[DRIVER_TEXT];
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    int status = driver_in_child(parts[i].run, text);
    for (size_t j = 0; j < 4 && parts[i].words[j]; j++)
      if (status || !strstr(text, parts[i].words[j]))
        driver_fail(status, parts[i].words[j], text);
  }
}

int main(int count, char **arguments) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(regions_fail_with_a_message),
      cmocka_unit_test(data_constructs_fail_with_a_message),
      cmocka_unit_test(failing_updates_name_their_variable),
      cmocka_unit_test(constants_are_not_written),
      cmocka_unit_test(memory_that_is_gone_is_named),
      cmocka_unit_test(nothing_bad_stays),
  };
  if (count != 2) {
    fprintf(stderr, "usage: %s IMAGE\n", arguments[0]);
    return 2;
  }
  driver.path = arguments[1];
  driver_read();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
