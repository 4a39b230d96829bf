/* What the device runtime inside an image needs from its host. */
#include "openmp/device_runtime.h"

#include "services/rpc_image.h"
#include "stream/plan.h"
#include "stream/transfer.h"

#include <stdlib.h>

/* Writes a variable of the image, as much of it as there is; absent ones are no failure. */
static atmi_status_t write_variable(atmi_loaded_image_t *loaded, atmi_stream_t *stream, const char *name,
                                    const void *value, size_t value_bytes) {
  void *address;
  uint64_t bytes;
  if (atmi_code_object_find_variable(&loaded->object, name, &address, &bytes))
    return ATMI_OK;
  atmi_status_t status =
      atmi_transfer_submit(stream, address, value, bytes < value_bytes ? (size_t)bytes : value_bytes);
  /* The copy may be of the caller's stack frame. */
  atmi_status_t ended = atmi_stream_synchronize(stream);
  return status ? status : ended;
}

/* ---- calls through host pointers ---- */

static int compare_hosts(const void *left, const void *right) {
  uint64_t a = ((const atmi_device_abi_indirect_call_t *)left)->host;
  uint64_t b = ((const atmi_device_abi_indirect_call_t *)right)->host;
  return (a > b) - (a < b);
}

/* Where each such entry leads to on the device, which its first row gets; the other rows of a table of
 * virtual functions are written when that is known. */
static atmi_status_t read_indirect_calls(const atmi_loaded_image_t *loaded, const atmi_entry_t *hosts,
                                         atmi_stream_t *stream, atmi_device_abi_indirect_call_t *rows) {
  atmi_status_t status = ATMI_OK;
  for (size_t i = 0; !status && i < loaded->entry_count; i++) {
    uint64_t count = atmi_entry_indirect_rows(&hosts[i]);
    if (!count)
      continue;
    rows->host = (uint64_t)(uintptr_t)hosts[i].address;
    status = atmi_transfer_retrieve(stream, &rows->device, loaded->entries[i].address, sizeof rows->device);
    rows += count;
  }
  atmi_status_t ended = atmi_stream_synchronize(stream);
  return status ? status : ended;
}

static void fill_tables(const atmi_loaded_image_t *loaded, const atmi_entry_t *hosts,
                        atmi_device_abi_indirect_call_t *rows) {
  for (size_t entry = 0; entry < loaded->entry_count; entry++) {
    uint64_t count = atmi_entry_indirect_rows(&hosts[entry]);
    for (uint64_t i = 1; i < count; i++)
      rows[i] = (atmi_device_abi_indirect_call_t){rows->host + i * sizeof(void *),
                                                  rows->device + i * sizeof(void *)};
    rows += count;
  }
}

static atmi_status_t make_indirect_calls(atmi_loaded_image_t *loaded, const atmi_entry_t *hosts,
                                         atmi_stream_t *stream, uint64_t *count) {
  atmi_device_t *device = stream->device;
  *count = 0;
  for (size_t i = 0; i < loaded->entry_count; i++)
    *count += atmi_entry_indirect_rows(&hosts[i]);
  if (!*count)
    return ATMI_OK;
  size_t bytes = (size_t)*count * sizeof(atmi_device_abi_indirect_call_t);
  atmi_device_abi_indirect_call_t *rows = malloc(bytes);
  if (!rows)
    return atmi_fail(ATMI_NO_MEMORY, device->label, "cannot load the device image: out of host memory");
  atmi_status_t status = read_indirect_calls(loaded, hosts, stream, rows), ended;
  if (!status)
    status = atmi_memory_allocate(&device->memory, bytes, ATMI_MEMORY_DEVICE, &loaded->indirect_calls);
  if (!status) {
    fill_tables(loaded, hosts, rows);
    qsort(rows, (size_t)*count, sizeof *rows, compare_hosts);
    status = atmi_transfer_submit(stream, loaded->indirect_calls, rows, bytes);
    if ((ended = atmi_stream_synchronize(stream)) && !status)
      status = ended;
  }
  free(rows);
  return status;
}

/* ---- the device, and memory for malloc ---- */

