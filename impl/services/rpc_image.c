/* RPC for one loaded image: memory, installation, and what the server's callbacks do. */
#include "services/rpc_image.h"

#include "base/heap.h"
#include "base/hsa.h"
#include "device/device.h"
#include "services/rpc_server.h"

#include <stdlib.h>
#include <string.h>

struct atmi_rpc_image {
  atmi_device_t *device;
  void *buffer; /* host memory that the device can access */
  atmi_rpc_server_t server;
  atmi_heap_t heap;
  atmi_service_client_t client;
  void (*on_exit)(void *context, int status);
  void *context; /* of on_exit */
};

/* ---- what device code asks for ---- */

static uint64_t allocate_piece(void *context, uint64_t bytes) {
  const atmi_rpc_image_t *image = context;
  void *memory;
  hsa_status_t status = hsa_amd_memory_pool_allocate(image->device->memory_pool, bytes, 0, &memory);
  return status == HSA_STATUS_SUCCESS ? (uint64_t)(uintptr_t)memory : 0;
}

static void release_piece(void *context, uint64_t address) {
  (void)context;
  hsa_amd_memory_pool_free((void *)(uintptr_t)address);
}

static uint64_t allocate(void *context, uint64_t bytes) {
  atmi_rpc_image_t *image = context;
  return atmi_heap_allocate(&image->heap, bytes);
}

static bool release(void *context, uint64_t address) {
  atmi_rpc_image_t *image = context;
  return atmi_heap_release(&image->heap, address);
}

static void end_process(void *context, int status) {
  const atmi_rpc_image_t *image = context;
  if (image->on_exit)
    image->on_exit(image->context, status);
  else
    exit(status);
}

static void abort_process(void *context) {
  (void)context;
  abort();
}

static bool poll_image(void *object) {
  return atmi_rpc_server_poll(object);
}

static void settle_image(void *object) {
  atmi_rpc_server_flush(object);
}

/* ---- installation ---- */

atmi_rpc_version_t atmi_rpc_detect_version(const atmi_code_object_t *object) {
  enum { BEGIN_BYTES_17 = 32, ENVIRONMENT_BYTES_17 = 24 };
  const atmi_kernel_metadata_t *begin = atmi_metadata_find(&object->metadata, "_begin");
  atmi_elf_symbol_t environment;
  if (atmi_elf_find_symbol(object->elf, ATMI_RPC_CLIENT20_SYMBOL, &environment))
    return ATMI_RPC_LLVM20;
  if (begin)
    return begin->explicit_bytes == BEGIN_BYTES_17 ? ATMI_RPC_LLVM17 : ATMI_RPC_LLVM18;
  if (atmi_rpc_image_has_library(object))
    return ATMI_RPC_LLVM18; /* whichever LLVM its runtime is of */
  if (atmi_elf_find_symbol(object->elf, "__omp_rtl_device_environment", &environment) &&
      environment.bytes == ENVIRONMENT_BYTES_17)
    return ATMI_RPC_LLVM17;
  return ATMI_RPC_LLVM18;
}

/* Lanes of a wave in the image's code. */
static uint32_t lanes_of(const atmi_code_object_t *object) {
  uint32_t lanes = object->metadata.kernel_count ? object->metadata.kernels[0].wavefront : 0;
  return lanes == 32 || lanes == 64 ? lanes : object->device->properties.wavefront;
}

static atmi_status_t make_buffer(atmi_rpc_image_t *image, size_t bytes) {
  atmi_device_t *device = image->device;
  hsa_status_t status = hsa_amd_memory_pool_allocate(device->host->fine, bytes, 0, &image->buffer);
  if (status == HSA_STATUS_SUCCESS)
    status = hsa_amd_agents_allow_access(1, &device->agent, NULL, image->buffer);
  if (status == HSA_STATUS_SUCCESS) {
    memset(image->buffer, 0, bytes);
    return ATMI_OK;
  }
  return atmi_fail(ATMI_NO_MEMORY, device->label,
                   "cannot serve requests of device code: no shared buffer of %zu bytes: %s", bytes,
                   atmi_hsa_reason(status));
}

