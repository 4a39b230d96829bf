/* Prototypes of exported functions that the headers of ROCr 5.2 do not have: additions to the thunk up to
 * ROCT-Thunk-Interface 6.1, and functions of libdrm 2.4 that ROCr 6.1 calls with a device handle that it got
 * from the thunk. All are thread-safe. Not here: what both versions of ROCr call (hsakmt.h). */
#ifndef GFXSIM_THUNK_LATER_H
#define GFXSIM_THUNK_LATER_H

#include <stddef.h>

#include "thunk/thunk.h"

/* Bytes that can still be allocated on a GPU's node. */
GS_EXPORT HSAKMT_STATUS hsaKmtAvailableMemory(HSAuint32 node, HSAuint64 *bytes);
/* What of the driver's support for debuggers is there: nothing. */
GS_EXPORT HSAKMT_STATUS hsaKmtGetRuntimeCapabilities(HSAuint32 *capabilities);
/* A handle for the functions of libdrm_amdgpu; valid while the library is open. */
GS_EXPORT HSAKMT_STATUS hsaKmtGetAMDGPUDeviceHandle(HSAuint32 node, void **handle);
/* As the functions without _Ext. Ages of events are only reported by drivers from version 1.14 on: ignored.
 */
GS_EXPORT HSAKMT_STATUS hsaKmtWaitOnEvent_Ext(HsaEvent *event, HSAuint32 milliseconds, uint64_t *age);
GS_EXPORT HSAKMT_STATUS hsaKmtWaitOnMultipleEvents_Ext(HsaEvent *list[], HSAuint32 count, bool all,
                                                       HSAuint32 milliseconds, uint64_t *ages);

/* Not simulated: they answer HSAKMT_STATUS_NOT_SUPPORTED. */
GS_EXPORT HSAKMT_STATUS hsaKmtExportDMABufHandle(void *address, HSAuint64 size, int *file, HSAuint64 *offset);
GS_EXPORT HSAKMT_STATUS hsaKmtDbgEnable(void **info, HSAuint32 *size);
GS_EXPORT HSAKMT_STATUS hsaKmtDbgDisable(void);
GS_EXPORT HSAKMT_STATUS hsaKmtDbgGetDeviceData(void **data, HSAuint32 *count, HSAuint32 *size);
GS_EXPORT HSAKMT_STATUS hsaKmtDbgGetQueueData(void **data, HSAuint32 *count, HSAuint32 *size, bool suspend);
GS_EXPORT HSAKMT_STATUS hsaKmtOpenSMI(HSAuint32 node, int *file);
GS_EXPORT HSAKMT_STATUS hsaKmtReplaceAsanHeaderPage(void *address);
GS_EXPORT HSAKMT_STATUS hsaKmtReturnAsanHeaderPage(void *address);

/* The start of libdrm's struct amdgpu_gpu_info. */
typedef struct gs_drm_gpu_info {
  uint32_t before[18];  /* not asked for */
  uint32_t counter_khz; /* gpu_counter_freq: rate of the GPU's constant clock */
} gs_drm_gpu_info_t;
_Static_assert(offsetof(gs_drm_gpu_info_t, counter_khz) == 72, "amdgpu_gpu_info.gpu_counter_freq");

/* libdrm's functions: 0, or a negative errno. Only the first two know devices of ours, and only the first
 * does anything with them; everything else goes to libdrm, or fails with -ENOSYS in a program without it. */
GS_EXPORT int amdgpu_query_gpu_info(void *device, gs_drm_gpu_info_t *info);
GS_EXPORT int amdgpu_bo_import(void *device, int kind, uint32_t handle, void *result);
GS_EXPORT int amdgpu_bo_cpu_map(void *buffer, void **address);
GS_EXPORT int amdgpu_bo_export(void *buffer, int kind, uint32_t *handle);
GS_EXPORT int amdgpu_bo_free(void *buffer);
GS_EXPORT int amdgpu_bo_va_op(void *buffer, uint64_t offset, uint64_t size, uint64_t address, uint64_t flags,
                              uint32_t operation);
GS_EXPORT int drmCommandWriteRead(int file, unsigned long command, void *data, unsigned long size);

#endif
