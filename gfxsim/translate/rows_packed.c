/* Stencils of packed instructions whose results come from the halves of the same number. Not here: what they
 * do (isa/op_vpk_*.c). */
#include "translate/stencil.h"

#include "isa/op_vpk_float.c"
#include "isa/op_vpk_int.c"

GS_STENCILS_V3(v_pk_fma_f32)
GS_STENCILS_V2(v_pk_mul_f32)
GS_STENCILS_V2(v_pk_add_f32)
GS_STENCILS_V3(v_pk_fma_f16)
GS_STENCILS_V2(v_pk_mul_f16)
GS_STENCILS_V2(v_pk_add_f16)
GS_STENCILS_V2(v_pk_min_f16)
GS_STENCILS_V2(v_pk_max_f16)
GS_STENCILS_V3(v_pk_mad_u16)
GS_STENCILS_V2(v_pk_add_u16)
GS_STENCILS_V2(v_pk_mul_lo_u16)
GS_STENCILS_V2(v_pk_lshlrev_b16)
GS_STENCILS_V2(v_pk_lshrrev_b16)
GS_STENCILS_V2(v_pk_max_u16)
GS_STENCILS_V2(v_pk_min_u16)
