/* Device images: matching them with devices, and loading them. */
#include "openmp/image.h"

#include "base/hsa.h"
#include "base/process_memory.h"
#include "image/embedded.h"
#include "openmp/device_runtime.h"
#include "openmp/refusal.h"
#include "services/rpc_image.h"
#include "stream/transfer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EM_AMDGPU_MACHINE = 224 };

/* ---- matching ---- */

/* The ELF file in an image, raw or wrapped. */
static bool unwrap(const atmi_image_bytes_t *image, const void **elf, size_t *bytes) {
  const char *begin = image->begin, *end = image->end, *arch;
  return begin && end > begin && atmi_embedded_unwrap(begin, (size_t)(end - begin), elf, bytes, &arch);
}

static bool identify(const void *elf, size_t bytes, atmi_target_id_t *id) {
  atmi_elf_identity_t identity;
  return atmi_elf_identify(elf, bytes, &identity) && !atmi_target_id_from_elf(&identity, id);
}

static bool is_for_amd(const void *elf, size_t bytes) {
  atmi_elf_identity_t identity;
  return atmi_elf_identify(elf, bytes, &identity) && identity.machine == EM_AMDGPU_MACHINE;
}

static bool fits_any(const atmi_context_t *context, const atmi_target_id_t *id) {
  for (uint32_t i = 0; i < context->device_count; i++)
    if (atmi_target_id_match(id, &context->devices[i].properties.target) == ATMI_MATCH)
      return true;
  return false;
}

bool atmi_image_is_there(const atmi_image_bytes_t *image) {
  const char *begin = image->begin, *end = image->end;
  return begin && begin < end && atmi_process_memory_is_readable(begin, (uint64_t)(end - begin));
}

bool atmi_image_fits(const atmi_context_t *context, const atmi_image_bytes_t *image) {
  const void *elf;
  size_t bytes;
  atmi_target_id_t id;
  return atmi_image_is_there(image) && unwrap(image, &elf, &bytes) && identify(elf, bytes, &id) &&
         fits_any(context, &id);
}

/* ---- explaining ---- */

/* More are not described. */
enum { MOST_DEVICES = 16 };

void atmi_image_note(const void *elf, size_t bytes, void *noted) {
  atmi_image_list_t *list = noted;
  if (list->count == ATMI_IMAGE_LIST_MOST || !is_for_amd(elf, bytes))
    return;
  if (!identify(elf, bytes, &list->ids[list->count]))
    list->ids[list->count] = (atmi_target_id_t){0};
  list->count++;
}

void atmi_image_explain(const atmi_context_t *context, const atmi_image_list_t *list) {
  atmi_refusal_device_t devices[MOST_DEVICES];
  char text[8192];
  size_t device_count = 0;
  for (size_t i = 0; i < list->count; i++)
    if (fits_any(context, &list->ids[i]))
      return;
  for (; device_count < context->device_count && device_count < MOST_DEVICES; device_count++) {
    const atmi_device_properties_t *properties = &context->devices[device_count].properties;
    devices[device_count] = (atmi_refusal_device_t){&properties->target, properties->product_name};
  }
  if (!list->count || !device_count)
    return;
  atmi_refusal_describe(list->ids, list->count, devices, device_count, text, sizeof text);
  atmi_fail(ATMI_UNSUPPORTED, NULL, "%s", text);
}

void atmi_image_explain_no_runtime(const char *library, bool debug) {
  atmi_image_list_t list = {.count = 0};
  char text[4096];
  atmi_embedded_find_all(library, atmi_image_note, &list);
  if (list.count) {
    atmi_refusal_describe_no_runtime(list.ids, list.count, atmi_hsa_problem(), ATMI_HSA_REMEDY, text,
                                     sizeof text);
    atmi_fail(ATMI_NOT_FOUND, NULL, "%s", text);
  } else if (debug)
    atmi_warn(NULL, "no GPU is used, and no image for one found: ROCr cannot be opened: %s",
              atmi_hsa_problem());
}

/* ---- what libraries hold ---- */

