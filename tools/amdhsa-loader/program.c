/* Setting up and running a program. Facts: LLVM libc 17.0.6 and 18.1.8, utils/gpu/loader and
 * startup/gpu/amdgpu. */
#include "program.h"

#include "device/code_object.h"
#include "device/device.h"
#include "image/elf.h"
#include "base/hsa.h"
#include "services/rpc_image.h"
#include "stream/stream.h"
#include "stream/transfer.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct program {
  atmi_device_t *device;
  atmi_code_object_t object;
  atmi_stream_t *stream;
  void *argv, *envp; /* copies that the device can read */
  uint64_t argc;
  void *result; /* an int of the device */
  uint64_t clock_frequency;
  loader_state_t *state;
  bool ends_with_kernel; /* destructors are in a kernel of their own, which comes after device code's exit */
  atomic_bool exited;    /* device code has called exit while that kernel was to follow */
  _Atomic int status;    /* of that exit */
} program_t;

/* ---- choosing a device ---- */

/* Of the device that was asked for, or of all. */
static void describe_mismatch(const atmi_machine_t *machine, int64_t wanted, const atmi_target_id_t *id) {
  char image[ATMI_TARGET_ID_TEXT], device[ATMI_TARGET_ID_TEXT];
  atmi_target_id_format(id, image);
  for (uint32_t i = 0; i < machine->device_count; i++) {
    if (wanted >= 0 && i != wanted)
      continue;
    atmi_target_id_format(&machine->devices[i]->properties.target, device);
    atmi_fail(ATMI_UNSUPPORTED, machine->devices[i]->label,
              "cannot run the image: it is for %s, the device is %s", image, device);
  }
}

static atmi_status_t choose_device(const atmi_machine_t *machine, int64_t wanted, const void *image,
                                   size_t bytes, atmi_device_t **device) {
  atmi_elf_identity_t identity;
  atmi_target_id_t id;
  if (!machine->device_count)
    return atmi_fail(ATMI_NOT_FOUND, NULL, "there is no GPU");
  if (!atmi_elf_identify(image, bytes, &identity) || atmi_target_id_from_elf(&identity, &id))
    return atmi_fail(ATMI_UNSUPPORTED, NULL,
                     "cannot run the image: it is no ELF file for AMD GPUs that is known");
  if (wanted >= 0 && !atmi_machine_device(machine, wanted))
    return atmi_fail(ATMI_NOT_FOUND, NULL, "there is no device %lld, only %u of them", (long long)wanted,
                     machine->device_count);
  *device = NULL;
  for (uint32_t i = 0; !*device && i < machine->device_count; i++)
    if ((wanted < 0 || i == wanted) &&
        atmi_target_id_match(&id, &machine->devices[i]->properties.target) == ATMI_MATCH)
      *device = machine->devices[i];
  if (*device)
    return ATMI_OK;
  describe_mismatch(machine, wanted, &id);
  return ATMI_UNSUPPORTED;
}

/* ---- what the program is given ---- */

/* Copies an array of strings into one block: pointers, NULL, then the strings. */
static atmi_status_t copy_strings(program_t *program, char *const *strings, void **copy, uint64_t *count) {
  size_t bytes = sizeof(char *), n = 0;
  for (; strings[n]; n++)
    bytes += sizeof(char *) + strlen(strings[n]) + 1;
  atmi_status_t status = atmi_memory_allocate(&program->device->memory, bytes, ATMI_MEMORY_HOST, copy);
  if (status)
    return status;
  char **pointers = *copy, *text = (char *)(pointers + n + 1);
  for (size_t i = 0; i < n; i++) {
    size_t length = strlen(strings[i]) + 1;
    memcpy(text, strings[i], length);
    pointers[i] = text;
    text += length;
  }
  pointers[n] = NULL;
  *count = n;
  return ATMI_OK;
}

