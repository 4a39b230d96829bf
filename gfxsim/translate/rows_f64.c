/* Stencils of vector instructions on double floats. Not here: what they do (isa/op_v*.c). */
#include "translate/stencil.h"

#include "isa/op_vf64.c"

GS_STENCILS_F2(v_add_f64)
GS_STENCILS_F2(v_mul_f64)
GS_STENCILS_F2(v_min_f64)
GS_STENCILS_F2(v_max_f64)
GS_STENCILS_F2(v_fmac_f64)
GS_STENCILS_V2(v_ldexp_f64)
GS_STENCILS_F3(v_fma_f64)
