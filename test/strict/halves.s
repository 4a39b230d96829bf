// The kernels of loads.inc for a part where a load of half a register keeps the other half.
.amdgcn_target "amdgcn-amd-amdhsa--gfx900"

// Begins a kernel, as kernel.inc does for parts with accumulation registers.
.macro kernel name
.rodata
.p2align 6
.amdhsa_kernel \name
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr 8
  .amdhsa_next_free_sgpr 16
.end_amdhsa_kernel
.text
.globl \name
.p2align 8
.type \name,@function
\name:
.endm

.include "loads.inc"