/* clang 14 and 15 link our device support library into each translation unit. All of them are to use one
 * object, or two waves would take the same port: the variables of the others are pointed to it. */
static hsa_status_t share_client(atmi_code_object_t *object, void *const *address) {
  hsa_status_t status = HSA_STATUS_SUCCESS;
  for (const char *name = NULL;
       !status && (name = atmi_elf_next_renamed(object->elf, ATMI_RPC_CLIENT_SYMBOL, name));) {
    void *variable;
    uint64_t bytes;
    if (!atmi_code_object_find_variable(object, name, &variable, &bytes) && bytes == sizeof *address)
      status = hsa_memory_copy(variable, address, sizeof *address);
  }
  return status;
}

/* Of 20 and later: the variable is the object, whose size says which one. */
static atmi_status_t install20(const atmi_rpc_image_t *image, void *variable, uint64_t bytes,
                               uint32_t lanes) {
  uint64_t buffer = (uint64_t)(uintptr_t)image->buffer;
  const atmi_rpc_client20_t old = atmi_rpc_client20_for(buffer, ATMI_RPC_PORTS);
  const atmi_rpc_client23_t new = atmi_rpc_client23_for(buffer, ATMI_RPC_PORTS, lanes);
  hsa_status_t status = hsa_memory_copy(variable, bytes == sizeof new ? (const void *)&new : &old, bytes);
  if (status == HSA_STATUS_SUCCESS)
    return ATMI_OK;
  return atmi_fail(atmi_status_from_hsa(status), image->device->label,
                   "cannot load the device image: its variable " ATMI_RPC_CLIENT20_SYMBOL
                   " cannot be reached: %s",
                   atmi_hsa_reason(status));
}

/* Up to 19: the variable holds the address of the client's object. */
static atmi_status_t install(atmi_code_object_t *object, atmi_rpc_image_t *image, const void *variable,
                             uint32_t lanes) {
  void *address = NULL;
  const atmi_rpc_client_t client =
      atmi_rpc_client_for((uint64_t)(uintptr_t)image->buffer, ATMI_RPC_PORTS, lanes);
  hsa_status_t status = hsa_memory_copy(&address, variable, sizeof address);
  if (status == HSA_STATUS_SUCCESS && !address)
    return atmi_fail(ATMI_CORRUPT, image->device->label,
                     "cannot load the device image: its variable " ATMI_RPC_CLIENT_SYMBOL " points nowhere");
  if (status == HSA_STATUS_SUCCESS)
    status = hsa_memory_copy(address, &client, sizeof client);
  if (status == HSA_STATUS_SUCCESS)
    status = share_client(object, &address);
  if (status == HSA_STATUS_SUCCESS)
    return ATMI_OK;
  return atmi_fail(atmi_status_from_hsa(status), image->device->label,
                   "cannot load the device image: its variable " ATMI_RPC_CLIENT_SYMBOL
                   " cannot be reached: %s",
                   atmi_hsa_reason(status));
}