/* The frequency of the clock that device code reads; 0 if it cannot be found out. ROCr before 6 does not
 * tell, but converts times of that clock to the host's. It measures both for that, with an error below a
 * thousandth; the clocks of all GPUs go at whole MHz. */
static uint64_t clock_frequency(const atmi_device_t *device) {
  static const uint64_t ticks = UINT64_C(1) << 30, mhz = 1000000, future = UINT64_C(1) << 52;
  uint64_t begin, end;
  if (device->properties.timestamp_frequency)
    return device->properties.timestamp_frequency;
  /* Asked for a time to come, ROCr measures again: until then it may have done so only once. Times of the
   * clock's first ticks are the host's beginning but for the error, so they may be before it, and wrap; spans
   * do not. */
  if (hsa_amd_profiling_convert_tick_to_system_domain(device->agent, future, &end) != HSA_STATUS_SUCCESS ||
      hsa_amd_profiling_convert_tick_to_system_domain(device->agent, 1, &begin) != HSA_STATUS_SUCCESS ||
      hsa_amd_profiling_convert_tick_to_system_domain(device->agent, 1 + ticks, &end) != HSA_STATUS_SUCCESS ||
      (int64_t)(end - begin) <= 0)
    return 0;
  double rate = (double)ticks / (double)(end - begin) * (double)device->machine->timestamp_frequency;
  return (uint64_t)(rate / (double)mhz + 0.5) * mhz;
}

/* Tells the image how fast its clock goes, if it wants to know. */
static atmi_status_t set_clock(program_t *program) {
  void *address;
  uint64_t bytes;
  if (atmi_code_object_find_variable(&program->object, "__llvm_libc_clock_freq", &address, &bytes) ||
      bytes != sizeof program->clock_frequency ||
      !(program->clock_frequency = clock_frequency(program->device)))
    return ATMI_OK;
  return atmi_transfer_submit(program->stream, address, &program->clock_frequency,
                              sizeof program->clock_frequency);
}

static atmi_status_t set_up(program_t *program, char *const *argv, char *const *envp) {
  static const int zero;
  uint64_t environment_count;
  atmi_status_t status;
  if ((status = copy_strings(program, argv, &program->argv, &program->argc)) ||
      (status = copy_strings(program, envp, &program->envp, &environment_count)) ||
      (status = atmi_memory_allocate(&program->device->memory, sizeof zero, ATMI_MEMORY_DEVICE,
                                     &program->result)) ||
      (status = atmi_stream_take(program->device, &program->stream)) ||
      (status = atmi_transfer_submit(program->stream, program->result, &zero, sizeof zero)) ||
      (status = set_clock(program)))
    return status;
  return atmi_stream_synchronize(program->stream);
}

/* ---- kernels ---- */

typedef struct kernel {
  atmi_kernel_t core;
  atmi_kernel_metadata_t metadata; /* with arguments as wide as we pass them */
} kernel_t;

static atmi_status_t find_kernel(program_t *program, const char *name, kernel_t *kernel) {
  atmi_status_t status = atmi_code_object_find_kernel(&program->object, name, &kernel->core);
  if (status)
    return atmi_fail(
        status, program->device->label,
        "cannot run the image: it has no kernel %s; was it linked with LLVM libc's start-up code "
        "(crt1.o)?",
        name);
  kernel->metadata = *kernel->core.metadata;
  kernel->metadata.explicit_bytes = (kernel->metadata.explicit_bytes + 7) & ~7u;
  if (kernel->metadata.kernarg_bytes < kernel->metadata.explicit_bytes)
    kernel->metadata.kernarg_bytes = kernel->metadata.explicit_bytes;
  /* The compiler counts only the kernel's own frame when it does not know the callees. */
  int64_t stack = program->device->machine->env->stack_bytes;
  if (kernel->metadata.dynamic_stack)
    kernel->core.private_bytes = kernel->metadata.private_bytes + (uint32_t)stack;
  kernel->core.metadata = &kernel->metadata;
  return ATMI_OK;
}

