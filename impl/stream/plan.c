/* Launches: making plans, remembering them, and following them. */
#include "stream/plan.h"

#include "services/hostcall_queue.h"

#include <stdlib.h>

/* ---- what a launch needs ---- */

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
  uint32_t wavefront = kernel->metadata->wavefront;
  uint64_t waves = (threads + wavefront - 1) / wavefront;
  uint64_t most = (uint64_t)device->compute_units * WAVES_PER_COMPUTE_UNIT;
  for (int i = 0; i < 3 && waves < most; i++)
    waves *= launch->groups[i];
  return (waves < most ? waves : most) * wavefront * kernel->private_bytes > share;
}

/* Forgets all plans: the queue for which their hidden arguments are true is no longer the stream's. */
static void forget_plans(atmi_stream_t *stream) {
  for (size_t i = 0; stream->plans && i < ATMI_PLANS; i++)
    stream->plans->plans[i].key.id = 0;
}

/* A queue for the next kernel. Kernels that must run alone share the first one, which keeps them apart. */
static atmi_status_t hold_queue(atmi_stream_t *stream, bool alone) {
  atmi_queue_t *before = stream->queue;
  if (stream->holds_queue && (!alone || atmi_device_is_first_queue(stream->device, before)))
    return ATMI_OK;
  atmi_status_t status = alone ? atmi_device_acquire_first_queue(stream->device, &stream->queue)
                               : atmi_device_acquire_queue(stream->device, before, &stream->queue);
  if (status)
    return status;
  if (stream->holds_queue) {
    stream->moved = true;
    atmi_queue_release(before);
  }
  stream->holds_queue = true;
  if (stream->queue != before)
    forget_plans(stream);
  return ATMI_OK;
}

static bool words_fit(const atmi_kernel_metadata_t *kernel, const atmi_launch_t *launch) {
  uint64_t words = (uint64_t)launch->argument_count + launch->has_leading + launch->has_trailing;
  return 8 * words <= kernel->explicit_bytes;
}

static bool fits(const atmi_stream_t *stream, const atmi_kernel_t *kernel, const atmi_launch_t *launch) {
  return words_fit(kernel->metadata, launch) &&
         (uint64_t)kernel->group_bytes + launch->dynamic_lds_bytes <= stream->device->properties.lds_bytes;
}

static __attribute__((noinline, cold)) atmi_status_t
describe_misfit(const atmi_stream_t *stream, const atmi_kernel_t *kernel, const atmi_launch_t *launch) {
  const atmi_device_t *device = stream->device;
  atmi_name_t name = atmi_kernel_label(kernel);
  if (!words_fit(kernel->metadata, launch))
    return atmi_fail(
        ATMI_INVALID, device->label,
        "cannot launch %s: it takes %u bytes of arguments, the program passes %u words; host and "
        "device code do not belong together",
        name.text, kernel->metadata->explicit_bytes, launch->argument_count);
  return atmi_fail(
      ATMI_UNSUPPORTED, device->label,
      "cannot launch %s: a team needs %u bytes of LDS and %u more are asked for dynamically, the "
      "device has %u; lower LIBOMPTARGET_SHARED_MEMORY_SIZE, or ompx_dyn_cgroup_mem of the region",
      name.text, kernel->group_bytes, launch->dynamic_lds_bytes, device->properties.lds_bytes);
}

/* ---- argument blocks ---- */

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

static void fill_block(const atmi_stream_t *stream, const atmi_kernel_t *kernel, const atmi_launch_t *launch,
                       void *block) {
  const atmi_kernel_metadata_t *metadata = kernel->metadata;
  atmi_kernarg_fill_words(metadata, launch->has_leading ? &launch->leading : NULL, launch->arguments,
                          launch->offsets, launch->argument_count, block);
  if (launch->has_trailing)
    memcpy((uint64_t *)block + launch->has_leading + launch->argument_count, &launch->trailing,
           sizeof launch->trailing);
  if (metadata->hidden_count)
    fill_hidden(stream, kernel, launch, block);
  if (!kernel->uses_hostcall)
    return;
  void *buffer = atomic_load_explicit(&stream->queue->hostcall_buffer, memory_order_relaxed);
  memcpy((char *)block + metadata->hostcall_offset, &buffer, sizeof buffer);
  if (metadata->heap_offset)
    memcpy((char *)block + metadata->heap_offset, &stream->device->allocator,
           sizeof stream->device->allocator);
}