void atmi_image_register(atmi_context_t *context, const void *library, const atmi_image_bytes_t *image,
                         atmi_image_list_t *list) {
  atmi_known_image_t known = {.library = library};
  if (!unwrap(image, &known.elf, &known.bytes) || !is_for_amd(known.elf, known.bytes))
    return;
  atmi_image_note(known.elf, known.bytes, list);
  atmi_known_image_t *record = malloc(sizeof *record);
  if (!record)
    return; /* it only serves to find a better image; without it the given one is tried */
  *record = known;
  pthread_mutex_lock(&context->lock);
  record->next = context->images;
  context->images = record;
  pthread_mutex_unlock(&context->lock);
}

static bool fits_device(const atmi_known_image_t *images, const atmi_omp_device_t *device) {
  atmi_target_id_t id;
  for (const atmi_known_image_t *at = images; at; at = at->next)
    if (identify(at->elf, at->bytes, &id) &&
        atmi_target_id_match(&id, &device->properties.target) == ATMI_MATCH)
      return true;
  return false;
}

uint64_t atmi_image_misfits(const atmi_context_t *context) {
  uint64_t devices = 0;
  for (uint32_t i = 0; i < context->device_count && i < 64; i++)
    devices |= (uint64_t)!fits_device(context->images, &context->devices[i]) << i;
  return devices;
}

void atmi_image_forget(atmi_context_t *context, const void *library) {
  for (atmi_known_image_t **at = &context->images; *at;) {
    atmi_known_image_t *known = *at;
    if (library && known->library != library) {
      at = &known->next;
      continue;
    }
    *at = known->next;
    free(known);
  }
}

static void release(atmi_loaded_image_t *loaded) {
  atmi_device_runtime_fini(loaded);
  if (loaded->object.device)
    atmi_memory_remove_variables(&loaded->object.device->memory, &loaded->object);
  atmi_code_object_fini(&loaded->object);
  free(loaded->kernels);
  free(loaded->entries);
  free(loaded->attached);
  free(loaded);
}

void atmi_image_release_all(atmi_omp_device_t *device) {
  /* After a fault, other queues of the device may go on with code of the images. */
  if (atmi_device_is_lost(device->core))
    atmi_device_stop(device->core);
  while (device->images) {
    atmi_loaded_image_t *loaded = device->images;
    device->images = loaded->next;
    release(loaded);
  }
}

void atmi_image_destruct_all(atmi_omp_device_t *device) {
  for (atmi_loaded_image_t *loaded = device->images; loaded; loaded = loaded->next)
    atmi_device_runtime_destruct(loaded);
}

/* Unloads what was unregistered. Not while anything runs on the device: when a program exits, its other
 * threads may still be in the middle of a region. What stays is tried again with the next library that comes
 * or goes. */
static void release_retired(const atmi_context_t *context, atmi_omp_device_t *device) {
  if (atmi_stream_is_any_taken(device->core) || atmi_device_is_lost(device->core) ||
      atomic_load(&context->state) == ATMI_CONTEXT_ENDING)
    return;
  for (atmi_loaded_image_t **at = &device->images; *at;) {
    atmi_loaded_image_t *loaded = *at;
    if (!loaded->retired) {
      at = &loaded->next;
      continue;
    }
    *at = loaded->next;
    release(loaded);
  }
}

void atmi_image_unregister(atmi_context_t *context, const void *library) {
  if (atomic_load(&context->state) == ATMI_CONTEXT_FORKED) /* whoever held the lock is not in this process */
    return;
  pthread_mutex_lock(&context->lock);
  for (uint32_t i = 0; context->devices && i < context->machine.device_count; i++) {
    atmi_omp_device_t *device = &context->devices[i];
    for (atmi_loaded_image_t *loaded = device->images; loaded; loaded = loaded->next)
      loaded->retired = loaded->retired || loaded->library == library;
    release_retired(context, device);
  }
  atmi_image_forget(context, library);
  pthread_mutex_unlock(&context->lock);
}

/* ---- loading ---- */

/* Chooses the bytes to load on the device: the given image if it fits, else another one of the same library.
 */
