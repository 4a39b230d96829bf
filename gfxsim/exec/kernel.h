/* What one dispatch's packet and kernel descriptor ask for, checked and unpacked once before any wave starts.
 * Not here: running it (group.h, device.c). */
#ifndef GFXSIM_EXEC_KERNEL_H
#define GFXSIM_EXEC_KERNEL_H

#include "exec/device.h"
#include "isa/wave.h"

/* Bits of kernel_code_properties, in the order in which the command processor fills SGPRs (AMDGPUUsage,
 * "Initial Kernel Execution State"). */
enum {
  GS_KERNEL_PRIVATE_SEGMENT_BUFFER = 1 << 0,
  GS_KERNEL_DISPATCH_PTR = 1 << 1,
  GS_KERNEL_QUEUE_PTR = 1 << 2,
  GS_KERNEL_KERNARG_PTR = 1 << 3,
  GS_KERNEL_DISPATCH_ID = 1 << 4,
  GS_KERNEL_FLAT_SCRATCH_INIT = 1 << 5,
  GS_KERNEL_PRIVATE_SEGMENT_SIZE = 1 << 6,
  GS_KERNEL_WAVE32 = 1 << 10, /* waves of 32 lanes, on parts that have them */
  /* Its compiler does not know how much private memory it needs: who launches it decides. */
  GS_KERNEL_DYNAMIC_STACK = 1 << 11,
};

enum { GS_PRELOAD_MOST = GS_USER_REGISTERS };

/* One kernel dispatch, unpacked. Immutable while it runs. */
typedef struct gs_kernel {
  gs_dispatch_t dispatch;
  uint64_t object; /* address of the kernel descriptor */
  uint64_t entry;  /* address of the first instruction */
  uint64_t kernarg;
  uint32_t grid[3];       /* work-items */
  uint32_t group_size[3]; /* work-items */
  uint32_t groups[3];     /* workgroups, the last of each dimension possibly partial */
  uint64_t group_count;
  uint32_t private_bytes; /* per lane */
  uint32_t lds_bytes;     /* per workgroup */
  uint32_t rsrc1, rsrc2, rsrc3;
  uint16_t properties;                 /* GS_KERNEL_* */
  uint32_t preloaded[GS_PRELOAD_MOST]; /* arguments that waves begin with in scalar registers */
  uint32_t preload_count;              /* dwords */
  uint32_t vgprs; /* vector registers per lane that a wave owns, without accumulation registers */
  uint32_t acc_vgprs;
  gs_target_t target;       /* of its waves */
  uint32_t lanes;           /* of a wave */
  uint32_t waves_per_group; /* of a full workgroup */
  uint32_t cus;             /* compute units that it may use */
  uint32_t resident_groups; /* workgroups that they could hold at once */
} gs_kernel_t;

/* Unpacks and checks `dispatch` for the device. Returns GS_DONE, or why the GPU can't run it (described on
 * stderr). */
gs_outcome_t gs_kernel_init(gs_kernel_t *kernel, const gs_device_t *device, const gs_vm_map_t *map,
                            const gs_dispatch_t *dispatch);

/* Value of MODE that waves of this kernel start with. */
uint32_t gs_kernel_mode(const gs_kernel_t *kernel);

#endif
