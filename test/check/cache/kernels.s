// Kernels whose reads caches may answer with old values (NAME_bug), and twins that do what is needed (NAME_good). The argument
// is the address of some words; only one work-item of each workgroup does anything.
.macro part symbol, name, of_90a, of_10
.ifdef \symbol
.amdgcn_target "amdgcn-amd-amdhsa--\name"
.set OF_90A, \of_90a // accumulation registers are in one file with the others, and the second cache has instructions
.set OF_10, \of_10   // shader arrays have caches; in waves of 64 lanes
.endif
.endm
part GFX906, gfx906, 0, 0
part GFX90A, gfx90a, 1, 0
part GFX942, gfx942, 1, 0
part GFX1030, gfx1030, 0, 1
part GFX1100, gfx1100, 0, 1

.macro kernel name
.rodata
.p2align 6
.if OF_90A
.amdhsa_kernel \name
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr 16
  .amdhsa_next_free_sgpr 32
  .amdhsa_accum_offset 16
.end_amdhsa_kernel
.else
.amdhsa_kernel \name
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr 16
  .amdhsa_next_free_sgpr 32
.end_amdhsa_kernel
.endif
.text
.globl \name
.p2align 8
.type \name,@function
\name:
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_lshlrev_b32 v10, 4, v0
  v_mov_b32 v1, 0
  s_waitcnt lgkmcnt(0)
.endm

.set FIRST, 128  // the reader has read
.set SECOND, 192 // the writer has written
.set RESULT, 256

// Until what was stored has come to the second cache.
.macro wait_for_second
  s_waitcnt vmcnt(0)
.if OF_10
  s_waitcnt_vscnt null, 0x0
.endif
.endm

// ... to where all others of the GPU read it.
.macro wait_for_stores
  wait_for_second
.ifdef GFX942
  buffer_wbl2 sc1
  s_waitcnt vmcnt(0)
.endif
.endm

// Loads past the caches, as agent scope wants it.
.macro load_past address:vararg
.ifdef GFX1030
  global_load_dword v4, v1, \address glc dlc
.else
.ifdef GFX942
  global_load_dword v4, v1, \address sc1
.else
  global_load_dword v4, v1, \address glc
.endif
.endif
.endm

// Loads with bits that do not reach as far.
.macro load_near address:vararg
.ifdef GFX942
  global_load_dword v4, v1, \address sc0
.endif
.ifdef GFX1030
  global_load_dword v4, v1, \address glc
.endif
.ifdef GFX1100
  global_load_dword v4, v1, \address dlc
.endif
.endm

.macro add_word returns, offset
.ifdef GFX1100
.if \returns
  global_atomic_add_u32 v4, v1, v3, s[4:5] offset:\offset glc
.else
  global_atomic_add_u32 v1, v3, s[4:5] offset:\offset
.endif
.else
.if !\returns
  global_atomic_add v1, v3, s[4:5] offset:\offset
.else
.ifdef GFX942
  global_atomic_add v4, v1, v3, s[4:5] offset:\offset sc0
.else
  global_atomic_add v4, v1, v3, s[4:5] offset:\offset glc
.endif
.endif
.endif
.endm

.macro tell offset
  wait_for_stores
  v_mov_b32 v3, 1
  add_word 0, \offset
.endm

// Without the second cache's part in it, where there are several.
.macro tell_near offset
  wait_for_second
  v_mov_b32 v3, 1
  add_word 0, \offset
.endm

.macro await offset
again\@:
  load_past s[4:5] offset:\offset
  s_waitcnt vmcnt(0)
  v_readfirstlane_b32 s6, v4
  s_cmp_lg_u32 s6, 0
  s_cbranch_scc0 again\@
.endm

// The same by a read-modify-write, as who counts does.
.macro count offset
again\@:
  v_mov_b32 v3, 0
  add_word 1, \offset
  s_waitcnt vmcnt(0)
  v_readfirstlane_b32 s6, v4
  s_cmp_lg_u32 s6, 0
  s_cbranch_scc0 again\@
