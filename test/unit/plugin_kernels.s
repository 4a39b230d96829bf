// Kernels for the tests of streams.
.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
.include "kernel.inc"

// Arguments: an address, and what is added to the 32-bit word there.
kernel k_add
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_mov_b32 v1, 0
  s_waitcnt lgkmcnt(0)
  global_load_dword v2, v1, s[4:5]
  s_waitcnt vmcnt(0)
  v_add_u32 v2, s6, v2
  global_store_dword v1, v2, s[4:5]
  s_endpgm

// The same behind another argument, which is stored in the next word.
kernel k_behind
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_load_dwordx2 s[8:9], s[0:1], 0x10
  v_mov_b32 v1, 0
  s_waitcnt lgkmcnt(0)
  global_load_dword v2, v1, s[6:7]
  s_waitcnt vmcnt(0)
  v_add_u32 v2, s8, v2
  v_mov_b32 v3, s4
  global_store_dwordx2 v1, v[2:3], s[6:7]
  s_endpgm

.amdgpu_metadata
---
amdhsa.version: [1, 1]
amdhsa.kernels:
  - .name: k_add
    .symbol: k_add.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 8
    .max_flat_workgroup_size: 1024
    .args:
      - { .offset: 0, .size: 8, .value_kind: by_value }
      - { .offset: 8, .size: 8, .value_kind: by_value }
  - .name: k_behind
    .symbol: k_behind.kd
    .kernarg_segment_size: 24
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 8
    .max_flat_workgroup_size: 1024
    .args:
      - { .offset: 0, .size: 8, .value_kind: by_value }
      - { .offset: 8, .size: 8, .value_kind: by_value }
      - { .offset: 16, .size: 8, .value_kind: by_value }
...
.end_amdgpu_metadata
