/* The exported functions: each checks what it is given, calls one function of the core, and turns the status
 * into libomptarget's. What each means and who calls it when is in omptarget_amdgpu_plugin.h. */
#include "rtl_image.h"
#include "rtl_interop.h"
#include "rtl_queue.h"

#include "openmp/image.h"
#include "openmp/info.h"
#include "openmp/launch.h"
#include "openmp/trace.h"
#include "openmp/use.h"
#include "stream/event.h"
#include "stream/exchange.h"
#include "stream/transfer.h"

#define EXPORT __attribute__((visibility("default")))

static int32_t result_of(atmi_status_t status) {
  return status ? OFFLOAD_FAIL : OFFLOAD_SUCCESS;
}

/* Where that costs the fast ways nothing. */
static int32_t refuse_null(const char *where, const char *operation, const char *what) {
  atmi_fail(ATMI_INVALID, where, "cannot %s: the program passes no address for %s", operation, what);
  return OFFLOAD_FAIL;
}

/* The context at the end of the process; what other libraries' destructors still call finds no device. */
__attribute__((destructor)) static void stop(void) {
  rtl_plugin_stop(rtl_plugin());
}

/* ---- the plugin and its devices ---- */

EXPORT int32_t __tgt_rtl_init_plugin(void) {
  return rtl_plugin_start(rtl_plugin(), __builtin_return_address(0)) ? OFFLOAD_SUCCESS : OFFLOAD_FAIL;
}

EXPORT int32_t __tgt_rtl_deinit_plugin(void) {
  /* Comes at the first library that is unloaded, when others may be in use: the destructor releases what is
   * left. */
  return OFFLOAD_SUCCESS;
}

EXPORT int32_t __tgt_rtl_number_of_devices(void) {
  if (!rtl_plugin_start(rtl_plugin(), __builtin_return_address(0)))
    return 0;
  return (int32_t)atmi_context()->device_count;
}

EXPORT int32_t __tgt_rtl_set_device_offset(int32_t offset) {
  atomic_store(&atmi_context()->device_offset, offset);
  return OFFLOAD_SUCCESS;
}

EXPORT int64_t __tgt_rtl_init_requires(int64_t flags) {
  atmi_context_set_unified(atmi_context(), flags & OMP_REQ_UNIFIED_SHARED_MEMORY);
  return OFFLOAD_SUCCESS;
}

EXPORT int32_t __tgt_rtl_init_device(int32_t number) {
  /* No use yet: libomptarget 18 does this for all devices before main. */
  atmi_omp_device_t *device = atmi_context_known_device(atmi_context(), number, "initialise a device");
  if (!device)
    return OFFLOAD_FAIL;
  if (!atomic_exchange(&device->ready, true))
    atmi_trace_device(atmi_context(), number, device);
  return OFFLOAD_SUCCESS;
}

EXPORT int32_t __tgt_rtl_use_auto_zero_copy(int32_t number) {
  atmi_omp_device_t *device = atmi_context_known_device(atmi_context(), number, "decide about copies");
  return device && atmi_context_ask_zero_copy(atmi_context(), device);
}

EXPORT int32_t __tgt_rtl_initialize_record_replay(int32_t number, int64_t memory_bytes, void *address,
                                                  bool record, bool save_output, uint64_t *kernel_offset) {
  (void)number, (void)memory_bytes, (void)address, (void)save_output, (void)kernel_offset;
  atmi_fail(ATMI_UNSUPPORTED, NULL, "cannot %s kernels: this plugin does not do that",
            record ? "record" : "replay");
  return OFFLOAD_FAIL;
}

EXPORT void __tgt_rtl_set_info_flag(uint32_t flags) {
  atmi_context_set_info(atmi_context(), flags);
}

EXPORT void __tgt_rtl_print_device_info(int32_t number) {
  const atmi_omp_device_t *device =
      atmi_context_any_device(atmi_context(), number, "print device information");
  if (device)
    atmi_info_print(device, stdout);
}

/* ---- images ---- */

EXPORT int32_t __tgt_rtl_register_lib(__tgt_bin_desc *library) {
  if (!library)
    return refuse_null(NULL, "register a library", "it");
  rtl_image_register(library);
  return OFFLOAD_SUCCESS;
}