.endm

.macro nothing
.endm
.macro invalidate_first
.if OF_10
  buffer_gl0_inv
.else
.ifdef GFX942
  buffer_inv sc0
.else
  buffer_wbinvl1_vol
.endif
.endif
.endm
.macro invalidate
.ifdef GFX942
  buffer_inv sc1
.else
  invalidate_first
.endif
.if OF_10
  buffer_gl1_inv
.endif
.endm
.macro invalidate_scalar
  s_dcache_inv
  s_waitcnt lgkmcnt(0)
.endm

.macro write telling=tell, bits
  await FIRST
  v_mov_b32 v2, 42
  global_store_dword v1, v2, s[4:5] \bits
  \telling SECOND
  s_endpgm
.endm

// Workgroup 0 reads at `offset`, and later what workgroup 1 has written in between.
.macro two_groups name, offset, learn, mend, telling=tell, bits
kernel \name
  s_mov_b64 exec, 1
  s_cmp_eq_u32 s2, 0
  s_cbranch_scc0 writer\@
  global_load_dword v5, v1, s[4:5] offset:\offset
  tell FIRST
  \learn SECOND
  \mend
  global_load_dword v6, v1, s[4:5]
  s_waitcnt vmcnt(0)
  global_store_dword v1, v6, s[4:5] offset:RESULT
  s_endpgm
writer\@:
  write \telling, \bits
.endm
two_groups vector_bug, 0, await, nothing
two_groups vector_good, 0, await, invalidate
two_groups neighbour_bug, 60, await, nothing
two_groups neighbour_good, 64, await, nothing
two_groups counter_bug, 0, count, nothing
two_groups counter_good, 0, count, invalidate

// All work-items of the reader's wave, 16 bytes each.
.macro all_lanes name, mend
kernel \name
  s_cmp_eq_u32 s2, 0
  s_cbranch_scc0 writer\@
  global_load_dwordx4 v[4:7], v10, s[4:5] offset:512
  s_waitcnt vmcnt(0)
  s_mov_b64 exec, 1
  tell FIRST
  await SECOND
  \mend
  s_mov_b64 exec, -1
  global_load_dwordx4 v[4:7], v10, s[4:5] offset:512
  s_waitcnt vmcnt(0)
  s_mov_b64 exec, 1
  global_store_dword v1, v4, s[4:5] offset:RESULT
  s_endpgm
writer\@:
  s_mov_b64 exec, 1
  await FIRST
  v_mov_b32 v2, 42
  global_store_dword v1, v2, s[4:5] offset:1156 // of work-item 40
  tell SECOND
  s_endpgm
.endm
all_lanes lanes_bug, nothing
all_lanes lanes_good, invalidate

// Another cache between that of the compute unit and the GPU's.
.if OF_10
two_groups array_bug, 0, await, invalidate_first
two_groups array_good, 0, await, invalidate
.endif

// The two groups are on different XCCs, each with a second cache of its own.
.ifdef GFX942
two_groups xcc_bug, 512, await, invalidate, tell_near
two_groups xcc_good, 512, await, invalidate

// Of nine groups the last is on the reader's XCC.
.macro many_groups name, writer
kernel \name
  s_mov_b64 exec, 1
  s_cmp_eq_u32 s2, \writer
  s_cbranch_scc1 writer\@
  s_cmp_eq_u32 s2, 0
  s_cbranch_scc0 end\@
  global_load_dword v5, v1, s[4:5] offset:512
  tell FIRST
  await SECOND
  invalidate
  global_load_dword v6, v1, s[4:5]
  s_waitcnt vmcnt(0)
  global_store_dword v1, v6, s[4:5] offset:RESULT
end\@:
  s_endpgm
writer\@:
  write tell_near
