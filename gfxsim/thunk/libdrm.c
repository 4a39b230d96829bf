/* The functions of libdrm_amdgpu that ROCr 6.1 calls with a device handle that it got from the thunk, and
 * that handle. Not here: anything else that ROCr 6.1 calls (rocr6.c). */
#include "thunk/libdrm.h"

#include <dlfcn.h>
#include <errno.h>

#include "base/clock.h"

/* The real thunk's handles are devices that libdrm_amdgpu has opened; ours are our own GPUs, and so
 * these functions must be ours, too. They come before libdrm's for ROCr, which depends on the thunk first.
 * Handles of other drivers' devices (of a program that also draws) go on to libdrm. */

GS_EXPORT HSAKMT_STATUS hsaKmtGetAMDGPUDeviceHandle(HSAuint32 node, void **handle) {
  GS_MACHINE_OR_RETURN(machine);
  gs_gpu_t *gpu = gs_machine_gpu(machine, node);
  if (!handle)
    return HSAKMT_STATUS_INVALID_PARAMETER;
  if (!gpu)
    return HSAKMT_STATUS_INVALID_NODE_UNIT;
  *handle = gpu;
  return HSAKMT_STATUS_SUCCESS;
}

static bool is_ours(const void *device) {
  const gs_machine_t *machine = gs_machine_current();
  for (uint32_t i = 0; machine && i < machine->gpu_count; i++)
    if (device == &machine->gpu[i])
      return true;
  return false;
}

/* Calls libdrm's function of this name, whose type is that of the function around it; -ENOSYS when the
 * program has no libdrm. C has no conversion from dlsym's result to a function: POSIX does it through memory.
 */
#define CALL_LIBDRM(name, ...)                                                                               \
  __typeof__(name) *next = NULL;                                                                             \
  *(void **)&next = dlsym(RTLD_NEXT, #name);                                                                 \
  return next ? next(__VA_ARGS__) : -ENOSYS

GS_EXPORT int amdgpu_query_gpu_info(void *device, gs_drm_gpu_info_t *info) {
  if (is_ours(device)) {
    /* The caller's structure is longer; it asks for this member only. */
    info->counter_khz = (uint32_t)(GS_CLOCK_HZ / 1000);
    return 0;
  }
  CALL_LIBDRM(amdgpu_query_gpu_info, device, info);
}

GS_EXPORT int amdgpu_bo_import(void *device, int kind, uint32_t handle, void *result) {
  if (is_ours(device))
    return -ENOSYS;
  CALL_LIBDRM(amdgpu_bo_import, device, kind, handle, result);
}

/* Buffers are never ours: nothing could be imported. */

GS_EXPORT int amdgpu_bo_cpu_map(void *buffer, void **address) {
  CALL_LIBDRM(amdgpu_bo_cpu_map, buffer, address);
}

GS_EXPORT int amdgpu_bo_export(void *buffer, int kind, uint32_t *handle) {
  CALL_LIBDRM(amdgpu_bo_export, buffer, kind, handle);
}

GS_EXPORT int amdgpu_bo_free(void *buffer) {
  CALL_LIBDRM(amdgpu_bo_free, buffer);
}

GS_EXPORT int amdgpu_bo_va_op(void *buffer, uint64_t offset, uint64_t size, uint64_t address, uint64_t flags,
                              uint32_t operation) {
  CALL_LIBDRM(amdgpu_bo_va_op, buffer, offset, size, address, flags, operation);
}

GS_EXPORT int drmCommandWriteRead(int file, unsigned long command, void *data, unsigned long size) {
  CALL_LIBDRM(drmCommandWriteRead, file, command, data, size);
}
