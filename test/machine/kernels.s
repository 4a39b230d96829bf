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

// As k_spin, in the first wave of each workgroup; for that one its others wait at a barrier.
kernel k_spin_first
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_readfirstlane_b32 s6, v0
  s_cmp_eq_u32 s6, 0
  s_cbranch_scc1 first
  s_barrier
  s_endpgm
first:
  v_mov_b32 v1, 0
  v_mov_b32 v2, 42
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v2, s[4:5]
spin_first:
  s_nop 0
  s_branch spin_first

// Sets the barrier of the whole grid: word 1 is the number of workgroups, less one.
kernel k_grid_init
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_mov_b32 m0, 0
  s_waitcnt lgkmcnt(0)
  s_load_dword s6, s[4:5], 0x4
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v2, s6
  ds_gws_init v2 gds
  s_waitcnt lgkmcnt(0)
  s_endpgm

// One wave of each workgroup adds 1 to word 0 three times, and meets all others after each time: what word 0 is then goes to
// words 4 and up, three for each workgroup. They meet once more before it changes again.
kernel k_grid
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_mov_b32 m0, 0
  s_mul_i32 s2, s2, 12
  s_waitcnt lgkmcnt(0)
  s_load_dword s6, s[4:5], 0x4
  v_mov_b32 v1, 0
  v_mov_b32 v2, 1
  v_mov_b32 v4, s2
  s_mov_b32 s7, 3
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v6, s6
  s_mov_b64 exec, 1
grid:
  global_atomic_add v1, v2, s[4:5]
  s_waitcnt vmcnt(0)
  ds_gws_barrier v6 gds
  s_waitcnt lgkmcnt(0)
  global_load_dword v5, v1, s[4:5] glc
  s_waitcnt vmcnt(0)
  global_store_dword v4, v5, s[4:5] offset:16
  s_waitcnt vmcnt(0)
  ds_gws_barrier v6 gds
  s_waitcnt lgkmcnt(0)
  v_add_u32 v4, 4, v4
  s_sub_u32 s7, s7, 1
  s_cmp_lg_u32 s7, 0
  s_cbranch_scc1 grid
  s_endpgm

// What each workgroup stores the next one loads, behind the barrier; the last the first's. It goes to words 68 and up.
kernel k_grid_pass
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_mov_b32 m0, 0
  s_mov_b64 exec, 1
  s_waitcnt lgkmcnt(0)
  s_load_dword s6, s[4:5], 0x4
  s_lshl_b32 s7, s2, 2
  v_mov_b32 v1, s7
  v_mov_b32 v2, s2
  global_store_dword v1, v2, s[4:5] offset:16
  s_waitcnt vmcnt(0) lgkmcnt(0)
  v_mov_b32 v6, s6
  ds_gws_barrier v6 gds
  s_waitcnt lgkmcnt(0)
  buffer_wbinvl1_vol
  s_add_u32 s8, s2, 1
  s_cmp_gt_u32 s8, s6
  s_cselect_b32 s8, 0, s8
  s_lshl_b32 s8, s8, 2
  v_mov_b32 v3, s8
  global_load_dword v4, v3, s[4:5] offset:16
  s_waitcnt vmcnt(0)
  global_store_dword v1, v4, s[4:5] offset:272
  s_endpgm