static __attribute__((noinline, cold)) atmi_status_t describe_long_arguments(const atmi_stream_t *stream,
                                                                             const atmi_kernel_t *kernel) {
  return atmi_fail(ATMI_UNSUPPORTED, stream->device->label,
                   "cannot launch %s: it takes %u bytes of arguments, more than %zu",
                   atmi_kernel_label(kernel).text, kernel->metadata->kernarg_bytes,
                   stream->kernargs.block_bytes);
}

/* Memory for a block that is free again when the stream is idle. */
static atmi_status_t take_block(atmi_stream_t *stream, const atmi_kernel_t *kernel, void **block) {
  atmi_status_t status =
      atmi_stream_allocate(stream, &stream->kernargs, kernel->metadata->kernarg_bytes, block);
  if (status == ATMI_INVALID)
    return describe_long_arguments(stream, kernel);
  return status;
}

/* ---- plans ---- */

static bool has_plans(atmi_stream_t *stream) {
  bool fresh = !stream->plans;
  if (fresh)
    stream->plans = aligned_alloc(_Alignof(struct atmi_plans), sizeof *stream->plans);
  struct atmi_plans *plans = stream->plans;
  if (!plans)
    return false;
  if (fresh)
    *plans = (struct atmi_plans){0};
  if (stream->prepared)
    stream->ready_plans = plans;
  void *object;
  if (!plans->arguments && !atmi_pool_take(stream->kernargs.pool, &object))
    plans->arguments = object;
  return plans->arguments;
}

/* Where a launch can be remembered, with its block; NULL if it cannot. */
static atmi_plan_t *find_place(atmi_stream_t *stream, const atmi_plan_key_t *key, const atmi_kernel_t *kernel,
                               void **block) {
  if (!key || kernel->metadata->kernarg_bytes > ATMI_PLAN_BLOCK_BYTES || kernel->calls_host ||
      !has_plans(stream))
    return NULL;
  size_t place = key->id % ATMI_PLANS;
  atmi_plan_t *plan = &stream->plans->plans[place];
  *block = stream->plans->arguments->memory + place * ATMI_PLAN_BLOCK_BYTES;
  /* The device may still read the block. */
  return stream->count && plan == stream->planned ? NULL : plan;
}

static void make_plan(atmi_stream_t *stream, const atmi_kernel_t *kernel, const atmi_launch_t *launch,
                      bool alone, void *block, atmi_plan_t *plan) {
  const atmi_dispatch_t dispatch = {
      .kernel_object = kernel->object,
      .group = {launch->group[0], launch->group[1], launch->group[2]},
      .grid = {launch->group[0] * launch->groups[0], launch->group[1] * launch->groups[1],
               launch->group[2] * launch->groups[2]},
      .private_bytes = kernel->private_bytes,
      .group_bytes = kernel->group_bytes + launch->dynamic_lds_bytes,
      .kernarg = block,
  };
  fill_block(stream, kernel, launch, block);
  *plan = (atmi_plan_t){.kernel = kernel,
                        .words = (uint64_t *)block + launch->has_leading,
                        .argument_count = launch->argument_count};
  atmi_packet_fill_dispatch(&dispatch, &plan->packet);
  uint32_t header =
      atmi_packet_header(HSA_PACKET_TYPE_KERNEL_DISPATCH, alone, atmi_packet_dispatch_setup(&dispatch));
  memcpy(&plan->packet, &header, sizeof header);
}

void atmi_plans_destroy(struct atmi_plans *plans) {
  free(plans);
}

/* ---- launching ---- */

/* Gives the packet a block like that of its plan, which may be in use. */
static atmi_status_t copy_block(atmi_stream_t *stream, const atmi_kernel_t *kernel,
                                hsa_kernel_dispatch_packet_t *packet) {
  void *block;
  atmi_status_t status = take_block(stream, kernel, &block);
  if (status)
    return status;
  if (block) /* none without arguments */
    memcpy(block, packet->kernarg_address, kernel->metadata->kernarg_bytes);
  packet->kernarg_address = block;
  return ATMI_OK;
}

/* The stream was settled, before any memory was taken for the launch. The block of a plan that is remembered
 * is used by one operation of the list at most. */