EXPORT int32_t __tgt_rtl_unregister_lib(__tgt_bin_desc *library) {
  if (!library)
    return refuse_null(NULL, "unregister a library", "it");
  rtl_image_unregister(library);
  return OFFLOAD_SUCCESS;
}

EXPORT int32_t __tgt_rtl_is_valid_binary(__tgt_device_image *image) {
  int host = rtl_plugin_host(rtl_plugin(), __builtin_return_address(0));
  return caller_abi_registers_libraries(host) ? rtl_image_fits(image) : rtl_image_judge(rtl_plugin(), image);
}

EXPORT int32_t __tgt_rtl_is_valid_binary_info(__tgt_device_image *image, __tgt_image_info *info) {
  (void)info; /* says less than the ELF header */
  return rtl_image_fits(image);
}

EXPORT uintptr_t __tgt_rtl_load_binary(int32_t number, __tgt_device_image *image,
                                       __tgt_device_binary *binary) {
  int host = rtl_plugin_host(rtl_plugin(), __builtin_return_address(0));
  atmi_omp_device_t *device = atmi_context_device(atmi_context(), number, "load a device image");
  atmi_loaded_image_t *loaded;
  bool has_place = binary || caller_abi_registers_libraries(host); /* of 18 only */
  if (device && (!image || !has_place)) {
    refuse_null(device->core->label, "load a device image", image ? "the result" : "it");
    device = NULL;
  }
  if (!device || rtl_image_load(device, image, &loaded))
    return caller_abi_answer_load(host, NULL, NULL, binary);
  return caller_abi_answer_load(host, rtl_image_table(loaded), loaded, binary);
}

/* An entry of the image that is of the kind asked for, and that there is a place to return. */
static const atmi_entry_t *find_entry(__tgt_device_binary binary, const char *name, bool is_kernel,
                                      void *const *place) {
  atmi_loaded_image_t *loaded = (atmi_loaded_image_t *)binary.handle;
  if (!place) {
    refuse_null(NULL, is_kernel ? "find a kernel" : "find a variable", "the result");
    return NULL;
  }
  const atmi_entry_t *entry = loaded && name ? atmi_image_find(loaded, name) : NULL;
  if (entry && !entry->size == is_kernel)
    return entry;
  atmi_fail(ATMI_NOT_FOUND, loaded ? loaded->object.device->label : NULL,
            "cannot find %s %s: the device image that was loaded has none", is_kernel ? "kernel" : "variable",
            name ? name : "(no name)");
  return NULL;
}

EXPORT int32_t __tgt_rtl_get_global(__tgt_device_binary binary, uint64_t size, const char *name,
                                    void **address) {
  const atmi_entry_t *entry = find_entry(binary, name, false, address);
  if (!entry)
    return OFFLOAD_FAIL;
  if (size && entry->size != size) {
    atmi_fail(ATMI_INVALID, NULL,
              "cannot find variable %s of %llu bytes: the one in the device image has %llu", name,
              (unsigned long long)size, (unsigned long long)entry->size);
    return OFFLOAD_FAIL;
  }
  *address = entry->address;
  return OFFLOAD_SUCCESS;
}

EXPORT int32_t __tgt_rtl_get_function(__tgt_device_binary binary, const char *name, void **kernel) {
  const atmi_entry_t *entry = find_entry(binary, name, true, kernel);
  if (!entry)
    return OFFLOAD_FAIL;
  *kernel = entry->address;
  return OFFLOAD_SUCCESS;
}

/* ---- memory ---- */

/* Whether a size can be one; libomptarget passes it signed. */
static bool is_size(const atmi_omp_device_t *device, int64_t size, const char *operation) {
  if (size >= 0)
    return true;
  atmi_fail(ATMI_INVALID, device->core->label, "cannot %s %lld bytes", operation, (long long)size);
  return false;
}

/* Allocating, freeing and copying each have a first way, which is as short as can be, and a general one. */
static __attribute__((noinline)) void *allocate(int32_t number, int64_t size, const void *host,
                                                int32_t kind) {
  atmi_omp_device_t *device = atmi_context_device(atmi_context(), number, "allocate memory");
  void *memory = NULL;
  if (!device || !is_size(device, size, "allocate"))
    return NULL;
  bool on_host = kind == TARGET_ALLOC_HOST || kind == TARGET_ALLOC_SHARED;
  if (atmi_memory_allocate_for(&device->core->memory, (uint64_t)size,
                               on_host ? ATMI_MEMORY_HOST : ATMI_MEMORY_DEVICE, host, &memory))
    return NULL;
  return memory;
}

