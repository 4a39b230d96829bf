// Kernels that tell what they find, for tests of strictness. The kernel argument is one address.
// s[0:1] = kernel arguments, s2 = workgroup id, v0 = work-item id.
.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
.include "kernel.inc"

// Puts the work-item's place in words from the address on, v1, and the address, s[4:5].
.macro begin
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_lshl_b32 s3, s2, 6
  v_add_u32 v1, s3, v0
  v_lshlrev_b32 v1, 2, v1
  s_waitcnt lgkmcnt(0)
.endm

.rodata
.p2align 6
.amdhsa_kernel k_lds
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr 8
  .amdhsa_next_free_sgpr 16
  .amdhsa_accum_offset 8
  .amdhsa_group_segment_fixed_size 256
.end_amdhsa_kernel
.text
.globl k_lds
.p2align 8
.type k_lds,@function
// Stores what LDS holds, a word of each work-item, and leaves the workgroup's number and 0x1000 there.
k_lds:
  begin
  v_lshlrev_b32 v2, 2, v0
  ds_read_b32 v3, v2
  s_add_u32 s6, s2, 0x1000
  v_mov_b32 v4, s6
  s_waitcnt lgkmcnt(0)
  ds_write_b32 v2, v4
  global_store_dword v1, v3, s[4:5]
  s_endpgm

// Stores v5 and leaves 0x2000 in it.
kernel k_vector
  begin
  global_store_dword v1, v5, s[4:5]
  v_mov_b32 v5, 0x2000
  s_endpgm

// Stores s9 and VCC's lower half and M0, in words 0, 1, 2.
kernel k_scalar
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_mov_b32 v1, 0
  v_mov_b32 v2, s9
  v_mov_b32 v3, vcc_lo
  v_mov_b32 v4, m0
  s_waitcnt lgkmcnt(0)
  global_store_dwordx3 v1, v[2:4], s[4:5]
  s_endpgm

.rodata
.p2align 6
.amdhsa_kernel k_accumulator
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr 16
  .amdhsa_next_free_sgpr 16
  .amdhsa_accum_offset 8
.end_amdhsa_kernel
.text
.globl k_accumulator
.p2align 8
.type k_accumulator,@function
// Stores a3.
k_accumulator:
  begin
  v_accvgpr_read_b32 v2, a3
  global_store_dword v1, v2, s[4:5]
  s_endpgm

.rodata
.p2align 6
.amdhsa_kernel k_scratch
  .amdhsa_user_sgpr_private_segment_buffer 1
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_system_sgpr_private_segment_wavefront_offset 1
  .amdhsa_private_segment_fixed_size 64
  .amdhsa_next_free_vgpr 8
  .amdhsa_next_free_sgpr 16
  .amdhsa_accum_offset 8
.end_amdhsa_kernel
.text
.globl k_scratch
.p2align 8
.type k_scratch,@function
// Stores word 3 of the work-item's scratch memory, and leaves 0x3000 there. s[0:3] = its buffer, s[4:5] = kernel arguments, s6 = workgroup id,
// s7 = the wave's offset.
k_scratch:
  s_load_dwordx2 s[8:9], s[4:5], 0x0
  s_lshl_b32 s10, s6, 6
  v_add_u32 v1, s10, v0
  v_lshlrev_b32 v1, 2, v1
  buffer_load_dword v2, off, s[0:3], s7 offset:12
  v_mov_b32 v3, 0x3000
  s_waitcnt vmcnt(0) lgkmcnt(0)
  buffer_store_dword v3, off, s[0:3], s7 offset:12
  global_store_dword v1, v2, s[8:9]
  s_endpgm

// Counts itself in word 2, waits until the word at the address is not 0, and stores 42 behind it.
kernel k_wait
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_mov_b32 v1, 0
  v_mov_b32 v2, 42
  s_waitcnt lgkmcnt(0)
  s_mov_b64 exec, 1
  v_mov_b32 v3, 1
  global_atomic_add v1, v3, s[4:5] offset:8
wait:
  s_sleep 1
  global_load_dword v3, v1, s[4:5] glc
  s_waitcnt vmcnt(0)
  v_readfirstlane_b32 s6, v3
  s_cmp_eq_u32 s6, 0
  s_cbranch_scc1 wait
  global_store_dword v1, v2, s[4:5] offset:4
  s_endpgm

// Stores 1 at the address.
kernel k_go
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_mov_b32 v1, 0
  v_mov_b32 v2, 1
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v2, s[4:5]
  s_endpgm

// Each wave takes a number from word 0, and stores there, from word 1 on, its number and 16 times its group's; eight times,
// and sleeps in between: which waves take turns with which.
kernel k_turns
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_and_b32 v1, 63, v0
  v_cmp_eq_u32 vcc, 0, v1
  s_and_b64 exec, exec, vcc
  v_lshrrev_b32 v2, 6, v0
  s_lshl_b32 s3, s2, 4
  v_or_b32 v2, s3, v2
  v_mov_b32 v3, 0
  v_mov_b32 v4, 1
  s_mov_b32 s6, 0
  s_waitcnt lgkmcnt(0)
turn:
  global_atomic_add v5, v3, v4, s[4:5] glc
  s_waitcnt vmcnt(0)
  v_lshlrev_b32 v5, 2, v5
  global_store_dword v5, v2, s[4:5] offset:4
  s_sleep 1
  s_add_u32 s6, s6, 1
  s_cmp_lt_u32 s6, 8
  s_cbranch_scc1 turn
  s_endpgm

// Stores the time 30000 times, one behind the other, and sleeps in between.
kernel k_times
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_mov_b32 v1, 0
  s_mov_b32 s6, 0
  s_waitcnt lgkmcnt(0)
times:
  s_memrealtime s[8:9]
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v2, s8
  v_mov_b32 v3, s9
  global_store_dwordx2 v1, v[2:3], s[4:5]
  v_add_u32 v1, 8, v1
  s_sleep 1
  s_add_u32 s6, s6, 1
  s_cmp_lt_u32 s6, 30000
  s_cbranch_scc1 times
  s_endpgm

.include "loads.inc"
