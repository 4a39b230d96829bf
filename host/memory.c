/* OpenMP's functions for device memory: allocation, presence, association, locking. Not here: copies (copy).
 */
#include "api.h"
#include "checker.h"
#include "libomp.h"
#include "message.h"
#include "ompt.h"

#include <stdlib.h>
#include <string.h>

/* ---- devices ---- */

TGT_EXPORT int omp_get_num_devices(void) {
  return tgt_runtime_device_count(tgt_runtime());
}

TGT_EXPORT int omp_get_initial_device(void) {
  return tgt_runtime_device_count(tgt_runtime());
}

/* Of who asks, and that is the host. */
TGT_EXPORT int omp_get_device_num(void) {
  return tgt_runtime_device_count(tgt_runtime());
}

bool tgt_is_host(int number) {
  return number == tgt_runtime_device_count(tgt_runtime()) || number == TGT_INITIAL_DEVICE;
}

tgt_device_t *tgt_api_device(int number, const char *operation) {
  bool failed;
  if (number < 0) {
    tgt_error("cannot %s: there is no device %d", operation, number);
    return NULL;
  }
  tgt_device_t *device = tgt_runtime_use_ready(tgt_runtime(), number);
  return device ? device : tgt_runtime_use(tgt_runtime(), number, operation, &failed);
}

static const char uid_of_host[] = "HOST";

TGT_EXPORT const char *omp_get_uid_from_device(int number) {
  if (tgt_is_host(number))
    return uid_of_host;
  tgt_device_t *device = number == TGT_INVALID_DEVICE ? NULL : tgt_api_device(number, "name a device");
  return device ? device->uid : NULL;
}

TGT_EXPORT int omp_get_device_from_uid(const char *uid) {
  tgt_runtime_t *runtime = tgt_runtime();
  int count = tgt_runtime_device_count(runtime);
  if (uid && !strcmp(uid, uid_of_host))
    return count;
  for (int i = 0; uid && i < count; i++)
    if (!strcmp(uid, runtime->devices[i].uid) ||
        !strcmp(uid, runtime->devices[i].uid + sizeof TGT_UID_KIND - 1)) /* also as HSA has it */
      return i;
  return TGT_INVALID_DEVICE;
}

/* ---- allocation ---- */

static inline void *take(tgt_device_t *device, size_t bytes, atmi_memory_kind_t kind) {
  void *memory;
  if (kind == ATMI_MEMORY_DEVICE && atmi_memory_take_cached(&device->core->memory, bytes, NULL, &memory))
    return memory;
  return atmi_memory_allocate(&device->core->memory, bytes, kind, &memory) ? NULL : memory;
}

static __attribute__((noinline)) void *take_and_tell(tgt_device_t *device, size_t bytes,
                                                     atmi_memory_kind_t kind, const void *code) {
  tgt_told_data_t data = {.kind = TGT_OMPT_ALLOCATE,
                          .from_device = tgt_ompt_number(NULL),
                          .to_device = tgt_ompt_number(device),
                          .bytes = bytes,
                          .code = code};
  tgt_ompt_data_begin(&data);
  void *memory = take(device, bytes, kind);
  data.to = memory;
  tgt_ompt_data_end(&data);
  return memory;
}

/* Memory on the host for who asks for host memory by the host's number; else of the device. In what follows,
 * `code` is where the program called. */
static void *allocate(size_t bytes, int number, atmi_memory_kind_t kind, const void *code) {
  if (!bytes)
    return NULL;
  if (tgt_is_host(number))
    return malloc(bytes);
  tgt_device_t *device = tgt_api_device(number, "allocate memory");
  if (!device)
    return NULL;
  tgt_checker_caller(code);
  void *memory = tgt_ompt_is_on() ? take_and_tell(device, bytes, kind, code) : take(device, bytes, kind);
  tgt_checker_caller(NULL);
  return memory;
}

static __attribute__((noinline)) void put(tgt_device_t *device, void *memory) {
  if (tgt_machine_is_ending() || atmi_memory_put_cached(&device->core->memory, memory))
    return;
  /* A failure is described, and there is nobody else to pass it on to. */
  if (atmi_memory_free(&device->core->memory, memory) == ATMI_INVALID)
    tgt_checker_refused(memory);
}

static __attribute__((noinline)) void put_and_tell(tgt_device_t *device, void *memory, const void *code) {
  tgt_told_data_t data = {.kind = TGT_OMPT_DELETE,
                          .from = memory,
                          .from_device = tgt_ompt_number(device),
                          .to_device = -1,
                          .code = code};
  tgt_ompt_data_begin(&data);
  put(device, memory);
  tgt_ompt_data_end(&data);
}

static void release(void *memory, int number, const void *code) {
  if (!memory)
    return;
  if (tgt_is_host(number)) {
    free(memory);
    return;
  }
  tgt_device_t *device = tgt_api_device(number, "free memory");
  if (!device)
    return;
  tgt_checker_caller(code);
  if (tgt_ompt_is_on())
    put_and_tell(device, memory, code);
  else
    put(device, memory);
  tgt_checker_caller(NULL);
}

TGT_EXPORT void *omp_target_alloc(size_t bytes, int device) {
  return allocate(bytes, device, ATMI_MEMORY_DEVICE, __builtin_return_address(0));
}

TGT_EXPORT void omp_target_free(void *memory, int device) {
  release(memory, device, __builtin_return_address(0));
}

TGT_EXPORT void *llvm_omp_target_alloc_device(size_t, int) __attribute__((alias("omp_target_alloc")));

