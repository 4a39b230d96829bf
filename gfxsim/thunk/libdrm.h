/* Prototypes of exported functions that ROCr's headers do not have: those of libdrm 2.4 that ROCr 6.1 calls
 * with a device handle, and where it gets that handle. All are thread-safe. */
#ifndef GFXSIM_THUNK_LIBDRM_H
#define GFXSIM_THUNK_LIBDRM_H

#include <stddef.h>

#include "thunk/thunk.h"

/* A handle for the functions of libdrm_amdgpu; valid while the library is open. */
GS_EXPORT HSAKMT_STATUS hsaKmtGetAMDGPUDeviceHandle(HSAuint32 node, void **handle);

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
