/* What ROCr 6.1 calls besides what ROCr 5.2 does. Not here: anything that both versions call. */
#include "thunk/later.h"

#include <dlfcn.h>
#include <errno.h>

#include "base/clock.h"

GS_EXPORT HSAKMT_STATUS hsaKmtAvailableMemory(HSAuint32 node, HSAuint64 *bytes) {
  GS_THUNK_OR_RETURN(thunk);
  if (!bytes)
    return HSAKMT_STATUS_INVALID_PARAMETER;
  if (!gs_thunk_gpu(thunk, node))
    return HSAKMT_STATUS_INVALID_NODE_UNIT;
  *bytes = gs_memory_available(&thunk->memory, node);
  return HSAKMT_STATUS_SUCCESS;
}

GS_EXPORT HSAKMT_STATUS hsaKmtGetRuntimeCapabilities(HSAuint32 *capabilities) {
  GS_THUNK_OR_RETURN(thunk);
  (void)thunk;
  if (!capabilities)
    return HSAKMT_STATUS_INVALID_PARAMETER;
  *capabilities = 0; /* of debuggers: none */
  return HSAKMT_STATUS_SUCCESS;
}

/* The drivers that report no event ages (before version 1.14) leave them alone. */

GS_EXPORT HSAKMT_STATUS hsaKmtWaitOnEvent_Ext(HsaEvent *event, HSAuint32 milliseconds, uint64_t *age) {
  (void)age;
  return hsaKmtWaitOnEvent(event, milliseconds);
}

GS_EXPORT HSAKMT_STATUS hsaKmtWaitOnMultipleEvents_Ext(HsaEvent *list[], HSAuint32 count, bool all,
                                                       HSAuint32 milliseconds, uint64_t *ages) {
  (void)ages;
  return hsaKmtWaitOnMultipleEvents(list, count, all, milliseconds);
}

/* What is not simulated: sharing with other processes and drivers, debuggers, streamed performance counters,
 * device monitoring, address sanitizing of device memory. ROCr passes the status on to its caller. */

static HSAKMT_STATUS not_simulated(void) {
  GS_THUNK_OR_RETURN(thunk);
  (void)thunk;
  return HSAKMT_STATUS_NOT_SUPPORTED;
}

GS_EXPORT HSAKMT_STATUS hsaKmtExportDMABufHandle(void *address, HSAuint64 size, int *file,
                                                 HSAuint64 *offset) {
  (void)address;
  (void)size;
  (void)file;
  (void)offset;
  return not_simulated();
}

GS_EXPORT HSAKMT_STATUS hsaKmtDbgEnable(void **info, HSAuint32 *size) {
  (void)info;
  (void)size;
  return not_simulated();
}

GS_EXPORT HSAKMT_STATUS hsaKmtDbgDisable(void) {
  return not_simulated();
}

GS_EXPORT HSAKMT_STATUS hsaKmtDbgGetDeviceData(void **data, HSAuint32 *count, HSAuint32 *size) {
  (void)data;
  (void)count;
  (void)size;
  return not_simulated();
}

GS_EXPORT HSAKMT_STATUS hsaKmtDbgGetQueueData(void **data, HSAuint32 *count, HSAuint32 *size, bool suspend) {
  (void)data;
  (void)count;
  (void)size;
  (void)suspend;
  return not_simulated();
}

GS_EXPORT HSAKMT_STATUS hsaKmtSPMAcquire(HSAuint32 node) {
  (void)node;
  return not_simulated();
}

GS_EXPORT HSAKMT_STATUS hsaKmtSPMRelease(HSAuint32 node) {
  (void)node;
  return not_simulated();
}

GS_EXPORT HSAKMT_STATUS hsaKmtSPMSetDestBuffer(HSAuint32 node, HSAuint32 size, HSAuint32 *timeout,
                                               HSAuint32 *copied, void *target, bool *lost) {
  (void)node;
  (void)size;
  (void)timeout;
  (void)copied;
  (void)target;
  (void)lost;
  return not_simulated();
}

GS_EXPORT HSAKMT_STATUS hsaKmtOpenSMI(HSAuint32 node, int *file) {
  (void)node;
  (void)file;
  return not_simulated();
}

GS_EXPORT HSAKMT_STATUS hsaKmtReplaceAsanHeaderPage(void *address) {
  (void)address;
  return not_simulated();
}

GS_EXPORT HSAKMT_STATUS hsaKmtReturnAsanHeaderPage(void *address) {
  (void)address;
  return not_simulated();
}

/* libdrm. The real thunk's handles are devices that libdrm_amdgpu has opened; ours are our own GPUs, and so
 * these functions must be ours, too. They come before libdrm's for ROCr, which depends on the thunk first.
 * Handles of other drivers' devices (of a program that also draws) go on to libdrm. */

GS_EXPORT HSAKMT_STATUS hsaKmtGetAMDGPUDeviceHandle(HSAuint32 node, void **handle) {
  GS_THUNK_OR_RETURN(thunk);
  gs_gpu_t *gpu = gs_thunk_gpu(thunk, node);
  if (!handle)
    return HSAKMT_STATUS_INVALID_PARAMETER;
  if (!gpu)
    return HSAKMT_STATUS_INVALID_NODE_UNIT;
  *handle = gpu;
  return HSAKMT_STATUS_SUCCESS;
}

static bool is_ours(const void *device) {
  const gs_thunk_t *thunk = gs_thunk_current();
  for (uint32_t i = 0; thunk && i < thunk->gpu_count; i++)
    if (device == &thunk->gpu[i])
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
