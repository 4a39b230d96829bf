/* Launches of target regions: what a plan is made of. */
#include "openmp/launch.h"

#include "openmp/trace.h"
#include "stream/transfer.h"

/* LDS that the user or the launch asks for beyond the kernel's own: the larger of the two. */
static uint32_t dynamic_lds(const atmi_context_t *context, const atmi_omp_request_t *request) {
  uint32_t from_environment = (uint32_t)context->env.shared_memory_bytes;
  return request->shape.dynamic_lds_bytes > from_environment ? request->shape.dynamic_lds_bytes
                                                             : from_environment;
}

/* Geometry looks after the first dimension; what a launch asks for in the others is taken as it is or
 * refused. */
static atmi_status_t check_dimensions(const atmi_omp_device_t *device, const atmi_omp_kernel_t *kernel,
                                      const atmi_launch_t *launch) {
  uint64_t threads = (uint64_t)launch->group[0] * launch->group[1];
  if (threads > device->limits.max_threads || threads * launch->group[2] > device->limits.max_threads)
    return atmi_fail(ATMI_UNSUPPORTED, device->core->label,
                     "cannot launch %s: teams of %u x %u x %u threads are asked for, the device can have "
                     "%u in a team",
                     atmi_kernel_label(&kernel->core).text, launch->group[0], launch->group[1],
                     launch->group[2], device->limits.max_threads);
  for (int i = 1; i < 3; i++)
    if ((uint64_t)launch->groups[i] * launch->group[i] > UINT32_MAX)
      return atmi_fail(ATMI_UNSUPPORTED, device->core->label,
                       "cannot launch %s: a dimension of %u teams of %u threads is longer than 32 bits",
                       atmi_kernel_label(&kernel->core).text, launch->groups[i], launch->group[i]);
  return ATMI_OK;
}

/* Launch environments lie at the beginning of the stream's workspace, the buffer for reductions behind them.
 */
typedef struct workspace {
  /* Kernels leave the counters as they found them, so these are written once. */
  _Alignas(64) atmi_device_abi_launch_environment_t first; /* for kernels that take it in front */
  _Alignas(64) atmi_device_abi_last_environment_t last;    /* for those that take it behind */
  /* For launches with dynamic LDS; says how much, so each of them writes it, in the stream's order. */
  _Alignas(64) atmi_device_abi_last_environment_t with_lds;
  _Alignas(64) unsigned char buffer[];
} workspace_t;

static atmi_status_t prepare_workspace(const atmi_omp_device_t *device, atmi_stream_t *stream, uint64_t bytes,
                                       workspace_t **workspace) {
  void *block;
  bool fresh;
  atmi_status_t status = atmi_stream_workspace(stream, sizeof **workspace + bytes, &block, &fresh);
  if (status)
    return status;
  *workspace = block;
  if (!fresh)
    return ATMI_OK;
  const workspace_t header = {.first = {.reduction_buffer = (*workspace)->buffer},
                              .last = {.reduction_buffer = (*workspace)->buffer}};
  status = atmi_transfer_write_now(device->core, block, &header, sizeof header);
  if (status)
    stream->workspace_bytes = 0; /* the next launch begins with another block */
  return status;
}

/* What a kernel of clang 18 or later is told of its launch: something if its teams reduce values together,
 * or, from 23 on, if there is dynamic LDS. */
static atmi_status_t prepare_environment(const atmi_omp_device_t *device, const atmi_omp_kernel_t *kernel,
                                         atmi_stream_t *stream, const atmi_launch_t *launch,
                                         uint64_t *environment) {
  bool is_last = kernel->compiled.environment_is_last, with_lds = is_last && launch->dynamic_lds_bytes;
  uint64_t bytes = kernel->compiled.reduction_bytes * (is_last ? launch->groups[0] : 1);
  workspace_t *workspace;
  *environment = ATMI_DEVICE_ABI_NO_LAUNCH_ENVIRONMENT;
  if (!bytes && !with_lds)
    return ATMI_OK;
  atmi_status_t status = prepare_workspace(device, stream, bytes, &workspace);
  if (status)
    return status;
  const void *found = with_lds  ? (void *)&workspace->with_lds
                      : is_last ? (void *)&workspace->last
                                : &workspace->first;
  *environment = (uint64_t)(uintptr_t)found;
  const atmi_device_abi_last_environment_t told = {.reduction_buffer = workspace->buffer,
                                                   .dynamic_lds_bytes = launch->dynamic_lds_bytes};
  _Static_assert(sizeof told <= ATMI_TRANSFER_VALUE_BYTES, "a value");
  return with_lds ? atmi_transfer_submit_value(stream, &workspace->with_lds, &told, sizeof told) : ATMI_OK;
}