static atmi_status_t choose(atmi_context_t *context, const atmi_omp_device_t *device,
                            const atmi_image_request_t *request, const void **elf, size_t *bytes) {
  const atmi_target_id_t *target = &device->core->properties.target;
  const char *label = device->core->label;
  atmi_target_id_t id, other;
  if (!unwrap(&request->image, elf, bytes) || !is_for_amd(*elf, *bytes))
    return atmi_fail(ATMI_CORRUPT, label, "cannot load the device image: it is no ELF file for AMD GPUs");
  if (!identify(*elf, *bytes, &id))
    return atmi_fail(ATMI_UNSUPPORTED, label,
                     "cannot load the device image: its processor or code object version is not known here");
  if (atmi_target_id_match(&id, target) == ATMI_MATCH)
    return ATMI_OK;
  bool found = false;
  pthread_mutex_lock(&context->lock);
  for (const atmi_known_image_t *known = context->images; known && !found; known = known->next) {
    found = known->library == request->library && identify(known->elf, known->bytes, &other) &&
            atmi_target_id_match(&other, target) == ATMI_MATCH;
    if (found) {
      *elf = known->elf;
      *bytes = known->bytes;
    }
  }
  pthread_mutex_unlock(&context->lock);
  if (found)
    return ATMI_OK;
  char reason[256];
  atmi_refusal_explain(&id, target, reason, sizeof reason);
  return atmi_fail(ATMI_UNSUPPORTED, label, "cannot load the device image: %s", reason);
}

/* A variable: its place on the device, checked against what the host believes. Where the host's memory is
 * used in place, it begins with what the host's holds. Under unified shared memory, and of a variable that is
 * linked to, that is a pointer, through which device code reaches the host's. */
static atmi_status_t resolve_variable(bool in_place, atmi_loaded_image_t *loaded, atmi_stream_t *stream,
                                      const atmi_entry_t *host, atmi_entry_t *entry) {
  const char *label = stream->device->label;
  uint64_t bytes;
  atmi_status_t status = atmi_code_object_find_variable(&loaded->object, host->name, &entry->address, &bytes);
  if (status)
    return atmi_fail(
        status, label,
        "cannot load the device image: it has no variable %s, which the host declares as target; was it "
        "optimised away, or is a translation unit missing?",
        host->name);
  bool is_indirect = atmi_entry_indirect_rows(host);
  if (bytes != (is_indirect ? sizeof(void *) : host->size))
    return atmi_fail(
        ATMI_CORRUPT, label,
        "cannot load the device image: variable %s has %llu bytes there and %llu on the host; rebuild all "
        "translation units with the same declarations",
        host->name, (unsigned long long)bytes, (unsigned long long)host->size);
  atmi_memory_add_variable(&stream->device->memory, &loaded->object, host->name,
                           (uint64_t)(uintptr_t)entry->address, bytes);
  if (in_place && !is_indirect)
    return atmi_transfer_submit(stream, entry->address, host->address, host->size);
  return ATMI_OK;
}

static atmi_status_t resolve_kernel(atmi_loaded_image_t *loaded, const atmi_device_abi_t *abi,
                                    const atmi_entry_t *host, atmi_omp_kernel_t *kernel,
                                    atmi_entry_t *entry) {
  const char *label = loaded->object.device->label;
  atmi_status_t status = atmi_code_object_find_kernel(&loaded->object, host->name, &kernel->core);
  atmi_elf_symbol_t function;
  if (status == ATMI_NOT_FOUND && host->flags & (ATMI_ENTRY_CTOR | ATMI_ENTRY_DTOR) &&
      atmi_elf_find_symbol(loaded->object.elf, host->name, &function))
    return atmi_fail(
        ATMI_UNSUPPORTED, label,
        "cannot load the device image: %s is a plain function, as clang 13 and 14 emit constructors and "
        "destructors of declare target variables, and cannot be launched; build with clang 15 or later",
        host->name);
  if (status == ATMI_NOT_FOUND)
    return atmi_fail(
        status, label,
        "cannot load the device image: it has no kernel %s; host and device code do not belong together",
        host->name);
  if (status)
    return status;
  if (!atmi_device_abi_describe(abi, loaded->object.elf, host->name, &kernel->compiled))
    return atmi_fail(ATMI_CORRUPT, label,
                     "cannot load the device image: the execution mode of kernel %s is not known",
                     host->name);
  /* The smaller of what the two places say; the metadata's is that of the machine code. */
  uint32_t max_group = kernel->core.metadata->max_group;
  if (max_group && (!kernel->compiled.max_threads || max_group < kernel->compiled.max_threads))
    kernel->compiled.max_threads = max_group;
  kernel->mode_number = atmi_device_abi_mode_number(abi, kernel->compiled.mode);
  /* Where all kernels are bare nothing in the image tells of a compiler; they came with clang 18. */
  kernel->takes_environment = abi->clang18 || kernel->compiled.is_bare;
  kernel->core.alone = abi->shares_buffer;
  entry->address = kernel;
  return ATMI_OK;
}

