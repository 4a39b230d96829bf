/* Streams: how operations are ordered, and what happens when they are complete. */
#include "atmi_stream.h"

#include "atmi_hostcall_queue.h"

#include "atmi_hsa.h"
#include "atmi_plan.h"

#include "atmi_stream_trace.h"

#include <stdlib.h>
#include <string.h>

/* ---- the pool ---- */

/* Of a signal that is not there; see atmi_stream_t. */
static const int64_t never_complete = 1;

static void set_own(atmi_stream_t *stream, atmi_signal_t *own) {
  stream->own = own;
  stream->own_value = own ? own->value : &never_complete;
}

static atmi_status_t make_stream(void *object, void *context) {
  atmi_stream_t *stream = object;
  atmi_device_t *device = context;
  stream->device = device;
  set_own(stream, NULL);
  stream->kernargs =
      (atmi_arena_t){.pool = &device->kernarg_blocks, .block_bytes = device->kernarg_source.block_bytes};
  stream->staging =
      (atmi_arena_t){.pool = &device->staging_blocks, .block_bytes = device->staging_source.block_bytes};
  return ATMI_OK;
}

static void destroy_stream(void *object, void *context) {
  atmi_stream_t *stream = object;
  (void)context;
  free(stream->signals);
  free(stream->duties);
  atmi_plans_destroy(stream->plans);
  free(stream->notes);
}

void atmi_stream_pool_init(atmi_device_t *device) {
  atmi_pool_init(&device->streams, sizeof(atmi_stream_t), make_stream, destroy_stream, device);
}

atmi_status_t atmi_stream_take_any(atmi_device_t *device, atmi_stream_t **stream) {
  void *object;
  atmi_status_t status = atmi_pool_take(&device->streams, &object);
  if (status)
    return atmi_fail(status, device->label, "cannot make a stream: out of host memory");
  *stream = object;
  (*stream)->place = atmi_stream_place(device);
  atomic_store_explicit(&(*stream)->taken, true, memory_order_relaxed);
  return ATMI_OK;
}

void atmi_stream_put_any(atmi_stream_t *stream) {
  /* A failure was described by whoever caused it; here the operations only have to be over. */
  atmi_status_t ended = atmi_stream_synchronize_all(stream);
  (void)ended;
  atmi_stream_put_idle(stream);
}

void atmi_stream_pool_abandon(atmi_device_t *device) {
  uint32_t count = atmi_pool_count(&device->streams);
  for (uint32_t i = 0; i < count; i++) {
    atmi_stream_t *stream = atmi_pool_at(&device->streams, i);
    /* Sequentially consistent, as are the store of the device's lost flag before this, and the store of a new
     * slot's size before the look at that flag: this comes after that store, or the look sees the loss. */
    atomic_store(&stream->slot_bytes, 0);
  }
}

/* ---- bookkeeping ---- */

static atmi_status_t out_of_host_memory(const atmi_stream_t *stream) {
  return atmi_fail(ATMI_NO_MEMORY, stream->device->label, "cannot begin an operation: out of host memory");
}

/* Grows an array so that it holds `needed` elements. */
static bool reserve(void **array, uint32_t *capacity, uint32_t needed, size_t element_bytes) {
  if (needed <= *capacity)
    return true;
  uint32_t larger = *capacity ? 2 * *capacity : 16;
  while (larger < needed)
    larger *= 2;
  void *longer = realloc(*array, larger * element_bytes);
  if (!longer)
    return false;
  *array = longer;
  *capacity = larger;
  return true;
}

atmi_status_t atmi_stream_grow_duties(atmi_stream_t *stream, uint32_t count) {
  void *duties = stream->duties;
  bool enough = reserve(&duties, &stream->duty_capacity, stream->duty_count + count, sizeof *stream->duties);
  stream->duties = duties;
  return enough ? ATMI_OK : out_of_host_memory(stream);
}

/* Keeps a reference, which the caller gives away, until the stream is idle: the device may read the signal so
 * long. */