EXPORT void *__tgt_rtl_data_alloc(int32_t number, int64_t size, void *host, int32_t kind) {
  void *memory;
  if (atmi_context_is_usable(atmi_context(), number) &&
      (kind == TARGET_ALLOC_DEFAULT || kind == TARGET_ALLOC_DEVICE) &&
      atmi_memory_take_cached(&atmi_context_core(atmi_context(), number)->memory, (uint64_t)size, host,
                              &memory))
    return memory;
  return allocate(number, size, host, kind);
}

static __attribute__((noinline)) int32_t release(int32_t number, void *memory) {
  atmi_omp_device_t *device = atmi_context_any_device(atmi_context(), number, "free memory");
  if (atmi_context_is_ending(atmi_context())) /* it goes with the process */
    return OFFLOAD_SUCCESS;
  return device ? result_of(atmi_memory_free(&device->core->memory, memory)) : OFFLOAD_FAIL;
}

EXPORT int32_t __tgt_rtl_data_delete(int32_t number, void *memory, int32_t kind) {
  (void)kind; /* not passed before 16; the allocation itself knows */
  if (atmi_context_is_usable(atmi_context(), number) &&
      atmi_memory_put_cached(&atmi_context_core(atmi_context(), number)->memory, memory))
    return OFFLOAD_SUCCESS;
  return release(number, memory);
}

/* Completes an operation that was begun on a queue of its own. */
static int32_t complete(int32_t begun, __tgt_async_info *queue) {
  int32_t ended = result_of(rtl_queue_synchronize_all(queue));
  return begun ? begun : ended;
}

static __attribute__((noinline)) int32_t submit(int32_t number, void *target, const void *host, int64_t size,
                                                __tgt_async_info *queue) {
  atmi_omp_device_t *device = atmi_context_device(atmi_context(), number, atmi_transfer_submits);
  atmi_stream_t *stream;
  if (rtl_queue_is_missing(queue)) {
    __tgt_async_info own = {NULL};
    return complete(submit(number, target, host, size, &own), &own);
  }
  if (!device || !is_size(device, size, atmi_transfer_submits) ||
      rtl_queue_stream(device, queue, atmi_transfer_submits, &stream))
    return OFFLOAD_FAIL;
  return result_of(atmi_transfer_submit(stream, target, host, (size_t)size));
}

EXPORT int32_t __tgt_rtl_data_submit_async(int32_t number, void *target, void *host, int64_t size,
                                           __tgt_async_info *queue) {
  atmi_status_t status;
  atmi_stream_t *stream = rtl_copy_stream(atmi_context(), number, host, queue);
  if (stream && atmi_transfer_submit_small(stream, target, host, (size_t)size, &status))
    return result_of(status);
  return submit(number, target, host, size, queue);
}

/* Whether a caller wants that, see caller_abi_retrieve_waits. */
static inline bool waits(void) {
  return atomic_load_explicit(&rtl_plugin()->retrieve_waits, memory_order_relaxed);
}

/* By the first way: the stream has no more to do than this copy. */
static inline int32_t end_small_retrieve(int32_t number, atmi_stream_t *stream, void *host, size_t bytes) {
  if (!atmi_stream_has_first_ended(stream) || !atmi_context_is_sound(atmi_context(), number))
    return result_of(atmi_stream_synchronize(stream));
  atmi_transfer_end_small(stream, host, bytes);
  return OFFLOAD_SUCCESS;
}

static __attribute__((noinline)) int32_t retrieve(int32_t number, void *host, const void *target,
                                                  int64_t size, __tgt_async_info *queue) {
  atmi_omp_device_t *device = atmi_context_device(atmi_context(), number, atmi_transfer_retrieves);
  atmi_stream_t *stream;
  if (rtl_queue_is_missing(queue)) {
    __tgt_async_info own = {NULL};
    return complete(retrieve(number, host, target, size, &own), &own);
  }
  if (!device || !is_size(device, size, atmi_transfer_retrieves) ||
      rtl_queue_stream(device, queue, atmi_transfer_retrieves, &stream))
    return OFFLOAD_FAIL;
  atmi_status_t status = atmi_transfer_retrieve(stream, host, target, (size_t)size);
  return result_of(!status && waits() ? atmi_stream_synchronize(stream) : status);
}

