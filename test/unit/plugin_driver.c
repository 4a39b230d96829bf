/* The plugin as libomptarget sees it. */
#include "plugin_driver.h"

#include "image/elf.h"
#include "image/metadata.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct plugin_driver_entries rtl;
struct plugin_driver_given given;
bool may_leak;

/* Asked by LeakSanitizer when the process ends. */
__attribute__((visibility("default"))) int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) {
  return may_leak;
}

bool take_arguments(int count, char **arguments) {
  if (count != 4) {
    fprintf(stderr, "usage: %s PLUGIN IMAGE OTHER_IMAGE\n", arguments[0]);
    return false;
  }
  setenv("LIBOMPTARGET_AMDGPU_HOST_ABI", "16", 1);
  given.plugin = arguments[1];
  given.image_path = arguments[2];
  given.other_path = arguments[3];
  return true;
}

void open_plugin(void) {
  void *handle = dlopen(given.plugin, RTLD_NOW);
  if (!handle)
    fail_msg("%s", dlerror());
#define RESOLVE(name)                                                                                        \
  *(void **)&rtl.name = dlsym(handle, "__tgt_rtl_" #name);                                                   \
  assert_non_null(*(void **)&rtl.name);
  ENTRIES(RESOLVE)
#undef RESOLVE
}

char *kernel_name(const void *image, size_t bytes, const char *part) {
  atmi_elf_t *elf;
  const void *note;
  size_t note_bytes;
  atmi_metadata_t metadata;
  char *name = NULL;
  assert_int_equal(atmi_elf_open(image, bytes, "test", &elf), ATMI_OK);
  assert_true(atmi_elf_find_note(elf, "AMDGPU", 32, 0, &note, &note_bytes));
  assert_int_equal(atmi_metadata_parse(note, note_bytes, "test", &metadata), ATMI_OK);
  for (uint32_t i = 0; i < metadata.kernel_count; i++)
    if (strstr(metadata.kernels[i].name, part))
      name = strdup(metadata.kernels[i].name);
  assert_non_null(name);
  atmi_metadata_fini(&metadata);
  atmi_elf_close(elf);
  return name;
}

__tgt_device_image image_of(const char *path, void **file) {
  size_t bytes, image_bytes;
  *file = test_read_file(path, &bytes);
  char *begin = (char *)(uintptr_t)test_find_image(*file, bytes, &image_bytes);
  return (__tgt_device_image){begin, begin + image_bytes, given.entries, given.entries + ENTRY_COUNT};
}

int exported = 3;
long array[100];

__tgt_target_table *load_table(int32_t device, __tgt_device_image *image) {
  return (__tgt_target_table *)rtl.load_binary(device, image, NULL);
}

/* Clang writes the line at the end of the kernel's name. */
static void show(const char *name, const char *function, char shown[64]) {
  snprintf(shown, 64, "target region in %s at line %s", function, strrchr(name, 'l') + 1);
}

void describe_entries(void) {
  size_t bytes = (size_t)((char *)given.image.ImageEnd - (char *)given.image.ImageStart);
  given.spmd_name = kernel_name(given.image.ImageStart, bytes, "spmd_kernel");
  given.entries[SPMD_KERNEL] = (__tgt_offload_entry){.addr = &given, .name = given.spmd_name};
  given.trap_name = kernel_name(given.image.ImageStart, bytes, "trap_kernel");
  given.entries[TRAP_KERNEL] = (__tgt_offload_entry){.addr = &given, .name = given.trap_name};
  given.store_name = kernel_name(given.image.ImageStart, bytes, "store_kernel");
  given.entries[STORE_KERNEL] = (__tgt_offload_entry){.addr = &given, .name = given.store_name};
  show(given.spmd_name, "spmd_kernel", given.spmd_shown);
  show(given.trap_name, "trap_kernel", given.trap_shown);
  show(given.store_name, "store_kernel", given.store_shown);
  given.entries[VARIABLE] =
      (__tgt_offload_entry){.addr = &exported, .name = "exported", .size = sizeof exported};
  given.entries[ARRAY] = (__tgt_offload_entry){.addr = array, .name = "array", .size = sizeof array};
}

int set_up(void **state) {
  (void)state;
  given.image = image_of(given.image_path, &given.file);
  given.other = image_of(given.other_path, &given.other_file);
  describe_entries();
  open_plugin();
  assert_int_equal(rtl.init_plugin(), 0);
  assert_true(rtl.number_of_devices() >= 1);
  assert_int_equal(rtl.init_requires(OMP_REQ_NONE), 0);
  assert_int_equal(rtl.init_device(0), OFFLOAD_SUCCESS);
  assert_true(rtl.is_valid_binary(&given.image));
  given.table = load_table(0, &given.image);
  assert_non_null(given.table);
  assert_int_equal(given.table->EntriesEnd - given.table->EntriesBegin, ENTRY_COUNT);
  return 0;
}

int tear_down(void **state) {
  (void)state;
  free(given.spmd_name);
  free(given.trap_name);
  free(given.store_name);
  free(given.file);
  free(given.other_file);
  return 0;
}

/* ---- small helpers ---- */

void *allocate(int64_t bytes) {
  void *memory = rtl.data_alloc(0, bytes, NULL, TARGET_ALLOC_DEFAULT);
  assert_non_null(memory);
  return memory;
}

void release(void *memory) {
  assert_int_equal(rtl.data_delete(0, memory, TARGET_ALLOC_DEFAULT), OFFLOAD_SUCCESS);
}

int32_t launch_kernel(void *kernel, uint64_t n, void *out, uint32_t teams, __tgt_async_info *queue) {
  void *args[] = {(void *)(uintptr_t)n, out};
  ptrdiff_t offsets[] = {0, 0};
  KernelArgsTy launch = {.Version = 2, .NumArgs = out ? 2 : 1, .Tripcount = n, .NumTeams = {teams}};
  return rtl.launch_kernel(0, kernel, args, offsets, &launch, queue);
}

int32_t launch_spmd(uint64_t n, void *out, uint32_t teams, __tgt_async_info *queue) {
  return launch_kernel(given.table->EntriesBegin[SPMD_KERNEL].addr, n, out, teams, queue);
}

double expected(int i, int scale) {
  return i * scale + 5;
}

int32_t launch_store(uint64_t address, __tgt_async_info *queue) {
  void *args[] = {(void *)(uintptr_t)address};
  ptrdiff_t offsets[] = {0};
  KernelArgsTy launch = {.Version = 2, .NumArgs = 1, .NumTeams = {1}};
  return rtl.launch_kernel(0, given.table->EntriesBegin[STORE_KERNEL].addr, args, offsets, &launch, queue);
}

void in_child(void (*run)(void **), const char *const *variables) {
  int status = -1;
  pid_t child = fork();
  assert_true(child >= 0);
  if (!child) {
    for (; *variables; variables += 2)
      setenv(variables[0], variables[1], 1);
    const struct CMUnitTest tests[] = {{"child", run, NULL, NULL, NULL}};
    exit(cmocka_run_group_tests(tests, set_up, tear_down));
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  if (status)
    fail_msg("the child ended with status 0x%x", (unsigned)status);
}