static bool keep_signal(atmi_stream_t *stream, atmi_signal_t *signal) {
  if (stream->signal_count == stream->signal_capacity) {
    void *signals = stream->signals;
    bool enough =
        reserve(&signals, &stream->signal_capacity, stream->signal_count + 1, sizeof *stream->signals);
    stream->signals = signals;
    if (!enough)
      return false;
  }
  stream->signals[stream->signal_count++] = signal;
  return true;
}

/* Gives a reference back; a signal of this device that nobody uses any more stays with the stream. */
static void release_signal(atmi_stream_t *stream, atmi_signal_t *signal) {
  if (!atmi_signal_retire(signal))
    atmi_signal_unref(signal);
  else if (signal->pool == &stream->device->signals && stream->spare_count < ATMI_STREAM_SPARES)
    stream->spares[stream->spare_count++] = signal;
  else
    atmi_pool_put(signal->pool, signal);
}

/* A new signal for the next operation, kept by the stream. */
static atmi_status_t new_tail(atmi_stream_t *stream, atmi_signal_t **signal) {
  if (stream->spare_count) {
    *signal = stream->spares[--stream->spare_count];
    atmi_signal_begin(*signal);
  } else {
    atmi_status_t status = atmi_signal_take(&stream->device->signals, signal);
    if (status)
      return status;
  }
  if (keep_signal(stream, *signal))
    return ATMI_OK;
  release_signal(stream, *signal);
  return out_of_host_memory(stream);
}

bool atmi_stream_has_own(atmi_stream_t *stream) {
  atmi_signal_t *own;
  if (stream->own)
    return true;
  if (stream->device->machine->timeline || atmi_signal_take(&stream->device->signals, &own))
    return false;
  /* Complete until it is used. */
  __atomic_store_n(own->value, 0, __ATOMIC_RELAXED);
  set_own(stream, own);
  return true;
}

/* What the next operation must wait for besides the queue's own order. */
enum { MOST_DEPENDENCIES = 16 };
typedef struct dependencies {
  atmi_signal_t *signals[MOST_DEPENDENCIES];
  uint32_t count;
} dependencies_t;

/* Adds a signal unless it is complete. With no room left, waits on the host. */
static atmi_status_t depend_on(dependencies_t *dependencies, atmi_signal_t *signal) {
  atmi_status_t status = atmi_signal_query(signal);
  if (status != ATMI_PENDING)
    return status;
  if (dependencies->count == MOST_DEPENDENCIES)
    return atmi_signal_wait(signal, 0);
  dependencies->signals[dependencies->count++] = signal;
  return ATMI_OK;
}

/* Collects the signals that the next operation waits for; the waits stay noted until it has begun. */
static atmi_status_t collect_all(atmi_stream_t *stream, bool with_tail, dependencies_t *dependencies) {
  atmi_status_t status = ATMI_OK;
  if (with_tail && stream->tail)
    status = depend_on(dependencies, stream->tail);
  for (uint32_t i = 0; !status && i < stream->wait_count; i++)
    status = depend_on(dependencies, stream->waits[i]);
  return status;
}

static inline atmi_status_t collect(atmi_stream_t *stream, bool with_tail, dependencies_t *dependencies) {
  dependencies->count = 0;
  if (!stream->wait_count && (!with_tail || !stream->tail || !atmi_signal_query(stream->tail)))
    return ATMI_OK;
  return collect_all(stream, with_tail, dependencies);
}

/* From now on the stream is more than its own signal can tell. */
static void become_busy(atmi_stream_t *stream) {
  if (stream->phase < ATMI_STREAM_BUSY && stream->phase & (ATMI_STREAM_LAUNCHED | ATMI_STREAM_COPIED)) {
    stream->tail = stream->own;
    stream->tail_kind = stream->phase & ATMI_STREAM_COPIED ? ATMI_TAIL_COPY : ATMI_TAIL_KERNELS;
  }
  stream->phase |= ATMI_STREAM_BUSY;
}

atmi_status_t atmi_stream_wait_for(atmi_stream_t *stream, atmi_signal_t *signal) {
  atmi_status_t status = atmi_signal_query(signal);
  if (status != ATMI_PENDING)
    return status;
  if (stream->wait_count == ATMI_STREAM_WAITS)
    return atmi_signal_wait(signal, 0);
  become_busy(stream);
  if (!keep_signal(stream, signal))
    return out_of_host_memory(stream);
  atmi_signal_ref(signal);
  stream->waits[stream->wait_count++] = signal;
  return ATMI_OK;
}