EXPORT int32_t __tgt_rtl_data_retrieve_async(int32_t number, void *host, void *target, int64_t size,
                                             __tgt_async_info *queue) {
  atmi_status_t status;
  atmi_stream_t *stream = rtl_copy_stream(atmi_context(), number, host, queue);
  if (stream && atmi_transfer_retrieve_small(stream, host, target, (size_t)size, &status))
    return !status && waits() ? end_small_retrieve(number, stream, host, (size_t)size) : result_of(status);
  return retrieve(number, host, target, size, queue);
}

/* The device of this number if it may be used, or NULL, without a word. */
static const atmi_device_t *ask_for_device(int32_t number) {
  if (!atmi_context_is_usable(atmi_context(), number))
    atmi_context_begin_use(atmi_context());
  return atmi_context_is_usable(atmi_context(), number) ? atmi_context_core(atmi_context(), number) : NULL;
}

EXPORT int32_t __tgt_rtl_is_data_exchangable(int32_t source, int32_t target) {
  const atmi_device_t *from = ask_for_device(source), *to = ask_for_device(target);
  return from && to && atmi_exchange_is_direct(from, to);
}

EXPORT int32_t __tgt_rtl_data_exchange_async(int32_t source_number, void *source, int32_t target_number,
                                             void *target, int64_t size, __tgt_async_info *queue) {
  atmi_omp_device_t *from = atmi_context_device(atmi_context(), source_number, "copy between devices"),
                    *to = atmi_context_device(atmi_context(), target_number, "copy between devices");
  atmi_stream_t *stream;
  if (rtl_queue_is_missing(queue))
    return __tgt_rtl_data_exchange(source_number, source, target_number, target, size);
  if (!from || !to || !is_size(from, size, "copy between devices") ||
      rtl_queue_stream(from, queue, "copy between devices", &stream))
    return OFFLOAD_FAIL;
  return result_of(atmi_exchange(stream, source, to->core, target, (size_t)size));
}

EXPORT int32_t __tgt_rtl_data_lock(int32_t number, void *host, int64_t size, void **locked) {
  (void)number; /* counts other plugins' devices too; the memory is for all of ours anyway */
  const atmi_omp_device_t *device = atmi_context_device(atmi_context(), 0, "lock host memory");
  if (!device || !is_size(device, size, "lock"))
    return OFFLOAD_FAIL;
  if (!locked)
    return refuse_null(device->core->label, "lock host memory", "the result");
  return result_of(atmi_host_lock(&atmi_context()->machine.host_locks, host, (size_t)size, locked));
}

EXPORT int32_t __tgt_rtl_data_unlock(int32_t number, void *host) {
  (void)number;
  if (!atmi_context_any_device(atmi_context(), 0, "unlock host memory"))
    return OFFLOAD_FAIL;
  if (atmi_context_is_ending(atmi_context()))
    return OFFLOAD_SUCCESS;
  return result_of(atmi_host_unlock(&atmi_context()->machine.host_locks, host));
}

EXPORT int32_t __tgt_rtl_data_notify_mapped(int32_t number, void *host, int64_t size) {
  atmi_context_t *context = atmi_context();
  const atmi_omp_device_t *device = atmi_context_device(context, number, "map host memory");
  if (!device || !is_size(device, size, "map"))
    return OFFLOAD_FAIL;
  if (!context->env.lock_mapped)
    return OFFLOAD_SUCCESS;
  bool mandatory = context->env.lock_mapped == ATMI_ENV_MANDATORY;
  return result_of(atmi_host_map(&context->machine.host_locks, host, (size_t)size, mandatory));
}

EXPORT int32_t __tgt_rtl_data_notify_unmapped(int32_t number, void *host) {
  atmi_context_t *context = atmi_context();
  if (!atmi_context_any_device(context, number, "unmap host memory"))
    return OFFLOAD_FAIL;
  if (context->env.lock_mapped && !atmi_context_is_ending(context))
    atmi_host_unmap(&context->machine.host_locks, host);
  return OFFLOAD_SUCCESS;
}

