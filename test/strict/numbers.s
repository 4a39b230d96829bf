// For a part with the three numbers of a work-item in registers of their own. The kernel argument is one address.
.amdgcn_target "amdgcn-amd-amdhsa--gfx906"

.rodata
.p2align 6
.amdhsa_kernel k_numbers
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_system_vgpr_workitem_id 0
  .amdhsa_next_free_vgpr 8
  .amdhsa_next_free_sgpr 16
.end_amdhsa_kernel
.text
.globl k_numbers
.p2align 8
.type k_numbers,@function
// Stores v1 and v2 as they are: the kernel did not ask for a second and a third number.
k_numbers:
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_lshlrev_b32 v3, 3, v0
  s_waitcnt lgkmcnt(0)
  global_store_dwordx2 v3, v[1:2], s[4:5]
  s_endpgm
