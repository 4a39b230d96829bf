// Kernels that go wrong, each in one way, and a few that do not. The kernel argument is one address.
// s[0:1] = kernel arguments, v0 = work-item id.
.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
.include "kernel.inc"

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

// One work-item, 81 of workgroup 3, stores 42 at the address. s2 = workgroup id.
kernel k_store_once
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_cmp_lg_u32 s2, 3
  s_cbranch_scc1 not_this_one
  v_cmp_eq_u32 vcc, 81, v0
  s_and_b64 exec, exec, vcc
  v_mov_b32 v1, 0
  v_mov_b32 v2, 42
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v2, s[4:5]
not_this_one:
  s_endpgm

// Stores in a function that nobody sees from outside of the image.
kernel k_call
  s_load_dwordx2 s[2:3], s[0:1], 0x0
  v_mov_b32 v1, 0
  s_getpc_b64 s[4:5]
  s_add_u32 s4, s4, inner@rel32@lo+4
  s_addc_u32 s5, s5, inner@rel32@hi+12
  s_swappc_b64 s[6:7], s[4:5]
  s_endpgm
.size k_call, .-k_call
.type inner,@function
inner:
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v1, s[2:3]
  s_setpc_b64 s[6:7]
.size inner, .-inner

// Loads from the address.
kernel k_load
  s_load_dwordx2 s[2:3], s[0:1], 0x0
  v_mov_b32 v1, 0
  s_waitcnt lgkmcnt(0)
  global_load_dword v2, v1, s[2:3]
  s_waitcnt vmcnt(0)
  s_endpgm

// Stores 42 at the address, and then loads from there for ever.
kernel k_reread
  s_load_dwordx2 s[2:3], s[0:1], 0x0
  v_mov_b32 v1, 0
  v_mov_b32 v2, 42
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v2, s[2:3]
reread:
  global_load_dword v3, v1, s[2:3]
  s_waitcnt vmcnt(0)
  s_branch reread

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

kernel k_image
  image_store v0, v[2:3], s[0:7] dmask:0x1 unorm
  s_endpgm

kernel k_misaligned
  .long 0xd2800001, 0x00020704 // v_add_f64 v[1:2], v[4:5], v[3:4], which no assembler takes
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

kernel k_private_64k, 65536
  s_endpgm

kernel k_private_huge, 262144
  s_endpgm

// More registers than a compute unit has for 1024 work-items.
kernel k_many_registers, 0, 256
  s_endpgm

.data
.globl k_table
.type k_table,@object
.size k_table,48
k_table:
  .fill 12, 4, 7