static atmi_status_t follow(atmi_stream_t *stream, const atmi_plan_t *plan, void *const *arguments,
                            const ptrdiff_t *offsets) {
  hsa_kernel_dispatch_packet_t packet = plan->packet;
  bool barrier = false, remembered = plan->key.id;
  atmi_status_t status = ATMI_OK;
  if (stream->count && ((status = atmi_stream_order_kernel(stream, &barrier)) ||
                        (remembered && (status = copy_block(stream, plan->kernel, &packet)))))
    return status;
  if (!atmi_stream_next(stream))
    return ATMI_NO_MEMORY;
  if (remembered && !stream->count)
    stream->planned = plan;
  packet.header |= (uint16_t)(barrier << HSA_PACKET_HEADER_BARRIER);
  ptrdiff_t into = (char *)plan->words - (char *)plan->packet.kernarg_address;
  uint64_t *words = (uint64_t *)(void *)((char *)packet.kernarg_address + into);
  status = atmi_plan_publish(stream, plan, &packet, words, stream->count, arguments, offsets);
  if (status)
    return status;
  stream->count++;
  stream->moved = false;
  if (stream->timeline)
    atmi_stream_note_kernel(stream, plan->kernel, &packet);
  return status;
}

atmi_status_t atmi_plan_refuse(const atmi_stream_t *stream, atmi_signal_t *signal) {
  atmi_signal_cancel(signal);
  return atmi_device_refuse(stream->device, "launch a kernel");
}

atmi_status_t atmi_plan_wait(atmi_stream_t *stream, atmi_status_t begun) {
  stream->count = !begun;
  atmi_status_t ended = atmi_stream_synchronize(stream);
  atmi_queue_release(stream->queue);
  return begun ? begun : ended;
}

atmi_status_t atmi_plan_launch(atmi_stream_t *stream, const atmi_plan_t *plan, void *const *arguments,
                               const ptrdiff_t *offsets) {
  atmi_stream_settle(stream);
  return follow(stream, plan, arguments, offsets);
}

atmi_status_t atmi_plan_launch_behind(atmi_stream_t *stream, const atmi_plan_t *plan,
                                      void *const *arguments) {
  hsa_kernel_dispatch_packet_t behind;
  const hsa_kernel_dispatch_packet_t *packet = &plan->packet;
  bool barrier = false;
  if (!atmi_plan_hold_queue(stream))
    return ATMI_PENDING;
  atmi_status_t status = atmi_stream_order_kernel(stream, &barrier);
  if (status)
    return status;
  if (!atmi_stream_next(stream))
    return ATMI_NO_MEMORY;
  if (barrier) {
    behind = *packet;
    behind.header |= (uint16_t)(1 << HSA_PACKET_HEADER_BARRIER);
    packet = &behind;
  }
  stream->planned = plan;
  status = atmi_plan_publish(stream, plan, packet, plan->words, stream->count, arguments, NULL);
  if (status)
    return status;
  stream->count++;
  stream->moved = false;
  if (stream->timeline)
    atmi_stream_note_kernel(stream, plan->kernel, packet);
  return ATMI_OK;
}

static atmi_status_t begin_service(atmi_stream_t *stream, const atmi_kernel_t *kernel) {
  atmi_status_t status = atmi_service_begin(&stream->device->machine->service, stream->device->label);
  stream->served_count += !status;
  stream->owes |= ATMI_OWES_MORE;
  return status || !kernel->uses_hostcall ? status : atmi_hostcall_prepare(stream->queue);
}

static atmi_status_t launch_planned(atmi_stream_t *stream, const atmi_plan_key_t *key,
                                    const atmi_kernel_t *kernel, const atmi_launch_t *launch) {
  bool alone = atmi_stream_runs_alone(stream, kernel, launch);
  atmi_plan_t once, *plan;
  void *block;
  atmi_stream_settle(stream);
  atmi_status_t status = hold_queue(stream, alone);
  if (!status && kernel->calls_host)
    status = begin_service(stream, kernel);
  if (!status && !(plan = find_place(stream, key, kernel, &block))) {
    plan = &once;
    key = NULL;
    status = take_block(stream, kernel, &block);
  }
  if (status)
    return status;
  make_plan(stream, kernel, launch, alone, block, plan);
  if (key) {
    plan->key = *key;
    plan->tag = key->tag;
  }
  return follow(stream, plan, launch->arguments, launch->offsets);
}

atmi_status_t atmi_stream_launch(atmi_stream_t *stream, const atmi_plan_key_t *key,
                                 const atmi_kernel_t *kernel, const atmi_launch_t *launch) {
  atmi_device_t *device = stream->device;
  if (atmi_device_is_lost(device))
    return atmi_device_refuse(device, "launch a kernel");
  if (!fits(stream, kernel, launch))
    return describe_misfit(stream, kernel, launch);
  atmi_status_t status = launch_planned(stream, key, kernel, launch);
  /* A service that was begun for nothing ends with the list. */
  if (status && !stream->count && stream->served_count) {
    atmi_status_t ended = atmi_stream_synchronize_list(stream);
    (void)ended;
  }
  return status;
}
