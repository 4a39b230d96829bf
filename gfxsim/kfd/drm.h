/* Calls of render nodes, as libdrm makes them when somebody asks what a device is. Not here: drawing, and
 * memory, which the driver's other half has (kfd.h). */
#ifndef GFXSIM_KFD_DRM_H
#define GFXSIM_KFD_DRM_H

#include <stdint.h>

#include "machine/machine.h"

/* A call of the render node of GPU `ordinal`. Returns 0, or -1 with errno, as ioctl does. Thread-safe. */
int gs_drm_ioctl(uint32_t ordinal, unsigned long request, void *argument);

/* Memory of a GPU that this process holds, in bytes. */
uint64_t gs_drm_used(gs_machine_t *machine, const gs_gpu_t *gpu);

#endif