/* Most images of clang 13 do not want to know. */
static atmi_status_t write_environment(const atmi_context_t *context, atmi_loaded_image_t *loaded,
                                       atmi_stream_t *stream, uint64_t indirect_call_count) {
  const atmi_device_t *device = stream->device;
  const atmi_device_abi_environment_t environment = {
      .debug_kind = (uint32_t)context->env.device_rtl_debug,
      .device_count = context->machine.device_count,
      .device_number = device->number + (uint32_t)context->device_offset,
      .dynamic_lds_bytes = (uint32_t)context->env.shared_memory_bytes,
      .clock_frequency = device->properties.timestamp_frequency,
      .indirect_calls = loaded->indirect_calls,
      .indirect_call_count = indirect_call_count,
      .hardware_parallelism =
          (uint64_t)device->properties.compute_units * device->properties.max_waves_per_cu,
  };
  atmi_status_t status = ATMI_OK;
  for (const char *const *name = atmi_device_abi_environment_names; !status && *name; name++)
    status = write_variable(loaded, stream, *name, &environment, sizeof environment);
  return status;
}

static atmi_status_t make_heap(const atmi_context_t *context, atmi_loaded_image_t *loaded,
                               atmi_stream_t *stream) {
  atmi_device_abi_pool_t pool = {.bytes = (uint64_t)context->env.heap_bytes};
  static const atmi_device_abi_pool_tracker_t tracker = {.least = UINT32_MAX};
  atmi_elf_symbol_t symbol;
  if (!pool.bytes || !atmi_elf_find_symbol(loaded->object.elf, atmi_device_abi_pool_name, &symbol) ||
      atmi_rpc_image_has_library(&loaded->object))
    return ATMI_OK;
  atmi_status_t status =
      atmi_memory_allocate(&stream->device->memory, pool.bytes, ATMI_MEMORY_DEVICE, &loaded->heap);
  if (status)
    return atmi_fail(status, stream->device->label,
                     "cannot load the device image: no %llu bytes for malloc in device code; "
                     "LIBOMPTARGET_HEAP_SIZE sets how many",
                     (unsigned long long)pool.bytes);
  pool.memory = loaded->heap;
  status = write_variable(loaded, stream, atmi_device_abi_pool_name, &pool, sizeof pool);
  return status ? status
                : write_variable(loaded, stream, atmi_device_abi_pool_tracker_name, &tracker, sizeof tracker);
}

/* ---- constructors and destructors ---- */

static atmi_status_t run_once(atmi_stream_t *stream, const atmi_kernel_t *kernel) {
  static const atmi_launch_t launch = {.groups = {1, 1, 1}, .group = {1, 1, 1}};
  atmi_status_t status = atmi_stream_launch(stream, NULL, kernel, &launch);
  atmi_status_t ended = atmi_stream_synchronize(stream);
  return status ? status : ended;
}

static atmi_status_t run_constructors(atmi_loaded_image_t *loaded, atmi_stream_t *stream) {
  atmi_kernel_t init;
  atmi_status_t status = atmi_code_object_find_kernel(&loaded->object, atmi_device_abi_init_kernel, &init);
  if (!status)
    status = run_once(stream, &init);
  if (status && status != ATMI_NOT_FOUND)
    return status;
  status = atmi_code_object_find_kernel(&loaded->object, atmi_device_abi_fini_kernel, &loaded->fini);
  loaded->has_fini = !status;
  return status == ATMI_NOT_FOUND ? ATMI_OK : status;
}

/* ---- both ends ---- */

atmi_status_t atmi_device_runtime_init(const atmi_context_t *context, atmi_loaded_image_t *loaded,
                                       const atmi_entry_t *hosts, atmi_stream_t *stream) {
  uint64_t indirect_call_count;
  atmi_status_t status = make_indirect_calls(loaded, hosts, stream, &indirect_call_count);
  if (!status)
    status = write_environment(context, loaded, stream, indirect_call_count);
  if (!status)
    status = make_heap(context, loaded, stream);
  return status ? status : run_constructors(loaded, stream);
}

void atmi_device_runtime_destruct(atmi_loaded_image_t *loaded) {
  atmi_device_t *device = loaded->object.device;
  atmi_stream_t *stream;
  /* Failures are described where they happen, and there is nobody to pass them on to. */
  if (device && loaded->has_fini && !atmi_device_is_lost(device) && !atmi_stream_take(device, &stream)) {
    atmi_status_t ended = run_once(stream, &loaded->fini);
    (void)ended;
    atmi_stream_put(stream);
  }
  loaded->has_fini = false;
}

void atmi_device_runtime_fini(atmi_loaded_image_t *loaded) {
  atmi_device_t *device = loaded->object.device;
  atmi_device_runtime_destruct(loaded);
  if (!device)
    return;
  void *const blocks[] = {loaded->heap, loaded->indirect_calls};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
    if (!blocks[i])
      continue;
    atmi_status_t freed = atmi_memory_free(&device->memory, blocks[i]);
    (void)freed;
  }
  loaded->heap = loaded->indirect_calls = NULL;
}
