/* Queues of libomptarget as streams, and launches on them. */
#include "rtl_launch.h"

#include "rtl_trace.h"

atmi_status_t rtl_queue_stream(rtl_device_t *device, __tgt_async_info *queue, atmi_stream_t **stream) {
  if (queue->Queue) {
    *stream = queue->Queue;
    return ATMI_OK;
  }
  atmi_status_t status = atmi_stream_take(device->core, stream);
  if (!status)
    queue->Queue = *stream;
  return status;
}

static void take_back(__tgt_async_info *queue) {
  atmi_stream_put(queue->Queue);
  queue->Queue = NULL;
}

atmi_status_t rtl_queue_synchronize(__tgt_async_info *queue) {
  if (!queue->Queue)
    return ATMI_OK;
  atmi_status_t status = atmi_stream_synchronize(queue->Queue);
  take_back(queue);
  return status;
}

atmi_status_t rtl_queue_query(__tgt_async_info *queue) {
  if (!queue->Queue)
    return ATMI_OK;
  atmi_status_t status = atmi_stream_query(queue->Queue);
  if (status != ATMI_PENDING)
    take_back(queue);
  return status;
}

/* LDS that the user or the launch asks for beyond the kernel's own: the larger of the two. */
static uint32_t dynamic_lds(const rtl_plugin_t *plugin, const host_abi_launch_t *request) {
  uint32_t from_environment = (uint32_t)plugin->env.shared_memory_bytes;
  return request->dynamic_lds_bytes > from_environment ? request->dynamic_lds_bytes : from_environment;
}

atmi_status_t rtl_launch(rtl_plugin_t *plugin, rtl_device_t *device, const rtl_kernel_t *kernel,
                         const host_abi_launch_t *request, __tgt_async_info *queue) {
  atmi_stream_t *stream;
  atmi_status_t status = rtl_queue_stream(device, queue, &stream);
  if (status)
    return status;
  const rtl_geometry_request_t wanted = {.mode = kernel->mode,
                                         .num_teams = request->num_teams,
                                         .thread_limit = request->thread_limit,
                                         .tripcount = request->tripcount,
                                         .kernel_max_threads = kernel->core.metadata->max_group};
  rtl_geometry_t geometry = rtl_geometry_compute(&device->limits, &wanted);
  const atmi_launch_t launch = {.arguments = request->arguments,
                                .offsets = request->offsets,
                                .argument_count = request->argument_count,
                                .groups = geometry.teams,
                                .group = geometry.threads,
                                .dynamic_lds_bytes = dynamic_lds(plugin, request)};
  if (plugin->env.kernel_trace || atomic_load_explicit(&plugin->info, memory_order_relaxed))
    rtl_trace_launch(plugin, device, kernel, request, &launch);
  return atmi_stream_launch(stream, &kernel->core, &launch);
}
