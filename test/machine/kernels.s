// Kernels that look at the machine. The kernel argument is one address.
// s[0:1] = kernel arguments, s2 = workgroup id, v0 = work-item id.
.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
.include "kernel.inc"

// Stores 42 at the address.
kernel k_store
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_mov_b32 v1, 0
  v_mov_b32 v2, 42
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v2, s[4:5]
  s_endpgm

// Stores where the workgroup runs: HW_ID, at word (workgroup id).
kernel k_place
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_getreg_b32 s3, hwreg(HW_REG_HW_ID)
  s_lshl_b32 s2, s2, 2
  v_mov_b32 v1, s2
  v_mov_b32 v2, s3
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v2, s[4:5]
  s_endpgm

// Adds 1 to word 0 once per workgroup, and waits until it has reached the value in word 1.
kernel k_meet
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_mov_b32 v1, 0
  v_mov_b32 v2, 1
  v_cmp_eq_u32 vcc, 0, v0
  s_waitcnt lgkmcnt(0)
  s_and_saveexec_b64 s[6:7], vcc
  global_atomic_add v1, v2, s[4:5]
  s_mov_b64 exec, s[6:7]
meet:
  s_sleep 1
  global_load_dwordx2 v[4:5], v1, s[4:5] glc
  s_waitcnt vmcnt(0)
  v_readfirstlane_b32 s8, v4
  v_readfirstlane_b32 s9, v5
  s_cmp_lt_u32 s8, s9
  s_cbranch_scc1 meet
  s_endpgm

// Tells that it runs, and never ends.
kernel k_spin
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_mov_b32 v1, 0
  v_mov_b32 v2, 42
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v2, s[4:5]
spin:
  s_nop 0
  s_branch spin