EXPORT int32_t __tgt_rtl_data_submit(int32_t number, void *target, void *host, int64_t size) {
  __tgt_async_info queue = {NULL};
  return complete(__tgt_rtl_data_submit_async(number, target, host, size, &queue), &queue);
}

EXPORT int32_t __tgt_rtl_data_retrieve(int32_t number, void *host, void *target, int64_t size) {
  __tgt_async_info queue = {NULL};
  return complete(__tgt_rtl_data_retrieve_async(number, host, target, size, &queue), &queue);
}

EXPORT int32_t __tgt_rtl_data_exchange(int32_t source_number, void *source, int32_t target_number,
                                       void *target, int64_t size) {
  __tgt_async_info queue = {NULL};
  return complete(__tgt_rtl_data_exchange_async(source_number, source, target_number, target, size, &queue),
                  &queue);
}

/* ---- launches ---- */

/* Apart from launches, whose stack need not hold a name. */
static __attribute__((noinline)) int32_t refuse_kernel(const atmi_omp_device_t *device,
                                                       const atmi_kernel_t *kernel) {
  atmi_fail(ATMI_INVALID, device->core->label,
            "cannot launch %s: the program passes the one that was loaded on %s",
            atmi_kernel_label(kernel).text, kernel->owner->device->label);
  return OFFLOAD_FAIL;
}

static int32_t launch(int32_t number, const void *kernel, const atmi_omp_request_t *request,
                      __tgt_async_info *queue) {
  atmi_omp_device_t *device = atmi_context_any_device(atmi_context(), number, "launch a kernel");
  if (!device)
    return OFFLOAD_FAIL;
  if (!kernel) {
    atmi_fail(ATMI_INVALID, device->core->label, "cannot launch a kernel: the program passes none");
    return OFFLOAD_FAIL;
  }
  const atmi_omp_kernel_t *region = kernel;
  if (region->core.owner->device != device->core)
    return refuse_kernel(device, &region->core);
  if (request->shape.argument_count && (!request->arguments || !request->offsets))
    return refuse_null(device->core->label, "launch a kernel", "its arguments");
  __tgt_async_info own = {NULL}, *used = rtl_queue_is_missing(queue) ? &own : queue;
  atmi_stream_t *stream;
  if (rtl_queue_stream(device, used, "launch a kernel", &stream))
    return OFFLOAD_FAIL;
  int32_t begun = result_of(atmi_omp_launch(atmi_context(), device, region, request, stream));
  return used == &own ? complete(begun, &own) : begun;
}

/* The general ways, apart from the entry points so that those need no room for a request. */
static __attribute__((noinline)) int32_t launch_kernel(int32_t number, const void *kernel, void **args,
                                                       ptrdiff_t *offsets, const KernelArgsTy *kernel_args,
                                                       __tgt_async_info *queue) {
  atmi_omp_request_t request = caller_abi_launch_from_kernel_args(args, offsets, kernel_args);
  return launch(number, kernel, &request, queue);
}

static __attribute__((noinline)) int32_t launch_region(int32_t number, const void *kernel, void **args,
                                                       ptrdiff_t *offsets, int32_t arg_num, int32_t num_teams,
                                                       int32_t thread_limit, uint64_t tripcount,
                                                       __tgt_async_info *queue) {
  atmi_omp_request_t request =
      caller_abi_launch_from_team_region(args, offsets, arg_num, num_teams, thread_limit, tripcount);
  return launch(number, kernel, &request, queue);
}

EXPORT int32_t __tgt_rtl_launch_kernel(int32_t number, void *kernel, void **args, ptrdiff_t *offsets,
                                       KernelArgsTy *kernel_args, __tgt_async_info *queue) {
  atmi_status_t status;
  atmi_stream_t *stream = rtl_launch_stream(atmi_context(), number, kernel, queue);
  if (stream && atmi_omp_launch_again(
                    stream, atmi_omp_launch_key(kernel, caller_abi_words_from_kernel_args(kernel_args)), args,
                    offsets, &status))
    return result_of(status);
  return launch_kernel(number, kernel, args, offsets, kernel_args, queue);
}