static atmi_status_t check_geometry(const program_t *program, const kernel_t *kernel,
                                    const loader_options_t *options) {
  uint64_t group = (uint64_t)options->threads[0] * options->threads[1] * options->threads[2];
  uint32_t most = program->device->properties.max_group;
  if (kernel->metadata.max_group && kernel->metadata.max_group < most)
    most = kernel->metadata.max_group;
  if (group > most)
    return atmi_fail(
        ATMI_INVALID, program->device->label,
        "cannot run the image: %llu threads per block are asked for, its kernel _start can have %u",
        (unsigned long long)group, most);
  for (int i = 0; i < 3; i++)
    if ((uint64_t)options->threads[i] * options->blocks[i] > UINT32_MAX)
      return atmi_fail(ATMI_INVALID, program->device->label,
                       "cannot run the image: %u blocks of %u threads are more than 32 bits can count",
                       options->blocks[i], options->threads[i]);
  return ATMI_OK;
}

/* Runs a kernel to its end. */
static atmi_status_t run(program_t *program, const char *name, const kernel_t *kernel, const uint64_t *words,
                         const loader_options_t *geometry) {
  enum { MOST_WORDS = 4 };
  void *bases[MOST_WORDS];
  static const ptrdiff_t offsets[MOST_WORDS];
  uint32_t count = kernel->metadata.explicit_bytes / 8;
  if (count > MOST_WORDS)
    return atmi_fail(
        ATMI_UNSUPPORTED, program->device->label,
        "cannot run the image: its kernel %s takes %u bytes of arguments, which no version of LLVM libc "
        "that is known does",
        name, kernel->metadata.explicit_bytes);
  for (uint32_t i = 0; i < count; i++)
    bases[i] = (void *)(uintptr_t)words[i];
  atmi_launch_t launch = {.arguments = bases,
                          .offsets = offsets,
                          .argument_count = count,
                          .groups = {1, 1, 1},
                          .group = {1, 1, 1}};
  for (int i = 0; geometry && i < 3; i++) {
    launch.groups[i] = geometry->blocks[i];
    launch.group[i] = geometry->threads[i];
  }
  atomic_store(&program->state->running, name);
  atmi_status_t status = atmi_stream_launch(program->stream, NULL, &kernel->core, &launch), ended;
  if ((ended = atmi_stream_synchronize(program->stream)) && !status)
    status = ended;
  atomic_store(&program->state->running, "");
  /* What was wrong has been said. */
  atmi_rpc_image_t *served = atmi_rpc_image_of(&program->object);
  if (!status && served && atmi_rpc_image_failed(served))
    status = ATMI_UNSUPPORTED;
  return status;
}

static void print_usage(const program_t *program) {
  for (uint32_t i = 0; i < program->object.metadata.kernel_count; i++) {
    const atmi_kernel_metadata_t *kernel = &program->object.metadata.kernels[i];
    fprintf(stderr,
            "%s: VGPRs %u (spilled %u), AGPRs %u, SGPRs %u (spilled %u), LDS %u bytes, scratch %u bytes per "
            "thread%s, "
            "arguments %u bytes, threads per block at most %u, wavefront %u\n",
            kernel->name, kernel->vgpr_count, kernel->vgpr_spill_count, kernel->agpr_count,
            kernel->sgpr_count, kernel->sgpr_spill_count, kernel->group_bytes, kernel->private_bytes,
            kernel->dynamic_stack ? " and a stack" : "", kernel->kernarg_bytes, kernel->max_group,
            kernel->wavefront);
  }
}

/* clang 16 puts constructors and destructors into kernels; later ones into the arrays that _begin and exit go
 * through. */
