/* Code objects: HSA executables, and the look-ups while they are set up. */
#include "device/code_object.h"

#include "base/hsa.h"
#include "device/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOTE_AMDGPU_METADATA = 32 };

static atmi_status_t read_image(atmi_device_t *device, const void *image, size_t bytes,
                                atmi_code_object_t *object) {
  atmi_status_t status = atmi_elf_open(image, bytes, device->label, &object->elf);
  if (status)
    return status;
  const void *note;
  size_t note_bytes;
  uint32_t index = 0;
  for (;
       !status && atmi_elf_find_note(object->elf, "AMDGPU", NOTE_AMDGPU_METADATA, index, &note, &note_bytes);
       index++) {
    atmi_metadata_t part;
    if (!(status = atmi_metadata_parse(note, note_bytes, device->label, &part)))
      status = atmi_metadata_add(&object->metadata, &part, device->label);
  }
  if (!status && !index)
    return atmi_fail(ATMI_CORRUPT, device->label,
                     "cannot load the device image: it has no AMDGPU metadata note; rebuild the program");
  return status;
}

/* What helps when ROCr does not load an image that is in order. */
static const char *remedy(const void *image, size_t bytes) {
  atmi_elf_identity_t identity;
  return atmi_elf_identify(image, bytes, &identity) && identity.abi_version >= ATMI_ELF_CODE_OBJECT_V6
             ? "; the image is of code object version 6, which ROCr loads from 6.3 on: use a newer ROCr, or "
               "build with -mcode-object-version=5 and the processor of the device"
             : "";
}

static atmi_status_t load(atmi_code_object_t *object, const void *image, size_t bytes) {
  atmi_device_t *device = object->device;
  const char *step = "create its reader", *wrong = atmi_elf_check(image, bytes);
  if (wrong)
    return atmi_fail(ATMI_CORRUPT, device->label,
                     "cannot load the device image: it is damaged: %s; rebuild the program", wrong);
  hsa_status_t status = hsa_code_object_reader_create_from_memory(image, bytes, &object->reader);
  if (status == HSA_STATUS_SUCCESS) {
    step = "create its executable";
    status = hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL,
                                       &object->executable);
  }
  if (status == HSA_STATUS_SUCCESS) {
    step = "load it";
    status =
        hsa_executable_load_agent_code_object(object->executable, device->agent, object->reader, NULL, NULL);
  }
  if (status == HSA_STATUS_SUCCESS) {
    step = "freeze it";
    status = hsa_executable_freeze(object->executable, NULL);
  }
  if (status == HSA_STATUS_SUCCESS)
    return ATMI_OK;
  return atmi_fail(atmi_status_from_hsa(status), device->label,
                   "cannot load the device image of %zu bytes: could not %s: %s%s", bytes, step,
                   atmi_hsa_reason(status), remedy(image, bytes));
}

atmi_status_t atmi_code_object_init(atmi_device_t *device, const void *image, size_t bytes,
                                    atmi_code_object_t *object) {
  *object = (atmi_code_object_t){.device = device, .image = image, .bytes = bytes};
  atmi_timeline_t *timeline = device->machine->timeline;
  uint64_t begin = timeline ? atmi_timeline_now() : 0;
  atmi_status_t status = read_image(device, image, bytes, object);
  if (!status) {
    pthread_mutex_lock(&device->machine->loading);
    status = load(object, image, bytes);
    pthread_mutex_unlock(&device->machine->loading);
  }
  atmi_timeline_host_bytes(timeline, "image", "load a device image", begin, bytes);
  if (status)
    atmi_code_object_fini(object);
  return status;
}

void atmi_code_object_seal(atmi_code_object_t *object) {
  atmi_elf_close(object->elf);
  object->elf = NULL;
}

void atmi_code_object_fini(atmi_code_object_t *object) {
  atmi_code_object_seal(object);
  if (object->served)
    object->end_service(object->served);
  if (object->executable.handle)
    hsa_executable_destroy(object->executable);
  if (object->reader.handle)
    hsa_code_object_reader_destroy(object->reader);
  atmi_metadata_fini(&object->metadata);
  *object = (atmi_code_object_t){0};
}

static bool find_hsa_symbol(const atmi_code_object_t *object, const char *name, hsa_symbol_kind_t kind,
                            hsa_executable_symbol_t *symbol) {
  hsa_symbol_kind_t found;
  return hsa_executable_get_symbol_by_name(object->executable, name, &object->device->agent, symbol) ==
             HSA_STATUS_SUCCESS &&
         hsa_executable_symbol_get_info(*symbol, HSA_EXECUTABLE_SYMBOL_INFO_TYPE, &found) ==
             HSA_STATUS_SUCCESS &&
         found == kind;
}

