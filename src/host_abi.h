/* Where versions of libomptarget disagree about what they pass: translation to one form. This file and
 * device_abi are the only ones that know versions; this one the host's side, that one the device image's. */
#ifndef HOST_ABI_H
#define HOST_ABI_H

#include "omptarget_amdgpu_plugin.h"

#include <stdbool.h>

/* A launch as every version means it. */
typedef struct host_abi_launch {
  void *const *arguments;
  const ptrdiff_t *offsets;
  uint32_t argument_count;
  int32_t num_teams;    /* 0 or less: no clause */
  int32_t thread_limit; /* 0 or less: no clause */
  uint64_t tripcount;   /* 0: unknown */
  uint32_t dynamic_lds_bytes;
} host_abi_launch_t;

/* launch_kernel [16-18]. */
host_abi_launch_t host_abi_launch_from_kernel_args(void **arguments, ptrdiff_t *offsets,
                                                   const KernelArgsTy *args);

/* run_target_team_region [13-15]. */
host_abi_launch_t host_abi_launch_from_team_region(void **arguments, ptrdiff_t *offsets, int32_t count,
                                                   int32_t num_teams, int32_t thread_limit,
                                                   uint64_t tripcount);

/* run_target_region [13-15]: one team. */
host_abi_launch_t host_abi_launch_from_region(void **arguments, ptrdiff_t *offsets, int32_t count);

/* An image as it may be embedded: raw ELF [13, 14, and what later versions pass on], or wrapped into an
 * offload binary [15-18, as register_lib sees it]. Finds the ELF in it; `*arch` is the wrapper's "arch" or
 * NULL. False if the bytes are neither, or contradict themselves. */
bool host_abi_unwrap(const void *image, size_t bytes, const void **elf, size_t *elf_bytes, const char **arch);

#endif