.endm
many_groups same_xcc_bug, 7
many_groups same_xcc_good, 8

// Stores of a scope that is wide enough go through.
two_groups through_bug, 512, await, invalidate, tell_near, sc0
two_groups through_good, 512, await, invalidate, tell_near, sc1
.endif

// Waits for a word that another workgroup writes.
.macro waits name, past
kernel \name
  s_mov_b64 exec, 1
  s_cmp_eq_u32 s2, 0
  s_cbranch_scc0 writer\@
  global_load_dword v5, v1, s[4:5]
  tell FIRST
again\@:
.ifb \past
  global_load_dword v4, v1, s[4:5]
.else
  \past s[4:5]
.endif
  s_waitcnt vmcnt(0)
  v_readfirstlane_b32 s6, v4
  s_cmp_lg_u32 s6, 0
  s_cbranch_scc0 again\@
  s_endpgm
writer\@:
  write
.endm
waits polls_bug
waits polls_good, load_past
.ifndef GFX906
.ifndef GFX90A
waits scope_bug, load_near
waits scope_good, load_past
.endif
.endif

// A wave stores, and reads that through the scalar cache.
.macro own_store name, mend
kernel \name
  s_mov_b64 exec, 1
  s_load_dword s8, s[4:5], 0x0
  v_mov_b32 v2, 42
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v2, s[4:5]
  wait_for_stores
  \mend
  s_load_dword s9, s[4:5], 0x0
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v2, s9
  global_store_dword v1, v2, s[4:5] offset:RESULT
  s_endpgm
.endm
own_store scalar_store_bug, nothing
own_store scalar_store_good, invalidate_scalar

// What is invalidated is the other cache.
.macro scalar_read name, mend
kernel \name
  s_mov_b64 exec, 1
  s_cmp_eq_u32 s2, 0
  s_cbranch_scc0 writer\@
  s_load_dword s8, s[4:5], 0x0
  s_waitcnt lgkmcnt(0)
  tell FIRST
  await SECOND
  \mend
  s_load_dword s9, s[4:5], 0x0
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v2, s9
  global_store_dword v1, v2, s[4:5] offset:RESULT
  s_endpgm
writer\@:
  write
.endm
scalar_read scalar_read_bug, invalidate
scalar_read scalar_read_good, invalidate_scalar

// Reads the first word; its packet makes the difference.
kernel load
  s_mov_b64 exec, 1
  global_load_dword v5, v1, s[4:5]
  s_waitcnt vmcnt(0)
  s_endpgm

kernel store
  s_mov_b64 exec, 1
  v_mov_b32 v2, 42
  global_store_dword v1, v2, s[4:5]
  s_waitcnt vmcnt(0)
  s_endpgm

.if OF_90A
.macro write_back bits:vararg
  s_mov_b64 exec, 1
  v_mov_b32 v2, 42
  global_store_dword v1, v2, s[4:5]
  s_waitcnt vmcnt(0)
  buffer_wbl2 \bits
  s_waitcnt vmcnt(0)
  s_endpgm
.endm
kernel store_and_write_back
.ifdef GFX942
  write_back sc0 sc1
kernel store_and_write_back_agent
  write_back sc1
.else
  write_back
.endif

// The host changes memory, whose address is behind the words, when it is told to.
.macro host_changes name, mend
kernel \name
  s_mov_b64 exec, 1
  s_load_dwordx2 s[8:9], s[4:5], 0x400
  s_waitcnt lgkmcnt(0)
  global_load_dword v5, v1, s[8:9]
  tell FIRST
  await SECOND
  \mend
  invalidate_first
  global_load_dword v6, v1, s[8:9]
  s_waitcnt vmcnt(0)
  s_endpgm
.endm
.macro invalidate_second
.ifdef GFX942
  buffer_inv sc0 sc1
.else
  buffer_invl2
.endif
.endm
host_changes host_bug, nothing
host_changes host_good, invalidate_second
.endif