static atmi_status_t make_image(atmi_code_object_t *object, const atmi_rpc_options_t *options, void *variable,
                                uint64_t bytes, atmi_rpc_image_t *image) {
  /* Who wants no freed memory kept looks on at accesses, and wants to see where blocks end. */
  const atmi_heap_backing_t memory = {image, allocate_piece, release_piece,
                                      !object->device->machine->env->memory_manager_threshold};
  const atmi_rpc_host_t host = {.context = image,
                                .allocate = allocate,
                                .release = release,
                                .exit = end_process,
                                .abort = abort_process,
                                .allow_host_calls = options->allow_host_calls};
  uint32_t lanes = lanes_of(object);
  atmi_rpc_version_t version = atmi_rpc_detect_version(object);
  /* Which of the old ones it is can be asked for: their images look alike. */
  if (version != ATMI_RPC_LLVM20 && options->version >= ATMI_RPC_LLVM17)
    version = (atmi_rpc_version_t)options->version;
  image->device = object->device;
  image->on_exit = options->on_exit;
  image->context = options->context;
  atmi_heap_init(&memory, &image->heap);
  atmi_status_t status = make_buffer(image, atmi_rpc_server_bytes(ATMI_RPC_PORTS, lanes, version));
  if (!status)
    status = atmi_rpc_server_init(image->device->label, image->buffer, ATMI_RPC_PORTS, lanes, version, &host,
                                  &image->server);
  if (!status)
    status = version == ATMI_RPC_LLVM20 ? install20(image, variable, bytes, lanes)
                                        : install(object, image, variable, lanes);
  if (status)
    return status;
  image->client =
      (atmi_service_client_t){.poll = poll_image, .settle = settle_image, .object = &image->server};
  atmi_service_add(&image->device->machine->service, &image->client);
  return ATMI_OK;
}

bool atmi_rpc_image_has_library(const atmi_code_object_t *object) {
  atmi_elf_symbol_t client;
  return atmi_elf_find_symbol(object->elf, "omptarget_amdgpu_rpc_client", &client);
}

/* Programs built with our device support library carry a client in any case, and this variable only if they
 * use it. */
static bool is_idle_client(const atmi_code_object_t *object) {
  return atmi_rpc_image_has_library(object) &&
         !atmi_elf_may_have_symbol(object->elf, "omptarget_amdgpu_calls_host");
}

/* Ends the service; no kernel of the image may run. */
static void detach(void *served) {
  atmi_rpc_image_t *image = served;
  if (image->client.poll)
    atmi_service_remove(&image->device->machine->service, &image->client);
  atmi_rpc_server_fini(&image->server);
  atmi_heap_fini(&image->heap);
  if (image->buffer)
    hsa_amd_memory_pool_free(image->buffer);
  free(image);
}

atmi_status_t atmi_rpc_image_attach(atmi_code_object_t *object, const atmi_rpc_options_t *options) {
  const char *label = object->device->label;
  void *variable;
  uint64_t bytes;
  const char *name = ATMI_RPC_CLIENT20_SYMBOL;
  size_t wanted = sizeof(atmi_rpc_client20_t), other = sizeof(atmi_rpc_client23_t);
  if (atmi_code_object_find_variable(object, name, &variable, &bytes)) {
    name = ATMI_RPC_CLIENT_SYMBOL;
    wanted = other = sizeof(void *);
    if (atmi_code_object_find_variable(object, name, &variable, &bytes) || is_idle_client(object))
      return ATMI_OK;
  }
  if (bytes != wanted && bytes != other)
    return atmi_fail(ATMI_CORRUPT, label,
                     "cannot load the device image: its variable %s has %llu bytes, not %zu", name,
                     (unsigned long long)bytes, wanted);
  atmi_rpc_image_t *image = calloc(1, sizeof *image);
  if (!image)
    return atmi_fail(ATMI_NO_MEMORY, label, "cannot load the device image: out of host memory");
  atmi_status_t status = make_image(object, options, variable, bytes, image);
  if (status)
    detach(image);
  if (status)
    return status;
  object->served = image;
  object->end_service = detach;
  return ATMI_OK;
}

atmi_rpc_image_t *atmi_rpc_image_of(const atmi_code_object_t *object) {
  return object->end_service == detach ? object->served : NULL;
}

void *atmi_rpc_image_buffer(const atmi_rpc_image_t *image) {
  return image->buffer;
}

bool atmi_rpc_image_failed(atmi_rpc_image_t *image) {
  atmi_service_t *service = &image->device->machine->service;
  pthread_mutex_lock(&service->polling);
  bool failed = image->server.failed;
  pthread_mutex_unlock(&service->polling);
  return failed;
}