void atmi_stream_settle_waits(atmi_stream_t *stream) {
  for (uint32_t i = 0; i < stream->wait_count; i++)
    if (atmi_signal_wait(stream->waits[i], 0))
      return;
  stream->wait_count = 0;
}

atmi_signal_mark_t atmi_stream_close_tail(atmi_stream_t *stream) {
  if (stream->phase == ATMI_STREAM_IDLE)
    return 0;
  become_busy(stream);
  if (!stream->tail)
    return 0;
  stream->tail->closed = true;
  return atmi_signal_mark(stream->tail);
}

/* ---- operations ---- */

bool atmi_stream_runs_alone(const atmi_stream_t *stream, const atmi_kernel_t *kernel,
                            const atmi_launch_t *launch) {
  /* ROCr has 4 GiB of scratch memory for all queues together, and stops a queue for which nothing is left.
   * Whoever wants more than a share of it that leaves the rest to one other launch, waits for its turn. */
  const uint64_t share = UINT64_C(128) << 20;
  if (kernel->alone || !kernel->private_bytes)
    return kernel->alone;
  const atmi_device_properties_t *device = &stream->device->properties;
  enum { WAVES_PER_COMPUTE_UNIT = 32 };
  uint64_t threads = (uint64_t)launch->group[0] * launch->group[1] * launch->group[2];
  uint64_t waves = (threads + device->wavefront - 1) / device->wavefront;
  uint64_t most = (uint64_t)device->compute_units * WAVES_PER_COMPUTE_UNIT;
  for (int i = 0; i < 3 && waves < most; i++)
    waves *= launch->groups[i];
  return (waves < most ? waves : most) * device->wavefront * kernel->private_bytes > share;
}

/* A queue for the next kernel. Kernels that must run alone share the first one, whose order keeps them apart.
 * `*moved` tells whether earlier kernels of the stream are on another. */
static atmi_status_t hold_queue(atmi_stream_t *stream, bool alone, bool *moved) {
  atmi_queue_t *before = stream->queue;
  *moved = false;
  if (stream->holds_queue && (!alone || atmi_device_is_first_queue(stream->device, before)))
    return ATMI_OK;
  atmi_status_t status = alone ? atmi_device_acquire_first_queue(stream->device, &stream->queue)
                               : atmi_device_acquire_queue(stream->device, before, &stream->queue);
  if (status)
    return status;
  if (stream->holds_queue) {
    *moved = true;
    atmi_queue_release(before);
  }
  stream->holds_queue = true;
  if (stream->queue != before)
    atmi_plans_forget(stream);
  return ATMI_OK;
}

static bool fits(const atmi_stream_t *stream, const atmi_kernel_t *kernel, const atmi_launch_t *launch) {
  return 8 * ((uint64_t)launch->argument_count + launch->has_leading) <= kernel->metadata->explicit_bytes &&
         (uint64_t)kernel->group_bytes + launch->dynamic_lds_bytes <= stream->device->properties.lds_bytes;
}

static atmi_status_t describe_misfit(const atmi_stream_t *stream, const atmi_kernel_t *kernel,
                                     const atmi_launch_t *launch) {
  const atmi_device_t *device = stream->device;
  if (8 * ((uint64_t)launch->argument_count + launch->has_leading) > kernel->metadata->explicit_bytes)
    return atmi_fail(
        ATMI_INVALID, device->label,
        "cannot launch kernel %s: it takes %u bytes of arguments, the program passes %u words; host and "
        "device code do not belong together",
        kernel->name, kernel->metadata->explicit_bytes, launch->argument_count);
  return atmi_fail(
      ATMI_UNSUPPORTED, device->label,
      "cannot launch kernel %s: a team needs %u bytes of LDS and %u more are asked for dynamically, the "
      "device has %u; lower LIBOMPTARGET_SHARED_MEMORY_SIZE, or ompx_dyn_cgroup_mem of the region",
      kernel->name, kernel->group_bytes, launch->dynamic_lds_bytes, device->properties.lds_bytes);
}

