/* Buffers of render nodes: how a runtime maps at addresses of its choice what it got as a dma-buf. Layouts:
 * the kernel's drm.h and amdgpu_drm.h. Not here: memory that the driver allocates (kfd.h), and other calls of
 * render nodes (drm.h). */
#ifndef GFXSIM_KFD_GEM_H
#define GFXSIM_KFD_GEM_H

#include <stddef.h>

#include "machine/machine.h"

/* Calls of a GPU's render node. Each returns 0, or a negative error number. Thread-safe. */
typedef int gs_gem_call_t(gs_gpu_t *gpu, void *argument);
gs_gem_call_t gs_gem_import, gs_gem_export, gs_gem_close, gs_gem_offset, gs_gem_va;

/* Maps a buffer's bytes for the host, as mmap does. */
void *gs_gem_mmap(uint32_t handle, void *address, size_t size, int protection, int flags);

/* In a child after a fork: what there is, is the parent's. */
void gs_gem_forget(void);

#endif