static inline __attribute__((always_inline)) int32_t
run_region(int32_t number, const void *kernel, void **args, ptrdiff_t *offsets, int32_t arg_num,
           int32_t num_teams, int32_t thread_limit, uint64_t tripcount, __tgt_async_info *queue) {
  atmi_status_t status;
  atmi_stream_t *stream = rtl_launch_stream(atmi_context(), number, kernel, queue);
  atmi_omp_words_t words = caller_abi_words_from_team_region(arg_num, num_teams, thread_limit, tripcount);
  if (stream && atmi_omp_launch_again(stream, atmi_omp_launch_key(kernel, words), args, offsets, &status))
    return result_of(status);
  return launch_region(number, kernel, args, offsets, arg_num, num_teams, thread_limit, tripcount, queue);
}

EXPORT int32_t __tgt_rtl_run_target_team_region_async(int32_t number, void *kernel, void **args,
                                                      ptrdiff_t *offsets, int32_t arg_num, int32_t num_teams,
                                                      int32_t thread_limit, uint64_t tripcount,
                                                      __tgt_async_info *queue) {
  return run_region(number, kernel, args, offsets, arg_num, num_teams, thread_limit, tripcount, queue);
}

/* One team. */
EXPORT int32_t __tgt_rtl_run_target_region_async(int32_t number, void *kernel, void **args,
                                                 ptrdiff_t *offsets, int32_t arg_num,
                                                 __tgt_async_info *queue) {
  return run_region(number, kernel, args, offsets, arg_num, 1, 0, 0, queue);
}

EXPORT int32_t __tgt_rtl_run_target_region(int32_t number, void *kernel, void **args, ptrdiff_t *offsets,
                                           int32_t arg_num) {
  return __tgt_rtl_run_target_region_async(number, kernel, args, offsets, arg_num, NULL);
}

EXPORT int32_t __tgt_rtl_run_target_team_region(int32_t number, void *kernel, void **args, ptrdiff_t *offsets,
                                                int32_t arg_num, int32_t num_teams, int32_t thread_limit,
                                                uint64_t tripcount) {
  return __tgt_rtl_run_target_team_region_async(number, kernel, args, offsets, arg_num, num_teams,
                                                thread_limit, tripcount, NULL);
}

/* ---- queues and events ---- */

EXPORT int64_t __tgt_rtl_synchronize(int32_t number, __tgt_async_info *queue) {
  if (!atmi_context_has_device(atmi_context(), number, "wait for the device"))
    return OFFLOAD_FAIL;
  return result_of(rtl_queue_synchronize(queue));
}

EXPORT int32_t __tgt_rtl_query_async(int32_t number, __tgt_async_info *queue) {
  if (!atmi_context_any_device(atmi_context(), number, "ask for the state of the device"))
    return OFFLOAD_FAIL;
  atmi_status_t status = queue ? rtl_queue_query(queue) : ATMI_OK;
  return status == ATMI_PENDING ? OFFLOAD_SUCCESS : result_of(status);
}

static const char record_text[] = "record an event", wait_text[] = "wait for an event";

/* The device of an event that a caller passes, if that is one and the device may be used. */
static atmi_omp_device_t *device_of_event(int32_t number, const atmi_event_t *event, const char *operation) {
  atmi_omp_device_t *device = atmi_context_any_device(atmi_context(), number, operation);
  if (!device || (uintptr_t)event % ATMI_POOL_ALIGNMENT == ATMI_POOL_SKEW)
    return device;
  atmi_fail(ATMI_INVALID, device->core->label, "cannot %s: %p is none", operation, (const void *)event);
  return NULL;
}

static __attribute__((noinline)) int32_t create_event(int32_t number, void **event) {
  atmi_omp_device_t *device = atmi_context_device(atmi_context(), number, "create an event");
  atmi_event_t *made;
  if (!device || atmi_event_take(device->core, &made))
    return OFFLOAD_FAIL;
  *event = made;
  return OFFLOAD_SUCCESS;
}

EXPORT int32_t __tgt_rtl_create_event(int32_t number, void **event) {
  atmi_event_t *made;
  if (!atmi_context_is_usable(atmi_context(), number) ||
      !(made = atmi_event_take_here(atmi_context_core(atmi_context(), number))))
    return create_event(number, event);
  *event = made;
  return OFFLOAD_SUCCESS;
}