static void fill_hidden(const atmi_stream_t *stream, const atmi_kernel_t *kernel, const atmi_launch_t *launch,
                        void *block) {
  const atmi_kernarg_facts_t facts = {
      .groups = {launch->groups[0], launch->groups[1], launch->groups[2]},
      .group = {launch->group[0], launch->group[1], launch->group[2]},
      .dynamic_lds_bytes = launch->dynamic_lds_bytes,
      .private_base = stream->queue->private_base,
      .shared_base = stream->queue->shared_base,
      .queue = (uint64_t)(uintptr_t)stream->queue->hsa,
  };
  atmi_kernarg_fill_hidden(kernel->metadata, &facts, block);
}

void atmi_stream_fill_arguments(const atmi_stream_t *stream, const atmi_kernel_t *kernel,
                                const atmi_launch_t *launch, void *block) {
  atmi_kernarg_fill_words(kernel->metadata, launch->has_leading ? &launch->leading : NULL, launch->arguments,
                          launch->offsets, launch->argument_count, block);
  if (kernel->metadata->hidden_count)
    fill_hidden(stream, kernel, launch, block);
}

static atmi_status_t make_arguments(atmi_stream_t *stream, const atmi_kernel_t *kernel,
                                    const atmi_launch_t *launch, void **block) {
  atmi_status_t status = atmi_arena_allocate(&stream->kernargs, kernel->metadata->kernarg_bytes, block);
  if (status == ATMI_INVALID)
    return atmi_fail(ATMI_UNSUPPORTED, stream->device->label,
                     "cannot launch kernel %s: it takes %u bytes of arguments, more than %zu", kernel->name,
                     kernel->metadata->kernarg_bytes, stream->kernargs.block_bytes);
  if (status)
    return status;
  atmi_stream_fill_arguments(stream, kernel, launch, *block);
  if (kernel->uses_hostcall) {
    void *buffer = atomic_load_explicit(&stream->queue->hostcall_buffer, memory_order_relaxed);
    memcpy((char *)*block + kernel->metadata->hostcall_offset, &buffer, sizeof buffer);
    if (kernel->metadata->heap_offset)
      memcpy((char *)*block + kernel->metadata->heap_offset, &stream->device->allocator,
             sizeof stream->device->allocator);
  }
  return ATMI_OK;
}

atmi_status_t atmi_stream_workspace(atmi_stream_t *stream, uint64_t bytes, void **block, bool *fresh) {
  *fresh = bytes > stream->workspace_bytes;
  if (*fresh) {
    /* Kernels of this stream may still use the smaller block, so it stays until the device is released. Twice
     * the size each time, so that such blocks never add up to more than the last one. */
    uint64_t twice = 2 * stream->workspace_bytes, larger = bytes > twice ? bytes : twice;
    void *memory;
    atmi_status_t status = atmi_memory_allocate(&stream->device->memory, larger, ATMI_MEMORY_DEVICE, &memory);
    if (status)
      return status;
    stream->workspace = memory;
    stream->workspace_bytes = larger;
  }
  *block = stream->workspace;
  return ATMI_OK;
}

/* Makes the queue wait for what the launch must wait for, besides the kernels before it on the queue when
 * `with_tail` is false. `*waits` tells whether there was anything. */
static atmi_status_t order_launch(atmi_stream_t *stream, bool with_tail, bool *waits) {
  dependencies_t dependencies;
  atmi_status_t status = collect(stream, with_tail, &dependencies);
  *waits = dependencies.count;
  return status ? status : atmi_queue_wait(stream->queue, dependencies.signals, dependencies.count);
}

/* The signal that the launch counts down: that of the kernels before it where nothing stands between. */
static atmi_status_t count_kernel(atmi_stream_t *stream, bool joins, atmi_signal_t **done) {
  if (!joins)
    return new_tail(stream, done);
  *done = stream->tail;
  atmi_signal_add(*done);
  return ATMI_OK;
}