/* Whether kernels of the image that have the hidden argument really call: compilers list it for kernels that
 * only might. */
static bool uses_hostcall(const atmi_code_object_t *object) {
  atmi_elf_symbol_t symbol;
  return atmi_elf_find_symbol(object->elf, "needs_hostcall_buffer", &symbol) ||
         atmi_elf_find_symbol(object->elf, "__ockl_hostcall_internal", &symbol);
}

atmi_status_t atmi_code_object_find_kernel(atmi_code_object_t *object, const char *name,
                                           atmi_kernel_t *kernel) {
  const atmi_kernel_metadata_t *metadata = atmi_metadata_find(&object->metadata, name);
  hsa_executable_symbol_t symbol;
  if (!metadata || !find_hsa_symbol(object, metadata->symbol, HSA_SYMBOL_KIND_KERNEL, &symbol))
    return ATMI_NOT_FOUND;
  uint64_t id =
      1 + atomic_fetch_add_explicit(&object->device->machine->kernels_found, 1, memory_order_relaxed);
  atmi_elf_symbol_t code;
  atmi_kernel_t found = {.id = id,
                         .name = metadata->name,
                         .metadata = metadata,
                         .owner = object,
                         .calls_host = object->served != NULL};
  if (atmi_elf_find_symbol(object->elf, metadata->name, &code))
    found.entry = code.value;
  const struct {
    hsa_executable_symbol_info_t info;
    void *value;
  } queries[] = {
      {HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &found.object},
      {HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE, &found.group_bytes},
      {HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE, &found.private_bytes},
  };
  for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
    hsa_status_t status = hsa_executable_symbol_get_info(symbol, queries[i].info, queries[i].value);
    if (status != HSA_STATUS_SUCCESS)
      return atmi_fail(ATMI_HSA_FAILED, object->device->label, "cannot query kernel %s: %s", name,
                       atmi_hsa_reason(status));
  }
  /* Recursion and calls through pointers: the size in the image is only what the compiler could see. */
  uint32_t stack = (uint32_t)object->device->machine->env->stack_bytes;
  if (metadata->dynamic_stack && found.private_bytes < stack)
    found.private_bytes = stack;
  found.uses_hostcall = metadata->hostcall_offset && uses_hostcall(object);
  found.calls_host = found.calls_host || found.uses_hostcall;
  *kernel = found;
  return ATMI_OK;
}

static bool address_of(const atmi_code_object_t *object, const char *name, uint64_t *address) {
  hsa_executable_symbol_t symbol;
  if (find_hsa_symbol(object, name, HSA_SYMBOL_KIND_VARIABLE, &symbol))
    return hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS, address) ==
           HSA_STATUS_SUCCESS;
  if (find_hsa_symbol(object, name, HSA_SYMBOL_KIND_KERNEL, &symbol))
    return hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, address) ==
           HSA_STATUS_SUCCESS;
  return false;
}

/* An image is loaded as one piece: any symbol whose address HSA tells gives the distance for all. */
static bool find_bias(atmi_code_object_t *object) {
  atmi_elf_symbol_t symbol;
  for (const char *name = NULL;
       !object->has_bias && (name = atmi_elf_next_exported(object->elf, name, &symbol));) {
    uint64_t address;
    if (!address_of(object, name, &address))
      continue;
    object->load_bias = address - symbol.value;
    object->has_bias = true;
  }
  return object->has_bias;
}

atmi_status_t atmi_code_object_find_variable(atmi_code_object_t *object, const char *name, void **address,
                                             uint64_t *bytes) {
  atmi_elf_symbol_t symbol;
  if (!atmi_elf_find_symbol(object->elf, name, &symbol))
    return ATMI_NOT_FOUND;
  uint64_t at;
  if (symbol.local || !address_of(object, name, &at)) {
    if (!find_bias(object))
      return ATMI_NOT_FOUND;
    at = symbol.value + object->load_bias;
  }
  *address = (void *)(uintptr_t)at;
  *bytes = symbol.bytes;
  return ATMI_OK;
}

atmi_name_t atmi_kernel_label(const atmi_kernel_t *kernel) {
  return atmi_name_of_kernel(kernel->name, kernel->owner->device->machine->env->mangled_names);
}
