/* Objects for "omp interop". */
#include "rtl_interop.h"

#include "openmp/interop.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* Libomptarget 18 thinks that the object is 56 bytes long and may read them. */
typedef struct rtl_interop {
  union {
    __tgt_async_info info;
    char room[64];
  } object;
} rtl_interop_t;

atmi_status_t rtl_interop_queue(rtl_plugin_t *plugin, atmi_omp_device_t *device, __tgt_async_info **queue) {
  atmi_context_t *context = atmi_context();
  hsa_queue_t *made;
  atmi_status_t status = atmi_interop_queue(context, device, &made);
  if (status)
    return status;
  pthread_mutex_lock(&context->lock);
  if (!plugin->interop)
    plugin->interop = calloc(context->device_count, sizeof *plugin->interop);
  if (plugin->interop) {
    *queue = &plugin->interop[device - context->devices].object.info;
    if (!(*queue)->Queue) /* whoever has the object reads it without a lock */
      (*queue)->Queue = made;
  }
  pthread_mutex_unlock(&context->lock);
  if (!plugin->interop)
    return atmi_fail(ATMI_NO_MEMORY, device->core->label, "cannot make an interop queue: out of host memory");
  return ATMI_OK;
}

/* All devices of all plugins, as libomptarget counts them; 0 if it cannot be asked. */
static int32_t count_devices_of_openmp(void) {
  void *symbol = dlsym(RTLD_DEFAULT, "omp_get_num_devices");
  int (*omp_get_num_devices)(void);
  if (!symbol)
    return 0;
  memcpy(&omp_get_num_devices, &symbol, sizeof symbol);
  return omp_get_num_devices();
}

int32_t rtl_interop_number(const atmi_context_t *context, int64_t number) {
  /* 18 passes 32 bits and leaves the others undefined. */
  int32_t given = (int32_t)number, count = (int32_t)context->device_count;
  int32_t offset = atomic_load(&context->device_offset);
  if (count == 1)
    return 0;
  if (offset || given < count)
    return given - offset;
  int32_t total = count_devices_of_openmp();
  return total > count && given < total ? given - (total - count) : given;
}