static atmi_status_t begin_service(atmi_stream_t *stream, const atmi_kernel_t *kernel) {
  atmi_status_t status = atmi_service_begin(&stream->device->machine->service, stream->device->label);
  stream->served_count += !status;
  return status || !kernel->uses_hostcall ? status : atmi_hostcall_prepare(stream->queue);
}

static void end_service(atmi_stream_t *stream) {
  atmi_service_end(&stream->device->machine->service, stream->served_count);
  stream->served_count = 0;
}

atmi_status_t atmi_stream_launch(atmi_stream_t *stream, const atmi_kernel_t *kernel,
                                 const atmi_launch_t *launch) {
  atmi_device_t *device = stream->device;
  if (atmi_device_is_lost(device))
    return atmi_device_refuse(device, "launch a kernel");
  if (!fits(stream, kernel, launch))
    return describe_misfit(stream, kernel, launch);
  bool alone = atmi_stream_runs_alone(stream, kernel, launch), moved;
  atmi_status_t status = hold_queue(stream, alone, &moved);
  if (status)
    return status;
  become_busy(stream);
  void *arguments;
  bool follows_kernels = stream->tail_kind == ATMI_TAIL_KERNELS && !moved, waits = false;
  if ((status = kernel->calls_host ? begin_service(stream, kernel) : ATMI_OK) ||
      (status = make_arguments(stream, kernel, launch, &arguments)))
    return status;
  if ((stream->wait_count || stream->tail_kind == ATMI_TAIL_COPY || moved) &&
      (status = order_launch(stream, !follows_kernels, &waits)))
    return status == ATMI_LOST ? atmi_device_refuse(device, "launch a kernel") : status;
  atmi_signal_t *done;
  /* In a timeline each kernel has a signal of its own, which takes its times. */
  bool joins = follows_kernels && !waits && !stream->tail->closed && !device->machine->timeline;
  if ((status = count_kernel(stream, joins, &done)))
    return status;
  atmi_dispatch_t dispatch = atmi_stream_dispatch(kernel, launch, arguments);
  dispatch.done = done->hsa;
  status = atmi_queue_dispatch(stream->queue, kernel, &dispatch, follows_kernels || waits || alone, done);
  stream->tail = done;
  stream->tail_kind = ATMI_TAIL_KERNELS;
  stream->wait_count = 0;
  if (device->machine->timeline)
    atmi_stream_trace_kernel(stream, kernel, launch);
  return status == ATMI_LOST ? atmi_device_refuse(device, "launch a kernel") : status;
}

static atmi_status_t describe_failed_copy(const atmi_stream_t *stream, hsa_status_t hsa, const char *what,
                                          size_t bytes, const void *source, const void *destination) {
  return atmi_fail(atmi_status_from_hsa(hsa), stream->device->label,
                   "cannot %s (%zu bytes from %p to %p): %s", what, bytes, source, destination,
                   atmi_hsa_reason(hsa));
}

/* A copy behind operations that are not complete, or when each must have a signal of its own. */
static __attribute__((noinline)) atmi_status_t copy_behind(atmi_stream_t *stream, void *destination,
                                                           hsa_agent_t destination_agent, const void *source,
                                                           hsa_agent_t source_agent, size_t bytes,
                                                           const char *what) {
  atmi_device_t *device = stream->device;
  dependencies_t dependencies;
  become_busy(stream);
  if (!device->machine->timeline && !atmi_stream_has_own(stream))
    return ATMI_NO_MEMORY;
  atmi_status_t status = collect(stream, true, &dependencies);
  if (status == ATMI_LOST)
    return atmi_device_refuse(device, what);
  atmi_signal_t *done;
  if (status || (status = new_tail(stream, &done)))
    return status;
  hsa_signal_t handles[MOST_DEPENDENCIES];
  for (uint32_t i = 0; i < dependencies.count; i++)
    handles[i] = dependencies.signals[i]->hsa;
  hsa_status_t hsa =
      hsa_amd_memory_async_copy(destination, destination_agent, source, source_agent, bytes,
                                dependencies.count, dependencies.count ? handles : NULL, done->hsa);
  if (hsa != HSA_STATUS_SUCCESS) {
    stream->signal_count--;
    release_signal(stream, done);
    return describe_failed_copy(stream, hsa, what, bytes, source, destination);
  }
  stream->tail = done;
  stream->tail_kind = ATMI_TAIL_COPY;
  stream->wait_count = 0;
  if (device->machine->timeline)
    atmi_stream_trace_copy(stream, what, bytes);
  return ATMI_OK;
}

