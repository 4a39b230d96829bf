/* A plugin that does nothing, at once: what a program takes with it is libomptarget's own. It claims every
 * AMD GPU image, and answers with the pointers of the host. For libomptarget 13 to 16. */
#include "omptarget_amdgpu_plugin.h"

#include <stdlib.h>
#include <string.h>

static char memory[1 << 16], kernel, event;

int32_t __tgt_rtl_init_plugin(void) {
  return OFFLOAD_SUCCESS;
}

int32_t __tgt_rtl_number_of_devices(void) {
  return 1;
}

int64_t __tgt_rtl_init_requires(int64_t flags) {
  return flags;
}

int32_t __tgt_rtl_init_device(int32_t device) {
  return device ? OFFLOAD_FAIL : OFFLOAD_SUCCESS;
}

/* The machine number of AMD GPUs in an ELF header. */
int32_t __tgt_rtl_is_valid_binary(__tgt_device_image *image) {
  const unsigned char *elf = image->ImageStart;
  return !memcmp(elf, "\177ELF", 4) && elf[18] == 224;
}

static __tgt_target_table *table_of(const __tgt_device_image *image) {
  size_t count = (size_t)(image->EntriesEnd - image->EntriesBegin);
  __tgt_target_table *table = malloc(sizeof *table + count * sizeof *table->EntriesBegin);
  if (!table)
    return NULL;
  table->EntriesBegin = (__tgt_offload_entry *)(table + 1);
  table->EntriesEnd = table->EntriesBegin + count;
  if (count)
    memcpy(table->EntriesBegin, image->EntriesBegin, count * sizeof *table->EntriesBegin);
  for (size_t i = 0; i < count; i++)
    if (!table->EntriesBegin[i].size)
      table->EntriesBegin[i].addr = &kernel;
  return table;
}

/* Never freed, like the image. */
uintptr_t __tgt_rtl_load_binary(int32_t device, __tgt_device_image *image, __tgt_device_binary *binary) {
  (void)device;
  (void)binary;
  return (uintptr_t)table_of(image);
}

void *__tgt_rtl_data_alloc(int32_t device, int64_t size, void *host, int32_t kind) {
  (void)device;
  (void)host;
  (void)kind;
  return (size_t)size <= sizeof memory ? memory : NULL;
}

#define DOES_NOTHING(name, ...)                                                                              \
  int32_t __tgt_rtl_##name(__VA_ARGS__) {                                                                    \
    return OFFLOAD_SUCCESS;                                                                                  \
  }
#pragma GCC diagnostic ignored "-Wunused-parameter"

DOES_NOTHING(data_delete, int32_t device, void *target, int32_t kind)
DOES_NOTHING(data_submit, int32_t device, void *target, void *host, int64_t size)
DOES_NOTHING(data_retrieve, int32_t device, void *host, void *target, int64_t size)
DOES_NOTHING(run_target_region, int32_t device, void *entry, void **args, ptrdiff_t *offsets, int32_t count)
DOES_NOTHING(run_target_team_region, int32_t device, void *entry, void **args, ptrdiff_t *offsets,
             int32_t count, int32_t teams, int32_t threads, uint64_t tripcount)
DOES_NOTHING(record_event, int32_t device, void *recorded, __tgt_async_info *queue)
DOES_NOTHING(wait_event, int32_t device, void *awaited, __tgt_async_info *queue)
DOES_NOTHING(sync_event, int32_t device, void *awaited)
DOES_NOTHING(destroy_event, int32_t device, void *destroyed)

/* Operations of a queue, which libomptarget then has to wait for. */
#define QUEUES(name, ...)                                                                                    \
  int32_t __tgt_rtl_##name(__VA_ARGS__, __tgt_async_info *queue) {                                           \
    queue->Queue = memory;                                                                                   \
    return OFFLOAD_SUCCESS;                                                                                  \
  }

QUEUES(data_submit_async, int32_t device, void *target, void *host, int64_t size)
QUEUES(data_retrieve_async, int32_t device, void *host, void *target, int64_t size)
QUEUES(run_target_region_async, int32_t device, void *entry, void **args, ptrdiff_t *offsets, int32_t count)
QUEUES(run_target_team_region_async, int32_t device, void *entry, void **args, ptrdiff_t *offsets,
       int32_t count, int32_t teams, int32_t threads, uint64_t tripcount)
QUEUES(launch_kernel, int32_t device, void *entry, void **args, ptrdiff_t *offsets, KernelArgsTy *kernel_args)

int32_t __tgt_rtl_create_event(int32_t device, void **made) {
  (void)device;
  *made = &event;
  return OFFLOAD_SUCCESS;
}

int64_t __tgt_rtl_synchronize(int32_t device, __tgt_async_info *queue) {
  (void)device;
  queue->Queue = NULL;
  return OFFLOAD_SUCCESS;
}