static __attribute__((noinline)) int32_t record_event(int32_t number, atmi_event_t *event,
                                                      const __tgt_async_info *queue) {
  atmi_omp_device_t *device = device_of_event(number, event, record_text);
  atmi_stream_t *stream = queue ? rtl_queue_held(queue) : NULL;
  if (!device)
    return OFFLOAD_FAIL;
  /* Its mark would be one of another device's signals. */
  if (stream && stream->device != event->device)
    return result_of(rtl_queue_refuse(device, stream, record_text));
  return result_of(atmi_event_record(event, stream));
}

/* Behind a retrieve of a few bytes, mostly. */
static __attribute__((noinline)) int32_t record_copied(int32_t number, atmi_event_t *event,
                                                       const __tgt_async_info *queue) {
  if (!atmi_context_is_usable(atmi_context(), number) || !atmi_stream_settle_copy(queue->Queue))
    return record_event(number, event, queue);
  atmi_event_record_done(event);
  return OFFLOAD_SUCCESS;
}

EXPORT int32_t __tgt_rtl_record_event(int32_t number, void *event, __tgt_async_info *queue) {
  if (!event || !queue || !rtl_queue_held(queue))
    return record_event(number, event, queue);
  atmi_stream_t *stream = queue->Queue;
  if (!atmi_stream_has_ended_plainly(stream))
    return record_copied(number, event, queue);
  if (!atmi_context_is_sound(atmi_context(), number))
    return record_event(number, event, queue);
  stream->count = 0;
  atmi_event_record_done(event);
  return OFFLOAD_SUCCESS;
}

static __attribute__((noinline)) int32_t wait_for_event(int32_t number, atmi_event_t *event,
                                                        __tgt_async_info *queue) {
  atmi_omp_device_t *device = device_of_event(number, event, wait_text);
  if (!device)
    return OFFLOAD_FAIL;
  atmi_stream_t *stream;
  atmi_status_t status = atmi_event_query(event);
  if (status != ATMI_PENDING)
    return result_of(status);
  if (rtl_queue_is_missing(queue))
    return result_of(atmi_event_synchronize(event));
  if (rtl_queue_stream(device, queue, wait_text, &stream))
    return OFFLOAD_FAIL;
  return result_of(atmi_event_wait(event, stream));
}

EXPORT int32_t __tgt_rtl_wait_event(int32_t number, void *event, __tgt_async_info *queue) {
  if (event && atmi_context_is_usable(atmi_context(), number) && atmi_event_is_complete(event))
    return OFFLOAD_SUCCESS;
  return wait_for_event(number, event, queue);
}

EXPORT int32_t __tgt_rtl_sync_event(int32_t number, void *event) {
  return device_of_event(number, event, wait_text) ? result_of(atmi_event_synchronize(event)) : OFFLOAD_FAIL;
}

static __attribute__((noinline)) int32_t destroy_event(int32_t number, atmi_event_t *event) {
  if (!device_of_event(number, event, "destroy an event"))
    return OFFLOAD_FAIL;
  atmi_event_put(event);
  return OFFLOAD_SUCCESS;
}

EXPORT int32_t __tgt_rtl_destroy_event(int32_t number, void *event) {
  if (event && atmi_context_is_usable(atmi_context(), number) && atmi_event_put_home(event))
    return OFFLOAD_SUCCESS;
  return destroy_event(number, event);
}

/* ---- interop ---- */

EXPORT int32_t __tgt_rtl_init_async_info(int32_t number, __tgt_async_info **queue) {
  atmi_omp_device_t *device = atmi_context_device(atmi_context(), rtl_interop_number(atmi_context(), number),
                                                  "make an interop queue");
  if (device && !queue)
    return refuse_null(device->core->label, "make an interop queue", "it");
  return device ? result_of(rtl_interop_queue(rtl_plugin(), device, queue)) : OFFLOAD_FAIL;
}

EXPORT int64_t __tgt_rtl_init_device_info(int64_t number, __tgt_device_info *info, const char **error) {
  if (!info || !error)
    return refuse_null(NULL, "describe a device", "the result");
  *error = NULL;
  const atmi_omp_device_t *device = atmi_context_any_device(
      atmi_context(), rtl_interop_number(atmi_context(), number), "describe a device");
  if (!device) {
    *error = "no such AMD device";
    return OFFLOAD_FAIL;
  }
  info->Context = NULL;
  if (!info->Device)
    info->Device = (void *)(uintptr_t)device->core->agent.handle;
  return OFFLOAD_SUCCESS;
}
