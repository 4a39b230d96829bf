/* The plugin as libomptarget sees it: opened by file name, its entry points resolved, an image loaded on
 * device 0. For the tests that drive it on a device. */
#ifndef PLUGIN_DRIVER_H
#define PLUGIN_DRIVER_H

#include "plugin_test.h"

#include "omptarget_amdgpu_plugin.h"

#include <stdbool.h>

#define ENTRIES(X)                                                                                           \
  X(init_plugin)                                                                                             \
  X(deinit_plugin)                                                                                           \
  X(number_of_devices)                                                                                       \
  X(init_requires)                                                                                           \
  X(init_device)                                                                                             \
  X(use_auto_zero_copy)                                                                                      \
  X(set_info_flag)                                                                                           \
  X(print_device_info)                                                                                       \
  X(register_lib)                                                                                            \
  X(unregister_lib)                                                                                          \
  X(is_valid_binary)                                                                                         \
  X(is_valid_binary_info)                                                                                    \
  X(load_binary)                                                                                             \
  X(data_alloc)                                                                                              \
  X(data_delete)                                                                                             \
  X(data_submit)                                                                                             \
  X(data_submit_async)                                                                                       \
  X(data_retrieve)                                                                                           \
  X(data_retrieve_async)                                                                                     \
  X(data_lock)                                                                                               \
  X(data_unlock)                                                                                             \
  X(data_notify_mapped)                                                                                      \
  X(data_notify_unmapped)                                                                                    \
  X(is_data_exchangable)                                                                                     \
  X(data_exchange)                                                                                           \
  X(data_exchange_async)                                                                                     \
  X(launch_kernel)                                                                                           \
  X(run_target_region)                                                                                       \
  X(run_target_region_async)                                                                                 \
  X(run_target_team_region)                                                                                  \
  X(run_target_team_region_async)                                                                            \
  X(synchronize)                                                                                             \
  X(query_async)                                                                                             \
  X(create_event)                                                                                            \
  X(record_event)                                                                                            \
  X(wait_event)                                                                                              \
  X(sync_event)                                                                                              \
  X(destroy_event)                                                                                           \
  X(init_async_info)                                                                                         \
  X(init_device_info)

extern struct plugin_driver_entries {
#define DECLARE(name) __typeof__(__tgt_rtl_##name) *name;
  ENTRIES(DECLARE)
#undef DECLARE
} rtl;

enum { SPMD_KERNEL, TRAP_KERNEL, STORE_KERNEL, VARIABLE, ARRAY, ENTRY_COUNT };

/* What main was given, and what was made of it. */
extern struct plugin_driver_given {
  const char *plugin, *image_path, *other_path;
  void *file, *other_file;
  __tgt_device_image image, other;
  __tgt_offload_entry entries[ENTRY_COUNT];
  __tgt_target_table *table;
  char *spmd_name, *trap_name, *store_name;
  char spmd_shown[64], trap_shown[64], store_shown[64]; /* what messages call them */
} given;

/* The program's variables on the host's side. */
extern int exported;
extern long array[100];

/* Set where something must stay behind: because HSA refuses to destroy it, or the process ends in the middle
 * of work. The leak check of a sanitizer is skipped then. */
extern bool may_leak;

/* What main is given by most of these tests: PLUGIN IMAGE OTHER_IMAGE. Says how to use the program and
 * returns false otherwise. The test is taken for a libomptarget 16. */
bool take_arguments(int count, char **arguments);

/* Opens the plugin and loads the image; for cmocka's groups. */
int set_up(void **state);
int tear_down(void **state);

void open_plugin(void);
/* Fills the table of entries for the image. */
void describe_entries(void);
__tgt_device_image image_of(const char *path, void **file);
/* The kernel of an image whose name contains `part`; malloc'ed. */
char *kernel_name(const void *image, size_t bytes, const char *part);

/* As libomptarget 13 to 17 does it; main says that we are one. */
__tgt_target_table *load_table(int32_t device, __tgt_device_image *image);

/* Memory of device 0. */
void *allocate(int64_t bytes);
void release(void *memory);

/* Any kernel: of one argument if `out` is NULL. */
int32_t launch_kernel(void *kernel, uint64_t n, void *out, uint32_t teams, __tgt_async_info *queue);
/* spmd_kernel: out[i] += i * exported + local + array[i], with local 5 on the device; expected is what it
 * adds. */
int32_t launch_spmd(uint64_t n, void *out, uint32_t teams, __tgt_async_info *queue);
double expected(int i, int scale);

/* store_kernel: stores an int to the address. */
int32_t launch_store(uint64_t address, __tgt_async_info *queue);

/* Runs a case in a child process that has these variables (name, value, ...), NULL at the end, and the image
 * loaded. For what depends on variables, and what breaks the device. */
void in_child(void (*run)(void **), const char *const *variables);

#endif
