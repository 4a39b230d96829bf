/* Stencils of vector instructions on single floats. Not here: what they do (isa/op_v*.c). */
#include "translate/stencil.h"

#include "isa/op_vf32.c"

GS_STENCILS_F2(v_add_f32)
GS_STENCILS_F2(v_sub_f32)
GS_STENCILS_F2(v_subrev_f32)
GS_STENCILS_F2(v_mul_f32)
GS_STENCILS_F2(v_fmac_f32)
GS_STENCILS_F2(v_mac_f32)
GS_STENCILS_F2(v_min_f32)
GS_STENCILS_F2(v_max_f32)
GS_STENCILS_V2(v_ldexp_f32)
GS_STENCILS_F3(v_fma_f32)
GS_STENCILS_F3(v_mad_f32)
GS_STENCILS_F1(v_trunc_f32)
GS_STENCILS_F1(v_floor_f32)
GS_STENCILS_F1(v_rndne_f32)
GS_STENCILS_F1(v_fract_f32)
GS_STENCILS_F3(v_max3_f32)
GS_STENCILS_F3(v_min3_f32)
GS_STENCILS_F3(v_med3_f32)