static atmi_status_t resolve_entries(bool in_place, atmi_loaded_image_t *loaded,
                                     const atmi_image_request_t *request, atmi_stream_t *stream) {
  size_t count = request->entry_count;
  atmi_device_abi_t abi = atmi_device_abi_detect(loaded->object.elf);
  loaded->entries = calloc(count ? count : 1, sizeof *loaded->entries);
  loaded->kernels = calloc(count ? count : 1, sizeof *loaded->kernels);
  if (!loaded->entries || !loaded->kernels)
    return atmi_fail(ATMI_NO_MEMORY, stream->device->label,
                     "cannot load the device image: out of host memory");
  atmi_status_t status = ATMI_OK;
  for (size_t i = 0; !status && i < count; i++) {
    const atmi_entry_t *host = &request->entries[i];
    loaded->entries[i] = *host;
    if (host->size)
      status = resolve_variable(in_place, loaded, stream, host, &loaded->entries[i]);
    else
      status = resolve_kernel(loaded, &abi, host, &loaded->kernels[i], &loaded->entries[i]);
  }
  loaded->entry_count = count;
  return status;
}

atmi_status_t atmi_image_load(atmi_context_t *context, atmi_omp_device_t *device,
                              const atmi_image_request_t *request, atmi_loaded_image_t **result) {
  const void *elf = NULL;
  size_t bytes = 0;
  atmi_stream_t *stream = NULL;
  atmi_status_t status = choose(context, device, request, &elf, &bytes), ended;
  if (status)
    return status;
  atmi_loaded_image_t *loaded = calloc(1, sizeof *loaded);
  if (!loaded)
    return atmi_fail(ATMI_NO_MEMORY, device->core->label, "cannot load the device image: out of host memory");
  loaded->library = request->library;
  const atmi_rpc_options_t rpc = {.version = (int)context->env.rpc_version, .allow_host_calls = true};
  if ((status = atmi_code_object_init(device->core, elf, bytes, &loaded->object)) ||
      (status = atmi_rpc_image_attach(&loaded->object, &rpc)) ||
      (status = atmi_stream_take(device->core, &stream)))
    goto failed;
  status = resolve_entries(context->unified || device->zero_copy, loaded, request, stream);
  if (!status)
    status = atmi_device_runtime_init(context, loaded, request->entries, stream);
  if ((ended = atmi_stream_synchronize(stream)) && !status)
    status = ended;
  atmi_stream_put(stream);
  if (status)
    goto failed;
  atmi_code_object_seal(&loaded->object);
  pthread_mutex_lock(&context->lock);
  release_retired(context, device);
  loaded->next = device->images;
  device->images = loaded;
  pthread_mutex_unlock(&context->lock);
  *result = loaded;
  return ATMI_OK;
failed:
  release(loaded);
  return status;
}

const atmi_entry_t *atmi_image_find(atmi_loaded_image_t *loaded, const char *name) {
  size_t count = loaded->entry_count;
  /* Who asks mostly asks for one after the other. */
  size_t first = atomic_load_explicit(&loaded->looked_up, memory_order_relaxed);
  for (size_t i = 0; i < count; i++) {
    size_t at = (first + i) % count;
    if (strcmp(loaded->entries[at].name, name))
      continue;
    atomic_store_explicit(&loaded->looked_up, at + 1, memory_order_relaxed);
    return &loaded->entries[at];
  }
  return NULL;
}
