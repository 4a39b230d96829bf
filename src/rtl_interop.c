/* The object for "omp interop". */
#include "rtl_interop.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { INTEROP_PACKETS = 256 };

/* Libomptarget 18 thinks that the object is 56 bytes long and may read them. */
typedef struct rtl_interop {
  union {
    __tgt_async_info info;
    char room[64];
  } object;
  atmi_queue_t queue; /* apart from those of streams, which the program's packets would hold up */
} rtl_interop_t;

static atmi_status_t make(atmi_omp_device_t *device, rtl_interop_t **result) {
  atmi_device_t *core = device->core;
  if (atmi_device_is_lost(core))
    return atmi_device_refuse(core, "make an interop queue");
  rtl_interop_t *made = calloc(1, sizeof *made);
  if (!made)
    return atmi_fail(ATMI_NO_MEMORY, core->label, "cannot make an interop queue: out of host memory");
  atmi_status_t status = atmi_queue_init(&core->queue_owner, INTEROP_PACKETS, &made->queue);
  if (status) {
    free(made);
    return status;
  }
  made->object.info.Queue = made->queue.hsa;
  *result = made;
  return ATMI_OK;
}

atmi_status_t rtl_interop_queue(atmi_context_t *context, atmi_omp_device_t *device,
                                __tgt_async_info **queue) {
  pthread_mutex_lock(&context->lock);
  atmi_status_t status = device->interop ? ATMI_OK : make(device, &device->interop);
  if (!status)
    *queue = &device->interop->object.info;
  pthread_mutex_unlock(&context->lock);
  return status;
}

void rtl_interop_release(atmi_omp_device_t *device) {
  if (!device->interop)
    return;
  atmi_queue_fini(&device->interop->queue);
  free(device->interop);
  device->interop = NULL;
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
