/* Traces of launches and devices. The formats are interfaces: scripts parse them. */
#include "openmp/trace.h"

#include "base/text.h"

#include <stdio.h>

/* Default workgroup size, which the classic plugins print as the constant one, because no compiler sets
 * another. */
enum { CLASSIC_CONST_GROUP = 256 };

/* Names are those of the image, which scripts look for, but for what a terminal would not print. */
enum { NAME_BYTES = 8192 };

/* Teams or threads of all dimensions. */
static uint64_t in_all(const uint32_t counts[3]) {
  return (uint64_t)counts[0] * counts[1] * counts[2];
}

static void print_classic(FILE *out, int64_t trace, const atmi_omp_device_t *device,
                          const atmi_omp_kernel_t *kernel, const atmi_omp_request_t *request,
                          const atmi_launch_t *launch) {
  const atmi_kernel_metadata_t *metadata = kernel->core.metadata;
  char resources[64] = "", name[NAME_BYTES];
  if (trace & ATMI_TRACE_RESOURCES)
    snprintf(resources, sizeof resources, "scratch:%uB agpr_count:%u ", kernel->core.private_bytes,
             metadata->agpr_count);
  fprintf(out,
          "DEVID:%2d SGN:%1d ConstWGSize:%-4d args:%2d teamsXthrds:(%4dX%4d) reqd:(%4dX%4d) lds_usage:%uB "
          "%ssgpr_count:%u vgpr_count:%u sgpr_spill_count:%u vgpr_spill_count:%u tripcount:%lu n:%s\n",
          (int)device->core->number, (int)kernel->mode_number, CLASSIC_CONST_GROUP,
          (int)request->shape.argument_count, (int)in_all(launch->groups), (int)in_all(launch->group),
          request->shape.num_teams, request->shape.thread_limit,
          kernel->core.group_bytes + launch->dynamic_lds_bytes, resources, metadata->sgpr_count,
          metadata->vgpr_count, metadata->sgpr_spill_count, metadata->vgpr_spill_count,
          (unsigned long)request->shape.tripcount, atmi_text_clean(kernel->core.name, name, sizeof name));
}

enum { SHAPE_BYTES = 100 };

/* Teams and threads as LLVM's line has them. */
static void describe_shape(bool is_new, const atmi_launch_t *launch, char *text) {
  const uint32_t *teams = launch->groups, *threads = launch->group;
  if (is_new)
    snprintf(text, SHAPE_BYTES, "[%u,%u,%u] blocks and [%u,%u,%u] threads", teams[0], teams[1], teams[2],
             threads[0], threads[1], threads[2]);
  else
    snprintf(text, SHAPE_BYTES, "%lu blocks and %d threads", (unsigned long)in_all(teams),
             (int)in_all(threads));
}

/* Two lines: that of LLVM 16, and the one that 17 added. */
static void print_info(const atmi_context_t *context, const atmi_omp_device_t *device,
                       const atmi_omp_kernel_t *kernel, const atmi_omp_request_t *request,
                       const atmi_launch_t *launch) {
  static const char *const mode_names[] = {
      [ATMI_MODE_GENERIC] = "Generic", [ATMI_MODE_SPMD] = "SPMD", [ATMI_MODE_GENERIC_SPMD] = "Generic-SPMD"};
  const atmi_kernel_metadata_t *metadata = kernel->core.metadata;
  int number = (int)device->core->number;
  unsigned long teams = (unsigned long)in_all(launch->groups);
  char name[NAME_BYTES], shape[SHAPE_BYTES];
  bool is_new = atomic_load_explicit(&context->info_by_dimension, memory_order_relaxed);
  describe_shape(is_new, launch, shape);
  flockfile(stderr);
  fprintf(stderr, "\"PluginInterface\" device %d info: Launching kernel %s with %s in %s mode\n", number,
          atmi_text_clean(kernel->core.name, name, sizeof name), shape,
          is_new && kernel->compiled.is_bare ? "BARE" : mode_names[kernel->compiled.mode]);
  fprintf(
      stderr,
      "AMDGPU device %d info: #Args: %u Teams x Thrds: %4lux%4u (MaxFlatWorkGroupSize: %u) LDS Usage: %uB "
      "#SGPRs/VGPRs: %u/%u #SGPR/VGPR Spills: %u/%u Tripcount: %lu\n",
      number, request->shape.argument_count, teams, (unsigned)in_all(launch->group), metadata->max_group,
      metadata->group_bytes, metadata->sgpr_count, metadata->vgpr_count, metadata->sgpr_spill_count,
      metadata->vgpr_spill_count, (unsigned long)request->shape.tripcount);
  funlockfile(stderr);
}

/* The values that led to the geometry, under the names and in the order of the plugin of LLVM 13. */
static void print_geometry(const atmi_context_t *context, const atmi_omp_device_t *device,
                           const atmi_omp_kernel_t *kernel, const atmi_omp_request_t *request,
                           const atmi_launch_t *launch) {
  const atmi_geometry_limits_t *limits = &device->limits;
  const atmi_env_t *env = &context->env;
  const struct {
    const char *name;
    int64_t value;
  } rows[] = {
      {"Max_Teams", limits->default_teams},
      {"RTLDeviceInfoTy::Warp_Size", kernel->core.metadata->wavefront},
      {"RTLDeviceInfoTy::Max_WG_Size", limits->max_threads},
      {"RTLDeviceInfoTy::Default_WG_Size", CLASSIC_CONST_GROUP},
      {"thread_limit", request->shape.thread_limit},
      {"threadsPerGroup", (int64_t)in_all(launch->group)},
      {"ConstWGSize", CLASSIC_CONST_GROUP},
      {"num_teams", request->shape.num_teams},
      {"num_groups", (int64_t)in_all(launch->groups)},
      {"loop_tripcount", (int64_t)request->shape.tripcount},
  };
  flockfile(stderr);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    fprintf(stderr, "%s: %lld\n", rows[i].name, (long long)rows[i].value);
  fprintf(stderr, "Env.NumTeams %lld\n", env->num_teams == ATMI_ENV_UNSET ? -1LL : (long long)env->num_teams);
  fprintf(stderr, "Env.TeamLimit %lld\n",
          env->team_limit == ATMI_ENV_UNSET ? -1LL : (long long)env->team_limit);
  funlockfile(stderr);
}

void atmi_trace_launch(const atmi_context_t *context, const atmi_omp_device_t *device,
                       const atmi_omp_kernel_t *kernel, const atmi_omp_request_t *request,
                       const atmi_launch_t *launch) {
  int64_t trace = context->env.kernel_trace;
  if (trace & ATMI_TRACE_STARTUP)
    print_geometry(context, device, kernel, request, launch);
  if (trace)
    print_classic(trace & (ATMI_TRACE_STDOUT | ATMI_TRACE_TIMING) ? stdout : stderr, trace, device, kernel,
                  request, launch);
  if (atomic_load_explicit(&context->info, memory_order_relaxed) & ATMI_INFO_KERNEL)
    print_info(context, device, kernel, request, launch);
}

void atmi_trace_device(const atmi_context_t *context, int32_t number, const atmi_omp_device_t *device) {
  const atmi_device_properties_t *properties = &device->properties;
  if (context->env.kernel_trace & ATMI_TRACE_STARTUP)
    fprintf(stderr, "Device#%-2d CU's: %2d %s\n", (int)number, (int)properties->compute_units,
            properties->name);
}