static uint32_t at_least_one(uint32_t value) {
  return value ? value : 1;
}

/* Launches what the stream has no plan of. */
static atmi_status_t launch_new(const atmi_context_t *context, const atmi_omp_device_t *device,
                                const atmi_omp_kernel_t *kernel, const atmi_omp_request_t *request,
                                atmi_stream_t *stream, const atmi_plan_key_t *key) {
  const struct atmi_omp_shape *shape = &request->shape;
  atmi_status_t status;
  const atmi_geometry_request_t wanted = {.mode = kernel->compiled.mode,
                                          .num_teams = request->shape.num_teams,
                                          .thread_limit = request->shape.thread_limit,
                                          .tripcount = request->shape.tripcount,
                                          .kernel_min_threads = kernel->compiled.min_threads,
                                          .kernel_max_threads = kernel->compiled.max_threads,
                                          .kernel_max_teams = kernel->compiled.max_teams,
                                          .kernel_wavefront = kernel->core.metadata->wavefront,
                                          .narrow_teams = kernel->compiled.narrow_teams,
                                          .lone_main = kernel->compiled.lone_main};
  atmi_geometry_t geometry = atmi_geometry_compute(&device->limits, &wanted);
  atmi_launch_t launch = {
      .arguments = request->arguments,
      .offsets = request->offsets,
      .argument_count = request->shape.argument_count,
      .groups = {geometry.teams, at_least_one(shape->more_teams[0]), at_least_one(shape->more_teams[1])},
      .group = {geometry.threads, at_least_one(shape->more_threads[0]), at_least_one(shape->more_threads[1])},
      .dynamic_lds_bytes = dynamic_lds(context, request)};
  if ((request->shape.more_teams[0] | request->shape.more_teams[1] | request->shape.more_threads[0] |
       request->shape.more_threads[1]) > 1 &&
      (status = check_dimensions(device, kernel, &launch)))
    return status;
  if (kernel->takes_environment &&
      kernel->core.metadata->explicit_count == request->shape.argument_count + 1) {
    launch.has_trailing = kernel->compiled.environment_is_last;
    launch.has_leading = !launch.has_trailing;
    if ((status = prepare_environment(device, kernel, stream, &launch,
                                      launch.has_leading ? &launch.leading : &launch.trailing)))
      return status;
    if (launch.has_trailing && launch.dynamic_lds_bytes)
      key = NULL; /* each of them is told how much */
  }
  if (atomic_load_explicit(&context->observed, memory_order_relaxed))
    atmi_trace_launch(context, device, kernel, request, &launch);
  return atmi_stream_launch(stream, key, &kernel->core, &launch);
}

/* Says what a launch by a plan does. */
static void observe_plan(const atmi_context_t *context, const atmi_omp_device_t *device,
                         const atmi_omp_kernel_t *kernel, const atmi_omp_request_t *request,
                         const atmi_plan_t *plan) {
  const hsa_kernel_dispatch_packet_t *packet = &plan->packet;
  const atmi_launch_t launch = {
      .groups = {packet->grid_size_x / packet->workgroup_size_x,
                 packet->grid_size_y / packet->workgroup_size_y,
                 packet->grid_size_z / packet->workgroup_size_z},
      .group = {packet->workgroup_size_x, packet->workgroup_size_y, packet->workgroup_size_z},
      .dynamic_lds_bytes = packet->group_segment_size - kernel->core.group_bytes};
  atmi_trace_launch(context, device, kernel, request, &launch);
}

atmi_status_t atmi_omp_launch(atmi_context_t *context, atmi_omp_device_t *device,
                              const atmi_omp_kernel_t *kernel, const atmi_omp_request_t *request,
                              atmi_stream_t *stream) {
  bool observed = atomic_load_explicit(&context->observed, memory_order_relaxed);
  atmi_omp_words_t words;
  _Static_assert(sizeof words == sizeof request->shape, "words hold the whole request");
  memcpy(&words, &request->shape, sizeof words);
  atmi_plan_key_t key = request->key ? *request->key : atmi_omp_launch_key(kernel, words);
  atmi_plan_t *plan = atmi_plan_find(stream->plans, key);
  /* A key of the caller's own may leave the number of arguments open. */
  if (!plan || plan->argument_count != request->shape.argument_count || !atmi_plan_hold_queue(stream))
    return launch_new(context, device, kernel, request, stream, &key);
  if (observed)
    observe_plan(context, device, kernel, request, plan);
  return atmi_plan_launch(stream, plan, request->arguments, request->offsets);
}