static atmi_status_t run_implicit(program_t *program, const char *name, const char *array) {
  static const uint64_t no_words[1];
  kernel_t kernel;
  if (!atmi_metadata_find(&program->object.metadata, name) ||
      atmi_elf_has_section(program->object.elf, array))
    return ATMI_OK;
  atmi_status_t status = find_kernel(program, name, &kernel);
  return status ? status : run(program, name, &kernel, no_words, NULL);
}

/* Device code calls exit. At the end of the program its kernel of destructors is still to come. */
static void on_exit_of_device(void *context, int status) {
  program_t *program = context;
  if (!program->ends_with_kernel || strcmp(atomic_load(&program->state->running), "_end"))
    exit(status);
  atomic_store(&program->status, status);
  atomic_store(&program->exited, true);
}

static atmi_status_t run_end(program_t *program, const kernel_t *end, const uint64_t *words, int *result) {
  static const char fini[] = "amdgcn.device.fini", array[] = ".fini_array";
  program->ends_with_kernel = atmi_metadata_find(&program->object.metadata, fini) &&
                              !atmi_elf_has_section(program->object.elf, array);
  atmi_status_t status = run(program, "_end", end, words, NULL);
  if (!status)
    status = run_implicit(program, fini, array);
  if (atomic_load(&program->exited))
    *result = atomic_load(&program->status);
  return status;
}

static atmi_status_t run_all(program_t *program, const loader_options_t *options, int *result) {
  kernel_t begin, start, end;
  atmi_status_t status;
  if ((status = find_kernel(program, "_begin", &begin)) ||
      (status = find_kernel(program, "_start", &start)) || (status = find_kernel(program, "_end", &end)) ||
      (status = check_geometry(program, &start, options)))
    return status;
  const atmi_rpc_image_t *served = atmi_rpc_image_of(&program->object);
  void *buffer = served ? atmi_rpc_image_buffer(served) : NULL;
  uint64_t words[] = {program->argc, (uint64_t)(uintptr_t)program->argv, (uint64_t)(uintptr_t)program->envp,
                      (uint64_t)(uintptr_t)buffer};
  if ((status = run(program, "_begin", &begin, words, NULL)) ||
      (status = run_implicit(program, "amdgcn.device.init", ".init_array")))
    return status;
  words[3] = (uint64_t)(uintptr_t)program->result;
  if ((status = run(program, "_start", &start, words, options)) ||
      (status = atmi_transfer_retrieve(program->stream, result, program->result, sizeof *result)) ||
      (status = atmi_stream_synchronize(program->stream)))
    return status;
  words[0] = (uint32_t)*result;
  return run_end(program, &end, words, result);
}

static void tear_down(program_t *program) {
  if (program->stream)
    atmi_stream_put(program->stream);
  void *const memory[] = {program->argv, program->envp, program->result};
  for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) {
    atmi_status_t freed = atmi_memory_free(&program->device->memory, memory[i]);
    (void)freed;
  }
  atmi_code_object_fini(&program->object);
}

atmi_status_t loader_program_run(atmi_machine_t *machine, const loader_options_t *options, const void *image,
                                 size_t bytes, char *const *argv, char *const *envp, loader_state_t *state,
                                 int *result) {
  program_t program = {.state = state};
  atmi_status_t status = choose_device(machine, options->device, image, bytes, &program.device);
  if (status || (status = atmi_code_object_init(program.device, image, bytes, &program.object)))
    return status;
  /* Nobody could have told the program where functions of this process are. */
  const atmi_rpc_options_t rpc = {.version = options->rpc_version,
                                  .allow_host_calls = false,
                                  .on_exit = on_exit_of_device,
                                  .context = &program};
  if (options->print_resource_usage)
    print_usage(&program);
  if (!(status = atmi_rpc_image_attach(&program.object, &rpc)) && !(status = set_up(&program, argv, envp)))
    status = run_all(&program, options, result);
  /* After a fault the device may still use everything. */
  if (status != ATMI_LOST)
    tear_down(&program);
  return status;
}