TGT_EXPORT void *llvm_omp_target_alloc_host(size_t bytes, int device) {
  return allocate(bytes, device, ATMI_MEMORY_HOST, __builtin_return_address(0));
}

TGT_EXPORT void *llvm_omp_target_alloc_shared(size_t, int)
    __attribute__((alias("llvm_omp_target_alloc_host")));

/* All memory is freed in the same way. */
TGT_EXPORT void llvm_omp_target_free_device(void *, int) __attribute__((alias("omp_target_free")));
TGT_EXPORT void llvm_omp_target_free_host(void *, int) __attribute__((alias("omp_target_free")));
TGT_EXPORT void llvm_omp_target_free_shared(void *, int) __attribute__((alias("omp_target_free")));

/* A team's dynamic memory, which the host has none of. */
TGT_EXPORT void *llvm_omp_target_dynamic_shared_alloc(void) {
  return NULL;
}

TGT_EXPORT void *llvm_omp_get_dynamic_shared(void)
    __attribute__((alias("llvm_omp_target_dynamic_shared_alloc")));

/* ---- host memory ---- */

TGT_EXPORT void *llvm_omp_target_lock_mem(void *host, size_t bytes, int number) {
  void *address;
  if (!host || !bytes)
    return NULL;
  if (tgt_is_host(number))
    return host;
  tgt_device_t *device = tgt_api_device(number, "lock host memory");
  if (!device || atmi_host_lock(&device->core->machine->host_locks, host, bytes, &address))
    return NULL;
  return address;
}

TGT_EXPORT void llvm_omp_target_unlock_mem(void *host, int number) {
  tgt_device_t *device = host && !tgt_is_host(number) ? tgt_api_device(number, "unlock host memory") : NULL;
  if (!device || tgt_machine_is_ending())
    return;
  atmi_status_t status = atmi_host_unlock(&device->core->machine->host_locks, host);
  (void)status; /* described */
}

/* ---- what is mapped ---- */

TGT_EXPORT void *omp_get_mapped_ptr(const void *host, int number) {
  void *found = NULL;
  if (!host || tgt_is_host(number))
    return (void *)(uintptr_t)host;
  tgt_device_t *device = tgt_api_device(number, "look up mapped memory");
  if (device && map_table_find(device->maps, host, 1, &found))
    return found;
  return NULL;
}

/* Under unified shared memory everything is. */
TGT_EXPORT int omp_target_is_present(const void *host, int number) {
  void *found;
  if (!host)
    return 0;
  if (tgt_is_host(number))
    return 1;
  tgt_device_t *device = tgt_api_device(number, "look up mapped memory");
  return device && map_table_find(device->maps, host, 1, &found);
}

TGT_EXPORT int omp_target_is_accessible(const void *host, size_t bytes, int number) {
  if (!host)
    return 0;
  if (tgt_is_host(number))
    return 1;
  tgt_device_t *device = tgt_api_device(number, "ask about host memory");
  if (!device || !bytes)
    return device != NULL;
  void *address;
  atmi_device_t *core = device->core;
  /* With XNACK the device reaches whatever the host does. */
  return core->properties.target.xnack == ATMI_FEATURE_ON ||
         atmi_access_give(&core->machine->access, &core->agent, 1, host, bytes, &address) ==
             ATMI_ACCESS_GIVEN;
}

/* An association, or its end, if it came about. */
static __attribute__((noinline)) int tell_association(tgt_ompt_operation_t kind, const tgt_device_t *device,
                                                      const void *host, const void *memory, size_t bytes,
                                                      const void *code) {
  tgt_told_data_t data = {.kind = kind,
                          .from = host,
                          .from_device = tgt_ompt_number(NULL),
                          .to = memory,
                          .to_device = tgt_ompt_number(device),
                          .bytes = bytes,
                          .code = code};
  tgt_ompt_data_begin(&data);
  tgt_ompt_data_end(&data);
  return TGT_DONE;
}

TGT_EXPORT int omp_target_associate_ptr(const void *host, const void *memory, size_t bytes, size_t offset,
                                        int number) {
  if (!host || !memory || !bytes) {
    tgt_error("Call to omp_target_associate_ptr with invalid arguments");
    return TGT_FAILED;
  }
  if (tgt_is_host(number)) {
    tgt_error("omp_target_associate_ptr: no association possible on the host");
    return TGT_FAILED;
  }
  tgt_device_t *device = tgt_api_device(number, "associate memory");
  char *there = (char *)(uintptr_t)memory + offset;
  if (!device || map_table_associate(device->maps, host, there, bytes))
    return TGT_FAILED;
  return tgt_ompt_is_on()
             ? tell_association(TGT_OMPT_ASSOCIATE, device, host, there, bytes, __builtin_return_address(0))
             : TGT_DONE;
}

TGT_EXPORT int omp_target_disassociate_ptr(const void *host, int number) {
  if (!host) {
    tgt_error("Call to omp_target_disassociate_ptr with invalid host_ptr");
    return TGT_FAILED;
  }
  if (tgt_is_host(number)) {
    tgt_error("omp_target_disassociate_ptr: no association possible on the host");
    return TGT_FAILED;
  }
  tgt_device_t *device = tgt_api_device(number, "disassociate memory");
  map_status_t status = device ? map_table_disassociate(device->maps, host) : MAP_OK;
  if (status == MAP_HELD)
    tgt_error("Trying to disassociate a pointer with a non-zero hold reference count");
  if (!device || status)
    return TGT_FAILED;
  return tgt_ompt_is_on()
             ? tell_association(TGT_OMPT_DISASSOCIATE, device, host, NULL, 0, __builtin_return_address(0))
             : TGT_DONE;
}