atmi_status_t atmi_stream_copy_refused(atmi_stream_t *stream, hsa_status_t hsa, const char *what,
                                       size_t bytes, const void *source, const void *destination) {
  __atomic_store_n(stream->own->value, 0, __ATOMIC_RELAXED);
  return describe_failed_copy(stream, hsa, what, bytes, source, destination);
}

/* Begins a use of the stream's own signal for a copy, if all operations so far are complete without a failure
 * and there is nothing else to wait for. */
static bool take_own(const atmi_stream_t *stream) {
  if (stream->phase < ATMI_STREAM_BUSY) {
    if (!atmi_stream_own_is_complete(stream))
      return false;
    atmi_signal_begin_copy(stream->own);
    return true;
  }
  /* Acquire pairs with the release by which the device counts an operation down after its last write. A
   * signal that is not the tail is complete when the tail is. */
  bool clear =
      !stream->wait_count && (!stream->tail || !__atomic_load_n(stream->tail->value, __ATOMIC_ACQUIRE));
  return clear && atmi_signal_reuse(stream->own);
}

atmi_status_t atmi_stream_copy(atmi_stream_t *stream, void *destination, hsa_agent_t destination_agent,
                               const void *source, hsa_agent_t source_agent, size_t bytes, const char *what) {
  atmi_signal_t *own = stream->own;
  if (!own || !take_own(stream))
    return copy_behind(stream, destination, destination_agent, source, source_agent, bytes, what);
  hsa_status_t hsa =
      atmi_stream_copy_by_own(stream, destination, destination_agent, source, source_agent, bytes);
  if (hsa != HSA_STATUS_SUCCESS)
    return atmi_stream_copy_refused(stream, hsa, what, bytes, source, destination);
  stream->phase |= ATMI_STREAM_COPIED | ATMI_STREAM_STAGED;
  if (stream->phase >= ATMI_STREAM_BUSY) {
    stream->tail = own;
    stream->tail_kind = ATMI_TAIL_COPY;
  }
  return ATMI_OK;
}

/* ---- completion ---- */

/* Of duties that are no copy out of what is complete. */
static __attribute__((noinline)) void end_duty(atmi_stream_t *stream, const atmi_stream_duty_t *duty) {
  switch (duty->kind) {
  case ATMI_DUTY_NOTHING:
  case ATMI_DUTY_COPY_OUT: break;
  case ATMI_DUTY_UNPIN: atmi_host_unpin(&stream->device->machine->host_locks, duty->resource); break;
  case ATMI_DUTY_PUT_BLOCK: atmi_pool_put(&stream->device->large_staging_blocks, duty->resource); break;
  }
}

void atmi_stream_do_duties(atmi_stream_t *stream, bool complete) {
  const atmi_stream_duty_t *duty = stream->duties, *end = duty + stream->duty_count;
  for (; duty != end; duty++) {
    if (duty->kind == ATMI_DUTY_COPY_OUT && complete)
      memcpy(duty->host, duty->resource, duty->bytes);
    else
      end_duty(stream, duty);
  }
  stream->duty_count = 0;
}

/* The stream is idle: makes its own signal one that nobody else knows, and whose next use may begin as it
 * likes (see atmi_signal_begin_again and atmi_signal_begin_copy). */
