// Kernels that go wrong, each in one way, and a few that do not. The kernel argument is one address.
// s[0:1] = kernel arguments, v0 = work-item id.
.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
.text

.macro kernel name, private=0
.rodata
.p2align 6
.amdhsa_kernel \name
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr 8
  .amdhsa_next_free_sgpr 16
  .amdhsa_accum_offset 8
  .amdhsa_private_segment_fixed_size \private
.end_amdhsa_kernel
.text
.globl \name
.p2align 8
.type \name,@function
\name:
.endm

kernel k_nothing
  s_endpgm

// Stores 42 at the address.
kernel k_store
  s_load_dwordx2 s[2:3], s[0:1], 0x0
  v_mov_b32 v1, 0
  v_mov_b32 v2, 42
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v2, s[2:3]
  s_endpgm

// Loads from the address.
kernel k_load
  s_load_dwordx2 s[2:3], s[0:1], 0x0
  v_mov_b32 v1, 0
  s_waitcnt lgkmcnt(0)
  global_load_dword v2, v1, s[2:3]
  s_waitcnt vmcnt(0)
  s_endpgm

// Loads from the address with a scalar load.
kernel k_scalar_load
  s_load_dwordx2 s[2:3], s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
  s_load_dword s4, s[2:3], 0x0
  s_waitcnt lgkmcnt(0)
  s_endpgm

// Goes to the address.
kernel k_jump
  s_load_dwordx2 s[2:3], s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
  s_setpc_b64 s[2:3]

// Loads through a flat address.
kernel k_flat_load
  s_load_dwordx2 s[2:3], s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v2, s2
  v_mov_b32 v3, s3
  flat_load_dword v4, v[2:3]
  s_waitcnt vmcnt(0) lgkmcnt(0)
  s_endpgm

kernel k_illegal
  .long 0xbfff0000 // SOPP with an opcode that no part has
  s_endpgm

kernel k_abort
  s_trap 2
  s_endpgm

// Tells that it runs, and never ends.
kernel k_spin
  s_load_dwordx2 s[2:3], s[0:1], 0x0
  v_mov_b32 v1, 0
  v_mov_b32 v2, 42
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v2, s[2:3]
spin:
  s_nop 0
  s_branch spin

kernel k_private_1k, 1024
  s_endpgm

kernel k_private_huge, 262144
  s_endpgm