static void renew_own(atmi_stream_t *stream) {
  atmi_signal_t *own = stream->own;
  if (!own->closed) {
    atomic_store_explicit(&own->done, false, memory_order_relaxed);
    atomic_store_explicit(&own->use, atomic_load_explicit(&own->use, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    return;
  }
  /* An event has closed it. */
  bool lost = atomic_load_explicit(&own->lost, memory_order_relaxed);
  if (!lost && atmi_signal_retire(own)) {
    atmi_signal_begin(own);
    __atomic_store_n(own->value, 0, __ATOMIC_RELAXED);
    return;
  }
  /* A lost one keeps its reference: marks must lead to the loss. */
  if (!lost)
    atmi_signal_unref(own);
  set_own(stream, NULL);
  atmi_plans_forget(stream);
}

/* Makes the stream idle. After a fault the device may still touch pinned memory, so nothing of it is
 * recycled: it goes when the device is released. A lost signal keeps its reference, so that marks of it still
 * lead to the loss. */
static void finish(atmi_stream_t *stream, atmi_status_t status) {
  if (stream->served_count)
    end_service(stream);
  if (stream->note_count)
    atmi_stream_trace_finish(stream, status != ATMI_OK);
  if (status != ATMI_LOST)
    atmi_stream_do_duties(stream, !status);
  stream->duty_count = 0;
  for (uint32_t i = 0; i < stream->signal_count; i++)
    if (!atomic_load_explicit(&stream->signals[i]->lost, memory_order_relaxed))
      release_signal(stream, stream->signals[i]);
  stream->signal_count = stream->wait_count = 0;
  stream->tail = NULL;
  stream->tail_kind = ATMI_TAIL_NONE;
  stream->phase = ATMI_STREAM_IDLE;
  if (stream->plans)
    stream->plans->in_use = NULL;
  if (stream->own)
    renew_own(stream);
  if (status == ATMI_LOST) {
    atmi_arena_abandon(&stream->kernargs);
    atmi_arena_abandon(&stream->staging);
    return;
  }
  atmi_arena_reset(&stream->kernargs);
  atmi_arena_reset(&stream->staging);
}

/* A signal of another device may have been let go by a fault there; what ran after it is worth nothing then.
 */
static bool any_lost(const atmi_stream_t *stream) {
  if (stream->tail && atomic_load_explicit(&stream->tail->lost, memory_order_acquire))
    return true;
  for (uint32_t i = 0; i < stream->signal_count; i++)
    if (atomic_load_explicit(&stream->signals[i]->lost, memory_order_acquire))
      return true;
  return false;
}

static uint64_t busy_ticks(const atmi_machine_t *machine) {
  uint64_t microseconds = (uint64_t)machine->env->busy_wait_us;
  return microseconds * (machine->timestamp_frequency / 1000) / 1000;
}

static atmi_status_t wait_for_all(atmi_stream_t *stream) {
  atmi_device_t *device = stream->device;
  atmi_status_t status = ATMI_OK;
  uint64_t begin = device->machine->timeline ? atmi_trace_now() : 0;
  if (stream->tail)
    atmi_signal_expect(stream->tail);
  if (atmi_device_is_lost(device))
    return ATMI_LOST;
  if (stream->tail && (status = atmi_signal_query(stream->tail)) == ATMI_PENDING)
    status = atmi_signal_wait(stream->tail, busy_ticks(device->machine));
  for (uint32_t i = 0; !status && i < stream->wait_count; i++)
    status = atmi_signal_wait(stream->waits[i], 0);
  if (!status && any_lost(stream))
    status = ATMI_LOST;
  if (status == ATMI_HSA_FAILED)
    atmi_fail(status, device->label,
              "a copy between host and device failed: the DMA engine reported an error");
  if (begin)
    atmi_trace_host(device->machine->timeline, "wait", "wait for the device", begin);
  return status;
}

atmi_status_t atmi_stream_synchronize_all(atmi_stream_t *stream) {
  if (atmi_stream_settle(stream))
    return ATMI_OK;
  become_busy(stream);
  atmi_status_t status = stream->tail || stream->signal_count ? wait_for_all(stream) : ATMI_OK;
  finish(stream, status);
  return status;
}

atmi_status_t atmi_stream_query(atmi_stream_t *stream) {
  if (stream->phase == ATMI_STREAM_IDLE || atmi_stream_settle(stream))
    return ATMI_OK;
  become_busy(stream);
  if (stream->tail && atmi_signal_query(stream->tail) == ATMI_PENDING)
    return ATMI_PENDING;
  for (uint32_t i = 0; i < stream->wait_count; i++)
    if (atmi_signal_query(stream->waits[i]) == ATMI_PENDING)
      return ATMI_PENDING;
  return atmi_stream_synchronize(stream);
}
